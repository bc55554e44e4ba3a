package engine

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
)

func (r *rig) manifest(id layout.SessionID) session.Manifest {
	r.Helper()
	m, err := r.repo.LoadManifest(r.Context(), id)
	if err != nil {
		r.Fatal(err)
	}
	return m
}

func (r *rig) exists(id layout.SessionID) bool {
	r.Helper()
	_, err := r.repo.Latest(r.Context(), id)
	if err != nil && !errors.Is(err, session.ErrSessionNotFound) {
		r.Fatal(err)
	}
	return err == nil
}

func TestFork(t *testing.T) {
	r := newRig(t)
	child := r.newID()
	r.id = r.create(session.Manifest{Agent: "agent-7", Metadata: map[string]string{"team": "blue"}})
	r.handler.emits(out("A", named("a")),
		out("task", named("f"), `"fork":true,"session":"`+strings.ToUpper(child.String())+`","metadata":{"task":"1"},"content-type":"text/x"`),
		out("other", named("g"), `"fork":true`), out("B", named("b")))
	r.run()
	r.wantNames(r.id, 1, "a f> g> b")
	sibling := r.snapshot(r.id, 1).Descriptors[2].TargetSession
	if r.exists(child) || r.exists(sibling) {
		t.Fatal("a child exists right after the parent's commit") // P11.1-3
	}

	r.handler.act = func(*call) (string, error) {
		if !r.exists(child) || !r.exists(sibling) {
			t.Error("the handler runs before the children exist") // P11.1-5
		}
		return "", nil
	}
	r.run()
	r.wantTold("a+ b+ /")
	want := session.Manifest{Session: child, Parent: session.Pointer{Session: r.id, Version: 1}, Agent: "agent-7",
		Metadata: map[string]string{"task": "1"}, FirstSequenceNumber: 5}
	if diff := cmp.Diff(want, r.manifest(child)); diff != "" {
		t.Error(diff)
	}
	if d := r.snapshot(child, 1).Descriptors[0]; d.Name != "f" || d.Fork || !d.TargetSession.IsZero() || d.SequenceNumber != 5 || d.ContentType != "text/x" {
		t.Errorf("the child's first entry is %+v", d)
	}

	parent := r.id
	r.id = child
	r.handler.emits(out("C", named("c")), out("deep", named("h"), `"fork":true`))
	r.run()
	r.wantTold("a b f+ /fork")
	r.handler.emits()
	r.run()
	r.wantTold("a b f c+ /")
	grandchild := r.snapshot(child, 2).Descriptors[1].TargetSession

	r.id = grandchild
	r.run()
	r.wantTold("a b f c h+ /fork")

	r.id = parent
	before := len(r.keys("sessions/"))
	r.run() // all is made already
	r.wantTold("a+ b+ /")
	if after := len(r.keys("sessions/")); after != before {
		t.Errorf("%d keys became %d", before, after)
	}
}

func TestPausedParentMakesItsChildren(t *testing.T) {
	r := newRig(t)
	r.handler.emits(out("f", named("f"), `"fork":true`))
	r.run()
	r.wantNames(r.id, 1, "f> !stopped")
	child := r.snapshot(r.id, 1).Descriptors[0].TargetSession
	if result := r.run(); result.State != Stopped || result.Invocations != 0 {
		t.Errorf("got %+v", result)
	}
	r.wantCalls(1)
	r.wantNames(child, 1, "f")
}

// a message on top of the checkpoint does not lose the forks below it.
func TestForksBelowOtherSnapshots(t *testing.T) {
	for _, kind := range []session.SnapshotType{session.Provisional, session.Queueing} {
		r := newRig(t)
		child, old := r.newID(), r.newID()
		r.commitDescriptors(r.id, session.Checkpoint, r.fork(old, "old"))
		r.commit(r.id, session.Checkpoint, "x")
		r.commitDescriptors(r.id, session.Checkpoint, r.fork(child, "f"))
		r.commit(r.id, kind, "p")
		r.run()
		r.wantTold("x p+ /")
		if m := r.manifest(child); m.Parent.Version != 3 {
			t.Errorf("parent pointer at version %d", m.Parent.Version)
		}
		if r.exists(old) {
			t.Error("a fork of an older checkpoint is pending again")
		}
	}
}

func TestChildWhoseBirthWasCutOff(t *testing.T) {
	r := newRig(t)
	child := r.newID()
	r.commitDescriptors(r.id, session.Checkpoint, r.fork(child, "f"))
	path, _ := child.Path()
	r.store.fail = func(operation, key string) error {
		if operation == "PUT" && key == path.Snapshot(1) {
			return errors.New("cut off")
		}
		return nil
	}
	r.fails("cut off")
	r.wantCalls(0)
	if !r.exists(child) || r.version(child) != 0 {
		t.Fatal("the test did not cut it off")
	}
	r.store.fail = nil
	r.run()
	r.wantNames(child, 1, "f")

	// F-15: somebody wrote into the child in between.
	child = r.newID()
	r.commitDescriptors(r.id, session.Checkpoint, r.fork(child, "f2"))
	m := session.Manifest{Session: child, Parent: session.Pointer{Session: r.id, Version: 2}, FirstSequenceNumber: 3}
	if _, _, err := r.repo.CreateManifest(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	r.commit(child, session.Provisional, "early")
	r.run()
	r.id = child
	r.run()
	r.wantTold("early+ f2+ /fork")
}

// F-16: what a foreign writer recorded and nobody can carry out does not stop the session.
func TestRecordsThatNobodyCanCarryOut(t *testing.T) {
	r := newRig(t)
	nowhere, err := layout.ParseSessionID("ffffffff00112233445566778899aabb")
	if err != nil {
		t.Fatal(err)
	}
	sent := r.fork(nowhere, "x")
	sent.Fork = false
	r.commitDescriptors(r.id, session.Checkpoint, r.fork(nowhere, "f"), sent)
	r.run()
	r.wantTold("x+ /")
	if len(r.reports) != 2 {
		t.Errorf("reports %q", r.reports)
	}
	r.wantReport("year 9999")
}
