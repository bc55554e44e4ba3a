// Package traced makes a span of every request to a store that is made within one.
//
// A span is named after its operation: store.open, store.head, store.put,
// store.delete, store.list. Its attributes are
//
//	pugmark.store.key        the key, or the prefix of a listing
//	pugmark.store.room       which part of the bucket that is: objects, sessions, memories, refs
//	pugmark.store.condition  of a put or delete: if-absent or if-match, missing where there is none
//	pugmark.store.bytes      the size of the object that was opened
//	pugmark.store.keys       how many keys a page of a listing has
//	pugmark.store.outcome    ok, or why not: not-found, exists, mismatch, cancelled, failed
//
// Only failed is an error in the sense of the span's status. The others are answers
// that a runtime reckons with.
package traced

import (
	"context"
	"errors"
	"io"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/pugcheck/pugcheck/reference/pugmark/store"
	"github.com/pugcheck/pugcheck/reference/pugmark/tracing"
)

const scope = "github.com/pugcheck/pugcheck/reference/pugmark/store"

const (
	keyKey    = attribute.Key("pugmark.store.key")
	roomKey   = attribute.Key("pugmark.store.room")
	onlyIfKey = attribute.Key("pugmark.store.condition")
	bytesKey  = attribute.Key("pugmark.store.bytes")
	countKey  = attribute.Key("pugmark.store.keys")
	endedKey  = attribute.Key("pugmark.store.outcome")
)

// New gives s with a span of provider for each request, below the span of the
// request's context. A request without one, such as a look at the whole bucket, has
// no trace to be in and gets no span (P14.1-3). Keys are recorded as they are given to it, so it belongs around
// the part of a bucket whose root is that of the layout.
func New(s store.Store, provider trace.TracerProvider) store.Store {
	return &traced{store: s, tracer: provider.Tracer(scope)}
}

type traced struct {
	store  store.Store
	tracer trace.Tracer
}

func (t *traced) Open(ctx context.Context, key string) (io.ReadCloser, store.Attributes, error) {
	ctx, span := t.start(ctx, "store.open", key)
	body, attrs, err := t.store.Open(ctx, key)
	answered(span, err)
	if err != nil {
		span.End()
		return nil, attrs, err
	}
	span.SetAttributes(bytesKey.Int64(attrs.Size))
	return tracing.Until(body, span, func(err error) { answered(span, err) }), attrs, nil
}

func (t *traced) Head(ctx context.Context, key string) (store.Attributes, error) {
	ctx, span := t.start(ctx, "store.head", key)
	defer span.End()
	attrs, err := t.store.Head(ctx, key)
	answered(span, err)
	return attrs, err
}

func (t *traced) Put(ctx context.Context, key string, body io.ReadSeeker, options store.PutOptions) (string, error) {
	ctx, span := t.start(ctx, "store.put", key)
	defer span.End()
	condition(span, options.IfAbsent, options.IfMatch)
	etag, err := t.store.Put(ctx, key, body, options)
	answered(span, err)
	return etag, err
}

func (t *traced) Delete(ctx context.Context, key string, options store.DeleteOptions) error {
	ctx, span := t.start(ctx, "store.delete", key)
	defer span.End()
	condition(span, false, options.IfMatch)
	err := t.store.Delete(ctx, key, options)
	answered(span, err)
	return err
}

func (t *traced) List(ctx context.Context, prefix string, options store.ListOptions) (store.Page, error) {
	ctx, span := t.start(ctx, "store.list", prefix)
	defer span.End()
	page, err := t.store.List(ctx, prefix, options)
	span.SetAttributes(countKey.Int(len(page.Keys)))
	answered(span, err)
	return page, err
}

// ReadOnly implements store.ReadOnly for a store below that does.
func (t *traced) ReadOnly() error { return store.CheckWritable(t.store) }

func (t *traced) start(ctx context.Context, name, key string) (context.Context, trace.Span) {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return ctx, noop.Span{}
	}
	room, _, _ := strings.Cut(key, "/")
	return t.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(keyKey.String(key), roomKey.String(room)))
}

func condition(span trace.Span, ifAbsent bool, ifMatch string) {
	switch {
	case ifAbsent:
		span.SetAttributes(onlyIfKey.String("if-absent"))
	case ifMatch != "":
		span.SetAttributes(onlyIfKey.String("if-match"))
	}
}

// answered notes how the request ended.
func answered(span trace.Span, err error) {
	outcome := "failed"
	switch {
	case err == nil:
		outcome = "ok"
	case errors.Is(err, store.ErrNotFound):
		outcome = "not-found"
	case errors.Is(err, store.ErrExists):
		outcome = "exists"
	case errors.Is(err, store.ErrMismatch):
		outcome = "mismatch"
	case errors.Is(err, context.Canceled):
		outcome = "cancelled" // whoever asked does not want the answer any more
	default:
		span.RecordError(err)
		span.SetStatus(codes.Error, err.Error())
	}
	span.SetAttributes(endedKey.String(outcome))
}
