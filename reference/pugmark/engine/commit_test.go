package engine

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

func TestLosingToAnotherRun(t *testing.T) {
	r := newRig(t)
	other := r.create(session.Manifest{})
	r.handler.act = func(*call) (string, error) {
		r.commit(r.id, session.Provisional, "p")
		r.commit(r.id, session.Checkpoint, "theirs")
		return out("A", named("mine")) + out("M", named("memories/ns/x")) + out("X", `"session":"`+other.String()+`"`) + pauseFor("", ""), nil
	}
	result := r.run()
	if result.State != Lost || result.Invocations != 0 {
		t.Errorf("got %+v", result)
	}
	r.wantReport("discarded")
	if v := r.version(r.id); v != 2 || r.version(other) != 0 || r.keys("memories/") != nil {
		t.Errorf("version %d, the other session at %d, memory %q", v, r.version(other), r.keys("memories/"))
	}
}

func TestMerge(t *testing.T) {
	r := newRig(t)
	other := r.create(session.Manifest{})
	r.commit(r.id, session.Checkpoint, "a")
	r.handler.act = func(*call) (string, error) {
		r.commit(r.id, session.Provisional, "p")
		r.commit(r.id, session.Queueing, "q")
		return out("B", named("b")) + out("X", named("x"), `"session":"`+other.String()+`"`), nil
	}
	if result := r.run(); result.Version != 4 || result.Invocations != 1 {
		t.Errorf("got %+v", result)
	}
	r.wantNames(r.id, 4, "b x@")
	if d := r.snapshot(r.id, 4).Descriptors[0]; d.SequenceNumber != 4 {
		t.Errorf("number %d", d.SequenceNumber)
	}
	if d := r.snapshot(other, 1).Descriptors[0]; d.SourceVersion != 4 || d.SourceSession != r.id {
		t.Errorf("delivered %+v", d)
	}
}

// F-2: what lands while the handler stops is not slept over.
func TestMergeUnderAStop(t *testing.T) {
	for _, duration := range []string{"", "10m"} {
		r := newRig(t)
		r.commit(r.id, session.Checkpoint, "a")
		r.handler.act = func(c *call) (string, error) {
			if c.Number == 1 {
				r.commit(r.id, session.Provisional, "p")
			}
			return pauseFor("done", duration), nil
		}
		result := r.run()
		if result.Invocations != 2 || result.State != Stopped || len(r.clock.waits) > 0 {
			t.Errorf("got %+v, waits %v", result, r.clock.waits)
		}
		r.wantTold("a p+ /wake")
		r.wantNames(r.id, 3, "!stopped")
		r.wantNames(r.id, 4, "!stopped")
		r.wantReport("invoked again")
	}
}

// P4.3-1: what lands behind the stop, before the handler is invoked again, is as new as what landed before it.
func TestObjectsOnBothSidesOfAStop(t *testing.T) {
	r := newRig(t)
	path, _ := r.id.Path()
	r.commit(r.id, session.Checkpoint, "a")
	r.store.Store = &afterPut{r.store.Store, path.Snapshot(3), func() { r.commit(r.id, session.Provisional, "q") }}
	r.handler.act = func(c *call) (string, error) {
		if c.Number == 1 {
			r.commit(r.id, session.Provisional, "p")
		}
		return out("own", named("own")) + pauseFor("done", ""), nil
	}
	r.run()
	r.wantNames(r.id, 3, "own !stopped")
	r.wantTold("a p+ own q+ /wake")
	r.wantCalls(2)
}

// afterPut does something right after an object was written.
type afterPut struct {
	store.Store
	key string
	do  func()
}

func (s *afterPut) Put(ctx context.Context, key string, body io.ReadSeeker, options store.PutOptions) (string, error) {
	etag, err := s.Store.Put(ctx, key, body, options)
	if err == nil && key == s.key {
		s.do()
	}
	return etag, err
}

