package session

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// StaleRefError is a session ref whose target is no manifest's path.
type StaleRefError struct {
	Key    string // of the ref
	Target string
	Reason error
}

func (e *StaleRefError) Error() string {
	return fmt.Sprintf("%s points to %q: %v", e.Key, e.Target, e.Reason)
}

// Unwrap gives the reason.
func (e *StaleRefError) Unwrap() error { return e.Reason }

// ResolveName gives the session that has the name (S1-12, S9.1-2). Refs are read anew each time (S9-7).
// ErrNameNotFound, *StaleRefError.
func (r *Repo) ResolveName(ctx context.Context, name string) (layout.SessionID, error) {
	ref, err := r.readRef(ctx, name)
	if err != nil {
		return layout.SessionID{}, err
	}
	return ref.session()
}

type ref struct {
	key, target, etag string
}

func (r *Repo) readRef(ctx context.Context, name string) (ref, error) {
	key, err := layout.SessionRefKey(name)
	if err != nil {
		return ref{}, err
	}
	return r.readRefKey(ctx, key)
}

func (r *Repo) readRefKey(ctx context.Context, key string) (ref, error) {
	body, attrs, err := r.read(ctx, key)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return ref{}, fmt.Errorf("%s: %w", key, ErrNameNotFound)
	case err != nil:
		return ref{}, fmt.Errorf("read ref: %w", err)
	}
	// S9-3: one line; a line end that somebody's editor added is no part of the target.
	target := strings.TrimSuffix(strings.TrimSuffix(string(body), "\n"), "\r")
	return ref{key: key, target: target, etag: attrs.ETag}, nil
}

func (f ref) session() (layout.SessionID, error) {
	id, err := layout.ParseManifestKey(f.target)
	if err != nil {
		return layout.SessionID{}, &StaleRefError{Key: f.key, Target: f.target, Reason: err}
	}
	return id, nil
}

// link points a session name at a session.
//
// S9-8: without a condition. S9-2, S9-3, S9-6, S16-3: one line of text that no cache may keep. S9.1-1: the manifest's path.
func (r *Repo) link(ctx context.Context, name string, id layout.SessionID) error {
	key, err := layout.SessionRefKey(name)
	if err != nil {
		return err
	}
	path, err := id.Path()
	if err != nil {
		return err
	}
	_, err = store.PutBytes(ctx, r.store, key, []byte(path.Manifest()), store.PutOptions{Attributes: store.Attributes{
		ContentType:  "text/plain; charset=utf-8",
		CacheControl: "no-cache",
	}})
	if err != nil {
		return fmt.Errorf("link %s to session %s: %w", key, id, err)
	}
	return nil
}

// CheckRef makes sure that a session still has its name; one without a name always passes. A session must not commit
// after ErrNameTaken or ErrNameNotFound (S9.1-3, S9.1-4).
//
// F-13: after a rename the ref that the manifest names is gone; then any session ref that points at the session counts.
func (r *Repo) CheckRef(ctx context.Context, m Manifest) error {
	if m.Name == "" {
		return nil
	}
	path, err := m.Session.Path()
	if err != nil {
		return err
	}
	found, err := r.readRef(ctx, m.Name)
	switch {
	case errors.Is(err, ErrNameNotFound):
		return r.checkRenamed(ctx, m, path.Manifest())
	case err != nil:
		return fmt.Errorf("session %s: %w", m.Session, err)
	case found.target != path.Manifest():
		return fmt.Errorf("session %s: %s points to %s: %w", m.Session, found.key, found.target, ErrNameTaken)
	}
	return nil
}

func (r *Repo) checkRenamed(ctx context.Context, m Manifest, target string) error {
	for key, err := range store.Keys(ctx, r.store, layout.SessionRefsPrefix) {
		if err != nil {
			return fmt.Errorf("session %s: look for its new name: %w", m.Session, err)
		}
		found, err := r.readRefKey(ctx, key)
		if errors.Is(err, ErrNameNotFound) {
			continue
		}
		if err != nil {
			return fmt.Errorf("session %s: look for its new name: %w", m.Session, err)
		}
		if found.target == target {
			return nil
		}
	}
	return fmt.Errorf("session %s: no ref gives it its name %q or another: %w", m.Session, m.Name, ErrNameNotFound)
}

// Rename moves a session from one name to another, and gives the session. ErrNameNotFound, ErrNameTaken,
// *StaleRefError; store.ErrMismatch where the old name was given to another session in the meantime.
//
// F-6: the old ref goes only while it is the one that was read (S9-10), told by its ETag.
// F-13: no single write moves a name, so the new one is made first: a crash leaves the session with two names, not with
// none, and the same call again finishes the move.
func (r *Repo) Rename(ctx context.Context, from, to string) (layout.SessionID, error) {
	old, err := r.readRef(ctx, from)
	if err != nil {
		return layout.SessionID{}, fmt.Errorf("rename %q: %w", from, err)
	}
	id, err := old.session()
	if err != nil {
		return layout.SessionID{}, fmt.Errorf("rename %q: %w", from, err)
	}
	if from == to {
		return id, nil
	}
	switch holder, err := r.readRef(ctx, to); {
	case err == nil && holder.target != old.target:
		return layout.SessionID{}, fmt.Errorf("rename %q to %q: %s points to %s: %w", from, to, holder.key, holder.target, ErrNameTaken)
	case errors.Is(err, ErrNameNotFound):
		if err := r.link(ctx, to, id); err != nil {
			return layout.SessionID{}, fmt.Errorf("rename %q: %w", from, err)
		}
	case err != nil:
		return layout.SessionID{}, fmt.Errorf("rename %q to %q: %w", from, to, err)
	}
	made, err := r.readRef(ctx, to)
	if err != nil {
		return layout.SessionID{}, fmt.Errorf("rename %q to %q: after linking: %w", from, to, err)
	}
	if made.target != old.target {
		return layout.SessionID{}, fmt.Errorf("rename %q to %q: %s points to %s: %w", from, to, made.key, made.target, ErrNameTaken)
	}

	err = r.store.Delete(ctx, old.key, store.DeleteOptions{IfMatch: old.etag})
	if err == nil {
		return id, nil
	}
	if errors.Is(err, store.ErrMismatch) {
		if _, again := r.readRef(ctx, from); errors.Is(again, ErrNameNotFound) {
			return id, nil // an earlier attempt of this very delete
		}
		// Somebody else has the old name now, and decides what becomes of it; the new name was not theirs to lose.
		if undo := r.store.Delete(ctx, made.key, store.DeleteOptions{IfMatch: made.etag}); undo != nil {
			err = errors.Join(err, undo)
		}
	}
	return layout.SessionID{}, fmt.Errorf("rename %q to %q: %w", from, to, err)
}
