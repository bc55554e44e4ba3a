package transport

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// rawServer answers each connection by hand, so that nothing of net/http's
// server is between the test and the bytes. It returns the handler's URL.
func rawServer(t *testing.T, serve func(net.Conn, *bufio.Reader)) *HTTP {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				serve(conn, bufio.NewReader(conn))
			}()
		}
	}()
	h, err := ParseCommand("http://" + l.Addr().String() + "/deep/path?own=1")
	if err != nil {
		t.Fatal(err)
	}
	return h.(*HTTP)
}

// answer reads the request and sends a response as it is given.
func answer(response string) func(net.Conn, *bufio.Reader) {
	return func(conn net.Conn, r *bufio.Reader) {
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		io.Copy(io.Discard, req.Body)
		io.WriteString(conn, response)
	}
}

func TestHTTPRequest(t *testing.T) {
	large := strings.Repeat(`{"name":"entry"}`+"\n", 300_000) // beyond what stays in memory
	for _, input := range []string{"{}\n", large} {
		var got *http.Request
		var body []byte
		h := rawServer(t, func(conn net.Conn, r *bufio.Reader) {
			got, _ = http.ReadRequest(r)
			body, _ = io.ReadAll(got.Body)
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n{} \n")
		})
		var out bytes.Buffer
		inv := invocation(input, &out)
		inv.Agent, inv.TraceState = "a b&c=ü/7", "vendor=abc"
		if err := h.Invoke(t.Context(), inv); err != nil {
			t.Fatal(err)
		}
		if out.String() != "{} \n" || string(body) != input {
			t.Errorf("%d bytes in, %q out", len(body), out.String())
		}
		if got.Method != "POST" || got.URL.Path != "/deep/path" || got.ContentLength != int64(len(input)) || got.TransferEncoding != nil {
			t.Errorf("%+v", got)
		}
		if strings.Contains(got.URL.RawQuery, "+") {
			t.Errorf("a plus in the query %s", got.URL.RawQuery)
		}
		want := url.Values{"own": {"1"}, "agent": {"a b&c=ü/7"}, "session": {inv.Session}, "version": {"300"}}
		if diff := cmp.Diff(want, got.URL.Query()); diff != "" {
			t.Error(diff)
		}
		var metadata map[string]string
		header := got.Header.Get(headerMetadata)
		if err := json.Unmarshal([]byte(header), &metadata); err != nil || !cmp.Equal(metadata, inv.Metadata) {
			t.Errorf("metadata %q: %v", header, err)
		}
		for name, value := range map[string]string{"Content-Type": "application/json", "Traceparent": "00-aa-bb-01", "Tracestate": "vendor=abc"} {
			if diff := cmp.Diff([]string{value}, got.Header[name]); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	}
}

func TestHTTPRequestOfABareManifest(t *testing.T) {
	var got *http.Request
	h := rawServer(t, func(conn net.Conn, r *bufio.Reader) {
		got, _ = http.ReadRequest(r)
		io.Copy(io.Discard, got.Body)
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	})
	h.URL.RawQuery = ""
	inv := invocation("{}\n", &bytes.Buffer{})
	inv.Agent, inv.Metadata = "", nil
	if err := h.Invoke(t.Context(), inv); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{headerMetadata, "Tracestate"} {
		if v, ok := got.Header[name]; ok {
			t.Errorf("%s: %q", name, v)
		}
	}
	if q := got.URL.RawQuery; !strings.HasPrefix(q, "agent=&session=") {
		t.Errorf("query %s", q)
	}
}

func TestHTTPFramings(t *testing.T) {
	for name, response := range map[string]string{
		"length":  "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n{}\n{}\n",
		"chunked": "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n5\r\n}\n{}\n\r\n0\r\n\r\n",
		"close":   "HTTP/1.0 200 OK\r\n\r\n{}\n{}\n",
	} {
		var out bytes.Buffer
		if err := rawServer(t, answer(response)).Invoke(t.Context(), invocation("{}\n", &out)); err != nil || out.String() != "{}\n{}\n" {
			t.Errorf("%s: %v, %q", name, err, out.String())
		}
	}
}

func TestHTTPFailures(t *testing.T) {
	for name, response := range map[string]string{
		"short of the length": "HTTP/1.1 200 OK\r\nContent-Length: 60\r\n\r\n{}\n{}\n",
		"no last chunk":       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{}\n\r\n",
		"no status line":      "",
	} {
		if err := rawServer(t, answer(response)).Invoke(t.Context(), invocation("{}\n", &bytes.Buffer{})); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for _, status := range []int{201, 202, 204, 206, 301, 307, 400, 404, 429, 500, 503} {
		response := fmt.Sprintf("HTTP/1.1 %d Some Reason\r\nLocation: /other\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}", status)
		inv := invocation("{}\n", &bytes.Buffer{})
		inv.Outputs = func(context.Context, io.Reader) error { t.Errorf("%d: outputs are read", status); return nil }
		wantError(t, rawServer(t, answer(response)).Invoke(t.Context(), inv), fmt.Sprint(status))
	}
	h := rawServer(t, nil)
	h.URL.Host = "127.0.0.1:1"
	wantError(t, h.Invoke(t.Context(), invocation("", &bytes.Buffer{})), "refused")
}

func TestHTTPAnswerBeforeTheInputsAreRead(t *testing.T) {
	h := rawServer(t, func(conn net.Conn, r *bufio.Reader) {
		r.ReadString('\n')
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{}\n")
		conn.(*net.TCPConn).CloseWrite()
		io.CopyN(io.Discard, r, 1<<20) // and then it closes with data unread
	})
	var out bytes.Buffer
	err := within(t, func() error {
		return h.Invoke(t.Context(), invocation(strings.Repeat("{}\n", 1<<20), &out))
	})
	if err != nil || out.String() != "{}\n" {
		t.Errorf("%v, %q", err, out.String())
	}
}

func TestHTTPRefusedStreams(t *testing.T) {
	h := rawServer(t, answer("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{}\n"))
	inv := invocation("", nil)
	inv.Inputs = brokenSource
	if err := h.Invoke(t.Context(), inv); !errors.Is(err, errSource) {
		t.Error(err)
	}
	fault := errors.New("malformed")
	inv = invocation("{}", nil)
	inv.Outputs = func(context.Context, io.Reader) error { return fault }
	if err := h.Invoke(t.Context(), inv); !errors.Is(err, fault) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	h = rawServer(t, func(_ net.Conn, r *bufio.Reader) {
		http.ReadRequest(r)
		cancel()
		io.Copy(io.Discard, r)
	})
	if err := within(t, func() error { return h.Invoke(ctx, invocation("{}", &bytes.Buffer{})) }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