func TestRouting(t *testing.T) {
	r := newRig(t)
	other := r.create(session.Manifest{})
	session_ := `"session":"` + other.String() + `"`
	r.handler.emits(
		out("1", named("plain")),
		"{}", `{"x-unknown":1}`,
		out("2", named("zero"), `"session":"00000000000000000000000000000000","fork":false`),
		out("3", named("own"), `"session":"`+strings.ToUpper(r.id.String())+`"`),
		out("4", named("sent"), session_),
		out("5", named("forked"), session_, `"fork":true`),
		out("6", named("memories/ns/x"), session_, `"fork":true`),
		out("7", named("memories/x")), out("8", named("memories")), out("9", named("xmemories/ns/x")), out("10", named("Memories/ns/x")),
		`{"content-type":"text/empty"}`,
	)
	r.run()
	r.wantNames(r.id, 1, "plain zero own sent@ forked> memories/x memories xmemories/ns/x Memories/ns/x ")
	ds := r.snapshot(r.id, 1).Descriptors
	for i, d := range ds {
		if d.SequenceNumber != int64(i+1) {
			t.Errorf("entry %d has number %d", i, d.SequenceNumber)
		}
		if d.Size <= 1024 && d.Size > 0 && d.Data == nil {
			t.Errorf("%s is not inlined", d.Name)
		}
		if _, err := r.store.Store.Head(t.Context(), d.Digest.Key()); err != nil {
			t.Errorf("%s: %v", d.Name, err)
		}
	}
	if last := ds[len(ds)-1]; last.Digest != layout.DigestOf(nil) || last.ContentType != "text/empty" || last.Size != 0 {
		t.Errorf("empty body: %+v", last)
	}
	if !ds[1].TargetSession.IsZero() || !ds[2].TargetSession.IsZero() {
		t.Error("a local write kept its session field")
	}
	r.wantNames(other, 1, "sent")
	d, s := r.snapshot(other, 1).Descriptors[0], r.snapshot(other, 1)
	if s.Type != session.Provisional || d.SourceSession != r.id || d.SourceVersion != 1 || !d.TargetSession.IsZero() {
		t.Errorf("delivered as %s: %+v", s.Type, d)
	}
	if keys := r.keys("memories/"); !slices.Equal(keys, []string{"memories/ns/FFFFFFFF.json"}) {
		t.Errorf("memory %q", keys)
	}
}

func TestDescriptorsKeepTheHandlersWords(t *testing.T) {
	r := newRig(t)
	r.handler.emits(
		out("1", `"content-type":"Text/Plain; Charset=UTF-8","content-encoding":"gzip","schema-url":"https://e.com/s?v=1#x","name":"dir/b c.txt","metadata":{"Key-A":"1","key-a":"2"}`),
		out("2", `"content-type":"no type\n","content-encoding":"identity"`))
	r.run()
	ds := r.snapshot(r.id, 1).Descriptors
	want := session.Descriptor{ContentType: "Text/Plain; Charset=UTF-8", ContentEncoding: "gzip", SchemaURL: "https://e.com/s?v=1#x",
		Name: "dir/b c.txt", Metadata: map[string]string{"Key-A": "1", "key-a": "2"}, Digest: layout.DigestOf([]byte("1")), Size: 1,
		Data: []byte("1"), SequenceNumber: 1, CreatedAt: r.clock.now}
	if diff := cmp.Diff(want, ds[0]); diff != "" {
		t.Error(diff)
	}
	if ds[1].ContentType != "no type\n" || ds[1].ContentEncoding != "identity" {
		t.Errorf("got %+v", ds[1])
	}
	attrs, err := r.store.Store.Head(t.Context(), ds[1].Digest.Key())
	if err != nil || attrs.ContentType != "application/octet-stream" || attrs.ContentEncoding != "" {
		t.Errorf("the blob has %+v, %v", attrs, err)
	}
}

