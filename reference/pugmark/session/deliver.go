package session

import (
	"context"
	"fmt"
	"slices"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
)

// Delivery is everything that one snapshot of a writer sends to one other session.
type Delivery struct {
	Writer layout.SessionID
	// Version is the writer's snapshot that holds the records.
	Version uint32
	Target  layout.SessionID
	// Descriptors are the writer's records for the target, in their order.
	Descriptors []Descriptor
	// Seen is what the target was seen to hold a while ago. It need not be searched for that again; the zero value has
	// all of it searched.
	Seen Deliveries
}

// Deliveries is what a session was seen to hold of one writer's deliveries.
type Deliveries struct {
	UpTo     uint32          // the version that the session was seen at
	Versions map[uint32]bool // of the writer: those whose batches it holds
}

// Deliveries looks through all of a target's own snapshots for what the writer has delivered there.
// ErrSessionNotFound.
func (r *Repo) Deliveries(ctx context.Context, target, writer layout.SessionID) (Deliveries, error) {
	latest, err := r.Latest(ctx, target)
	if err != nil {
		return Deliveries{}, err
	}
	seen := Deliveries{UpTo: latest, Versions: map[uint32]bool{}}
	for s, err := range r.BackwardAhead(ctx, target, latest) {
		if err != nil {
			return Deliveries{}, err
		}
		for _, d := range s.Descriptors {
			if d.SourceSession == writer {
				seen.Versions[d.SourceVersion] = true
			}
		}
	}
	return seen, nil
}

// Deliver appends the batch to the target as one provisional snapshot (P12-4), once however often it is called (S12.2-2,
// S12.2-9, P12-8, S12.3-2). delivered is false where the target has the batch already. ErrSessionNotFound: a target that
// does not exist is not made (P12-2, S12-2, R-30).
//
// S13.5-1, S14.2-3, S14.2-4: each writer's batch is a snapshot of its own, and none keeps another one out.
// S12.2-1: only after the writer's snapshot is committed; that is up to the caller.
// F-1: when another writer takes the version, the delivery looks for its own source pair in what was written and goes on
// to the next version. Taking the conflict for success, as S12.2-10 words it, would lose the message.
func (r *Repo) Deliver(ctx context.Context, d Delivery) (delivered bool, err error) {
	key := deliveryKey{d.Writer, d.Version, d.Target}
	if r.cache.isDelivered(key) {
		return false, nil
	}
	delivered, err = r.deliver(ctx, d)
	if err == nil {
		r.cache.addDelivered(key)
	}
	return delivered, err
}

func (r *Repo) deliver(ctx context.Context, d Delivery) (delivered bool, err error) {
	latest, err := r.Latest(ctx, d.Target) // S12.2-3
	if err != nil {
		return false, fmt.Errorf("deliver to session %s: %w", d.Target, err)
	}
	// S12.2-4, S13.5-3, P12-7: in all of the target's own snapshots, the newest first. None is older than it can be: the
	// writer's version may have been committed and delivered before, and lost since.
	if d.Seen.Versions[d.Version] {
		return false, nil
	}
	for s, err := range r.Backward(ctx, d.Target, latest) {
		if err != nil {
			return false, fmt.Errorf("deliver to session %s: %w", d.Target, err)
		}
		if s.Version <= d.Seen.UpTo {
			break
		}
		if d.heldBy(s) {
			return false, nil
		}
	}
	copies := slices.Clone(d.Descriptors)
	for i := range copies {
		// S12.2-5 to S12.2-7, P12-5, P12-6: a copy without target, and with its source. S12.3-1: of the descriptor only.
		copies[i].TargetSession = layout.SessionID{}
		copies[i].SourceSession = d.Writer
		copies[i].SourceVersion = d.Version
	}
	duplicate := false // S12.2-8: the commit numbers them as the target's
	_, err = r.commit(ctx, Commit{Session: d.Target, Base: latest, Type: Provisional, Descriptors: copies},
		func(found Snapshot) (bool, error) {
			duplicate = d.heldBy(found)
			return duplicate, nil
		})
	if err != nil {
		return false, fmt.Errorf("deliver from session %s, version %d: %w", d.Writer, d.Version, err)
	}
	return !duplicate, nil
}

// heldBy tells whether s is a delivery of this batch: one source pair is one batch.
func (d Delivery) heldBy(s Snapshot) bool {
	return slices.ContainsFunc(s.Descriptors, func(x Descriptor) bool {
		return x.SourceSession == d.Writer && x.SourceVersion == d.Version
	})
}
