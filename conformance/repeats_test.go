package conformance

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pugcheck/pugcheck/harness/report"
)

// repeated is a clause that one scenario judges, with a verdict of each run.
func repeated(t *testing.T, verdicts ...report.Verdict) *Aggregation {
	t.Helper()
	a := &Aggregation{Catalogue: testCatalogue(t), Repeats: len(verdicts), Suite: &Suite{Name: "engine", Scenarios: []Scenario{{ID: "S1/a", Clauses: []string{"S1-1"}}}}}
	for i, v := range verdicts {
		o := outcome("S1/a", finding("S1-1", v, "seen"))
		o.Run = i + 1
		if v == report.Error {
			o.Outcome = "error"
		}
		a.Outcomes = append(a.Outcomes, o)
	}
	return a
}

func TestVerdictOfRepeatedRuns(t *testing.T) {
	const pass, fail, warn, broke, not = report.Pass, report.Fail, report.Warn, report.Error, report.NotExercised
	for _, tc := range []struct {
		runs   []report.Verdict
		want   report.Verdict
		reason string
	}{
		{[]report.Verdict{pass, pass}, pass, ""},
		{[]report.Verdict{fail, fail}, fail, ""},
		{[]report.Verdict{pass, fail, pass}, report.Unstable, "fails in run 2 of 3, passes in runs 1 and 3"},
		{[]report.Verdict{fail, fail, fail, pass}, report.Unstable, "fails in runs 1 to 3 of 4, passes in run 4"},
		{[]report.Verdict{pass, warn}, report.Unstable, "is a warning in run 2 of 2, passes in run 1"},
		{[]report.Verdict{fail, warn}, fail, ""},
		{[]report.Verdict{pass, not}, pass, ""},
		{[]report.Verdict{fail, not}, fail, ""},
		{[]report.Verdict{pass, broke}, broke, "seen"},
		{[]report.Verdict{pass, warn, broke}, broke, "seen"},
		{[]report.Verdict{pass, fail, broke}, report.Unstable, "fails in run 2 of 3, passes in run 1, could not be judged in run 3"},
	} {
		c := repeated(t, tc.runs...).Clauses()[0]
		if c.Verdict != tc.want || c.Reason != tc.reason {
			t.Errorf("%v: %s %q, want %s %q", tc.runs, c.Verdict, c.Reason, tc.want, tc.reason)
		}
		if want := tc.want == report.Unstable; want != (c.Runs != nil) || want && !cmp.Equal(c.Runs, tc.runs) {
			t.Errorf("%v: told as %v", tc.runs, c.Runs)
		}
	}
}

func TestUnstableWarningsAreWarningsUnlessStrict(t *testing.T) {
	a := repeated(t, report.Pass, report.Warn)
	if c := a.Clauses()[0]; c.Against() {
		t.Error("a recommendation that is followed at times fails")
	}
	a.Strict = true
	if c := a.Clauses()[0]; c.Verdict != report.Unstable || !c.Against() {
		t.Errorf("under strict rules: %s, %v", c.Verdict, c.Runs)
	}
}

func TestEvidenceOfRepeatedRuns(t *testing.T) {
	a := repeated(t, report.Pass, report.Fail, report.Fail, report.Pass)
	a.Outcomes[2].Findings[0].Seen = "seen otherwise"
	want := []report.Evidence{
		{Scenario: "S1/a", Verdict: report.Fail, Seen: "seen", Runs: []int{2}},
		{Scenario: "S1/a", Verdict: report.Fail, Seen: "seen otherwise", Runs: []int{3}},
		{Scenario: "S1/a", Verdict: report.Pass, Seen: "seen", Runs: []int{1, 4}, Times: 2},
	}
	if d := cmp.Diff(want, a.Clauses()[0].Evidence); d != "" {
		t.Error(d)
	}
	a.Outcomes[0], a.Outcomes[3] = a.Outcomes[3], a.Outcomes[0] // they come as they come
	if d := cmp.Diff(want, a.Clauses()[0].Evidence); d != "" {
		t.Error(d)
	}
}

func TestScenarioShowsItsGravestRun(t *testing.T) {
	a := repeated(t, report.Pass, report.Fail, report.Fail, report.Pass)
	a.Outcomes[0].Outcome, a.Outcomes[2].Outcome = "stopped", "stopped"
	var asked int
	a.Repeat = func(_ string, runs int) string {
		asked = runs
		return ""
	}
	if sc := a.Scenarios(); len(sc) != 1 || sc[0].Run != 3 || sc[0].Outcome != "stopped" || asked != 4 {
		t.Errorf("%+v, repeated %d times", sc, asked)
	}
	a.Outcomes[3].Outcome = "error"
	if sc := a.Scenarios(); sc[0].Run != 4 || sc[0].Outcome != "error" {
		t.Errorf("%+v: what broke is not shown", sc)
	}
	if a = repeated(t, report.Fail, report.Fail); a.Scenarios()[0].Run != 1 {
		t.Errorf("%+v", a.Scenarios())
	}
	// What is the same in all runs is seen in one.
	a.Repeat = func(_ string, runs int) string { asked = runs; return "" }
	if a.Scenarios(); asked != 1 {
		t.Errorf("repeated %d times", asked)
	}
}

func TestViolationsOfAnotherKindAreKept(t *testing.T) {
	a := Aggregation{Catalogue: testCatalogue(t), Suite: &Suite{Name: "engine"}}
	for i := range 60 {
		id := fmt.Sprintf("S1/s%d", i)
		a.Suite.Scenarios = append(a.Suite.Scenarios, Scenario{ID: id, Clauses: []string{"S1-1"}})
		seen := fmt.Sprintf("request %d has no condition", i)
		if i == 40 {
			seen = "the object is gone"
		}
		if i > 41 {
			seen = strings.Repeat("so ", i) + "odd"
		}
		a.Outcomes = append(a.Outcomes, outcome(id, finding("S1-1", report.Fail, seen)))
	}
	c := a.Clauses()[0]
	if len(c.Evidence)+c.MoreEvidence != 60 || c.Evidence[keptViolations].Seen != "the object is gone" {
		t.Errorf("%d kept, %d more, after the first ones %q", len(c.Evidence), c.MoreEvidence, c.Evidence[keptViolations].Seen)
	}
}
