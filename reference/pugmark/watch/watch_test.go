package watch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/pugcheck/pugcheck/reference/pugmark/engine"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
)

const tick = time.Second // the rig's interval

func TestRunsWhatIsNewAndWhatArrives(t *testing.T) {
	r := newRig(t)
	r.emits(entry)
	a := r.create("a", session.Manifest{})
	r.serve()
	r.took("a start")
	r.after(tick)
	r.after(tick)
	r.took() // what it appends itself is no reason

	b := r.create("b", session.Manifest{})
	r.push(a, session.Provisional)
	r.after(tick - 1)
	r.took()
	r.after(1)
	r.took("a", "b start")

	r.push(a, session.Queueing)
	r.after(tick)
	r.took() // waits for the next invocation
	r.push(a, session.Provisional)
	r.push(b, session.Provisional)
	r.push(b, session.Provisional)
	r.after(tick)
	r.took("a", "b")
	r.failures()
}

func TestInvocationsWithoutOutput(t *testing.T) {
	r := newRig(t)
	a := r.create("a", session.Manifest{})
	r.serve()
	r.took("a start")
	r.after(tick)
	r.took()
	r.push(a, session.Provisional)
	r.after(tick)
	r.after(tick)
	r.took("a start")
}

func TestForksAreCarriedOn(t *testing.T) {
	r := newRig(t)
	r.create("a", session.Manifest{})
	r.act = func(_ context.Context, c *call) (string, error) {
		switch c.letter {
		case "a":
			return fmt.Sprintf(`{"fork":true,"session":%q,"data":"QQ=="}`, idOf("b")), nil
		case "b": // the child forks in its turn, and does not stop by it
			return fmt.Sprintf(`{"fork":true,"session":%q,"data":"QQ=="}`, idOf("c")) + entry, nil
		}
		return pause(""), nil
	}
	r.serve()
	r.took("a start", "b fork", "c fork") // at once, without another look
	r.after(tick)
	r.took()
}

func TestMessagesAreReadAtOnce(t *testing.T) {
	r := newRig(t)
	a := r.create("a", session.Manifest{})
	b := r.create("b", session.Manifest{})
	r.emits(pause(""))
	r.serve()
	r.took("a start", "b start")
	r.act = func(_ context.Context, c *call) (string, error) {
		if c.letter == "a" {
			return fmt.Sprintf(`{"session":%q,"data":"QQ=="}`, b), nil
		}
		return pause(""), nil
	}
	r.push(a, session.Provisional)
	r.after(tick)
	r.took("a wake", "b wake")
	r.after(tick)
	r.took()
}

// A crash between commit and fork is made up for without an invocation of the parent.
func TestForksOfAnotherProcess(t *testing.T) {
	r := newRig(t)
	a := r.create("a", session.Manifest{})
	fork := session.Describe([]byte("task"))
	fork.Fork, fork.TargetSession = true, idOf("b")
	if _, err := r.repo.Commit(t.Context(), session.Commit{Session: a, Type: session.Checkpoint, Descriptors: []session.Descriptor{fork}}); err != nil {
		t.Fatal(err)
	}
	r.serve()
	r.took("b fork")
}

// A child that somebody is just making is not run before it is complete.
func TestHalfMadeChildren(t *testing.T) {
	r := newRig(t)
	r.emits(entry)
	a := r.create("a", session.Manifest{})
	b := r.create("b", session.Manifest{Parent: session.Pointer{Session: a, Version: 1}})
	r.serve()
	r.took("a start")
	if _, err := r.repo.Commit(t.Context(), session.Commit{Session: b, Descriptors: []session.Descriptor{session.Describe([]byte("task"))}, Type: session.Checkpoint}); err != nil {
		t.Fatal(err)
	}
	r.after(tick)
	r.took("b fork")
	r.failures()
}

func TestFailuresAreTriedAgainLater(t *testing.T) {
	r := newRig(t)
	a := r.create("a", session.Manifest{})
	b := r.create("b", session.Manifest{})
	r.act = func(_ context.Context, c *call) (string, error) {
		if c.letter == "a" {
			return "", errors.New("out of order")
		}
		return entry, nil
	}
	r.serve()
	r.took("a start", "b start")
	r.failures("a 10s: session " + a.String() + ", version 0: invocation failed")
	r.push(b, session.Provisional)
	r.push(a, session.Provisional)
	r.after(tick)
	r.took("b") // others go on, and nothing makes the failing one come sooner
	r.after(9*time.Second - 1)
	r.took()
	r.after(1)
	r.took("a start")
	r.failures("a 10s: ")
	r.emits(entry)
	r.after(10 * time.Second)
	r.took("a start")
	r.after(time.Hour)
	r.took()
	r.failures()
}

// the commit stands, and what could not be delivered is told.
func TestMessagesToNobody(t *testing.T) {
	r := newRig(t)
	a := r.create("a", session.Manifest{})
	r.emits(fmt.Sprintf(`{"session":%q,"data":"QQ=="}`, idOf("b")))
	r.serve()
	r.took("a start")
	r.failures("a 10s: session " + a.String() + ", version 1 is committed, but: ")
	if got := fmt.Sprint(r.ran); got != "[a 1 idle]" {
		t.Error(got)
	}
	r.after(time.Minute)
	r.took()
	r.failures()
}

