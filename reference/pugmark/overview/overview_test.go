package overview_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pugcheck/pugcheck/reference/pugmark/engine"
	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/overview"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/mem"
)

var now = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

// bench is a bucket whose sessions are called by one letter.
type bench struct {
	*testing.T
	store store.Store
	repo  *session.Repo
}

func newBench(t *testing.T) *bench {
	b := &bench{T: t, store: mem.New()}
	b.repo = session.New(b.store, session.Options{Now: func() time.Time { return now }})
	return b
}

func idOf(letter string) layout.SessionID {
	id := layout.SessionID{0, 7, 0x89, 0}
	id[15] = letter[0]
	return id
}

// create makes a session, below a parent at version 1 or, as in "a2", another one.
func (b *bench) create(letter, parent string) {
	b.Helper()
	m := session.Manifest{Session: idOf(letter), Agent: "agent of " + letter}
	if parent != "" {
		m.Parent = session.Pointer{Session: idOf(parent), Version: uint32(parent[1] - '0')}
	}
	if _, err := b.repo.Create(b.Context(), m); err != nil {
		b.Fatal(err)
	}
	if parent != "" {
		b.commit(letter, session.Checkpoint, entry)
	}
}

func (b *bench) commit(letter string, kind session.SnapshotType, descriptors ...session.Descriptor) {
	b.Helper()
	latest, err := b.repo.Latest(b.Context(), idOf(letter))
	if err == nil {
		_, err = b.repo.Commit(b.Context(), session.Commit{Session: idOf(letter), Base: latest, Type: kind, Descriptors: descriptors})
	}
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) control(c session.Control) session.Descriptor {
	b.Helper()
	body, err := c.Encode()
	if err != nil {
		b.Fatal(err)
	}
	d, err := b.repo.PutBlob(b.Context(), body, session.Media{ContentType: session.ControlType})
	if err != nil {
		b.Fatal(err)
	}
	return d
}

func (b *bench) put(key, body string) {
	b.Helper()
	if _, err := store.PutBytes(b.Context(), b.store, key, []byte(body), store.PutOptions{}); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) path(letter string) layout.SessionPath {
	b.Helper()
	path, err := idOf(letter).Path()
	if err != nil {
		b.Fatal(err)
	}
	return path
}

var entry = session.Describe([]byte("x"))

func fork(letter string) session.Descriptor {
	d := entry
	d.Fork, d.TargetSession = true, idOf(letter)
	return d
}

func TestSessions(t *testing.T) {
	b := newBench(t)
	b.create("a", "")
	b.create("b", "a1")
	b.commit("b", session.Checkpoint, entry, b.control(session.Control{Status: "stopped", Reason: "tired", StartAt: now.Add(time.Hour)}))
	b.create("c", "")
	b.commit("c", session.Checkpoint, entry)
	b.put(b.path("c").Snapshot(2), "no JSON")
	b.put(b.path("d").Manifest(), "no JSON")
	b.create("e", "")
	b.commit("e", session.Checkpoint, entry)
	b.commit("e", session.Provisional, entry)
	b.put("refs/sessions/main", b.path("b").Manifest())
	b.put("refs/sessions/trunk", b.path("b").Manifest())

	var got []overview.Session
	for s, err := range overview.Sessions(t.Context(), session.New(b.store, session.Options{}), now) {
		if err != nil {
			t.Fatal(err)
		}
		if s.Version > 0 && s.State != overview.Unreadable && s.Modified.IsZero() {
			t.Errorf("session %s has no time of modification", s.Session)
		}
		s.Modified = time.Time{}
		if s.State == overview.Unreadable && !strings.Contains(s.Error, s.Session.String()) {
			t.Errorf("error %q does not name the session", s.Error)
		}
		s.Error = ""
		got = append(got, s)
	}
	want := []overview.Session{
		{Session: idOf("a"), State: engine.New, Due: true, Agent: "agent of a"},
		{
			Session: idOf("b"), Version: 2, State: engine.Sleeping, StartAt: now.Add(time.Hour), Reason: "tired", Entries: 3,
			Names: []string{"main", "trunk"}, Agent: "agent of b", Parent: session.Pointer{Session: idOf("a"), Version: 1},
		},
		{Session: idOf("c"), Version: 2, State: overview.Unreadable, Agent: "agent of c"},
		{Session: idOf("d"), State: overview.Unreadable},
		{Session: idOf("e"), Version: 2, State: engine.Due, Due: true, Entries: 2, Agent: "agent of e"},
	}
	// Forks of the nodes of a tree are the only field that is not exported.
	ignoreForks := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".forks" }, cmp.Ignore())
	if diff := cmp.Diff(want, got, ignoreForks); diff != "" {
		t.Error(diff)
	}
}

