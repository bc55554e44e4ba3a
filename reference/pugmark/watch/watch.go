// Package watch keeps serving the sessions of a bucket: it looks at the bucket again and again, and runs each session for
// which an invocation has become due.
//
// A session is run when no handler has run on it yet, when objects that ask for an invocation have arrived from outside
// and when its sleep is over. What its own handler appends is no reason to run it again, so that a handler that
// appends each time and never stops does not go round for ever: it stands idle until something arrives.
//
// What such an invocation was for is forgotten with the process where the bucket does not tell: a handler that is run and
// commits nothing is run once more after a restart; objects that landed while a handler ran, and that it has not seen,
// make for another invocation in this process only.
//
// A session is run by one run at a time, as far as this process is concerned. Other processes may serve the same bucket:
// then some invocations are made in vain, and one of each commits (S14.2-2).
package watch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/pugcheck/pugcheck/reference/pugmark/engine"
	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
)

// Config says what is served and how. Engine, with its Repo and Handlers, is required.
type Config struct {
	// Engine is what each run gets. Its Repo is shared by all runs, so that the next run of a session reads only what is
	// new. Its Clock also tells when to look.
	Engine engine.Config

	Session  layout.SessionID // the only session that is served; zero: all of the bucket
	Interval time.Duration    // between two looks at the bucket; 0: DefaultInterval
	Parallel int              // how many sessions are run at once; 0: DefaultParallel

	// Backoff makes the waits of a session after failures in a row. nil: from a second, doubling up to a minute.
	Backoff func() backoff.BackOff

	// Ran is told of each run that invoked a handler or lost to another run. Failed is told of each failure, and
	// when the session is tried again: a zero time means not before something new arrives in it. A zero ID stands for
	// the look at the bucket. Neither is called twice at the same time. nil: nobody is told.
	Ran    func(engine.Result)
	Failed func(id layout.SessionID, err error, again time.Time)

	resting func(until time.Time) // for tests: nothing is being done, and nothing is to be done before that time
}

const (
	// DefaultInterval is how often the bucket is looked at. A look takes a LIST request for each thousand keys below
	// sessions/, where the older snapshots of a long session count for at most a page.
	DefaultInterval = 2 * time.Second
	// DefaultParallel is how many sessions are run at once.
	DefaultParallel = 8
)

// Serve serves the bucket until ctx ends. Then no further invocation begins, handlers that run are ended with nothing
// committed, commits that have begun are completed, and Serve returns nil. It returns an error only where its first
// look at the bucket fails: store.ErrNoBucket, or session.ErrSessionNotFound where a session was named.
func Serve(ctx context.Context, config Config) error {
	w := newWatcher(config)
	defer w.drain()
	if err := w.look(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	next := w.clock.Now().Add(w.Interval)
	troubles := w.Backoff()
	for ctx.Err() == nil {
		now := w.clock.Now()
		if !now.Before(next) {
			err := w.look(ctx)
			next = w.clock.Now().Add(w.Interval)
			switch {
			case err == nil:
				troubles.Reset()
			case ctx.Err() == nil:
				next = next.Add(troubles.NextBackOff())
				w.Failed(layout.SessionID{}, fmt.Errorf("look at the bucket: %w", err), next)
			}
		}
		until := w.wake(w.clock.Now(), next)
		w.start(ctx)
		w.wait(ctx, until)
	}
	return nil
}

// watcher is the state of Serve, which one goroutine has in hand.
type watcher struct {
	Config
	clock   engine.Clock
	tracked map[layout.SessionID]*tracked
	timed   map[layout.SessionID]*tracked // those that have a time to be attended at
	queue   []layout.SessionID            // to be attended as soon as there is room, each once
	running int                           // how many are being attended
	room    chan struct{}                 // taken by those whose handlers run
	done    chan attended
	round   int // number of the look
}

// tracked is a session that a look has shown.
type tracked struct {
	round   int       // the latest look that has shown it
	busy    bool      // it is attended, or waits in the queue for that
	at      time.Time // when it is to be attended although nothing has arrived; zero: never
	held    bool      // after a failure: not before at, whatever arrives
	failed  backoff.BackOff
	history history // belongs to whoever attends the session while it is busy
}

// history is what this process has done about a session.
type history struct {
	known   bool      // whether it was ever attended
	version uint32    // the latest version that was dealt with
	hasRun  bool      // whether there is a latest run
	ran     uint32    // the version that the latest run has left
	slept   time.Time // the end of the sleep that a run was made for
	unseen  bool      // whether there is something that the latest run has not seen
	settled uint32    // the version whose undone records were seen to
}

// attended is what became of attending a session.
type attended struct {
	id      layout.SessionID
	result  *engine.Result // nil: no handler was invoked
	err     error
	final   bool               // err stays until something arrives
	at      time.Time          // see tracked
	again   bool               // there is more to do at once
	touched []layout.SessionID // other sessions that have got something by it
}

func newWatcher(config Config) *watcher {
	w := &watcher{
		Config:  config,
		tracked: map[layout.SessionID]*tracked{},
		timed:   map[layout.SessionID]*tracked{},
	}
	if w.Interval <= 0 {
		w.Interval = DefaultInterval
	}
	if w.Parallel <= 0 {
		w.Parallel = DefaultParallel
	}
	if w.Backoff == nil {
		w.Backoff = newBackoff
	}
	if w.Ran == nil {
		w.Ran = func(engine.Result) {}
	}
	if w.Failed == nil {
		w.Failed = func(layout.SessionID, error, time.Time) {}
	}
	if w.clock = w.Engine.Clock; w.clock == nil {
		w.clock = engine.SystemClock()
	}
	// A session that turns out to sleep is waited for here, where it takes no room from others.
	w.Engine.Clock = sleepless{w.clock}
	w.room = make(chan struct{}, w.Parallel)
	w.done = make(chan attended, w.Parallel+lookers)
	return w
}

func newBackoff() backoff.BackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval, b.Multiplier, b.MaxInterval = time.Second, 2, time.Minute
	return b
}

