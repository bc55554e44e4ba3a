package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/bucket"
	"github.com/pugcheck/pugcheck/reference/pugmark/transport"
)

// observation is what one story, always the same, showed of a composition.
type observation struct {
	mu       sync.Mutex
	requests []request // to the store, below all that is composed

	stdin, directory string            // of the handler that is a process
	environment      map[string]string // of it

	calls   []call     // of the service
	asides  []string   // other requests that the service got
	served  []answered // what the servers answered to it
	memory  string     // root of memory
	written int        // writes that 9000 bytes of input became

	conflict  error // how the run ended that lost
	attempts  int   // calls of the service in it
	delivered bool  // whether a message reached its target past somebody else's
	printed   string
	random    io.Reader
}

type request struct {
	op, key string
	body    []byte
	options store.PutOptions
	max     int
}

type call struct {
	head  http.Header
	query string
	raw   string
}

type answered struct {
	url    string
	header http.Header
	length int64
	body   []byte
}

// gzipped is a body that is compressed and does not say so.
var gzipped = func() []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, strings.Repeat("plain ", 20))
	_ = w.Close()
	return b.Bytes()
}()

// watch records the requests that reach the store.
type watch struct {
	store.Store
	seen   *observation
	before func(key string) // a Put
}

func (w *watch) add(r request) {
	w.seen.mu.Lock()
	defer w.seen.mu.Unlock()
	w.seen.requests = append(w.seen.requests, r)
}

func (w *watch) Open(ctx context.Context, key string) (io.ReadCloser, store.Attributes, error) {
	w.add(request{op: "open", key: key})
	return w.Store.Open(ctx, key)
}

func (w *watch) Head(ctx context.Context, key string) (store.Attributes, error) {
	w.add(request{op: "head", key: key})
	return w.Store.Head(ctx, key)
}

func (w *watch) Put(ctx context.Context, key string, body io.ReadSeeker, options store.PutOptions) (string, error) {
	if w.before != nil {
		w.before(key)
	}
	whole, err := io.ReadAll(body)
	if err != nil {
		return "", err
	}
	w.add(request{op: "put", key: key, body: whole, options: options})
	return w.Store.Put(ctx, key, bytes.NewReader(whole), options)
}

func (w *watch) List(ctx context.Context, prefix string, o store.ListOptions) (store.Page, error) {
	w.add(request{op: "list", key: prefix, max: o.Max})
	return w.Store.List(ctx, prefix, o)
}

// tell has the composition create a session, be given objects, run it with a
// handler that is a process and with one that is a service, delete a name, lose to
// another run, and deliver a message to a place that somebody else takes.
func tell(t *testing.T, f Fault) *observation {
	dir, o := t.TempDir(), &observation{environment: map[string]string{}}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	newID := func() string {
		id, err := layout.NewSessionID(time.Now(), rand.Reader)
		must(err)
		return id.String()
	}
	s, target := newID(), newID()
	t.Setenv("TRACEPARENT", "00-"+s+"-00000000000000a1-01")
	t.Setenv("TRACESTATE", "vendor=abc")
	file := func(name string, body []byte) string {
		path := filepath.Join(t.TempDir(), name)
		must(os.WriteFile(path, body, 0o600))
		return path
	}
	stdout := os.Stdout
	kept, err := os.Create(file("stdout", nil))
	must(err)
	os.Stdout = kept
	defer func() { os.Stdout = stdout }()

	// Somebody else is the reference as it is.
	other := func(command string, args ...string) {
		was := running
		must(runCommand(Fault{}, command, append([]string{"--bucket", dir}, args...)))
		running = was
	}
	landed := false
	seam := &watch{seen: o, before: func(key string) {
		if strings.HasPrefix(key, snapshotsOf(target)) && !landed {
			landed = true
			other("push", "--session", target, "--type", "provisional", file("first", []byte("first")))
		}
	}}
	outer := f.Store
	f.Store = func(next store.Store) store.Store {
		seam.Store = next
		if outer != nil {
			return outer(seam)
		}
		return seam
	}
	command := func(name string, args ...string) {
		running = ""
		must(runCommand(f, name, append([]string{"--bucket", dir}, args...)))
	}
	run := func(handler ...string) error {
		return runSession(f, append([]string{"--bucket", dir, "--session", s, "--"}, handler...))
	}

	other("create", "--session", target)
	command("create", "--session", s, "--name", "named")
	must(runCommand(variants()["bodies-in-blobs-only"], "push", []string{"--bucket", dir, "--session", s, "--type", "provisional", "--name", "small", file("small", []byte("small"))}))
	command("push", "--session", s, "--type", "provisional", "--name", "packed", file("packed", gzipped))

	here := t.TempDir()
	must(run("sh", "-c", `cd "$0" 2>/dev/null; pwd >"$1/pwd"; env >"$1/env"; cat >"$1/stdin"; cat "$1/out"`, "/nowhere", withAnswer(t, here)))
	o.stdin, o.directory = text(t, here+"/stdin"), strings.TrimSpace(text(t, here+"/pwd"))
	for line := range strings.SplitSeq(text(t, here+"/env"), "\n") {
		name, value, _ := strings.Cut(line, "=")
		o.environment[name] = value
	}

	command("push", "--session", s, "--type", "provisional", "--name", "packed again", file("again", gzipped))
	answers := []string{`{"name":"served","data":"c2VydmVk"}`}
	meanwhile := func() {}
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			o.asides = append(o.asides, r.Method+" "+r.URL.Path)
			w.WriteHeader(http.StatusNotFound)
			return
		}
		raw, _ := io.ReadAll(r.Body)
		o.calls = append(o.calls, call{r.Header, r.URL.RawQuery, string(raw)})
		if len(o.calls) == 1 {
			o.fetch(raw)
		}
		meanwhile()
		if len(answers) > 0 {
			_, _ = io.WriteString(w, answers[0])
			answers = answers[1:]
		}
	}))
	defer service.Close()
	must(run(service.URL + "/handler"))
	command("delete", "--session", s, "--name", "small")

	calls := len(o.calls)
	meanwhile = func() {
		meanwhile = func() {}
		checkpoint(t, dir, s)
	}
	answers = []string{`{"name":"lost","data":"bG9zdA=="}`}
	o.conflict = run(service.URL + "/handler")
	o.attempts = len(o.calls) - calls

	answers = []string{fmt.Sprintf(`{"name":"message","data":"bWVzc2FnZQ==","session":%q}`, target)}
	must(run(service.URL + "/handler"))
	bucket, err := bucket.Open(t.Context(), dir)
	must(err)
	for version := range 9 {
		raw, err := fetch(t.Context(), bucket, snapshotsOf(target)+layout.VersionFile(uint32(version+1)))
		for _, d := range (&write{body: raw}).descriptors() {
			o.delivered = o.delivered || err == nil && d["name"] == "message"
		}
	}

	var options session.Options
	if f.Identifiers != nil {
		f.Identifiers(&options)
	}
	o.random = options.Random
	o.written = writesOf(t, f)
	o.printed = text(t, kept.Name())
	return o
}

