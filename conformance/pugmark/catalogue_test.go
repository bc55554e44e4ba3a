package pugmark

import (
	"slices"
	"strings"
	"testing"

	"github.com/pugcheck/pugcheck/conformance/catalogue"
)

// TestEmbeddedCatalogueIsConsistent is what lets Catalogue panic on a fault.
func TestEmbeddedCatalogueIsConsistent(t *testing.T) {
	if _, err := catalogue.Load(files, sources...); err != nil {
		t.Fatal(err)
	}
}

// TestEveryFileIsLoaded: a file that is embedded but not named would be data
// that nobody checks.
func TestEveryFileIsLoaded(t *testing.T) {
	entries, err := files.ReadDir("clauses")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !slices.Contains(sources, "clauses/"+e.Name()) {
			t.Errorf("clauses/%s is embedded and not loaded", e.Name())
		}
	}
}

// TestNothingGetsLost pins the size of each part, so that no entry can vanish
// in an edit. Change a number together with the text that changed it.
func TestNothingGetsLost(t *testing.T) {
	c := Catalogue()
	parts := map[byte]int{}
	levels := map[catalogue.Level]int{}
	for _, clause := range c.Clauses() {
		parts[clause.ID[0]]++
		levels[clause.Level]++
	}
	if parts['P'] != 305 || parts['S'] != 328 {
		t.Errorf("%d protocol and %d storage clauses, want 305 and 328", parts['P'], parts['S'])
	}
	if got := levels[catalogue.Must] + levels[catalogue.MustNot]; got != 578 {
		t.Errorf("%d MUST and MUST NOT clauses, want 578", got)
	}
	kinds := map[string]int{}
	for _, r := range c.Readings() {
		kinds[r.Kind]++
	}
	if kinds[catalogue.KindReading] != 34 || kinds[catalogue.KindFinding] != 18 {
		t.Errorf("%d readings and %d findings, want 34 and 18", kinds[catalogue.KindReading], kinds[catalogue.KindFinding])
	}
}

// TestReadingsAgreeWithTheirKind: findings are F-…, readings R-….
func TestReadingsAgreeWithTheirKind(t *testing.T) {
	for _, r := range Catalogue().Readings() {
		if (r.Kind == catalogue.KindFinding) != strings.HasPrefix(r.ID, "F-") {
			t.Errorf("%s is a %s", r.ID, r.Kind)
		}
	}
}

// TestOwnQuestion: R-40 points at the clause's question, so there must be one.
func TestOwnQuestion(t *testing.T) {
	for _, clause := range Catalogue().Clauses() {
		if slices.Contains(clause.Readings, "R-40") && clause.Question == "" {
			t.Errorf("%s cites R-40 and has no question", clause.ID)
		}
	}
}

// TestSuitesFitTheSubjects: a suite judges its own subject, or how that
// subject bears what the clause allows another to do.
func TestSuitesFitTheSubjects(t *testing.T) {
	of := map[string][]string{"runtime": {"runtime", "bucket"}, "handler": {"handler"}, "backend": {"backend"}, "audit": {"bucket", "runtime"}}
	for _, clause := range Catalogue().Clauses() {
		for _, suite := range clause.Suites {
			fits := slices.ContainsFunc(of[suite], func(s string) bool { return slices.Contains(clause.Subject, s) })
			if !fits && clause.Level != catalogue.May && clause.Level != catalogue.ShouldNot {
				t.Errorf("%s (%s) binds %v but %s judges it", clause.ID, clause.Level, clause.Subject, suite)
			}
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := catalogue.Load(files, sources...); err != nil {
			b.Fatal(err)
		}
	}
}
