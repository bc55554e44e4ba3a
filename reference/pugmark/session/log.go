package session

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
)

// Entry is a descriptor at its place in a log.
type Entry struct {
	Session    layout.SessionID // whose snapshot holds it: the session itself, or an ancestor
	Version    uint32
	Index      int // its place in the snapshot, from 0
	Type       SnapshotType
	Descriptor Descriptor
}

// Segment is the part of a log that one session contributes: its snapshots 1 to Last.
type Segment struct {
	Manifest Manifest
	Last     uint32
}

// Chain gives the segments of the log of a session at version, the oldest ancestor first and the session itself last.
//
// S6.5-3, P11.2-4: of an ancestor only what the pointer covers. S6.5-4, S11.3-1: by each manifest's own pointer, to the
// root.
func (r *Repo) Chain(ctx context.Context, id layout.SessionID, version uint32) ([]Segment, error) {
	var chain []Segment
	seen := map[layout.SessionID]bool{}
	for at := (Pointer{id, version}); !at.IsZero(); {
		if seen[at.Session] {
			return nil, fmt.Errorf("session %s: its chain of parents comes back to session %s", id, at.Session)
		}
		seen[at.Session] = true
		m, err := r.LoadManifest(ctx, at.Session)
		if err != nil {
			if at.Session != id {
				err = fmt.Errorf("session %s: walk its parents: %w", id, err)
			}
			return nil, err
		}
		chain = append(chain, Segment{Manifest: m, Last: at.Version})
		at = m.Parent
	}
	slices.Reverse(chain)
	return chain, nil
}

// Log gives the full log of a session at version, nothing filtered, tombstones neither (S10-6): the parent chain first,
// then the session's own snapshots in version order, each in its stored order, whatever the numbers in it (P1-3, S6.5-2,
// S6.5-6, S6.5-7, S7.3-9). Entries come while later snapshots are
// still being fetched. It ends after the first error.
func (r *Repo) Log(ctx context.Context, id layout.SessionID, version uint32) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		chain, err := r.Chain(ctx, id, version)
		if err != nil {
			yield(Entry{}, err)
			return
		}
		for e, err := range r.LogOf(ctx, chain) {
			if !yield(e, err) {
				return
			}
		}
	}
}

// LogOf is Log for a chain that the caller has already.
func (r *Repo) LogOf(ctx context.Context, chain []Segment) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for _, part := range chain {
			for s, err := range r.Snapshots(ctx, part.Manifest.Session, 1, part.Last) {
				if err != nil {
					yield(Entry{}, err)
					return
				}
				for i, d := range s.Descriptors {
					if !yield(Entry{Session: s.Session, Version: s.Version, Index: i, Type: s.Type, Descriptor: d}, nil) {
						return
					}
				}
			}
		}
	}
}

// Filter decides on an entry in the log of the session reader: true keeps it.
type Filter func(reader layout.SessionID, e Entry) bool

// NoControl drops control messages, those of ancestors as well, which no handler sees (P4.2-9, P9-10).
func NoControl(_ layout.SessionID, e Entry) bool { return !e.Descriptor.IsControl() }

// NoAncestorForks drops the fork records that a session sees through its parents: those of its siblings (S11.3-2,
// P11.2-6), and the one that made it, whose body it has in its own snapshot 1 (S11.3-3, R-23).
func NoAncestorForks(reader layout.SessionID, e Entry) bool {
	return !e.Descriptor.Fork || e.Session == reader
}

// NoForks drops every fork record, a session's own old ones as well.
func NoForks(_ layout.SessionID, e Entry) bool { return !e.Descriptor.Fork }

// VisibleToHandler keeps what a handler is to see (P4.2-9, P4.2-10, R-24).
func VisibleToHandler(reader layout.SessionID, e Entry) bool {
	return NoControl(reader, e) && NoForks(reader, e)
}
