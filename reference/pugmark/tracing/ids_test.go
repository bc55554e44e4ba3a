package tracing_test

import (
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/pugcheck/pugcheck/reference/pugmark/tracing"
)

func TestIDs(t *testing.T) {
	tracer := sdktrace.NewTracerProvider(sdktrace.WithIDGenerator(tracing.IDs{})).Tracer("test")
	id := trace.TraceID{1, 2, 3}

	outer, _ := tracer.Start(t.Context(), "elsewhere")
	if trace.SpanContextFromContext(outer).TraceID() == id {
		t.Fatal("a trace ID out of nowhere")
	}
	ctx, root := tracer.Start(tracing.InTrace(outer, id), "root")
	_, child := tracer.Start(ctx, "child")
	_, sibling := tracer.Start(ctx, "sibling")
	for _, span := range []trace.Span{root, child, sibling} {
		if c := span.SpanContext(); c.TraceID() != id || !c.SpanID().IsValid() {
			t.Errorf("got %+v", c)
		}
	}
	if root.(sdktrace.ReadOnlySpan).Parent().IsValid() {
		t.Error("the root has a parent")
	}
	if parent := child.(sdktrace.ReadOnlySpan).Parent(); parent.SpanID() != root.SpanContext().SpanID() {
		t.Errorf("the child has the parent %s", parent.SpanID())
	}
	if child.SpanContext().SpanID() == sibling.SpanContext().SpanID() {
		t.Error("two spans have one ID")
	}

	_, a := tracer.Start(tracing.InTrace(outer, trace.TraceID{}), "a")
	_, b := tracer.Start(t.Context(), "b")
	for _, span := range []trace.Span{a, b} {
		if !span.SpanContext().IsValid() {
			t.Errorf("got %+v", span.SpanContext())
		}
	}
	if a.SpanContext().TraceID() == b.SpanContext().TraceID() {
		t.Error("two traces have one ID")
	}
}
