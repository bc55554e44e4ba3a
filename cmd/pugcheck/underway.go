package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/pugcheck/pugcheck/conformance"
	runner "github.com/pugcheck/pugcheck/conformance/run"
	"github.com/pugcheck/pugcheck/harness/report"
)

// underway observes a run and keeps what is known so far in the reports, marked as
// incomplete, until the run has ended.
type underway struct {
	next    runner.Observer
	j       *judgement
	began   time.Time
	plan    []conformance.Scenario
	partial *report.Partial

	mu       sync.Mutex
	outcomes []conformance.Outcome
}

// keepUnderway puts itself before the observer of a plan. Nothing is written before the first
// scenario has started.
func (j *judgement) keepUnderway(plan *runner.Plan, targets []report.Target, began time.Time) *underway {
	u := &underway{next: plan.Observer, j: j, began: began, plan: plan.Scenarios}
	u.partial = report.KeepPartial(targets, u.result)
	plan.Observer = u
	return u
}

func (u *underway) Started(id string) {
	u.partial.Changed()
	u.next.Started(id)
}

func (u *underway) Finished(o conformance.Outcome) {
	u.mu.Lock()
	u.outcomes = append(u.outcomes, o)
	u.mu.Unlock()
	u.partial.Changed()
	u.next.Finished(o)
}

// Close leaves the reports to whoever writes the final ones.
func (u *underway) Close() { u.partial.Close() }

// result is what is known now.
func (u *underway) result() *report.Result {
	u.mu.Lock()
	r := runner.Result{Outcomes: u.outcomes[:len(u.outcomes):len(u.outcomes)], NotRun: map[string]string{}}
	u.mu.Unlock()
	done := map[string]bool{}
	for _, o := range r.Outcomes {
		done[o.ID] = true
	}
	for _, sc := range u.plan {
		if !done[sc.ID] {
			r.NotRun[sc.ID] = "the run had not come to the scenario's end"
		}
	}
	out := u.j.result(r, nil, u.began)
	out.Complete = false
	out.Incomplete = fmt.Sprintf("the run was under way, with %d of %s finished, when this was written", len(r.Outcomes), u.j.extent(len(u.plan)*u.j.flags.repeat))
	return out
}
