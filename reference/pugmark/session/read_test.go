package session_test

import (
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// staleList gives every listing but its first key, as if that had not shown up yet.
type staleList struct{ store.Store }

func (s staleList) List(ctx context.Context, prefix string, options store.ListOptions) (store.Page, error) {
	page, err := s.Store.List(ctx, prefix, store.ListOptions{Token: options.Token, Delimiter: options.Delimiter})
	if err == nil && options.Token == "" && len(page.Keys) > 0 {
		page.Keys = page.Keys[1:]
	}
	if options.Max > 0 && len(page.Keys) > options.Max {
		page.Keys = page.Keys[:options.Max]
	}
	return page, err
}

// S6.3-1 to S6.3-4.
func TestLatest(t *testing.T) {
	b := setUp(t)
	_, err := b.repo.Latest(ctx, b.newID())
	wantError(t, err, session.ErrSessionNotFound)
	id := b.create(session.Manifest{}).Session
	if v := must(b.repo.Latest(ctx, id))(t); v != 0 {
		t.Errorf("version %d, want 0", v)
	}
	for i := range 3 {
		b.commit(id, session.Checkpoint, fmt.Sprint(i))
	}
	n := len(b.store.since(0))
	if v := must(b.repo.Latest(ctx, id))(t); v != 3 {
		t.Errorf("version %d, want 3", v)
	}
	if got := b.store.since(n); !slices.Equal(got, []string{"LIST " + b.path(id).Snapshots()}) {
		t.Errorf("requests: %q", got)
	}
}

// Keys that are no snapshot are passed over, wherever they sort.
func TestLatestPassesOverForeignKeys(t *testing.T) {
	for _, foreign := range []string{"", "00000000.json", "FFFFFFFE.json.bak", "notes.txt", "0/FFFFFFF0.json", "fffffff0.json"} {
		b := setUp(t)
		id := b.create(session.Manifest{}).Session
		b.write(b.path(id).Snapshots()+foreign, nil, store.Attributes{})
		if v := must(b.repo.Latest(ctx, id))(t); v != 0 {
			t.Errorf("%q: version %d, want 0", foreign, v)
		}
		b.commit(id, session.Checkpoint, "a")
		b.commit(id, session.Checkpoint, "b")
		if v := must(b.repo.Latest(ctx, id))(t); v != 2 {
			t.Errorf("%q: version %d, want 2", foreign, v)
		}
	}
}

// S6.3-5, S6.3-6, R-21.
func TestSinceCheckpoint(t *testing.T) {
	b := setUp(t)
	_, err := b.repo.LatestCheckpoint(ctx, b.newID())
	wantError(t, err, session.ErrSessionNotFound)
	id := b.create(session.Manifest{}).Session
	_, err = b.repo.LatestCheckpoint(ctx, id)
	wantError(t, err, session.ErrNoCheckpoint)
	b.commit(id, session.Provisional, "p")
	_, err = b.repo.LatestCheckpoint(ctx, id)
	wantError(t, err, session.ErrNoCheckpoint)
	b.commit(id, session.Checkpoint, "a")
	b.commit(id, session.Checkpoint, "b")
	const above = 70
	for i := range above {
		b.commit(id, session.Queueing, fmt.Sprint(i))
	}
	if v := must(b.repo.LatestCheckpoint(ctx, id))(t); v != 3 {
		t.Errorf("latest checkpoint %d, want 3", v)
	}
	tail := must(b.repo.SinceCheckpoint(ctx, id, 3+above))(t)
	if len(tail) != 1+above || tail[0].Version != 3 || tail[above].Version != 3+above {
		t.Errorf("tail of %d snapshots, from %d", len(tail), tail[0].Version)
	}
	if tail := must(b.repo.SinceCheckpoint(ctx, id, 1))(t); len(tail) != 1 || tail[0].Version != 1 {
		t.Errorf("tail at version 1: %+v", tail)
	}
	if tail := must(b.repo.SinceCheckpoint(ctx, id, 0))(t); len(tail) != 0 {
		t.Errorf("tail at version 0: %+v", tail)
	}
}

// Open asks for manifest and latest version and for nothing else.
func TestOpen(t *testing.T) {
	b := setUp(t)
	_, _, err := b.repo.Open(ctx, b.newID())
	wantError(t, err, session.ErrSessionNotFound)
	m := b.create(session.Manifest{Agent: "a"})
	b.commit(m.Session, session.Checkpoint, "x")
	n := len(b.store.since(0))
	got, version, err := b.repo.Open(ctx, m.Session)
	if err != nil || got.Agent != "a" || version != 1 {
		t.Errorf("%+v at %d, %v", got, version, err)
	}
	requests := b.store.since(n)
	slices.Sort(requests)
	if !slices.Equal(requests, []string{"GET " + b.path(m.Session).Manifest(), "LIST " + b.path(m.Session).Snapshots()}) {
		t.Errorf("requests: %q", requests)
	}
	b.write(b.path(m.Session).Manifest(), []byte(`{"session":"`+b.newID().String()+`"}`), store.Attributes{})
	if _, _, err := b.fresh().Open(ctx, m.Session); err == nil || !strings.Contains(err.Error(), m.Session.String()) {
		t.Errorf("a manifest of another session: error %v", err)
	}
}

// S6.5: three generations, each cut at its pointer, whatever the types of the snapshots.
func TestLog(t *testing.T) {
	b := setUp(t)
	root := b.create(session.Manifest{}).Session
	b.commit(root, session.Checkpoint, "r1")
	b.commit(root, session.Provisional, "r2", "r3")
	b.commit(root, session.Checkpoint, "hidden")
	child := b.create(session.Manifest{Parent: session.Pointer{Session: root, Version: 2}, FirstSequenceNumber: 4}).Session
	b.commit(child, session.Queueing, "c1")
	grandchild := b.create(session.Manifest{Parent: session.Pointer{Session: child, Version: 1}, FirstSequenceNumber: 5}).Session
	b.commit(child, session.Checkpoint, "hidden")
	b.wantLog(grandchild, "1:r1", "2:r2", "3:r3", "4:c1")
	b.commit(grandchild, session.Checkpoint, "g1")
	b.wantLog(grandchild, "1:r1", "2:r2", "3:r3", "4:c1", "5:g1")

	infant := b.create(session.Manifest{Parent: session.Pointer{Session: child, Version: 0}}).Session
	b.wantLog(infant, "1:r1", "2:r2", "3:r3")
}

func TestLogFaults(t *testing.T) {
	b := setUp(t)
	collect := func(id layout.SessionID, version uint32) error {
		for _, err := range b.fresh().Log(ctx, id, version) {
			if err != nil {
				return err
			}
		}
		return nil
	}
	a, c := b.newID(), b.newID()
	b.create(session.Manifest{Session: a, Parent: session.Pointer{Session: c, Version: 1}})
	wantError(t, collect(a, 0), session.ErrSessionNotFound)
	b.create(session.Manifest{Session: c, Parent: session.Pointer{Session: a, Version: 1}})
	if err := collect(a, 0); err == nil || !strings.Contains(err.Error(), "comes back") {
		t.Errorf("a circle of parents: error %v", err)
	}
	id := b.create(session.Manifest{}).Session
	for i := range 40 {
		b.commit(id, session.Checkpoint, fmt.Sprint(i))
	}
	if err := b.store.Store.Delete(ctx, b.path(id).Snapshot(7), store.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	err := collect(id, 40)
	wantError(t, err, session.ErrSnapshotNotFound)
	if !strings.Contains(err.Error(), "version 7") {
		t.Errorf("error %v does not name the version", err)
	}
	b.write(b.path(id).Snapshot(7), []byte(`[{"digest":"sha256:xyz"}]`), store.Attributes{})
	if err := collect(id, 40); err == nil || !strings.Contains(err.Error(), "snapshot 7 of session "+id.String()) || !strings.Contains(err.Error(), "/0/digest") {
		t.Errorf("error %v does not name the place", err)
	}
}

// gate holds reads of snapshots, so that a test can let them through in an order of its own.
type gate struct {
	store.Store
	held    chan string
	release map[string]chan struct{}
	most    atomic.Int64
	now     atomic.Int64
}

func (g *gate) Open(ctx context.Context, key string) (io.ReadCloser, store.Attributes, error) {
	if release, ok := g.release[key]; ok {
		n := g.now.Add(1)
		defer g.now.Add(-1)
		for {
			most := g.most.Load()
			if n <= most || g.most.CompareAndSwap(most, n) {
				break
			}
		}
		g.held <- key
		select {
		case <-release:
		case <-ctx.Done():
			return nil, store.Attributes{}, ctx.Err()
		}
	}
	return g.Store.Open(ctx, key)
}

// Entries are given in order while later snapshots are still being fetched, in parallel and within the limit.
func TestLogStreams(t *testing.T) {
	b := setUp(t)
	id := b.create(session.Manifest{}).Session
	const versions, parallel = 12, 4
	g := &gate{Store: b.store.Store, held: make(chan string, versions), release: map[string]chan struct{}{}}
	keys := map[int]string{}
	for v := 1; v <= versions; v++ {
		b.commit(id, session.Checkpoint, fmt.Sprint(v))
		keys[v] = b.path(id).Snapshot(uint32(v))
		g.release[keys[v]] = make(chan struct{})
	}
	repo := session.New(g, session.Options{Parallel: parallel})
	next, stop := iter.Pull2(repo.Log(ctx, id, versions))
	defer stop()
	go func() {
		// The first four are asked for; they are answered in reverse, and nothing else is.
		for range parallel {
			<-g.held
		}
		for v := parallel; v >= 1; v-- {
			close(g.release[keys[v]])
		}
	}()
	for v := 1; v <= parallel; v++ {
		e, err, ok := next()
		if !ok || err != nil || string(e.Descriptor.Data) != fmt.Sprint(v) {
			t.Fatalf("entry %d: %q, %v", v, e.Descriptor.Data, err)
		}
	}
	stop() // with reads in flight
	if n := g.most.Load(); n != parallel {
		t.Errorf("%d reads at once, want %d", n, parallel)
	}
}

func TestFilters(t *testing.T) {
	b := setUp(t)
	reader, parent := b.newID(), b.newID()
	fork := session.Descriptor{Fork: true, TargetSession: b.newID()}
	control := session.Descriptor{ContentType: session.ControlType}
	for _, c := range []struct {
		name                      string
		e                         session.Entry
		noControl, noAncestor, ok bool
	}{
		{"plain", session.Entry{Session: reader}, true, true, true},
		{"control", session.Entry{Session: reader, Descriptor: control}, false, true, false},
		{"ancestor's control", session.Entry{Session: parent, Descriptor: control}, false, true, false},
		{"own fork", session.Entry{Session: reader, Descriptor: fork}, true, true, false},
		{"sibling's fork", session.Entry{Session: parent, Descriptor: fork}, true, false, false},
		{"cross-session", session.Entry{Session: reader, Descriptor: session.Descriptor{TargetSession: parent}}, true, true, true},
		{"tombstone", session.Entry{Session: reader, Descriptor: session.Tombstone("x")}, true, true, true},
	} {
		if session.NoControl(reader, c.e) != c.noControl || session.NoAncestorForks(reader, c.e) != c.noAncestor || session.VisibleToHandler(reader, c.e) != c.ok {
			t.Errorf("%s is filtered wrongly", c.name)
		}
	}
}

// A cache too small for a session makes it slower, not wrong.
func TestSmallCache(t *testing.T) {
	b := setUp(t)
	id := b.create(session.Manifest{}).Session
	var want []string
	for v := 1; v <= 30; v++ {
		body := strings.Repeat("x", v*30)
		b.commit(id, session.Checkpoint, body)
		want = append(want, fmt.Sprintf("%d:%s", v, body))
	}
	repo := session.New(b.store, session.Options{CacheBytes: 5000})
	for range 3 {
		var got []string
		for e, err := range repo.Log(ctx, id, 30) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%d:%s", e.Descriptor.SequenceNumber, e.Descriptor.Data))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("log %q, want %q", got, want)
		}
	}
}
