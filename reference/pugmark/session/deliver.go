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
	// Since is a version that the target was seen at before the writer's snapshot was committed: up to it there can be
	// no earlier delivery. 0 searches all of the target.
	Since uint32
}

// Deliver appends the batch to the target as one provisional snapshot, once however often it is called (S12.2-2,
// S12.2-9). delivered is false where the target has the batch already. ErrSessionNotFound.
//
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
	latest, err := r.Latest(ctx, d.Target)
	if err != nil {
		return false, fmt.Errorf("deliver to session %s: %w", d.Target, err)
	}
	// S12.2-4: in the target's own snapshots, the newest first.
	for s, err := range r.Backward(ctx, d.Target, latest) {
		if err != nil {
			return false, fmt.Errorf("deliver to session %s: %w", d.Target, err)
		}
		if s.Version <= d.Since {
			break
		}
		if d.heldBy(s) {
			return false, nil
		}
	}
	copies := slices.Clone(d.Descriptors)
	for i := range copies {
		// S12.2-5 to S12.2-7: a copy without target, and with its source.
		copies[i].TargetSession = layout.SessionID{}
		copies[i].SourceSession = d.Writer
		copies[i].SourceVersion = d.Version
	}
	duplicate := false
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
