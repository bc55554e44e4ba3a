package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"path"
	"strings"
	"sync"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

const controlType = "application/vnd.pugmark.control+json"

// isOwn tells whether a write is a snapshot of the session that is run.
func (w *write) isOwn() bool { return w.isSnapshot() && strings.HasPrefix(w.key, snapshotsOf(running)) }

// isDelivery tells whether a write is a snapshot that brings messages to another
// session.
func (w *write) isDelivery() bool {
	if !w.isSnapshot() || w.isOwn() {
		return false
	}
	for _, d := range w.descriptors() {
		if d["source-session"] != nil {
			return true
		}
	}
	return false
}

// object decodes a JSON object with its numbers as they are.
func object(raw []byte) map[string]any {
	m := map[string]any{}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	_ = d.Decode(&m)
	return m
}

func digestOf(body []byte) string {
	sum := sha256.Sum256(body)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// setBody gives a descriptor another body; the caller sees to the blob.
func setBody(d map[string]any, body []byte) {
	d["digest"], d["size"] = digestOf(body), len(body)
	delete(d, "data")
	if len(body) <= 1024 {
		d["data"] = base64.StdEncoding.EncodeToString(body)
	}
}

func bodyOf(d map[string]any) []byte {
	text, _ := d["data"].(string)
	body, _ := base64.StdEncoding.DecodeString(text)
	return body
}

// putBlob stores a body as a blob of its own.
func putBlob(ctx context.Context, next store.Store, body []byte, contentType string) error {
	_, err := next.Put(ctx, "objects/"+digestOf(body), bytes.NewReader(body), store.PutOptions{
		Attributes: store.Attributes{ContentType: contentType, CacheControl: "max-age=31536000, immutable"}, SHA256: sumOf(body)})
	return err
}

func sumOf(body []byte) *[32]byte {
	sum := sha256.Sum256(body)
	return &sum
}

// controls changes the bodies of the control messages that are committed.
func controls(change func(m map[string]any)) Fault {
	return stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		if w.isSnapshot() {
			list := w.descriptors()
			for _, d := range list {
				if d["content-type"] != controlType {
					continue
				}
				m := object(bodyOf(d))
				change(m)
				body, _ := json.Marshal(m)
				if err := putBlob(ctx, next, body, controlType); err != nil {
					return "", err
				}
				setBody(d, body)
			}
			w.setDescriptors(list)
		}
		return w.send(ctx, next)
	}})
}

// manifestsWritten changes the manifests that are written.
func manifestsWritten(change func(ctx context.Context, next store.Store, m map[string]any)) Fault {
	return stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		if w.isManifest() {
			m := object(w.body)
			change(ctx, next, m)
			w.body, _ = json.Marshal(m)
			w.options.SHA256 = nil
		}
		return w.send(ctx, next)
	}})
}

// dirOf is the path of a session, without a slash at its end.
func dirOf(text string) string { return strings.TrimSuffix(snapshotsOf(text), "/snapshots/") }

// fetch reads an object whole.
func fetch(ctx context.Context, next store.Store, key string) ([]byte, error) {
	body, _, err := next.Open(ctx, key)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return io.ReadAll(body)
}

// ownManifest is the manifest of the session that is run.
func ownManifest(ctx context.Context, next store.Store) map[string]any {
	raw, err := fetch(ctx, next, dirOf(running)+"/manifest.json")
	if err != nil {
		return nil
	}
	return object(raw)
}

// onRead changes the descriptors of snapshots when they are read; own tells whether
// the snapshot is one of the session that is run.
func onRead(change func(key string, own bool, list []map[string]any) []map[string]any) Fault {
	return snapshotsRead(func(key string, raw []byte) []byte {
		w := write{body: raw}
		list := w.descriptors()
		if list == nil {
			return raw
		}
		w.setDescriptors(change(key, strings.HasPrefix(key, snapshotsOf(running)), list))
		return w.body
	})
}

// refused answers writes that met something in another way.
func refused(which func(w *write) bool, answer func(ctx context.Context, next store.Store, w *write) (string, error)) Fault {
	return stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		etag, err := w.send(ctx, next)
		if errors.Is(err, store.ErrExists) && which(w) {
			return answer(ctx, next, w)
		}
		return etag, err
	}})
}

// givesUp ends the run where a write meets something: what lies there cannot be
// read any more either.
func givesUp(which func(w *write) bool) Fault {
	met := newMemory()
	failure := errors.New("lost to another commit")
	return stored(&seam{
		put: func(ctx context.Context, next store.Store, w *write) (string, error) {
			etag, err := w.send(ctx, next)
			if errors.Is(err, store.ErrExists) && which(w) {
				met.keep(w.key, nil)
				return "", failure
			}
			return etag, err
		},
		open: func(ctx context.Context, next store.Store, key string) (io.ReadCloser, store.Attributes, error) {
			if _, ok := met.get(key); ok {
				return nil, store.Attributes{}, failure
			}
			return next.Open(ctx, key)
		},
	})
}

// withdrawn does not carry writes out and says that it has.
func withdrawn(which func(w *write) bool) Fault {
	return stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		if which(w) {
			return "", nil
		}
		return w.send(ctx, next)
	}})
}

// background carries writes out some time later, one after the other, and has the
// program wait for them only at its end.
func background(which func(w *write) bool) Fault {
	var mu sync.Mutex
	last := make(chan struct{})
	close(last)
	f := stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		if !which(w) {
			return w.send(ctx, next)
		}
		ctx = context.WithoutCancel(ctx)
		mu.Lock()
		before, done := last, make(chan struct{})
		last = done
		mu.Unlock()
		go func() {
			defer close(done)
			<-before
			_, _ = w.send(ctx, next)
		}()
		return "", nil
	}})
	f.Ending = func(err error) error {
		<-last
		return err
	}
	return f
}

// nextKey is the key of a version some versions above that of a snapshot's key.
func nextKey(key string, by uint64) string {
	return path.Dir(key) + "/" + layout.VersionFile(uint32(versionOf(key)+by))
}
