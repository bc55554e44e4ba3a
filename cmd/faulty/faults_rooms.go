package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"path"
	"strings"
	"sync"

	"github.com/pugcheck/pugcheck/reference/pugmark/store"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/bucket"
)

// roomFaults spoil what lies where in a bucket, and what becomes of it.
var roomFaults = map[string]Fault{
	"blobs-at-bucket-root": stored(&seam{
		put: func(ctx context.Context, next store.Store, w *write) (string, error) {
			if w.isBlob() {
				return w.send(ctx, bare())
			}
			return w.send(ctx, next)
		},
		open: func(ctx context.Context, next store.Store, key string) (io.ReadCloser, store.Attributes, error) {
			if body, attrs, err := next.Open(ctx, key); err == nil || !strings.HasPrefix(key, "objects/") {
				return body, attrs, err
			}
			return bare().Open(ctx, key)
		},
	}),
	"whole-bucket-listed": stored(&seam{list: func(ctx context.Context, next store.Store, prefix string, o store.ListOptions) (store.Page, error) {
		if !strings.HasPrefix(prefix, "memories/") {
			return next.List(ctx, prefix, o)
		}
		all, err := allKeys(ctx, next, "", o.After)
		var page store.Page
		for _, key := range all {
			if strings.HasPrefix(key, prefix) {
				page.Keys = append(page.Keys, key)
			}
		}
		return cut(page, o.Max), err
	}}),
	"old-sessions-cleared": stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		if w.isSnapshot() {
			_ = next.Delete(ctx, "sessions-old/a", store.DeleteOptions{}) // it looks like a session's
		}
		return w.send(ctx, next)
	}}),
	"staging-object": stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		if w.isBlob() {
			staged := &write{key: "objects/upload-in-progress", body: w.body}
			staged.options.Attributes = store.Attributes{ContentType: "application/octet-stream", CacheControl: w.options.CacheControl}
			if _, err := staged.send(ctx, next); err != nil {
				return "", err
			}
			if err := next.Delete(ctx, staged.key, store.DeleteOptions{}); err != nil {
				return "", err
			}
		}
		return w.send(ctx, next)
	}}),
	"loser-deletes-its-blobs":  loserDeletesBlobs(),
	"merged-snapshots-deleted": mergedDeleted(),
	"long-bodies-with-the-session": stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		if w.isBlob() && len(w.body) > 1024 && running != "" {
			copied := &write{key: strings.TrimSuffix(snapshotsOf(running), "snapshots/") + "bodies/" + path.Base(w.key), body: w.body}
			copied.options.Attributes = store.Attributes{ContentType: "application/octet-stream", CacheControl: w.options.CacheControl}
			if _, err := copied.send(ctx, next); err != nil {
				return "", err
			}
		}
		return w.send(ctx, next)
	}}),
	"old-memory-deleted": stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		etag, err := w.send(ctx, next)
		if v := versionOf(w.key); w.isMemory() && err == nil && v > 1 {
			_ = next.Delete(ctx, besides(w.key, -1), store.DeleteOptions{})
		}
		return etag, err
	}}),
	"memory-of-each-session":  memoryPerSession(),
	"manifest-after-snapshot": manifestAfterSnapshot(),
	"blob-type-malformed":     blobs(func(w *write) { w.options.ContentType = "text" }),
	"memory-as-x-zstd": writes(func(w *write) {
		if w.isMemory() {
			w.options.ContentEncoding = "x-zstd"
		}
	}),
	"memory-gives-up-at-once": memoryGivesUp(),
	"newest-version-remembered": stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		etag, err := w.send(ctx, next)
		for range 40 { // the version was looked up once, and never again
			if !w.isMemory() || !errors.Is(err, store.ErrExists) {
				break
			}
			etag, err = w.send(ctx, next)
		}
		return etag, err
	}}),
}

// bare is the bucket without the prefix of its root.
var bare = sync.OnceValue(func() store.Store {
	scheme, rest, _ := strings.Cut(location, "://")
	name, _, _ := strings.Cut(rest, "/")
	s, err := bucket.Open(context.Background(), scheme+"://"+name)
	if err != nil {
		panic(err)
	}
	return s
})

// besides is the key of another version of the same session or namespace.
func besides(key string, step int64) string {
	return versionKeyOf(path.Dir(key), uint64(int64(versionOf(key))+step))
}

func loserDeletesBlobs() Fault {
	var mu sync.Mutex
	var mine []string
	return stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		etag, err := w.send(ctx, next)
		mu.Lock()
		defer mu.Unlock()
		if w.isBlob() {
			mine = append(mine, w.key)
		}
		if w.isSnapshot() && errors.Is(err, store.ErrExists) {
			for _, key := range mine {
				_ = next.Delete(ctx, key, store.DeleteOptions{})
			}
		}
		return etag, err
	}})
}

// mergedDeleted deletes what was in the way of a commit once that stands above it.
func mergedDeleted() Fault {
	var mu sync.Mutex
	met := map[string]string{} // of each directory, the key that was refused first
	return stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		etag, err := w.send(ctx, next)
		mu.Lock()
		defer mu.Unlock()
		dir := path.Dir(w.key)
		own := err == nil
		if errors.Is(err, store.ErrExists) { // perhaps by an attempt whose answer got lost
			there, failed := next.Head(ctx, w.key)
			own = failed == nil && there.Metadata[transactionKey] == w.options.Metadata[transactionKey]
		}
		switch first := met[dir]; {
		case !w.isSnapshot():
		case !own && first == "":
			met[dir] = w.key
		case own && first != "":
			for v := versionOf(first); v < versionOf(w.key); v++ {
				_ = next.Delete(ctx, versionKeyOf(dir, v), store.DeleteOptions{})
			}
		}
		return etag, err
	}})
}

// manifestAfterSnapshot holds a child's manifest back until its first snapshot is
// written.
func manifestAfterSnapshot() Fault {
	var mu sync.Mutex
	held := map[string]*write{}
	return stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		if w.isManifest() {
			if _, err := next.Head(ctx, w.key); err == nil {
				return "", store.ErrExists
			}
			held[path.Dir(w.key)] = w
			return "", nil
		}
		etag, err := w.send(ctx, next)
		if manifest := held[path.Dir(path.Dir(w.key))]; w.isSnapshot() && manifest != nil {
			delete(held, path.Dir(manifest.key))
			if _, failed := manifest.send(ctx, next); failed != nil && err == nil {
				err = failed
			}
		}
		return etag, err
	}})
}

// memoryGivesUp has nothing more to do with a namespace once a write was refused.
func memoryGivesUp() Fault {
	refused := newMemory()
	return stored(&seam{
		put: func(ctx context.Context, next store.Store, w *write) (string, error) {
			etag, err := w.send(ctx, next)
			if w.isMemory() && errors.Is(err, store.ErrExists) {
				refused.keep(path.Dir(w.key), nil)
			}
			return etag, err
		},
		open: func(ctx context.Context, next store.Store, key string) (io.ReadCloser, store.Attributes, error) {
			if _, ok := refused.get(path.Dir(key)); ok {
				return nil, store.Attributes{}, errors.New("the version exists already")
			}
			return next.Open(ctx, key)
		},
	})
}

// fieldsOfManifests changes the manifests that are written.
func fieldsOfManifests(change func(m map[string]any)) Fault {
	return writes(func(w *write) {
		if w.isManifest() {
			m := map[string]any{}
			d := json.NewDecoder(strings.NewReader(string(w.body)))
			d.UseNumber()
			if d.Decode(&m) == nil {
				change(m)
				w.body, _ = json.Marshal(m)
			}
		}
	})
}
