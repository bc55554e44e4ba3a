package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// write is one Put on its way.
type write struct {
	key     string
	body    []byte
	options store.PutOptions
}

func (w *write) isBlob() bool     { return strings.HasPrefix(w.key, "objects/") }
func (w *write) isSnapshot() bool { return isSnapshotKey(w.key) }
func (w *write) isManifest() bool { return strings.HasSuffix(w.key, "/manifest.json") }
func (w *write) isMemory() bool   { return strings.HasPrefix(w.key, "memories/") }
func (w *write) isRef() bool      { return strings.HasPrefix(w.key, "refs/") }

func isSnapshotKey(key string) bool {
	return strings.HasPrefix(key, "sessions/") && strings.Contains(key, "/snapshots/")
}

// document is the decoded body of a snapshot or memory file.
func (w *write) document() []byte {
	d, _ := zstd.NewReader(nil)
	defer d.Close()
	plain, _ := d.DecodeAll(w.body, nil)
	return plain
}

// setDocument replaces the body by the encoding of another document.
func (w *write) setDocument(plain []byte) {
	e, _ := zstd.NewWriter(nil)
	defer e.Close()
	w.body = e.EncodeAll(plain, nil)
}

// seam is a store around another one; nil functions pass through.
type seam struct {
	store.Store
	put  func(ctx context.Context, next store.Store, w *write) (string, error)
	list func(ctx context.Context, next store.Store, prefix string, o store.ListOptions) (store.Page, error)
	open func(ctx context.Context, next store.Store, key string) (io.ReadCloser, store.Attributes, error)
	head func(ctx context.Context, next store.Store, key string) (store.Attributes, error)
	drop func(ctx context.Context, next store.Store, key string, o store.DeleteOptions) error
}

func (s *seam) Put(ctx context.Context, key string, body io.ReadSeeker, options store.PutOptions) (string, error) {
	if s.put == nil {
		return s.Store.Put(ctx, key, body, options)
	}
	if _, err := body.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	whole, err := io.ReadAll(body)
	if err != nil {
		return "", err
	}
	metadata := map[string]string{}
	for k, v := range options.Metadata {
		metadata[k] = v
	}
	options.Metadata = metadata
	return s.put(ctx, s.Store, &write{key: key, body: whole, options: options})
}

func (s *seam) List(ctx context.Context, prefix string, o store.ListOptions) (store.Page, error) {
	if s.list == nil {
		return s.Store.List(ctx, prefix, o)
	}
	return s.list(ctx, s.Store, prefix, o)
}

func (s *seam) Open(ctx context.Context, key string) (io.ReadCloser, store.Attributes, error) {
	if s.open == nil {
		return s.Store.Open(ctx, key)
	}
	return s.open(ctx, s.Store, key)
}

func (s *seam) Head(ctx context.Context, key string) (store.Attributes, error) {
	if s.head == nil {
		return s.Store.Head(ctx, key)
	}
	return s.head(ctx, s.Store, key)
}

func (s *seam) Delete(ctx context.Context, key string, o store.DeleteOptions) error {
	if s.drop == nil {
		return s.Store.Delete(ctx, key, o)
	}
	return s.drop(ctx, s.Store, key, o)
}

// send carries a write out.
func (w *write) send(ctx context.Context, next store.Store) (string, error) {
	return next.Put(ctx, w.key, bytes.NewReader(w.body), w.options)
}

// writes changes writes before they are sent.
func writes(change func(w *write)) Fault {
	return stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		change(w)
		return w.send(ctx, next)
	}})
}

func stored(s *seam) Fault {
	return Fault{Store: func(next store.Store) store.Store {
		s.Store = next
		return s
	}}
}

// keysMoved puts the keys below root elsewhere for everything but listings, and says
// where a key then is.
func keysMoved(root string, move func(key string) string) (moved *seam, at func(key string) string) {
	at = func(key string) string {
		if strings.HasPrefix(key, root) {
			return move(key)
		}
		return key
	}
	return &seam{
		put: func(ctx context.Context, next store.Store, w *write) (string, error) {
			w.key = at(w.key)
			return w.send(ctx, next)
		},
		open: func(ctx context.Context, next store.Store, key string) (io.ReadCloser, store.Attributes, error) {
			return next.Open(ctx, at(key))
		},
		drop: func(ctx context.Context, next store.Store, key string, o store.DeleteOptions) error {
			return next.Delete(ctx, at(key), o)
		},
	}, at
}

// conflicts remembers the keys whose writes have met something that was there.
func conflicts() (met *memory, put func(ctx context.Context, next store.Store, w *write) (string, error)) {
	met = newMemory()
	return met, func(ctx context.Context, next store.Store, w *write) (string, error) {
		etag, err := w.send(ctx, next)
		if errors.Is(err, store.ErrExists) {
			met.keep(w.key, nil)
		}
		return etag, err
	}
}
