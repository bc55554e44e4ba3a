package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
)

// requestsOf gives the requests that do makes, sorted and with short names: S is
// the rig's session, others are given, and a number is a snapshot's version.
func (r *rig) requestsOf(others map[string]layout.SessionID, do func()) []string {
	r.Helper()
	before := len(r.store.requests)
	do()
	var short []string
	for _, request := range r.store.requests[before:] {
		operation, key, _ := strings.Cut(request, " ")
		short = append(short, operation+" "+r.shortKey(key, others))
	}
	slices.Sort(short)
	return short
}

func (r *rig) shortKey(key string, others map[string]layout.SessionID) string {
	r.Helper()
	if strings.HasPrefix(key, "objects/") {
		return "blob"
	}
	named := map[string]layout.SessionID{"S": r.id}
	for name, id := range others {
		named[name] = id
	}
	for name, id := range named {
		path, err := id.Path()
		if err != nil {
			r.Fatal(err)
		}
		if key == path.Manifest() {
			return name + " manifest"
		}
		if file, ok := strings.CutPrefix(key, path.Snapshots()); ok {
			if version, err := layout.ParseVersionFile(file); err == nil {
				return fmt.Sprint(name, " ", version)
			}
			return name + " snapshots" + file
		}
	}
	return key
}

// again runs the session once more in the same process: the repository remembers.
func (r *rig) again() {
	r.Helper()
	if _, err := Run(r.Context(), r.config, r.id); err != nil {
		r.Fatal(err)
	}
}

func (r *rig) wantRequests(got []string, want ...string) {
	r.Helper()
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		r.Errorf("requests (-want +got):\n%s", diff)
	}
}

// An invocation makes the requests that the text needs and no others, and one
// more in the same process reads only what is new.
func TestRequestsOfAnInvocation(t *testing.T) {
	r := newRig(t)
	for _, name := range []string{"a", "b", "c"} {
		r.commit(r.id, session.Checkpoint, name)
	}
	r.handler.emits(out("A"), out("B"), out("A"))
	r.reopen()
	r.wantRequests(r.requestsOf(nil, r.again),
		"LIST S snapshots", "GET S manifest", "GET S 1", "GET S 2", "GET S 3", "PUT blob", "PUT blob", "PUT S 4")
	r.handler.emits(out("C"))
	r.wantRequests(r.requestsOf(nil, r.again), "LIST S snapshots", "PUT blob", "PUT S 5")

	other := session.New(r.store.Store, session.Options{})
	if _, err := other.Push(t.Context(), r.id, session.Provisional, session.Describe([]byte("from outside"))); err != nil {
		t.Fatal(err)
	}
	r.handler.emits()
	r.wantRequests(r.requestsOf(nil, r.again), "LIST S snapshots", "GET S 6")
	r.wantTold("a b c     + /")
	if got := len(r.handler.last().Inputs); got != 10 { // 3 + 3 + 1 + 1 entries, memory and event
		t.Errorf("%d inputs", got)
	}
}

// A session that rests is told from its latest snapshots alone.
func TestRequestsOfAPausedSession(t *testing.T) {
	r := newRig(t)
	r.commit(r.id, session.Checkpoint, "a", "!stopped")
	r.reopen()
	r.wantRequests(r.requestsOf(nil, r.again), "LIST S snapshots", "GET S manifest", "GET S 1")
	r.wantRequests(r.requestsOf(nil, r.again), "LIST S snapshots")
	r.wantCalls(0)
}

// A child costs a look for it and its two objects, and later nothing.
func TestRequestsOfAFork(t *testing.T) {
	r := newRig(t)
	child := r.newID()
	others := map[string]layout.SessionID{"C": child}
	r.handler.emits(out("F", `"fork":true`, `"session":"`+child.String()+`"`))
	r.again()
	r.wantRequests(r.requestsOf(others, r.again), "LIST S snapshots", "GET C 1", "PUT C manifest", "PUT C 1")
	r.wantRequests(r.requestsOf(others, r.again), "LIST S snapshots")
	r.reopen()
	r.wantRequests(r.requestsOf(others, r.again), "LIST S snapshots", "GET S manifest", "GET S 1", "GET C 1")
}

// A delivery looks through the target for its like while the handler runs
// (S12.2-4), and after the commit at what has come since; and whoever delivered
// does not look again.
func TestRequestsOfADelivery(t *testing.T) {
	r := newRig(t)
	target := r.create(session.Manifest{})
	want := []string{"LIST S snapshots", "GET S manifest", "LIST T snapshots", "PUT blob", "PUT blob", "PUT S 1", "LIST T snapshots", "PUT T 21"}
	for i := range 20 {
		r.commit(target, session.Checkpoint, fmt.Sprint("t", i))
		want = append(want, fmt.Sprint("GET T ", i+1))
	}
	others := map[string]layout.SessionID{"T": target}
	toTarget := `"session":"` + target.String() + `"`
	r.reopen()
	r.handler.emits(out("X", toTarget), out("Y", toTarget))
	r.wantRequests(r.requestsOf(others, r.again), want...)
	r.handler.emits(out("Z", toTarget))
	r.wantRequests(r.requestsOf(others, r.again),
		"LIST S snapshots", "LIST T snapshots", "PUT blob", "PUT S 2", "LIST T snapshots", "PUT T 22")
	r.handler.emits()
	r.wantRequests(r.requestsOf(others, r.again), "LIST S snapshots")
	r.reopen() // F-9: a new process has to look
	r.wantRequests(r.requestsOf(others, r.again),
		"LIST S snapshots", "GET S manifest", "GET S 1", "GET S 2", "LIST T snapshots", "GET T 22")
}

// Memory that nobody reads is not listed, and a namespace that is written is
// looked up once.
func TestRequestsOfMemory(t *testing.T) {
	r := newRig(t)
	r.reopen()
	r.handler.emits(out("M", named("memories/ns/a")), out("N", named("memories/ns/b")))
	r.wantRequests(r.requestsOf(nil, r.again),
		"LIST S snapshots", "GET S manifest", "PUT blob", "PUT blob", "LIST memories/ns/", "PUT "+layout.MemoryKey("ns", 1))
}
