package conformance

import (
	"fmt"
	"slices"

	"github.com/pugcheck/pugcheck/harness/artifacts"
	"github.com/pugcheck/pugcheck/harness/report"
)

// keeper is what keeps the artifacts of a run of a scenario once it is over; nil where
// none are kept.
func (o Options) keeper(sc Scenario, run int) func(*T, *report.Timeline, *Outcome) {
	if o.Artifacts == nil {
		return nil
	}
	return func(t *T, line *report.Timeline, out *Outcome) {
		Keep(o.Artifacts, sc.Title, run, line, out, func(f *artifacts.Folder) {
			for _, source := range t.artifacts {
				source(f)
			}
		})
	}
}

// Keep keeps the artifacts of an outcome that went against the subject or broke, and
// notes in it where. That they cannot be kept changes no verdict.
func Keep(k *artifacts.Keeper, title string, run int, line *report.Timeline, out *Outcome, fill func(*artifacts.Folder)) {
	m := artifacts.Manifest{
		Scenario: out.ID, Run: run, Title: title, Started: out.Started, DurationMS: out.Timing.TotalMS,
		Outcome: out.Outcome, Reason: out.Reason, Findings: out.Against(),
	}
	if len(m.Findings) == 0 && out.Outcome != "error" {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			out.Unkept = fmt.Sprintf("artifacts of %s: %v", out.ID, p)
		}
	}()
	place, err := k.Keep(m, line, fill)
	if err != nil {
		out.Unkept = err.Error()
		return
	}
	out.Artifacts = place
}

// Against are the findings that are neither passes nor say that nothing was decided.
func (o *Outcome) Against() []artifacts.Finding {
	list := []artifacts.Finding{}
	for _, f := range o.Findings {
		if slices.Contains(grave, f.Verdict) {
			list = append(list, artifacts.Finding{
				Clause: f.Clause, Verdict: f.Verdict, Acceptable: f.Acceptable, Seen: f.Seen, Readings: f.Readings, Where: f.Where, Times: times(f.Times),
			})
		}
	}
	return list
}

// grave are the verdicts that artifacts are kept for.
var grave = []report.Verdict{report.Fail, report.Warn, report.Error}
