package export

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/pugcheck/pugcheck/reference/pugmark/store"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/mem"
	"github.com/pugcheck/pugcheck/reference/pugmark/tracing"
)

// environment sets these variables, as NAME=VALUE, and no others for OpenTelemetry.
func environment(t *testing.T, settings ...string) {
	t.Helper()
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "OTEL_") {
			t.Setenv(name, "")
		}
	}
	for _, s := range settings {
		name, value, _ := strings.Cut(s, "=")
		t.Setenv(name, value)
	}
}

// talk is what a pipeline says.
type talk struct {
	mu       sync.Mutex
	messages []string
	console  bytes.Buffer
}

func (k *talk) options() Options {
	return Options{Console: &k.console, Report: func(message string) {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.messages = append(k.messages, message)
	}}
}

// said are the messages so far.
func (k *talk) said() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.messages
}

func start(t *testing.T, k *talk) *Pipeline {
	t.Helper()
	p, err := FromEnvironment(t.Context(), k.options())
	if err != nil {
		t.Fatal(err)
	}
	if p == nil {
		t.Fatal("there is no pipeline")
	}
	return p
}

func TestOff(t *testing.T) {
	for _, settings := range [][]string{
		nil,
		{"OTEL_SERVICE_NAME=x", "OTEL_TRACES_SAMPLER=always_on", "OTEL_EXPORTER_OTLP_PROTOCOL=nonsense"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT="},
		{"OTEL_TRACES_EXPORTER=none", "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:9"},
		{"OTEL_SDK_DISABLED=TRUE", "OTEL_TRACES_EXPORTER=console"},
	} {
		environment(t, settings...)
		k := &talk{}
		p, err := FromEnvironment(t.Context(), k.options())
		if p != nil || err != nil {
			t.Errorf("%v: got %v, %v", settings, p, err)
		}
		bucket := mem.New()
		if p.TracerProvider() != nil || p.Store(bucket) != store.Store(bucket) {
			t.Errorf("%v: something is traced", settings)
		}
		p.Close()
	}
}

func TestSettingsThatCannotBeFollowed(t *testing.T) {
	for _, tc := range []struct {
		settings []string
		want     string
	}{
		{[]string{"OTEL_TRACES_EXPORTER=zipkin"}, `OTEL_TRACES_EXPORTER=zipkin: "zipkin" is not supported`},
		{[]string{"OTEL_TRACES_EXPORTER=console,jaeger"}, `"jaeger" is not supported`},
		{[]string{"OTEL_TRACES_EXPORTER=otlp", "OTEL_EXPORTER_OTLP_PROTOCOL=thrift"}, "OTEL_EXPORTER_OTLP_PROTOCOL=thrift is not supported"},
		{[]string{"OTEL_TRACES_EXPORTER=otlp", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=thrift", "OTEL_EXPORTER_OTLP_PROTOCOL=grpc"},
			"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=thrift is not supported"},
		{[]string{"OTEL_EXPORTER_OTLP_ENDPOINT=localhost:4318"}, "OTEL_EXPORTER_OTLP_ENDPOINT=localhost:4318: want http://"},
		{[]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=ftp://x"}, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=ftp://x: want http://"},
	} {
		environment(t, tc.settings...)
		p, err := FromEnvironment(t.Context(), (&talk{}).options())
		if p != nil || err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%v: got %v, %v", tc.settings, p, err)
		}
	}
}

func TestExport(t *testing.T) {
	id := trace.TraceID{0xab, 0xcd}
	for _, protocol := range []string{"", "http/protobuf", "http/json", "grpc"} {
		t.Run(protocol, func(t *testing.T) {
			collect := overHTTP
			if protocol == "grpc" {
				collect = overGRPC
			}
			got, url := collect(t)
			environment(t, "OTEL_EXPORTER_OTLP_PROTOCOL="+protocol, "OTEL_EXPORTER_OTLP_ENDPOINT="+url,
				"OTEL_EXPORTER_OTLP_HEADERS=api-key=secret%201", "OTEL_RESOURCE_ATTRIBUTES=team=blue")
			k := &talk{}
			p := start(t, k)
			ctx, span := p.TracerProvider().Tracer("test").Start(tracing.InTrace(t.Context(), id), "root")
			if _, err := p.Store(mem.New()).List(ctx, "refs/", store.ListOptions{}); err != nil {
				t.Fatal(err)
			}
			span.End()
			p.Close()

			spans, resource := got.spans()
			if len(spans) != 2 || spans[0].GetName() != "store.list" || spans[1].GetName() != "root" {
				t.Fatalf("got %v", spans)
			}
			if protocol != "http/json" { // where protojson takes the hexadecimal IDs for base64
				for _, s := range spans {
					if got := hex.EncodeToString(s.GetTraceId()); got != id.String() {
						t.Errorf("%s has the trace ID %s", s.GetName(), got)
					}
				}
				if !bytes.Equal(spans[0].GetParentSpanId(), spans[1].GetSpanId()) || len(spans[1].GetParentSpanId()) > 0 {
					t.Errorf("got %v", spans)
				}
			}
			if resource["service.name"] != serviceName || resource["team"] != "blue" {
				t.Errorf("resource %v", resource)
			}
			for _, req := range got.requests {
				if req.URL.Path != "/v1/traces" || req.Header.Get("Api-Key") != "secret 1" {
					t.Errorf("%s %v", req.URL, req.Header)
				}
			}
			if len(k.said()) > 0 {
				t.Errorf("said %q", k.said())
			}
		})
	}
}

func TestServiceName(t *testing.T) {
	got, url := overHTTP(t)
	environment(t, "OTEL_TRACES_EXPORTER=otlp", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT="+url+"/own/path", "OTEL_SERVICE_NAME=mine")
	p := start(t, &talk{})
	_, span := p.TracerProvider().Tracer("test").Start(t.Context(), "x")
	span.End()
	p.Close()
	if _, resource := got.spans(); resource["service.name"] != "mine" || got.requests[0].URL.Path != "/own/path" {
		t.Errorf("%v, %s", resource, got.requests[0].URL)
	}
}

func TestSampler(t *testing.T) {
	got, url := overHTTP(t)
	environment(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+url, "OTEL_TRACES_SAMPLER=always_off")
	p := start(t, &talk{})
	_, span := p.TracerProvider().Tracer("test").Start(t.Context(), "x")
	if c := span.SpanContext(); !c.IsValid() || c.IsSampled() {
		t.Errorf("got %+v", c)
	}
	span.End()
	p.Close()
	if spans, _ := got.spans(); len(spans) > 0 {
		t.Errorf("got %v", spans)
	}
}

func TestConsole(t *testing.T) {
	environment(t, "OTEL_TRACES_EXPORTER= console , console")
	k := &talk{}
	p := start(t, k)
	for range 2 {
		_, span := p.TracerProvider().Tracer("test").Start(t.Context(), "x")
		span.End()
	}
	p.Close()
	lines := strings.Split(strings.TrimSpace(k.console.String()), "\n")
	if len(lines) != 2 {
		t.Fatalf("got %q", lines)
	}
	for _, line := range lines {
		var span struct{ Name string }
		if err := json.Unmarshal([]byte(line), &span); err != nil || span.Name != "x" {
			t.Errorf("got %s, %v", line, err)
		}
	}
}

// A collector that is down, refuses or hangs costs a message, however many spans are lost.
func TestCollectorsThatFail(t *testing.T) {
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "who are you?", http.StatusForbidden)
	}))
	t.Cleanup(refusing.Close)
	release := make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(hanging.Close)
	t.Cleanup(func() { close(release) })

	for _, tc := range []struct {
		name, url, want string
		within          time.Duration
	}{
		{"down", "http://" + gone.Addr().String(), "connection refused", 0},
		{"refusing", refusing.URL, "who are you?", 0},
		{"hanging", hanging.URL, "did not take them within 1ms", time.Millisecond},
	} {
		t.Run(tc.name, func(t *testing.T) {
			environment(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+tc.url, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE=1")
			k := &talk{}
			options := k.options()
			options.FlushWithin = tc.within
			p, err := FromEnvironment(t.Context(), options)
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				_, span := p.TracerProvider().Tracer("test").Start(t.Context(), "x")
				span.End()
			}
			p.Close()
			if said := k.said(); len(said) != 1 || !strings.Contains(said[0], tc.want) {
				t.Errorf("said %q", said)
			}
		})
	}
}

// Spans that find the queue full are not missing in silence.
func TestSpansThatAreTooMany(t *testing.T) {
	release := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(slow.Close)
	environment(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+slow.URL, "OTEL_BSP_MAX_QUEUE_SIZE=1", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE=1")
	k := &talk{}
	p := start(t, k)
	for range 10 {
		_, span := p.TracerProvider().Tracer("test").Start(t.Context(), "x")
		span.End()
	}
	close(release)
	p.Close()
	if said := k.said(); len(said) != 1 || !strings.Contains(said[0], "of 10 were made faster") {
		t.Errorf("said %q", said)
	}
}
