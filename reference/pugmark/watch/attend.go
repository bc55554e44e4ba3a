package watch

import (
	"context"
	"errors"
	"time"

	"github.com/pugcheck/pugcheck/reference/pugmark/engine"
	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
)

// attend looks at a session, makes the invocation that is due, if one is, and completes what that has recorded. It is
// called for one session once at a time, and has t to itself as far as that says so.
func (w *watcher) attend(ctx context.Context, id layout.SessionID, t *tracked) (a attended) {
	a.id = id
	t.known = true
	status, err := w.inspect(ctx, id, t)
	if err == nil && t.wants(status, w.clock.Now()) {
		if _, err := w.Engine.Handlers.For(status.Manifest); err != nil {
			// Somebody else's session, perhaps. Waiting makes no difference to it.
			t.ran, t.hasRun, t.unseen = status.Version, true, false
			return attended{id: id, err: err, final: true}
		}
		a.result, err = w.run(ctx, id, t, status)
		if err == nil {
			status, err = w.inspect(ctx, id, t)
		}
	}
	if err == nil && status.Unsettled && t.settled != status.Version {
		// Forks of the parent's last run: nobody would make the children before its next one.
		if err = engine.Settle(ctx, w.Engine, id); err == nil {
			t.settled = status.Version
		}
	}
	switch now := w.clock.Now(); {
	case errors.Is(err, session.ErrSessionNotFound):
		return attended{id: id} // gone since it was listed; the next look will tell
	case err != nil:
		a.err = err
	case t.wants(status, now):
		a.again = true
	case now.Before(status.StartAt):
		a.at = status.StartAt
	}
	return a
}

func (w *watcher) inspect(ctx context.Context, id layout.SessionID, t *tracked) (engine.Status, error) {
	status, err := engine.Inspect(ctx, w.Engine.Repo, w.clock.Now(), id)
	if err == nil {
		t.version = status.Version
	}
	return status, err
}

// wants tells whether an invocation is due that this process has not made yet.
func (t *tracked) wants(status engine.Status, now time.Time) bool {
	switch {
	case t.unseen:
		return true
	case !status.Due():
		return false
	case !t.hasRun || status.Version != t.ran:
		return true
	}
	// The handler has run on this version and had nothing to commit, or has committed it itself: then only a sleep
	// that has ended since is a reason.
	return !status.StartAt.IsZero() && !now.Before(status.StartAt) && !status.StartAt.Equal(t.slept)
}

// run runs the session. The result is nil where no handler was invoked.
func (w *watcher) run(ctx context.Context, id layout.SessionID, t *tracked, status engine.Status) (*engine.Result, error) {
	select {
	case w.room <- struct{}{}:
		defer func() { <-w.room }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if !w.clock.Now().Before(status.StartAt) {
		t.slept = status.StartAt
	}
	result, err := engine.Run(ctx, w.Engine, id)
	if errors.Is(err, errAsleep) {
		err = nil // somebody else has put it to sleep since it was looked at
	}
	if err == nil || result.Invocations > 0 {
		t.ran, t.hasRun, t.unseen = result.Version, true, result.Unseen
	}
	if result.Invocations == 0 && result.State != engine.Lost {
		return nil, err
	}
	return &result, err
}
