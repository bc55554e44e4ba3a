package report

import (
	"cmp"
	"fmt"
)

// conclusion is what a form that knows only tests makes of a verdict.
type conclusion int

const (
	passed  conclusion = iota // also with warnings
	failed                    // goes against the subject
	skipped                   // nothing was decided, or the failure is known
	broke                     // the suite or its environment is at fault
)

// testCase is what one scenario says on one clause, or a clause that no scenario
// judges.
type testCase struct {
	clause     *Clause
	scenario   *Scenario // nil where there is none
	conclusion conclusion
	verdict    Verdict    // of this scenario
	reason     string     // why it is skipped
	known      bool       // it is skipped since its failure is listed
	evidence   []Evidence // of this scenario, the gravest first
}

// cases are all pairs of a clause and a scenario that judges it, in the order of the
// clauses. A clause without any scenario is one case.
func (r *Result) cases() []testCase {
	scenarios := r.byID()
	var out []testCase
	for i := range r.Clauses {
		c := &r.Clauses[i]
		if len(c.Scenarios) == 0 {
			out = append(out, caseOf(c, nil))
		}
		against := false
		for _, id := range c.Scenarios {
			tc := caseOf(c, scenarios[id])
			against = against || tc.conclusion == failed || tc.known
			out = append(out, tc)
		}
		// The difference between runs may lie between the scenarios: no one of them
		// failed, and the clause did.
		if last := &out[len(out)-1]; c.Against() && !against && last.conclusion != broke {
			last.conclude(c.Verdict)
		}
	}
	return out
}

// byID finds scenarios by their name.
func (r *Result) byID() map[string]*Scenario {
	out := map[string]*Scenario{}
	for i := range r.Scenarios {
		out[r.Scenarios[i].ID] = &r.Scenarios[i]
	}
	return out
}

func caseOf(c *Clause, sc *Scenario) testCase {
	tc := testCase{clause: c, scenario: sc}
	if sc == nil {
		tc.conclude(c.Verdict)
		return tc
	}
	for _, e := range c.Evidence {
		if e.Scenario == sc.ID {
			tc.evidence = append(tc.evidence, e)
		}
	}
	v, said := c.PerScenario[sc.ID]
	if !said {
		v = NotExercised
		for _, e := range tc.evidence {
			v = graver(v, e.Verdict)
		}
	}
	tc.conclude(v)
	return tc
}

func (tc *testCase) conclude(v Verdict) {
	tc.verdict, tc.reason, tc.known = v, "", false
	switch {
	case (v == Fail || v == Unstable) && tc.clause.Known != "":
		tc.conclusion, tc.known, tc.reason = skipped, true, "known failure: "+tc.clause.Known
	case v == Fail, v == Unstable && tc.clause.Against():
		tc.conclusion = failed
	case v == Pass, v == Warn, v == Unstable:
		tc.conclusion = passed
	case v == Error:
		tc.conclusion = broke
	default:
		tc.conclusion, tc.reason = skipped, fmt.Sprintf("%s: %s", tc.verdict.Words(), tc.why())
	}
}

// why is the reason for which this scenario decided nothing.
func (tc *testCase) why() string {
	for _, e := range tc.evidence {
		if e.Verdict == NotExercised && e.Seen != "" {
			return e.Seen
		}
	}
	if sc := tc.scenario; sc != nil {
		why := cmp.Or(sc.Reason, "no reason was given")
		switch sc.Outcome {
		case "not-run":
			return "the scenario was not run: " + why
		case "error":
			return "the scenario broke: " + why
		case "stopped":
			return "the scenario did not come to it: " + why
		}
		if tc.clause.Verdict != NotExercised { // else its reason speaks for all
			return "the scenario saw nothing that decides it"
		}
	}
	return cmp.Or(tc.clause.Reason, "no reason was given")
}

// trouble is something beside the verdicts that keeps a run from being a success.
type trouble struct {
	what    string // a short name, unique in its run
	text    string
	against bool // the subject, or the list of its known failures; else the suite is at fault
	repro   string
	line    int // of the list of known failures, where it is about that
}

// The troubles of a run as a whole.
const (
	theRun     = "the run"
	theSubject = "the subject"
)

// troubles are what a form with nothing but tests would hide: a run that was cut short,
// a subject that was given up, scenarios that broke without a verdict of that kind, and
// known failures that are none.
func (r *Result) troubles() []trouble {
	var out []trouble
	if !r.Complete {
		out = append(out, trouble{what: theRun, text: cmp.Or(r.Incomplete, "the run did not come to its end")})
	}
	if r.Blocked != "" {
		out = append(out, trouble{what: theSubject, text: r.Blocked, against: true})
	}
	said := map[string]bool{}
	for _, c := range r.Clauses {
		for _, e := range c.Evidence {
			said[e.Scenario] = said[e.Scenario] || e.Verdict == Error
		}
		for id, v := range c.PerScenario {
			said[id] = said[id] || v == Error
		}
	}
	for _, sc := range r.Scenarios {
		if sc.Outcome == "error" && !said[sc.ID] {
			out = append(out, trouble{what: "scenario " + sc.ID, text: cmp.Or(sc.Reason, "it broke"), repro: sc.Repro})
		}
	}
	for _, k := range r.stale() {
		name := cmp.Or(k.Clause, k.Capability)
		out = append(out, trouble{
			what: "known failure " + name, against: true, line: k.Line,
			text: fmt.Sprintf("%s:%d: %s", r.listName(), k.Line, cmp.Or(k.Advice, "the entry describes the subject no more")),
		})
	}
	return out
}
