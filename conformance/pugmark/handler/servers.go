package handler

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Servers are the two HTTP servers of a runtime (P7-2), each on a port of its own.
type Servers struct {
	Object, Memory *BodyServer
}

// StartServers opens both on loopback. The error is the operating system's.
func StartServers() (*Servers, error) {
	object, err := startBodyServer("object server")
	if err != nil {
		return nil, err
	}
	memory, err := startBodyServer("memory server")
	if err != nil {
		object.Close()
		return nil, err
	}
	return &Servers{object, memory}, nil
}

// Close ends both, and the answers that they still hold back.
func (s *Servers) Close() {
	s.Object.Close()
	s.Memory.Close()
}

// BodyServer serves bodies by path and records each request.
type BodyServer struct {
	Name string
	URL  string // http://127.0.0.1:port, without a slash at its end

	server *http.Server
	ended  context.Context
	end    context.CancelFunc

	mu      sync.Mutex
	answers map[string]Answer
	missing func(path string) (Answer, bool) // asked for paths without an answer
	fetches []Fetch
}

// Answer is what a server says to a request.
type Answer struct {
	Status  int         // 0 = 200
	Header  http.Header // Content-Type and Content-Encoding above all
	Body    []byte
	Delay   time.Duration // before anything is said
	Hang    bool          // nothing is ever said
	CutBody bool          // the connection is closed after half of the body
}

// Fetch is one request that a server got.
type Fetch struct {
	Server *BodyServer
	Method string
	Path   string // as it stood in the request line, query included
	Header http.Header
	At     time.Time
	Status int // of the answer; 0 = none was given
}

func (f Fetch) String() string {
	return fmt.Sprintf("%s: %s %s → %d", f.Server.Name, f.Method, f.Path, f.Status)
}

func startBodyServer(name string) (*BodyServer, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s := &BodyServer{Name: name, URL: "http://" + listener.Addr().String(), answers: map[string]Answer{}}
	s.ended, s.end = context.WithCancel(context.Background())
	s.server = &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	go func() { _ = s.server.Serve(listener) }()
	return s, nil
}

// Close ends the server and all connections.
func (s *BodyServer) Close() {
	s.end()
	_ = s.server.Close()
}

// Serve sets the answers by path, in place of all that were set before, and what is
// asked about other paths (may be nil).
func (s *BodyServer) Serve(answers map[string]Answer, missing func(path string) (Answer, bool)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers, s.missing = maps.Clone(answers), missing
}

// Fetches are the requests since the given one, in the order of their arrival.
func (s *BodyServer) Fetches(since int) []Fetch {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Fetch(nil), s.fetches[min(since, len(s.fetches)):]...)
}

func (s *BodyServer) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.fetches)
}

// keptFetches bounds the record of a handler that asks without end.
const keptFetches = 20_000

// ServeHTTP answers one request.
func (s *BodyServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := s.answer(r)
	if a.Delay > 0 || a.Hang {
		var over <-chan time.Time
		if !a.Hang {
			timer := time.NewTimer(a.Delay)
			defer timer.Stop()
			over = timer.C
		}
		select {
		case <-over:
		case <-r.Context().Done():
			return
		case <-s.ended.Done():
			return
		}
	}
	for k, v := range a.Header {
		w.Header()[k] = v
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(a.Body)))
	w.WriteHeader(a.Status)
	if r.Method == http.MethodHead {
		return
	}
	if a.CutBody {
		_, _ = w.Write(a.Body[:len(a.Body)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler) // the documented way to break the connection off
	}
	_, _ = w.Write(a.Body)
}

// answer finds the answer and records the request.
func (s *BodyServer) answer(r *http.Request) Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, known := s.answers[r.URL.Path]
	if !known && s.missing != nil {
		a, known = s.missing(r.URL.Path)
	}
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		a = Answer{Status: http.StatusMethodNotAllowed}
	case !known:
		a = Answer{Status: http.StatusNotFound}
	case a.Status == 0:
		a.Status = http.StatusOK
	}
	f := Fetch{Server: s, Method: r.Method, Path: r.RequestURI, Header: r.Header.Clone(), At: time.Now(), Status: a.Status}
	if a.Hang {
		f.Status = 0
	}
	if len(s.fetches) < keptFetches {
		s.fetches = append(s.fetches, f)
	}
	return a
}
