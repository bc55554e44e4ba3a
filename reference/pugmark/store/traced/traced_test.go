package traced_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/pugcheck/pugcheck/reference/pugmark/store"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/mem"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/storetest"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/traced"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(*testing.T) func() store.Store {
		s := traced.New(mem.New(), sdktrace.NewTracerProvider())
		return func() store.Store { return s }
	})
}

// rig is a traced store, the spans that it has finished, and a context within a span.
func rig(t *testing.T, below store.Store) (context.Context, *tracetest.InMemoryExporter, store.Store) {
	spans := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	ctx, _ := provider.Tracer("test").Start(t.Context(), "parent")
	return ctx, spans, traced.New(below, provider)
}

func TestSpans(t *testing.T) {
	put := func(options store.PutOptions) func(context.Context, store.Store) error {
		return func(ctx context.Context, s store.Store) error {
			_, err := store.PutBytes(ctx, s, "sessions/a", []byte("body"), options)
			return err
		}
	}
	for _, tc := range []struct {
		name, span string
		do         func(context.Context, store.Store) error
		want       error
		attributes map[string]string
	}{
		{"put", "store.put", put(store.PutOptions{}), nil, map[string]string{"outcome": "ok"}},
		{"put if absent", "store.put", put(store.PutOptions{IfAbsent: true}), store.ErrExists,
			map[string]string{"outcome": "exists", "condition": "if-absent"}},
		{"put if match", "store.put", put(store.PutOptions{IfMatch: "other"}), store.ErrMismatch,
			map[string]string{"outcome": "mismatch", "condition": "if-match"}},
		{"get", "store.open", func(ctx context.Context, s store.Store) error {
			_, _, err := store.Get(ctx, s, "sessions/a")
			return err
		}, nil, map[string]string{"outcome": "ok", "bytes": "7"}},
		{"get nothing", "store.open", func(ctx context.Context, s store.Store) error {
			_, _, err := s.Open(ctx, "sessions/none")
			return err
		}, store.ErrNotFound, map[string]string{"outcome": "not-found", "key": "sessions/none"}},
		{"head", "store.head", func(ctx context.Context, s store.Store) error {
			_, err := s.Head(ctx, "sessions/a")
			return err
		}, nil, map[string]string{"outcome": "ok"}},
		{"delete", "store.delete", func(ctx context.Context, s store.Store) error {
			return s.Delete(ctx, "sessions/a", store.DeleteOptions{})
		}, nil, map[string]string{"outcome": "ok"}},
		{"list", "store.list", func(ctx context.Context, s store.Store) error {
			_, err := s.List(ctx, "sessions/", store.ListOptions{})
			return err
		}, nil, map[string]string{"outcome": "ok", "key": "sessions/", "keys": "1"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bucket := mem.New()
			if _, err := store.PutBytes(t.Context(), bucket, "sessions/a", []byte("present"), store.PutOptions{}); err != nil {
				t.Fatal(err)
			}
			ctx, spans, s := rig(t, bucket)
			if err := tc.do(ctx, s); !errors.Is(err, tc.want) {
				t.Fatalf("got %v, want %v", err, tc.want)
			}
			got := spans.GetSpans()
			if len(got) != 1 || got[0].Name != tc.span || got[0].SpanKind != trace.SpanKindClient || got[0].Status.Code != codes.Unset {
				t.Fatalf("got %+v", got)
			}
			want := map[string]string{"room": "sessions", "key": "sessions/a"}
			for k, v := range tc.attributes {
				want[k] = v
			}
			if diff := cmp.Diff(want, attributes(got[0])); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// attributes are a span's, without what their keys begin with.
func attributes(s tracetest.SpanStub) map[string]string {
	m := map[string]string{}
	for _, a := range s.Attributes {
		m[strings.TrimPrefix(string(a.Key), "pugmark.store.")] = a.Value.String()
	}
	return m
}

// failing is a store whose Open gives this body and error.
type failing struct {
	store.Store
	body io.ReadCloser
	err  error
}

func (f failing) Open(context.Context, string) (io.ReadCloser, store.Attributes, error) {
	return f.body, store.Attributes{}, f.err
}

func TestFailures(t *testing.T) {
	for _, tc := range []struct {
		name    string
		err     error
		outcome string
		code    codes.Code
	}{
		{"failed", errors.New("the network is down"), "failed", codes.Error},
		{"no bucket", store.ErrNoBucket, "failed", codes.Error},
		{"cancelled", context.Canceled, "cancelled", codes.Unset},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, at := range []string{"open", "read"} {
				below := failing{err: tc.err}
				if at == "read" {
					below = failing{body: io.NopCloser(iotest.ErrReader(tc.err))}
				}
				ctx, spans, s := rig(t, below)
				body, _, err := s.Open(ctx, "objects/x")
				if at == "read" && err == nil {
					if n := len(spans.GetSpans()); n > 0 {
						t.Errorf("%d spans have ended before the body is read", n)
					}
					_, err = io.ReadAll(body)
					body.Close()
				}
				if !errors.Is(err, tc.err) {
					t.Fatal(err)
				}
				got := spans.GetSpans()
				if len(got) != 1 || got[0].Status.Code != tc.code || attributes(got[0])["outcome"] != tc.outcome {
					t.Errorf("%s: %+v", at, got)
				}
			}
		})
	}
}

func TestParent(t *testing.T) {
	ctx, spans, s := rig(t, mem.New())
	if _, err := s.List(ctx, "", store.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	parent := trace.SpanContextFromContext(ctx).SpanID()
	if got := spans.GetSpans(); len(got) != 1 || got[0].Parent.SpanID() != parent {
		t.Errorf("got %+v", got)
	}
	// Without a parent there is no trace that the request could be in.
	spans.Reset()
	if _, err := s.List(t.Context(), "", store.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := spans.GetSpans(); len(got) > 0 {
		t.Errorf("got %+v", got)
	}
}
