package selection

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var clauses = []string{"P4.2-1", "P4.2-2", "P10-1", "P10-2", "S6-1", "S6.1-1", "S6.1-2", "S6.3-1", "S6.10-1", "S60-1", "S61.1-1"}

var scenarios = []ScenarioRef{
	{"P4.2/parents-first", []string{"P4.2-1", "S6.3-1"}},
	{"P4.2/parents-first@http", []string{"P4.2-1"}},
	{"P4.2/push-tags", []string{"P4.2-2"}},
	{"P10/pure-pause", []string{"P10-1", "P10-2"}},
	{"S6.3/by-one-listing", []string{"S6.3-1"}},
}

func TestResolve(t *testing.T) {
	all := func() (ids []string) {
		for _, s := range scenarios {
			ids = append(ids, s.ID)
		}
		return
	}()
	tests := []struct {
		name      string
		words     []string
		clauses   []string
		scenarios []string
	}{
		{"nothing selects everything", nil, clauses, all},
		{"clause", []string{"P10-1"}, []string{"P10-1"}, []string{"P10/pure-pause"}},
		{"clause in lower case", []string{"p10-1"}, []string{"P10-1"}, []string{"P10/pure-pause"}},
		{"clause that several scenarios judge", []string{"S6.3-1"}, []string{"S6.3-1"}, []string{"P4.2/parents-first", "S6.3/by-one-listing"}},
		{"clause that nothing judges", []string{"S6.1-1"}, []string{"S6.1-1"}, nil},
		{"clause is no prefix of a longer number", []string{"S6-1"}, []string{"S6-1"}, nil},
		{"section with subsections, not its namesakes", []string{"S6"}, []string{"S6-1", "S6.1-1", "S6.1-2", "S6.3-1", "S6.10-1"}, []string{"P4.2/parents-first", "S6.3/by-one-listing"}},
		{"subsection, not the ones that begin alike", []string{"S6.1"}, []string{"S6.1-1", "S6.1-2"}, nil},
		{"section in lower case", []string{"p10"}, []string{"P10-1", "P10-2"}, []string{"P10/pure-pause"}},
		{"glob over clauses", []string{"S6.*-1"}, []string{"S6.1-1", "S6.3-1", "S6.10-1"}, []string{"P4.2/parents-first", "S6.3/by-one-listing"}},
		{"glob with alternatives, comma inside", []string{"S6.{1,10}-1"}, []string{"S6.1-1", "S6.10-1"}, nil},
		{"glob over scenarios", []string{"P4.2/*"}, []string{"P4.2-1", "P4.2-2", "S6.3-1"}, []string{"P4.2/parents-first", "P4.2/parents-first@http", "P4.2/push-tags"}},
		{"glob over one transport", []string{"**/*@http"}, []string{"P4.2-1"}, []string{"P4.2/parents-first@http"}},
		{"glob that ends in a name takes its variants", []string{"*/*-first"}, []string{"P4.2-1", "S6.3-1"}, []string{"P4.2/parents-first", "P4.2/parents-first@http"}},
		{"scenario with its variants", []string{"P4.2/parents-first"}, []string{"P4.2-1", "S6.3-1"}, []string{"P4.2/parents-first", "P4.2/parents-first@http"}},
		{"one variant, and not the other scenarios of its clauses", []string{"p4.2/Parents-First@http"}, []string{"P4.2-1"}, []string{"P4.2/parents-first@http"}},
		{"scenario does not pull in others", []string{"S6.3/by-one-listing"}, []string{"S6.3-1"}, []string{"S6.3/by-one-listing"}},
		{"list in one word", []string{"P10-1, S6.1"}, []string{"P10-1", "S6.1-1", "S6.1-2"}, []string{"P10/pure-pause"}},
		{"several words", []string{"P10-1", "P4.2/push-tags"}, []string{"P4.2-2", "P10-1"}, []string{"P4.2/push-tags", "P10/pure-pause"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Parse(tt.words)
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.Resolve(clauses, scenarios)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(sorted(tt.clauses), slices.Sorted(maps.Keys(got.Clauses))); diff != "" {
				t.Errorf("clauses (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(sorted(tt.scenarios), slices.Sorted(maps.Keys(got.Scenarios))); diff != "" {
				t.Errorf("scenarios (-want +got):\n%s", diff)
			}
		})
	}
}

func sorted(s []string) []string { return slices.Sorted(slices.Values(s)) }

func TestResolveNamesWhatComesNearest(t *testing.T) {
	tests := []struct {
		word  string
		first string // the best proposal; "" = none at all
	}{
		{"S6.3-9", "S6.3-1"},
		{"S6.3-99", "S6.3-1"},
		{"S6.4", "S6.1"},
		{"P42-1", "P4.2-1"},
		{"P01-1", "P10-1"},
		{"P4.2/parent-first", "P4.2/parents-first"},
		{"P4.2/tags", "P4.2/push-tags"},
		{"parents-first", "P4.2/parents-first"},
		{"P4.2/", "P4.2/push-tags"},
		{"P10/*-pauze", "P10/pure-pause"},
		{"completely-different", ""},
	}
	for _, tt := range tests {
		t.Run(tt.word, func(t *testing.T) {
			s, err := Parse([]string{"P10", tt.word})
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.Resolve(clauses, scenarios)
			var unmatched *UnmatchedError
			if !errors.As(err, &unmatched) {
				t.Fatalf("error %v, want an UnmatchedError", err)
			}
			if len(unmatched.Unmatched) != 1 || unmatched.Unmatched[0].Selector != tt.word {
				t.Fatalf("unmatched %+v, want only %q", unmatched.Unmatched, tt.word)
			}
			var first string
			if nearest := unmatched.Unmatched[0].Nearest; len(nearest) > 0 {
				first = nearest[0]
			}
			if first != tt.first {
				t.Errorf("nearest %q, want first %q", unmatched.Unmatched[0].Nearest, tt.first)
			}
			if !strings.Contains(err.Error(), tt.word) || !strings.Contains(err.Error(), tt.first) {
				t.Errorf("message %q names neither", err)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for _, word := range []string{"", " ", "S6,,P1", "S6,", "S6.[", "S6.{1,2"} {
		if s, err := Parse([]string{word}); err == nil {
			t.Errorf("Parse(%q) = %v, want an error", word, s.Words())
		}
	}
}

func TestWordsAreThoseGiven(t *testing.T) {
	s, err := Parse([]string{"s6,P10/*", "P4.2-1"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"s6", "P10/*", "P4.2-1"}, s.Words()); diff != "" {
		t.Error(diff)
	}
}
