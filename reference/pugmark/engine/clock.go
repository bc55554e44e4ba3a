package engine

import (
	"context"
	"time"
)

// SystemClock is the clock of the machine.
func SystemClock() Clock { return systemClock{} }

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

// Wait looks at the wall clock again and again, since a timer stands still while
// the machine is suspended, and start-at is a time of day.
func (systemClock) Wait(ctx context.Context, t time.Time) error {
	const look = 30 * time.Second
	for {
		left := time.Until(t.Round(0))
		if left <= 0 {
			return nil
		}
		timer := time.NewTimer(min(left, look))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}
