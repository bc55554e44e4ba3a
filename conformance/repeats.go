package conformance

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pugcheck/pugcheck/harness/report"
)

// byRun is what each of the repeated runs says about a clause by itself; nil where
// nothing was repeated.
func (a *Aggregation) byRun(found []report.Evidence) []report.Verdict {
	if a.Repeats < 2 {
		return nil
	}
	out := make([]report.Verdict, a.Repeats)
	for i := range out {
		of := slices.DeleteFunc(slices.Clone(found), func(e report.Evidence) bool { return !slices.Contains(e.Runs, i+1) })
		out[i] = gravest(of)
	}
	return out
}

// varies tells whether a clause is kept in some runs and violated in others. A run that
// did not come to a point that decides contradicts nobody. Where the suite broke, only a
// failure is decisive, as it is within one run.
func varies(runs []report.Verdict) bool {
	has := func(v report.Verdict) bool { return slices.Contains(runs, v) }
	return has(report.Pass) && (has(report.Fail) || has(report.Warn) && !has(report.Error))
}

// howRunsDiffer says which runs say what: "fails in run 2 of 3, passes in runs 1 and 3".
func howRunsDiffer(runs []report.Verdict) string {
	words := []struct {
		verdict report.Verdict
		verb    string
	}{
		{report.Fail, "fails"}, {report.Warn, "is a warning"}, {report.Pass, "passes"},
		{report.Error, "could not be judged"}, {report.NotExercised, "is not exercised"},
	}
	var parts []string
	for _, w := range words {
		var in []int
		for i, v := range runs {
			if v == w.verdict {
				in = append(in, i+1)
			}
		}
		if len(in) == 0 {
			continue
		}
		part := w.verb + " in " + report.RunList(in)
		if len(parts) == 0 {
			part += fmt.Sprintf(" of %d", len(runs))
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// gravestRun is the run of a scenario that there is most to say about, the first
// of these, and how many kinds of runs there were: one where all say the same.
func gravestRun(runs []Outcome) (worst Outcome, kinds int) {
	slices.SortFunc(runs, func(x, y Outcome) int { return cmp.Compare(x.Run, y.Run) })
	worst = runs[0]
	seen := map[string]bool{}
	for _, o := range runs {
		if graver(o, worst) {
			worst = o
		}
		seen[tenor(o)] = true
	}
	return worst, len(seen)
}

// graver orders outcomes: what broke, then what was found, then what did not end.
func graver(x, y Outcome) bool {
	weight := func(o Outcome) (w [3]int) {
		if o.Outcome == "error" {
			w[0] = 1
		}
		for _, f := range o.Findings {
			w[1] = max(w[1], f.Verdict.Gravity())
		}
		if o.Outcome != "completed" {
			w[2] = 1
		}
		return w
	}
	a, b := weight(x), weight(y)
	return slices.Compare(a[:], b[:]) > 0
}

// tenor is the outcome of a run with its verdict on each clause.
func tenor(o Outcome) string {
	worst := map[string]report.Verdict{}
	for _, f := range o.Findings {
		if f.Verdict.Gravity() > worst[f.Clause].Gravity() {
			worst[f.Clause] = f.Verdict
		}
	}
	words := []string{o.Outcome}
	for clause, v := range worst {
		words = append(words, clause+" "+string(v))
	}
	slices.Sort(words[1:])
	return strings.Join(words, "\n")
}
