package engine

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/mem"
	"github.com/pugcheck/pugcheck/reference/pugmark/stream"
	"github.com/pugcheck/pugcheck/reference/pugmark/transport"
)

// rig is a bucket, a session in it, and a handler that the test writes.
type rig struct {
	*testing.T
	store   *watchedStore
	repo    *session.Repo
	id      layout.SessionID
	clock   *stoppedClock
	handler *scripted
	config  Config
	reports []string
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{T: t, store: &watchedStore{Store: mem.New()}, clock: &stoppedClock{now: time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)}}
	r.handler = &scripted{rig: r}
	r.reopen()
	r.id = r.create(session.Manifest{})
	return r
}

// reopen gives the rig a repository that remembers nothing, as a new process has.
func (r *rig) reopen() {
	r.repo = session.New(r.store, session.Options{Now: r.clock.Now, Parallel: 8})
	var mu sync.Mutex
	r.config = Config{
		Repo: r.repo, Clock: r.clock, Handlers: Handlers{Default: r.handler},
		Report: func(message string) {
			mu.Lock()
			defer mu.Unlock()
			r.reports = append(r.reports, message)
		},
	}
}

func (r *rig) create(m session.Manifest) layout.SessionID {
	r.Helper()
	m, err := r.repo.Create(r.Context(), m)
	if err != nil {
		r.Fatal(err)
	}
	return m.Session
}

// link points a session name at a session.
func (r *rig) link(name string, id layout.SessionID) {
	r.Helper()
	path, err := id.Path()
	if err != nil {
		r.Fatal(err)
	}
	if _, err := store.PutBytes(r.Context(), r.store.Store, "refs/sessions/"+name, []byte(path.Manifest()), store.PutOptions{}); err != nil {
		r.Fatal(err)
	}
}

// run runs the rig's session once, in a fresh process as it were.
func (r *rig) run() Result {
	r.Helper()
	result, err := r.try(r.id)
	if err != nil {
		r.Fatal(err)
	}
	return result
}

func (r *rig) try(id layout.SessionID) (Result, error) {
	config := r.config
	r.reopen()
	config.Repo = r.repo
	r.config = config
	return Run(r.Context(), config, id)
}

// fails runs the session and wants an error with these parts in it.
func (r *rig) fails(parts ...string) {
	r.Helper()
	before := r.version(r.id)
	_, err := r.try(r.id)
	if err == nil {
		r.Fatal("the run succeeds")
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			r.Errorf("got %q, want %q in it", err, part)
		}
	}
	if after := r.version(r.id); after != before {
		r.Errorf("the failed run has committed version %d", after)
	}
}

// commit adds a snapshot, one entry per name. A name that begins with "!" stands
// for a control message of that status, with a start-at behind a blank.
func (r *rig) commit(id layout.SessionID, kind session.SnapshotType, names ...string) uint32 {
	r.Helper()
	var descriptors []session.Descriptor
	for _, name := range names {
		body, media := []byte("body of "+name), session.Media{}
		if control, ok := strings.CutPrefix(name, "!"); ok {
			status, at, _ := strings.Cut(control, " ")
			c := map[string]string{"status": status}
			if at != "" {
				c["start-at"] = at
			}
			body, _ = json.Marshal(c)
			media.ContentType = session.ControlType
			name = ""
		}
		d, err := r.repo.PutBlob(r.Context(), body, media)
		if err != nil {
			r.Fatal(err)
		}
		d.Name = name
		descriptors = append(descriptors, d)
	}
	return r.commitDescriptors(id, kind, descriptors...)
}

func (r *rig) commitDescriptors(id layout.SessionID, kind session.SnapshotType, descriptors ...session.Descriptor) uint32 {
	r.Helper()
	c, err := r.repo.Commit(r.Context(), session.Commit{Session: id, Base: r.version(id), Type: kind, Descriptors: descriptors})
	if err != nil {
		r.Fatal(err)
	}
	return c.Version
}

// fork is a fork record for a child.
func (r *rig) fork(child layout.SessionID, name string) session.Descriptor {
	r.Helper()
	d, err := r.repo.PutBlob(r.Context(), []byte("body of "+name), session.Media{})
	if err != nil {
		r.Fatal(err)
	}
	d.Name, d.Fork, d.TargetSession = name, true, child
	return d
}

func (r *rig) newID() layout.SessionID {
	r.Helper()
	id, err := r.repo.NewSessionID()
	if err != nil {
		r.Fatal(err)
	}
	return id
}

func (r *rig) version(id layout.SessionID) uint32 {
	r.Helper()
	v, err := r.repo.Latest(r.Context(), id)
	if err != nil {
		r.Fatal(err)
	}
	return v
}

func (r *rig) snapshot(id layout.SessionID, version uint32) session.Snapshot {
	r.Helper()
	s, err := r.repo.LoadSnapshot(r.Context(), id, version)
	if err != nil {
		r.Fatal(err)
	}
	return s
}

