package report

import (
	"strings"
	"testing"

	"github.com/pugcheck/pugcheck/harness/page"
)

func TestWriteChanges(t *testing.T) {
	evidence := func(v Verdict, seen string) []Evidence {
		return []Evidence{{Scenario: "A1/order", Verdict: v, Acceptable: "a, b, c", Seen: seen, Where: "demo/a1.go:3"}}
	}
	clause := func(id string, v Verdict, seen string) Clause {
		c := Clause{ID: id, Section: "A1", Level: "MUST", Basis: "stated", Verdict: v, Requirement: "What " + id + " demands.", Evidence: evidence(v, seen)}
		if v == NotExercised {
			c.Reason, c.Evidence = seen, nil
		}
		return c
	}
	result := func(scenarios string, clauses ...Clause) *Result {
		r := &Result{Suite: "demo", Subject: Subject{Name: "./x"}, Seed: 3, DurationMS: 200, Complete: true, Sections: []Section{{"A1", "order"}}, Clauses: clauses}
		for id := range strings.FieldsSeq(scenarios) {
			r.Scenarios = append(r.Scenarios, Scenario{ID: id, Title: "in words", Outcome: "completed", Repro: "pugcheck demo --only " + id})
		}
		r.Count()
		return r
	}
	old := result("A1/order A1/old",
		clause("A1-1", Pass, "fine"), clause("A1-2", Fail, "b, a, c after 3ms"), clause("A1-3", Fail, "c, a, b after 3ms"),
		clause("A1-4", Fail, "nothing"), clause("A1-5", Pass, "fine"), clause("A1-6", Pass, "fine"), clause("A1-7", Warn, "b"))
	now := result("A1/order A1/new",
		clause("A1-1", Fail, "c, b, a"), clause("A1-2", Fail, "b, a, c after 17ms"), clause("A1-3", Fail, "a, c, b after 3ms"),
		clause("A1-4", Pass, "a, b, c"), clause("A1-5", Pass, "fine"), clause("A1-6", NotExercised, "it never did it"), clause("A1-7", Warn, "b"))
	stuck := result("A1/order", clause("A1-1", Fail, "it hangs"), clause("A1-2", NotExercised, "it did not get through"), clause("A1-6", NotExercised, "it did not get through"))
	stuck.Blocked = "it hangs"
	for name, tc := range map[string]struct {
		old, new *Result
		because  string
	}{
		"changes.txt":           {old, now, ", after a change of a.py"},
		"no_changes.txt":        {now, now, ""},
		"changes_stuck.txt":     {old, stuck, ", after a change of a.py"},
		"changes_recovered.txt": {stuck, now, ", after a change of a.py"},
	} {
		var b strings.Builder
		if err := (Terminal{Layout: page.Layout{Width: 90}, Explain: "pugcheck explain"}).WriteChanges(&b, tc.old, tc.new, tc.because); err != nil {
			t.Fatal(err)
		}
		golden(t, name, b.String())
	}
}
