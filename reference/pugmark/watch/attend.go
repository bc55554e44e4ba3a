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
// called for one session once at a time, and has h to itself.
func (w *watcher) attend(ctx context.Context, id layout.SessionID, h *history) (a attended) {
	a.id = id
	h.known = true
	status, err := w.inspect(ctx, id, h)
	if errors.Is(err, session.ErrSessionNotFound) || errors.Is(err, layout.ErrUnplaceable) {
		return a // gone since it was listed, or never there: the next look will tell
	}
	if err == nil && h.wants(status, w.clock.Now()) {
		if _, err := w.Engine.Handlers.For(status.Manifest); err != nil {
			// Somebody else's session, perhaps. Waiting makes no difference to it.
			h.ran, h.hasRun, h.unseen = status.Version, true, false
			return attended{id: id, err: err, final: true}
		}
		a.result, err = w.run(ctx, id, h, status)
		if err == nil {
			status, err = w.inspect(ctx, id, h)
		}
	}
	if err == nil && status.Unsettled() && h.settled != status.Version {
		// Forks of the parent's last run: nobody would make the children before its next one.
		if err = engine.Settle(ctx, w.Engine, id); err == nil {
			h.settled = status.Version
			a.touched = status.Messages
			for _, fork := range status.Forks {
				a.touched = append(a.touched, fork.Child)
			}
		}
	}
	switch now := w.clock.Now(); {
	case err != nil:
		a.err = err
	case h.wants(status, now):
		a.again = true
	case now.Before(status.StartAt):
		a.at = status.StartAt
	}
	return a
}

func (w *watcher) inspect(ctx context.Context, id layout.SessionID, h *history) (engine.Status, error) {
	status, err := engine.Inspect(ctx, w.Engine.Repo, w.clock.Now(), id)
	if err == nil {
		h.version = status.Version
	}
	return status, err
}

// wants tells whether an invocation is due that this process has not made yet.
func (h *history) wants(status engine.Status, now time.Time) bool {
	switch {
	case h.unseen:
		return true
	case !status.Due():
		return false
	case !h.hasRun || status.Version != h.ran:
		return true
	}
	// The handler has run on this version and had nothing to commit, or has committed it itself: then only a sleep
	// that has ended since is a reason.
	return !status.StartAt.IsZero() && !now.Before(status.StartAt) && !status.StartAt.Equal(h.slept)
}

// run runs the session. The result is nil where no handler was invoked.
func (w *watcher) run(ctx context.Context, id layout.SessionID, h *history, status engine.Status) (*engine.Result, error) {
	select {
	case w.room <- struct{}{}:
		defer func() { <-w.room }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if !w.clock.Now().Before(status.StartAt) {
		h.slept = status.StartAt
	}
	result, err := engine.Run(ctx, w.Engine, id)
	if errors.Is(err, errAsleep) {
		err = nil // somebody else has put it to sleep since it was looked at
	}
	if err == nil || result.Invocations > 0 {
		h.ran, h.hasRun, h.unseen = result.Version, true, result.Unseen
	}
	if result.Invocations == 0 && result.State != engine.Lost {
		return nil, err
	}
	return &result, err
}
