package probe

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"
)

// ErrHubClosed is returned by Next once the hub is closed and nothing is left.
var ErrHubClosed = errors.New("hub is closed")

// A Hub receives the invocations of the handlers whose command lines and URLs
// it gave out. Its methods may be called from several goroutines.
type Hub struct {
	probes, http net.Listener
	secret       string // keeps probes of other hubs out

	mu      sync.Mutex
	arrived []*Invocation
	next    int               // index in arrived of what Next returns
	act     func(*Invocation) // Auto
	more    chan struct{}     // made by a waiter, closed by an arrival or Close
	conns   map[net.Conn]bool // open ones
	further []net.Listener    // of ServeAt
	labels  map[string]bool   // what URL has given out
	closed  bool
	serving sync.WaitGroup
}

// NewHub listens on two free ports of 127.0.0.1, for probes and for HTTP.
// The caller closes the hub.
func NewHub() (*Hub, error) {
	h := &Hub{secret: rand.Text()[:16], conns: map[net.Conn]bool{}, labels: map[string]bool{}}
	var err error
	if h.probes, err = net.Listen("tcp4", "127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("listening for probes: %w", err)
	}
	if h.http, err = net.Listen("tcp4", "127.0.0.1:0"); err != nil {
		_ = h.probes.Close()
		return nil, fmt.Errorf("listening for HTTP handlers: %w", err)
	}
	h.serving.Add(2)
	go h.accept(h.probes, h.serveProbe)
	go h.accept(h.http, h.serveHTTP)
	return h, nil
}

// Argv is the command line of a handler process, where exe is a program that
// passes what follows its argument "probe" to [Main]. The label comes back as
// Invocation.Label.
func (h *Hub) Argv(exe, label string) []string {
	return []string{exe, "probe", h.probes.Addr().String(), h.secret + "." + url.QueryEscape(label)}
}

// URL is where the HTTP handler with the given label is served. A GET or HEAD of any
// other path is answered 404 and is no invocation: somebody looks whether the
// service is there.
func (h *Hub) URL(label string) string {
	h.mu.Lock()
	h.labels[label] = true
	h.mu.Unlock()
	return "http://" + h.http.Addr().String() + "/" + url.PathEscape(label)
}

// ServeAt serves HTTP handlers at a further address, host:port, until the hub is
// closed: for a peer that chooses the address itself. The label of an invocation
// is the path of its request.
func (h *Hub) ServeAt(address string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("listening for HTTP handlers: %w", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		_ = l.Close()
		return ErrHubClosed
	}
	h.further = append(h.further, l)
	h.serving.Add(1)
	go h.accept(l, h.serveHTTP)
	return nil
}

// Next returns the next invocation in order of arrival that has not been handed
// out, and waits for it until ctx ends.
func (h *Hub) Next(ctx context.Context) (*Invocation, error) {
	for {
		h.mu.Lock()
		if h.next < len(h.arrived) {
			i := h.arrived[h.next]
			h.next++
			h.mu.Unlock()
			return i, nil
		}
		if h.closed {
			h.mu.Unlock()
			return nil, ErrHubClosed
		}
		if h.more == nil {
			h.more = make(chan struct{})
		}
		more := h.more
		h.mu.Unlock()
		select {
		case <-more:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Arrived returns all invocations so far, in order of arrival.
func (h *Hub) Arrived() []*Invocation {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.arrived[:len(h.arrived):len(h.arrived)]
}

// Auto has act handle, each in its own goroutine, the invocations that arrive
// from now on and those that Next has not handed out. With nil, Next hands them
// out again.
func (h *Hub) Auto(act func(*Invocation)) {
	h.mu.Lock()
	h.act = act
	var waiting []*Invocation
	if act != nil {
		waiting = h.arrived[h.next:len(h.arrived):len(h.arrived)]
		h.next = len(h.arrived)
	}
	h.mu.Unlock()
	for _, i := range waiting {
		go act(i)
	}
}

// Close ends the hub and every invocation: probes exit at once with
// ExitHubGone, HTTP connections are closed.
func (h *Hub) Close() error {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil
	}
	h.closed = true
	h.wake()
	err := errors.Join(h.probes.Close(), h.http.Close())
	for _, l := range h.further {
		err = errors.Join(err, l.Close())
	}
	for c := range h.conns {
		_ = c.Close()
	}
	for _, i := range h.arrived {
		i.finish()
	}
	h.mu.Unlock()
	h.serving.Wait()
	return err
}

func (h *Hub) wake() {
	if h.more != nil {
		close(h.more)
		h.more = nil
	}
}

// arrive numbers the invocation and hands it to Next or to the act of Auto.
func (h *Hub) arrive(i *Invocation) {
	h.mu.Lock()
	i.N = len(h.arrived) + 1
	h.arrived = append(h.arrived, i)
	act := h.act
	if act != nil && h.next == len(h.arrived)-1 {
		h.next++
	}
	h.wake()
	h.mu.Unlock()
	if act != nil {
		go act(i)
	}
}

func (h *Hub) accept(l net.Listener, serve func(net.Conn)) {
	defer h.serving.Done()
	for {
		c, err := l.Accept()
		if err != nil {
			h.mu.Lock()
			closed := h.closed
			h.mu.Unlock()
			if closed || errors.Is(err, net.ErrClosed) {
				return
			}
			time.Sleep(time.Millisecond) // out of descriptors: some will be freed
			continue
		}
		h.mu.Lock()
		if h.closed {
			h.mu.Unlock()
			_ = c.Close()
			continue
		}
		h.conns[c] = true
		h.serving.Add(1)
		h.mu.Unlock()
		go func() {
			defer h.serving.Done()
			defer func() {
				h.mu.Lock()
				delete(h.conns, c)
				h.mu.Unlock()
				_ = c.Close()
			}()
			serve(c)
		}()
	}
}

// helloGrace bounds how long a connection may say nothing; a probe says hello
// with its first write.
const helloGrace = 30 * time.Second

func (h *Hub) serveProbe(c net.Conn) {
	_ = c.SetReadDeadline(time.Now().Add(helloGrace))
	r := bufio.NewReaderSize(c, 256<<10)
	f, err := readFrame(r)
	if err != nil || f.kind != kindHello {
		return
	}
	u := unpacker{b: f.payload}
	token, dir, args, env, pid := u.str(), u.str(), u.strs(), u.strs(), u.num()
	secret, escaped, _ := strings.Cut(token, ".")
	label, err := url.QueryUnescape(escaped)
	if u.err != nil || err != nil || secret != h.secret {
		return
	}
	_ = c.SetReadDeadline(time.Time{})
	remote := &process{conn: c, waiting: map[uint32]chan frame{}}
	i := &Invocation{
		Transport: Subprocess, Label: label, Arrived: time.Now(),
		Args: args, Env: env, Dir: dir, Pid: int(pid),
		acts: remote, done: make(chan struct{}),
	}
	remote.inv = i
	h.arrive(i)
	remote.receive(r)
	i.in.end(time.Now(), ErrGone)
	i.finish()
}
