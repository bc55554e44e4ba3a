package main

import (
	"context"
	"encoding/json"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// layoutFaults spoil encodings, caching and what is fixed of the layout.
var layoutFaults = map[string]Fault{
	"blob-encoding-left-out": blobs(func(w *write) { w.options.ContentEncoding = "" }),
	"documents-taken-for-plain": stored(&seam{open: func(ctx context.Context, next store.Store, key string) (io.ReadCloser, store.Attributes, error) {
		body, attrs, err := next.Open(ctx, key)
		if path.Base(key) == "manifest.json" || strings.HasPrefix(key, "refs/") {
			attrs.ContentEncoding = "identity"
		}
		return body, attrs, err
	}}),
	"manifest-without-cache": manifests(func(w *write) { w.options.CacheControl = "" }),
	"memory-never-cached": writes(func(w *write) {
		if w.isMemory() {
			w.options.CacheControl = "no-store"
		}
	}),
	"children-listed-beside": stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		etag, err := w.send(ctx, next)
		if w.childsFirst() && err == nil {
			parent := strings.TrimSuffix(snapshotsOf(running), "snapshots/")
			beside := &write{key: parent + "children.json", body: []byte(`["` + sessionOf(path.Dir(path.Dir(w.key))) + `"]`)}
			beside.options.Attributes = store.Attributes{ContentType: "application/json", CacheControl: "no-cache"}
			_, err = beside.send(ctx, next)
		}
		return etag, err
	}}),
	"fork-record-cleared": stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		etag, err := w.send(ctx, next)
		if !w.childsFirst() || err != nil {
			return etag, err
		}
		keys, err := allKeys(ctx, next, snapshotsOf(running), "")
		if err != nil {
			return etag, err
		}
		return etag, rewrite(ctx, next, keys[0], func(raw []byte) []byte {
			old := &write{body: raw}
			old.eachDescriptor(func(_, _ int, d map[string]any) {
				delete(d, "fork")
				delete(d, "target-session")
			})
			return old.body
		})
	}}),
	"child-drawn-later": numbered(func(_, _ int, d map[string]any) {
		if d["fork"] == true {
			delete(d, "target-session")
		}
	}),
	"index-of-its-own": stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		etag, err := w.send(ctx, next)
		if w.isSnapshot() && err == nil {
			err = extra(ctx, next, "index/"+path.Base(path.Dir(path.Dir(w.key))), w.key)
		}
		return etag, err
	}}),
	"latest-pointer": stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		etag, err := w.send(ctx, next)
		if w.isSnapshot() && err == nil {
			err = extra(ctx, next, path.Dir(path.Dir(w.key))+"/latest.json", w.key)
		}
		return etag, err
	}}),
	"unknown-manifest-fields-refused": manifestsRead(func(m map[string]any, _ int) {
		for field := range m {
			if strings.HasPrefix(field, "x-") {
				m["session"] = 7 // which no decoder takes
			}
		}
	}),
	"unknown-descriptor-fields-refused": descriptorsRead(func(list []map[string]any) []map[string]any {
		for _, d := range list {
			for field := range d {
				if strings.HasPrefix(field, "x-") {
					d["digest"] = 7 // which no decoder takes
				}
			}
		}
		return list
	}),
	"older-forks-forgotten": descriptorsRead(func(list []map[string]any) []map[string]any {
		if slices.ContainsFunc(list, func(d map[string]any) bool { return d["fork"] == true }) {
			for _, d := range list {
				delete(d, "fork-session-id")
			}
		}
		return list
	}),
	"memory-name-in-lower-case": writes(func(w *write) {
		if w.isMemory() {
			w.key = path.Dir(w.key) + "/" + strings.ToLower(path.Base(w.key))
		}
	}),
	"fourth-type": snapshots(func(w *write) {
		if w.options.Metadata[typeKey] == "provisional" {
			w.options.Metadata[typeKey] = "delivery"
		}
	}),
	"handlers-metadata-on-files": snapshots(func(w *write) {
		for _, d := range w.descriptors() {
			meta, _ := d["metadata"].(map[string]any)
			for _, k := range []string{typeKey, "schema"} {
				if v, ok := meta[k].(string); ok {
					w.options.Metadata[k] = v
				}
			}
		}
	}),
}

// extra stores a small object beside what the layout knows.
func extra(ctx context.Context, s store.Store, key, text string) error {
	body, _ := json.Marshal(map[string]string{"latest": text})
	w := &write{key: key, body: body}
	w.options.Attributes = store.Attributes{ContentType: "application/json", CacheControl: "no-cache"}
	_, err := w.send(ctx, s)
	return err
}
