package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/pugcheck/pugcheck/conformance"
	"github.com/pugcheck/pugcheck/harness/artifacts"
	"github.com/pugcheck/pugcheck/harness/report"
)

// Plan says what is run and how.
type Plan struct {
	Worker    []string               // argv that makes a worker process
	Env       []string               // added to a worker's environment
	Job       any                    // JSON for the worker's open function
	Seed      uint64                 //
	Repeat    int                    // how often each scenario is run; 0 = once
	Workers   int                    // at most so many at once; 0 = three times the cores
	Preflight string                 // run first and alone, where scenarios are repeated until a run gets through; "" = none
	Scenarios []conformance.Scenario // everything to be run, in the order of the suite
	Observer  Observer               // may be nil
	Margin    time.Duration          // how far past its limit a scenario may be before its worker is ended; 0 = 15 s
	Idle      time.Duration          // how long a worker may take between scenarios; 0 = 1 min
	Grace     time.Duration          // how long an interrupted worker may take to end; 0 = 5 s
	Artifacts *artifacts.Keeper      // keeps what scenarios leave behind that went wrong; nil = nothing
}

// Observer is told what happens as it happens. Calls come one at a time.
type Observer interface {
	Started(id string)
	Finished(o conformance.Outcome)
}

// Result is what became of a plan.
type Result struct {
	Outcomes    []conformance.Outcome // in the order in which they came
	Planned     int                   // how many outcomes there would have been
	NotRun      map[string]string     // scenario → why it has no outcome at all
	Blocked     string                // why nothing was run after the preflight
	Interrupted bool                  // the context ended before the plan did
}

// Scenarios that are run per worker process. To start one costs about as much as
// an ordinary scenario costs its worker, so many share one; few enough that the
// last batches end at about the same time.
const maxBatch = 16

// Run carries the plan out. The result is complete in the sense of the package
// documentation even when an error is returned, which says that workers cannot
// work at all.
func Run(ctx context.Context, plan Plan) (Result, error) {
	defaults(&plan)
	p := &pool{plan: plan, tries: map[conformance.Turn]int{}, result: Result{NotRun: map[string]string{}}}
	job, err := json.Marshal(plan.Job)
	if err != nil {
		return p.result, fmt.Errorf("the job cannot be written as JSON: %w", err)
	}
	p.job = job
	first, parallel, serial := divide(plan)
	p.result.Planned = len(first) + len(parallel) + len(serial)
	parallel = append(p.preflight(ctx, first), parallel...)
	if p.result.Blocked == "" {
		p.drain(ctx, parallel, plan.Workers)
		p.drain(ctx, serial, 1)
	}
	return p.finish(ctx)
}

func defaults(plan *Plan) {
	if plan.Workers < 1 {
		plan.Workers = 3 * runtime.NumCPU()
	}
	for _, d := range []struct {
		v   *time.Duration
		def time.Duration
	}{{&plan.Margin, 15 * time.Second}, {&plan.Idle, time.Minute}, {&plan.Grace, 5 * time.Second}} {
		if *d.v == 0 {
			*d.v = d.def
		}
	}
}

// turn is one run of a scenario.
type turn struct {
	conformance.Scenario
	run int // from 1; 0 where nothing is repeated
}

func (t turn) key() conformance.Turn { return conformance.Turn{ID: t.ID, Run: t.run} }

func keyOf(o conformance.Outcome) conformance.Turn { return conformance.Turn{ID: o.ID, Run: o.Run} }

// preflight takes the turns of the preflight, one after the other, until one gets
// through: a subject that fails now and then is judged like any other. It returns those
// that are left.
func (p *pool) preflight(ctx context.Context, turns []turn) []turn {
	for len(turns) > 0 {
		p.drain(ctx, turns[:1], 1)
		var hopeless bool
		p.result.Blocked, hopeless = p.blocked(turns[0])
		if turns = turns[1:]; p.result.Blocked == "" || hopeless || ctx.Err() != nil {
			break
		}
	}
	return turns
}

// divide splits the plan into the preflight, what may run side by side (the
// longest first, otherwise in an order that the seed decides, so that nothing
// comes to rest on what runs beside it), and what has to run alone.
func divide(plan Plan) (first, parallel, serial []turn) {
	for n := range max(plan.Repeat, 1) {
		run := n + 1
		if plan.Repeat <= 1 {
			run = 0
		}
		begin := len(parallel)
		for _, sc := range plan.Scenarios {
			switch t := (turn{sc, run}); {
			case sc.ID == plan.Preflight:
				first = append(first, t)
			case sc.Serial:
				serial = append(serial, t)
			default:
				parallel = append(parallel, t)
			}
		}
		shuffled := parallel[begin:] // each run in an order of its own, beside other neighbours
		rand.New(rand.NewPCG(plan.Seed, uint64(n))).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	}
	sort.SliceStable(parallel, func(i, j int) bool { return parallel[i].Lasts > parallel[j].Lasts })
	return first, parallel, serial
}

// pool is a plan under way.
type pool struct {
	plan Plan
	job  json.RawMessage

	mu      sync.Mutex
	queue   []turn
	tries   map[conformance.Turn]int // how often it was handed out
	trouble error                    // workers cannot work at all
	result  Result
}