// withAnswer puts what the process is going to say beside where it writes.
func withAnswer(t *testing.T, dir string) string {
	out := `{"name":"made","data":"bWFkZQ=="}{"name":"memories/ns/m","data":"bQ=="}{"name":"child","data":"Y2hpbGQ=","fork":true}` +
		`{"content-type":"application/vnd.pugmark.pause+text","metadata":{"duration":"5m"}}`
	if err := os.WriteFile(dir+"/out", []byte(out), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func text(t *testing.T, path string) string {
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// fetch gets all that a stream of Inputs leads to, and an object of memory.
func (o *observation) fetch(raw []byte) {
	urls := []string{}
	for _, in := range decode(raw) {
		if in.Event == "memory" {
			o.memory = in.URL
			urls = append(urls, in.URL+"ns/m")
		} else if in.URL != "" {
			urls = append(urls, in.URL)
		}
	}
	client := &http.Client{Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true}}
	for _, url := range urls {
		if r, err := client.Get(url); err == nil {
			body, _ := io.ReadAll(r.Body)
			r.Body.Close()
			o.served = append(o.served, answered{url, r.Header, r.ContentLength, body})
		}
	}
}

// checkpoint is the commit of another run.
func checkpoint(t *testing.T, dir, text string) {
	id, _ := layout.ParseSessionID(text)
	b, err := bucket.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	repo := session.New(b, session.Options{})
	latest, err := repo.Latest(t.Context(), id)
	if err == nil {
		_, err = repo.Commit(t.Context(), session.Commit{Session: id, Base: latest, Type: session.Checkpoint, Descriptors: []session.Descriptor{session.Describe(nil)}})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// writesOf counts the writes that a stream of 9000 bytes, written at once, arrives
// in.
func writesOf(t *testing.T, f Fault) int {
	n := 0
	handler := transport.Handler(handlerFunc(func(ctx context.Context, inv transport.Invocation) error {
		return inv.Inputs(ctx, writerFunc(func(p []byte) (int, error) {
			n++
			return len(p), nil
		}))
	}))
	if f.Handler != nil {
		handler = f.Handler(handler)
	}
	err := handler.Invoke(t.Context(), transport.Invocation{Inputs: func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, strings.Repeat("{}\n", 3000))
		return err
	}})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// sent are the requests of a kind.
func (o *observation) sent(op, part string) []request {
	var out []request
	for _, r := range o.requests {
		if r.op == op && strings.Contains(r.key, part) {
			out = append(out, r)
		}
	}
	return out
}

// descriptors are all that was written into snapshots.
func (o *observation) descriptors() []map[string]any {
	var out []map[string]any
	for _, r := range o.sent("put", "/snapshots/") {
		out = append(out, (&write{body: r.body}).descriptors()...)
	}
	return out
}

// tombstone is the one that was written.
func (o *observation) tombstone() map[string]any {
	for _, d := range o.descriptors() {
		if d["deleted"] == true {
			return d
		}
	}
	return nil
}

// manifest is the one that was written.
func (o *observation) manifest() map[string]any {
	for _, r := range o.sent("put", "/manifest.json") {
		return object(r.body)
	}
	return nil
}

// numbered is the sequence number that the first session begins with.
func (o *observation) numbered() json.Number {
	n, _ := o.manifest()["first-sequence-number"].(json.Number)
	return n
}
