package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// conflictFaults spoil commits that meet others.
var conflictFaults = map[string]Fault{
	"if-match-first": stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		if w.isMemory() {
			claim := &write{key: w.key, body: w.body, options: w.options}
			claim.options.IfAbsent, claim.options.IfMatch = false, `"d41d8cd98f00b204e9800998ecf8427e"`
			_, _ = claim.send(ctx, next)
		}
		return w.send(ctx, next)
	}}),
	"large-commits-in-parts": stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		list := []map[string]any{}
		if w.isSnapshot() {
			list = w.descriptors()
		}
		if len(list) <= 20 {
			return w.send(ctx, next)
		}
		rest := &write{key: besides(w.key, 1), options: w.options}
		rest.options.Metadata = map[string]string{}
		for k, v := range w.options.Metadata {
			rest.options.Metadata[k] = v
		}
		rest.options.Metadata[versionKey] = strconv.FormatUint(versionOf(rest.key), 10)
		rest.options.Metadata[transactionKey] = "77777"
		rest.setDescriptors(list[20:])
		w.setDescriptors(list[:20])
		etag, err := w.send(ctx, next)
		if err == nil {
			_, err = rest.send(ctx, next)
		}
		return etag, err
	}}),
	"version-skipped-after-conflict": versionSkipped(),
	"loser-overwrites": stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		etag, err := w.send(ctx, next)
		if w.isSnapshot() && errors.Is(err, store.ErrExists) {
			w.options.IfAbsent = false
			return w.send(ctx, next)
		}
		return etag, err
	}}),
	"checkpoints-merged": checkpointMovesOn(),
	"one-step-only":      oneStepOnly(),
	"merge-drops-forks-and-controls": afterConflict(func(w *write, _ []map[string]any) {
		list := w.descriptors()
		first := list[0]["sequence-number"]
		kept := list[:0:0]
		for _, d := range list {
			if kind(d) == 0 && d["content-type"] != "application/vnd.pugmark.control+json" {
				kept = append(kept, d)
			}
		}
		start, _ := first.(json.Number)
		n, _ := start.Int64()
		for i, d := range kept {
			d["sequence-number"] = n + int64(i)
		}
		w.setDescriptors(kept)
	}),
	"merge-copies-others":       afterConflict(func(w *write, met []map[string]any) { w.setDescriptors(append(met, w.descriptors()...)) }),
	"push-conflict-is-an-error": refusedFor(func(w *write) bool { return w.options.Metadata[typeKey] != "checkpoint" }),
	"never-gives-up":            {Identifiers: func(o *session.Options) { o.Attempts = 1 << 30 }},
	"gives-up-in-silence": {Ending: func(err error) error {
		if errors.Is(err, session.ErrGaveUp) {
			return nil
		}
		return err
	}},
	"busy-targets-refused": stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		if w.isSnapshot() && !strings.HasPrefix(w.key, snapshotsOf(running)) && versionOf(w.key) > 1 {
			if before, err := next.Head(ctx, besides(w.key, -1)); err == nil && before.Metadata[typeKey] == "provisional" {
				return "", errors.New("the target has an undigested provisional snapshot")
			}
		}
		return w.send(ctx, next)
	}}),
	"loses-to-deliveries":        losesToDeliveries(),
	"deliveries-not-recognised":  deliveriesNotRecognised(),
	"child-before-its-record":    childBeforeRecord(),
	"child-of-others-is-refused": refusedFor(func(w *write) bool { return w.childsFirst() }),
}

// versionSkipped counts on twice from a version that was taken.
func versionSkipped() Fault {
	var mu sync.Mutex
	met := map[string]bool{} // directories
	return stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		if w.isSnapshot() && met[path.Dir(w.key)] {
			w.key = besides(w.key, 1)
			w.options.Metadata[versionKey] = strconv.FormatUint(versionOf(w.key), 10)
		}
		etag, err := w.send(ctx, next)
		if w.isSnapshot() && errors.Is(err, store.ErrExists) {
			met[path.Dir(w.key)] = true
		}
		return etag, err
	}})
}

// oneStepOnly gives up where the version behind the one that was taken is taken too.
func oneStepOnly() Fault {
	taken := newMemory()
	return stored(&seam{
		put: func(ctx context.Context, next store.Store, w *write) (string, error) {
			etag, err := w.send(ctx, next)
			if w.isSnapshot() && errors.Is(err, store.ErrExists) {
				taken.keep(besides(w.key, 1), nil)
			}
			return etag, err
		},
		open: func(ctx context.Context, next store.Store, key string) (io.ReadCloser, store.Attributes, error) {
			body, attrs, err := next.Open(ctx, key)
			if _, second := taken.get(key); second && err == nil {
				body.Close()
				return nil, attrs, errors.New("the next version is taken too")
			}
			return body, attrs, err
		},
	})
}

