package probe

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

// InputLimit is the number of input bytes kept of one invocation. What comes
// after is read and counted (see [Invocation.InputLost]) but not kept. While its
// buffer grows, an input takes up to about twice its size.
const InputLimit = 256 << 20

var (
	// ErrInputClosed ends the input after CloseInput.
	ErrInputClosed = errors.New("input closed by the handler")
	// ErrInputLimit ends a Reader where bytes beyond InputLimit are missing.
	ErrInputLimit = errors.New("input exceeds what is kept of it")
)

// A Chunk is a piece of input as one read returned it.
type Chunk struct {
	At    time.Time // when it was read, by the clock of the machine
	Bytes []byte    // not to be modified
}

// input collects what came and wakes those who wait for more.
type input struct {
	limit   int // of buf; 0: InputLimit
	mu      sync.Mutex
	buf     []byte // only ever appended to, so slices of it stay valid
	spans   []span
	lost    int64
	err     error // nil while open, io.EOF after a regular end
	endedAt time.Time
	changed chan struct{} // made by a waiter, closed by a change
}

type span struct {
	at       time.Time
	from, to int
}

func (in *input) add(at time.Time, p []byte) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.err != nil || len(p) == 0 {
		return
	}
	limit := in.limit
	if limit == 0 {
		limit = InputLimit
	}
	keep := min(len(p), limit-len(in.buf))
	in.lost += int64(len(p) - keep)
	if keep > 0 {
		in.spans = append(in.spans, span{at, len(in.buf), len(in.buf) + keep})
		in.buf = append(in.buf, p[:keep]...)
	}
	in.wake()
}

// end makes err (io.EOF: regular) the end; the first one counts.
func (in *input) end(at time.Time, err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.err != nil {
		return
	}
	in.err, in.endedAt = err, at
	in.wake()
}

func (in *input) wake() {
	if in.changed != nil {
		close(in.changed)
		in.changed = nil
	}
}

func (in *input) waiter() <-chan struct{} {
	if in.changed == nil {
		in.changed = make(chan struct{})
	}
	return in.changed
}

func (in *input) bytes() []byte {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.buf[:len(in.buf):len(in.buf)]
}

func (in *input) chunks() []Chunk {
	in.mu.Lock()
	defer in.mu.Unlock()
	l := make([]Chunk, len(in.spans))
	for i, s := range in.spans {
		l[i] = Chunk{s.at, in.buf[s.from:s.to:s.to]}
	}
	return l
}

func (in *input) ended() (time.Time, bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.endedAt, in.err == io.EOF
}

func (in *input) waitEnd(ctx context.Context) error {
	for {
		in.mu.Lock()
		err, more := in.err, in.waiter()
		in.mu.Unlock()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		select {
		case <-more:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

type inputReader struct {
	in  *input
	off int
}

func (r *inputReader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		r.in.mu.Lock()
		if r.off < len(r.in.buf) {
			n := copy(p, r.in.buf[r.off:])
			r.off += n
			r.in.mu.Unlock()
			return n, nil
		}
		if r.in.lost > 0 {
			r.in.mu.Unlock()
			return 0, ErrInputLimit
		}
		if err := r.in.err; err != nil {
			r.in.mu.Unlock()
			return 0, err
		}
		more := r.in.waiter()
		r.in.mu.Unlock()
		<-more
	}
}
