package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/pugcheck/pugcheck/reference/pugmark/engine"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
	"github.com/pugcheck/pugcheck/reference/pugmark/stream"
	"github.com/pugcheck/pugcheck/reference/pugmark/transport"
)

// contextFaults spoil what surrounds the streams: the trace context, the choice of
// the handler, what children inherit.
var contextFaults = map[string]Fault{
	"no-traceparent":        identity(process, func(id *transport.Identity) { id.TraceParent = "" }),
	"no-traceparent-header": identity(service, func(id *transport.Identity) { id.TraceParent = "" }),
	"state-is-the-parent": identity(process, func(id *transport.Identity) {
		if id.TraceState != "" {
			id.TraceState = id.TraceParent
		}
	}),
	"state-header-garbled": identity(service, func(id *transport.Identity) {
		if id.TraceState != "" {
			id.TraceState = "vendor abc"
		}
	}),
	"parent-of-zeros": identity(process, func(id *transport.Identity) {
		id.TraceParent = id.TraceParent[:36] + strings.Repeat("0", 16) + id.TraceParent[52:]
	}),
	"trace-at-random":       identity(process, func(id *transport.Identity) { id.TraceParent = retraced(id.TraceParent) }),
	"new-trace-for-a-wake":  newTraceForAWake(),
	"port-as-an-argument":   {Handler: portAsAnArgument},
	"first-handler-always":  handlers(func(h *engine.Handlers, names []string) { setAll(h, h.Named[names[0]]) }),
	"last-named-is-default": handlers(func(h *engine.Handlers, names []string) { h.Default = h.Named[names[len(names)-1]] }),
	"handler-not-inherited": manifestsWritten(func(_ context.Context, _ store.Store, m map[string]any) { delete(m, "handler") }),
	"agent-of-the-process":  manifestsWritten(func(_ context.Context, _ store.Store, m map[string]any) { m["agent"] = os.Getenv("PUGMARK_AGENT_ID") }),
	"children-by-default": manifestsRead(func(m map[string]any, _ int) {
		if m["parent"] != nil && m["session"] == running {
			delete(m, "handler")
		}
	}),
	"upgrades-instead": {Handler: func(next transport.Handler) transport.Handler {
		h, ok := next.(*transport.HTTP)
		if !ok {
			return next
		}
		return handlerFunc(func(ctx context.Context, _ transport.Invocation) error {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, h.URL.String(), nil)
			if err != nil {
				return err
			}
			req.Header.Set("Connection", "Upgrade")
			req.Header.Set("Upgrade", "websocket")
			res, err := http.DefaultTransport.RoundTrip(req)
			if err != nil {
				return err
			}
			return res.Body.Close()
		})
	}},
	"schemaless-over-http": {Handler: func(next transport.Handler) transport.Handler {
		if _, ok := next.(*transport.HTTP); !ok {
			return next
		}
		return replay(func(in *stream.Input) { in.SchemaURL = "" }).Handler(next)
	}},
}

// retraced is a trace context with another trace ID.
func retraced(parent string) string {
	var id [16]byte
	_, _ = rand.Read(id[:])
	return parent[:3] + hex.EncodeToString(id[:]) + parent[35:]
}

// newTraceForAWake knows the event before the handler is started.
func newTraceForAWake() Fault {
	return Fault{Handler: func(next transport.Handler) transport.Handler {
		return handlerFunc(func(ctx context.Context, inv transport.Invocation) error {
			var whole bytes.Buffer
			if err := inv.Inputs(ctx, &whole); err != nil {
				return err
			}
			if in := decode(whole.Bytes()); len(in) > 0 && in[len(in)-1].Event == stream.EventWake {
				inv.TraceParent = retraced(inv.TraceParent)
			}
			inv.Inputs = func(_ context.Context, w io.Writer) error {
				_, err := w.Write(whole.Bytes())
				return err
			}
			return next.Invoke(ctx, inv)
		})
	}}
}

// portAsAnArgument hides the address from the environment of a hosting process.
func portAsAnArgument(next transport.Handler) transport.Handler {
	if s, ok := next.(*transport.Service); ok {
		hidden := *s
		hidden.Args = append([]string{"env", "-u", "PUGMARK_RPC_ADDRESS"}, s.Args...)
		return &hidden
	}
	return next
}

// handlers changes which handlers are registered, where there are named ones.
func handlers(change func(h *engine.Handlers, names []string)) Fault {
	return Fault{Engine: func(c *engine.Config) {
		if names := slices.Sorted(maps.Keys(c.Handlers.Named)); len(names) > 0 {
			change(&c.Handlers, names)
		}
	}}
}

func setAll(h *engine.Handlers, to transport.Handler) {
	for name := range h.Named {
		h.Named[name] = to
	}
}
