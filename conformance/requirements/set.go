// Package requirements freezes what a version of a catalogue demands, so that an
// implementation that does not change keeps its verdict while the catalogue grows.
//
// A set is a text file with a line for each clause: what it demands (as a digest), how
// strictly, and which suites could judge it. Guarantees: a set that was read back has
// the digest of the set that was written; a clause that is not in the set, or that
// nothing judged when the set was released, never counts against a subject that is
// judged by the set; a clause that is in the set never counts more than it did then.
package requirements

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/pugcheck/pugcheck/conformance/catalogue"
)

// Set is what one release demands.
type Set struct {
	Name    string // "v1.0"; empty for what this version demands
	Entries []Entry
	Changes []Change // what became of its clauses since, see Amend
	byID    map[string]*Entry
}

// Entry is a clause as it was released.
type Entry struct {
	ID     string
	Level  catalogue.Level
	Basis  catalogue.Basis
	Demand string   // digest of what it demanded: 16 hex digits
	Judged []string // suites that judged it; empty = nothing did
}

// Of is the set of everything that a catalogue demands. judged tells which suites have a
// scenario or an invariant for a clause.
func Of(c *catalogue.Catalogue, judged func(id string) []string) *Set {
	s := &Set{}
	for _, clause := range c.Clauses() {
		suites := slices.Clone(judged(clause.ID))
		slices.Sort(suites)
		s.Entries = append(s.Entries, Entry{
			ID: clause.ID, Level: clause.Level, Basis: clause.Basis, Demand: DemandOf(clause), Judged: slices.Compact(suites),
		})
	}
	s.index()
	return s
}

// DemandOf is the digest of a clause's demand.
func DemandOf(c *catalogue.Clause) string {
	sum := sha256.Sum256([]byte(c.Says))
	return hex.EncodeToString(sum[:8])
}

// nobody stands where no suite is named.
const nobody = "-"

// Text is the set as a file holds it, without the heading.
func (s *Set) Text() string {
	var b strings.Builder
	for _, e := range s.Entries {
		judged := strings.Join(e.Judged, ",")
		if judged == "" {
			judged = nobody
		}
		fmt.Fprintf(&b, "%s %s %s %s %s\n", e.ID, strings.ReplaceAll(string(e.Level), " ", "-"), e.Basis, e.Demand, judged)
	}
	return b.String()
}

// Digest identifies the set: the SHA-256 of its text, in hex. Two sets that demand the
// same have the same digest, whatever they are called.
func (s *Set) Digest() string {
	sum := sha256.Sum256([]byte(s.Text()))
	return hex.EncodeToString(sum[:])
}

// Entry finds a clause of the set by its ID.
func (s *Set) Entry(id string) (Entry, bool) {
	e, ok := s.byID[id]
	if !ok {
		return Entry{}, false
	}
	return *e, true
}

func (s *Set) index() {
	s.byID = make(map[string]*Entry, len(s.Entries))
	for i := range s.Entries {
		s.byID[s.Entries[i].ID] = &s.Entries[i]
	}
}

// Parse reads the text of a set. Lines that begin with # are notes. file is used in
// errors, which name the line.
func Parse(name, file, text string) (*Set, error) {
	s := &Set{Name: name}
	seen := map[string]bool{}
	lines := bufio.NewScanner(strings.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if strings.HasPrefix(line, "#") {
			continue
		}
		e, err := parseEntry(line)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n, err)
		}
		if seen[e.ID] {
			return nil, fmt.Errorf("%s:%d: %s stands there twice", file, n, e.ID)
		}
		seen[e.ID] = true
		s.Entries = append(s.Entries, e)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(s.Entries) == 0 {
		return nil, fmt.Errorf("%s: a set without clauses", file)
	}
	s.index()
	return s, nil
}

func parseEntry(line string) (Entry, error) {
	words := strings.Split(line, " ")
	if len(words) != 5 {
		return Entry{}, fmt.Errorf("%d words, where there have to be 5: clause, level, basis, digest of the demand, suites", len(words))
	}
	e := Entry{ID: words[0], Level: catalogue.Level(strings.ReplaceAll(words[1], "-", " ")), Basis: catalogue.Basis(words[2]), Demand: words[3]}
	if !slices.Contains(catalogue.Levels(), e.Level) {
		return Entry{}, fmt.Errorf("%s: there is no level %q", e.ID, words[1])
	}
	if !slices.Contains([]catalogue.Basis{catalogue.Stated, catalogue.Derived, catalogue.Assumed}, e.Basis) {
		return Entry{}, fmt.Errorf("%s: there is no basis %q", e.ID, words[2])
	}
	if raw, err := hex.DecodeString(e.Demand); err != nil || len(raw) != 8 {
		return Entry{}, fmt.Errorf("%s: %q is no digest of 16 hex digits", e.ID, e.Demand)
	}
	if words[4] != nobody {
		e.Judged = strings.Split(words[4], ",")
	}
	return e, nil
}

// Judged tells which suites judge a clause, from the scenarios that are labelled with it
// and the clauses that each suite judges in passing.
func Judged(index catalogue.Index, always map[string][]string) func(id string) []string {
	return func(id string) []string {
		var suites []string
		for _, j := range index[id] {
			suites = append(suites, j.Suite)
		}
		for suite, ids := range always {
			if slices.Contains(ids, id) {
				suites = append(suites, suite)
			}
		}
		return suites
	}
}
