package defects

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pugcheck/pugcheck/harness/report"
)

// sample are scenarios that touch most parts of a runtime: starting a handler,
// replaying, committing every kind of Output, pausing, settling conflicts. Beside
// those of its own clause every defect is run on them, so that it shows when a
// fault makes clauses fall that it has nothing to do with.
var sample = []string{"P2.1/preflight", "P4.2/whole-log", "P10/pause-and-more", "S7.3/mixed-outputs", "S6.5/deltas"}

// TestEveryDefectIsCaught is the proof that the suite can fail: by the right
// clause, for the right reason, and nowhere else.
func TestEveryDefectIsCaught(t *testing.T) {
	var caught, run atomic.Int64
	t.Run("defect", func(t *testing.T) {
		for _, d := range chosen() {
			t.Run(d.Name, func(t *testing.T) {
				t.Parallel()
				selectors := append([]string{d.Clause}, sample...)
				if *whole {
					selectors = nil
				}
				result, status, output, err := judge(t.Context(), d.Name, selectors...)
				if err != nil {
					t.Fatalf("%v\n%s", err, output)
				}
				run.Add(1)
				problems := d.problems(result, status)
				if len(problems) == 0 {
					caught.Add(1)
					return
				}
				t.Errorf("%s (%s, must be caught by %s)\n  %s\n  repeat: %s", d.Name, d.Fault, d.Clause, strings.Join(problems, "\n  "), repro(d.Name, selectors...))
			})
		}
	})
	t.Logf("caught by the right clause, and nothing unrelated failing: %d of %d", caught.Load(), run.Load())
}

// chosen are the defects to be judged: all, or the first of each section.
func chosen() []Defect {
	if everything() {
		return All()
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(All(), func(d Defect) bool {
		section := d.Clause[:strings.LastIndex(d.Clause, "-")]
		again := seen[section]
		seen[section] = true
		return again
	})
}

// problems says in what a result is not what the defect has to lead to.
func (d Defect) problems(result report.Result, status int) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if !result.Complete {
		add("the run is incomplete: %s", result.Incomplete)
	}
	failed := false
	for _, c := range result.Clauses {
		failed = failed || c.Verdict == report.Fail
		switch {
		case c.ID == d.Clause && c.Verdict != d.Verdict:
			add("NOT CAUGHT: %s is %s, want %s %s%s", c.ID, c.Verdict, d.Verdict, c.Reason, seen(c))
		case c.ID == d.Clause && !d.named(c):
			add("NOT NAMED: no evidence on %s contains %q%s", c.ID, d.Message, seen(c))
		case c.ID == d.Clause:
		case c.Verdict == report.Error:
			add("SUITE BROKE: %s %s%s", c.ID, c.Reason, seen(c))
		case c.Verdict == report.Fail || c.Verdict == report.Warn:
			if d.Beside[c.ID] == "" {
				add("UNRELATED: %s is %s%s", c.ID, c.Verdict, seen(c))
			}
		}
	}
	if want := map[bool]int{true: 1, false: 0}[failed]; status != want {
		add("exit status %d, want %d", status, want)
	}
	return out
}

// named tells whether an observation that led to the verdict says what is wrong.
func (d Defect) named(c report.Clause) bool {
	return slices.ContainsFunc(c.Evidence, func(e report.Evidence) bool {
		return e.Verdict == c.Verdict && contains(e.Acceptable+"; seen: "+e.Seen, d.Message)
	})
}

// contains looks for the pieces of a message in a text, one behind the other.
func contains(text, message string) bool {
	text = oneLine(text)
	for piece := range strings.SplitSeq(message, " … ") {
		_, rest, ok := strings.Cut(text, oneLine(piece))
		if !ok {
			return false
		}
		text = rest
	}
	return true
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// seen quotes the gravest observation on a clause.
func seen(c report.Clause) string {
	if len(c.Evidence) == 0 {
		return ""
	}
	e := c.Evidence[0]
	text := oneLine(e.Seen)
	if len(text) > 300 {
		text = text[:300] + "…"
	}
	return fmt.Sprintf("\n    %s: want %s\n      saw %s", e.Scenario, oneLine(e.Acceptable), text)
}

// TestWithoutFault: what faulty is composed of conforms, so whatever falls in the
// tests above is the fault's doing.
func TestWithoutFault(t *testing.T) {
	result, status, output, err := judge(t.Context(), "none")
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	if !result.Complete {
		t.Errorf("the run is incomplete: %s", result.Incomplete)
	}
	for _, c := range result.Clauses {
		switch c.Verdict {
		case report.Fail, report.Warn, report.Error:
			t.Errorf("%s is %s%s", c.ID, c.Verdict, seen(c))
		}
	}
	if status != 0 {
		t.Errorf("exit status %d; repeat: %s", status, repro("none"))
	}
}

// TestProblemsAreSeen proves that the judgement above can fail itself.
func TestProblemsAreSeen(t *testing.T) {
	d := Defect{Name: "x", Clause: "P1-1", Verdict: report.Fail, Message: `found … "x"`, Beside: map[string]string{"P1-2": "a reason"}}
	evidence := func(v report.Verdict, text string) []report.Evidence {
		return []report.Evidence{{Scenario: "P1/x", Verdict: v, Acceptable: "something", Seen: text}}
	}
	right := report.Clause{ID: "P1-1", Verdict: report.Fail, Evidence: evidence(report.Fail, "it found\n  the word \"x\"")}
	for name, c := range map[string]struct {
		clauses []report.Clause
		status  int
		want    string
	}{
		"caught":             {[]report.Clause{right, {ID: "P1-2", Verdict: report.Warn}, {ID: "P1-3", Verdict: report.Pass}}, 1, ""},
		"passed":             {[]report.Clause{{ID: "P1-1", Verdict: report.Pass}}, 0, "NOT CAUGHT"},
		"a warning only":     {[]report.Clause{{ID: "P1-1", Verdict: report.Warn, Evidence: evidence(report.Warn, `found "x"`)}}, 0, "NOT CAUGHT"},
		"for another reason": {[]report.Clause{{ID: "P1-1", Verdict: report.Fail, Evidence: evidence(report.Fail, `"x" was found`)}}, 1, "NOT NAMED"},
		"another one falls":  {[]report.Clause{right, {ID: "P1-3", Verdict: report.Warn}}, 1, "UNRELATED"},
		"trouble":            {[]report.Clause{right, {ID: "P1-2", Verdict: report.Error}}, 1, "SUITE BROKE"},
		"exit status":        {[]report.Clause{right}, 0, "exit status 0"},
	} {
		got := strings.Join(d.problems(report.Result{Complete: true, Clauses: c.clauses}, c.status), "\n")
		if !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%s: problems %q, want %q", name, got, c.want)
		}
	}
}
