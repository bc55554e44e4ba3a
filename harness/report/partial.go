package report

import (
	"io"
	"sync"
	"time"
)

// How often a partial result is written: not within partialEvery of the last time, and so
// seldom that it takes no more than a part in partialShare of the time that passes.
const (
	partialEvery = time.Second
	partialShare = 50
)

// Partial keeps the files of a run up to date while it goes on, so that whatever ends the run
// leaves a valid result behind. Only forms that a result can be read back from are kept, and
// only in files that can be replaced.
//
// Changed may be called from any goroutine; it costs next to nothing. Failures to write are
// ignored: the final result is written to the same place, and tells.
type Partial struct {
	targets []Target
	current func() *Result
	changed chan struct{}
	stop    chan struct{}
	stopped sync.WaitGroup
	once    sync.Once
}

// KeepPartial begins to keep those of the targets that can be. Nothing is written before the
// first call of Changed. current makes the result as it is now; calls come one at a time, from
// a goroutine of its own, until Close returns.
func KeepPartial(targets []Target, current func() *Result) *Partial {
	p := &Partial{current: current, changed: make(chan struct{}, 1), stop: make(chan struct{})}
	for _, t := range targets {
		if t.keepable() {
			p.targets = append(p.targets, t)
		}
	}
	if len(p.targets) > 0 {
		p.stopped.Go(p.keep)
	}
	return p
}

// Changed says that there is something new. The first time the files are written at once,
// later within about partialEvery.
func (p *Partial) Changed() {
	select {
	case p.changed <- struct{}{}:
	default: // it is known, and not written yet
	}
}

// Close ends the keeping. What was last written stays as it is.
func (p *Partial) Close() {
	p.once.Do(func() { close(p.stop) })
	p.stopped.Wait()
}

func (p *Partial) keep() {
	for {
		select {
		case <-p.stop:
			return
		case <-p.changed:
		}
		began := time.Now()
		r := p.current()
		for _, t := range p.targets {
			_ = t.write(r, io.Discard, forNow)
		}
		select {
		case <-p.stop:
			return
		case <-time.After(pause(time.Since(began))):
		}
	}
}

// pause is how long to wait after a writing that took so long.
func pause(took time.Duration) time.Duration { return max(partialEvery, partialShare*took) }
