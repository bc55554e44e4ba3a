package session

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// LoadSnapshot reads one snapshot: what was committed at version, and nothing else (S6.5-8). ErrSnapshotNotFound.
func (r *Repo) LoadSnapshot(ctx context.Context, id layout.SessionID, version uint32) (Snapshot, error) {
	if s, ok := r.cache.snapshot(id, version); ok {
		return s.decode(id, version)
	}
	path, err := id.Path()
	if err != nil {
		return Snapshot{}, err
	}
	if version == 0 { // S4.3-2
		return Snapshot{}, fmt.Errorf("session %s, version 0: %w", id, ErrSnapshotNotFound)
	}
	body, attrs, err := store.Get(ctx, r.store, path.Snapshot(version))
	switch {
	case errors.Is(err, store.ErrNotFound):
		return Snapshot{}, fmt.Errorf("session %s, version %d: %w", id, version, ErrSnapshotNotFound)
	case err != nil:
		return Snapshot{}, fmt.Errorf("load snapshot %d of session %s: %w", version, id, err)
	}
	stored := storedOf(body, attrs)
	s, err := stored.decode(id, version)
	if err != nil {
		return Snapshot{}, err
	}
	r.cache.addSnapshot(id, version, stored)
	return s, nil
}

// Snapshots gives the session's snapshots from the first version to the last, both included, in version order and
// whatever their type (S6.5-5). Several are fetched at a time, and each is given as soon as its turn comes. It ends
// after the first error.
func (r *Repo) Snapshots(ctx context.Context, id layout.SessionID, first, last uint32) iter.Seq2[Snapshot, error] {
	return func(yield func(Snapshot, error) bool) {
		if last < first || last == 0 {
			return
		}
		versions := func(i uint32) uint32 { return max(first, 1) + i }
		r.fetch(ctx, id, last-max(first, 1)+1, r.options.Parallel, r.options.Parallel, versions, yield)
	}
}

// Backward gives the session's snapshots from version down to 1. It starts with a single fetch and looks ahead more and
// more, for callers that are likely to stop soon.
func (r *Repo) Backward(ctx context.Context, id layout.SessionID, version uint32) iter.Seq2[Snapshot, error] {
	return r.backward(ctx, id, version, 1)
}

// BackwardAhead is Backward for a caller that needs most of the snapshots anyway: as many as may be are fetched at once
// from the first on.
func (r *Repo) BackwardAhead(ctx context.Context, id layout.SessionID, version uint32) iter.Seq2[Snapshot, error] {
	return r.backward(ctx, id, version, r.options.Parallel)
}

func (r *Repo) backward(ctx context.Context, id layout.SessionID, version uint32, window int) iter.Seq2[Snapshot, error] {
	return func(yield func(Snapshot, error) bool) {
		r.fetch(ctx, id, version, window, r.options.Parallel, func(i uint32) uint32 { return version - i }, yield)
	}
}

// fetch loads n snapshots, the i-th being of version(i), and yields them in that order. At first window of them are
// in flight, later up to limit.
func (r *Repo) fetch(ctx context.Context, id layout.SessionID, n uint32, window, limit int,
	version func(i uint32) uint32, yield func(Snapshot, error) bool,
) {
	type result struct {
		snapshot Snapshot
		err      error
	}
	var running sync.WaitGroup
	defer running.Wait() // nothing is under way any more when the iteration has ended
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var pending []chan result
	next := uint32(0)
	for range n {
		for ; next < n && len(pending) < window; next++ {
			v, done := version(next), make(chan result, 1)
			pending = append(pending, done)
			running.Go(func() {
				s, err := r.LoadSnapshot(ctx, id, v)
				done <- result{s, err}
			})
		}
		got := <-pending[0]
		pending = pending[1:]
		if !yield(got.snapshot, got.err) || got.err != nil {
			return
		}
		window = min(2*window, limit)
	}
}
