package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCases: what a pair of a clause and a scenario comes to, by every way.
func TestCases(t *testing.T) {
	ran := Scenario{ID: "ran", Outcome: "completed"}
	notRun := Scenario{ID: "not", Outcome: "not-run", Reason: "no http"}
	stopped := Scenario{ID: "stopped", Outcome: "stopped", Reason: "it ended"}
	broken := Scenario{ID: "broken", Outcome: "error", Reason: "port in use"}
	found := func(v Verdict) map[string]Verdict { return map[string]Verdict{"ran": v} }
	names := map[conclusion]string{passed: "passed", failed: "failed", skipped: "skipped", broke: "broke"}
	for name, tc := range map[string]struct {
		clause Clause
		want   []string
	}{
		"a pass":               {Clause{Verdict: Pass, Scenarios: []string{"ran", "not", "stopped", "broken"}, PerScenario: found(Pass)}, []string{"passed", "skipped: not exercised: the scenario was not run: no http", "skipped: not exercised: the scenario did not come to it: it ended", "skipped: not exercised: the scenario broke: port in use"}},
		"by evidence alone":    {Clause{Verdict: Fail, Scenarios: []string{"ran", "stopped"}, Evidence: []Evidence{{Scenario: "ran", Verdict: Pass}, {Scenario: "ran", Verdict: Fail}, {Scenario: "stopped", Verdict: Pass}}}, []string{"failed", "passed"}},
		"evidence that is cut": {Clause{Verdict: Fail, Scenarios: []string{"ran"}, PerScenario: found(Fail), MoreEvidence: 3}, []string{"failed"}},
		"nothing in a pass":    {Clause{Verdict: Pass, Scenarios: []string{"ran"}}, []string{"skipped: not exercised: the scenario saw nothing that decides it"}},
		"its own reason":       {Clause{Verdict: NotExercised, Reason: "why", Scenarios: []string{"ran"}, Evidence: []Evidence{{Scenario: "ran", Verdict: NotExercised, Seen: "never came"}}}, []string{"skipped: not exercised: never came"}},
		"the clause's reason":  {Clause{Verdict: NotExercised, Reason: "why", Scenarios: []string{"ran"}}, []string{"skipped: not exercised: why"}},
		"no reason":            {Clause{Verdict: NotJudged}, []string{"skipped: not judged: no reason was given"}},
		"no scenario":          {Clause{Verdict: Untestable, Reason: "inside"}, []string{"skipped: untestable: inside"}},
		"a failure of none":    {Clause{Verdict: Fail}, []string{"failed"}},
		"of an unknown one":    {Clause{Verdict: Fail, Scenarios: []string{"gone"}}, []string{"failed"}},
		"known":                {Clause{Verdict: Fail, Known: "later", Scenarios: []string{"ran"}, PerScenario: found(Fail)}, []string{"skipped: known failure: later"}},
		"known, and broke":     {Clause{Verdict: Fail, Known: "later", Scenarios: []string{"ran"}, PerScenario: found(Error)}, []string{"broke"}},
		"a warning":            {Clause{Verdict: Warn, Scenarios: []string{"ran"}, PerScenario: found(Warn)}, []string{"passed"}},
		"unstable":             {Clause{Verdict: Unstable, Runs: []Verdict{Pass, Fail}, Scenarios: []string{"ran"}, PerScenario: found(Fail)}, []string{"failed"}},
		"unstable in between":  {Clause{Verdict: Unstable, Runs: []Verdict{Pass, Fail}, Scenarios: []string{"ran"}, PerScenario: found(Pass)}, []string{"failed"}},
		"unstable warnings":    {Clause{Verdict: Unstable, Runs: []Verdict{Pass, Warn}, Scenarios: []string{"ran"}, PerScenario: found(Warn)}, []string{"passed"}},
		"unstable and known":   {Clause{Verdict: Unstable, Known: "later", Runs: []Verdict{Pass, Fail}, Scenarios: []string{"ran"}, PerScenario: found(Unstable)}, []string{"skipped: known failure: later"}},
		"the suite broke":      {Clause{Verdict: Error, Scenarios: []string{"ran"}, PerScenario: found(Error)}, []string{"broke"}},
	} {
		r := &Result{Clauses: []Clause{tc.clause}, Scenarios: []Scenario{ran, notRun, stopped, broken}}
		var got []string
		for _, c := range r.cases() {
			text := names[c.conclusion]
			if c.reason != "" {
				text += ": " + c.reason
			}
			got = append(got, text)
		}
		if d := cmp.Diff(tc.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestExcerpt(t *testing.T) {
	x := extent{lines: 3, width: 5}
	for text, want := range map[string]string{
		"":                 "",
		"a\nb\nc\n\n":      "a\nb\nc",
		"a\nb\nc\nd\ne":    "a\nb\n… 2 lines left out …\ne",
		"a\x1b\r\nb":       "a␛\nb",
		"123456789":        "123…9",
		"ab\u202ecd":       "abU…d",
		"\xff":             `\xff`,
		"1\n2\n3\n4\n5\n6": "1\n2\n… 3 lines left out …\n6",
	} {
		if got := x.excerpt(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"a\n\t b": "a b", "123456789012": "123456789…", strings.Repeat("é", 500): "ééééééééé…", "a" + strings.Repeat(" ", 500) + "b": "a …", strings.Repeat("\xe2", 500): `\xe2\xe2\…`,
	} {
		if got := phrase(text, 10); got != want {
			t.Errorf("%.20q: %q, want %q", text, got, want)
		}
	}
	if got := fmt.Sprint(Evidence{Seen: "a\nb", Where: "x:1", Times: 2, Readings: []string{"R-1"}}.text(ofSeen)); got != "seen:\n    a\n    b\nchecked by: x:1\ntimes: 2\nreadings: R-1\n" {
		t.Errorf("%q", got)
	}
}
