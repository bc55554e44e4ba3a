package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// linger is how long the hub goes on reading from a client that does not close
// its connection after the response. Closing with bytes unread would reset the
// connection and could take the response away from the client.
const linger = 2 * time.Second

// exchange does the acts of an HTTP invocation.
type exchange struct {
	conn *net.TCPConn
	inv  *Invocation
	req  *HTTPRequest

	mu          sync.Mutex // guards what follows; not held while writing
	status      int
	statusSet   bool
	header      http.Header
	inputClosed bool

	writing sync.Mutex // held while writing; guards what follows
	begun   bool
	ended   bool
	framing framing
}

type framing int

const (
	untilClose framing = iota // HTTP/1.0: the end of the connection ends the body
	chunked
	counted // by a Content-Length that the caller gave
	bodiless
)

func (x *exchange) setStatus(code int, header http.Header) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.status, x.statusSet, x.header = code, true, header.Clone()
}

// begin sends the head of the response. Empty means that no body will follow.
// x.writing is held.
func (x *exchange) begin(empty bool) error {
	x.mu.Lock()
	status, header := x.status, x.header
	x.mu.Unlock()
	x.begun = true
	if header == nil {
		header = http.Header{}
	}
	header.Set("Connection", "close")
	switch {
	case x.req.Method == http.MethodHead || status < 200 || status == http.StatusNoContent || status == http.StatusNotModified:
		x.framing = bodiless
	case header.Get("Content-Length") != "":
		x.framing = counted
	case empty:
		x.framing = counted
		header.Set("Content-Length", "0")
	case x.req.Proto == "HTTP/1.0":
		x.framing = untilClose
	default:
		x.framing = chunked
		header.Set("Transfer-Encoding", "chunked")
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", status, http.StatusText(status))
	_ = header.Write(&b) // a bytes.Buffer takes everything
	b.WriteString("\r\n")
	return x.send(b.Bytes())
}

func (x *exchange) send(parts ...[]byte) error {
	b := net.Buffers(parts)
	if _, err := b.WriteTo(x.conn); err != nil {
		x.inv.finish()
		return fmt.Errorf("%w: %w", ErrGone, err)
	}
	return nil
}

func (x *exchange) write(p []byte) error {
	x.writing.Lock()
	defer x.writing.Unlock()
	if x.ended || x.inv.Gone() {
		return ErrGone
	}
	if !x.begun {
		if err := x.begin(false); err != nil {
			return err
		}
	}
	if len(p) == 0 {
		return nil
	}
	switch x.framing {
	case bodiless:
		return http.ErrBodyNotAllowed
	case chunked:
		return x.send([]byte(strconv.FormatInt(int64(len(p)), 16)+"\r\n"), p, []byte("\r\n"))
	default:
		return x.send(p)
	}
}

func (x *exchange) writeStderr([]byte) error { return nil }

func (x *exchange) closeOutput() error { return x.exit(0) }

func (x *exchange) closeInput() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.inputClosed = true
	return x.conn.SetReadDeadline(time.Unix(1, 0)) // wakes the reader
}

func (x *exchange) fetch(ctx context.Context, r FetchRequest) (FetchResult, error) {
	if x.inv.Gone() {
		return FetchResult{}, ErrGone
	}
	res := doFetch(ctx, r)
	return res, ctx.Err()
}

func (x *exchange) exit(code int) error {
	x.writing.Lock()
	defer x.writing.Unlock()
	if x.ended || x.inv.Gone() {
		return ErrGone
	}
	var err error
	switch {
	case !x.begun:
		x.mu.Lock()
		if code != 0 && (!x.statusSet || x.status/100 == 2) {
			x.status = http.StatusInternalServerError
		}
		x.mu.Unlock()
		err = x.begin(true)
	case code == 0 && x.framing == chunked:
		err = x.send([]byte("0\r\n\r\n"))
	case code != 0 && (x.framing == untilClose || x.framing == bodiless):
		// An orderly end of the connection would make the response complete.
		x.ended = true
		return x.reset()
	}
	x.ended = true
	x.over()
	return err
}

// over ends the sending side and gives the client time to end the other.
func (x *exchange) over() {
	_ = x.conn.CloseWrite()
	_ = x.conn.SetReadDeadline(time.Now().Add(linger))
	x.inv.finish()
}

func (x *exchange) reset() error {
	_ = x.conn.SetLinger(0)
	err := x.conn.Close()
	x.inv.finish()
	return err
}

func (x *exchange) die(syscall.Signal) error {
	if x.inv.Gone() {
		return ErrGone
	}
	return x.reset()
}

// readBody records the request body until its end.
func (x *exchange) readBody(body io.Reader) {
	buf := make([]byte, inputPiece)
	for {
		n, err := body.Read(buf)
		at := time.Now()
		x.inv.in.add(at, buf[:n])
		if err == nil {
			continue
		}
		x.mu.Lock()
		closed := x.inputClosed
		x.mu.Unlock()
		switch {
		case closed:
			x.inv.in.end(at, ErrInputClosed)
			<-x.inv.done
		case errors.Is(err, io.EOF):
			x.inv.in.end(at, io.EOF)
		default:
			x.inv.in.end(at, fmt.Errorf("request body: %w", err))
		}
		return
	}
}

// drain reads on until the client closes the connection, or for a while after
// the end of the exchange.
func (x *exchange) drain(r io.Reader) {
	_, _ = io.Copy(io.Discard, r)
}