func TestMemory(t *testing.T) {
	r := newRig(t)
	r.commit(r.id, session.Checkpoint, "a")
	r.handler.emits(out("1", named("memories/ns/x")), out("2", named("memories/ns/x")), out("3", named("memories/user/123/y"), `"content-type":"text/x-a"`))
	r.store.requests = nil
	result := r.run()
	if result.Version != 1 || r.store.count("PUT sessions/") != 0 {
		t.Errorf("memory alone made a snapshot: %+v", result)
	}
	f, err := r.repo.ReadMemory(t.Context(), "ns", 1)
	if err != nil {
		t.Fatal(err)
	}
	record := f.Records[0]
	if len(f.Records) != 1 || record.Name != "x" || string(record.Data) != "2" || record.Commit.Session != r.id || record.Commit.Version != 1 || record.Commit.Transaction == 0 {
		t.Errorf("got %+v", f.Records)
	}

	r.handler.act = func(c *call) (string, error) {
		root := c.Inputs[0].URL
		if status, text := r.get(root + "ns/x"); status != 200 || text != "2" {
			t.Errorf("ns/x: %d %q", status, text)
		}
		resp, err := http.Get(root + "user/123/y")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if got := resp.Header.Get("Content-Type"); got != "text/x-a" {
			t.Errorf("Content-Type %q", got)
		}
		for _, key := range []string{"ns/y", "other/x", "ns/x/y", "", "x"} {
			if status, _ := r.get(root + key); status != 404 {
				t.Errorf("%q: %d", key, status)
			}
		}
		return out("4", named("memories/ns/z")) + out("5", named("b")), nil
	}
	r.run()
	if f, err = r.repo.ReadMemory(t.Context(), "ns", 2); err != nil {
		t.Fatal(err)
	}
	last := f.Records[len(f.Records)-1]
	if last.Name != "z" || last.Commit.Version != 2 || last.Commit.Transaction != r.snapshot(r.id, 2).Transaction {
		t.Errorf("got %+v", last)
	}
}

func TestNoMemoryRequestsWithoutMemory(t *testing.T) {
	r := newRig(t)
	r.handler.emits(out("A"))
	r.run()
	for _, request := range r.store.requests {
		if strings.Contains(request, "memories/") {
			t.Error(request)
		}
	}
}

func TestDeliveriesToSeveralSessions(t *testing.T) {
	r := newRig(t)
	b, c, missing := r.create(session.Manifest{}), r.create(session.Manifest{FirstSequenceNumber: 7}), r.newID()
	to := func(id layout.SessionID) string { return `"session":"` + id.String() + `"` }
	r.handler.emits(out("1", named("1"), to(b)), out("2", named("2"), to(c)), out("3", named("3"), to(b)), out("4", named("4"), to(missing)))
	result, err := r.try(r.id)
	if !errors.Is(err, session.ErrSessionNotFound) || !strings.Contains(err.Error(), missing.String()) || result.Version != 1 || result.Invocations != 1 {
		t.Errorf("got %+v, %v", result, err)
	}
	r.wantNames(r.id, 1, "1@ 2@ 3@ 4@")
	r.wantNames(b, 1, "1 3")
	r.wantNames(c, 1, "2")
	if d := r.snapshot(c, 1).Descriptors[0]; d.SequenceNumber != 7 {
		t.Errorf("number %d", d.SequenceNumber)
	}
	path, _ := missing.Path()
	if keys := r.keys(strings.TrimSuffix(path.Manifest(), "manifest.json")); keys != nil {
		t.Errorf("the missing session has keys %q", keys)
	}

	// The next run has nothing to make up for, and says once more what is missing.
	r.handler.emits()
	r.run()
	r.wantReport(missing.String())
	r.wantTold("1+ 2+ 3+ 4+ /")
	if r.version(b) != 1 || r.version(c) != 1 {
		t.Error("delivered twice")
	}
}

