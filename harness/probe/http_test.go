package probe

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A client is a raw connection to the hub's HTTP service.
type client struct {
	*net.TCPConn
	r *bufio.Reader
}

func dial(t testing.TB, h *Hub) *client {
	t.Helper()
	u, err := url.Parse(h.URL("x"))
	must(t, err)
	c, err := net.Dial("tcp", u.Host)
	must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return &client{c.(*net.TCPConn), bufio.NewReader(c)}
}

// request sends raw bytes and returns the invocation that they became.
func request(t testing.TB, raw string) (*client, *Invocation) {
	t.Helper()
	h := newHub(t)
	c := dial(t, h)
	_, err := io.WriteString(c, raw)
	must(t, err)
	return c, next(t, h)
}

func (c *client) response(t testing.TB) (*http.Response, []byte, error) {
	t.Helper()
	res, err := http.ReadResponse(c.r, nil)
	must(t, err)
	body, err := io.ReadAll(res.Body)
	return res, body, err
}

const post = "POST /named%20one?a=b%20c HTTP/1.1\r\nhost: there\r\nX-One:  1 \r\nx-one: 2\r\nContent-Length: 8\r\n\r\n"

func TestHTTPRequest(t *testing.T) {
	begin := time.Now()
	c, i := request(t, post+"four")
	r := i.Request
	if i.N != 1 || i.Transport != HTTP || i.Label != "named one" || i.Pid != 0 || i.Env != nil || i.Arrived.Before(begin) {
		t.Errorf("%+v", i)
	}
	if string(r.Head) != post {
		t.Errorf("head %q", r.Head)
	}
	if r.Method != "POST" || r.Target != "/named%20one?a=b%20c" || r.Proto != "HTTP/1.1" || r.Chunked || r.ContentLength != 8 || r.Malformed != nil {
		t.Errorf("%+v", r)
	}
	if got := fmt.Sprint(r.Header); got != "map[Content-Length:[8] Host:[there] X-One:[1 2]]" {
		t.Errorf("header %s", got)
	}
	_, err := io.ReadFull(i.Reader(), make([]byte, 4))
	must(t, err)
	if _, ok := i.InputEnded(); ok {
		t.Error("ended after half of it")
	}
	_, err = io.WriteString(c, "more")
	must(t, err)
	must(t, i.WaitEOF(within(t)))
	if string(i.Input()) != "fourmore" || len(i.Chunks()) != 2 || string(r.RawBody()) != "fourmore" {
		t.Errorf("input %q in %d chunks", i.Input(), len(i.Chunks()))
	}
	must(t, i.WriteStderr([]byte("dropped")))
	must(t, i.Exit(0))
	res, body, err := c.response(t)
	if res.StatusCode != 200 || len(body) != 0 || err != nil || !res.Close || res.ContentLength != 0 {
		t.Errorf("%+v %q %v", res, body, err)
	}
	<-i.Done()
	for name, err := range map[string]error{"write": i.Write(nil), "exit": i.Exit(0), "die": i.Die(syscall.SIGKILL), "close": i.CloseOutput()} {
		if !errors.Is(err, ErrGone) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestHTTPLabelOfURL(t *testing.T) {
	h := newHub(t)
	for _, label := range []string{"", "a", "é x/y?z%", "a+b"} {
		go func() {
			res, err := http.Post(h.URL(label)+"?q=1", "text/plain", strings.NewReader("body"))
			if err == nil {
				_ = res.Body.Close()
			}
		}()
		i := next(t, h)
		if i.Label != label {
			t.Errorf("%q, want %q", i.Label, label)
		}
		must(t, i.Exit(0))
	}
}

// Who looks at a handler's path is an invocation to be told of; who looks at
// another one is not.
func TestHTTPLooksAside(t *testing.T) {
	h := newHub(t)
	handler := h.URL("a")
	for _, path := range []string{"/healthz", "/", "/a/b"} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			r, err := http.NewRequest(method, strings.TrimSuffix(handler, "/a")+path, nil)
			must(t, err)
			res, err := http.DefaultClient.Do(r)
			must(t, err)
			_ = res.Body.Close()
			if res.StatusCode != http.StatusNotFound || len(h.Arrived()) != 0 {
				t.Errorf("%s %s: status %d, %d invocations", method, path, res.StatusCode, len(h.Arrived()))
			}
		}
	}
	go func() {
		if res, err := http.Get(handler); err == nil {
			_ = res.Body.Close()
		}
	}()
	i := next(t, h)
	if i.Label != "a" || i.Request.Method != http.MethodGet {
		t.Errorf("%q %s", i.Label, i.Request.Method)
	}
	must(t, i.Exit(0))
}

func TestHTTPChunkedRequest(t *testing.T) {
	framed := "3\r\nabc\r\n2;ext=1\r\nde\r\n0\r\n\r\n"
	_, i := request(t, "POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"+framed)
	must(t, i.WaitEOF(within(t)))
	r := i.Request
	if string(i.Input()) != "abcde" || !r.Chunked || r.ContentLength != -1 || string(r.RawBody()) != framed || r.Header.Get("Transfer-Encoding") != "chunked" {
		t.Errorf("%q, %+v", i.Input(), r)
	}
}

