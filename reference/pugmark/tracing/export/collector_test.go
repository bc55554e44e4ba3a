package export

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlptrace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// received is what a collector has got.
type received struct {
	collector.UnimplementedTraceServiceServer
	mu       sync.Mutex
	requests []*http.Request
	batches  []*collector.ExportTraceServiceRequest
}

// spans are all of them, with the attributes of the last resource that sent any.
func (r *received) spans() (spans []*otlptrace.Span, resource map[string]string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	resource = map[string]string{}
	for _, batch := range r.batches {
		for _, rs := range batch.GetResourceSpans() {
			for _, a := range rs.GetResource().GetAttributes() {
				resource[a.GetKey()] = a.GetValue().GetStringValue()
			}
			for _, ss := range rs.GetScopeSpans() {
				spans = append(spans, ss.GetSpans()...)
			}
		}
	}
	return spans, resource
}

// Export is the collector's gRPC method.
func (r *received) Export(_ context.Context, batch *collector.ExportTraceServiceRequest) (*collector.ExportTraceServiceResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.batches = append(r.batches, batch)
	return &collector.ExportTraceServiceResponse{}, nil
}

// overHTTP starts a collector for both formats of OTLP over HTTP.
func overHTTP(t *testing.T) (*received, string) {
	t.Helper()
	r := &received{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			t.Error(err)
		}
		batch := &collector.ExportTraceServiceRequest{}
		if req.Header.Get("Content-Type") == "application/json" {
			err = protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(body, batch)
		} else {
			err = proto.Unmarshal(body, batch)
		}
		if err != nil {
			t.Error(err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.requests = append(r.requests, req)
		r.batches = append(r.batches, batch)
	}))
	t.Cleanup(server.Close)
	return r, server.URL
}

// overGRPC starts a collector for OTLP over gRPC.
func overGRPC(t *testing.T) (*received, string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &received{}
	server := grpc.NewServer()
	collector.RegisterTraceServiceServer(server, r)
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := server.Serve(listener); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		server.Stop()
		serving.Wait()
	})
	return r, "http://" + listener.Addr().String()
}
