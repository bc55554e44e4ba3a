package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/stream"
	"github.com/pugcheck/pugcheck/reference/pugmark/transport"
)

func TestFirstInvocations(t *testing.T) {
	r := newRig(t)
	r.handler.emits(out("A", named("a")), out("B", named("b")))
	result := r.run()
	if want := (Result{Session: r.id, Version: 1, Invocations: 1, State: Idle}); result != want {
		t.Errorf("got %+v, want %+v", result, want)
	}
	r.wantTold("/start")
	r.wantNames(r.id, 1, "a b")

	r.handler.emits(out("C", named("c")))
	r.run()
	r.wantTold("a+ b+ /")
	r.wantNames(r.id, 2, "c")
	var numbers []int64
	for v := uint32(1); v <= 2; v++ {
		for _, d := range r.snapshot(r.id, v).Descriptors {
			numbers = append(numbers, d.SequenceNumber)
		}
	}
	if !slices.Equal(numbers, []int64{1, 2, 3}) {
		t.Errorf("sequence numbers %v", numbers)
	}

	r.handler.emits()
	r.run()
	r.wantTold("a b c+ /")
	if v := r.version(r.id); v != 2 {
		t.Errorf("an invocation without outputs made version %d", v)
	}
}

func TestHandlerThatCommittedNothingIsStartedAgain(t *testing.T) {
	r := newRig(t)
	r.commit(r.id, session.Provisional, "pushed")
	r.run()
	r.wantTold("pushed+ /start")
	r.run()
	r.wantTold("pushed+ /start")
}

// P4.3 and R-25, without forks.
func TestPushTags(t *testing.T) {
	type commit struct {
		kind  session.SnapshotType
		names string
	}
	cp, prov, queue := session.Checkpoint, session.Provisional, session.Queueing
	for _, tc := range []struct {
		name    string
		commits []commit
		want    string
	}{
		{"the last delta", []commit{{cp, "a b"}, {cp, "c"}, {cp, "d e"}}, "a b c d+ e+ /"},
		{"the only delta", []commit{{cp, "a b c"}}, "a+ b+ c+ /"},
		{"all since the last run", []commit{{cp, "a"}, {prov, "b"}, {queue, "c d"}}, "a b+ c+ d+ /"},
		{"after a stop", []commit{{cp, "a b !stopped"}, {prov, "c"}, {queue, "d e"}}, "a b c+ d+ e+ /wake"},
		{"after the latest of two stops", []commit{{cp, "a !stopped"}, {cp, "b !stopped"}, {prov, "c"}}, "a b c+ /wake"},
		{"in the snapshot of the stop", []commit{{cp, "a !stopped b"}}, "a b+ /wake"},
		{"running ends a stop", []commit{{cp, "a !stopped"}, {cp, "b"}, {cp, "c !running"}, {cp, "d e"}}, "a b c d+ e+ /"},
		{"so does unknown", []commit{{cp, "a !stopped"}, {cp, "b"}, {cp, "c !unknown"}, {cp, "d"}}, "a b c d+ /"},
		{"a sleep that is over", []commit{{cp, "a b !stopped@2020-01-01T00:00:00Z"}}, "a b /wake"},
		{"objects end a sleep", []commit{{cp, "a !stopped@2099-01-01T00:00:00Z"}, {prov, "b"}}, "a b+ /wake"},
		{"a control message that says nothing", []commit{{cp, "a !"}}, "a+ /"},
		{"no checkpoint", []commit{{prov, "a"}, {queue, "b"}}, "a+ b+ /start"},
		// P11.2-2: nobody has seen the body that a child was made with.
		{"child: the body it was made with", []commit{{cp, "f"}}, "f+ /fork"},
		{"child: and what landed on top", []commit{{cp, "f"}, {prov, "p"}, {queue, "q"}}, "f+ p+ q+ /fork"},
		{"child: once a handler has run", []commit{{cp, "f"}, {cp, "a"}, {prov, "p"}}, "f a p+ /"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig(t)
			if strings.HasPrefix(tc.name, "child:") {
				r.id = r.create(session.Manifest{Parent: session.Pointer{Session: r.id}})
			}
			for _, c := range tc.commits {
				var names []string
				for _, name := range strings.Fields(c.names) {
					names = append(names, strings.ReplaceAll(name, "@", " ")) // a start-at
				}
				r.commit(r.id, c.kind, names...)
			}
			r.run()
			r.wantTold(tc.want)
			if len(r.clock.waits) > 0 {
				t.Errorf("waited until %v", r.clock.waits)
			}
		})
	}
}

