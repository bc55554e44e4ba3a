package runtime

import (
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
)

// span is what of an exported span is looked at: its IDs, in hex, and its name.
type span struct{ trace, id, parent, name string }

// spanCollector takes traces in by OTLP over HTTP, in protobuf: what OpenTelemetry's
// exporters send. Only the few fields of span are read.
type spanCollector struct {
	address string
	mu      sync.Mutex
	spans   []span
	broken  error // of a request that is no such export
}

// collector starts a collector, which ends with the scenario.
func (x *Lab) collector() *spanCollector {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	x.Must(err)
	c := &spanCollector{address: "http://" + listener.Addr().String()}
	server := &http.Server{Handler: c}
	go func() { _ = server.Serve(listener) }()
	x.Cleanup(func() { _ = server.Close() })
	return c
}

// environment tells a runtime to export to the collector.
func (c *spanCollector) environment() []string {
	return []string{
		"OTEL_EXPORTER_OTLP_ENDPOINT", c.address, "OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf",
		"OTEL_TRACES_EXPORTER", "otlp", "OTEL_TRACES_SAMPLER", "always_on", "TRACEPARENT", "", "TRACESTATE", "",
	}
}

func (c *spanCollector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		unzipped, err := gzip.NewReader(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body = unzipped
	}
	whole, err := io.ReadAll(body)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil && r.URL.Path == "/v1/traces" {
		// ExportTraceServiceRequest.resource_spans, .scope_spans, .spans
		err = inside(whole, []protowire.Number{1, 2, 2}, func(b []byte) error {
			var s span
			err := eachBytes(b, func(field protowire.Number, value []byte) error {
				switch field {
				case 1:
					s.trace = hex.EncodeToString(value)
				case 2:
					s.id = hex.EncodeToString(value)
				case 4:
					s.parent = hex.EncodeToString(value)
				case 5:
					s.name = string(value)
				}
				return nil
			})
			c.spans = append(c.spans, s)
			return err
		})
	}
	if err != nil {
		c.broken = err
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/x-protobuf") // an empty answer: all was taken
}

// inside calls visit for the messages at the end of a path of fields.
func inside(b []byte, path []protowire.Number, visit func([]byte) error) error {
	if len(path) == 0 {
		return visit(b)
	}
	return eachBytes(b, func(field protowire.Number, value []byte) error {
		if field != path[0] {
			return nil
		}
		return inside(value, path[1:], visit)
	})
}

// eachBytes calls visit for each field of a message that holds bytes, a text or a
// message.
func eachBytes(b []byte, visit func(field protowire.Number, value []byte) error) error {
	for len(b) > 0 {
		field, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return fmt.Errorf("a protobuf tag: %w", protowire.ParseError(n))
		}
		b = b[n:]
		if kind != protowire.BytesType {
			if n = protowire.ConsumeFieldValue(field, kind, b); n < 0 {
				return fmt.Errorf("protobuf field %d: %w", field, protowire.ParseError(n))
			}
			b = b[n:]
			continue
		}
		value, n := protowire.ConsumeBytes(b)
		if n < 0 {
			return fmt.Errorf("protobuf field %d: %w", field, protowire.ParseError(n))
		}
		b = b[n:]
		if err := visit(field, value); err != nil {
			return err
		}
	}
	return nil
}

// all are the spans so far.
func (c *spanCollector) all() ([]span, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.spans), c.broken
}
