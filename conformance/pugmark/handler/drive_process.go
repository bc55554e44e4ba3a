package handler

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/pugcheck/pugcheck/harness/subject"
)

// processDriver starts the handler anew for every invocation (P2.1-1).
type processDriver struct{ argv []string }

// keptStderr is how much of standard error is kept, in bytes.
const keptStderr = 32 << 10

func (d processDriver) Drive(ctx context.Context, p Plan) (*Exchange, error) {
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("a pipe for the handler's input: %w", err)
	}
	defer ours.Close()
	e := &Exchange{Over: Subprocess, What: p.What, Input: wholeStream(p.Chunks), Timeout: p.Timeout}
	began := time.Now()
	in := newIntake(began)
	proc, err := subject.Start(subject.Command{
		Argv: slices.Concat(d.argv, p.Args), Env: subject.Environment(os.Environ(), p.Env), Stdin: theirs,
		StdoutLimit: 1, StderrLimit: keptStderr, OnStdout: in.take,
	})
	_ = theirs.Close()
	if err != nil {
		return nil, fmt.Errorf("the handler could not be started: %w", err)
	}
	feeding := feed(ours, p, began)
	limit, cancel := subject.Patience(ctx, p.Timeout+pauses(p.Chunks))
	defer cancel()
	select {
	case <-proc.Done():
		e.Ended = true
	case <-in.full:
	case <-limit.Done():
	}
	e.Took = time.Since(began)
	e.Strays = proc.Kill()
	_ = ours.Close() // ends a write that nobody reads
	e.Sent = feeding.wait()
	if e.Ended {
		exit := proc.Exit()
		e.Exit, e.Success = exit.String(), exit.Success()
		e.HeldOutput = len(e.Strays) > 0 && proc.Held()
	}
	e.Stderr = proc.Stderr().String()
	in.into(e)
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("interrupted while the handler ran: %w", err)
	}
	return e, nil
}

// feeder writes chunks and notes when.
type feeder struct {
	stop chan struct{}
	done chan struct{}
	mu   sync.Mutex
	sent []time.Duration
}

// feed writes the plan's chunks to a pipe in the background, and closes it unless the
// plan keeps it open. A handler need not read to the end, so a failed write says nothing.
func feed(to *os.File, p Plan, began time.Time) *feeder {
	f := &feeder{stop: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(f.done)
		if f.write(to, p, began) && !p.KeepOpen {
			_ = to.Close()
		}
	}()
	return f
}

// write writes the plan's chunks, each when its time has come. It tells whether all
// of them were taken.
func (f *feeder) write(to io.Writer, p Plan, began time.Time) bool {
	for _, c := range p.Chunks {
		if c.After > 0 {
			select {
			case <-time.After(c.After):
			case <-f.stop:
				return false
			}
		}
		f.mu.Lock()
		f.sent = append(f.sent, time.Since(began))
		f.mu.Unlock()
		if _, err := to.Write(c.Bytes); err != nil {
			return false
		}
	}
	return true
}

// wait ends the feeding and tells when each chunk was begun.
func (f *feeder) wait() []time.Duration {
	close(f.stop)
	<-f.done
	return f.sent
}
