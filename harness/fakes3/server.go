package fakes3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"runtime/debug"
	"sync"

	"github.com/johannesboyne/gofakes3"
)

// ErrClosed is what waiting for a request returns when the server is closed meanwhile.
var ErrClosed = errors.New("fakes3: server closed")

// Server is an S3 server on loopback. All its methods may be called at the same time from anywhere, save that Close must
// not be called from a rule.
type Server struct {
	store   *store
	journal journal
	rules   rules
	changes changes

	listener net.Listener
	http     *http.Server
	closing  context.Context // ends when Close begins
	shut     context.CancelFunc
	running  sync.WaitGroup // the accept loop and the connections

	close  func() error
	mu     sync.Mutex
	faults []error // panics of rules, and of the server
}

// Start starts an empty server on a free port of 127.0.0.1. The caller closes it.
func Start() (*Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("starting the S3 server: %w", err)
	}
	s := &Server{store: newStore(), listener: listener}
	s.closing, s.shut = context.WithCancel(context.Background())
	s.close = sync.OnceValue(s.shutDown)
	s.http = &http.Server{
		Handler:     http.HandlerFunc(s.serve),
		BaseContext: func(net.Listener) context.Context { return s.closing },
		ErrorLog:    log.New(io.Discard, "", 0), // clients that are killed in the middle of a request are everyday here
		ConnState:   s.connState,
	}
	s.running.Go(func() { _ = s.http.Serve(listener) }) // always ErrServerClosed
	return s, nil
}

// Endpoint returns the URL at which the server listens, as in http://127.0.0.1:40123. Buckets are addressed by path.
func (s *Server) Endpoint() string { return "http://" + s.listener.Addr().String() }

// Close stops the server. Requests that are held are dropped, connections are closed, and Close returns when every
// goroutine of the server has come to its end. The record and the buckets can still be read. A second Close returns
// what the first did: what rules panicked with, if any did, or the server itself.
func (s *Server) Close() error { return s.close() }

func (s *Server) shutDown() error {
	s.shut()
	err := s.http.Close()
	s.running.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(append([]error{err}, s.faults...)...)
}

// connState counts the connections, so that Close can wait for them.
func (s *Server) connState(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.running.Add(1)
		if s.closing.Err() != nil { // accepted just as Close went through the connections
			_ = conn.Close()
		}
	case http.StateClosed, http.StateHijacked:
		s.running.Done()
	}
}

func (s *Server) setFate(n int, fate string) {
	s.journal.mu.Lock()
	r := s.journal.records[n-1]
	s.journal.mu.Unlock()
	s.journal.note(r, func(r *Request) { r.Fate = fate })
}

// serve takes one request through its life: arrival, decision, effect, answer.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	x := s.arrive(r)
	defer s.reportPanic(x)
	if err := x.receive(); err != nil {
		// The client is gone, so nobody waits for an answer.
		x.end("client went away before the body had arrived")
		panic(http.ErrAbortHandler)
	}
	d := s.decide(r.Context(), x)
	if !d.withhold {
		if x.record.Op == OpList && d.hide != nil {
			x.hide, d.fate = d.hide, "stale listing"
		}
		x.apply()
	}
	if d.status != 0 {
		x.answer = errorAnswer(&refusal{status: d.status, code: d.code, message: "injected by the test"}, r, x.record.N)
	}
	if d.then != nil {
		x.noteAnswer()
		s.guard(&d, func() { d.then(r.Context(), s.journal.copyOf(x.record)) })
	}
	// The record is complete before the client can know the answer, so that a test that has the answer has the record.
	x.end(d.fate)
	if d.drop {
		panic(http.ErrAbortHandler)
	}
	x.answer.writeTo(w, r)
}

// decide asks the rules.
func (s *Server) decide(ctx context.Context, x *exchange) (d Decision) {
	list := s.rules.current()
	if len(list) == 0 {
		return Pass()
	}
	seen := s.journal.copyOf(x.record)
	s.guard(&d, func() {
		for _, rule := range list {
			if rule.match(seen) {
				d = rule.decide(ctx, seen)
				return
			}
		}
	})
	return d
}

// guard runs a step of a rule; if it panics, the request is dropped and the panic kept for Close.
func (s *Server) guard(d *Decision, step func()) {
	defer func() {
		if p := recover(); p != nil {
			s.fault(fmt.Errorf("fakes3: a rule panicked: %v", p))
			*d = Drop()
			d.fate = "dropped because a rule panicked"
		}
	}()
	step()
}

// reportPanic keeps a panic of the server itself for Close, where net/http would only log it.
func (s *Server) reportPanic(x *exchange) {
	if p := recover(); p != nil {
		if p != http.ErrAbortHandler {
			s.fault(fmt.Errorf("fakes3: request #%d: %v\n%s", x.record.N, p, debug.Stack()))
			x.end("dropped because the server panicked")
		}
		panic(http.ErrAbortHandler)
	}
}

func (s *Server) fault(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, err)
}

// gofakes3For returns the S3 handler for one request. A gofakes3.Backend gets neither a context nor the request, but ours
// needs both for conditions, metadata and the record; so each request has a handler of its own, which is cheap.
func gofakes3For(x *exchange) http.Handler {
	return gofakes3.New(backend{x},
		gofakes3.WithRequestID(uint64(x.record.N-1)),
		gofakes3.WithTimeSkewLimit(0),     // the clock of the program under test may be any
		gofakes3.WithMetadataSizeLimit(0), // it would count all headers; headersOf counts the user's
		gofakes3.WithIntegrityCheck(false),
	).Server()
}
