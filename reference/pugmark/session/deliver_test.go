package session_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
)

func delivery(writer layout.SessionID, version uint32, target layout.SessionID, bodies ...string) session.Delivery {
	d := session.Delivery{Writer: writer, Version: version, Target: target, Descriptors: entries(bodies...)}
	for i := range d.Descriptors {
		d.Descriptors[i].TargetSession = target
		d.Descriptors[i].SequenceNumber = int64(100 + i)
	}
	return d
}

func TestDeliver(t *testing.T) {
	b := setUp(t)
	writer, target := b.newID(), b.create(session.Manifest{FirstSequenceNumber: 7}).Session
	d := delivery(writer, 3, target, "x", "y")
	if !must(b.repo.Deliver(ctx, d))(t) {
		t.Error("the first delivery was taken for a repetition")
	}
	b.wantLog(target, "7:x", "8:y")
	s := must(b.other().LoadSnapshot(ctx, target, 1))(t)
	for _, e := range s.Descriptors {
		if e.SourceSession != writer || e.SourceVersion != 3 || !e.TargetSession.IsZero() || e.Fork {
			t.Errorf("delivered %+v", e)
		}
	}
	if s.Type != session.Provisional || s.Transaction == 0 {
		t.Errorf("delivered as %+v", s)
	}
	// Again, also when others have come on top; but not another version, another writer, or the same body from nowhere.
	b.commit(target, session.Checkpoint, "a")
	b.commit(target, session.Provisional, "x")
	if must(b.fresh().Deliver(ctx, d))(t) {
		t.Error("a repetition was delivered")
	}
	must(b.fresh().Deliver(ctx, delivery(writer, 4, target, "x")))(t)
	must(b.fresh().Deliver(ctx, delivery(b.newID(), 3, target, "x")))(t)
	b.wantLog(target, "7:x", "8:y", "9:a", "10:x", "11:x", "12:x")
}

func TestDeliverToNobody(t *testing.T) {
	b := setUp(t)
	id := b.newID()
	_, err := b.repo.Deliver(ctx, delivery(b.newID(), 1, id, "x"))
	wantError(t, err, session.ErrSessionNotFound)
	if !strings.Contains(err.Error(), id.String()) || b.exists(b.path(id).Snapshot(1)) {
		t.Errorf("error %v", err)
	}
}

// F-1: a foreign snapshot at the version does not swallow the message, and one that is the message itself is enough.
func TestDeliverMeetsOthers(t *testing.T) {
	b := setUp(t)
	target := b.create(session.Manifest{}).Session
	d := delivery(b.newID(), 3, target, "mine")
	b.before("PUT "+b.path(target).Snapshot(1), func() { b.commit(target, session.Provisional, "foreign") })
	if !must(b.repo.Deliver(ctx, d))(t) {
		t.Error("not delivered")
	}
	b.wantLog(target, "1:foreign", "2:mine")

	d.Version = 4
	b.before("PUT "+b.path(target).Snapshot(3), func() {
		b.commit(target, session.Provisional, "another")
		must(b.other().Deliver(ctx, d))(t)
	})
	if must(b.repo.Deliver(ctx, d))(t) {
		t.Error("delivered a second time")
	}
	b.wantLog(target, "1:foreign", "2:mine", "3:another", "4:mine")
}

func TestDeliverLostAnswer(t *testing.T) {
	for _, fate := range []verdict{lose, loseThenRetry} {
		b := setUp(t)
		target := b.create(session.Manifest{}).Session
		b.meet("PUT "+b.path(target).Snapshot(1), fate)
		if _, err := b.repo.Deliver(ctx, delivery(b.newID(), 3, target, "mine")); err != nil {
			t.Fatal(err)
		}
		b.wantLog(target, "1:mine")
	}
}

// What was seen before is not read again, and not forgotten.
func TestDeliverSeen(t *testing.T) {
	b := setUp(t)
	target := b.create(session.Manifest{}).Session
	for i := range 40 {
		b.commit(target, session.Provisional, fmt.Sprint(i))
	}
	writer := b.newID()
	must(b.repo.Deliver(ctx, delivery(writer, 2, target, "mine")))(t)
	b.commit(target, session.Provisional, "behind")
	reader := b.fresh()
	seen := must(reader.Deliveries(ctx, target, writer))(t)
	if len(seen.Versions) != 1 || !seen.Versions[2] || seen.UpTo != 42 {
		t.Errorf("seen: %+v", seen)
	}
	before := len(b.store.since(0))
	for version, want := range map[uint32]bool{2: false, 3: true} {
		d := delivery(writer, version, target, "mine")
		d.Seen = seen
		if got := must(reader.Deliver(ctx, d))(t); got != want {
			t.Errorf("version %d: delivered %v", version, got)
		}
	}
	got := b.store.since(before)
	slices.Sort(got)
	want := []string{"LIST " + b.path(target).Snapshots(), "LIST " + b.path(target).Snapshots(), "PUT " + b.path(target).Snapshot(43)}
	if !slices.Equal(got, want) {
		t.Errorf("requests: %q, want %q", got, want)
	}
	if _, err := reader.Deliveries(ctx, b.newID(), writer); !errors.Is(err, session.ErrSessionNotFound) {
		t.Errorf("no session: %v", err)
	}
}

// S13.5-1, S14.2-4: many writers at once, each of them twice, all arrive, once.
func TestDeliverConcurrently(t *testing.T) {
	b := setUp(t)
	target := b.create(session.Manifest{}).Session
	const writers = 12
	var wg sync.WaitGroup
	for i := range writers {
		d := delivery(b.newID(), 1, target, fmt.Sprint("a", i), fmt.Sprint("b", i))
		for range 2 {
			wg.Go(func() {
				if _, err := b.other().Deliver(ctx, d); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	log := b.log(target)
	if len(log) != 2*writers {
		t.Errorf("%d entries, want %d: %q", len(log), 2*writers, log)
	}
	for i, e := range log {
		if !strings.HasPrefix(e, fmt.Sprint(i+1, ":")) || i%2 == 1 && e[strings.IndexByte(e, 'b')+1:] != log[i-1][strings.IndexByte(log[i-1], 'a')+1:] {
			t.Errorf("entry %d is %s, after %q", i, e, log[:i])
		}
	}
}