// look lists the bucket and queues what has changed.
func (w *watcher) look(ctx context.Context) error {
	w.round++
	if !w.Session.IsZero() {
		version, err := w.Engine.Repo.Latest(ctx, w.Session)
		if err == nil {
			w.shown(session.Listed{Session: w.Session, Version: version})
		}
		return err
	}
	for listed, err := range w.Engine.Repo.Sessions(ctx) {
		if err != nil {
			return err
		}
		w.shown(listed)
	}
	for id, t := range w.tracked {
		if t.round != w.round && !t.busy {
			delete(w.tracked, id) // its manifest was deleted (S9.2-2)
			delete(w.timed, id)
		}
	}
	return nil
}

// shown takes in what a listing says about a session.
func (w *watcher) shown(listed session.Listed) {
	t := w.tracked[listed.Session]
	if t == nil {
		t = &tracked{}
		w.tracked[listed.Session] = t
	}
	t.round = w.round
	if !t.busy && !t.held && (!t.history.known || listed.Version > t.history.version) {
		w.enqueue(listed.Session, t)
	}
}

func (w *watcher) enqueue(id layout.SessionID, t *tracked) {
	t.busy, t.held, t.at = true, false, time.Time{}
	delete(w.timed, id)
	w.queue = append(w.queue, id)
}

// wake queues those whose time has come, and gives the time at which there is something to do again.
func (w *watcher) wake(now, next time.Time) time.Time {
	for id, t := range w.timed {
		switch {
		case !now.Before(t.at):
			w.enqueue(id, t)
		case t.at.Before(next):
			next = t.at
		}
	}
	return next
}

// lookers is how many sessions are attended at once beside those whose handlers run: looking costs little.
const lookers = 32

// start attends queued sessions as far as there is room.
func (w *watcher) start(ctx context.Context) {
	for len(w.queue) > 0 && w.running < w.Parallel+lookers {
		id := w.queue[0]
		w.queue = w.queue[1:]
		w.running++
		t := w.tracked[id]
		go func() { w.done <- w.attend(ctx, id, &t.history) }()
	}
}

// wait returns when a session has been attended, when it is the given time, or when ctx ends.
func (w *watcher) wait(ctx context.Context, until time.Time) {
	if w.resting != nil && w.running == 0 && len(w.queue) == 0 {
		w.resting(until)
	}
	timer, stop := context.WithCancel(ctx)
	come := make(chan struct{})
	go func() {
		defer close(come)
		_ = w.clock.Wait(timer, until)
	}()
	select {
	case a := <-w.done:
		w.finish(ctx, a)
	case <-come:
	}
	stop()
	<-come
}

// finish takes in what became of a session.
func (w *watcher) finish(ctx context.Context, a attended) {
	w.running--
	t := w.tracked[a.id]
	t.busy = false
	if a.result != nil {
		w.Ran(*a.result)
	}
	switch {
	case ctx.Err() != nil && (errors.Is(a.err, context.Canceled) || errors.Is(a.err, context.DeadlineExceeded)):
		return // Serve has been told to end
	case a.err != nil && !a.final:
		if t.failed == nil {
			t.failed = w.Backoff()
		}
		a.at, a.again, t.held = w.clock.Now().Add(t.failed.NextBackOff()), false, true
	default:
		t.failed, t.held = nil, false
	}
	if a.err != nil {
		again := a.at
		if a.final {
			again = time.Time{}
		}
		w.Failed(a.id, a.err, again)
	}
	if t.at = a.at; !t.at.IsZero() {
		w.timed[a.id] = t
	}
	for _, id := range a.touched {
		w.touch(id)
	}
	if a.again {
		w.enqueue(a.id, t) // behind the others
	}
}

// touch queues a session before the next look shows it. Where it does not exist, that look forgets it again.
func (w *watcher) touch(id layout.SessionID) {
	if !w.Session.IsZero() && id != w.Session {
		return
	}
	t := w.tracked[id]
	if t == nil {
		t = &tracked{round: w.round}
		w.tracked[id] = t
	}
	if !t.busy && !t.held {
		w.enqueue(id, t)
	}
}

// drain waits until no handler runs any more.
func (w *watcher) drain() {
	ended, end := context.WithCancel(context.Background())
	end()
	for w.running > 0 {
		w.finish(ended, <-w.done)
	}
}

// sleepless is a clock that does not wait.
type sleepless struct{ engine.Clock }

var errAsleep = errors.New("the session sleeps")

func (sleepless) Wait(context.Context, time.Time) error { return errAsleep }
