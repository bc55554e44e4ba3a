package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

var errNoAnswer = errors.New("no answer")

// lossyStore fails requests before they take effect, loses answers, and repeats writes whose answer got lost, as clients
// of an object store do.
type lossyStore struct {
	store.Store
	mu   sync.Mutex
	rand *rand.Rand // nil: everything works

	before func(key string) // nil, or called before a conditional write
}

func (l *lossyStore) draw(n int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rand == nil {
		return n
	}
	return l.rand.IntN(n)
}

func (l *lossyStore) Put(ctx context.Context, key string, body io.ReadSeeker, o store.PutOptions) (string, error) {
	if before := l.meddler(); before != nil && o.IfAbsent {
		before(key)
	}
	switch l.draw(24) {
	case 0:
		return "", errNoAnswer
	case 1:
		_, err := l.Store.Put(ctx, key, body, o)
		return "", errors.Join(errNoAnswer, err)
	case 2, 3:
		if _, err := l.Store.Put(ctx, key, body, o); err != nil {
			return "", err
		}
		if _, err := body.Seek(0, io.SeekStart); err != nil {
			return "", err
		}
	}
	return l.Store.Put(ctx, key, body, o)
}

func (l *lossyStore) meddler() func(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.before
}

func (l *lossyStore) Open(ctx context.Context, key string) (io.ReadCloser, store.Attributes, error) {
	if l.draw(100) == 0 {
		return nil, store.Attributes{}, errNoAnswer
	}
	return l.Store.Open(ctx, key)
}

func (l *lossyStore) List(ctx context.Context, prefix string, o store.ListOptions) (store.Page, error) {
	if l.draw(60) == 0 {
		return store.Page{}, errNoAnswer
	}
	return l.Store.List(ctx, prefix, o)
}

// process is one of the runtimes that share the bucket. It keeps its repository, and what that has in memory, until it dies.
type process struct {
	name   string
	mortal *mortalStore
	lossy  *lossyStore
	repo   *session.Repo
}

func (w *walk) newProcess(name string) *process {
	p := &process{name: name, lossy: &lossyStore{Store: w.world}}
	p.mortal = &mortalStore{Store: p.lossy}
	p.repo = session.New(p.mortal, session.Options{Now: w.clock.Now, NewSessionID: w.newID, Parallel: 8})
	return p
}

// endanger draws what goes wrong for the process in this step, and says so.
func (w *walk) endanger(p *process, r *rand.Rand, tag string) string {
	switch n := r.IntN(100); {
	case n < 15:
		p.mortal.arm(1+r.IntN(30), r.IntN(2) == 0)
		return fmt.Sprintf(", killed at request %d (applied: %v)", p.mortal.last, p.mortal.applied)
	case n < 30:
		p.lossy.rand = rand.New(rand.NewPCG(r.Uint64(), 0))
		return ", requests get lost"
	case n < 40:
		p.lossy.before = w.others(tag)
		return ", others come first"
	}
	return ""
}

// others gives what lets somebody else take the place of every third conditional write just before it is made.
func (w *walk) others(tag string) func(key string) {
	var mu sync.Mutex
	var n int
	return func(key string) {
		mu.Lock()
		n++
		own := fmt.Sprint(tag, "o", n)
		mu.Unlock()
		draw := w.rand(own)
		if draw.IntN(3) > 0 {
			return
		}
		other := w.newProcess("other")
		if id, _, err := layout.ParseSnapshotKey(key); err == nil {
			w.push(other, draw, own, id.String())
		} else if namespace, _, err := layout.ParseMemoryKey(key); err == nil {
			w.run(other, &walkRun{walk: w, tag: own, memory: namespace}, oneOf(draw, w.bucket.order))
		}
	}
}

// survives ends the dangers, and tells whether the process still lives.
func (p *process) survives() bool {
	p.lossy.mu.Lock()
	p.lossy.rand, p.lossy.before = nil, nil
	p.lossy.mu.Unlock()
	p.mortal.mu.Lock()
	defer p.mortal.mu.Unlock()
	if p.mortal.last > 0 && p.mortal.n >= p.mortal.last {
		return false
	}
	p.mortal.last = 0
	return true
}

func (m *mortalStore) arm(last int, applied bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.n, m.last, m.applied = 0, last, applied
}

// hazard tells whether an error is one that the walk has made.
func hazard(err error) bool { return errors.Is(err, errDead) || errors.Is(err, errNoAnswer) }
