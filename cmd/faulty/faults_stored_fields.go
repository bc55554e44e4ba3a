package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// fieldFaults spoil single fields of descriptors as they are stored and read, and
// whether their blobs are there.
var fieldFaults = map[string]Fault{
	"control-digest-bare": respelt(func(d map[string]any) {
		if digest, ok := d["digest"].(string); ok && isControl(d) {
			d["digest"] = strings.TrimPrefix(digest, "sha256:")
		}
	}, func(d map[string]any) {
		if digest, ok := d["digest"].(string); ok && len(digest) == 64 {
			d["digest"] = "sha256:" + digest
		}
	}),
	"blobs-in-the-background": background((*write).isBlob),
	"encoding-not-committed":  entriesWritten(func(d map[string]any) { delete(d, "content-encoding") }),
	"empty-metadata-dropped": entriesWritten(func(d map[string]any) {
		m, _ := d["metadata"].(map[string]any)
		for k, v := range m {
			if v == "" {
				delete(m, k)
			}
		}
	}),
	"cache-control-in-seconds": respelt(func(d map[string]any) {
		if !isControl(d) {
			d["cache-control"] = 31536000
		}
	}, func(d map[string]any) {
		if _, isText := d["cache-control"].(string); !isText {
			delete(d, "cache-control")
		}
	}),
	"sequence-through-doubles": snapshots(func(w *write) {
		w.eachDescriptor(func(_, _ int, d map[string]any) { d["sequence-number"] = int64(float64(number(d))) })
	}),
	"target-with-dashes": respelt(func(d map[string]any) {
		if t, ok := d["target-session"].(string); ok && isRecord(d) && len(t) == 32 {
			d["target-session"] = t[:8] + "-" + t[8:12] + "-" + t[12:16] + "-" + t[16:20] + "-" + t[20:]
		}
	}, func(d map[string]any) {
		if t, ok := d["target-session"].(string); ok {
			d["target-session"] = strings.ReplaceAll(t, "-", "")
		}
	}),
	"created-at-required": stored(&seam{open: func(ctx context.Context, next store.Store, key string) (io.ReadCloser, store.Attributes, error) {
		body, attrs, err := next.Open(ctx, key)
		if err == nil && isSnapshotKey(key) {
			for _, d := range snapshot(ctx, next, key) {
				if d["created-at"] == nil {
					body.Close()
					return nil, attrs, errors.New("descriptor: created-at is missing")
				}
			}
		}
		return body, attrs, err
	}}),
	"inlined-unpacked": snapshots(func(w *write) {
		w.eachDescriptor(func(_, _ int, d map[string]any) {
			if d["content-encoding"] != "gzip" || d["data"] == nil {
				return
			}
			if plain, err := gunzip(bodyOf(d)); err == nil {
				d["data"] = base64.StdEncoding.EncodeToString(plain)
			}
		})
	}),
	"tiny-bodies-unstored": withdrawn(func(w *write) bool {
		return w.isBlob() && len(w.body) <= 100 && !json.Valid(w.body)
	}),
	"only-own-forks-carried-out": ownSnapshots(func(_ context.Context, _ store.Store, _, _ string, list []map[string]any) []map[string]any {
		for _, d := range list {
			if d["fork"] == true {
				invisible(d)
			}
		}
		return list
	}),
	"older-key-is-a-fork": ownSnapshots(func(_ context.Context, _ store.Store, _, _ string, list []map[string]any) []map[string]any {
		for _, d := range list {
			if older, ok := d["fork-session-id"].(string); ok && strings.Trim(older, "0") == "" {
				invisible(d)
			}
		}
		return list
	}),
}

// respelt spells descriptors of snapshots in another way at rest: write makes it
// so, and read undoes it.
func respelt(write, read func(d map[string]any)) Fault {
	return merge(
		onRead(func(_ string, _ bool, list []map[string]any) []map[string]any {
			for _, d := range list {
				read(d)
			}
			return list
		}),
		stored(&seam{put: writing(write)}))
}

// writing is the put of a seam that changes the descriptors of snapshots.
func writing(change func(d map[string]any)) func(ctx context.Context, next store.Store, w *write) (string, error) {
	return func(ctx context.Context, next store.Store, w *write) (string, error) {
		if w.isSnapshot() {
			w.eachDescriptor(func(_, _ int, d map[string]any) { change(d) })
		}
		return w.send(ctx, next)
	}
}
