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

// traceContext is what an invocation's handler gets: a fresh root span of the
// session's own trace.
//
// P14.1-2, S4.1-6: the trace ID is the session ID, whatever trace this process
// was started in. P14-2: a trace state that belongs to the same trace is passed
// on; F-17: a foreign one has no place and is dropped.
func traceContext(id layout.SessionID, outer TraceContext) TraceContext {
	config := trace.SpanContextConfig{TraceID: trace.TraceID(id), TraceFlags: trace.FlagsSampled}
	format := propagation.TraceContext{}
	ctx := format.Extract(context.Background(), propagation.MapCarrier{"traceparent": outer.Parent, "tracestate": outer.State})
	if parent := trace.SpanContextFromContext(ctx); parent.TraceID() == config.TraceID {
		config.TraceFlags, config.TraceState = parent.TraceFlags(), parent.TraceState()
	}
	for !config.SpanID.IsValid() {
		rand.Read(config.SpanID[:])
	}
	carrier := propagation.MapCarrier{}
	format.Inject(trace.ContextWithSpanContext(context.Background(), trace.NewSpanContext(config)), carrier)
	return TraceContext{Parent: carrier.Get("traceparent"), State: carrier.Get("tracestate")}
}
