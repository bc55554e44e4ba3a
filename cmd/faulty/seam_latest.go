package main

import (
	"bytes"
	"context"
	"io"
	"path"
	"strings"
	"sync"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// latestSnapshot is the latest snapshot of the session that is run, as far as
// listings have told.
type latestSnapshot struct {
	mu        sync.Mutex
	key, kind string
}

// watch is a store that keeps l up to date.
func (l *latestSnapshot) watch(next store.Store) store.Store {
	return &seam{Store: next, list: func(ctx context.Context, next store.Store, prefix string, o store.ListOptions) (store.Page, error) {
		page, err := next.List(ctx, prefix, o)
		if err == nil && prefix == snapshotsOf(running) && len(page.Keys) > 0 {
			attrs, _ := next.Head(ctx, page.Keys[0])
			l.mu.Lock()
			l.key, l.kind = page.Keys[0], attrs.Metadata[typeKey]
			l.mu.Unlock()
		}
		return page, err
	}}
}

// is tells whether a key is that of the latest snapshot, and of which type that is.
func (l *latestSnapshot) is(key string) (latest bool, kind string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return key == l.key, l.kind
}

// snapshot reads the descriptors of a snapshot.
func snapshot(ctx context.Context, next store.Store, key string) []map[string]any {
	raw, err := fetch(ctx, next, key)
	if err != nil {
		return nil
	}
	return (&write{body: raw}).descriptors()
}

// ownSnapshots changes the descriptors of the running session's own snapshots when
// they are read; kind is the snapshot's type.
func ownSnapshots(change func(ctx context.Context, next store.Store, key, kind string, list []map[string]any) []map[string]any) Fault {
	return stored(&seam{open: func(ctx context.Context, next store.Store, key string) (io.ReadCloser, store.Attributes, error) {
		body, attrs, err := next.Open(ctx, key)
		if err != nil || !isSnapshotKey(key) || !strings.HasPrefix(key, snapshotsOf(running)) {
			return body, attrs, err
		}
		raw, err := io.ReadAll(body)
		body.Close()
		if err != nil {
			return nil, attrs, err
		}
		w := &write{body: raw}
		if list := w.descriptors(); list != nil {
			w.setDescriptors(change(ctx, next, key, attrs.Metadata[typeKey], list))
		}
		attrs.Size = int64(len(w.body))
		return io.NopCloser(bytes.NewReader(w.body)), attrs, nil
	}})
}

// onLatest changes the descriptors of the running session's latest snapshot when it
// is read.
func onLatest(change func(ctx context.Context, next store.Store, key, kind string, list []map[string]any) []map[string]any) Fault {
	var latest latestSnapshot
	f := ownSnapshots(func(ctx context.Context, next store.Store, key, kind string, list []map[string]any) []map[string]any {
		if is, _ := latest.is(key); !is {
			return list
		}
		return change(ctx, next, key, kind, list)
	})
	return Fault{Store: func(next store.Store) store.Store { return f.Store(latest.watch(next)) }}
}

// stopRepeated has the stop of the snapshot before stand at the end of the latest
// one, so that nothing stands behind it. which is told the latest snapshot's type
// and what the stop says.
func stopRepeated(which func(kind string, stop map[string]any) bool) Fault {
	return onLatest(func(ctx context.Context, next store.Store, key, kind string, list []map[string]any) []map[string]any {
		if len(list) == 0 || versionOf(key) < 2 || isControl(list[len(list)-1]) {
			return list
		}
		for _, d := range snapshot(ctx, next, keyBefore(key)) {
			if says := object(bodyOf(d)); isControl(d) && says["status"] == "stopped" && which(kind, says) {
				d["sequence-number"] = list[len(list)-1]["sequence-number"]
				return append(list, d)
			}
		}
		return list
	})
}

func isControl(d map[string]any) bool { return d["content-type"] == controlType }

// invisible makes of a descriptor one that no handler sees, and that asks for
// nothing.
func invisible(d map[string]any) {
	d["fork"] = true
	delete(d, "target-session")
	delete(d, "fork-session-id")
}

// keyBefore is the key of the version before that of a snapshot's key.
func keyBefore(key string) string {
	return path.Dir(key) + "/" + layout.VersionFile(uint32(versionOf(key)-1))
}
