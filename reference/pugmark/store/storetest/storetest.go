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
			view := open(t)
			r.test(t, view(), view())
		})
	}
}

// row is one test; a and b are two views of one bucket.
type row struct {
	name string
	test func(t *testing.T, a, b store.Store)
}

var rows = []row{
	{"create", testCreate},
	{"replace", testReplace},
	{"if-match", testIfMatch},
	{"checksum", testChecksum},
	{"attributes", testAttributes},
	{"replaced-attributes", testReplacedAttributes},
	{"absent", testAbsent},
	{"delete", testDelete},
	{"delete-if-match", testDeleteIfMatch},
	{"empty-body", testEmptyBody},
	{"large-body", testLargeBody},
	{"keys-of-the-layout", testKeys},
	{"key-beside-longer-keys", testNestedKeys},
	{"list-order", testListOrder},
	{"list-pages", testListPages},
	{"list-max-one", testListMaxOne},
	{"list-after", testListAfter},
	{"list-delimiter", testListDelimiter},
	{"list-prefix-inside-a-segment", testListPartialPrefix},
	{"race-to-create", testRaceToCreate},
	{"race-if-match", testRaceIfMatch},
	{"no-torn-reads", testNoTornReads},
	{"prefix", testPrefix},
}

func key(parts ...any) string { return fmt.Sprint(parts...) }
