package watch

import (
	"context"
	"testing"
	"time"

	"github.com/pugcheck/pugcheck/reference/pugmark/session"
)

func TestPausedSessionsWake(t *testing.T) {
	r := newRig(t)
	r.emits(pause(""))
	a := r.create("a", session.Manifest{})
	r.serve()
	r.after(time.Hour)
	r.took("a start")
	r.push(a, session.Provisional)
	r.after(tick)
	r.took("a wake")
}

func TestSleepersWakeOnTime(t *testing.T) {
	r := newRig(t)
	r.emits(pause("2500ms"))
	a := r.create("a", session.Manifest{})
	r.create("b", session.Manifest{})
	r.act = func(_ context.Context, c *call) (string, error) {
		if c.letter == "b" {
			return "", nil
		}
		return pause("2500ms"), nil
	}
	r.serve()
	r.took("a start", "b start")
	r.after(tick)
	r.after(tick)
	r.after(499 * time.Millisecond)
	r.took()
	r.act = func(context.Context, *call) (string, error) { return "", nil }
	r.after(time.Millisecond) // between two looks
	r.took("a wake")
	r.after(time.Minute)
	r.took() // the sleep is over, and has had its invocation

	r.emits(pause("5s"))
	r.push(a, session.Provisional)
	r.after(tick)
	r.took("a wake")
	r.emits("")
	r.push(a, session.Provisional)
	r.after(tick)
	r.took("a wake") // woken early, and leaves the sleep as it was
	r.after(3 * time.Second)
	r.took()
	r.after(time.Second)
	r.took("a wake")
	r.after(time.Minute)
	r.took()
}

func TestSleepersOfAnotherProcess(t *testing.T) {
	r := newRig(t)
	a := r.create("a", session.Manifest{})
	r.emits(pause("10s"))
	r.serve()
	r.took("a start")
	r.stop()

	again := newRig(t)
	again.store, again.repo, again.clock = r.store, r.repo, r.clock
	again.config.Engine.Repo, again.config.Engine.Clock = session.New(r.store, session.Options{Now: r.clock.Now}), r.clock
	again.letters[a] = "a"
	again.serve()
	again.took()
	again.after(10 * time.Second)
	again.took("a wake")
}
