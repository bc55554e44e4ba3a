package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// manifestFaults spoil manifests and their creation.
var manifestFaults = map[string]Fault{
	"manifest-written-twice": manifests(func(w *write) { w.body = append(w.body, w.body...) }),
	"manifest-of-the-parent": fieldsOfManifests(func(m map[string]any) {
		if m["parent"] != nil {
			m["session"] = running
		}
	}),
	"parent-version-as-text": fieldsOfManifests(func(m map[string]any) {
		if p, ok := m["parent"].(map[string]any); ok {
			p["version"] = fmt.Sprint(p["version"])
		}
	}),
	"agent-as-list": fieldsOfManifests(func(m map[string]any) {
		if m["agent"] != nil {
			m["agent"] = []any{m["agent"]}
		}
	}),
	"metadata-values-guessed": fieldsOfManifests(func(m map[string]any) {
		values, _ := m["metadata"].(map[string]any)
		for k, v := range values {
			if text, ok := v.(string); ok {
				if n, err := strconv.ParseInt(text, 10, 64); err == nil {
					values[k] = n
				}
			}
		}
	}),
	"numbers-through-doubles": manifestsRead(func(m map[string]any, _ int) {
		if n, ok := m["first-sequence-number"].(json.Number); ok {
			f, _ := n.Float64()
			m["first-sequence-number"] = int64(f)
		}
	}),
	"manifest-looked-for-first": stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		if w.isManifest() {
			if _, err := next.Head(ctx, w.key); err == nil {
				return "", store.ErrExists
			}
			w.options.IfAbsent = false
		}
		return w.send(ctx, next)
	}}),
	"manifest-by-force": stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		etag, err := w.send(ctx, next)
		if w.isManifest() && errors.Is(err, store.ErrExists) {
			w.options.IfAbsent = false
			return w.send(ctx, next)
		}
		return etag, err
	}}),
	"manifest-type-octet-stream": manifests(func(w *write) { w.options.ContentType = "application/octet-stream" }),
	"existing-child-is-an-error": stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		etag, err := w.send(ctx, next)
		if w.isManifest() && errors.Is(err, store.ErrExists) {
			err = errors.New("the session exists already")
		}
		return etag, err
	}}),
	"last-run-in-the-manifest": stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		etag, err := w.send(ctx, next)
		if w.isSnapshot() && err == nil && strings.HasPrefix(w.key, snapshotsOf(running)) {
			key := path.Dir(path.Dir(w.key)) + "/manifest.json"
			err = rewrite(ctx, next, key, func(plain []byte) []byte {
				m := map[string]any{}
				if json.Unmarshal(plain, &m) != nil {
					return plain
				}
				m["last-run"] = versionOf(w.key)
				plain, _ = json.Marshal(m)
				return plain
			})
		}
		return etag, err
	}}),
	"failed-child-cleared-away": stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		etag, err := w.send(ctx, next)
		if w.childsFirst() && err != nil && !errors.Is(err, store.ErrExists) {
			_ = next.Delete(ctx, path.Dir(path.Dir(w.key))+"/manifest.json", store.DeleteOptions{})
		}
		return etag, err
	}}),
	"nameless-session-deleted": namelessDeleted(),
}

func manifests(change func(w *write)) Fault {
	return writes(func(w *write) {
		if w.isManifest() {
			change(w)
		}
	})
}

// rewrite replaces a stored object by a change of its bytes, without a condition.
func rewrite(ctx context.Context, s store.Store, key string, change func([]byte) []byte) error {
	body, attrs, err := s.Open(ctx, key)
	if err != nil {
		return err
	}
	plain, err := io.ReadAll(body)
	body.Close()
	if err != nil {
		return err
	}
	w := &write{key: key, body: change(plain)}
	w.options.Attributes = store.Attributes{ContentType: attrs.ContentType, ContentEncoding: attrs.ContentEncoding, CacheControl: attrs.CacheControl, Metadata: attrs.Metadata}
	_, err = w.send(ctx, s)
	return err
}

// namelessDeleted deletes the session that finds its name with another one.
func namelessDeleted() Fault {
	var mu sync.Mutex
	var under store.Store
	return Fault{
		Store: func(next store.Store) store.Store {
			mu.Lock()
			defer mu.Unlock()
			under = next
			return next
		},
		Ending: func(err error) error {
			mu.Lock()
			defer mu.Unlock()
			if errors.Is(err, session.ErrNameTaken) && running != "" {
				_ = under.Delete(context.Background(), path.Dir(path.Dir(snapshotsOf(running)+"x"))+"/manifest.json", store.DeleteOptions{})
			}
			return err
		},
	}
}
