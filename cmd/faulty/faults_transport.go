package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"

	"github.com/pugcheck/pugcheck/reference/pugmark/transport"
)

// transportFaults spoil how a handler is reached, over pipes and by HTTP.
var transportFaults = map[string]Fault{
	"never-invoked": {Handler: func(transport.Handler) transport.Handler {
		return handlerFunc(func(context.Context, transport.Invocation) error { return nil })
	}},
	"inputs-in-a-file": {Handler: func(next transport.Handler) transport.Handler {
		p, ok := next.(*transport.Process)
		if !ok {
			return next
		}
		return handlerFunc(func(ctx context.Context, inv transport.Invocation) error {
			file, err := os.CreateTemp("", "inputs")
			if err != nil {
				return err
			}
			defer os.Remove(file.Name())
			if err := errors.Join(inv.Inputs(ctx, file), file.Close()); err != nil {
				return err
			}
			told := *p
			told.Args = append(append([]string{}, p.Args...), file.Name())
			inv.Inputs = func(context.Context, io.Writer) error { return nil }
			return told.Invoke(ctx, inv)
		})
	}},
	"output-is-fd-2":          throughShell(`exec "$@" 2>&1 >/dev/null`),
	"both-outputs-in-one":     throughShell(`exec "$@" 2>&1`),
	"commits-at-output's-end": commitsAtTheOutputsEnd(),
	"puts-instead-of-posting": proxied(func(r *httputil.ProxyRequest) { r.Out.Method = http.MethodPut }, nil),
	"posts-to-the-root":       proxied(func(r *httputil.ProxyRequest) { r.Out.URL.Path = "/" }, nil),
	"inputs-in-an-envelope": {Handler: func(next transport.Handler) transport.Handler {
		if _, ok := next.(*transport.HTTP); !ok {
			return next
		}
		return input(func(whole []byte) []byte {
			list := strings.Join(strings.Split(strings.TrimSpace(string(whole)), "\n"), ",")
			return []byte(`{"inputs":[` + list + "]}\n")
		}).Handler(next)
	}},
	"length-required": proxied(nil, func(r *http.Response) error {
		if r.ContentLength < 0 {
			return errors.New("the response has no Content-Length")
		}
		return nil
	}),
	"success-by-any-2xx": proxied(nil, func(r *http.Response) error {
		if r.StatusCode/100 == 2 {
			r.StatusCode = http.StatusOK
		}
		return nil
	}),
	"broken-off-is-ended": {Handler: func(next transport.Handler) transport.Handler {
		if _, ok := next.(*transport.HTTP); !ok {
			return next
		}
		return handlerFunc(func(ctx context.Context, inv transport.Invocation) error {
			consume := inv.Outputs
			inv.Outputs = func(ctx context.Context, r io.Reader) error {
				whole, _ := io.ReadAll(r) // whatever ended it
				return consume(ctx, bytes.NewReader(whole))
			}
			return next.Invoke(ctx, inv)
		})
	}},
	"query-without-version": queries(func(q url.Values) { q.Del("version") }),
	"query-with-other-names": queries(func(q url.Values) {
		for _, name := range []string{"agent", "session", "version"} {
			q[name+"_id"] = q[name]
			q.Del(name)
		}
	}),
	"header-also-when-empty": proxied(func(r *httputil.ProxyRequest) {
		if r.Out.Header.Get(metadataHeader) == "" {
			r.Out.Header.Set(metadataHeader, "{}")
		}
	}, nil),
	"posts-ndjson": proxied(func(r *httputil.ProxyRequest) { r.Out.Header.Set("Content-Type", "application/x-ndjson") }, nil),
	"all-in-chunks": proxied(func(r *httputil.ProxyRequest) {
		r.Out.ContentLength = -1
		r.Out.Header.Del("Content-Length")
	}, nil),
	"large-in-chunks": proxied(func(r *httputil.ProxyRequest) {
		if r.Out.ContentLength > 64<<10 {
			r.Out.ContentLength = -1
			r.Out.Header.Del("Content-Length")
		}
	}, nil),
	"metadata-in-pairs": proxied(func(r *httputil.ProxyRequest) {
		if text := r.Out.Header.Get(metadataHeader); text != "" {
			r.Out.Header.Set(metadataHeader, strings.NewReplacer(`{`, "", `}`, "", `":"`, "=", `"`, "").Replace(text))
		}
	}, nil),
}

const metadataHeader = "X-Pugmark-Session-Metadata"

// throughShell starts a process by a line of shell that gets the command as its
// arguments.
func throughShell(line string) Fault {
	return Fault{Handler: func(next transport.Handler) transport.Handler {
		if p, ok := next.(*transport.Process); ok {
			shelled := *p
			shelled.Args = append([]string{"sh", "-c", line, "sh"}, p.Args...)
			return &shelled
		}
		return next
	}}
}

// commitsAtTheOutputsEnd does not wait for a process whose output has ended.
func commitsAtTheOutputsEnd() Fault {
	return Fault{Handler: func(next transport.Handler) transport.Handler {
		if _, ok := next.(*transport.Process); !ok {
			return next
		}
		return handlerFunc(func(ctx context.Context, inv transport.Invocation) error {
			consume, read := inv.Outputs, make(chan error, 1)
			inv.Outputs = func(ctx context.Context, r io.Reader) error {
				err := consume(ctx, r)
				read <- err
				return err
			}
			go func() { _ = next.Invoke(context.WithoutCancel(ctx), inv) }()
			return <-read
		})
	}}
}

// queries changes the query of an HTTP handler's URL.
func queries(change func(q url.Values)) Fault {
	return proxied(func(r *httputil.ProxyRequest) {
		q := r.Out.URL.Query()
		change(q)
		r.Out.URL.RawQuery = q.Encode()
	}, nil)
}

// proxied puts a proxy between the runtime and an HTTP handler.
func proxied(rewrite func(*httputil.ProxyRequest), respond func(*http.Response) error) Fault {
	return Fault{Handler: func(next transport.Handler) transport.Handler {
		h, ok := next.(*transport.HTTP)
		if !ok {
			return next
		}
		return handlerFunc(func(ctx context.Context, inv transport.Invocation) error {
			proxy := httptest.NewServer(&httputil.ReverseProxy{
				Rewrite: func(r *httputil.ProxyRequest) {
					r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = h.URL.Scheme, h.URL.Host, h.URL.Host
					if rewrite != nil {
						rewrite(r)
					}
				},
				ModifyResponse: respond,
			})
			defer proxy.Close()
			u, err := url.Parse(proxy.URL + h.URL.RequestURI())
			if err != nil {
				return err
			}
			return (&transport.HTTP{URL: u}).Invoke(ctx, inv)
		})
	}}
}
