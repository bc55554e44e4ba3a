package fakes3

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// journal numbers and keeps the records. Records are changed only through note, under its lock; everybody else gets copies.
type journal struct {
	mu      sync.Mutex
	records []*Request
	changed chan struct{} // closed at the next change; nil while nobody waits
}

// add numbers a record and stamps its arrival.
func (j *journal) add(r *Request) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r.N = len(j.records) + 1
	r.Arrived = time.Now()
	j.records = append(j.records, r)
	j.wake()
}

// note changes a record that add has seen.
func (j *journal) note(r *Request, change func(*Request)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	change(r)
	j.wake()
}

func (j *journal) wake() {
	if j.changed != nil {
		close(j.changed)
		j.changed = nil
	}
}

func (j *journal) copyOf(r *Request) *Request {
	j.mu.Lock()
	defer j.mu.Unlock()
	c := *r
	return &c
}

// Requests returns a copy of every record so far in order of arrival, those under way included.
func (s *Server) Requests() []Request {
	all, _ := s.journal.all(false)
	return all
}

// all copies the records. With watch it also returns a channel that is closed at the next change.
func (j *journal) all(watch bool) (records []Request, changed <-chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	records = make([]Request, len(j.records))
	for i, r := range j.records {
		records[i] = *r
	}
	if watch && j.changed == nil {
		j.changed = make(chan struct{})
	}
	return records, j.changed
}

// Await returns the first request in order of arrival for which m holds, waiting until there is one. It looks again
// whenever a record changes, so that m may ask about the answer: that r is no longer in flight, say. Unlike in the
// rules of [Server.Intercept] m is asked again and again about the same request, so it must not count.
// It fails when ctx ends or the server is closed.
func (s *Server) Await(ctx context.Context, m Match) (*Request, error) {
	for {
		records, changed := s.journal.all(true)
		for i := range records {
			if m(&records[i]) {
				return &records[i], nil
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for a request: %w", context.Cause(ctx))
		case <-s.closing.Done():
			return nil, fmt.Errorf("waiting for a request: %w", ErrClosed)
		}
	}
}
