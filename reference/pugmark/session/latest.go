package session

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// Latest gives the version of a session's latest snapshot, 0 where it has none. ErrSessionNotFound.
//
// S6.3-1, S6.1-6: one listing of one key. S6.3-2, S6.1-5: whose name is the version. S6.3-3, S6.3-4, S4.3-3: without any,
// the manifest tells an empty session from none.
func (r *Repo) Latest(ctx context.Context, id layout.SessionID) (uint32, error) {
	path, err := id.Path()
	if err != nil {
		return 0, err
	}
	version, err := r.firstVersion(ctx, path.Snapshots())
	if err != nil {
		return 0, fmt.Errorf("session %s: find the latest snapshot: %w", id, err)
	}
	if version > 0 {
		return version, nil
	}
	if _, ok := r.cache.manifest(id); ok {
		return 0, nil
	}
	switch _, err := r.store.Head(ctx, path.Manifest()); {
	case errors.Is(err, store.ErrNotFound):
		return 0, fmt.Errorf("session %s: %w", id, ErrSessionNotFound)
	case err != nil:
		return 0, fmt.Errorf("session %s: look for its manifest: %w", id, err)
	}
	return 0, nil
}

// firstVersion gives the version of the first version file directly below prefix, 0 where there is none. Keys that are
// no version file are passed over, and so is whatever lies deeper (S8.4-3, F-5).
func (r *Repo) firstVersion(ctx context.Context, prefix string) (uint32, error) {
	page, err := r.store.List(ctx, prefix, store.ListOptions{Max: 1})
	if err != nil {
		return 0, err
	}
	if version := firstVersionOf(prefix, page.Keys); version > 0 || len(page.Keys) == 0 {
		return version, nil
	}
	// Something else comes first: with a delimiter a whole nested namespace is one entry of the listing.
	options := store.ListOptions{Delimiter: "/"}
	for {
		page, err := r.store.List(ctx, prefix, options)
		if err != nil {
			return 0, err
		}
		if version := firstVersionOf(prefix, page.Keys); version > 0 || page.Next == "" {
			return version, nil
		}
		options.Token = page.Next
	}
}

func firstVersionOf(prefix string, keys []string) uint32 {
	for _, key := range keys {
		if version, err := layout.ParseVersionFile(key[len(prefix):]); err == nil {
			return version
		}
	}
	return 0
}

// LatestCheckpoint gives the version of a session's latest checkpoint. ErrNoCheckpoint, ErrSessionNotFound.
func (r *Repo) LatestCheckpoint(ctx context.Context, id layout.SessionID) (uint32, error) {
	latest, err := r.Latest(ctx, id)
	if err != nil {
		return 0, err
	}
	for s, err := range r.Backward(ctx, id, latest) {
		if err != nil {
			return 0, err
		}
		if s.Type.IsCheckpoint() {
			return s.Version, nil
		}
	}
	return 0, fmt.Errorf("session %s: %w", id, ErrNoCheckpoint)
}

// SinceCheckpoint gives the session's snapshots from the latest checkpoint at or below version up to version, in
// ascending order: what the text calls the most recent snapshot. Without a checkpoint it gives all from 1.
//
// S6.3-5: from the latest downwards, until a checkpoint or the end.
func (r *Repo) SinceCheckpoint(ctx context.Context, id layout.SessionID, version uint32) ([]Snapshot, error) {
	var tail []Snapshot
	for s, err := range r.Backward(ctx, id, version) {
		if err != nil {
			return nil, err
		}
		tail = append(tail, s)
		if s.Type.IsCheckpoint() {
			break
		}
	}
	slices.Reverse(tail)
	return tail, nil
}
