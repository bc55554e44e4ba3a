package session_test

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

func target(b *bench, name string) string {
	b.t.Helper()
	body, _, err := store.Get(ctx, b.store.Store, "refs/sessions/"+name)
	if err != nil {
		b.t.Fatal(err)
	}
	return string(body)
}

func (b *bench) point(name, target string) {
	b.t.Helper()
	b.write("refs/sessions/"+name, []byte(target), store.Attributes{ContentType: "text/plain; charset=utf-8"})
}

func TestCreate(t *testing.T) {
	b := setUp(t)
	m := must(b.repo.Create(ctx, session.Manifest{Name: "n", Agent: "a", Handler: "h", Metadata: map[string]string{"k": "v"}}))(t)
	if m.Session.IsZero() || m.FirstSequenceNumber != 1 {
		t.Errorf("created %+v", m)
	}
	if got := must(b.other().LoadManifest(ctx, m.Session))(t); got.Session != m.Session || got.Agent != "a" || got.Handler != "h" ||
		got.Name != "n" || got.Metadata["k"] != "v" || got.FirstSequenceNumber != 1 || !got.Parent.IsZero() {
		t.Errorf("stored %+v", got)
	}
	if got := target(b, "n"); got != b.path(m.Session).Manifest() {
		t.Errorf("ref points to %q", got)
	}
	attrs := must(b.store.Head(ctx, "refs/sessions/n"))(t)
	if attrs.ContentType != "text/plain; charset=utf-8" || attrs.CacheControl != "no-cache" {
		t.Errorf("ref attributes %+v", attrs)
	}
	attrs = must(b.store.Head(ctx, b.path(m.Session).Manifest()))(t)
	if attrs.ContentType != "application/json" || attrs.CacheControl != "max-age=31536000, immutable" || attrs.ContentEncoding != "" {
		t.Errorf("manifest attributes %+v", attrs)
	}
	if got := must(b.fresh().Create(ctx, session.Manifest{Name: "n", Agent: "other"}))(t); got.Session != m.Session || got.Agent != "a" {
		t.Errorf("created again: %+v", got)
	}
}

// S5.1-4, S5.1-5: creating an existing session loads it, and changes nothing.
func TestCreateExisting(t *testing.T) {
	b := setUp(t)
	first := b.create(session.Manifest{Agent: "first"})
	got := must(b.repo.Create(ctx, session.Manifest{Session: first.Session, Agent: "second"}))(t)
	if got.Agent != "first" {
		t.Errorf("created again: %+v", got)
	}
}

// S9.2: the loser of a name deletes its own manifest and nothing else, and goes on with the winner.
func TestCreateLosesName(t *testing.T) {
	b := setUp(t)
	winner := b.create(session.Manifest{Agent: "winner"})
	linked := false
	b.store.hook = func(r string) verdict {
		switch {
		case r == "PUT refs/sessions/n":
			linked = true
		case linked && r == "GET refs/sessions/n":
			b.point("n", b.path(winner.Session).Manifest())
		}
		return pass
	}
	own := b.newID()
	got := must(b.repo.Create(ctx, session.Manifest{Session: own, Name: "n"}))(t)
	if got.Session != winner.Session || got.Agent != "winner" {
		t.Errorf("created %+v, want the winner", got)
	}
	if b.exists(b.path(own).Manifest()) || !b.exists(b.path(winner.Session).Manifest()) {
		t.Error("the wrong manifest was deleted")
	}
	if _, err := b.repo.LoadManifest(ctx, own); !errors.Is(err, session.ErrSessionNotFound) {
		t.Errorf("the loser is still known: %v", err)
	}
	deletes := slices.DeleteFunc(b.store.since(0), func(r string) bool { return r != "DELETE "+b.path(own).Manifest() })
	if len(deletes) != 1 {
		t.Errorf("deletes: %q", deletes)
	}
}

// S9-8: a stale ref does not keep a name from being linked.
func TestCreateOverStaleRef(t *testing.T) {
	b := setUp(t)
	for _, stale := range []string{"nonsense", b.path(b.newID()).Manifest()} {
		b.point("n", stale)
		m := must(b.repo.Create(ctx, session.Manifest{Name: "n"}))(t)
		if got := target(b, "n"); got != b.path(m.Session).Manifest() {
			t.Errorf("over %q: ref points to %q", stale, got)
		}
	}
}

// A crash between manifest and ref is repaired by the same call again; a name that has gone to another session stays there.
func TestCreateFinishesName(t *testing.T) {
	b := setUp(t)
	id := b.newID()
	b.meet("PUT refs/sessions/n", fail)
	if _, err := b.repo.Create(ctx, session.Manifest{Session: id, Name: "n"}); !errors.Is(err, errOutcomeUnknown) {
		t.Fatalf("error %v", err)
	}
	must(b.fresh().Create(ctx, session.Manifest{Session: id, Name: "n"}))(t)
	if got := target(b, "n"); got != b.path(id).Manifest() {
		t.Errorf("ref points to %q", got)
	}
	other := b.create(session.Manifest{Session: b.newID(), Name: "n"})
	if got := must(b.fresh().Create(ctx, session.Manifest{Session: id, Name: "n"}))(t); got.Session != id {
		t.Errorf("created %+v", got)
	}
	if got := target(b, "n"); got != b.path(other.Session).Manifest() {
		t.Errorf("the name was taken back: ref points to %q", got)
	}
}

func TestCreateUnplaceable(t *testing.T) {
	b := setUp(t)
	id := must(layout.ParseSessionID("ffffffff000000000000000000000000"))(t)
	_, err := b.repo.Create(ctx, session.Manifest{Session: id})
	wantError(t, err, layout.ErrUnplaceable)
	if _, err := b.repo.Create(ctx, session.Manifest{Name: "a/b"}); err == nil {
		t.Error("a name with a slash was taken")
	}
	if got := b.store.since(0); len(got) != 0 {
		t.Errorf("requests: %q", got)
	}
}

// Of any number who create one name at once, all get sessions that exist, and the last link stands.
func TestCreateRace(t *testing.T) {
	b := setUp(t)
	var wg sync.WaitGroup
	got := make([]session.Manifest, 8)
	for i := range got {
		wg.Go(func() {
			m, err := b.fresh().Create(ctx, session.Manifest{Name: "n"})
			if err != nil {
				t.Errorf("racer %d: %v", i, err)
			}
			got[i] = m
		})
	}
	wg.Wait()
	if id := must(b.other().ResolveName(ctx, "n"))(t); !slices.ContainsFunc(got, func(m session.Manifest) bool { return m.Session == id }) {
		t.Errorf("the name is of session %s, which nobody got", id)
	}
}
