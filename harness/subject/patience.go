package subject

import (
	"context"
	"errors"
	"time"
)

// patienceSteps is in how many pieces a time limit is counted.
const patienceSteps = 100

// Patience is context.WithTimeout for waiting on a subject, and counts only time in
// which this process comes to its turn itself: where the machine is so busy, or stands
// still so long, that even a hundredth of d passes unnoticed, the subject has not
// come to its turn either, and is not to blame for it.
func Patience(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	go func() {
		tick := time.NewTicker(max(d/patienceSteps, time.Millisecond))
		defer tick.Stop()
		for range patienceSteps {
			select {
			case <-ctx.Done():
				return
			case <-tick.C: // a ticker drops what is not taken from it
			}
		}
		cancel(context.DeadlineExceeded)
	}()
	return patience{ctx, parent}, func() { cancel(context.Canceled) }
}

// patience ends as a context with a deadline does, and so do those derived from it.
type patience struct {
	context.Context
	parent context.Context
}

// Value implements context.Context. What makes the inner context cancel its children
// itself is hidden, so that they ask Err.
func (p patience) Value(key any) any { return p.parent.Value(key) }

// Err implements context.Context.
func (p patience) Err() error {
	err := p.Context.Err()
	if err != nil && errors.Is(context.Cause(p.Context), context.DeadlineExceeded) {
		return context.DeadlineExceeded
	}
	return err
}
