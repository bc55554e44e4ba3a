package handler

import (
	"slices"
	"testing"

	"github.com/pugcheck/pugcheck/conformance/pugmark"
)

// TestLabels: scenarios have names of their own and judge clauses that are this suite's;
// every clause of the suite that can be judged is judged by a scenario.
func TestLabels(t *testing.T) {
	index := Index()
	seen := map[string]bool{}
	for _, sc := range Suite(Config{}).Scenarios {
		if seen[sc.ID] {
			t.Errorf("two scenarios are called %s", sc.ID)
		}
		seen[sc.ID] = true
		if sc.Title == "" || sc.Where == "" || len(sc.Clauses) == 0 || pugmark.SectionTitle(sc.Section()) == "" {
			t.Errorf("%s: %+v", sc.ID, sc)
		}
	}
	if !seen[Preflight] {
		t.Errorf("there is no scenario %s", Preflight)
	}
	for _, id := range Always() {
		if len(index[id]) == 0 {
			t.Errorf("%s is judged in passing only, so nothing says how to exercise it", id)
		}
	}
	judgeable := 0
	for _, c := range pugmark.Catalogue().Clauses() {
		of := slices.Contains(c.Suites, "handler")
		switch {
		case !of && len(index[c.ID]) > 0:
			t.Errorf("%s is judged and not a clause of the handler suite", c.ID)
		case of && c.Untestable == "" && len(index[c.ID]) == 0:
			t.Errorf("nothing judges %s", c.ID)
		}
		if len(index[c.ID]) > 0 {
			judgeable++
		}
		delete(index, c.ID)
	}
	for id := range index {
		t.Errorf("%s is not in the catalogue", id)
	}
	if judgeable < 85 {
		t.Errorf("only %d clauses are judged", judgeable)
	}
}
