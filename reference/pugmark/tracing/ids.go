// Package tracing ties OpenTelemetry traces to sessions: all spans of a session, of
// whichever run and process, are in the one trace that has the session's ID.
//
// A TracerProvider that draws its identifiers from [IDs] begins each trace where
// [InTrace] says. Package export makes one of the process's environment.
package tracing

import (
	"context"
	"encoding/binary"
	"math/rand/v2"

	"go.opentelemetry.io/otel/trace"
)

type traceKey struct{}

// InTrace gives a context in which a span without a parent belongs to the trace id,
// if IDs is asked. It has no parent span itself, whatever ctx has.
func InTrace(ctx context.Context, id trace.TraceID) context.Context {
	ctx = trace.ContextWithSpanContext(ctx, trace.SpanContext{})
	return context.WithValue(ctx, traceKey{}, id)
}

// IDs makes the identifiers of spans, random but for the trace IDs of InTrace. It is
// an IDGenerator of the OpenTelemetry SDK, for its option WithIDGenerator.
type IDs struct{}

// NewIDs gives the identifiers of a span that has no parent.
//
// P14.1-2, S4.1-6: the trace is the session's where InTrace said which one that is.
func (IDs) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	id, _ := ctx.Value(traceKey{}).(trace.TraceID)
	for !id.IsValid() {
		binary.NativeEndian.PutUint64(id[:8], rand.Uint64())
		binary.NativeEndian.PutUint64(id[8:], rand.Uint64())
	}
	return id, newSpanID()
}

// NewSpanID gives the identifier of another span of a trace. P14-3: never zero.
func (IDs) NewSpanID(context.Context, trace.TraceID) trace.SpanID { return newSpanID() }

func newSpanID() trace.SpanID {
	var id trace.SpanID
	for !id.IsValid() {
		binary.NativeEndian.PutUint64(id[:], rand.Uint64())
	}
	return id
}
