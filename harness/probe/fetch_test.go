package probe

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"
)

// fetchServer answers with what was asked for by the path.
func fetchServer(t *testing.T) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/echo":
			b, _ := io.ReadAll(r.Body)
			w.Header().Set("Content-Encoding", "gzip") // a lie, and none of the probe's business
			w.Header()["X-Two"] = []string{"a", "b"}
			w.WriteHeader(http.StatusTeapot)
			_, _ = io.WriteString(w, r.Method+" "+r.Host+" "+r.Header.Get("X-Mine")+" "+r.Header.Get("Accept-Encoding")+" "+string(b))
		case "/redirect":
			http.Redirect(w, r, "/echo", http.StatusFound)
		case "/short":
			w.Header().Set("Content-Length", "10")
			_, _ = io.WriteString(w, "four")
			w.(http.Flusher).Flush()
			c, _, _ := w.(http.Hijacker).Hijack()
			_ = c.Close()
		case "/hang":
			<-r.Context().Done()
		case "/big":
			_, _ = w.Write(pattern(8 << 20))
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// testFetch holds for both transports.
func testFetch(t *testing.T, i *Invocation) {
	s := fetchServer(t)
	res, err := i.Fetch(within(t), FetchRequest{Method: "PUT", URL: s.URL + "/echo", Header: http.Header{"X-Mine": {"m"}, "Host": {"h"}}, Body: []byte("\x00b")})
	must(t, err)
	if res.Status != http.StatusTeapot || string(res.Body) != "PUT h m  \x00b" || res.Header.Get("Content-Encoding") != "gzip" ||
		!slices.Equal(res.Header["X-Two"], []string{"a", "b"}) || res.Truncated || res.Err != "" {
		t.Errorf("%+v", res)
	}
	res, err = i.Fetch(within(t), FetchRequest{URL: s.URL + "/redirect"})
	must(t, err)
	if res.Status != http.StatusFound || res.Header.Get("Location") != "/echo" {
		t.Errorf("%+v", res)
	}
	res, err = i.Fetch(within(t), FetchRequest{URL: s.URL + "/short"})
	must(t, err)
	if res.Status != 200 || string(res.Body) != "four" || !res.Truncated || res.Err == "" {
		t.Errorf("%+v", res)
	}
	res, err = i.Fetch(within(t), FetchRequest{URL: s.URL + "/big"})
	must(t, err)
	if !bytes.Equal(res.Body, pattern(8<<20)) {
		t.Errorf("%d bytes, %s", len(res.Body), res.Err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	_ = l.Close()
	for _, url := range []string{"http://" + l.Addr().String() + "/", "::not a URL"} {
		res, err = i.Fetch(within(t), FetchRequest{URL: url})
		must(t, err)
		if res.Status != 0 || res.Err == "" {
			t.Errorf("%s: %+v", url, res)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := i.Fetch(ctx, FetchRequest{URL: s.URL + "/hang"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	must(t, i.Write([]byte("still works")))
}

func TestFetch(t *testing.T) {
	_, i := runOne(t)
	testFetch(t, i)
}
