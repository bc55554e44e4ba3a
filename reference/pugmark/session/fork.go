package session

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
)

// errTaken: a child's snapshot 1 is somebody else's and does not hold the fork's body.
var errTaken = errors.New("snapshot 1 is taken")

// Materialise makes the child session that a fork record asks for. version is that of the parent's snapshot which
// holds the record. It may be called again at any time, by any number of runs at once, and completes what a crash left
// half done (S11.2-15, S11.2-16, P11.1-16, P11.1-17). A child that is complete costs one request, or none if it was seen
// before.
//
// S13.6-1, S1-11: the manifest first, then snapshot 1, each by a conditional write of its own. S17-2: the record in the
// parent's snapshot stays.
func (r *Repo) Materialise(ctx context.Context, parent Manifest, version uint32, fork Descriptor) error {
	if fork.TargetSession == parent.Session {
		return nil // a session that names itself as its child has no effect
	}
	entry := fork
	entry.Fork, entry.TargetSession = false, layout.SessionID{} // P11-2, P11.1-13, S11.2-10
	holds := func(s Snapshot) bool {
		return slices.ContainsFunc(s.Descriptors, func(d Descriptor) bool {
			return d.Digest == entry.Digest && d.Name == entry.Name && !d.Fork && d.TargetSession.IsZero()
		})
	}
	// S11.2-9, P11.1-12: the manifest comes first, so who has this snapshot has all.
	switch first, err := r.LoadSnapshot(ctx, fork.TargetSession, 1); {
	case err == nil && holds(first):
		return nil
	case err != nil && !errors.Is(err, ErrSnapshotNotFound):
		return fmt.Errorf("materialise fork %s: %w", fork.TargetSession, err)
	}

	// S7.3-4: the child's numbers go on from the last one visible at its parent pointer.
	number, err := r.NextSequence(ctx, parent.Session, version)
	if err != nil {
		return fmt.Errorf("materialise fork %s: %w", fork.TargetSession, err)
	}
	pointer := Pointer{Session: parent.Session, Version: version}
	child, created, err := r.CreateManifest(ctx, Manifest{ // S11.2-8, P11.1-10, P11.1-11
		Session:             fork.TargetSession,
		Parent:              pointer,        // S11.2-4, P11.1-6
		Agent:               parent.Agent,   // S11.2-5, P11.1-8, P15-5
		Handler:             parent.Handler, // S11.2-5, P11.1-7, P15-4
		Metadata:            fork.Metadata,  // S11.2-6, P11.1-9
		FirstSequenceNumber: number,
		// S11.2-7: no name.
	})
	if err != nil {
		return fmt.Errorf("materialise fork %s: %w", fork.TargetSession, err)
	}
	var latest uint32
	if !created {
		if latest, err = r.Latest(ctx, child.Session); err != nil {
			return fmt.Errorf("materialise fork: %w", err)
		}
	}
	if latest == 0 {
		// S11.2-12: snapshot 1, a checkpoint. S11.2-11, S7.3-6: numbered as the manifest that is there says, by the
		// commit. S11.2-13, P11.1-14: who finds it made already has succeeded.
		_, err := r.commit(ctx, Commit{Session: child.Session, Type: Checkpoint, Descriptors: []Descriptor{entry}},
			func(found Snapshot) (bool, error) {
				if holds(found) {
					return true, nil
				}
				return false, errTaken
			})
		if !errors.Is(err, errTaken) {
			return err
		}
		latest = 1
	}
	if child.Parent != pointer {
		return nil // another session, which had the ID before
	}
	return r.restoreForkBody(ctx, child, latest, entry, holds)
}

// restoreForkBody makes sure that a child which has snapshots holds the body that it was forked with.
//
// S11.2-9: as a rule it does, in snapshot 1. F-15: when somebody wrote into the child between its manifest and its snapshot
// 1, the body is appended behind that, as an entry from outside.
func (r *Repo) restoreForkBody(ctx context.Context, child Manifest, latest uint32, entry Descriptor, holds func(Snapshot) bool) error {
	for s, err := range r.Snapshots(ctx, child.Session, 1, latest) {
		if err != nil {
			return fmt.Errorf("materialise fork: %w", err)
		}
		if holds(s) {
			return nil
		}
	}
	_, err := r.commit(ctx, Commit{Session: child.Session, Base: latest, Type: Provisional, Descriptors: []Descriptor{entry}},
		func(found Snapshot) (bool, error) { return holds(found), nil })
	return err
}
