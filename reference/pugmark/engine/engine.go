// Package engine runs sessions: it decides whether an invocation is due, shows
// the log to the handler, and commits what comes back. The package above tells
// the life of an invocation from end to end.
//
// Nothing in here can be told to misbehave. Whoever wants a faulty runtime wraps
// one of the seams of [Config]: the store below the repository, a handler, the
// servers, the clock, or the identifiers (those are options of the repository).
package engine

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/serve"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/transport"
)

// Config is what a run needs. Repo and Handlers are required.
type Config struct {
	Repo     *session.Repo
	Handlers Handlers

	Clock Clock // nil: the system's

	// Servers starts the two services of one invocation. nil: serve.Start.
	Servers func(objects, memory http.Handler) (Servers, error)

	// Fetch opens the body behind the uri of an Output. nil: NewFetcher("").
	Fetch Fetcher
	// MaxFetch limits a fetched body, in bytes; 0 means no limit.
	MaxFetch int64

	// Trace is the trace context that this process runs in.
	Trace TraceContext
	// TracerProvider makes the spans of a run; its identifiers are to be those of
	// tracing.IDs, which put them in the session's trace. Spans of the requests to
	// the store are made by package traced, below Repo. nil: none are made, and the
	// handler gets a trace context all the same (P14-1, P14-4).
	TracerProvider trace.TracerProvider

	// Report is told, in a sentence, what a person should know although nothing
	// failed. It may be called from several goroutines. nil: nobody is told.
	Report func(message string)
}

// Clock is the time as the engine sees it.
type Clock interface {
	Now() time.Time
	// Wait returns nil at t or later, or the context's error before.
	Wait(ctx context.Context, t time.Time) error
}

// Servers are the running services of one invocation.
type Servers interface {
	ObjectURL(layout.Digest) string // where the body of that digest is served
	MemoryRoot() string             // ends with a slash
	Close() error
}

// Handlers are the registered handler programs.
type Handlers struct {
	Named   map[string]transport.Handler
	Default transport.Handler // nil: there is none
}

// For is the handler that a session's manifest selects. P15-2: the one of that
// name and no other. P15-3: without a name, the default. P15-6: a fork child has its
// parent's name, and so the same handler.
func (h Handlers) For(m session.Manifest) (transport.Handler, error) {
	if m.Handler == "" {
		if h.Default == nil {
			return nil, fmt.Errorf("session %s names no handler and no default handler was given%s", m.Session, h.registered())
		}
		return h.Default, nil
	}
	if handler, ok := h.Named[m.Handler]; ok {
		return handler, nil
	}
	return nil, fmt.Errorf("session %s wants the handler %q, which is not registered%s", m.Session, m.Handler, h.registered())
}

// Result is how a run ended.
type Result struct {
	Session     layout.SessionID
	Version     uint32 // the latest that the run knows of
	Invocations int    // how many handler invocations succeeded
	State       State
	// Unseen says that objects landed while the last handler ran: they lie before
	// its commit, and nothing in the bucket tells that it has not seen them.
	Unseen bool
}

// State is what is left to do for a session.
type State string

const (
	Idle    State = "idle"    // everything that was due has been done
	Stopped State = "stopped" // the session is paused until objects arrive
	Lost    State = "lost"    // another run committed first; nothing of this one remains
)

// Run makes the invocation of the session that is due, if one is, and returns
// when the session has come to rest. It waits for a session that sleeps. One
// call makes one invocation, and further ones only where the text would lose a
// wake-up otherwise (F-2): a handler that appends each time does not loop for ever.
// They come one after the other, each on what the one before committed (S14.1-1).
//
// Any number of runs may work on one session at once, for one cause or several
// (P1-12, S14.1-3), each as if it were alone: there is no lock that one would wait
// for (S14.1-4), and at most one of those that started from a version commits.
//
// An error means that the invocation failed and nothing was committed, or, where
// Result.Invocations counts it, that something after the commit failed. Losing
// to another run is no error (R-11, S14.2-2), and no reason to invoke the handler
// again, which P1-11 would allow. Cancelling ctx ends the run, which
// then returns the context's error; a commit that has begun is completed first.
func Run(ctx context.Context, config Config, id layout.SessionID) (Result, error) {
	r := &runner{Config: config.withDefaults(), id: id}
	r.Fetch = r.fetchSpans(r.Fetch)
	ctx, span := r.startRun(ctx)
	result, err := r.run(ctx)
	finishRun(span, result, err)
	return result, err
}

func (r *runner) run(ctx context.Context) (Result, error) {
	result := Result{Session: r.id, State: Idle}
	var unseen *interval
	for {
		st, err := within(ctx, r, spanLoad, r.load)
		if err != nil {
			return result, err
		}
		result.Version = st.version
		if err := r.during(ctx, spanSettle, func(ctx context.Context) error { return r.settle(ctx, st) }); err != nil {
			return result, err
		}
		st.unseen = unseen
		due := st.due()
		switch {
		case due.pause:
			result.State = Stopped
			return result, nil
		case r.Clock.Now().Before(due.at):
			// P10-13: not before start-at. What it then runs on is looked up anew.
			if err := r.during(ctx, spanSleep, func(ctx context.Context) error { return r.Clock.Wait(ctx, due.at) }); err != nil {
				return result, fmt.Errorf("session %s sleeps until %s: %w", r.id, due.at.Format(time.RFC3339), err)
			}
			continue
		}

		outcome, err := within(ctx, r, spanInvoke, func(ctx context.Context) (outcome, error) {
			return r.invoke(ctx, st, due.event)
		}, keyVersion.Int64(int64(st.version)), keyEvent.String(due.event))
		if errors.Is(err, session.ErrConflict) {
			r.Report(fmt.Sprintf("%v; what this run produced is discarded", err))
			result.State = Lost
			return result, nil
		}
		if outcome.done {
			result.Invocations++
			result.Version = outcome.version
			result.Unseen = outcome.unseen != nil
			if outcome.stopped {
				result.State = Stopped
			}
		}
		if err != nil {
			return result, err
		}
		if !outcome.stopped || outcome.unseen == nil {
			return result, nil
		}
		// F-2: objects landed while the handler decided to stop, and now lie before
		// the message that it stopped, where nothing would ever wake it for them.
		if err := ctx.Err(); err != nil {
			return result, fmt.Errorf("session %s stopped with version %d, and objects that its handler has not seen wait for the next wake: %w",
				r.id, outcome.version, err)
		}
		r.Report(fmt.Sprintf("session %s: objects arrived while the handler stopped; it is invoked again", r.id))
		unseen, result.State = outcome.unseen, Idle
	}
}

// runner carries what all invocations of one run share.
type runner struct {
	Config
	id layout.SessionID
}

func (c Config) withDefaults() Config {
	if c.Clock == nil {
		c.Clock = systemClock{}
	}
	if c.Servers == nil {
		c.Servers = func(objects, memory http.Handler) (Servers, error) { return serve.Start(objects, memory) }
	}
	if c.Fetch == nil {
		c.Fetch = NewFetcher("")
	}
	if c.Report == nil {
		c.Report = func(string) {}
	}
	return c
}
