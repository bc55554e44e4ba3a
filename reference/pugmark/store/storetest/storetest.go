// Package storetest is the suite that every backend of store.Store passes.
package storetest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// Skip leaves out one row of the suite for a backend that cannot pass it, and says why.
type Skip struct {
	Row    string // the name of the subtest
	Reason string
}

// Run runs the suite. open gives an empty bucket for one test; calling it again within that test gives another view of
// the same bucket, as another process would have.
func Run(t *testing.T, open func(t *testing.T) func() store.Store, skips ...Skip) {
	t.Helper()
	runRows(t, skips, func(t *testing.T, r row) {
		if r.writes == viewRefuses {
			t.Skip("the row is about a store that only reads")
		}
		view := open(t)
		r.test(t, view(), view())
	})
}

// RunReadOnly runs the rows of the suite that read, for a store that can do nothing else. open gives an empty bucket for
// one test: seed writes to it, view is the store under test.
func RunReadOnly(t *testing.T, open func(t *testing.T) (seed, view store.Store), skips ...Skip) {
	t.Helper()
	runRows(t, skips, func(t *testing.T, r row) {
		if r.writes == both {
			t.Skip("the row writes through the store, which only reads")
		}
		seed, view := open(t)
		r.test(t, seed, view)
	})
}

func runRows(t *testing.T, skips []Skip, run func(*testing.T, row)) {
	t.Helper()
	for _, skip := range skips {
		if !slices.ContainsFunc(rows, func(r row) bool { return r.name == skip.Row }) {
			t.Fatalf("storetest: there is no row %q to skip", skip.Row)
		}
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			for _, skip := range skips {
				if skip.Row == r.name {
					t.Skip(skip.Reason)
				}
			}
			run(t, r)
		})
	}
}

// row is one test; a and b are two views of one bucket.
type row struct {
	name   string
	writes writes
	test   func(t *testing.T, a, b store.Store)
}

// writes says through which of its two views a row writes.
type writes int

const (
	both        writes = iota
	first              // b is only read from
	viewRefuses        // b can only be read from, and that is what the row is about
)

var rows = []row{
	{"create", both, testCreate},
	{"replace", both, testReplace},
	{"if-match", both, testIfMatch},
	{"checksum", both, testChecksum},
	{"attributes", first, testAttributes},
	{"replaced-attributes", first, testReplacedAttributes},
	{"absent", first, testAbsent},
	{"delete", both, testDelete},
	{"delete-if-match", both, testDeleteIfMatch},
	{"empty-body", first, testEmptyBody},
	{"large-body", first, testLargeBody},
	{"keys-of-the-layout", first, testKeys},
	{"key-beside-longer-keys", first, testNestedKeys},
	{"list-order", first, testListOrder},
	{"list-pages", first, testListPages},
	{"list-max-one", first, testListMaxOne},
	{"list-after", first, testListAfter},
	{"list-delimiter", first, testListDelimiter},
	{"list-prefix-inside-a-segment", first, testListPartialPrefix},
	{"race-to-create", both, testRaceToCreate},
	{"race-if-match", both, testRaceIfMatch},
	{"no-torn-reads", first, testNoTornReads},
	{"prefix", first, testPrefix},
	{"read-only", viewRefuses, testReadOnly},
}

func key(parts ...any) string { return fmt.Sprint(parts...) }
