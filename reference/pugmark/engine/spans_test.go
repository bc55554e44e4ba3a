package engine

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/traced"
	"github.com/pugcheck/pugcheck/reference/pugmark/tracing"
)

// spans are the finished spans of a run.
type spans struct {
	*rig
	all tracetest.SpanStubs
}

// runTraced runs the rig's session once and gives the spans.
func (r *rig) runTraced(options ...sdktrace.TracerProviderOption) (*spans, Result, error) {
	r.Helper()
	exporter := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(slices.Concat([]sdktrace.TracerProviderOption{
		sdktrace.WithSyncer(exporter), sdktrace.WithIDGenerator(tracing.IDs{})}, options)...)
	config := r.config
	config.TracerProvider = provider
	config.Repo = session.New(traced.New(r.store, provider), session.Options{Now: r.clock.Now})
	r.store.requests = nil
	result, err := Run(r.Context(), config, r.id)
	return &spans{r, exporter.GetSpans()}, result, err
}

// named are the spans of that name.
func (s *spans) named(name string) tracetest.SpanStubs {
	return slices.DeleteFunc(slices.Clone(s.all), func(x tracetest.SpanStub) bool { return x.Name != name })
}

// one is the only span of that name.
func (s *spans) one(name string) tracetest.SpanStub {
	s.Helper()
	found := s.named(name)
	if len(found) != 1 {
		s.Fatalf("%d spans %s, want one", len(found), name)
	}
	return found[0]
}

// paths are the spans' names, each behind those that it hangs below; none twice.
func (s *spans) paths() []string {
	byID := map[trace.SpanID]tracetest.SpanStub{}
	for _, x := range s.all {
		byID[x.SpanContext.SpanID()] = x
	}
	set := map[string]bool{}
	for _, x := range s.all {
		path, at := x.Name, x
		for at.Parent.SpanID().IsValid() {
			parent, ok := byID[at.Parent.SpanID()]
			if !ok {
				path = "? " + path
				break
			}
			path, at = parent.Name+" "+path, parent
		}
		set[path] = true
	}
	return slices.Sorted(maps.Keys(set))
}

func attributeOf(x tracetest.SpanStub, key string) string {
	for _, a := range x.Attributes {
		if string(a.Key) == key {
			return a.Value.String()
		}
	}
	return ""
}

