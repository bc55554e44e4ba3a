package handler

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/pugcheck/pugcheck/harness/subject"
)

// httpDriver sends every invocation as one POST to a service (P2.2-1). It writes the
// request itself, so that each chunk leaves as it was planned.
type httpDriver struct{ target *url.URL }

// headLimit bounds the head of a response, in bytes.
const headLimit = 1 << 20

func (d httpDriver) Drive(ctx context.Context, p Plan) (*Exchange, error) {
	e := &Exchange{Over: HTTP, What: p.What, Input: wholeStream(p.Chunks), Timeout: p.Timeout}
	began := time.Now()
	in := newIntake(began)
	limit, cancel := subject.Patience(ctx, p.Timeout+pauses(p.Chunks))
	defer cancel()
	defer func() {
		e.Took = time.Since(began)
		in.into(e)
	}()
	conn, err := new(net.Dialer).DialContext(limit, "tcp", address(d.target))
	if err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("interrupted: %w", ctx.Err())
		}
		e.Ended, e.Broken = true, fmt.Sprintf("no connection: %v", err)
		return e, nil
	}
	defer conn.Close()
	release := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer release()
	defer context.AfterFunc(limit, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })() // ends a read and a write
	sending := d.send(conn, p, e.Input, began)
	d.receive(conn, in, e)
	_ = conn.Close()
	e.Sent = sending.wait()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("interrupted while the handler worked: %w", ctx.Err())
	}
	return e, nil
}

func address(u *url.URL) string {
	if u.Port() == "" {
		return net.JoinHostPort(u.Hostname(), "80")
	}
	return u.Host
}

// send writes the request in the background.
func (d httpDriver) send(conn net.Conn, p Plan, body []byte, began time.Time) *feeder {
	target := *d.target
	if target.RawQuery != "" && p.Query != "" {
		target.RawQuery += "&"
	}
	target.RawQuery += p.Query
	var head strings.Builder
	fmt.Fprintf(&head, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\nUser-Agent: pugcheck\r\n", target.RequestURI(), target.Host, len(body))
	if p.Header.Get("Content-Type") == "" {
		head.WriteString("Content-Type: application/json\r\n")
	}
	for name, values := range p.Header {
		for _, v := range values {
			fmt.Fprintf(&head, "%s: %s\r\n", name, v)
		}
	}
	head.WriteString("\r\n")
	f := &feeder{stop: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(f.done)
		if _, err := io.WriteString(conn, head.String()); err == nil {
			f.write(conn, p, began)
		}
	}()
	return f
}

// receive reads the response.
func (d httpDriver) receive(conn net.Conn, in *intake, e *Exchange) {
	limited := &io.LimitedReader{R: conn, N: headLimit}
	r := bufio.NewReader(limited)
	var res *http.Response
	for {
		var err error
		res, err = http.ReadResponse(r, &http.Request{Method: http.MethodPost})
		switch {
		case err != nil && limited.N <= 0:
			e.Ended, e.Broken = true, fmt.Sprintf("the head of the response is longer than %d bytes", headLimit)
			return
		case err != nil:
			e.Ended = !timedOut(err)
			e.Broken = fmt.Sprintf("no response that HTTP allows: %v", err)
			if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) {
				e.Broken = "the connection was closed without a response"
			}
			if !e.Ended {
				e.Broken = "no response came"
			}
			return
		}
		if res.StatusCode >= 200 || res.StatusCode == http.StatusSwitchingProtocols {
			break
		}
	}
	defer res.Body.Close()
	e.Status, e.Header = res.StatusCode, res.Header
	limited.N = 2*OutputLimit + headLimit // chunk sizes come on top of what is kept
	buf := make([]byte, 64<<10)
	for {
		n, err := res.Body.Read(buf)
		in.take(buf[:n])
		select {
		case <-in.full:
			return
		default:
		}
		switch {
		case errors.Is(err, io.EOF):
			e.Ended = true
			e.Success = e.Status == http.StatusOK
			return
		case err != nil && timedOut(err):
			e.Broken = "the body of the response did not come to its end"
			return
		case err != nil:
			e.Ended, e.Broken = true, fmt.Sprintf("the response broke off after %d bytes of its body: %v", len(in.bytes), err)
			return
		}
	}
}

func timedOut(err error) bool {
	var n net.Error
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &n) && n.Timeout()
}
