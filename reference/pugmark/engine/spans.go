package engine

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/tracing"
)

// The spans of a run, below one another as they are printed here. Requests to the
// store hang below the span that they are made for, if its store makes spans.
const (
	spanRun     = "pugmark.run"     // one call of Run; in the session's trace
	spanLoad    = "pugmark.load"    // the session is looked at
	spanSettle  = "pugmark.settle"  // forks and deliveries that an earlier run left undone
	spanSleep   = "pugmark.sleep"   // the wait for start-at
	spanInvoke  = "pugmark.invoke"  // one invocation, commit and all; bodies are stored below it
	spanHandler = "pugmark.handler" // the handler; its own spans, and what it reads, go below this one
	spanInputs  = "pugmark.inputs"  // the input stream is written
	spanFetch   = "pugmark.fetch"   // the body behind a uri is read
	spanCommit  = "pugmark.commit"  // the conditional write, with what it takes to get through
	spanMemory  = "pugmark.memory"  // one namespace is written
	spanDeliver = "pugmark.deliver" // one batch goes to another session
)

const (
	keySession     = attribute.Key("pugmark.session")
	keyVersion     = attribute.Key("pugmark.version") // run against, or delivered
	keyAgent       = attribute.Key("pugmark.agent")
	keyHandler     = attribute.Key("pugmark.handler") // the registered name
	keyEvent       = attribute.Key("pugmark.event")   // the lifecycle event
	keyState       = attribute.Key("pugmark.state")   // how the run ended
	keyInvocations = attribute.Key("pugmark.invocations")
	keyNamespace   = attribute.Key("pugmark.memory.namespace")
	keyTarget      = attribute.Key("pugmark.target.session")
	keyLost        = attribute.Key("pugmark.lost") // another run's checkpoint was first
)

const scope = "github.com/pugcheck/pugcheck/reference/pugmark/engine"

// tracer makes spans, which cost next to nothing without a provider.
func (c Config) tracer() trace.Tracer {
	if c.TracerProvider == nil {
		return noop.Tracer{}
	}
	return c.TracerProvider.Tracer(scope)
}

// startRun begins the span that all others of the run hang below.
//
// P14.1-2, P14.1-3, S4.1-6: it is in the session's trace, whichever trace this
// process was started in. A context of that same trace is its parent. F-17: any
// other is noted as a link, and its trace state is dropped.
func (r *runner) startRun(ctx context.Context) (context.Context, trace.Span) {
	if r.TracerProvider == nil {
		return ctx, noop.Span{}
	}
	ctx = tracing.InTrace(ctx, trace.TraceID(r.id))
	options := []trace.SpanStartOption{trace.WithAttributes(keySession.String(r.id.String()))}
	switch outer := r.Trace.parse(); {
	case outer.TraceID() == trace.TraceID(r.id):
		ctx = trace.ContextWithRemoteSpanContext(ctx, outer)
	case outer.IsValid():
		options = append(options, trace.WithLinks(trace.Link{SpanContext: outer}))
	}
	return r.tracer().Start(ctx, spanRun, options...)
}

// finishRun ends the span of startRun.
func finishRun(span trace.Span, result Result, err error) {
	span.SetAttributes(
		keyVersion.Int64(int64(result.Version)),
		keyInvocations.Int(result.Invocations),
		keyState.String(string(result.State)))
	finish(span, err)
}

// within calls do within a span.
func within[T any](ctx context.Context, r *runner, name string, do func(context.Context) (T, error), attributes ...attribute.KeyValue) (T, error) {
	ctx, span := r.tracer().Start(ctx, name, trace.WithAttributes(attributes...))
	result, err := do(ctx)
	finish(span, err)
	return result, err
}

// during is within for a function that has no result.
func (r *runner) during(ctx context.Context, name string, do func(context.Context) error) error {
	_, err := within(ctx, r, name, func(ctx context.Context) (struct{}, error) { return struct{}{}, do(ctx) })
	return err
}

// finish ends a span and notes the error with which it ended, if any.
func finish(span trace.Span, err error) {
	if err != nil {
		note(span, err)
	}
	span.End()
}

// note makes err the outcome of a span. Losing to another run is no failure.
func note(span trace.Span, err error) {
	switch {
	case errors.Is(err, session.ErrConflict):
		span.SetAttributes(keyLost.Bool(true))
	default:
		span.RecordError(err)
		span.SetStatus(codes.Error, err.Error())
	}
}

// startHandler begins the span whose context the handler gets.
func (r *runner) startHandler(ctx context.Context, st *state) trace.Span {
	_, span := r.tracer().Start(ctx, spanHandler, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		keyAgent.String(st.manifest.Agent),
		keyHandler.String(st.manifest.Handler)))
	return span
}

// contextFor is what the handler behind span gets. P14.1-2: a context of the
// session's trace in any case, whatever a provider makes of its spans.
func (r *runner) contextFor(span trace.Span) TraceContext {
	if c := span.SpanContext(); r.TracerProvider != nil && c.IsValid() && c.TraceID() == trace.TraceID(r.id) {
		return textOf(c)
	}
	return traceContext(r.id, r.Trace)
}

// servedFor answers the requests of the handler behind span. P14-9: what is read
// from the store for one is below the span that its traceparent names, a span of the
// handler's own; or else, and where that one is of another trace (P14.1-3), below
// span.
func (r *runner) servedFor(span trace.Span, service http.Handler) http.Handler {
	if r.TracerProvider == nil {
		return service
	}
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		ctx := trace.ContextWithSpan(req.Context(), span)
		asked := trace.SpanContextFromContext(w3c.Extract(context.Background(), propagation.HeaderCarrier(req.Header)))
		if asked.TraceID() == span.SpanContext().TraceID() {
			ctx = trace.ContextWithRemoteSpanContext(ctx, asked)
		}
		service.ServeHTTP(w, req.WithContext(ctx))
	})
}

// fetchSpans gives fetch with a span from the request to the end of the body. A
// uri may have secrets in it, so that the span names its host only.
func (r *runner) fetchSpans(fetch Fetcher) Fetcher {
	if r.TracerProvider == nil {
		return fetch
	}
	return func(ctx context.Context, uri string) (io.ReadCloser, error) {
		ctx, span := r.tracer().Start(ctx, spanFetch, trace.WithSpanKind(trace.SpanKindClient))
		if u, err := url.Parse(uri); err == nil {
			span.SetAttributes(attribute.String("url.scheme", u.Scheme), attribute.String("server.address", u.Hostname()))
		}
		body, err := fetch(ctx, uri)
		if err != nil {
			finish(span, err)
			return nil, err
		}
		return tracing.Until(body, span, func(err error) { note(span, err) }), nil
	}
}
