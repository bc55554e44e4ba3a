package subject

import (
	"fmt"
	"sync"
)

// defaultLimit is what is kept of each stream, in bytes.
const defaultLimit = 128 << 10

// A Capture is what was kept of a stream. If nothing was left out, Tail is empty
// and Head is the whole.
type Capture struct {
	Head, Tail []byte
	Total      int64 // bytes in the whole stream so far
}

// Omitted is the number of bytes between Head and Tail that were not kept.
func (c Capture) Omitted() int64 { return c.Total - int64(len(c.Head)) - int64(len(c.Tail)) }

// Bytes is Head and Tail together.
func (c Capture) Bytes() []byte {
	return append(append(make([]byte, 0, len(c.Head)+len(c.Tail)), c.Head...), c.Tail...)
}

func (c Capture) String() string {
	if n := c.Omitted(); n > 0 {
		return fmt.Sprintf("%s\n… %d bytes left out …\n%s", c.Head, n, c.Tail)
	}
	return string(c.Head) + string(c.Tail)
}

// A Recorder is a writer that keeps the beginning of what is written to it and, in
// a ring, the end. Its methods are safe for concurrent use.
type Recorder struct {
	mu       sync.Mutex
	headSize int
	head     []byte
	tailSize int
	ring     []byte // grows up to tailSize, then wraps
	at       int    // next byte of a full ring
	total    int64
}

// NewRecorder returns a recorder that keeps limit bytes, half of them from the
// beginning. A limit of 0 stands for 128 KiB.
func NewRecorder(limit int) *Recorder {
	if limit <= 0 {
		limit = defaultLimit
	}
	return &Recorder{headSize: (limit + 1) / 2, tailSize: limit / 2}
}

// Write takes all of p. It never fails.
func (r *Recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := len(p)
	r.total += int64(all)
	n := min(len(p), r.headSize-len(r.head))
	r.head = append(r.head, p[:n]...)
	p = p[n:]
	if len(p) > r.tailSize {
		p = p[len(p)-r.tailSize:]
	}
	n = min(len(p), r.tailSize-len(r.ring))
	r.ring = append(r.ring, p[:n]...)
	for p = p[n:]; len(p) > 0; p = p[n:] {
		n = copy(r.ring[r.at:], p)
		r.at = (r.at + n) % r.tailSize
	}
	return all, nil
}

// Capture is what has been kept so far.
func (r *Recorder) Capture() Capture {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := Capture{Head: append([]byte(nil), r.head...), Total: r.total}
	c.Tail = append(append(c.Tail, r.ring[r.at:]...), r.ring[:r.at]...)
	return c
}
