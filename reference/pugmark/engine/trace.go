package engine

import (
	"context"
	"crypto/rand"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
)

// TraceContext is a W3C trace context in its text form.
type TraceContext struct{ Parent, State string }

var w3c propagation.TraceContext

// parse gives the context that t tells of, zero where it tells of none.
func (t TraceContext) parse() trace.SpanContext {
	carrier := propagation.MapCarrier{"traceparent": t.Parent, "tracestate": t.State}
	return trace.SpanContextFromContext(w3c.Extract(context.Background(), carrier))
}

// textOf is a context in its text form (P14-3).
func textOf(c trace.SpanContext) TraceContext {
	carrier := propagation.MapCarrier{}
	w3c.Inject(trace.ContextWithSpanContext(context.Background(), c), carrier)
	return TraceContext{Parent: carrier.Get("traceparent"), State: carrier.Get("tracestate")}
}

// traceContext is what an invocation's handler gets where no spans are made: a
// fresh root span of the session's own trace.
//
// P14.1-1, P14.1-2, S4.1-5, S4.1-6: the trace ID is the session ID, byte for byte,
// whatever trace this process was started in. P14-2: a trace state that belongs to
// the same trace is passed on; F-17: a foreign one has no place and is dropped.
func traceContext(id layout.SessionID, outer TraceContext) TraceContext {
	config := trace.SpanContextConfig{TraceID: trace.TraceID(id), TraceFlags: trace.FlagsSampled}
	if parent := outer.parse(); parent.TraceID() == config.TraceID {
		config.TraceFlags, config.TraceState = parent.TraceFlags(), parent.TraceState()
	}
	for !config.SpanID.IsValid() {
		rand.Read(config.SpanID[:])
	}
	return textOf(trace.NewSpanContext(config))
}