func TestHTTPRequestBodies(t *testing.T) {
	for _, c := range []struct {
		raw    string
		length int64
		input  string
		end    error
	}{
		{"DELETE /x HTTP/1.1\r\nHost: h\r\n\r\n", -1, "", nil},
		{"POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n", 0, "", nil},
		{"\r\nPOST /x HTTP/1.0\r\n\r\n", -1, "", nil},
		{"POST /x HTTP/1.1\r\nContent-Length: 9\r\n\r\nhalf", 9, "half", io.ErrUnexpectedEOF},
		{"POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", -1, "", errors.New("any")},
	} {
		cl, i := request(t, c.raw)
		_ = cl.CloseWrite()
		err := i.WaitEOF(within(t))
		switch {
		case c.end == nil && err != nil, c.end == io.ErrUnexpectedEOF && !errors.Is(err, c.end), c.end != nil && err == nil:
			t.Errorf("%q: ended with %v", c.raw, err)
		}
		if string(i.Input()) != c.input || i.Request.ContentLength != c.length || string(i.Request.Head) != c.raw[:len(i.Request.Head)] {
			t.Errorf("%q: %q, %+v", c.raw, i.Input(), i.Request)
		}
	}
}

func TestHTTPMalformedRequest(t *testing.T) {
	long := "GET /" + strings.Repeat("x", headLimit+1) + " HTTP/1.1\r\n\r\n"
	for _, raw := range []string{
		"nonsense\r\n\r\n", "POST /x HTTP/1.1\r\nno colon\r\n\r\n", "POST /x HTTP/1.1\r\nContent-Length: -1\r\n\r\n", long,
	} {
		c, i := request(t, raw)
		if i.Request.Malformed == nil || !strings.HasPrefix(raw, string(i.Request.Head)) || !i.Gone() {
			t.Errorf("%.40q: %+v", raw, i.Request.Malformed)
		}
		if err := i.WaitEOF(within(t)); err == nil {
			t.Errorf("%.40q: has a regular body", raw)
		}
		if res, _, _ := c.response(t); res.StatusCode != http.StatusBadRequest {
			t.Errorf("%.40q: status %d", raw, res.StatusCode)
		}
	}
	h := newHub(t)
	_ = dial(t, h).Close() // says nothing: no invocation
	c := dial(t, h)
	_, err := io.WriteString(c, "POST /x HT")
	must(t, err)
	_ = c.CloseWrite()
	if i := next(t, h); i.N != 1 || i.Request.Malformed == nil {
		t.Errorf("%+v", i)
	}
}

func TestHTTPResponseWhileTheRequestComes(t *testing.T) {
	c, i := request(t, post+"four")
	must(t, i.Write([]byte("early")))
	res, err := http.ReadResponse(c.r, nil)
	must(t, err)
	got := make([]byte, 5)
	_, err = io.ReadFull(res.Body, got)
	must(t, err)
	if string(got) != "early" || res.StatusCode != 200 {
		t.Errorf("%q %d", got, res.StatusCode)
	}
	_, err = io.WriteString(c, "more")
	must(t, err)
	must(t, i.WaitEOF(within(t)))
	must(t, i.Write([]byte("late")))
	must(t, i.CloseOutput())
	rest, err := io.ReadAll(res.Body)
	if string(rest) != "late" || err != nil {
		t.Errorf("%q %v", rest, err)
	}
	<-i.Done()
}

func TestHTTPEnds(t *testing.T) {
	req11, req10 := "POST /x HTTP/1.1\r\nHost: h\r\n\r\n", "POST /x HTTP/1.0\r\n\r\n"
	for _, c := range []struct {
		name   string
		raw    string
		act    func(i *Invocation) error
		status int
		body   string
		broken bool
	}{
		{"nothing, 1", req11, func(i *Invocation) error { return i.Exit(1) }, 500, "", false},
		{"body, 0", req11, func(i *Invocation) error { return errors.Join(i.Write([]byte("b")), i.Exit(0)) }, 200, "b", false},
		{"body, 1", req11, func(i *Invocation) error { return errors.Join(i.Write([]byte("b")), i.Exit(1)) }, 200, "b", true},
		{"status, 0", req11, func(i *Invocation) error {
			i.SetStatus(202, http.Header{"X-Y": {"z"}})
			return errors.Join(i.Write([]byte("b")), i.Exit(0))
		}, 202, "b", false},
		{"bad status, 1", req11, func(i *Invocation) error { i.SetStatus(503, nil); return i.Exit(1) }, 503, "", false},
		{"good status, 1", req11, func(i *Invocation) error { i.SetStatus(201, nil); return i.Exit(1) }, 500, "", false},
		{"length", req11, func(i *Invocation) error {
			i.SetStatus(200, http.Header{"Content-Length": {"2"}})
			return errors.Join(i.Write([]byte("bc")), i.Exit(0))
		}, 200, "bc", false},
		{"too short", req11, func(i *Invocation) error {
			i.SetStatus(200, http.Header{"Content-Length": {"3"}})
			return errors.Join(i.Write([]byte("bc")), i.Exit(0))
		}, 200, "bc", true},
		{"old, 0", req10, func(i *Invocation) error { return errors.Join(i.Write([]byte("b")), i.Exit(0)) }, 200, "b", false},
		{"begun without a body", req11, func(i *Invocation) error { return errors.Join(i.Write(nil), i.Exit(0)) }, 200, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			cl, i := request(t, c.raw)
			must(t, c.act(i))
			res, body, err := cl.response(t)
			if res.StatusCode != c.status || string(body) != c.body || (err != nil) != c.broken {
				t.Errorf("%d %q %v", res.StatusCode, body, err)
			}
			<-i.Done()
		})
	}
	for name, c := range map[string]struct {
		raw string
		act func(i *Invocation) error
	}{
		"die":         {req11, func(i *Invocation) error { return i.Die(syscall.SIGKILL) }},
		"old, body 1": {req10, func(i *Invocation) error { return errors.Join(i.Write([]byte("b")), i.Exit(1)) }},
	} {
		t.Run(name, func(t *testing.T) {
			cl, i := request(t, c.raw)
			must(t, c.act(i))
			if b, err := io.ReadAll(cl.r); !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("%q %v", b, err)
			}
			<-i.Done()
		})
	}
}

