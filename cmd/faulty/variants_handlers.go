package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/pugcheck/pugcheck/reference/pugmark/transport"
)

// processVariants start handlers in other ways.
var processVariants = map[string]Fault{
	"further-variables": processes(func(p *transport.Process, _ transport.Identity) {
		p.Env = append(os.Environ(), "PUGMARK_LOG_LEVEL=debug", "PUGMARK_RUNTIME=variant", "PUGMARK_PROTOCOL_VERSION=1", "AGENT=a b")
	}),
	"bare-environment": processes(func(p *transport.Process, _ transport.Identity) {
		p.Env = []string{"PATH=" + os.Getenv("PATH")}
	}),
	"empty-variables-unset": processes(func(p *transport.Process, id transport.Identity) {
		var unset []string
		if id.Agent == "" {
			unset = append(unset, "-u", "PUGMARK_AGENT_ID")
		}
		if len(id.Metadata) == 0 {
			unset = append(unset, "-u", "PUGMARK_SESSION_METADATA")
		}
		p.Args = append(append([]string{"env"}, unset...), p.Args...)
	}),
	"other-variable-name": processes(func(p *transport.Process, id transport.Identity) {
		p.Args = append([]string{"env", "-u", "PUGMARK_SNAPSHOT_VERSION", "PUGMARK_VERSION=" + strconv.FormatUint(uint64(id.Version), 10)}, p.Args...)
	}),
	"through-a-shell": processes(func(p *transport.Process, _ transport.Identity) {
		p.Args = append([]string{"sh", "-c", `cd / && "$@"; exit $?`, "sh"}, p.Args...)
	}),
	"no-trace-state": {Handler: func(next transport.Handler) transport.Handler {
		return handlerFunc(func(ctx context.Context, inv transport.Invocation) error {
			inv.TraceState = ""
			return next.Invoke(ctx, inv)
		})
	}},
}

// processes changes how a handler's process is started, one that hosts a service
// too.
func processes(change func(p *transport.Process, id transport.Identity)) Fault {
	return Fault{Handler: func(next transport.Handler) transport.Handler {
		return handlerFunc(func(ctx context.Context, inv transport.Invocation) error {
			switch h := next.(type) {
			case *transport.Process:
				p := *h
				change(&p, inv.Identity)
				return p.Invoke(ctx, inv)
			case *transport.Service:
				s := *h
				change(&s.Process, inv.Identity)
				return s.Invoke(ctx, inv)
			}
			return next.Invoke(ctx, inv)
		})
	}}
}

// serviceVariants send other requests to handlers that are services.
var serviceVariants = map[string]Fault{
	"other-query-names": relayed(func(r *http.Request) {
		q := r.URL.Query()
		r.URL.RawQuery = url.Values{"v": q["version"], "agent_id": q["agent"], "session_id": q["session"]}.Encode()
	}),
	"further-headers": relayed(func(r *http.Request) {
		r.Header.Set("X-Request-Id", "0123")
		r.Header.Set("X-Pugmark-Runtime", "variant")
		r.Header.Set("Accept", "application/json")
		r.Header.Set("Content-Type", "application/json; charset=utf-8")
		if text := r.Header.Get("X-Pugmark-Session-Metadata"); text != "" {
			var plain string
			if unquoted, err := strconv.Unquote(`"` + strings.ReplaceAll(text, `"`, `\"`) + `"`); err == nil && !strings.ContainsAny(unquoted, "\\\r\n") {
				plain = unquoted
			}
			if plain != "" {
				r.Header.Set("X-Pugmark-Session-Metadata", plain)
			}
		}
	}),
	"service-probed-first": {Handler: func(next transport.Handler) transport.Handler {
		h, ok := next.(*transport.HTTP)
		if !ok {
			return next
		}
		return handlerFunc(func(ctx context.Context, inv transport.Invocation) error {
			if conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", h.URL.Host); err == nil {
				conn.Close()
			}
			if r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+h.URL.Host+"/healthz", nil); err == nil {
				if answer, err := http.DefaultClient.Do(r); err == nil {
					answer.Body.Close()
				}
			}
			return next.Invoke(ctx, inv)
		})
	}},
}

// relayed changes the head of the request that a service gets. The head is
// rewritten on its way through a port of this process; what follows it, and all
// that comes back, is passed on byte by byte.
func relayed(change func(r *http.Request)) Fault {
	return Fault{Handler: func(next transport.Handler) transport.Handler {
		h, ok := next.(*transport.HTTP)
		if !ok {
			return next
		}
		return handlerFunc(func(ctx context.Context, inv transport.Invocation) error {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return err
			}
			defer listener.Close()
			go func() {
				for {
					conn, err := listener.Accept()
					if err != nil {
						return
					}
					go relay(conn.(*net.TCPConn), h.URL.Host, change)
				}
			}()
			u := *h.URL
			u.Host = listener.Addr().String()
			return (&transport.HTTP{URL: &u}).Invoke(ctx, inv)
		})
	}}
}

func relay(in *net.TCPConn, host string, change func(r *http.Request)) {
	defer in.Close()
	from := bufio.NewReader(in)
	r, err := http.ReadRequest(from)
	if err != nil {
		return
	}
	out, err := net.Dial("tcp", host)
	if err != nil {
		_ = in.SetLinger(0)
		return
	}
	defer out.Close()
	r.Host = host
	change(r)
	r.Header.Del("Content-Length")
	var head bytes.Buffer
	head.WriteString("POST " + r.URL.RequestURI() + " HTTP/1.1\r\nHost: " + r.Host + "\r\nContent-Length: " + strconv.FormatInt(r.ContentLength, 10) + "\r\n")
	_ = r.Header.Write(&head)
	head.WriteString("Connection: close\r\n\r\n")
	go func() {
		_, _ = io.Copy(out, io.MultiReader(&head, from))
		_ = out.(*net.TCPConn).CloseWrite()
	}()
	if _, err := io.Copy(in, out); err != nil {
		_ = in.SetLinger(0) // a connection that was reset is reset
	}
}
