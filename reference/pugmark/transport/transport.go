// Package transport carries one invocation to a handler and its outputs back:
// to a child process by pipes, or to an HTTP service by one request (P2-1).
//
// Both transports carry the same bytes (P2-2) and tell the same identity (P13-6).
// What is in the streams is the business of whoever supplies them; diagnostics
// never are (P3-12).
package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/mattn/go-shellwords"
)

// Handler runs a handler program for one invocation. Implementations are safe
// for concurrent use.
type Handler interface {
	// Invoke delivers the input stream, hands the output stream over and returns
	// once the handler has ended. Nil means that the handler reported success,
	// that Inputs and Outputs both returned nil and that the output stream was
	// whole; anything else is a failed invocation, of which nothing may be
	// committed. The handler and its output stream are gone when Invoke returns.
	// Cancelling ctx ends the handler and fails the invocation.
	Invoke(ctx context.Context, inv Invocation) error
}

// Invocation is one run of a handler.
type Invocation struct {
	Identity

	// Inputs writes the whole input stream to w. It is called once. Writing to w
	// never fails: what a handler does not want to read is dropped (P16-4). So
	// an error means that the stream could not be produced, and the handler,
	// having seen a part of the log only, is ended (P1-9).
	Inputs func(ctx context.Context, w io.Writer) error

	// Outputs reads the output stream up to io.EOF, however long it is silent in
	// between (P1-7), at the same time as Inputs runs. It is called at most once. A
	// reader error other than io.EOF is to be returned; any error ends the handler.
	Outputs func(ctx context.Context, r io.Reader) error
}

// Identity is what a handler learns beside the streams (P13-1 to P13-4, P14-1).
type Identity struct {
	Session     string            // 32 lowercase hex digits
	Agent       string            // empty where the manifest has none
	Version     uint32            // the snapshot that the handler runs against
	Metadata    map[string]string // the manifest's
	TraceParent string            // W3C Trace Context
	TraceState  string            // empty where there is none
}

// ParseCommand is a handler from the text of its command: an http:// or https://
// URL, or a command line that is split as a POSIX shell would. No shell is
// started, so unquoted shell operators are an error.
func ParseCommand(text string) (Handler, error) {
	if isURL(text) {
		return parseURL(text)
	}
	p := shellwords.NewParser()
	argv, err := p.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("handler command %q: %w", text, err)
	}
	if p.Position >= 0 {
		return nil, fmt.Errorf("handler command %q: shell syntax at byte %d; no shell is started, so quote it or use sh -c", text, p.Position)
	}
	return ParseArguments(argv)
}

// ParseArguments is a handler from a command that is split already; a single
// argument that is a URL is an HTTP handler.
func ParseArguments(argv []string) (Handler, error) {
	switch {
	case len(argv) == 0 || argv[0] == "":
		return nil, errors.New("the handler command is empty")
	case isURL(argv[0]):
		if len(argv) > 1 {
			return nil, fmt.Errorf("handler %s is a URL and takes no arguments", argv[0])
		}
		return parseURL(argv[0])
	}
	return &Process{Args: argv}, nil
}

func isURL(s string) bool {
	return strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://")
}

func parseURL(text string) (Handler, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
	case strings.ContainsAny(text, " \t\r\n"):
		err = errors.New("there is a blank in it, and a URL takes no arguments")
	case u.Host == "":
		err = errors.New("it has no host")
	}
	if err != nil {
		return nil, fmt.Errorf("handler URL %q: %w", text, err)
	}
	return &HTTP{URL: u}, nil
}

// bufferSize is how much of the input stream is collected before it is passed on.
const bufferSize = 64 << 10

// sink passes writes on until one fails, and drops everything after that.
type sink struct {
	w      io.Writer
	broken bool
}

func (s *sink) Write(p []byte) (int, error) {
	if !s.broken {
		_, err := s.w.Write(p)
		s.broken = err != nil
	}
	return len(p), nil
}
