package main

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/pugcheck/pugcheck/conformance"
	"github.com/pugcheck/pugcheck/conformance/known"
	"github.com/pugcheck/pugcheck/conformance/pugmark"
	"github.com/pugcheck/pugcheck/harness/page"
	"github.com/pugcheck/pugcheck/harness/report"
)

// coloured tells whether output to f may have colours.
func coloured(f *os.File) bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}

// widthOf is the width of the terminal behind f, or what reads well elsewhere.
func widthOf(f *os.File) int {
	if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 { // some terminals do not know
		return w
	}
	return 100
}

// layoutFor fits text to the terminal behind f, within what reads well.
func layoutFor(f *os.File) page.Layout {
	return page.Layout{Width: min(widthOf(f), 120), Colour: coloured(f)}
}

func (j *judgement) terminal(f *os.File) report.Terminal {
	return terminalFor(f, j.invoked, j.suite.Name, j.flags.verbose, j.flags.timing)
}

// terminalFor shows results of a suite on f. invoked is how pugcheck is called.
func terminalFor(f *os.File, invoked, suite string, verbose, timing bool) report.Terminal {
	return report.Terminal{
		Layout:  layoutFor(f),
		Verbose: verbose, Timing: timing,
		Explain: invoked + " explain", Unjudged: invoked + " clauses --suite " + suite + " --unjudged",
	}
}

// progress begins to show progress on standard error, and says what is judged.
func (j *judgement) progress(runs int) *report.Progress {
	fmt.Fprintf(os.Stderr, "judging %s: %s, %d at a time, seed %d\n", j.subject.Name, j.extent(runs), min(j.workers(), runs), j.seed)
	return report.NewProgress(os.Stderr, report.ProgressOptions{
		Total: runs, Repeated: j.flags.repeat > 1, Verbose: j.flags.verbose, Colour: coloured(os.Stderr),
		Live:  term.IsTerminal(int(os.Stderr.Fd())) && os.Getenv("TERM") != "dumb",
		Width: func() int { return widthOf(os.Stderr) },
	})
}

// watcher passes what happens on to the progress.
type watcher struct {
	progress *report.Progress
	clauses  map[string]bool // those that count
	strict   bool
	known    *known.List         // nil = none
	needs    map[string][]string // capabilities, by scenario
}

// watch makes the observer of a run that shows its progress.
func (j *judgement) watch(progress *report.Progress) *watcher {
	w := &watcher{progress: progress, clauses: j.counting, strict: j.flags.strict, known: j.known, needs: map[string][]string{}}
	for _, sc := range j.suite.Scenarios {
		w.needs[sc.ID] = sc.Needs
	}
	return w
}

func (w *watcher) Started(id string) { w.progress.Started(id) }

func (w *watcher) Finished(o conformance.Outcome) {
	if o.Unstartable { // told once, at the end
		return
	}
	step := report.Step{ID: o.ID, Outcome: o.Outcome, Took: time.Duration(o.Timing.TotalMS * float64(time.Millisecond))}
	for _, f := range o.Findings {
		if w.clauses[f.Clause] {
			step.Findings = append(step.Findings, report.Found{Clause: f.Clause, Verdict: w.weigh(f), Seen: f.Seen,
				Known: w.known != nil && w.known.Lists(f, w.needs[o.ID])})
		}
	}
	w.progress.Finished(step)
}

// weigh is the verdict of a finding as it will count in the result.
func (w *watcher) weigh(f conformance.Finding) report.Verdict {
	if !w.strict || f.Verdict != report.Warn {
		return f.Verdict
	}
	level := ""
	if c, ok := pugmark.Catalogue().Clause(f.Clause); ok {
		level = string(c.Level)
	}
	return conformance.Strictly(f.Verdict, level)
}
