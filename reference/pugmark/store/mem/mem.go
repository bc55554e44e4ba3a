// Package mem keeps a bucket in memory, for tests and experiments.
package mem

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"strconv"
	"sync"
	"time"

	"github.com/tidwall/btree"

	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// Store is a bucket in memory. The zero value is not ready; use New.
type Store struct {
	mu      sync.RWMutex
	objects btree.Map[string, object]
	writes  uint64
}

type object struct {
	body  []byte
	attrs store.Attributes
}

var _ store.Store = (*Store)(nil)

// New gives an empty bucket.
func New() *Store { return &Store{} }

// Open implements store.Store.
func (s *Store) Open(ctx context.Context, key string) (io.ReadCloser, store.Attributes, error) {
	o, err := s.find(ctx, key)
	if err != nil {
		return nil, store.Attributes{}, fmt.Errorf("open %s: %w", key, err)
	}
	return io.NopCloser(bytes.NewReader(o.body)), o.attrs, nil
}

// Head implements store.Store.
func (s *Store) Head(ctx context.Context, key string) (store.Attributes, error) {
	o, err := s.find(ctx, key)
	if err != nil {
		return store.Attributes{}, fmt.Errorf("head %s: %w", key, err)
	}
	return o.attrs, nil
}

func (s *Store) find(ctx context.Context, key string) (object, error) {
	if err := ctx.Err(); err != nil {
		return object{}, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	o, ok := s.objects.Get(key)
	if !ok {
		return object{}, store.ErrNotFound
	}
	o.attrs.Metadata = maps.Clone(o.attrs.Metadata)
	return o, nil
}

// Put implements store.Store.
func (s *Store) Put(ctx context.Context, key string, body io.ReadSeeker, options store.PutOptions) (string, error) {
	size, err := store.Size(body)
	if err != nil {
		return "", fmt.Errorf("put %s: %w", key, err)
	}
	content := make([]byte, size)
	if _, err := io.ReadFull(body, content); err != nil {
		return "", fmt.Errorf("put %s: read body: %w", key, err)
	}
	if options.SHA256 != nil && sha256.Sum256(content) != *options.SHA256 {
		return "", fmt.Errorf("put %s: %w", key, store.ErrChecksum)
	}
	attrs := options.Attributes
	attrs.Metadata = maps.Clone(attrs.Metadata)
	attrs.Size = size
	attrs.Modified = time.Now().UTC()

	if err := ctx.Err(); err != nil {
		return "", fmt.Errorf("put %s: %w", key, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	present, exists := s.objects.Get(key)
	switch {
	case options.IfAbsent && exists:
		return "", fmt.Errorf("put %s: %w", key, store.ErrExists)
	case options.IfMatch != "" && present.attrs.ETag != options.IfMatch:
		return "", fmt.Errorf("put %s: %w", key, store.ErrMismatch)
	}
	s.writes++
	attrs.ETag = strconv.FormatUint(s.writes, 16)
	s.objects.Set(key, object{body: content, attrs: attrs})
	return attrs.ETag, nil
}

// Delete implements store.Store.
func (s *Store) Delete(ctx context.Context, key string, options store.DeleteOptions) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("delete %s: %w", key, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if present, _ := s.objects.Get(key); options.IfMatch != "" && present.attrs.ETag != options.IfMatch {
		return fmt.Errorf("delete %s: %w", key, store.ErrMismatch)
	}
	s.objects.Delete(key)
	return nil
}

// List implements store.Store.
func (s *Store) List(ctx context.Context, prefix string, options store.ListOptions) (store.Page, error) {
	if err := ctx.Err(); err != nil {
		return store.Page{}, fmt.Errorf("list %s: %w", prefix, err)
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	pager := store.NewPager(prefix, options)
	it := s.objects.Iter()
	for ok := it.Seek(pager.Start()); ok; {
		next, more := pager.Offer(it.Key())
		if !more {
			break
		}
		if next != "" {
			ok = it.Seek(next)
		} else {
			ok = it.Next()
		}
	}
	return pager.Page(), nil
}
