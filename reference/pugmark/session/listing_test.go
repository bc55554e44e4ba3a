package session_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// layOut puts a session's keys into the bucket: its manifest, unless it is to have none, and so many snapshots.
func (b *bench) layOut(id string, manifest bool, snapshots uint32) layout.SessionID {
	b.t.Helper()
	session := must(layout.ParseSessionID(id))(b.t)
	path := must(session.Path())(b.t)
	if manifest {
		b.putKey(path.Manifest())
	}
	for v := range snapshots {
		b.putKey(path.Snapshot(v + 1))
	}
	return session
}

func (b *bench) putKey(key string) {
	b.t.Helper()
	must(store.PutBytes(ctx, b.store.Store, key, nil, store.PutOptions{}))(b.t)
}

func (b *bench) sessions() []session.Listed {
	b.t.Helper()
	var all []session.Listed
	for s, err := range b.repo.Sessions(ctx) {
		if err != nil {
			b.t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

func TestSessions(t *testing.T) {
	b := setUp(t)
	if got := b.sessions(); len(got) != 0 {
		t.Errorf("an empty bucket has %v", got)
	}
	want := []session.Listed{
		{b.layOut("00073ea7000000000000000000000001", true, 0), 0},
		{b.layOut("00073ea7000000000000000000000002", true, 3), 3},
		{b.layOut("00073ea7000000000000000000000004", true, 4500), 4500},
		{b.layOut("00073ea7000000000000000000000005", true, 0), 0},
		{b.layOut("00073ea8000000000000000000000001", true, 1), 1},
		{b.layOut("04320f17ffffffffffffffffffffffff", true, 0), 0},
	}
	b.layOut("00073ea7000000000000000000000003", false, 2) // no manifest, no session
	for _, key := range []string{
		"objects/sha256:x", "sessions/manifest.json", "sessions/year=2024/month=01/day=01/hour=00/notes.txt",
		string(must(want[0].Session.Path())(t)) + "/manifest.json.bak",
		string(must(want[0].Session.Path())(t)) + "/snapshots/README",
		string(must(want[1].Session.Path())(t)) + "/snapshots/FFFFFFFD.json.tmp",
		"sessions/year=2024/month=13/day=01/hour=00/000000000000000000000001/manifest.json",
	} {
		b.putKey(key)
	}
	if diff := cmp.Diff(want, b.sessions()); diff != "" {
		t.Error(diff)
	}
	for _, s := range want {
		for range b.repo.Sessions(ctx) {
			break // who stops early stops the listing
		}
		if s.Version > 0 && must(b.repo.Latest(ctx, s.Session))(t) != s.Version {
			t.Errorf("session %s has another latest version than its listing says", s.Session)
		}
	}
}

// Old snapshots of a long session are jumped over, and nothing but listings is asked for.
func TestSessionsCost(t *testing.T) {
	b := setUp(t)
	b.layOut("00073ea7000000000000000000000001", true, 4500)
	b.layOut("00073ea7000000000000000000000002", true, 4500)
	n := len(b.store.since(0))
	b.sessions()
	if got, want := b.store.since(n), slices.Repeat([]string{"LIST sessions/"}, 3); !slices.Equal(got, want) {
		t.Errorf("requests: %q", got)
	}
	b.meet("LIST sessions/", fail)
	for s, err := range b.repo.Sessions(ctx) {
		if !errors.Is(err, errOutcomeUnknown) {
			t.Errorf("got %v, %v", s, err)
		}
	}
}

func TestNames(t *testing.T) {
	b := setUp(t)
	first := b.create(session.Manifest{Name: "b"})
	renamed := b.create(session.Manifest{Name: "old"})
	b.create(session.Manifest{})
	must(b.other().Rename(ctx, "old", "new"))(t)
	path := must(first.Session.Path())(t)
	for name, target := range map[string]string{"a": path.Manifest() + "\n", "stale": "sessions/x", "of a kind/x": path.Manifest()} {
		must(store.PutBytes(ctx, b.store.Store, "refs/sessions/"+name, []byte(target), store.PutOptions{}))(t)
	}
	want := map[layout.SessionID][]string{first.Session: {"a", "b"}, renamed.Session: {"new"}}
	if diff := cmp.Diff(want, must(b.repo.Names(ctx))(t)); diff != "" {
		t.Error(diff)
	}
	b.meet("GET refs/sessions/a", fail)
	if _, err := b.repo.Names(ctx); !errors.Is(err, errOutcomeUnknown) {
		t.Errorf("error %v", err)
	}
}
