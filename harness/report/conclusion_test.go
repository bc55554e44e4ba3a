package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pugcheck/pugcheck/harness/page"
)

// concluded is a complete run with four MUSTs and a SHOULD, all of them kept, and what
// the test makes of it.
func concluded(change func(*Result)) *Result {
	r := &Result{
		Subject: Subject{Name: "./x", Transports: []string{"subprocess", "http"}}, Suite: "runtime", Specification: "acme v1", Complete: true,
		Requirements: Requirements{Clauses: 5, Musts: 4},
	}
	for i := range 4 {
		r.Clauses = append(r.Clauses, Clause{ID: fmt.Sprintf("A1-%d", i+1), Level: "MUST", Verdict: Pass})
	}
	r.Clauses[3].Level = "MUST NOT"
	r.Clauses = append(r.Clauses, Clause{ID: "A1-5", Level: "SHOULD", Verdict: Pass})
	change(r)
	r.Count()
	return r
}

func without(c *Clause, reason string) { c.Verdict, c.Reason = NotExercised, reason }

// TestConclude is the wording of every case, as its reader finds it.
func TestConclude(t *testing.T) {
	for _, tc := range []struct {
		name     string
		change   func(*Result)
		standing Standing
		whole    bool
		short    string
		text     string // the statement and the details, a line each
	}{
		{"everything is kept", func(*Result) {}, Conforming, true, "conforming",
			"./x: conforming to acme v1 (runtime, subprocess + http): 4 of 4 MUSTs judged."},
		{"against a released set", func(r *Result) {
			r.Requirements.Set = "v1.0"
			r.Beyond = []Clause{{ID: "A9-1", Verdict: Fail}, {ID: "A9-2", Verdict: Pass}}
		}, Conforming, true, "conforming",
			"./x: conforming to acme v1 as of requirements v1.0 (runtime, subprocess + http): 4 of 4 MUSTs judged.\n" +
				"Not in requirements v1.0, and not counted: 2 clauses, of which 1 would be violated: A9-1."},
		{"what is new is kept too", func(r *Result) {
			r.Requirements.Set, r.Beyond = "v1.0", []Clause{{ID: "A9-1", Verdict: Pass}}
		}, Conforming, true, "conforming",
			"./x: conforming to acme v1 as of requirements v1.0 (runtime, subprocess + http): 4 of 4 MUSTs judged.\n" +
				"Not in requirements v1.0, and not counted: 1 clause, none of them violated."},
		{"warnings", func(r *Result) { r.Clauses[0].Verdict, r.Clauses[4].Verdict = Warn, Warn }, Conforming, true, "conforming",
			"./x: conforming to acme v1 (runtime, subprocess + http): 4 of 4 MUSTs judged.\n" +
				"2 warnings: recommended, or our reading of an unclear place; not counted against it."},
		{"a capability is missing", func(r *Result) {
			r.Subject.Transports = []string{"subprocess"}
			without(&r.Clauses[0], "the runtime was declared to lack http (--without http, or the profile)")
			without(&r.Clauses[1], "the runtime was declared to lack http (--without http, or the profile)")
		}, Conforming, false, "2 of 4 MUSTs kept",
			"./x: not shown to conform as a whole to acme v1 (runtime, subprocess), and nothing found against it: 2 of 4 MUSTs judged.\n" +
				"2 MUSTs not exercised: the runtime was declared to lack http (--without http, or the profile)."},
		{"it never did something, and no scenario covers another", func(r *Result) {
			without(&r.Clauses[0], "the handler did not ask on any log.")
			r.Clauses[3].Verdict = NotJudged
		}, Conforming, false, "2 of 4 MUSTs kept",
			"./x: not shown to conform as a whole to acme v1 (runtime, subprocess + http), and nothing found against it: 2 of 4 MUSTs judged.\n" +
				"1 MUST not exercised: the handler did not ask on any log.\n" +
				"1 MUST not judged: no scenario covers it yet."},
		{"a recommendation was not exercised", func(r *Result) { without(&r.Clauses[4], "it never came up") }, Conforming, true, "conforming",
			"./x: conforming to acme v1 (runtime, subprocess + http): 4 of 4 MUSTs judged."},
		{"untestable, and about another transport", func(r *Result) {
			r.Requirements.Musts = 2
			r.Clauses[0].Verdict = Untestable
			without(&r.Clauses[1], "it is about http")
			r.Clauses[1].Over = "http"
			r.Subject.Transports = []string{"subprocess"}
		}, Conforming, true, "conforming",
			"./x: conforming to acme v1 (runtime, subprocess): 2 of 2 MUSTs judged.\n" +
				"1 further MUST about http, over which it was not met.\n" +
				"1 further MUST untestable: nothing that shows outside decides it."},
		{"only a section", func(r *Result) { r.Selection, r.Clauses = []string{"P2.1"}, r.Clauses[:1] }, Conforming, false, "judged in part",
			"No statement about conformance as a whole: only P2.1 was judged (1 of 4 MUSTs). Nothing there speaks against ./x."},
		{"without a section", func(r *Result) { r.Skipped, r.Clauses = []string{"S6", "S7"}, r.Clauses[:2] }, Conforming, false, "judged in part",
			"No statement about conformance as a whole: S6, S7 were left out (2 of 4 MUSTs). Nothing there speaks against ./x."},
		{"a section without a clause", func(r *Result) {
			r.Selection, r.Skipped, r.Clauses = []string{"P2", "P3"}, []string{"P2.1-1"}, r.Clauses[:2]
			without(&r.Clauses[1], "it never came up")
		}, Conforming, false, "judged in part",
			"No statement about conformance as a whole: only P2, P3 were judged, and P2.1-1 was left out (1 of 4 MUSTs). Nothing there speaks against ./x.\n" +
				"1 MUST not exercised: it never came up."},
		{"known failures", func(r *Result) {
			r.Clauses[0].Verdict, r.Clauses[0].Known = Fail, "being mended"
			r.Known = &KnownFailures{File: "known.yaml", Entries: []KnownFailure{{State: KnownHolds}}}
		}, AsListed, false, "1 known failure",
			"./x does not conform to acme v1 (runtime, subprocess + http), and nothing new was found against it: it violates 1 of the 5 clauses that were judged, as known.yaml lists.\n" +
				"4 of 4 MUSTs judged."},
		{"a known failure that passes", func(r *Result) {
			r.Known = &KnownFailures{File: "known.yaml", Entries: []KnownFailure{{State: KnownPasses}}}
		}, Outdated, false, "known failures outdated",
			"Nothing new was found against ./x, but 1 entry in known.yaml no longer describes it and has to be changed.\n" +
				"4 of 4 MUSTs judged."},
		{"known failures that pass", func(r *Result) {
			r.Known = &KnownFailures{File: "known.yaml", Entries: []KnownFailure{{State: KnownPasses}, {State: KnownNothing}}}
		}, Outdated, false, "known failures outdated",
			"Nothing new was found against ./x, but 2 entries in known.yaml no longer describe it and have to be changed.\n" +
				"4 of 4 MUSTs judged."},
		{"unstable", func(r *Result) {
			r.Repeats = 3
			r.Clauses[0].Verdict, r.Clauses[0].Runs = Unstable, []Verdict{Pass, Fail, Pass}
		}, NotConforming, false, "not conforming",
			"./x does not conform to acme v1 (runtime, subprocess + http): it violates 1 of the 5 clauses that were judged, not in every run.\n" +
				"4 of 4 MUSTs judged."},
		{"an unstable recommendation", func(r *Result) {
			r.Clauses[4].Verdict, r.Clauses[4].Runs = Unstable, []Verdict{Pass, Warn}
		}, Conforming, true, "conforming",
			"./x: conforming to acme v1 (runtime, subprocess + http): 4 of 4 MUSTs judged.\n" +
				"1 warning: recommended, or our reading of an unclear place; not counted against it."},
		{"a failure", func(r *Result) { r.Clauses[0].Verdict = Fail }, NotConforming, false, "not conforming",
			"./x does not conform to acme v1 (runtime, subprocess + http): it violates 1 of the 5 clauses that were judged.\n" +
				"4 of 4 MUSTs judged."},
		{"a failure in a section", func(r *Result) { r.Selection, r.Clauses[0].Verdict = []string{"A1"}, Fail }, NotConforming, false, "not conforming",
			"./x does not conform to acme v1 (runtime, subprocess + http): it violates 1 of the 5 clauses that were judged.\n" +
				"4 of 4 MUSTs judged: only A1 was judged."},
		{"a failure beside what is missing", func(r *Result) {
			r.Clauses[0].Verdict, r.Clauses[1].Verdict = Fail, Error
		}, NotConforming, false, "not conforming",
			"./x does not conform to acme v1 (runtime, subprocess + http): it violates 1 of the 4 clauses that were judged.\n" +
				"3 of 4 MUSTs judged.\n" +
				"1 MUST not decided, because the suite or its environment broke."},
		{"a failure beside a known one", func(r *Result) {
			r.Clauses[0].Verdict, r.Clauses[1].Verdict, r.Clauses[1].Known = Fail, Fail, "being mended"
		}, NotConforming, false, "not conforming",
			"./x does not conform to acme v1 (runtime, subprocess + http): it violates 2 of the 5 clauses that were judged, 1 of them as the list of known failures lists.\n" +
				"4 of 4 MUSTs judged."},
		{"the suite broke", func(r *Result) { r.Clauses[1].Verdict = Error }, Troubled, false, "no statement",
			"No statement on ./x: the suite or its environment broke in 1 clause. Nothing else was found against it.\n" +
				"3 of 4 MUSTs judged.\n" +
				"1 MUST not decided, because the suite or its environment broke."},
		{"a scenario broke late", func(r *Result) { r.Scenarios = []Scenario{{Outcome: "error"}} }, Troubled, false, "no statement",
			"No statement on ./x: 1 scenario broke. Nothing was found against it.\n" +
				"4 of 4 MUSTs judged."},
		{"interrupted", func(r *Result) { r.Complete, r.Incomplete = false, "it was interrupted after 3 of 9 scenarios" }, Incomplete, false, "no statement",
			"No statement on ./x: it was interrupted after 3 of 9 scenarios."},
		{"interrupted after a failure", func(r *Result) { r.Complete, r.Clauses[0].Verdict = false, Fail }, Incomplete, false, "no statement",
			"No statement on ./x: the run did not come to its end. So far it violates 1 clause."},
		{"blocked", func(r *Result) { r.Blocked = "it hangs" }, NotConforming, false, "not conforming",
			"./x does not conform: it did not get through the first scenario, so the others were not started."},
		{"blocked by an error", func(r *Result) { r.Blocked, r.Clauses[0].Verdict = "port", Error }, Troubled, false, "no statement",
			"No statement on ./x: the suite or its environment broke in 1 clause. Nothing else was found against it.\n" +
				"3 of 4 MUSTs judged.\n" +
				"1 MUST not decided, because the suite or its environment broke."},
		{"nothing was decided", func(r *Result) {
			r.Clauses = r.Clauses[:1]
			without(&r.Clauses[0], "it did nothing")
		}, NotConforming, false, "not conforming",
			"./x was not shown to conform: nothing that it did decided any clause.\n" +
				"0 of 4 MUSTs judged.\n" +
				"1 MUST not exercised: it did nothing."},
		{"nothing at all", func(r *Result) { r.Clauses = nil }, NotConforming, false, "not conforming",
			"./x was not shown to conform: nothing that it did decided any clause.\n" +
				"0 of 4 MUSTs judged."},
	} {
		r := concluded(tc.change)
		c := r.Conclude()
		text := strings.Join(append([]string{c.Statement}, c.Details...), "\n")
		if d := cmp.Diff(strings.Split(tc.text, "\n"), strings.Split(text, "\n")); d != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, d)
		}
		if c.Standing != tc.standing || c.Whole != tc.whole || c.Short != tc.short {
			t.Errorf("%s: %s, whole %v, short %q; want %s, %v, %q", tc.name, c.Standing, c.Whole, c.Short, tc.standing, tc.whole, tc.short)
		}
		if r.Sentence() != c.Statement || r.Standing() != c.Standing {
			t.Errorf("%s: the parts do not agree with the whole", tc.name)
		}
		terminal := Terminal{Layout: page.Layout{Width: 500}}.text(t, r)
		data, err := r.JSON()
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(tc.text, "\n") {
			if !strings.Contains(terminal, line+"\n") || !strings.Contains(string(data), `"`+line+`"`) {
				t.Errorf("%s: not on the terminal, or not in the JSON form: %s", tc.name, line)
			}
		}
	}
}

// TestManyReasonsAreCut: a handler that does little has a reason for nearly every clause.
func TestManyReasonsAreCut(t *testing.T) {
	r := concluded(func(r *Result) {
		r.Requirements.Musts = 0
		for i := range 8 {
			r.Clauses = append(r.Clauses, Clause{Level: "MUST", Verdict: NotExercised, Reason: fmt.Sprintf("reason %d", min(i, 6))})
		}
	})
	c := r.Conclude()
	want := []string{
		"2 MUSTs not exercised: reason 6.", "1 MUST not exercised: reason 0.", "1 MUST not exercised: reason 1.", "1 MUST not exercised: reason 2.",
		"3 MUSTs not exercised for other reasons.",
	}
	if d := cmp.Diff(want, c.Details); d != "" || !strings.Contains(c.Statement, "4 of 12 MUSTs judged") {
		t.Errorf("%s\n%s", c.Statement, d)
	}
}
