package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// blobFaults spoil how bodies are stored and inlined.
var blobFaults = map[string]Fault{
	"blob-key-without-colon":  blobs(func(w *write) { w.key = strings.Replace(w.key, "sha256:", "sha256-", 1) }),
	"blob-key-in-upper-case":  blobs(func(w *write) { w.key = "objects/sha256:" + strings.ToUpper(w.key[len("objects/sha256:"):]) }),
	"blob-with-another-body":  blobs(func(w *write) { w.respell(append(w.body, '\n')) }),
	"large-blobs-compressed":  largeBlobsCompressed(),
	"blob-without-cache":      blobs(func(w *write) { w.options.CacheControl = "" }),
	"blob-cached-for-an-hour": blobs(func(w *write) { w.options.CacheControl = "max-age=3600, immutable" }),
	"blob-without-checksum":   blobs(func(w *write) { w.options.SHA256 = nil }),
	"small-bodies-only-inlined": stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		if w.isBlob() && len(w.body) <= 1024 {
			return "", nil
		}
		return w.send(ctx, next)
	}}),
	"blob-created-once": stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		if w.isBlob() {
			w.options.IfAbsent = true
			etag, err := w.send(ctx, next)
			if errors.Is(err, store.ErrExists) {
				err = nil
			}
			return etag, err
		}
		return w.send(ctx, next)
	}}),
	"existing-blob-is-an-error": stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		if w.isBlob() {
			if _, err := next.Head(ctx, w.key); err == nil {
				return "", errors.New("object already exists")
			}
		}
		return w.send(ctx, next)
	}}),
	"inline-up-to-4096": inlineUpTo4096(),
}

func blobs(change func(w *write)) Fault {
	return writes(func(w *write) {
		if w.isBlob() {
			change(w)
		}
	})
}

// respell stores other bytes with a digest header that fits them.
func (w *write) respell(body []byte) {
	w.body = body
	sum := sha256.Sum256(body)
	w.options.SHA256 = &sum
}

// largeBlobsCompressed stores bodies above 64 KiB as zstd, and commits the digest
// and the size of that.
func largeBlobsCompressed() Fault {
	packed := newMemory()
	return stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		if w.isBlob() && len(w.body) > 64<<10 && w.options.ContentEncoding == "" {
			key := w.key
			w.setDocument(w.body)
			w.respell(w.body)
			w.key = fmt.Sprintf("objects/sha256:%x", *w.options.SHA256)
			packed.keep(key, w.body)
		}
		if w.isSnapshot() {
			w.eachDescriptor(func(_, _ int, d map[string]any) {
				digest, _ := d["digest"].(string)
				if body, ok := packed.get("objects/" + digest); ok {
					d["digest"], d["size"] = fmt.Sprintf("sha256:%x", sha256.Sum256(body)), len(body)
				}
			})
		}
		return w.send(ctx, next)
	}})
}

// inlineUpTo4096 remembers the blobs of its process and puts those of up to 4096
// bytes into the descriptors.
func inlineUpTo4096() Fault {
	bodies := newMemory()
	return stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		if w.isBlob() {
			bodies.keep(strings.TrimPrefix(w.key, "objects/"), w.body)
		}
		if w.isSnapshot() || w.isMemory() {
			w.eachDescriptor(func(_, _ int, d map[string]any) {
				digest, _ := d["digest"].(string)
				if body, ok := bodies.get(digest); ok && len(body) > 0 && len(body) <= 4096 {
					text, _ := json.Marshal(body)
					d["data"] = json.RawMessage(text)
				}
			})
		}
		return w.send(ctx, next)
	}})
}
