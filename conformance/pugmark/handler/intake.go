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
	pieces      []piece
}

// piece is a part of an output as it came.
type piece struct {
	at time.Duration
	to int // where it ends in the whole
}

// keptPieces bounds how many parts of an output are told apart.
const keptPieces = 1000

func newIntake(began time.Time) *intake {
	return &intake{began: began, full: make(chan struct{})}
}

// take keeps a piece of output. The caller may reuse it.
func (i *intake) take(part []byte) {
	if len(part) == 0 {
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
	i.bytes = append(i.bytes, part[:min(room, len(part))]...)
	if len(i.pieces) < keptPieces {
		i.pieces = append(i.pieces, piece{at, 0})
	}
	i.pieces[len(i.pieces)-1].to = len(i.bytes)
	if len(part) > room {
		i.over = true
		close(i.full)
	}
}

// arrival is when the byte at an offset of the output came.
func (e *Exchange) arrival(offset int64) time.Duration {
	for _, p := range e.pieces {
		if offset < int64(p.to) {
			return p.at
		}
	}
	return e.Last
}

// into hands over what came.
func (i *intake) into(e *Exchange) {
	i.mu.Lock()
	defer i.mu.Unlock()
	e.Output, e.First, e.Last, e.Flooded, e.pieces = i.bytes, i.first, i.last, i.over, i.pieces
	e.began = i.began
}