func TestSessionsWithoutAHandler(t *testing.T) {
	r := newRig(t)
	a := r.create("a", session.Manifest{Handler: "python"})
	r.create("b", session.Manifest{})
	r.serve()
	r.took("b start")
	r.failures(`a never: session ` + a.String() + ` wants the handler "python", which is not registered`)
	r.after(time.Hour)
	r.failures()
	r.push(a, session.Provisional)
	r.after(tick)
	r.failures("a never: ")
}

func TestObjectsThatLandWhileTheHandlerRuns(t *testing.T) {
	r := newRig(t)
	a := r.create("a", session.Manifest{})
	r.act = func(_ context.Context, c *call) (string, error) {
		if c.version == 0 {
			r.push(a, session.Provisional)
		}
		return entry, nil
	}
	r.serve()
	r.took("a start", "a")
	r.after(tick)
	r.took()
}

func TestAtMostSoManyAtOnceAndEachByOne(t *testing.T) {
	r := newRig(t)
	r.config.Parallel = 2
	const sessions = 6
	for i := range sessions {
		r.create(string(rune('a'+i)), session.Manifest{})
	}
	var mu sync.Mutex
	running, most := map[string]int{}, 0
	both := make(chan struct{})
	r.act = func(ctx context.Context, c *call) (string, error) {
		mu.Lock()
		running[c.letter]++
		if running[c.letter] > 1 {
			t.Errorf("session %s is run twice at once", c.letter)
		}
		if most = max(most, len(running)); len(running) == 2 && most == 2 {
			select {
			case <-both:
			default:
				close(both)
			}
		}
		mu.Unlock()
		select {
		case <-both: // two do run at once
		case <-ctx.Done():
			return "", ctx.Err()
		}
		mu.Lock()
		delete(running, c.letter)
		mu.Unlock()
		return entry, nil
	}
	r.serve()
	r.took("a start", "b start", "c start", "d start", "e start", "f start")
	if most != 2 {
		t.Errorf("%d handlers at once, want 2", most)
	}
}

func TestEnding(t *testing.T) {
	r := newRig(t)
	r.config.Parallel = 1
	a := r.create("a", session.Manifest{})
	r.create("b", session.Manifest{})
	started := make(chan struct{}, 2)
	r.act = func(ctx context.Context, _ *call) (string, error) {
		started <- struct{}{}
		<-ctx.Done()
		return entry, context.Cause(ctx)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- Serve(ctx, r.config) }()
	<-started
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if len(started) > 0 || len(r.calls) != 1 {
		t.Errorf("invocations %q", r.calls)
	}
	r.failures()
	for _, id := range []string{"a", "b"} {
		if v, err := r.repo.Latest(t.Context(), idOf(id)); v != 0 || err != nil {
			t.Errorf("session %s is at version %d, %v", a, v, err)
		}
	}
}

func TestOneSession(t *testing.T) {
	r := newRig(t)
	r.emits(entry)
	r.create("a", session.Manifest{})
	r.config.Session = r.create("b", session.Manifest{})
	r.serve()
	r.after(tick)
	r.took("b start")
	if err := Serve(t.Context(), Config{Engine: r.config.Engine, Session: idOf("c")}); !errors.Is(err, session.ErrSessionNotFound) {
		t.Errorf("error %v", err)
	}
}

func TestTroubleWithTheBucket(t *testing.T) {
	r := newRig(t)
	r.emits(entry)
	a := r.create("a", session.Manifest{})
	broken := errors.New("the bucket is broken")
	r.store.breakListings(broken)
	if err := Serve(t.Context(), r.config); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	r.store.breakListings(nil)
	r.serve()
	r.took("a start")
	r.store.breakListings(broken)
	r.push(a, session.Provisional)
	r.after(tick)
	r.failures(" 11s: look at the bucket: list the sessions: the bucket is broken")
	r.store.breakListings(nil)
	r.after(11 * time.Second)
	r.took("a")
}

// Nothing new costs a listing, and something new in one session leaves the others alone.
func TestCost(t *testing.T) {
	r := newRig(t)
	r.emits(entry)
	for letter := 'a'; letter <= 'z'; letter++ {
		r.create(string(letter), session.Manifest{})
	}
	r.serve()
	r.store.take()
	r.after(tick)
	if got := r.store.take(); got["LIST"] != 1 || got["GET"] != 0 {
		t.Errorf("a look without anything new takes %v", got)
	}
	r.push(idOf("c"), session.Provisional)
	r.after(tick)
	// The look; each of inspection, run, and inspection finds the latest version. The push is read, once.
	if got := r.store.take(); got["LIST"] != 4 || got["GET"] != 1 {
		t.Errorf("one push takes %v", got)
	}
}

func TestResults(t *testing.T) {
	r := newRig(t)
	r.emits(entry)
	a := r.create("a", session.Manifest{})
	r.serve()
	r.emits(pause(""))
	r.push(a, session.Provisional)
	r.after(tick)
	if got := fmt.Sprint(r.ran); got != "[a 1 idle a 3 stopped]" {
		t.Error(got)
	}
	r.act = func(ctx context.Context, _ *call) (string, error) { // somebody else is faster
		other := engine.Config{Repo: r.repo, Clock: r.clock, Handlers: engine.Handlers{Default: handler{newRig(t)}}}
		other.Handlers.Default.(handler).rig.emits(entry)
		_, err := engine.Run(ctx, other, a)
		return entry, err
	}
	r.push(a, session.Provisional)
	r.after(tick)
	r.after(tick)
	if got := fmt.Sprint(r.ran[2:]); got != "[a 4 lost]" {
		t.Error(got)
	}
	r.failures()
}