func TestLongLog(t *testing.T) {
	// More than are fetched at once, without and with a control message far back.
	for _, first := range []string{"a0", "a0 !running"} {
		r := newRig(t)
		r.commit(r.id, session.Checkpoint, strings.Fields(first)...)
		var want []string
		want = append(want, "a0")
		for i := range 40 {
			name := fmt.Sprint("n", i)
			r.commit(r.id, session.Checkpoint, name)
			want = append(want, name)
		}
		r.commit(r.id, session.Provisional, "p")
		r.run()
		r.wantTold(strings.Join(want, " ") + " p+ /")
		r.commit(r.id, session.Checkpoint, "q", "!running")
		r.run() // now the search ends early
		r.wantTold(strings.Join(want, " ") + " p q+ /")
	}
}

func TestInputsCarryBodies(t *testing.T) {
	r := newRig(t)
	small, large := strings.Repeat("s", stream.InlineLimit), strings.Repeat("l", stream.InlineLimit+1)
	r.handler.emits(out(small, named("small"), `"content-type":"text/plain; charset=utf-8"`), out(large, named("large")),
		`{"name":"empty"}`, out("\x1f\x8bzz", named("packed"), `"content-encoding":"gzip","schema-url":"https://x/?a=1#y","metadata":{"K":"v","":"ü\n"}`))
	r.run()
	r.handler.act = func(c *call) (string, error) {
		in := c.Inputs[1 : len(c.Inputs)-1]
		if got := string(in[0].Data); got != small || in[0].Size != 1024 || in[0].ContentType != "text/plain; charset=utf-8" {
			t.Errorf("small: %+v", in[0])
		}
		if in[1].Data != nil || in[1].Size != 1025 {
			t.Errorf("large: %+v", in[1])
		}
		for i, want := range []string{small, large, "", "\x1f\x8bzz"} {
			if got := string(body(t, in[i])); got != want {
				t.Errorf("entry %d has body %q", i, got)
			}
		}
		last := in[3]
		if last.ContentEncoding != "gzip" || last.SchemaURL != "https://x/?a=1#y" || !cmp.Equal(last.Metadata, map[string]string{"K": "v", "": "ü\n"}) {
			t.Errorf("packed: %+v", last)
		}
		root := strings.TrimSuffix(in[0].URL, layout.DigestOf([]byte(small)).String())
		if status, _ := r.get(root + layout.DigestOf([]byte("unknown")).String()); status != 404 {
			t.Errorf("an unknown digest gives %d", status)
		}
		return "", nil
	}
	r.run()
}

func TestTombstoneIsReplayedByName(t *testing.T) {
	r := newRig(t)
	r.commit(r.id, session.Checkpoint, "doc")
	if _, err := r.repo.Delete(t.Context(), r.id, "doc"); err != nil {
		t.Fatal(err)
	}
	r.run()
	r.wantTold("doc doc+ /")
	if in := r.handler.last().Inputs[2]; !cmp.Equal(in, stream.Input{Event: "push", Name: "doc"}) {
		t.Errorf("got %+v", in)
	}
}

