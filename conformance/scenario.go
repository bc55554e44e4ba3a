// Package conformance is the vocabulary of a conformance suite, for any
// specification: scenarios that are Ginkgo specs labelled with clauses, a
// ledger of soft per-clause assertions, and the way from findings to verdicts.
//
// Guarantees: a verdict rests only on findings that a labelled scenario
// recorded; a scenario that could not go on leaves the clauses it had not
// judged "not exercised" with the reason; trouble in the suite is an error and
// never a verdict on the subject.
package conformance

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/pugcheck/pugcheck/harness/artifacts"
	"github.com/pugcheck/pugcheck/harness/report"
	"github.com/pugcheck/pugcheck/harness/subject"
)

// Scenario is one behaviour that is provoked and judged. Its ID is a path,
// "section/name", with "@variant" behind it where the same story is told over
// another transport; the same string selects it, labels it in reports and
// repeats it.
type Scenario struct {
	ID      string
	Title   string        // one line: the story
	Clauses []string      // every clause it can give a verdict on
	Needs   []string      // capabilities of the subject without which it cannot be run
	Limit   time.Duration // 0 = DefaultLimit; a scenario that outlives it is the suite's trouble
	Lasts   time.Duration // how long it waits on purpose, if that is more than a second: such scenarios start first
	Serial  bool          // measures time: nothing else should run beside it
	Where   string        // file:line of the declaration
	Body    func(ctx context.Context, t *T)
}

// DefaultLimit bounds a scenario whose waits all have limits of their own.
const DefaultLimit = 2 * time.Minute

// Section is the part of the ID before the first slash.
func (s Scenario) Section() string {
	sec, _, _ := strings.Cut(s.ID, "/")
	return sec
}

// Bound is the limit of the scenario, declared or not.
func (s Scenario) Bound() time.Duration {
	if s.Limit > 0 {
		return s.Limit
	}
	return DefaultLimit
}

// T is what a scenario's body works with: the ledger, its own random source,
// and places to put evidence.
type T struct {
	*Ledger
	ID   string
	Seed uint64
	Rand *rand.Rand // the same sequence for the same seed and scenario

	mu           sync.Mutex
	blocks       []report.Block
	tracers      []func() []report.Block
	timelines    []func(*report.Timeline)
	artifacts    []func(*artifacts.Folder)
	waited       time.Duration // closed waits
	waiters      int           // open waits
	waitingSince time.Time
	cleanups     []func()
}

func newT(id string, seed uint64, ledger *Ledger) *T {
	h := fnv.New64a()
	h.Write([]byte(id))
	return &T{Ledger: ledger, ID: id, Seed: seed, Rand: rand.New(&lockedSource{source: rand.NewPCG(seed, h.Sum64())})}
}

// lockedSource lets a scenario draw from its random source in the goroutine of a
// held request too.
type lockedSource struct {
	mu     sync.Mutex
	source rand.Source
}

func (l *lockedSource) Uint64() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.source.Uint64()
}

// Evidence keeps a piece of text that explains what happened. It is shown when
// a verdict of the scenario is not a pass.
func (t *T) Evidence(title, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.blocks = append(t.blocks, report.Block{Title: title, Text: text})
}

// Trace registers a source of evidence that is asked only at the end, and only
// when a verdict is not a pass.
func (t *T) Trace(f func() []report.Block) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tracers = append(t.tracers, f)
}

// Timeline registers a source of events, asked as Trace is. What the ledger found is
// added to them.
func (t *T) Timeline(f func(*report.Timeline)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.timelines = append(t.timelines, f)
}

// Artifacts registers a source of files, asked as Trace is, where they are kept and a
// verdict went against the subject or the suite broke.
func (t *T) Artifacts(f func(*artifacts.Folder)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.artifacts = append(t.artifacts, f)
}

// Waiting calls f, whose time is the subject's and not the harness's. Waits that
// overlap count once.
func (t *T) Waiting(f func()) {
	t.mu.Lock()
	if t.waiters == 0 {
		t.waitingSince = time.Now()
	}
	t.waiters++
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.waiters--; t.waiters == 0 {
			t.waited += time.Since(t.waitingSince)
		}
	}()
	f()
}

// Cleanup runs f when the scenario is over, last registered first.
func (t *T) Cleanup(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cleanups = append(t.cleanups, f)
}

// stopped is the panic value of Stop.
type stopped struct{ reason string }

// Trouble is the panic value that says: the suite or its environment broke.
type trouble struct{ err error }

// Stop ends the scenario: the subject did not go along, so what has not been
// judged stays not exercised, for the given reason.
func (t *T) Stop(reason string, args ...any) {
	panic(stopped{fmt.Sprintf(reason, args...)})
}

// Trouble ends the scenario with the verdict error for all that was not judged.
func (t *T) Trouble(err error) { panic(trouble{err}) }

