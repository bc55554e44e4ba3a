package fakes3

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// ErrGateOpen is what [Gate.Wait] returns when the gate was opened: nothing will be held any more.
var ErrGateOpen = errors.New("fakes3: the gate is open")

// Gate holds requests before they take effect, until they are released one by one.
type Gate struct {
	server *Server
	remove func()

	mu      sync.Mutex
	taken   int
	limit   int // how many requests it holds in all; 0: any number
	open    bool
	held    []*heldRequest // in the order in which they were stopped
	changed chan struct{}  // closed and replaced at every change of held and open
}

type heldRequest struct {
	request *Request
	release chan Decision // of capacity 1; written to by whoever takes the request out of held
	told    bool          // Wait has returned it
}

// Gate adds a rule that holds the first n requests that match m, or all of them if n is 0. Later ones are left to the
// rules after it.
func (s *Server) Gate(m Match, n int) *Gate {
	g := &Gate{server: s, limit: n, changed: make(chan struct{})}
	g.remove = s.Intercept(func(r *Request) bool { return m(r) && g.take() }, g.hold)
	return g
}

func (g *Gate) take() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open || g.limit > 0 && g.taken >= g.limit {
		return false
	}
	g.taken++
	return true
}

func (g *Gate) hold(ctx context.Context, r *Request) Decision {
	h := &heldRequest{request: r, release: make(chan Decision, 1)}
	g.mu.Lock()
	if g.open {
		g.mu.Unlock()
		return Pass()
	}
	g.server.setFate(r.N, "held")
	g.held = append(g.held, h)
	g.signal()
	g.mu.Unlock()

	select {
	case d := <-h.release:
		return d
	case <-ctx.Done():
	}
	if g.pull(r.N) == nil { // released at the same time
		return <-h.release
	}
	d := Drop()
	d.fate = "dropped when the client went away"
	if g.server.closing.Err() != nil {
		d.fate = "dropped when the server closed"
	}
	return d
}

// pull takes a request out of those held, and returns nil if it is no longer among them.
func (g *Gate) pull(n int) *heldRequest {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, h := range g.held {
		if h.request.N == n {
			g.held = slices.Delete(g.held, i, i+1)
			g.signal()
			return h
		}
	}
	return nil
}

func (g *Gate) signal() {
	close(g.changed)
	g.changed = make(chan struct{})
}

// Wait returns the next held request that it has not returned yet, waiting until there is one. Requests whose client
// went away are no longer held. It fails when ctx ends, the gate is opened, or the server closes.
func (g *Gate) Wait(ctx context.Context) (*Request, error) {
	for {
		g.mu.Lock()
		for _, h := range g.held {
			if !h.told {
				h.told = true
				g.mu.Unlock()
				return h.request, nil
			}
		}
		open, changed := g.open, g.changed
		g.mu.Unlock()
		if open {
			return nil, ErrGateOpen
		}

		select {
		case <-changed:
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for a request at the gate: %w", context.Cause(ctx))
		case <-g.server.closing.Done():
			return nil, fmt.Errorf("waiting for a request at the gate: %w", ErrClosed)
		}
	}
}

// Held returns the requests that are held at this moment, in the order in which they were stopped.
func (g *Gate) Held() []*Request {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := make([]*Request, len(g.held))
	for i, h := range g.held {
		out[i] = h.request
	}
	return out
}

// Release lets one held request go on as d says, and does not wait until it has: [Server.Await] does. It does nothing
// if the request is not held, because its client went away or it was released before.
func (g *Gate) Release(r *Request, d Decision) {
	if h := g.pull(r.N); h != nil {
		h.release <- d
	}
}

// Open lets all held requests pass and holds none from now on.
func (g *Gate) Open() {
	g.remove()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open = true
	for _, h := range g.held {
		h.release <- Pass()
	}
	g.held = nil
	g.signal()
}
