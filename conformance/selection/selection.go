// Package selection is the one grammar by which clauses and scenarios are named
// on a command line, in a configuration and in a file of known failures.
//
// A selector is one of
//
//	S6.3-1              the clause with that ID
//	S6                  the clauses of section S6 and of its subsections: S6-1, S6.3-1, not S60-1
//	P4.2/parents-first  the scenario of that name, in all its variants (…@http)
//	P4.2/parents-first@http
//	                    one variant of it
//	S6.*-1              a glob over clause IDs
//	P4.2/*              a glob over scenario names; * stops at a slash, ** does not
//
// Several selectors can share a word, separated by commas. Upper and lower case
// are the same. A selector that matches nothing is an error that names what
// comes nearest, so that a typing mistake never passes for a quiet success.
package selection

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Selectors is a parsed list. The zero value selects everything.
type Selectors struct{ list []selector }

type selector struct {
	word string // as given
	fold string // lower case, for comparison
	glob bool
}

// ScenarioRef names a scenario and the clauses it is labelled with.
type ScenarioRef struct {
	ID      string
	Clauses []string
}

// Selected is what a list of selectors means for a given suite. A missing key
// is not selected.
type Selected struct {
	Clauses   map[string]bool
	Scenarios map[string]bool
}

// Parse reads selectors from the words of a command line. It fails for an empty
// selector and for a malformed glob.
func Parse(words []string) (Selectors, error) {
	var s Selectors
	for _, word := range words {
		for _, part := range splitList(word) {
			part = strings.TrimSpace(part)
			sel := selector{word: part, fold: strings.ToLower(part), glob: strings.ContainsAny(part, "*?[{")}
			if part == "" {
				return Selectors{}, fmt.Errorf("empty selector in %q", word)
			}
			if sel.glob && !doublestar.ValidatePattern(sel.fold) {
				return Selectors{}, fmt.Errorf("selector %q is a malformed glob", part)
			}
			s.list = append(s.list, sel)
		}
	}
	return s, nil
}

// splitList splits at commas outside braces.
func splitList(word string) []string {
	var parts []string
	depth, start := 0, 0
	for i, r := range word {
		switch r {
		case '{':
			depth++
		case '}':
			depth--
		case ',':
			if depth <= 0 {
				parts = append(parts, word[start:i])
				start = i + 1
			}
		}
	}
	return append(parts, word[start:])
}

// Empty reports whether the list is empty, and so selects everything.
func (s Selectors) Empty() bool { return len(s.list) == 0 }

// Words are the selectors as given, one per element.
func (s Selectors) Words() []string {
	words := make([]string, len(s.list))
	for i, sel := range s.list {
		words[i] = sel.word
	}
	return words
}

// Resolve applies the selectors to the clauses and scenarios that there are. A
// selected clause selects every scenario labelled with it; a selected scenario
// selects itself and the clauses that it is labelled with, and no further
// scenarios. The error is an [*UnmatchedError].
func (s Selectors) Resolve(clauses []string, scenarios []ScenarioRef) (Selected, error) {
	out := Selected{Clauses: map[string]bool{}, Scenarios: map[string]bool{}}
	var unmatched []Unmatched
	named := map[string]bool{} // clauses selected as such
	for _, sel := range s.list {
		matched := false
		for _, id := range clauses {
			if sel.clause(id) {
				matched, named[id] = true, true
			}
		}
		for _, sc := range scenarios {
			if sel.scenario(sc.ID) {
				matched, out.Scenarios[sc.ID] = true, true
				for _, id := range sc.Clauses {
					out.Clauses[id] = true
				}
			}
		}
		if !matched {
			unmatched = append(unmatched, Unmatched{sel.word, sel.nearest(clauses, scenarios)})
		}
	}
	if len(unmatched) > 0 {
		return Selected{}, &UnmatchedError{unmatched}
	}
	for _, id := range clauses {
		if named[id] || s.Empty() {
			out.Clauses[id] = true
		}
	}
	for _, sc := range scenarios {
		if s.Empty() || slices.ContainsFunc(sc.Clauses, func(id string) bool { return named[id] }) {
			out.Scenarios[sc.ID] = true
		}
	}
	return out, nil
}

// clause reports whether the selector means a clause: by its ID, by its section
// or a section above, or by a glob over the ID.
func (s selector) clause(id string) bool {
	id = strings.ToLower(id)
	if s.glob {
		return match(s.fold, id)
	}
	rest, ok := strings.CutPrefix(id, s.fold)
	return ok && (rest == "" || rest[0] == '-' || rest[0] == '.')
}

// scenario reports whether the selector means a scenario: by its name, with or
// without the variant, or by a glob over either.
func (s selector) scenario(id string) bool {
	id = strings.ToLower(id)
	base, _, _ := strings.Cut(id, "@")
	if s.glob {
		return match(s.fold, id) || match(s.fold, base)
	}
	return s.fold == id || s.fold == base
}

// match is a glob match. The pattern has been validated, so it has no error.
func match(pattern, name string) bool {
	ok, _ := doublestar.Match(pattern, name)
	return ok
}
