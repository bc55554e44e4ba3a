package session

import (
	"context"
	"fmt"
	"slices"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
)

// Open reads what a run starts from, a session's manifest and its latest version, with both requests at once.
// ErrSessionNotFound (S6.3-3, S6.3-4).
func (r *Repo) Open(ctx context.Context, id layout.SessionID) (Manifest, uint32, error) {
	path, err := id.Path()
	if err != nil {
		return Manifest{}, 0, err
	}
	type loaded struct {
		manifest Manifest
		err      error
	}
	manifest := make(chan loaded, 1)
	go func() {
		m, err := r.LoadManifest(ctx, id)
		manifest <- loaded{m, err}
	}()
	version, err := r.firstVersion(ctx, path.Snapshots())
	m := <-manifest
	switch {
	case err != nil:
		return Manifest{}, 0, fmt.Errorf("session %s: find the latest snapshot: %w", id, err)
	case m.err != nil:
		return Manifest{}, 0, m.err
	}
	return m.manifest, version, nil
}

// Push adds descriptors to a session from outside its handler, as a Provisional or Queueing snapshot.
// ErrSessionNotFound, ErrGaveUp.
func (r *Repo) Push(ctx context.Context, id layout.SessionID, t SnapshotType, descriptors ...Descriptor) (Committed, error) {
	if t.IsCheckpoint() {
		return Committed{}, fmt.Errorf("push to session %s: type %q is neither %s nor %s", id, t, Provisional, Queueing)
	}
	latest, err := r.Latest(ctx, id)
	if err != nil {
		return Committed{}, err
	}
	return r.Commit(ctx, Commit{Session: id, Base: latest, Type: t, Descriptors: descriptors})
}

// Delete deletes a name from a session: it adds a tombstone (S10-5) and touches no blob (S10-1).
func (r *Repo) Delete(ctx context.Context, id layout.SessionID, name string) (Committed, error) {
	if name == "" {
		return Committed{}, fmt.Errorf("delete from session %s: the name is empty", id)
	}
	return r.Push(ctx, id, Provisional, Tombstone(name))
}

// Lookup gives the live descriptor of a name in a session's log. ErrNameNotFound, ErrSessionNotFound.
//
// S10-8: the last descriptor of that name counts. S10-7, S10-9: where it is a tombstone, there is none.
// The log is walked from its end, so that recent names cost few requests.
func (r *Repo) Lookup(ctx context.Context, id layout.SessionID, name string) (Descriptor, error) {
	m, version, err := r.Open(ctx, id)
	if err != nil {
		return Descriptor{}, err
	}
	chain, err := r.Chain(ctx, m.Session, version)
	if err != nil {
		return Descriptor{}, err
	}
	for _, part := range slices.Backward(chain) {
		for s, err := range r.Backward(ctx, part.Manifest.Session, part.Last) {
			if err != nil {
				return Descriptor{}, err
			}
			for _, d := range slices.Backward(s.Descriptors) {
				if d.Name != name || !NoAncestorForks(id, Entry{Session: s.Session, Descriptor: d}) {
					continue
				}
				if d.Deleted {
					return Descriptor{}, fmt.Errorf("session %s: %q was deleted in version %d: %w", id, name, s.Version, ErrNameNotFound)
				}
				return d, nil
			}
		}
	}
	return Descriptor{}, fmt.Errorf("session %s: no entry is called %q: %w", id, name, ErrNameNotFound)
}
