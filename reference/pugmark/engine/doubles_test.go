package engine

import (
	"context"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// stoppedClock stands still, and jumps when it is waited for.
type stoppedClock struct {
	mu    sync.Mutex
	now   time.Time
	waits []time.Time
}

func (c *stoppedClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *stoppedClock) Wait(ctx context.Context, t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waits = append(c.waits, t)
	if err := ctx.Err(); err != nil {
		return err
	}
	c.now = t
	return nil
}

// watchedStore records requests, and can fail them.
type watchedStore struct {
	store.Store
	mu       sync.Mutex
	requests []string
	fail     func(operation, key string) error // nil, or its error before the request takes effect
}

func (w *watchedStore) note(operation, key string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests = append(w.requests, operation+" "+key)
	if w.fail != nil {
		return w.fail(operation, key)
	}
	return nil
}

func (w *watchedStore) Open(ctx context.Context, key string) (io.ReadCloser, store.Attributes, error) {
	if err := w.note("GET", key); err != nil {
		return nil, store.Attributes{}, err
	}
	return w.Store.Open(ctx, key)
}

func (w *watchedStore) Head(ctx context.Context, key string) (store.Attributes, error) {
	if err := w.note("HEAD", key); err != nil {
		return store.Attributes{}, err
	}
	return w.Store.Head(ctx, key)
}

func (w *watchedStore) Put(ctx context.Context, key string, body io.ReadSeeker, o store.PutOptions) (string, error) {
	if err := w.note("PUT", key); err != nil {
		return "", err
	}
	return w.Store.Put(ctx, key, body, o)
}

func (w *watchedStore) Delete(ctx context.Context, key string, o store.DeleteOptions) error {
	if err := w.note("DELETE", key); err != nil {
		return err
	}
	return w.Store.Delete(ctx, key, o)
}

func (w *watchedStore) List(ctx context.Context, prefix string, o store.ListOptions) (store.Page, error) {
	if err := w.note("LIST", prefix); err != nil {
		return store.Page{}, err
	}
	return w.Store.List(ctx, prefix, o)
}

// count says how many recorded requests begin with this.
func (w *watchedStore) count(prefix string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, request := range w.requests {
		if strings.HasPrefix(request, prefix) {
			n++
		}
	}
	return n
}