// Results come while those behind them are still awaited, and an interrupted look ends with the reason.
func TestSessionsStream(t *testing.T) {
	b := newBench(t)
	for letter := 'a'; letter <= 'z'; letter++ {
		b.create(string(letter), "")
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	reason := errors.New("enough")
	held := &holding{Store: b.store, key: b.path("c").Manifest(), release: ctx.Done()}
	n := 0
	for s, err := range overview.Sessions(ctx, session.New(held, session.Options{}), now) {
		if err != nil {
			if !errors.Is(err, reason) || n != 2 {
				t.Errorf("%v after %d sessions", err, n)
			}
			return
		}
		if n++; n == 2 {
			cancel(reason)
		}
		if n > 2 {
			t.Fatalf("%+v comes although the look was interrupted", s)
		}
	}
	t.Error("no error")
}

// holding keeps readers of one object waiting.
type holding struct {
	store.Store
	key     string
	release <-chan struct{}
}

func (h *holding) Open(ctx context.Context, key string) (io.ReadCloser, store.Attributes, error) {
	if key == h.key {
		<-h.release
	}
	return h.Store.Open(ctx, key)
}

// draw shows nodes by letter and fork version, "!" for a remark, and their children in brackets.
func draw(nodes []*overview.Node) string {
	var parts []string
	for _, n := range nodes {
		id := n.Session.Session
		part := fmt.Sprintf("%c", id[15])
		if n.Parent.Version > 0 {
			part += fmt.Sprint(n.Parent.Version)
		}
		if n.State == engine.Pending || n.State == overview.Unreadable {
			part += " " + string(n.State)
		}
		if n.Remark != "" {
			part += "!"
		}
		if len(n.Children) > 0 {
			part += "(" + draw(n.Children) + ")"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

func TestTree(t *testing.T) {
	for _, test := range []struct {
		name, want string
		sessions   [][2]string
		forks      string // of session a
	}{
		{"empty", "", nil, ""},
		{"roots", "a, b, c", [][2]string{{"b", ""}, {"a", ""}, {"c", ""}}, ""},
		{"generations", "a(c1(d3), b2), z", [][2]string{{"a", ""}, {"b", "a2"}, {"c", "a1"}, {"d", "c3"}, {"z", ""}}, ""},
		{"pending", "a(c1, b1 pending, d1 pending)", [][2]string{{"a", ""}, {"c", "a1"}}, "bcd"},
		{"pending itself", "a", [][2]string{{"a", ""}}, "a"},
		{"missing parent", "a, c1!(d1)", [][2]string{{"a", ""}, {"c", "b1"}, {"d", "c1"}}, ""},
		{"circle", "a, b3!(c1(d2(e1)))", [][2]string{{"a", ""}, {"b", "d3"}, {"c", "b1"}, {"d", "c2"}, {"e", "d1"}}, ""},
		{"circle with a tail before it", "c1!(b1, d2)", [][2]string{{"b", "c1"}, {"c", "c1"}, {"d", "c2"}}, ""},
		{"its own parent", "b1!", [][2]string{{"b", "b1"}}, ""},
		{"two circles", "a1!(b1), c1!(d1)", [][2]string{{"a", "b1"}, {"b", "a1"}, {"c", "d1"}, {"d", "c1"}}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t)
			for _, s := range test.sessions {
				b.create(s[0], s[1])
			}
			var records []session.Descriptor
			for _, child := range test.forks {
				records = append(records, fork(string(child)))
			}
			if len(records) > 0 {
				b.commit("a", session.Checkpoint, records...)
				b.commit("a", session.Provisional, entry)
			}
			roots, err := overview.Tree(t.Context(), b.repo, now, layout.SessionID{})
			if err != nil || draw(roots) != test.want {
				t.Errorf("got %s, %v; want %s", draw(roots), err, test.want)
			}
		})
	}
}

func TestTreeBelow(t *testing.T) {
	b := newBench(t)
	for _, s := range [][2]string{{"a", ""}, {"b", "a2"}, {"c", "b1"}, {"d", "a3"}} {
		b.create(s[0], s[1])
	}
	b.put(b.path("e").Manifest(), "no JSON")
	b.put("refs/sessions/main", b.path("c").Manifest())
	roots, err := overview.Tree(t.Context(), b.repo, now, idOf("b"))
	if err != nil || draw(roots) != "b2(c1)" {
		t.Fatalf("got %s, %v", draw(roots), err)
	}
	if c := roots[0].Children[0]; c.State != engine.New || c.Agent != "agent of c" || len(c.Names) != 1 {
		t.Errorf("got %+v", c)
	}
	if _, err := overview.Tree(t.Context(), b.repo, now, idOf("x")); !errors.Is(err, session.ErrSessionNotFound) {
		t.Errorf("error %v", err)
	}
	if roots, err := overview.Tree(t.Context(), b.repo, now, layout.SessionID{}); err != nil || draw(roots) != "a(b2(c1), d3), e unreadable" {
		t.Errorf("got %s, %v", draw(roots), err)
	}
}
