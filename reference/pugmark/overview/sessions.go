// Package overview tells somebody who looks at a bucket how its sessions stand: one after the other, or as the tree
// that their forks make. It writes nothing.
package overview

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/pugcheck/pugcheck/reference/pugmark/engine"
	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
)

// Unreadable is a state beside the phases of package engine: the manifest or a snapshot cannot be read, and
// Session.Error says why.
const Unreadable engine.Phase = "unreadable"

// Session is how one session stands. As JSON it is one object; fields that have nothing to say are left out.
type Session struct {
	Session  layout.SessionID  `json:"session"`
	Version  uint32            `json:"version"` // the latest, 0 where nothing was committed
	State    engine.Phase      `json:"state"`
	Due      bool              `json:"due"`               // whether something asks for an invocation now
	StartAt  time.Time         `json:"start-at,omitzero"` // when its latest sleep ends or has ended
	Reason   string            `json:"reason,omitempty"`  // why it was stopped
	Names    []string          `json:"names,omitempty"`   // of the refs that point at it
	Agent    string            `json:"agent,omitempty"`
	Handler  string            `json:"handler,omitempty"`
	Metadata map[string]string `json:"metadata,omitempty"`
	Parent   session.Pointer   `json:"parent,omitzero"`
	Entries  int64             `json:"entries"` // of its own snapshots
	Modified time.Time         `json:"modified,omitzero"`
	Error    string            `json:"error,omitempty"`

	forks []engine.PendingFork
}

// parallel is how many sessions are looked at at once.
const parallel = 32

// Sessions gives the sessions of the bucket in the order of their IDs, each as soon as it is known, while those behind it
// are being read. now is the time by which a sleep is over. A session that cannot be read is Unreadable, and does not
// hide the others. It ends after the first error.
func Sessions(ctx context.Context, repo *session.Repo, now time.Time) iter.Seq2[Session, error] {
	return func(yield func(Session, error) bool) {
		names, err := repo.Names(ctx)
		if err != nil {
			yield(Session{}, err)
			return
		}
		read := func(ctx context.Context, listed session.Listed) Session {
			m, err := repo.LoadManifest(ctx, listed.Session)
			if err != nil {
				return unreadable(listed, err)
			}
			s := inspect(ctx, repo, now, m, listed)
			s.Names = names[listed.Session]
			return s
		}
		for s, err := range inOrder(ctx, repo.Sessions(ctx), read) {
			if !yield(s, err) {
				return
			}
		}
	}
}

func inspect(ctx context.Context, repo *session.Repo, now time.Time, m session.Manifest, listed session.Listed) Session {
	status, err := engine.InspectAt(ctx, repo, now, m, listed.Version)
	if err != nil {
		s := unreadable(listed, err)
		s.Agent, s.Handler, s.Metadata, s.Parent = m.Agent, m.Handler, m.Metadata, m.Parent
		return s
	}
	return Session{
		Session:  m.Session,
		Version:  status.Version,
		State:    status.Phase,
		Due:      status.Due(),
		StartAt:  status.StartAt,
		Reason:   status.Reason,
		Agent:    m.Agent,
		Handler:  m.Handler,
		Metadata: m.Metadata,
		Parent:   m.Parent,
		Entries:  status.Entries,
		Modified: status.Modified,
		forks:    status.Forks,
	}
}

func unreadable(listed session.Listed, err error) Session {
	return Session{Session: listed.Session, Version: listed.Version, State: Unreadable, Error: err.Error()}
}

// inOrder gives what do makes of each item, in the order of the items, with several calls under way at once. It ends
// with the first error of items, or with the context's.
func inOrder[T, R any](ctx context.Context, items iter.Seq2[T, error], do func(context.Context, T) R) iter.Seq2[R, error] {
	type result struct {
		value R
		err   error
	}
	return func(yield func(R, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		pending := make(chan chan result, parallel) // its length bounds the calls under way
		go func() {
			defer close(pending)
			for item, err := range items {
				done := make(chan result, 1)
				select {
				case pending <- done:
				case <-ctx.Done():
					return
				}
				if err != nil {
					done <- result{err: err}
					return
				}
				go func() { done <- result{value: do(ctx, item)} }()
			}
		}()
		for done := range pending {
			r := <-done
			if r.err == nil && ctx.Err() != nil {
				r.err = fmt.Errorf("look at sessions: %w", context.Cause(ctx)) // and not at the one that it hit
			}
			if !yield(r.value, r.err) || r.err != nil {
				return
			}
		}
		if ctx.Err() != nil {
			var none R
			yield(none, context.Cause(ctx))
		}
	}
}
