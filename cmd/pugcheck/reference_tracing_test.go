package main

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlptrace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// tracedRun is a session in a directory, a collector, and the spans that it got.
type tracedRun struct {
	*testing.T
	bucket, session string
	url             string
	mu              sync.Mutex
	spans           []*otlptrace.Span
}

func newTracedRun(t *testing.T) *tracedRun {
	t.Helper()
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "OTEL_") || strings.HasPrefix(name, "TRACE") {
			t.Setenv(name, "")
		}
	}
	t.Setenv("GORACE", "atexit_sleep_ms=0")
	r := &tracedRun{T: t, bucket: t.TempDir()}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			t.Error(err)
		}
		var batch collector.ExportTraceServiceRequest
		if err := proto.Unmarshal(body, &batch); err != nil {
			t.Error(err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, rs := range batch.GetResourceSpans() {
			for _, ss := range rs.GetScopeSpans() {
				r.spans = append(r.spans, ss.GetSpans()...)
			}
		}
	}))
	t.Cleanup(server.Close)
	r.url = server.URL
	out, err := exec.Command("pugcheck", "reference", "create", "--bucket", r.bucket).Output()
	if err != nil {
		t.Fatal(err)
	}
	r.session = strings.TrimSpace(string(out))
	return r
}

// run runs the session with a handler and gives exit status and standard error.
func (r *tracedRun) run(handler ...string) (int, string) {
	r.Helper()
	var stderr bytes.Buffer
	cmd := r.command(handler...)
	cmd.Stderr = &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		r.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), stderr.String()
}

func (r *tracedRun) command(handler ...string) *exec.Cmd {
	return exec.Command("pugcheck", append([]string{"reference", "run", "--bucket", r.bucket, "--session", r.session, "--"}, handler...)...)
}

// one is the only span of that name; all are in the session's trace.
func (r *tracedRun) one(name string) *otlptrace.Span {
	r.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []*otlptrace.Span
	for _, s := range r.spans {
		if got := hex.EncodeToString(s.GetTraceId()); got != r.session { // P14.1-3
			r.Errorf("%s is in the trace %s of session %s", s.GetName(), got, r.session)
		}
		if s.GetName() == name {
			found = append(found, s)
		}
	}
	if len(found) != 1 {
		r.Fatalf("%d spans %s among %d, want one", len(found), name, len(r.spans))
	}
	return found[0]
}

// wantContext wants a handler's trace context to be that of its span.
func (r *tracedRun) wantContext(parent, state string) {
	r.Helper()
	carrier := propagation.MapCarrier{"traceparent": parent, "tracestate": state}
	got := trace.SpanContextFromContext(propagation.TraceContext{}.Extract(r.Context(), carrier))
	span := r.one("pugmark.handler")
	if got.TraceID().String() != r.session || got.SpanID() != trace.SpanID(span.GetSpanId()) || !got.IsSampled() ||
		got.TraceState().String() != span.GetTraceState() {
		r.Errorf("the handler got %q, %q; its span is %x, %q", parent, state, span.GetSpanId(), span.GetTraceState())
	}
}

func TestRunExportsSpans(t *testing.T) {
	r := newTracedRun(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", r.url)
	got := filepath.Join(t.TempDir(), "context")
	status, stderr := r.run("sh", "-c", `cat >/dev/null; echo "$TRACEPARENT/$TRACESTATE" >`+got+`; echo '{"name":"x","data":"eA=="}'`)
	if status != 0 || stderr != "" {
		t.Fatalf("status %d, %s", status, stderr)
	}
	text, err := os.ReadFile(got)
	if err != nil {
		t.Fatal(err)
	}
	parent, state, _ := strings.Cut(strings.TrimSpace(string(text)), "/")
	r.wantContext(parent, state) // P14-1

	root, invoke, commit := r.one("pugmark.run"), r.one("pugmark.invoke"), r.one("pugmark.commit")
	if len(root.GetParentSpanId()) > 0 || !bytes.Equal(invoke.GetParentSpanId(), root.GetSpanId()) ||
		!bytes.Equal(r.one("pugmark.handler").GetParentSpanId(), invoke.GetSpanId()) ||
		!bytes.Equal(commit.GetParentSpanId(), invoke.GetSpanId()) {
		t.Errorf("the spans do not hang together: %v", r.spans)
	}
	if !slices.ContainsFunc(r.spans, func(s *otlptrace.Span) bool {
		return s.GetName() == "store.put" && bytes.Equal(s.GetParentSpanId(), commit.GetSpanId())
	}) {
		t.Errorf("the write of the commit has no span: %v", r.spans)
	}
}

func TestRunPropagatesToAnHTTPHandler(t *testing.T) {
	r := newTracedRun(t)
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", r.url)
	t.Setenv("TRACEPARENT", "00-"+r.session+"-00f067aa0ba902b7-01")
	t.Setenv("TRACESTATE", "vendor=abc")
	var header http.Header
	handler := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) { header = req.Header }))
	t.Cleanup(handler.Close)
	if status, stderr := r.run(handler.URL); status != 0 || stderr != "" {
		t.Fatalf("status %d, %s", status, stderr)
	}
	handler.Close()
	r.wantContext(header.Get("traceparent"), header.Get("tracestate")) // P14-4
	if got := header.Get("tracestate"); got != "vendor=abc" {          // P14-5
		t.Errorf("tracestate %q", got)
	}
	if got := hex.EncodeToString(r.one("pugmark.run").GetParentSpanId()); got != "00f067aa0ba902b7" {
		t.Errorf("the run has the parent %q", got)
	}
}

// However a run ends, its spans arrive.
func TestFailedRunsExportSpans(t *testing.T) {
	t.Run("failed", func(t *testing.T) {
		r := newTracedRun(t)
		t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", r.url)
		if status, stderr := r.run("false"); status != 1 || strings.Count(stderr, "\n") != 1 {
			t.Errorf("status %d, %s", status, stderr)
		}
		if s := r.one("pugmark.run").GetStatus(); s.GetCode() != otlptrace.Status_STATUS_CODE_ERROR || !strings.Contains(s.GetMessage(), "exit status 1") {
			t.Errorf("got %v", s)
		}
	})
	t.Run("interrupted", func(t *testing.T) {
		r := newTracedRun(t)
		t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", r.url)
		cmd := r.command("sh", "-c", "echo up >&2; cat >/dev/null; exec sleep 1000")
		stderr, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(stderr, make([]byte, len("up\n"))); err != nil {
			t.Error(err)
		}
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		rest, err := io.ReadAll(stderr)
		if err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err == nil || !strings.Contains(string(rest), "interrupted") {
			t.Errorf("%v, %s", err, rest)
		}
		if s := r.one("pugmark.run").GetStatus(); s.GetCode() != otlptrace.Status_STATUS_CODE_ERROR {
			t.Errorf("got %v", s)
		}
	})
}

// Sessions matter more than spans: nothing about tracing stops a run.
func TestRunWithoutACollector(t *testing.T) {
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	for _, tc := range []struct{ name, variable, value, want string }{
		{"down", "OTEL_EXPORTER_OTLP_ENDPOINT", "http://" + gone.Addr().String(), "spans are missing"},
		{"unknown exporter", "OTEL_TRACES_EXPORTER", "zipkin", "tracing is off: OTEL_TRACES_EXPORTER=zipkin"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newTracedRun(t)
			t.Setenv(tc.variable, tc.value)
			status, stderr := r.run("sh", "-c", `cat >/dev/null; echo '{"name":"x"}'`)
			if status != 0 || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, tc.want) {
				t.Errorf("status %d, %s", status, stderr)
			}
		})
	}
}