// drain takes the turns with at most n workers at once.
func (p *pool) drain(ctx context.Context, turns []turn, n int) {
	p.queue = append([]turn(nil), turns...)
	var slots sync.WaitGroup
	for range min(n, len(turns)) {
		slots.Go(func() {
			for {
				batch := p.take(ctx, n)
				if batch == nil {
					return
				}
				p.batch(ctx, batch)
			}
		})
	}
	slots.Wait()
}

// take removes the next batch from the queue: large while much is left, single
// scenarios at the end; one that waits on purpose goes alone. What a crash
// gives back is picked up by whoever is still at work.
func (p *pool) take(ctx context.Context, n int) []turn {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) == 0 || ctx.Err() != nil || p.trouble != nil {
		return nil
	}
	size := min(maxBatch, max(2, 2*len(p.queue)/(3*n)))
	if p.queue[0].Lasts > 0 || len(p.queue) <= n {
		size = 1
	}
	batch := p.queue[:size:size]
	p.queue = p.queue[size:]
	for _, t := range batch {
		p.tries[t.key()]++
	}
	return batch
}

// batch runs one batch and settles each of its scenarios: by its outcome, by its
// worker's end, or by giving it back.
func (p *pool) batch(ctx context.Context, batch []turn) {
	began := map[conformance.Turn]time.Time{}
	settled := map[conformance.Turn]bool{}
	end := p.process(ctx, batch,
		func(t conformance.Turn) {
			began[t] = time.Now()
			p.observe(ctx, func(o Observer) { o.Started(t.ID) })
		},
		func(out conformance.Outcome) {
			settled[keyOf(out)] = true
			p.settle(ctx, out)
		})
	if ctx.Err() != nil {
		return
	}
	if end.trouble != "" {
		p.fail(errors.New(end.trouble))
		return
	}
	for _, t := range batch {
		switch key := t.key(); {
		case settled[key]:
		case key == end.inFlight:
			p.settle(ctx, p.broken(t, began[key], end))
		default:
			p.giveBack(ctx, t, end)
		}
	}
}

// giveBack hands a scenario out again that its worker never came to, once.
func (p *pool) giveBack(ctx context.Context, t turn, end ending) {
	p.mu.Lock()
	again := p.tries[t.key()] < 2
	if again {
		p.queue = append(p.queue, t)
	}
	p.mu.Unlock()
	if !again {
		if end.why == "" {
			end.why = "two workers ended without running the scenario"
		}
		p.settle(ctx, p.broken(t, time.Now(), end))
	}
}

// settle keeps an outcome, unless the run has been interrupted: a scenario that
// was cut short says nothing about the subject.
func (p *pool) settle(ctx context.Context, out conformance.Outcome) {
	p.observe(ctx, func(o Observer) { o.Finished(out) }, func() { p.result.Outcomes = append(p.result.Outcomes, out) })
}

// observe calls the observer, and then each f, one caller at a time.
func (p *pool) observe(ctx context.Context, tell func(Observer), then ...func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if ctx.Err() != nil {
		return
	}
	for _, f := range then {
		f()
	}
	if p.plan.Observer != nil {
		tell(p.plan.Observer)
	}
}

func (p *pool) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.trouble == nil {
		p.trouble = err
	}
}

// blocked says why a preflight is no basis to go on from; "" if it is one: it
// came to its end, passed something that it is labelled with, and violated nothing
// of that. What is found beside that, by rules for every scenario, keeps
// nobody from judging the rest. It is hopeless where another run could not end
// otherwise.
func (p *pool) blocked(pre turn) (why string, hopeless bool) {
	for _, out := range p.result.Outcomes {
		if keyOf(out) != pre.key() {
			continue
		}
		if out.Outcome != "completed" {
			return out.Reason, out.Unstartable
		}
		passed := false
		for _, f := range out.Findings {
			labelled := slices.Contains(pre.Clauses, f.Clause)
			switch {
			case f.Verdict == report.Error, f.Verdict == report.Fail && labelled:
				return fmt.Sprintf("%s: %s", f.Clause, f.Seen), false
			case f.Verdict == report.Pass && labelled:
				passed = true
			}
		}
		if !passed {
			return "it did nothing that a clause demands", false
		}
	}
	return "", false
}

// finish gives every scenario without an outcome its reason.
func (p *pool) finish(ctx context.Context) (Result, error) {
	done := map[string]bool{}
	for _, out := range p.result.Outcomes {
		done[out.ID] = true
	}
	reason := "the run ended before the scenario's turn"
	switch {
	case p.result.Blocked != "":
		reason = "the subject did not get through " + p.plan.Preflight
	case ctx.Err() != nil:
		reason = "the run was interrupted"
	case p.trouble != nil:
		reason = "the workers could not work: " + p.trouble.Error()
	}
	for _, sc := range p.plan.Scenarios {
		if !done[sc.ID] {
			p.result.NotRun[sc.ID] = reason
		}
	}
	p.result.Interrupted = ctx.Err() != nil && len(p.result.Outcomes) < p.result.Planned
	return p.result, p.trouble
}