// Must is Trouble where err is not nil.
func (t *T) Must(err error) {
	if err != nil {
		panic(trouble{err})
	}
}

// Outcome is a finished scenario, as a worker hands it on.
type Outcome struct {
	ID       string         `json:"id"`
	Run      int            `json:"run,omitempty"` // which of the repeated runs, from 1; 0 = there is only one
	Outcome  string         `json:"outcome"`       // as report.Scenario.Outcome
	Reason   string         `json:"reason,omitempty"`
	Findings []Finding      `json:"findings"`
	Started  time.Time      `json:"started"`
	Timing   report.Timing  `json:"timing"`
	Trace    []report.Block `json:"trace,omitempty"`
	Timeline []report.Event `json:"timeline,omitempty"`

	Artifacts string `json:"artifacts,omitempty"` // folder with what the scenario left behind
	Unkept    string `json:"unkept,omitempty"`    // why there is none although there should be

	// Unstartable says that the subject's program could not be executed at all,
	// which is neither a verdict on it nor trouble of the suite.
	Unstartable bool `json:"unstartable,omitempty"`
}

// execute runs one scenario to its outcome. It never panics.
func execute(ctx context.Context, s Scenario, seed uint64, severity Severity, always []string, keep func(*T, *report.Timeline, *Outcome)) (out Outcome) {
	start, spent := time.Now(), processorTime()
	ledger := NewLedger(severity, append(append([]string{}, s.Clauses...), always...))
	t := newT(s.ID, seed, ledger)
	out = Outcome{ID: s.ID, Outcome: "completed", Started: start}
	guarded := func(f func()) {
		defer func() {
			switch p := recover().(type) {
			case nil:
			case stopped:
				out.Outcome, out.Reason = "stopped", p.reason
			case trouble:
				out.Outcome, out.Reason = "error", p.err.Error()
				out.Unstartable = errors.Is(p.err, subject.ErrNotFound) || errors.Is(p.err, subject.ErrNotExecutable)
			default:
				buf := make([]byte, 8<<10)
				out.Outcome, out.Reason = "error", fmt.Sprintf("panic: %v\n%s", p, buf[:runtime.Stack(buf, false)])
			}
		}()
		f()
	}
	guarded(func() { s.Body(ctx, t) })
	for i := len(t.cleanups) - 1; i >= 0; i-- {
		guarded(t.cleanups[i])
	}
	if ctx.Err() != nil && out.Outcome == "stopped" {
		out.Outcome, out.Reason = "error", "the scenario's own time limit ended or the run was interrupted: "+out.Reason
	}
	for _, id := range s.Clauses {
		if ledger.Judged(id) {
			continue
		}
		v, reason := report.NotExercised, out.Reason
		if out.Outcome == "error" {
			v = report.Error
		} else if reason == "" {
			reason = undecided
		}
		if !hasReason(ledger, id) || v == report.Error {
			ledger.record(Finding{Clause: id, Verdict: v, Seen: reason, Where: s.Where})
		}
	}
	out.Findings = ledger.Findings()
	if out.Outcome != "completed" || len(ledger.Worst(report.Fail, report.Warn, report.Error, report.NotExercised)) > 0 {
		for _, f := range t.tracers {
			guardedTrace(f, &t.blocks)
		}
		line := t.timeline(out.Findings)
		out.Timeline = line.Events(start, report.InReport)
		out.Trace = t.blocks
		if keep != nil {
			defer func() { keep(t, line, &out) }()
		}
	}
	total := time.Since(start)
	out.Timing = report.Timing{
		TotalMS: ms(total), SubjectMS: ms(t.waited), HarnessMS: max(0, ms(total-t.waited)),
		HarnessCPUMS: ms(processorTime() - spent),
	}
	return out
}

// processorTime is what this process has used so far, without its children: no
// other scenario is running in it.
func processorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// timeline is what the sources tell, and what was found.
func (t *T) timeline(findings []Finding) *report.Timeline {
	line := &report.Timeline{}
	for _, f := range t.timelines {
		guardedTrace(func() []report.Block { f(line); return nil }, &t.blocks)
	}
	for _, f := range findings {
		switch f.Verdict {
		case report.Fail, report.Warn, report.Error:
			line.Add(f.At, report.LaneSuite, fmt.Sprintf("found: %s %s", f.Clause, f.Verdict), fmt.Appendf(nil, "acceptable: %s\nseen: %s", f.Acceptable, f.Seen))
		}
	}
	return line
}

func guardedTrace(f func() []report.Block, blocks *[]report.Block) {
	defer func() {
		if p := recover(); p != nil {
			*blocks = append(*blocks, report.Block{Title: "trace", Text: fmt.Sprint("could not be made: ", p)})
		}
	}()
	*blocks = append(*blocks, f()...)
}

func hasReason(l *Ledger, clause string) bool {
	for _, f := range l.Findings() {
		if f.Clause == clause {
			return true
		}
	}
	return false
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
