package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// CreateManifest creates the session m.Session with exactly these fields. created is false where the session
// existed already; then its own manifest is given instead.
//
// S5.1-1, S5.1-2: one conditional write, which never replaces another one's. S5.1-4, S13.6-2: creating an existing session
// is no error.
func (r *Repo) CreateManifest(ctx context.Context, m Manifest) (manifest Manifest, created bool, err error) {
	path, err := m.Session.Path()
	if err != nil {
		return Manifest{}, false, fmt.Errorf("create session: %w", err)
	}
	body, err := m.encode()
	if err != nil {
		return Manifest{}, false, err
	}
	_, err = store.PutBytes(ctx, r.store, path.Manifest(), body, store.PutOptions{
		Attributes: store.Attributes{ContentType: jsonType, CacheControl: immutableCache}, // S5.1-3, S16-1, S16-2
		IfAbsent:   true,
	})
	switch {
	case errors.Is(err, store.ErrExists):
		m, err := r.LoadManifest(ctx, m.Session)
		return m, false, err
	case err != nil:
		return Manifest{}, false, fmt.Errorf("create session %s: %w", m.Session, err)
	}
	r.cache.addManifest(m)
	return m, true, nil
}

// LoadManifest reads a session's manifest. ErrSessionNotFound.
func (r *Repo) LoadManifest(ctx context.Context, id layout.SessionID) (Manifest, error) {
	if m, ok := r.cache.manifest(id); ok {
		return m, nil
	}
	path, err := id.Path()
	if err != nil {
		return Manifest{}, fmt.Errorf("load session: %w", err)
	}
	body, _, err := r.read(ctx, path.Manifest())
	switch {
	case errors.Is(err, store.ErrNotFound):
		return Manifest{}, fmt.Errorf("session %s: %w", id, ErrSessionNotFound)
	case err != nil:
		return Manifest{}, fmt.Errorf("load session %s: %w", id, err)
	}
	m, err := decodeManifest(id, body)
	if err != nil {
		return Manifest{}, err
	}
	r.cache.addManifest(m)
	return m, nil
}

// Create creates a root session, and links its name where it has one. A zero m.Session is drawn, a zero
// m.FirstSequenceNumber becomes 1.
//
// What exists is taken instead of failing: the session of a given ID (S5.1-4), and where no ID is given, the session
// that has the name already. Of two who create one name at the same time, the loser gets the winner's session (S9.2-3).
func (r *Repo) Create(ctx context.Context, m Manifest) (Manifest, error) {
	if m.FirstSequenceNumber == 0 {
		m.FirstSequenceNumber = 1
	}
	chosen := !m.Session.IsZero()
	if m.Name != "" {
		if _, err := layout.SessionRefKey(m.Name); err != nil {
			return Manifest{}, fmt.Errorf("create session: %w", err)
		}
		if !chosen {
			found, err := r.findNamed(ctx, m.Name)
			if err != nil || !found.Session.IsZero() {
				return found, err
			}
		}
	}
	if !chosen {
		id, err := r.NewSessionID()
		if err != nil {
			return Manifest{}, fmt.Errorf("create session: %w", err)
		}
		m.Session = id
	}
	m, created, err := r.CreateManifest(ctx, m)
	if err != nil || m.Name == "" {
		return m, err
	}
	if created || !chosen { // a drawn ID that exists already is this call's own, whose first answer got lost
		return r.claimName(ctx, m)
	}
	if _, err := r.readRef(ctx, m.Name); errors.Is(err, ErrNameNotFound) {
		return m, r.link(ctx, m.Name, m.Session) // whoever created the session got no further
	} else if err != nil {
		return Manifest{}, fmt.Errorf("create session %q: %w", m.Name, err)
	}
	return m, nil
}

// findNamed gives the session that has the name, or the zero Manifest where there is none: no ref, or a stale one whose
// session does not exist.
func (r *Repo) findNamed(ctx context.Context, name string) (Manifest, error) {
	id, err := r.ResolveName(ctx, name)
	var stale *StaleRefError
	switch {
	case errors.Is(err, ErrNameNotFound), errors.As(err, &stale):
		return Manifest{}, nil
	case err != nil:
		return Manifest{}, fmt.Errorf("create session %q: %w", name, err)
	}
	m, err := r.LoadManifest(ctx, id)
	if errors.Is(err, ErrSessionNotFound) {
		return Manifest{}, nil
	}
	return m, err
}

// claimName links the name of a session that was created just now, and sees who won it.
//
// S9.2-1: the ref is read again after the link. S9.2-2, S5.1-7: the loser deletes the manifest that it created, the only
// case in which one is deleted (S9.2-4, S5.1-6). S9.2-3: it goes on with the winner.
func (r *Repo) claimName(ctx context.Context, m Manifest) (Manifest, error) {
	if err := r.link(ctx, m.Name, m.Session); err != nil {
		return Manifest{}, err
	}
	winner, err := r.ResolveName(ctx, m.Name)
	if err != nil {
		return Manifest{}, fmt.Errorf("create session %q: after linking: %w", m.Name, err)
	}
	if winner == m.Session {
		return m, nil
	}
	path, err := m.Session.Path()
	if err != nil {
		return Manifest{}, err
	}
	r.cache.dropManifest(m.Session)
	if err := r.store.Delete(ctx, path.Manifest(), store.DeleteOptions{}); err != nil {
		return Manifest{}, fmt.Errorf("create session %q: remove the manifest that lost the name: %w", m.Name, err)
	}
	return r.LoadManifest(ctx, winner)
}