func TestSpansOfAnInvocation(t *testing.T) {
	r := newRig(t)
	other := r.create(session.Manifest{})
	r.commit(r.id, session.Provisional, "pushed")
	own := "00-" + r.id.String() + "-00000000000000aa-01"
	r.handler.act = func(c *call) (string, error) {
		for _, parent := range []string{"", own, "00-4bf92f3577b34da6a3ce929d0e0e4736-00000000000000bb-01"} {
			req, err := http.NewRequest(http.MethodGet, c.Inputs[1].URL, nil)
			if err != nil {
				return "", err
			}
			if parent != "" {
				req.Header.Set("traceparent", parent)
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				return "", err
			}
			body, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if string(body) != "body of pushed" {
				t.Errorf("got %q, %v", body, err)
			}
		}
		return out("A", named("a")) + out("M", named("memories/notes/m")) + out("D", `"session":"`+other.String()+`"`), nil
	}
	s, _, err := r.runTraced()
	if err != nil {
		t.Fatal(err)
	}

	// P14.1-2, P14.1-3: one trace, the session's, and the run is its root.
	for _, x := range s.all {
		if x.SpanContext.TraceID() != trace.TraceID(r.id) {
			t.Errorf("%s is in the trace %s", x.Name, x.SpanContext.TraceID())
		}
	}
	root := s.one("pugmark.run")
	if root.Parent.SpanID().IsValid() || attributeOf(root, "pugmark.session") != r.id.String() ||
		attributeOf(root, "pugmark.version") != "2" || attributeOf(root, "pugmark.invocations") != "1" || attributeOf(root, "pugmark.state") != "idle" {
		t.Errorf("root %+v", root)
	}
	// Which requests a step takes is up to it; which step they are made for is not.
	var steps []string
	paths := s.paths()
	for _, path := range paths {
		if !strings.Contains(path, "store.") {
			steps = append(steps, path)
		}
	}
	if diff := cmp.Diff([]string{
		"pugmark.run",
		"pugmark.run pugmark.invoke",
		"pugmark.run pugmark.invoke pugmark.commit",
		"pugmark.run pugmark.invoke pugmark.deliver",
		"pugmark.run pugmark.invoke pugmark.handler",
		"pugmark.run pugmark.invoke pugmark.handler pugmark.inputs",
		"pugmark.run pugmark.invoke pugmark.memory",
		"pugmark.run pugmark.load",
		"pugmark.run pugmark.settle",
	}, steps); diff != "" {
		t.Error(diff)
	}
	for _, want := range []string{
		"? store.open", // below the span that the handler's request named
		"pugmark.run pugmark.load store.list",
		"pugmark.run pugmark.invoke store.put",
		"pugmark.run pugmark.invoke pugmark.commit store.put",
		"pugmark.run pugmark.invoke pugmark.deliver store.put",
		"pugmark.run pugmark.invoke pugmark.memory store.put",
	} {
		if !slices.Contains(paths, want) {
			t.Errorf("there is no span %q among %q", want, paths)
		}
	}
	if x := s.one("pugmark.invoke"); attributeOf(x, "pugmark.event") != "start" || attributeOf(x, "pugmark.version") != "1" {
		t.Errorf("%+v", x.Attributes)
	}
	if x := s.one("pugmark.memory"); attributeOf(x, "pugmark.memory.namespace") != "notes" {
		t.Errorf("%+v", x.Attributes)
	}
	if x := s.one("pugmark.deliver"); attributeOf(x, "pugmark.target.session") != other.String() {
		t.Errorf("%+v", x.Attributes)
	}

	// P14-1: the handler's context is that of its span.
	handler := s.one("pugmark.handler").SpanContext
	if got, want := r.handler.last().TraceParent, "00-"+r.id.String()+"-"+handler.SpanID().String()+"-01"; got != want {
		t.Errorf("the handler got %s, want %s", got, want)
	}
	// P14-9: below the handler's own span if the request names one of this trace.
	below := map[string]int{}
	for _, x := range s.named("store.open") {
		if attributeOf(x, "pugmark.store.room") == "objects" {
			below[x.Parent.SpanID().String()]++
		}
	}
	if want := map[string]int{handler.SpanID().String(): 2, "00000000000000aa": 1}; !maps.Equal(below, want) {
		t.Errorf("got %v, want %v", below, want)
	}

	// One span for each request, and no other.
	operations := map[string]string{"GET": "store.open", "HEAD": "store.head", "PUT": "store.put", "LIST": "store.list"}
	var requests, spans []string
	for _, request := range r.store.requests {
		operation, key, _ := strings.Cut(request, " ")
		requests = append(requests, operations[operation]+" "+key)
	}
	for _, x := range s.all {
		if strings.HasPrefix(x.Name, "store.") {
			spans = append(spans, x.Name+" "+attributeOf(x, "pugmark.store.key"))
		}
	}
	slices.Sort(requests)
	slices.Sort(spans)
	if diff := cmp.Diff(requests, spans); diff != "" {
		t.Error(diff)
	}
}

func TestSpansOfWhatFails(t *testing.T) {
	r := newRig(t)
	r.handler.act = func(*call) (string, error) { return "", errors.New("the handler broke") }
	s, _, err := r.runTraced()
	if err == nil {
		t.Fatal("the run succeeds")
	}
	for _, name := range []string{"pugmark.run", "pugmark.invoke", "pugmark.handler"} {
		x := s.one(name)
		if x.Status.Code != codes.Error || !strings.Contains(x.Status.Description, "the handler broke") || len(x.Events) != 1 {
			t.Errorf("%s: %+v, %d events", name, x.Status, len(x.Events))
		}
	}
	if n := len(s.named("pugmark.commit")); n > 0 {
		t.Errorf("%d commits", n)
	}

	r = newRig(t)
	r.handler.emits(out("A"))
	r.store.fail = func(operation, key string) error {
		if operation == "PUT" && strings.HasPrefix(key, "sessions/") {
			return errors.New("the disk is full")
		}
		return nil
	}
	if s, _, err = r.runTraced(); err == nil {
		t.Fatal("the run succeeds")
	}
	if x := s.one("pugmark.commit"); x.Status.Code != codes.Error {
		t.Errorf("%+v", x.Status)
	}
	if x := s.one("pugmark.handler"); x.Status.Code != codes.Unset {
		t.Errorf("the handler did well, but its span says %+v", x.Status)
	}
}

// A run that lost to another one has not failed.
func TestSpansOfALostRun(t *testing.T) {
	r := newRig(t)
	r.handler.act = func(c *call) (string, error) {
		r.commit(r.id, session.Checkpoint, "foreign")
		return out("A"), nil
	}
	s, result, err := r.runTraced()
	if err != nil || result.State != Lost {
		t.Fatal(result, err)
	}
	x := s.one("pugmark.commit")
	if x.Status.Code != codes.Unset || attributeOf(x, "pugmark.lost") != "true" {
		t.Errorf("%+v, %+v", x.Status, x.Attributes)
	}
	if x := s.one("pugmark.run"); x.Status.Code != codes.Unset || attributeOf(x, "pugmark.state") != "lost" {
		t.Errorf("%+v, %+v", x.Status, x.Attributes)
	}
}