// P12-7: a version of the writer's that was delivered before, and lost since, is not delivered again.
func TestDeliveryOfARestoredWriter(t *testing.T) {
	r := newRig(t)
	b := r.create(session.Manifest{})
	path, _ := r.id.Path()
	r.handler.emits(out("1", named("1"), `"session":"`+b.String()+`"`))
	r.run()
	r.commit(b, session.Checkpoint, "behind")
	if err := r.store.Store.Delete(t.Context(), path.Snapshot(1), store.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	r.run()
	r.wantCalls(2)
	r.wantNames(r.id, 1, "1@")
	if v := r.version(b); v != 2 {
		t.Errorf("the target is at version %d", v)
	}
	r.run()
	r.wantNames(b, 3, "1") // another version of the writer's
}

// R-30, F-9: a child does not exist when it is written to by the invocation that forks it; once it does, it gets the
// record, behind the body that it was made with.
func TestDeliveryToAChildOfTheSameCommit(t *testing.T) {
	r := newRig(t)
	child := r.newID()
	to := `"session":"` + child.String() + `"`
	r.handler.emits(out("F", named("f"), to, `"fork":true`), out("M", named("m"), to))
	if _, err := r.try(r.id); !errors.Is(err, session.ErrSessionNotFound) {
		t.Errorf("error %v", err)
	}
	r.handler.emits(out("N", named("n")))
	r.run()
	r.wantNames(child, 1, "f")
	r.wantNames(child, 2, "m")
}

// F-9: a crash between the writer's commit and the delivery.
func TestRedelivery(t *testing.T) {
	r := newRig(t)
	b := r.create(session.Manifest{})
	path, _ := b.Path()
	r.store.fail = func(operation, key string) error {
		if operation == "PUT" && key == path.Snapshot(1) {
			return errors.New("cut off")
		}
		return nil
	}
	r.handler.emits(out("1", named("1"), `"session":"`+b.String()+`"`), pauseFor("", ""))
	if _, err := r.try(r.id); err == nil || !strings.Contains(err.Error(), "version 1 is committed, but") {
		t.Fatal(err)
	}
	r.store.fail = nil
	if result := r.run(); result.State != Stopped || result.Invocations != 0 {
		t.Errorf("got %+v", result)
	}
	r.wantNames(b, 1, "1")
	r.wantReport("undelivered")
}

func TestURI(t *testing.T) {
	large := strings.Repeat("0123456789abcdef", 3<<20/16)
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		switch req.URL.Path {
		case "/large":
			io.WriteString(w, large)
		case "/reason":
			io.WriteString(w, "fetched reason")
		case "/endless":
			io.WriteString(w, strings.Repeat("日", maxReason/3+1))
		case "/short":
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, "half")
		default:
			http.NotFound(w, req)
		}
	}))
	defer source.Close()
	uri := func(path string, fields ...string) string {
		return "{" + strings.Join(append([]string{`"uri":"` + source.URL + path + `"`}, fields...), ",") + "}"
	}

	r := newRig(t)
	r.handler.emits(uri("/large", named("a"), `"content-type":"text/x"`), out("B", named("b"), `"uri":"`+source.URL+`/404"`),
		uri("/reason", `"data":"","content-type":"`+pauseType+`"`))
	r.run()
	r.wantNames(r.id, 1, "a b !stopped")
	ds := r.snapshot(r.id, 1).Descriptors
	if ds[0].Digest != layout.DigestOf([]byte(large)) || ds[0].Size != int64(len(large)) || ds[0].Data != nil || ds[0].ContentType != "text/x" {
		t.Errorf("got %+v", ds[0])
	}
	if stored, attrs, err := store.Get(t.Context(), r.store.Store, ds[0].Digest.Key()); err != nil || string(stored) != large || attrs.ContentType != "text/x" {
		t.Errorf("stored %d bytes, %+v, %v", len(stored), attrs, err)
	}
	if string(ds[1].Data) != "B" {
		t.Errorf("got %+v", ds[1])
	}
	if c := r.control(1); c.Reason != "fetched reason" {
		t.Errorf("got %+v", c)
	}

	r = newRig(t)
	for path, want := range map[string]string{"/404": "404", "/short": "unexpected EOF"} {
		r.handler.emits(out("A"), uri(path))
		r.fails(want, "output record 2", source.URL+path)
	}
	r.handler.emits(uri("/endless", `"content-type":"`+pauseType+`"`))
	r.fails("longer than 1048576 bytes", "output record 1")
	r.config.MaxFetch = 1000
	r.handler.emits(uri("/large"))
	r.fails("too large")
}