// names are the names in a snapshot, with what is special about an entry: "!" and
// the status of a control message, ">" behind a fork, "@" behind a record for
// another session, "-" behind a tombstone.
func (r *rig) names(id layout.SessionID, version uint32) string {
	r.Helper()
	var names []string
	for _, d := range r.snapshot(id, version).Descriptors {
		name := d.Name
		switch {
		case d.IsControl():
			c, err := r.repo.ReadControl(r.Context(), d)
			if err != nil {
				r.Fatal(err)
			}
			name = "!" + c.Status
		case d.Fork:
			name += ">"
		case d.IsCrossSession():
			name += "@"
		case d.Deleted:
			name += "-"
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

func (r *rig) wantNames(id layout.SessionID, version uint32, want string) {
	r.Helper()
	if got := r.names(id, version); got != want {
		r.Errorf("session %s, version %d: got %q, want %q", id, version, got, want)
	}
}

// wantReport wants a report with this in it.
func (r *rig) wantReport(part string) {
	r.Helper()
	if !slices.ContainsFunc(r.reports, func(s string) bool { return strings.Contains(s, part) }) {
		r.Errorf("reports %q, want one with %q in it", r.reports, part)
	}
}

// keys are the keys in the bucket that begin with prefix.
func (r *rig) keys(prefix string) []string {
	r.Helper()
	var keys []string
	for key, err := range store.Keys(r.Context(), r.store.Store, prefix) {
		if err != nil {
			r.Fatal(err)
		}
		keys = append(keys, key)
	}
	return keys
}

// scripted is a handler whose calls are recorded. act returns the output stream;
// without it there is none.
type scripted struct {
	rig   *rig
	mu    sync.Mutex
	calls []*call
	act   func(*call) (string, error)
}

type call struct {
	transport.Identity
	Number int // from 1
	Inputs []stream.Input
	rig    *rig
}

func (s *scripted) Invoke(ctx context.Context, inv transport.Invocation) error {
	var text bytes.Buffer
	if err := inv.Inputs(ctx, &text); err != nil {
		return err
	}
	c := &call{Identity: inv.Identity, rig: s.rig}
	for d := json.NewDecoder(&text); ; {
		var in stream.Input
		if err := d.Decode(&in); err == io.EOF {
			break
		} else if err != nil {
			return fmt.Errorf("the input stream: %w", err)
		}
		c.Inputs = append(c.Inputs, in)
	}
	s.mu.Lock()
	s.calls = append(s.calls, c)
	c.Number = len(s.calls)
	s.mu.Unlock()
	var out string
	if s.act != nil {
		var err error
		if out, err = s.act(c); err != nil {
			return err
		}
	}
	return inv.Outputs(ctx, strings.NewReader(out))
}

// emits makes every call produce this output stream.
func (s *scripted) emits(records ...string) {
	s.act = func(*call) (string, error) { return strings.Join(records, "\n"), nil }
}

// last is the latest call.
func (s *scripted) last() *call {
	s.rig.Helper()
	if len(s.calls) == 0 {
		s.rig.Fatal("the handler was not invoked")
	}
	return s.calls[len(s.calls)-1]
}

// told is the call's stream in short: the names of the entries, those that are
// pushed with a "+", and the lifecycle event behind a "/".
func (c *call) told() string {
	var told []string
	for _, in := range c.Inputs[1 : len(c.Inputs)-1] {
		name := in.Name
		if in.Event == stream.EventPush {
			name += "+"
		} else if in.Event != "" {
			name += " has event " + in.Event
		}
		told = append(told, name)
	}
	return strings.Join(append(told, "/"+c.Inputs[len(c.Inputs)-1].Event), " ")
}

func (r *rig) wantTold(want string) {
	r.Helper()
	if got := r.handler.last().told(); got != want {
		r.Errorf("got %q, want %q", got, want)
	}
}

func (r *rig) wantCalls(n int) {
	r.Helper()
	if got := len(r.handler.calls); got != n {
		r.Errorf("the handler was invoked %d times, want %d", got, n)
	}
}

// get fetches a URL as a handler would.
func (r *rig) get(url string) (int, string) {
	r.Helper()
	resp, err := http.Get(url)
	if err != nil {
		r.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		r.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// out is an Output record with a body and further fields.
func out(body string, fields ...string) string {
	parts := append([]string{`"data":"` + base64.StdEncoding.EncodeToString([]byte(body)) + `"`}, fields...)
	return "{" + strings.Join(parts, ",") + "}"
}

func named(name string) string { return `"name":"` + name + `"` }

func pauseFor(reason, duration string) string {
	fields := []string{`"content-type":"` + pauseType + `"`}
	if duration != "" {
		fields = append(fields, `"metadata":{"duration":"`+duration+`"}`)
	}
	return out(reason, fields...)
}