func TestSpansOfASleep(t *testing.T) {
	r := newRig(t)
	r.handler.emits(pauseFor("", "5m"))
	r.run()
	r.handler.emits()
	s, _, err := r.runTraced()
	if err != nil {
		t.Fatal(err)
	}
	if x := s.one("pugmark.sleep"); x.Parent.SpanID() != s.one("pugmark.run").SpanContext.SpanID() || len(s.named("pugmark.load")) != 2 {
		t.Errorf("%v", s.paths())
	}
}

// The surroundings of a run: its parent if they are of the session's trace, a link
// if they are of another (P14.1-2, P14-2, F-17).
func TestSpansInSurroundings(t *testing.T) {
	foreign := "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for _, tc := range []struct {
		name, parent, state string
		options             []sdktrace.TracerProviderOption
		wantParent          string
		wantLinks           int
		wantState           string
		wantFlags           string
	}{
		{name: "none", wantFlags: "01"},
		{name: "own", parent: "00-SESSION-00f067aa0ba902b7-01", state: "vendor=abc", wantParent: "00f067aa0ba902b7", wantState: "vendor=abc", wantFlags: "01"},
		{name: "own, not sampled", parent: "00-SESSION-00f067aa0ba902b7-00", state: "vendor=abc", wantState: "vendor=abc", wantFlags: "00"},
		{name: "foreign", parent: foreign, state: "vendor=abc", wantLinks: 1, wantFlags: "01"},
		{name: "never sampled", options: []sdktrace.TracerProviderOption{sdktrace.WithSampler(sdktrace.NeverSample())}, wantFlags: "00"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig(t)
			r.config.Trace = TraceContext{strings.ReplaceAll(tc.parent, "SESSION", r.id.String()), tc.state}
			s, _, err := r.runTraced(tc.options...)
			if err != nil {
				t.Fatal(err)
			}
			given := r.handler.last().Identity
			if parts := strings.Split(given.TraceParent, "-"); len(parts) != 4 || parts[1] != r.id.String() || parts[2] == "00f067aa0ba902b7" ||
				parts[3] != tc.wantFlags || given.TraceState != tc.wantState {
				t.Errorf("the handler got %q, %q", given.TraceParent, given.TraceState)
			}
			if tc.wantFlags == "00" {
				if len(s.all) > 0 {
					t.Errorf("%d spans", len(s.all))
				}
				return
			}
			root := s.one("pugmark.run")
			parent := ""
			if root.Parent.SpanID().IsValid() {
				parent = root.Parent.SpanID().String()
			}
			if parent != tc.wantParent || len(root.Links) != tc.wantLinks {
				t.Errorf("parent %q, links %v", parent, root.Links)
			}
		})
	}
}

// P14.1-2 holds for the handler even if a provider has its own idea of trace IDs.
func TestHandlerStaysInTheSessionsTrace(t *testing.T) {
	r := newRig(t)
	r.config.TracerProvider = sdktrace.NewTracerProvider()
	r.run()
	if got := r.handler.last().TraceParent; !strings.HasPrefix(got, "00-"+r.id.String()+"-") {
		t.Error(got)
	}
}

// A uri may have secrets in it: its span names nothing but the host.
func TestSpansOfAFetch(t *testing.T) {
	r := newRig(t)
	const uri = "https://user:secret1@host.example:8443/secret2?signature=secret3"
	r.handler.emits(`{"uri":"` + uri + `"}`)
	body := io.Reader(strings.NewReader("fetched"))
	r.config.Fetch = func(context.Context, string) (io.ReadCloser, error) { return io.NopCloser(body), nil }
	s, _, err := r.runTraced()
	if err != nil {
		t.Fatal(err)
	}
	x := s.one("pugmark.fetch")
	if x.Parent.SpanID() != s.one("pugmark.invoke").SpanContext.SpanID() || x.Status.Code != codes.Unset ||
		attributeOf(x, "url.scheme") != "https" || attributeOf(x, "server.address") != "host.example" {
		t.Errorf("got %+v", x)
	}
	for _, a := range x.Attributes {
		if strings.Contains(a.Value.String(), "secret") {
			t.Errorf("%s is %s", a.Key, a.Value.String())
		}
	}

	body = iotest.ErrReader(errors.New("it broke off"))
	if s, _, err = r.runTraced(); err == nil {
		t.Fatal("the run succeeds")
	}
	if x := s.one("pugmark.fetch"); x.Status.Code != codes.Error || !strings.Contains(x.Status.Description, "it broke off") {
		t.Errorf("got %+v", x.Status)
	}
}