// One warm invocation: no request that the text does not need.
func TestRequests(t *testing.T) {
	r := newRig(t)
	r.commit(r.id, session.Checkpoint, "a")
	r.commit(r.id, session.Checkpoint, "b")
	r.handler.emits(out("C", named("c")), out("C", named("same body")), out("D", named("d")))
	r.store.requests = nil
	r.run()
	path, _ := r.id.Path()
	want := []string{"GET " + path.Manifest(), "GET " + path.Snapshot(1), "GET " + path.Snapshot(2), "LIST " + path.Snapshots(),
		"PUT " + layout.DigestOf([]byte("C")).Key(), "PUT " + layout.DigestOf([]byte("D")).Key(), "PUT " + path.Snapshot(3)}
	slices.Sort(want)
	got := slices.Sorted(slices.Values(r.store.requests))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestHandlerSelection(t *testing.T) {
	r := newRig(t)
	python := &scripted{rig: r}
	r.config.Handlers.Named = map[string]transport.Handler{"python": python, "x y/ü": &scripted{rig: r}}
	id := r.create(session.Manifest{Handler: "python", Agent: "agent-7", Metadata: map[string]string{"team": "blue"}})
	if _, err := r.try(id); err != nil {
		t.Fatal(err)
	}
	r.wantCalls(0)
	c := python.last()
	if c.Session != id.String() || c.Agent != "agent-7" || c.Version != 0 || !cmp.Equal(c.Metadata, map[string]string{"team": "blue"}) {
		t.Errorf("identity %+v", c.Identity)
	}
	_, err := r.try(r.create(session.Manifest{Handler: "bash"}))
	if err == nil || !strings.Contains(err.Error(), `"bash", which is not registered; registered: python, x y/ü`) {
		t.Error(err)
	}
	r.wantCalls(0)
	r.config.Handlers.Default = nil
	r.fails("no default handler", "python")
}

func TestTraceContext(t *testing.T) {
	id, _ := layout.ParseSessionID("00073ea700abcdef0123456789abcdef")
	own, foreign := "00-"+id.String()+"-00f067aa0ba902b7-01", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for _, tc := range []struct{ parent, state, wantState, wantFlags string }{
		{"", "", "", "01"},
		{own, "vendor=abc", "vendor=abc", "01"},
		{strings.TrimSuffix(own, "1") + "0", "", "", "00"},
		{foreign, "vendor=abc", "", "01"},
		{"nonsense", "vendor=abc", "", "01"},
	} {
		got := traceContext(id, TraceContext{tc.parent, tc.state})
		parts := strings.Split(got.Parent, "-")
		if len(parts) != 4 || parts[0] != "00" || parts[1] != id.String() || len(parts[2]) != 16 || parts[2] == "00f067aa0ba902b7" ||
			parts[3] != tc.wantFlags || got.State != tc.wantState {
			t.Errorf("%+v: got %+v", tc, got)
		}
		if again := traceContext(id, TraceContext{tc.parent, tc.state}); again == got {
			t.Errorf("%+v: the same parent ID twice", tc)
		}
	}
}

func TestUnknownSession(t *testing.T) {
	r := newRig(t)
	id := r.newID()
	if _, err := r.try(id); !errors.Is(err, session.ErrSessionNotFound) || !strings.Contains(err.Error(), id.String()) {
		t.Error(err)
	}
	r.wantCalls(0)
}

func TestSessionThatLostItsNameDoesNotCommit(t *testing.T) {
	r := newRig(t)
	other := r.create(session.Manifest{})
	steal := func() { r.link("main", other) }
	r.id = r.create(session.Manifest{Name: "main"})
	r.handler.emits(out("A"))
	r.run()
	r.handler.act = func(*call) (string, error) {
		steal()
		return out("B") + out("C", `"session":"`+other.String()+`"`), nil
	}
	r.fails("main")
	r.handler.act = func(*call) (string, error) { // memory is no session work, but written by this session
		steal()
		return out("M", named("memories/ns/x")), nil
	}
	r.link("main", r.id)
	r.fails("main")
	if keys := r.keys("memories/"); keys != nil {
		t.Errorf("memory was written: %q", keys)
	}
	child := r.newID()
	r.commitDescriptors(r.id, session.Checkpoint, r.fork(child, "f"))
	calls := len(r.handler.calls)
	r.fails("main")
	r.wantCalls(calls)
	if _, err := r.repo.Latest(t.Context(), child); !errors.Is(err, session.ErrSessionNotFound) {
		t.Errorf("the pending fork was carried out: %v", err)
	}
	if v := r.version(other); v != 0 {
		t.Errorf("something was delivered: version %d", v)
	}
}

// P1-9: a log that cannot be read whole is no log.
func TestUnreadableSnapshot(t *testing.T) {
	for _, version := range []uint32{1, 3} {
		r := newRig(t)
		for range 40 {
			r.commit(r.id, session.Checkpoint, "a")
		}
		r.commit(r.id, session.Checkpoint, "b", "!running")
		path, _ := r.id.Path()
		broken := errors.New("out of order")
		r.store.fail = func(operation, key string) error {
			if operation == "GET" && key == path.Snapshot(version) {
				return broken
			}
			return nil
		}
		r.handler.emits(out("A"))
		if _, err := r.try(r.id); !errors.Is(err, broken) {
			t.Errorf("snapshot %d: %v", version, err)
		}
		r.wantCalls(0)
	}
}

func TestFailedInvocations(t *testing.T) {
	r := newRig(t)
	other := r.create(session.Manifest{})
	r.commit(r.id, session.Checkpoint, "a")
	all := out("A", named("a")) + out("M", named("memories/ns/x")) + out("F", `"fork":true`) + out("X", `"session":"`+other.String()+`"`) + pauseFor("p", "")
	crash := errors.New("exit status 7")
	r.handler.act = func(*call) (string, error) { return "", crash }
	r.fails("exit status 7", "nothing is committed", r.id.String())
	for _, tc := range []struct{ text, want string }{
		{all + "log line", "output record 6 at byte"},
		{all + `{"data":"QQ=="`, "ends inside a record"},
		{all + out("{}", `"content-type":"application/vnd.pugmark.control+json"`), "control messages"},
		{out("A", `"session":"xyz"`), `field "session"`},
		{out("A", named("memories/ns/x"), `"session":"xyz"`), `field "session"`},
		{out("p", `"content-type":"`+pauseType+`","session":"xyz"`), `field "session"`},
		{out("A", `"session":"ffffffff00112233445566778899aabb"`), "year 9999"},
		{out("A", `"fork":true,"session":"ffffffff00112233445566778899aabb"`), "year 9999"},
		{out("A", `"fork":true,"session":"`+r.id.String()+`"`), "forked into itself"},
		{out("A", named("memories/ns/")), "object name is empty"},
		{out("A", named("memories//x")), "namespace is empty"},
		{out("A", named("memories/a/../x")), "namespace"},
		{pauseFor("", "soon"), "no duration"},
		{pauseFor("\xff", ""), "has to be UTF-8"},
		{`{"uri":"ftp://h/x"}`, "none of s3://, http:// and https://"},
		{`{"uri":"s3://bucket"}`, "s3://BUCKET/KEY"},
		{`{"data":"*"}`, "base64"},
	} {
		r.handler.emits(tc.text)
		r.fails(tc.want, "output record")
	}
	if keys := r.keys("memories/"); keys != nil {
		t.Errorf("memory was written: %q", keys)
	}
	if v := r.version(other); v != 0 {
		t.Errorf("the other session is at version %d", v)
	}
	if sessions := len(r.keys("sessions/")); sessions != 3 { // two manifests and one snapshot
		t.Errorf("%d keys below sessions/", sessions)
	}
	r.handler.emits()
	r.run()
	r.wantTold("a+ /")
}

func TestBlobThatCannotBeStored(t *testing.T) {
	r := newRig(t)
	broken := errors.New("slow down")
	r.store.fail = func(operation, key string) error {
		if operation == "PUT" && key == layout.DigestOf([]byte("B")).Key() {
			return broken
		}
		return nil
	}
	r.handler.emits(out("A"), out("B"), out("C"))
	r.fails("slow down", "output record 2")
	if n := r.store.count("PUT sessions/"); n != 1 { // the manifest
		t.Errorf("%d writes below sessions/", n)
	}
}

func TestCancellingEndsTheSleep(t *testing.T) {
	r := newRig(t)
	r.commit(r.id, session.Checkpoint, "a", "!stopped 2099-01-01T00:00:00Z")
	ctx, cancel := context.WithCancel(t.Context())
	r.config.Clock = &wakingClock{stoppedClock: r.clock, wake: cancel}
	if _, err := Run(ctx, r.config, r.id); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "sleeps until 2099") {
		t.Error(err)
	}
	r.wantCalls(0)
	if err := (systemClock{}).Wait(ctx, time.Now().Add(time.Hour)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := (systemClock{}).Wait(t.Context(), time.Now().Add(-time.Hour)); err != nil {
		t.Error(err)
	}
}
