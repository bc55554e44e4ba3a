package engine

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pugcheck/pugcheck/reference/pugmark/session"
)

func (r *rig) inspect() Status {
	r.Helper()
	r.reopen()
	status, err := Inspect(r.Context(), r.repo, r.clock.Now(), r.id)
	if err != nil {
		r.Fatal(err)
	}
	return status
}

func TestPhases(t *testing.T) {
	const (
		c, p, q = session.Checkpoint, session.Provisional, session.Queueing
		past    = "!stopped 2026-05-04T03:02:01Z"
		future  = "!stopped 2026-05-04T03:02:02Z"
	)
	type snapshot struct {
		kind  session.SnapshotType
		names string // split at ";"
	}
	for _, test := range []struct {
		name      string
		snapshots []snapshot
		want      Phase
	}{
		{"empty", nil, New},
		{"pushed to, never run", []snapshot{{p, "a"}}, New},
		{"queued to, never run", []snapshot{{q, "a"}}, New},
		{"run", []snapshot{{p, "a"}, {c, "b"}}, Resting},
		{"run and pushed to", []snapshot{{c, "b"}, {p, "a"}}, Due},
		{"run and queued to", []snapshot{{c, "b"}, {q, "a"}}, Queued},
		{"both", []snapshot{{c, "b"}, {q, "a"}, {p, "a"}, {q, "a"}}, Due},
		{"paused", []snapshot{{c, "b;!stopped"}}, Paused},
		{"paused and pushed to", []snapshot{{c, "b;!stopped"}, {p, "a"}}, Due},
		{"paused and queued to", []snapshot{{c, "b;!stopped"}, {q, "a"}}, Queued},
		{"asleep", []snapshot{{c, future}}, Sleeping},
		{"asleep and pushed to", []snapshot{{c, future}, {p, "a"}}, Due},
		{"asleep and queued to", []snapshot{{c, future}, {q, "a"}}, Sleeping},
		{"slept", []snapshot{{c, past}}, Due},
		{"slept and queued to", []snapshot{{c, past}, {q, "a"}}, Due},
		{"woken and run", []snapshot{{c, past}, {c, "b;!running"}}, Resting},
		{"woken and run by somebody who does not end stops", []snapshot{{c, "!stopped"}, {p, "a"}, {c, "b"}}, Resting},
		{"paused again", []snapshot{{c, "!stopped"}, {p, "a"}, {c, "!stopped"}}, Paused},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t)
			n := 0
			for _, s := range test.snapshots {
				names := strings.Split(s.names, ";")
				n += len(names)
				r.commit(r.id, s.kind, names...)
			}
			r.store.requests = nil
			status := r.inspect()
			if status.Phase != test.want || status.Due() != (test.want == New || test.want == Due) {
				t.Errorf("got %+v, want %s", status, test.want)
			}
			if status.Version != uint32(len(test.snapshots)) || status.Entries != int64(n) || status.Modified.IsZero() != (n == 0) {
				t.Errorf("got %+v, want version %d with %d entries", status, len(test.snapshots), n)
			}
			if writes := r.store.count("PUT"); writes != 0 {
				t.Errorf("%d writes", writes)
			}
		})
	}
}

func TestForkChildren(t *testing.T) {
	r := newRig(t)
	r.id = r.create(session.Manifest{Parent: session.Pointer{Session: r.id, Version: 1}})
	if s := r.inspect(); s.Phase != Pending || s.Due() {
		t.Errorf("half made: %+v", s)
	}
	r.commit(r.id, session.Checkpoint, "body")
	if s := r.inspect(); s.Phase != New || !s.Due() {
		t.Errorf("made: %+v", s)
	}
	r.commit(r.id, session.Checkpoint, "a")
	if s := r.inspect(); s.Phase != Resting {
		t.Errorf("run: %+v", s)
	}
}

func TestInspectTellsTheStop(t *testing.T) {
	r := newRig(t)
	r.handler.emits(pauseFor("later", "90s"))
	r.run()
	at := r.clock.Now().Add(90 * time.Second)
	if s := r.inspect(); s.Phase != Sleeping || !s.StartAt.Equal(at) || s.Reason != "later" {
		t.Errorf("got %+v", s)
	}
	if s, err := Inspect(t.Context(), r.repo, at, r.id); err != nil || s.Phase != Due {
		t.Errorf("got %+v, %v", s, err)
	}
	if _, err := Inspect(t.Context(), r.repo, at, r.newID()); !errors.Is(err, session.ErrSessionNotFound) {
		t.Errorf("error %v", err)
	}
}

func TestSettle(t *testing.T) {
	r := newRig(t)
	child, target := r.newID(), r.create(session.Manifest{})
	message := r.fork(target, "m")
	message.Fork = false
	r.commit(r.id, session.Checkpoint, "earlier")
	r.commitDescriptors(r.id, session.Checkpoint, r.fork(child, "f"), r.fork(r.id, "itself"), message)
	r.commit(r.id, session.Provisional, "p")

	s := r.inspect()
	want := []PendingFork{{child, session.Pointer{Session: r.id, Version: 2}}}
	if diff := cmp.Diff(want, s.Forks); diff != "" || !s.Unsettled() || len(s.Messages) != 1 || s.Messages[0] != target {
		t.Errorf("%+v\n%s", s, diff)
	}
	for range 2 {
		if err := Settle(t.Context(), r.config, r.id); err != nil {
			t.Fatal(err)
		}
	}
	r.wantNames(child, 1, "f")
	r.wantNames(target, 1, "m")
	if v := r.version(target); v != 1 {
		t.Errorf("the target is at version %d", v)
	}
	r.wantCalls(0)

	r.commit(r.id, session.Checkpoint, "later")
	if s := r.inspect(); s.Unsettled() || len(s.Forks) > 0 {
		t.Errorf("got %+v", s)
	}
}
