package engine

import (
	"context"
	"testing"
	"time"

	"github.com/pugcheck/pugcheck/reference/pugmark/session"
)

func (r *rig) control(version uint32) session.Control {
	r.Helper()
	ds := r.snapshot(r.id, version).Descriptors
	c, err := r.repo.ReadControl(r.Context(), ds[len(ds)-1])
	if err != nil {
		r.Fatal(err)
	}
	return c
}

func TestPauseAndWake(t *testing.T) {
	r := newRig(t)
	r.handler.emits(pauseFor("waiting for 日本 \"x\"\nline 2", ""), out("A", named("a")))
	if result := r.run(); result.State != Stopped {
		t.Errorf("got %+v", result)
	}
	r.wantNames(r.id, 1, "a !stopped")
	if c := r.control(1); c.Reason != "waiting for 日本 \"x\"\nline 2" || !c.StartAt.IsZero() {
		t.Errorf("got %+v", c)
	}

	r.store.requests = nil
	if result := r.run(); result.State != Stopped || result.Invocations != 0 {
		t.Errorf("got %+v", result)
	}
	r.wantCalls(1)
	if n := r.store.count("PUT"); n != 0 {
		t.Errorf("%d writes", n)
	}

	r.commit(r.id, session.Provisional, "p")
	r.handler.emits(out("B", named("b")))
	r.run()
	r.wantTold("a p+ /wake")
	r.wantNames(r.id, 3, "b !running")

	r.handler.emits()
	r.run()
	r.wantTold("a p b+ /")
}

func TestPauseOnly(t *testing.T) {
	r := newRig(t)
	r.handler.emits(pauseFor("", ""))
	r.run()
	r.wantNames(r.id, 1, "!stopped")
	r.run()
	r.wantCalls(1)
	r.commit(r.id, session.Queueing, "q")
	r.handler.emits(pauseFor("again", ""))
	r.run()
	r.wantTold("q+ /wake")
	r.wantNames(r.id, 3, "!stopped")
}

func TestWakeWithoutWorkLeavesTheSessionAsItWas(t *testing.T) {
	r := newRig(t)
	r.commit(r.id, session.Checkpoint, "a", "!stopped")
	r.commit(r.id, session.Provisional, "p")
	r.run()
	r.run()
	r.wantTold("a p+ /wake")
	if v := r.version(r.id); v != 2 {
		t.Errorf("version %d", v)
	}
}

func TestSleep(t *testing.T) {
	r := newRig(t)
	r.handler.act = func(*call) (string, error) {
		r.clock.now = r.clock.now.Add(6 * time.Second) // the handler takes its time
		return pauseFor("nap", "30s"), nil
	}
	r.run()
	due := r.clock.now.Add(30 * time.Second)
	if c := r.control(1); !c.StartAt.Equal(due) || c.Reason != "nap" {
		t.Errorf("got %+v, want start-at %v", c, due)
	}
	r.handler.act = func(*call) (string, error) {
		if r.clock.now.Before(due) {
			t.Errorf("woken at %v, due at %v", r.clock.now, due)
		}
		return "", nil
	}
	r.run()
	r.wantTold("/wake")
	r.wantCalls(2)
}

func TestObjectsThatLandDuringTheSleepAreSeen(t *testing.T) {
	r := newRig(t)
	r.commit(r.id, session.Checkpoint, "a", "!stopped 2030-01-01T00:00:00-05:30")
	waking := &wakingClock{stoppedClock: r.clock, wake: func() { r.commit(r.id, session.Provisional, "p") }}
	r.config.Clock = waking
	r.run()
	r.wantTold("a p+ /wake")
	if want := time.Date(2030, 1, 1, 5, 30, 0, 0, time.UTC); len(r.clock.waits) != 1 || !r.clock.waits[0].Equal(want) {
		t.Errorf("waited until %v", r.clock.waits)
	}
}

type wakingClock struct {
	*stoppedClock
	wake func()
}

func (c *wakingClock) Wait(ctx context.Context, t time.Time) error {
	c.wake()
	return c.stoppedClock.Wait(ctx, t)
}