func TestHTTPBig(t *testing.T) {
	h := newHub(t)
	big := pattern(8 << 20)
	answered := make(chan error, 1)
	go func() {
		res, err := http.Post(h.URL("x"), "text/plain", bytes.NewReader(big))
		if err == nil {
			var b []byte
			if b, err = io.ReadAll(res.Body); err == nil && !bytes.Equal(b, big) {
				err = fmt.Errorf("%d bytes differ", len(b))
			}
			_ = res.Body.Close()
		}
		answered <- err
	}()
	i := next(t, h)
	must(t, i.WaitEOF(within(t)))
	must(t, i.Write(i.Input()))
	must(t, i.Exit(0))
	must(t, <-answered)
}

// A response that ends before the request does is not lost by a reset.
func TestHTTPResponseBeforeTheEndOfTheRequest(t *testing.T) {
	c, i := request(t, "POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 8388608\r\n\r\n")
	must(t, i.Write([]byte("enough")))
	must(t, i.Exit(0))
	_, err := c.Write(pattern(8 << 20))
	must(t, err)
	if res, body, err := c.response(t); res.StatusCode != 200 || string(body) != "enough" || err != nil {
		t.Errorf("%d %q %v", res.StatusCode, body, err)
	}
}

func TestHTTPExpectContinue(t *testing.T) {
	c, i := request(t, "POST /x HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
	line, err := c.r.ReadString('\n')
	must(t, err)
	if line != "HTTP/1.1 100 Continue\r\n" {
		t.Errorf("%q", line)
	}
	_, err = io.WriteString(c, "ab")
	must(t, err)
	must(t, i.WaitEOF(within(t)))
}

func TestHTTPClientGone(t *testing.T) {
	for _, raw := range []string{post + "four", post + "fourmore"} {
		c, i := request(t, raw)
		_ = c.Close()
		<-i.Done()
		if err := i.Write([]byte("x")); !errors.Is(err, ErrGone) {
			t.Errorf("%v", err)
		}
	}
}

func TestHTTPCloseInput(t *testing.T) {
	c, i := request(t, post+"four")
	_, err := io.ReadFull(i.Reader(), make([]byte, 4))
	must(t, err)
	must(t, i.CloseInput())
	if err := i.WaitEOF(within(t)); !errors.Is(err, ErrInputClosed) {
		t.Errorf("%v", err)
	}
	must(t, i.Write([]byte("answer")))
	must(t, i.Exit(0))
	if res, body, err := c.response(t); res.StatusCode != 200 || string(body) != "answer" || err != nil {
		t.Errorf("%d %q %v", res.StatusCode, body, err)
	}
}

func TestHTTPHubClosed(t *testing.T) {
	h := newHub(t)
	c := dial(t, h)
	_, err := io.WriteString(c, post)
	must(t, err)
	i := next(t, h)
	must(t, i.CloseInput())
	must(t, h.Close())
	<-i.Done()
	if _, err := c.r.ReadByte(); err == nil {
		t.Error("the connection lives on")
	}
}

func TestHTTPFetch(t *testing.T) {
	_, i := request(t, post)
	testFetch(t, i)
}

func TestHTTPQuietly(t *testing.T) {
	h := newHub(t)
	h.Auto(ExitQuietly)
	res, err := http.Post(h.URL("x"), "text/plain", strings.NewReader("body"))
	must(t, err)
	_ = res.Body.Close()
	if i := h.Arrived()[0]; res.StatusCode != 200 || string(i.Input()) != "body" {
		t.Errorf("%d %q", res.StatusCode, i.Input())
	}
}
