package session_test

import (
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
)

// forked is a parent whose snapshot 1 holds, between other entries, the record of a fork with the body "task".
func forked(b *bench) (parent session.Manifest, child layout.SessionID, record session.Descriptor) {
	b.t.Helper()
	parent = b.create(session.Manifest{Name: "parent", Agent: "a", Handler: "h", Metadata: map[string]string{"of": "parent"}})
	child = b.newID()
	all := entries("before", "task", "after")
	all[1].Fork, all[1].TargetSession, all[1].Name = true, child, "doc"
	all[1].Metadata = map[string]string{"of": "fork"}
	c := must(b.other().Commit(ctx, session.Commit{Session: parent.Session, Type: session.Checkpoint, Descriptors: all}))(b.t)
	return parent, child, c.Descriptors[1]
}

func (b *bench) materialise(repo *session.Repo, parent session.Manifest, record session.Descriptor) {
	b.t.Helper()
	if err := repo.Materialise(ctx, parent, 1, record); err != nil {
		b.t.Fatal(err)
	}
}

func TestMaterialise(t *testing.T) {
	b := setUp(t)
	parent, child, record := forked(b)
	b.commit(parent.Session, session.Provisional, "later") // is not visible to the child, and does not count for its numbers
	b.materialise(b.repo, parent, record)
	if m := must(b.other().LoadManifest(ctx, child))(t); m.Session != child || m.Parent != (session.Pointer{Session: parent.Session, Version: 1}) ||
		m.Agent != "a" || m.Handler != "h" || m.Name != "" || !maps.Equal(m.Metadata, map[string]string{"of": "fork"}) || m.FirstSequenceNumber != 4 {
		t.Errorf("child %+v", m)
	}
	s := must(b.other().LoadSnapshot(ctx, child, 1))(t)
	want := record
	want.Fork, want.TargetSession, want.SequenceNumber = false, layout.SessionID{}, 4
	if d := s.Descriptors[0]; len(s.Descriptors) != 1 || d.Digest != want.Digest || d.Fork || !d.TargetSession.IsZero() || d.SequenceNumber != 4 ||
		d.Name != "doc" || !d.CreatedAt.Equal(want.CreatedAt) || s.Type != session.Checkpoint {
		t.Errorf("snapshot 1: %+v", s)
	}
	b.wantLog(child, "1:before", "2:task", "3:after", "4:task")
	// Again, at once and after the child has gone on: nothing more is written.
	b.materialise(b.fresh(), parent, record)
	b.commit(child, session.Checkpoint, "own work")
	b.materialise(b.fresh(), parent, record)
	if v := must(b.other().Latest(ctx, child))(t); v != 2 {
		t.Errorf("child is at version %d, want 2", v)
	}
}

// S11.2-15: a crash at any request is repaired by doing it again.
func TestMaterialiseAfterCrash(t *testing.T) {
	b := setUp(t)
	_, child, _ := forked(b)
	for _, request := range []string{"PUT " + b.path(child).Manifest(), "PUT " + b.path(child).Snapshot(1)} {
		for _, fate := range []verdict{fail, lose} {
			b := setUp(t)
			parent, other, record := forked(b)
			request := request[:4] + string(b.path(other)) + request[4+len(b.path(child)):]
			b.meet(request, fate)
			_ = b.repo.Materialise(ctx, parent, 1, record)
			b.store.hook = nil
			b.materialise(b.fresh(), parent, record)
			b.wantLog(other, "1:before", "2:task", "3:after", "4:task")
		}
	}
}

// S11.2-13: whoever made snapshot 1 first has done the work.
func TestMaterialiseRace(t *testing.T) {
	b := setUp(t)
	parent, child, record := forked(b)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := b.other().Materialise(ctx, parent, 1, record); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	b.wantLog(child, "1:before", "2:task", "3:after", "4:task")
}

// F-15: a message that lands in the child between its manifest and its snapshot 1 does not cost it the fork's body.
func TestMaterialiseKeepsBody(t *testing.T) {
	for _, kind := range []session.SnapshotType{session.Provisional, session.Checkpoint} {
		b := setUp(t)
		parent, child, record := forked(b)
		b.before("PUT "+b.path(child).Snapshot(1), func() { b.commit(child, kind, "early") })
		b.materialise(b.repo, parent, record)
		b.materialise(b.fresh(), parent, record)
		b.wantLog(child, "1:before", "2:task", "3:after", "4:early", "5:task")

		b = setUp(t)
		parent, child, record = forked(b)
		b.meet("PUT "+b.path(child).Snapshot(1), fail)
		if err := b.repo.Materialise(ctx, parent, 1, record); err == nil {
			t.Fatal("the failure was not reported")
		}
		b.commit(child, kind, "early")
		b.materialise(b.fresh(), parent, record)
		b.materialise(b.fresh(), parent, record)
		b.wantLog(child, "1:before", "2:task", "3:after", "4:early", "5:task")
	}
}

// A fork whose ID is taken by another session, or is the parent's own, leaves both alone.
func TestMaterialiseTakenID(t *testing.T) {
	b := setUp(t)
	parent, _, record := forked(b)
	foreign := b.create(session.Manifest{Agent: "foreign"}).Session
	b.commit(foreign, session.Checkpoint, "theirs")
	record.TargetSession = foreign
	b.materialise(b.repo, parent, record)
	if m := must(b.other().LoadManifest(ctx, foreign))(t); m.Agent != "foreign" {
		t.Errorf("manifest %+v", m)
	}
	b.wantLog(foreign, "1:theirs")
	n := len(b.store.since(0))
	record.TargetSession = parent.Session
	b.materialise(b.repo, parent, record)
	if got := b.store.since(n); len(got) != 0 {
		t.Errorf("requests: %q", got)
	}
}

// A new child costs a look, its manifest and its snapshot 1; one that is there costs the look, and the same process
// does not even look again.
func TestMaterialiseCost(t *testing.T) {
	b := setUp(t)
	parent, child, record := forked(b)
	look := "GET " + b.path(child).Snapshot(1)
	wantRequests := func(repo *session.Repo, want ...string) {
		t.Helper()
		must(repo.SinceCheckpoint(ctx, parent.Session, 1))(t)
		n := len(b.store.since(0))
		b.materialise(repo, parent, record)
		if got := b.store.since(n); !slices.Equal(got, want) {
			t.Errorf("requests: %q, want %q", got, want)
		}
	}
	wantRequests(b.repo, look, "PUT "+b.path(child).Manifest(), "PUT "+b.path(child).Snapshot(1))
	wantRequests(b.repo)
	wantRequests(b.fresh(), look)
}