// afterConflict changes the attempts of a commit that follow a refused one; met are
// the descriptors of what was in its way.
func afterConflict(change func(w *write, met []map[string]any)) Fault {
	var mu sync.Mutex
	first := map[string]string{} // of each directory, the key that was refused first
	return stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		if from := first[path.Dir(w.key)]; w.isSnapshot() && from != "" {
			var met []map[string]any
			for v := versionOf(from); v < versionOf(w.key); v++ {
				if body, _, err := next.Open(ctx, versionKeyOf(path.Dir(w.key), v)); err == nil {
					raw, _ := io.ReadAll(body)
					body.Close()
					met = append(met, (&write{body: raw}).descriptors()...)
				}
			}
			change(w, met)
		}
		etag, err := w.send(ctx, next)
		if w.isSnapshot() && errors.Is(err, store.ErrExists) && first[path.Dir(w.key)] == "" {
			first[path.Dir(w.key)] = w.key
		}
		return etag, err
	}})
}

// refusedFor fails for good where a write of some kind finds its key taken.
func refusedFor(kind func(w *write) bool) Fault {
	refused := newMemory()
	return stored(&seam{
		put: func(ctx context.Context, next store.Store, w *write) (string, error) {
			etag, err := w.send(ctx, next)
			if w.isSnapshot() && errors.Is(err, store.ErrExists) && kind(w) {
				refused.keep(w.key, nil)
			}
			return etag, err
		},
		open: func(ctx context.Context, next store.Store, key string) (io.ReadCloser, store.Attributes, error) {
			if _, ok := refused.get(key); ok {
				return nil, store.Attributes{}, errors.New("somebody else has written this version")
			}
			return next.Open(ctx, key)
		},
	})
}

// losesToDeliveries takes a delivery in the way for a checkpoint.
func losesToDeliveries() Fault {
	return stored(&seam{open: func(ctx context.Context, next store.Store, key string) (io.ReadCloser, store.Attributes, error) {
		body, attrs, err := next.Open(ctx, key)
		if err != nil || !isSnapshotKey(key) || attrs.Metadata[typeKey] != "provisional" {
			return body, attrs, err
		}
		raw, err := io.ReadAll(body)
		body.Close()
		for _, d := range (&write{body: raw}).descriptors() {
			if d["source-session"] != nil {
				attrs.Metadata[typeKey] = "checkpoint"
			}
		}
		return io.NopCloser(strings.NewReader(string(raw))), attrs, err
	}})
}

// deliveriesNotRecognised cannot tell what was delivered, neither by the source nor
// by the transaction.
func deliveriesNotRecognised() Fault {
	return stored(&seam{open: func(ctx context.Context, next store.Store, key string) (io.ReadCloser, store.Attributes, error) {
		body, attrs, err := next.Open(ctx, key)
		if err != nil || !isSnapshotKey(key) || strings.HasPrefix(key, snapshotsOf(running)) {
			return body, attrs, err
		}
		raw, err := io.ReadAll(body)
		body.Close()
		w := &write{body: raw}
		w.eachDescriptor(func(_, _ int, d map[string]any) {
			delete(d, "source-session")
			delete(d, "source-version")
		})
		delete(attrs.Metadata, transactionKey)
		attrs.Size = int64(len(w.body))
		return io.NopCloser(strings.NewReader(string(w.body))), attrs, err
	}})
}

// childBeforeRecord makes the manifest of a child before the record of its fork is
// committed.
func childBeforeRecord() Fault {
	return stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		if w.isSnapshot() && strings.HasPrefix(w.key, snapshotsOf(running)) {
			for _, d := range w.descriptors() {
				child, _ := d["target-session"].(string)
				if d["fork"] != true || snapshotsOf(child) == "" {
					continue
				}
				body, _ := json.Marshal(map[string]any{"session": child, "first-sequence-number": number(d) + 1,
					"parent": map[string]any{"session": running, "version": versionOf(w.key)}})
				m := &write{key: manifestOf(child), body: body}
				m.options = store.PutOptions{Attributes: store.Attributes{ContentType: "application/json", CacheControl: "max-age=31536000, immutable"}, IfAbsent: true}
				if _, err := m.send(ctx, next); err != nil && !errors.Is(err, store.ErrExists) {
					return "", err
				}
			}
		}
		return w.send(ctx, next)
	}})
}
