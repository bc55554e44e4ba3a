package run

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/pugcheck/pugcheck/conformance"
	"github.com/pugcheck/pugcheck/harness/artifacts"
	"github.com/pugcheck/pugcheck/harness/report"
	"github.com/pugcheck/pugcheck/harness/subject"
)

// lastWords bounds what is kept of a worker's output, in bytes: the beginning
// names a panic, the end tells where it stood.
const lastWords = 32 << 10

// ending is how a worker process ended.
type ending struct {
	inFlight conformance.Turn // what had started and had no outcome
	why      string           // in words; empty for a regular end
	trouble  string           // what the worker itself said it cannot do
	output   string           // last words
}

// process runs one batch in one worker process and delivers its messages. It
// returns when the process is gone. The end of ctx ends the worker: politely
// first, so that it takes its subjects along, then by force.
func (p *pool) process(ctx context.Context, batch []turn, started func(conformance.Turn), done func(conformance.Outcome)) ending {
	// The kernel ties the worker's death signal to the thread that starts it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	read, write, err := os.Pipe()
	if err != nil {
		return ending{why: fmt.Sprintf("no pipe for a worker: %v", err)}
	}
	defer read.Close()
	o := order{Job: p.job, Seed: p.plan.Seed, Artifacts: p.plan.Artifacts.Of(batchIDs(batch))}
	for _, t := range batch {
		o.Turns = append(o.Turns, t.key())
	}
	stdin, err := json.Marshal(o)
	if err != nil {
		write.Close()
		return ending{trouble: fmt.Sprintf("the job cannot be written as JSON: %v", err)}
	}
	output := subject.NewRecorder(lastWords)
	cmd := exec.Command(p.plan.Worker[0], p.plan.Worker[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), output, output
	cmd.Env = append(os.Environ(), p.plan.Env...)
	cmd.ExtraFiles = []*os.File{write}
	cmd.WaitDelay = time.Second
	cmd.SysProcAttr = ownGroup()
	err = cmd.Start()
	write.Close()
	if err != nil {
		return ending{why: fmt.Sprintf("a worker could not be started: %v", err)}
	}

	w := &watch{limit: p.plan.Idle}
	w.timer = time.AfterFunc(w.limit, func() { w.expire(cmd.Process) })
	stop := context.AfterFunc(ctx, func() { p.end(cmd.Process) })
	limits := map[string]time.Duration{}
	for _, t := range batch {
		limits[t.ID] = t.Bound() + p.plan.Margin
	}
	end := ending{}
	for dec := json.NewDecoder(read); ; {
		var m message
		if err := dec.Decode(&m); err != nil {
			if !errors.Is(err, io.EOF) && ctx.Err() == nil && !w.expired() {
				end.why = fmt.Sprintf("unreadable message from a worker: %v", err)
				_ = cmd.Process.Kill()
			}
			break
		}
		switch {
		case m.Started != nil:
			end.inFlight = *m.Started
			w.reset(limits[m.Started.ID])
			started(*m.Started)
		case m.Outcome != nil:
			if keyOf(*m.Outcome) == end.inFlight {
				end.inFlight = conformance.Turn{}
			}
			w.reset(p.plan.Idle)
			done(*m.Outcome)
		case m.Trouble != "":
			end.trouble = m.Trouble
		}
	}
	w.reset(p.plan.Idle)
	err = cmd.Wait()
	w.timer.Stop()
	stop()
	switch {
	case w.expired():
		end.why = fmt.Sprintf("a worker said nothing for %s and was ended", w.limit)
	case end.why == "" && end.trouble == "" && err != nil && !errors.Is(err, exec.ErrWaitDelay):
		end.why = fmt.Sprintf("a worker process broke off: %v", err)
	case end.why == "" && end.inFlight.ID != "":
		end.why = "a worker process ended in the middle of the scenario"
	}
	end.output = output.Capture().String()
	return end
}

// end ends a worker on interruption. It has Grace to take its subjects along.
func (p *pool) end(proc *os.Process) {
	_ = proc.Signal(syscall.SIGTERM)
	time.AfterFunc(p.plan.Grace, func() { _ = proc.Kill() })
}

func batchIDs(batch []turn) []string {
	var ids []string
	for _, t := range batch {
		ids = append(ids, t.ID)
	}
	return ids
}

// broken is the outcome of a scenario whose worker did not survive it, with what can
// still be kept of it.
func (p *pool) broken(t turn, began time.Time, e ending) conformance.Outcome {
	out := broken(t, began, e)
	if k := p.plan.Artifacts; k != nil {
		conformance.Keep(k, t.Title, t.run, &report.Timeline{}, &out, func(f *artifacts.Folder) { f.Put("worker", []byte(e.output)) })
	}
	return out
}

func broken(t turn, began time.Time, e ending) conformance.Outcome {
	out := conformance.Outcome{ID: t.ID, Run: t.run, Outcome: "error", Reason: e.why, Started: began, Findings: []conformance.Finding{}}
	for _, id := range t.Clauses {
		out.Findings = append(out.Findings, conformance.Finding{Clause: id, Verdict: report.Error, Seen: e.why, Where: t.Where, Times: 1})
	}
	if text := strings.TrimSpace(e.output); text != "" {
		out.Trace = []report.Block{{Title: "last words of the worker process", Text: text}}
	}
	return out
}

// watch ends a worker that has said nothing for too long.
type watch struct {
	mu    sync.Mutex
	timer *time.Timer
	limit time.Duration
	over  bool
}

func (w *watch) reset(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over {
		w.limit = d
		w.timer.Reset(d)
	}
}

// expire makes the worker, a Go program, print where its goroutines hang, and
// ends it for good soon after.
func (w *watch) expire(proc *os.Process) {
	w.mu.Lock()
	w.over = true
	w.mu.Unlock()
	_ = proc.Signal(syscall.SIGABRT)
	time.AfterFunc(2*time.Second, func() { _ = proc.Kill() })
}

func (w *watch) expired() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.over
}
