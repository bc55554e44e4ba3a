package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// requestVariants send other requests to the store than the reference does, for
// the same effects.
var requestVariants = map[string]Fault{
	"head-before-get": stored(&seam{open: func(ctx context.Context, next store.Store, key string) (io.ReadCloser, store.Attributes, error) {
		if _, err := next.Head(ctx, key); err != nil {
			return nil, store.Attributes{}, err
		}
		return next.Open(ctx, key)
	}}),
	"everything-read-twice": stored(&seam{open: func(ctx context.Context, next store.Store, key string) (io.ReadCloser, store.Attributes, error) {
		first, attrs, err := next.Open(ctx, key)
		if err != nil {
			return nil, attrs, err
		}
		_, err = io.Copy(io.Discard, first)
		first.Close()
		if err != nil {
			return nil, store.Attributes{}, err
		}
		return next.Open(ctx, key)
	}}),
	"blobs-only-where-none-is": stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		if w.isBlob() {
			switch attrs, err := next.Head(ctx, w.key); {
			case err == nil:
				return attrs.ETag, nil
			case !errors.Is(err, store.ErrNotFound):
				return "", err
			}
		}
		return w.send(ctx, next)
	}}),
	"blobs-written-twice": stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		etag, err := w.send(ctx, next)
		if err == nil && w.isBlob() {
			return w.send(ctx, next)
		}
		return etag, err
	}}),
	"commits-sent-again": stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		etag, err := w.send(ctx, next)
		if err == nil && w.options.IfAbsent {
			// As a client does that has not got the answer: the object is its own.
			if _, again := w.send(ctx, next); again != nil && !errors.Is(again, store.ErrExists) {
				return "", again
			}
		}
		return etag, err
	}}),
	"manifest-created-after-a-look": stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		if w.isManifest() {
			switch _, err := next.Head(ctx, w.key); {
			case err == nil:
				return "", store.ErrExists
			case !errors.Is(err, store.ErrNotFound):
				return "", err
			}
		}
		return w.send(ctx, next)
	}}),
	"one-request-at-a-time": {Store: func(next store.Store) store.Store { return &oneAtATime{next: next} }},
	"ten-keys-a-listing": stored(&seam{list: func(ctx context.Context, next store.Store, prefix string, o store.ListOptions) (store.Page, error) {
		if o.Max == 1 {
			o.Max = 10
		}
		return next.List(ctx, prefix, o)
	}}),
}

// oneAtATime has no request begin before the one before it is answered.
type oneAtATime struct {
	mu   sync.Mutex
	next store.Store
}

func (s *oneAtATime) Open(ctx context.Context, key string) (io.ReadCloser, store.Attributes, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, attrs, err := s.next.Open(ctx, key)
	if err != nil {
		return nil, attrs, err
	}
	defer body.Close()
	whole, err := io.ReadAll(body)
	return io.NopCloser(io.MultiReader(bytes.NewReader(whole), failing{err})), attrs, nil
}

func (s *oneAtATime) Head(ctx context.Context, key string) (store.Attributes, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.next.Head(ctx, key)
}

func (s *oneAtATime) Put(ctx context.Context, key string, body io.ReadSeeker, options store.PutOptions) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.next.Put(ctx, key, body, options)
}

func (s *oneAtATime) Delete(ctx context.Context, key string, options store.DeleteOptions) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.next.Delete(ctx, key, options)
}

func (s *oneAtATime) List(ctx context.Context, prefix string, options store.ListOptions) (store.Page, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.next.List(ctx, prefix, options)
}

// failing is a reader that ends with an error, io.EOF where it has none.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return 0, io.EOF
}
