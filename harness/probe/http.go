package probe

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"
	"sync"
	"time"
)

// An HTTPRequest is the head of the request of an invocation; the body is the
// invocation's input.
type HTTPRequest struct {
	// Head is the request line and the header as sent, with the empty line that
	// ends them.
	Head []byte

	Method, Target, Proto string // the parts of the request line, as sent

	// Header is parsed from Head. Unlike that of a net/http server it still has
	// Host, Content-Length and Transfer-Encoding.
	Header http.Header

	ContentLength int64 // -1 where the request has none, or is chunked
	Chunked       bool  // sent with Transfer-Encoding: chunked

	// Malformed is what is wrong with a request that is not HTTP/1; it was
	// answered with status 400 and the exchange is over.
	Malformed error

	mu  sync.Mutex
	raw []byte
}

// RawBody returns what has been received after the head, with the framing of a
// chunked body. At most InputLimit bytes are kept. Not to be modified.
func (r *HTTPRequest) RawBody() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.raw[:len(r.raw):len(r.raw)]
}

// headLimit is the size of the longest request head that is read.
const headLimit = 1 << 20

// rawReader records what is read after the head.
type rawReader struct {
	src io.Reader
	req *HTTPRequest
}

func (r *rawReader) Read(p []byte) (int, error) {
	n, err := r.src.Read(p)
	r.req.mu.Lock()
	r.req.raw = append(r.req.raw, p[:min(n, InputLimit-len(r.req.raw))]...)
	r.req.mu.Unlock()
	return n, err
}

// readHead reads up to and including the empty line after the header.
func readHead(r *bufio.Reader) ([]byte, error) {
	var head []byte
	for {
		line, err := r.ReadSlice('\n')
		head = append(head, line...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil:
			return head, fmt.Errorf("the connection ended within the head: %w", err)
		case len(bytes.TrimRight(line, "\r\n")) == 0 && len(bytes.Trim(head, "\r\n")) > 0 && endsLine(head, len(line)):
			return head, nil
		}
		if len(head) > headLimit {
			return head, errors.New("the head is longer than 1 MiB")
		}
	}
}

// endsLine tells whether the last n bytes of head are a line of their own, rather
// than the end of a longer one.
func endsLine(head []byte, n int) bool {
	return len(head) == n || head[len(head)-n-1] == '\n'
}

// parseHead fills the request from its head and returns a reader of its body,
// whose bytes come from body.
func (r *HTTPRequest) parseHead(body io.Reader) (io.Reader, error) {
	head := bytes.TrimLeft(r.Head, "\r\n")
	line, rest, _ := bytes.Cut(head, []byte("\n"))
	parts := strings.SplitN(strings.TrimRight(string(line), "\r"), " ", 3)
	r.Method = parts[0]
	if len(parts) > 1 {
		r.Target = parts[1]
	}
	if len(parts) > 2 {
		r.Proto = parts[2]
	}
	header, err := textproto.NewReader(bufio.NewReader(bytes.NewReader(rest))).ReadMIMEHeader()
	r.Header = http.Header(header)
	if err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	src := io.MultiReader(bytes.NewReader(head), &rawReader{body, r})
	req, err := http.ReadRequest(bufio.NewReaderSize(src, inputPiece))
	if err != nil {
		return nil, err
	}
	r.Chunked = len(req.TransferEncoding) > 0 && req.TransferEncoding[0] == "chunked"
	r.ContentLength = req.ContentLength
	if req.ContentLength == 0 && r.Header.Get("Content-Length") == "" {
		r.ContentLength = -1
	}
	return req.Body, nil
}

func labelOf(target string) string {
	path, _, _ := strings.Cut(target, "?")
	path = strings.TrimPrefix(path, "/")
	if label, err := url.PathUnescape(path); err == nil {
		return label
	}
	return path
}

// isAside tells whether a request only looks at something beside the handlers.
func (h *Hub) isAside(r *HTTPRequest) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.labels[labelOf(r.Target)]
}

// serveHTTP handles the one exchange of a connection: every response announces
// that the connection is closed after it.
func (h *Hub) serveHTTP(c net.Conn) {
	r := bufio.NewReaderSize(c, inputPiece)
	head, err := readHead(r)
	if len(head) == 0 {
		return // opened and closed without a word
	}
	arrived := time.Now()
	req := &HTTPRequest{Head: head, ContentLength: -1}
	var body io.Reader
	if err == nil {
		body, err = req.parseHead(r)
	}
	x := &exchange{conn: c.(*net.TCPConn), req: req, status: http.StatusOK}
	i := &Invocation{
		Transport: HTTP, Label: labelOf(req.Target), Arrived: arrived, Request: req,
		acts: x, done: make(chan struct{}),
	}
	x.inv = i
	if err != nil {
		req.Malformed = err
		i.in.end(arrived, fmt.Errorf("malformed request: %w", err))
		x.setStatus(http.StatusBadRequest, nil)
		_ = x.exit(1)
		h.arrive(i)
		x.drain(r)
		return
	}
	if h.isAside(req) {
		x.setStatus(http.StatusNotFound, nil)
		_ = x.exit(0)
		x.drain(r)
		return
	}
	if strings.EqualFold(req.Header.Get("Expect"), "100-continue") {
		_, _ = io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\n")
	}
	h.arrive(i)
	x.readBody(body)
	x.drain(r)
	i.in.end(time.Now(), ErrGone)
	i.finish()
}
