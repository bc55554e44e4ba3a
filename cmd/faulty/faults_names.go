package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"sync"

	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// nameFaults spoil refs, and what is made of them.
var nameFaults = map[string]Fault{
	"ref-with-suffix":       refKeys(func(key string) string { return key + ".txt" }),
	"ref-type-octet-stream": refs(func(w *write) { w.options.ContentType = "application/octet-stream" }),
	"ref-as-json": merge(refs(func(w *write) {
		w.body, _ = json.Marshal(map[string]string{"target": string(w.body)})
	}), refsRead(func(_ string, text string) string {
		var o map[string]string
		if json.Unmarshal([]byte(text), &o) == nil {
			return o["target"]
		}
		return text
	})),
	"names-with-slashes": {
		Name:  func(name string) string { return strings.ReplaceAll(name, "/", "~") },
		Store: refKeys(func(key string) string { return strings.ReplaceAll(key, "~", "/") }).Store,
	},
	"ref-cached-for-ever": refs(func(w *write) { w.options.CacheControl = "max-age=31536000, immutable" }),
	"ref-without-cache":   refs(func(w *write) { w.options.CacheControl = "" }),
	"ref-read-once":       refReadOnce(),
	"ref-created-once":    refs(func(w *write) { w.options.IfAbsent = true }),
	"rename-without-a-look": stored(&seam{drop: func(ctx context.Context, next store.Store, key string, _ store.DeleteOptions) error {
		return next.Delete(ctx, key, store.DeleteOptions{})
	}}),
	"ref-as-url": merge(refs(func(w *write) { w.body = []byte(location + "/" + string(w.body)) }),
		refsRead(func(_ string, text string) string { return strings.TrimPrefix(text, location+"/") })),
	"names-searched-for": namesSearchedFor(),
	"ref-never-read":     refsBelieved(func(string) bool { return running != "" }),
	"lost-name-ignored": refsRead(func(_ string, text string) string {
		if running != "" {
			return manifestOf(running)
		}
		return text
	}),
	"link-trusted": linkTrusted(),
	"loser-leaves-manifest": stored(&seam{drop: func(ctx context.Context, next store.Store, key string, o store.DeleteOptions) error {
		if path.Base(key) == "manifest.json" {
			return nil
		}
		return next.Delete(ctx, key, o)
	}}),
	"loser-fails": loserFails(),
}

func refs(change func(w *write)) Fault {
	return writes(func(w *write) {
		if w.isRef() {
			change(w)
		}
	})
}

// merge puts the stores of several faults one around the other.
func merge(faults ...Fault) Fault {
	return Fault{Store: func(next store.Store) store.Store {
		for _, f := range faults {
			next = f.Store(next)
		}
		return next
	}}
}

// refKeys respells the keys of refs for everything but listings.
func refKeys(respell func(string) string) Fault {
	f, _ := keysMoved("refs/", respell)
	return stored(f)
}

// refsRead changes the text of refs when they are read.
func refsRead(change func(key, text string) string) Fault {
	return stored(&seam{open: func(ctx context.Context, next store.Store, key string) (io.ReadCloser, store.Attributes, error) {
		body, attrs, err := next.Open(ctx, key)
		if err != nil || !strings.HasPrefix(key, "refs/") {
			return body, attrs, err
		}
		text, err := io.ReadAll(body)
		body.Close()
		return io.NopCloser(strings.NewReader(change(key, string(text)))), attrs, err
	}})
}

// refsBelieved answers reads of refs without looking.
func refsBelieved(when func(key string) bool) Fault {
	return stored(&seam{open: func(ctx context.Context, next store.Store, key string) (io.ReadCloser, store.Attributes, error) {
		if strings.HasPrefix(key, "refs/") && when(key) {
			return io.NopCloser(strings.NewReader(manifestOf(running))), store.Attributes{}, nil
		}
		return next.Open(ctx, key)
	}})
}

// manifestOf is the key of a session's manifest.
func manifestOf(id string) string {
	return strings.TrimSuffix(snapshotsOf(id), "snapshots/") + "manifest.json"
}

func refReadOnce() Fault {
	first := newMemory()
	return stored(&seam{open: func(ctx context.Context, next store.Store, key string) (io.ReadCloser, store.Attributes, error) {
		if !strings.HasPrefix(key, "refs/") {
			return next.Open(ctx, key)
		}
		if text, ok := first.get(key); ok {
			return io.NopCloser(bytes.NewReader(text)), store.Attributes{}, nil
		}
		body, attrs, err := next.Open(ctx, key)
		if err != nil {
			return body, attrs, err
		}
		text, err := io.ReadAll(body)
		body.Close()
		first.keep(key, text)
		return io.NopCloser(bytes.NewReader(text)), attrs, err
	}})
}

// namesSearchedFor finds the session of a name by the manifests, unless it has just
// been linked.
func namesSearchedFor() Fault {
	linked := newMemory()
	return stored(&seam{
		put: func(ctx context.Context, next store.Store, w *write) (string, error) {
			if w.isRef() {
				linked.keep(w.key, nil)
			}
			return w.send(ctx, next)
		},
		open: func(ctx context.Context, next store.Store, key string) (io.ReadCloser, store.Attributes, error) {
			if _, own := linked.get(key); own || !strings.HasPrefix(key, "refs/") {
				return next.Open(ctx, key)
			}
			all, err := allKeys(ctx, next, "sessions/", "")
			if err != nil {
				return nil, store.Attributes{}, err
			}
			for _, manifest := range all {
				if path.Base(manifest) != "manifest.json" {
					continue
				}
				body, _, err := next.Open(ctx, manifest)
				if err != nil {
					continue
				}
				plain, _ := io.ReadAll(body)
				body.Close()
				var m struct{ Name string }
				if json.Unmarshal(plain, &m) == nil && m.Name == path.Base(key) {
					attrs, _ := next.Head(ctx, key)
					return io.NopCloser(strings.NewReader(manifest)), attrs, nil
				}
			}
			return nil, store.Attributes{}, fmt.Errorf("%s: %w", key, store.ErrNotFound)
		},
	})
}

func linkTrusted() Fault {
	linked := newMemory()
	return stored(&seam{
		put: func(ctx context.Context, next store.Store, w *write) (string, error) {
			if w.isRef() {
				linked.keep(w.key, w.body)
			}
			return w.send(ctx, next)
		},
		open: func(ctx context.Context, next store.Store, key string) (io.ReadCloser, store.Attributes, error) {
			if text, ok := linked.get(key); ok {
				return io.NopCloser(bytes.NewReader(text)), store.Attributes{}, nil
			}
			return next.Open(ctx, key)
		},
	})
}

func loserFails() Fault {
	var once sync.Once
	lost := false
	return stored(&seam{
		drop: func(ctx context.Context, next store.Store, key string, o store.DeleteOptions) error {
			once.Do(func() { lost = true })
			return next.Delete(ctx, key, o)
		},
		open: func(ctx context.Context, next store.Store, key string) (io.ReadCloser, store.Attributes, error) {
			if lost && path.Base(key) == "manifest.json" {
				return nil, store.Attributes{}, errors.New("the name went to another session")
			}
			return next.Open(ctx, key)
		},
	})
}
