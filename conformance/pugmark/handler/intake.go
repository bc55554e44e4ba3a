package handler

import (
	"sync"
	"time"
)

// intake keeps the output of one invocation up to a limit, and when it came.
type intake struct {
	began time.Time
	full  chan struct{} // closed when the limit is passed

	mu          sync.Mutex
	bytes       []byte
	over        bool
	first, last time.Duration
}

func newIntake(began time.Time) *intake {
	return &intake{began: began, full: make(chan struct{})}
}

// take keeps a piece of output. The caller may reuse it.
func (i *intake) take(piece []byte) {
	if len(piece) == 0 {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	at := time.Since(i.began)
	if len(i.bytes) == 0 {
		i.first = at
	}
	if i.over {
		return
	}
	i.last = at
	room := OutputLimit - len(i.bytes)
	i.bytes = append(i.bytes, piece[:min(room, len(piece))]...)
	if len(piece) > room {
		i.over = true
		close(i.full)
	}
}

// into hands over what came.
func (i *intake) into(e *Exchange) {
	i.mu.Lock()
	defer i.mu.Unlock()
	e.Output, e.First, e.Last, e.Flooded = i.bytes, i.first, i.last, i.over
}