func TestTheLastPauseCounts(t *testing.T) {
	for _, tc := range []struct {
		records []string
		reason  string
		sleep   time.Duration
	}{
		{[]string{pauseFor("A", "300s"), pauseFor("B", "")}, "B", 0},
		{[]string{pauseFor("A", ""), pauseFor("B", "20s"), out("x")}, "B", 20 * time.Second},
		{[]string{pauseFor("A", "5m"), pauseFor("B", "1h")}, "B", 10 * time.Minute},
	} {
		r := newRig(t)
		r.handler.emits(tc.records...)
		r.run()
		c := r.control(1)
		sleep := time.Duration(0)
		if !c.StartAt.IsZero() {
			sleep = c.StartAt.Sub(r.clock.now)
		}
		if c.Reason != tc.reason || sleep != tc.sleep {
			t.Errorf("%q: got %+v", tc.records, c)
		}
	}
}

func TestPauseRouting(t *testing.T) {
	r := newRig(t)
	other := r.create(session.Manifest{})
	r.handler.emits(out("p", `"content-type":"`+pauseType+`","name":"memories/ns/x","fork":true,"session":"`+other.String()+`"`))
	r.run()
	r.wantNames(r.id, 1, "!stopped")
	if keys := r.keys("memories/"); keys != nil || r.version(other) != 0 {
		t.Errorf("memory %q, the other session is at %d", keys, r.version(other))
	}

	r = newRig(t)
	r.handler.emits(out("p", named("near"), `"content-type":"application/vnd.pugmark.pause"`), out("d", named("d"), `"metadata":{"duration":"5s"}`))
	r.run()
	r.wantNames(r.id, 1, "near d")
}

func TestImplicitPause(t *testing.T) {
	r := newRig(t)
	other := r.create(session.Manifest{})
	fork, local, cross := out("f", named("f"), `"fork":true`), out("l", named("l")), out("c", named("c"), `"session":"`+other.String()+`"`)
	own := out("o", named("o"), `"session":"`+r.id.String()+`"`)
	for _, tc := range []struct {
		records []string
		want    string
	}{
		{[]string{fork}, "f> !stopped"},
		{[]string{fork, fork, fork}, "f> f> f> !stopped"},
		{[]string{fork, out("m", named("memories/ns/k"))}, "f> !stopped"},
		{[]string{fork, local}, "f> l"},
		{[]string{local, fork}, "l f>"},
		{[]string{fork, cross}, "f> c@"},
		{[]string{cross, fork}, "c@ f>"},
		{[]string{fork, own}, "f> o"},
		{[]string{cross}, "c@"},
		{[]string{fork, pauseFor("r", "")}, "f> !stopped"},
	} {
		r.id = r.create(session.Manifest{})
		for i := range tc.records {
			if tc.records[i] == own {
				tc.records[i] = out("o", named("o"), `"session":"`+r.id.String()+`"`)
			}
		}
		r.handler.emits(tc.records...)
		r.run()
		r.wantNames(r.id, 1, tc.want)
	}
}

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"300ms": 300 * time.Millisecond, "1.5s": 1500 * time.Millisecond, "0h2m30s": 150 * time.Second, "1m1.5s": 61500 * time.Millisecond,
		"2000000000ns": 2 * time.Second, "2000000us": 2 * time.Second, "2000000µs": 2 * time.Second, "0.05h": 3 * time.Minute,
		"90s": 90 * time.Second, "1.s": time.Second, ".5m": 30 * time.Second, "0s": 0, "87600h": 87600 * time.Hour,
		"9999999999h": longest, "2562047h2562047h": longest,
	} {
		if got, err := parseDuration(text); err != nil || got != want {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0", "5", "s", "-1s", "+1s", "1 s", " 1s", "1s ", "1d", "1.2.3s", ".s", "1e3s", "1μs", "1S", "1m-30s", "1,5s"} {
		if got, err := parseDuration(text); err == nil {
			t.Errorf("%q: got %v", text, got)
		}
	}
}
