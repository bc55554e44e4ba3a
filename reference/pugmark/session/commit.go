package session

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// Commit is what a writer wants to add to a session.
type Commit struct {
	Session layout.SessionID
	// Base is the version that the writer takes for the latest. It may be stale.
	Base uint32
	Type SnapshotType
	// Descriptors is what to add, in order and at least one. Their sequence numbers are assigned by the commit, and so
	// is a missing creation time.
	Descriptors []Descriptor
	// Transaction tells this commit's own attempts from foreign ones; 0 has one drawn. Whoever repeats a whole Commit
	// whose outcome is unknown passes the same one again.
	Transaction uint64
}

// Committed is the outcome of a Commit.
type Committed struct {
	Snapshot // as stored
	// Merged are the snapshots of others that landed between the base and this one, in version order.
	Merged []Snapshot
}

// Commit adds a snapshot to a session (P1-8), at the version that follows the base if nobody else is there (P1-2, S13.3-1,
// S13.3-2): one conditional write for each try (S13.1-3).
//
// a checkpoint that meets a foreign checkpoint loses with a *ConflictError and leaves nothing behind. Everything
// else that it meets it reads, renumbers its own descriptors to follow, and goes to the next free version (S13.3-4,
// S13.3-5, S13.3-8, S13.5-2); what it met stays where it is (S13.3-6, R-20), of any number (S13.3-7). ErrGaveUp after
// Options.Attempts tries.
//
// S13.2-5: all tries have one transaction ID, drawn for this commit (S13.2-1), so that a try whose answer got lost is found
// again (S13.2-3), and taken for no other writer's (S13.2-4).
func (r *Repo) Commit(ctx context.Context, c Commit) (Committed, error) {
	return r.commit(ctx, c, func(found Snapshot) (bool, error) {
		if c.Type.IsCheckpoint() && found.Type.IsCheckpoint() {
			return false, &ConflictError{Session: c.Session, Version: found.Version}
		}
		return false, nil
	})
}

// commit is Commit with meet deciding about each foreign snapshot on the way: settled ends the commit with that
// snapshot as its outcome, an error loses, and neither goes on behind it.
func (r *Repo) commit(ctx context.Context, c Commit, meet func(found Snapshot) (settled bool, err error)) (Committed, error) {
	path, err := c.Session.Path()
	if err != nil {
		return Committed{}, err
	}
	if len(c.Descriptors) == 0 {
		return Committed{}, fmt.Errorf("commit to session %s: there is nothing to commit", c.Session)
	}
	if c.Transaction == 0 {
		if c.Transaction, err = r.NewTransaction(); err != nil {
			return Committed{}, fmt.Errorf("commit to session %s: %w", c.Session, err)
		}
	}
	c.Descriptors = slices.Clone(c.Descriptors)
	for i := range c.Descriptors {
		if c.Descriptors[i].CreatedAt.IsZero() {
			c.Descriptors[i].CreatedAt = r.now()
		}
	}
	number, err := r.NextSequence(ctx, c.Session, c.Base)
	if err != nil {
		return Committed{}, fmt.Errorf("commit to session %s: %w", c.Session, err)
	}

	at := c.Base
	var met []Snapshot
	for range r.options.Attempts {
		if at == math.MaxUint32 {
			return Committed{}, fmt.Errorf("commit to session %s: it has used up all versions", c.Session)
		}
		s := Snapshot{Session: c.Session, Version: at + 1, Type: c.Type, Transaction: c.Transaction}
		s.Descriptors = numbered(c.Descriptors, number)
		failure := r.putSnapshot(ctx, path, s)
		if failure == nil {
			return Committed{Snapshot: s, Merged: met}, nil
		}
		// What lies at the version decides, and what lies behind it, up to the first free version. S2.5-4, S2.5-5,
		// S14.3-1: it is asked for by its key, which never is stale, unlike the listing that gave the base. A failure
		// that leaves the outcome open is settled in the same way.
		before := at
		for at < math.MaxUint32 {
			found, err := r.LoadSnapshot(ctx, c.Session, at+1)
			if errors.Is(err, ErrSnapshotNotFound) {
				break
			}
			if err != nil {
				return Committed{}, fmt.Errorf("commit to session %s: %w", c.Session, errors.Join(failure, err))
			}
			if found.Transaction == c.Transaction {
				return Committed{Snapshot: found, Merged: met}, nil // S13.2-3
			}
			settled, err := meet(found)
			if err != nil {
				return Committed{}, err
			}
			if settled {
				return Committed{Snapshot: found, Merged: met}, nil
			}
			met = append(met, found)
			at++
			if n := len(found.Descriptors); n > 0 {
				number = found.Descriptors[n-1].SequenceNumber + 1
			}
		}
		if at == before && !errors.Is(failure, store.ErrExists) {
			return Committed{}, fmt.Errorf("commit version %d of session %s: %w", at+1, c.Session, failure)
		}
	}
	return Committed{}, fmt.Errorf("commit to session %s: version %d and %d before it were taken by others: %w",
		c.Session, at, r.options.Attempts-1, ErrGaveUp) // S13.3-10
}

func (r *Repo) putSnapshot(ctx context.Context, path layout.SessionPath, s Snapshot) error {
	body, options, err := s.encode()
	if err != nil {
		return err
	}
	if _, err := store.PutBytes(ctx, r.store, path.Snapshot(s.Version), body, options); err != nil {
		return err
	}
	r.cache.addSnapshot(s.Session, s.Version, storedOf(body, options.Attributes))
	return nil
}

// numbered gives copies of the descriptors, numbered from first on (S7.3-1, S7.3-3, S7.3-7), fork records like all
// others (S7.3-5).
func numbered(descriptors []Descriptor, first int64) []Descriptor {
	out := slices.Clone(descriptors)
	for i := range out {
		out[i].SequenceNumber = first + int64(i)
	}
	return out
}

// NextSequence gives the number that follows the last one of a session at version.
//
// S7.3-8: numbering goes on across snapshots of any type. S7.3-2: it starts with the manifest's first number.
func (r *Repo) NextSequence(ctx context.Context, id layout.SessionID, version uint32) (int64, error) {
	for s, err := range r.Backward(ctx, id, version) {
		if err != nil {
			return 0, err
		}
		if n := len(s.Descriptors); n > 0 {
			return s.Descriptors[n-1].SequenceNumber + 1, nil
		}
	}
	m, err := r.LoadManifest(ctx, id)
	if err != nil {
		return 0, err
	}
	return m.FirstSequenceNumber, nil
}
