package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// controlFaults spoil control messages: what is taken for one, what it says, and
// where it goes.
var controlFaults = map[string]Fault{
	"controls-by-name": onRead(func(_ string, _ bool, list []map[string]any) []map[string]any {
		for _, d := range list {
			if d["name"] == "control" {
				d["content-type"] = controlType
			}
		}
		return list
	}),
	"start-at-in-milliseconds": controls(func(m map[string]any) {
		if at := startAt(m); !at.IsZero() {
			m["start-at"] = at.UnixMilli()
		}
	}),
	"reason-required": stored(&seam{open: func(ctx context.Context, next store.Store, key string) (io.ReadCloser, store.Attributes, error) {
		body, attrs, err := next.Open(ctx, key)
		if err != nil || !isSnapshotKey(key) {
			return body, attrs, err
		}
		body.Close()
		raw, err := fetch(ctx, next, key)
		if err != nil {
			return nil, attrs, err
		}
		for _, d := range (&write{body: raw}).descriptors() {
			m := object(bodyOf(d))
			if d["content-type"] == controlType && m["start-at"] != nil && m["reason"] == nil {
				return nil, attrs, errors.New("control message: reason is missing")
			}
		}
		return next.Open(ctx, key)
	}}),
	"stops-in-blobs-not-read": stored(&seam{open: func(ctx context.Context, next store.Store, key string) (io.ReadCloser, store.Attributes, error) {
		body, attrs, err := next.Open(ctx, key)
		if err != nil || !strings.Contains(key, "objects/") {
			return body, attrs, err
		}
		raw, err := io.ReadAll(body)
		body.Close()
		if object(raw)["status"] == "stopped" {
			raw = nil
		}
		return io.NopCloser(bytes.NewReader(raw)), attrs, err
	}}),
	"pauses-ignored": objects(func(o map[string]json.RawMessage) map[string]json.RawMessage {
		if isPause(o) {
			return nil
		}
		return o
	}),
	"control-in-a-snapshot-of-its-own": inTwoSnapshots(func(d map[string]any) bool { return d["content-type"] == controlType }),
	"memory-runs-stop": list(func(all []map[string]json.RawMessage) []map[string]json.RawMessage {
		for _, o := range all {
			if isMemoryName(o) && pauses(all) == 0 {
				return append(all, map[string]json.RawMessage{"content-type": json.RawMessage(pauseType)})
			}
		}
		return all
	}),
	"start-at-always": controls(func(m map[string]any) {
		if m["start-at"] == nil {
			m["start-at"] = "0001-01-01T00:00:00Z"
		}
	}),
	"start-at-is-now": controls(func(m map[string]any) {
		if m["start-at"] != nil {
			m["start-at"] = time.Now().UTC().Format(time.RFC3339Nano)
		}
	}),
	"reason-in-ascii": controls(func(m map[string]any) {
		if reason, ok := m["reason"].(string); ok {
			m["reason"] = strings.Map(func(r rune) rune {
				if r > 126 {
					return '?'
				}
				return r
			}, reason)
		}
	}),
	"parents-controls-replayed": onRead(func(_ string, own bool, list []map[string]any) []map[string]any {
		for _, d := range list {
			if !own && d["content-type"] == controlType {
				d["content-type"] = "application/json"
			}
		}
		return list
	}),
}

func startAt(m map[string]any) time.Time {
	text, _ := m["start-at"].(string)
	at, _ := time.Parse(time.RFC3339Nano, text)
	return at
}

// inTwoSnapshots commits some descriptors of a snapshot by themselves, above the
// others, where there are both.
func inTwoSnapshots(later func(d map[string]any) bool) Fault {
	return stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		if !w.isOwn() {
			return w.send(ctx, next)
		}
		var first, second []map[string]any
		for _, d := range w.descriptors() {
			if later(d) {
				second = append(second, d)
			} else {
				first = append(first, d)
			}
		}
		if len(first) == 0 || len(second) == 0 {
			return w.send(ctx, next)
		}
		above := w.above(second)
		w.setDescriptors(first)
		etag, err := w.send(ctx, next)
		if err == nil {
			_, err = above.send(ctx, next)
		}
		return etag, err
	}})
}

// above is a write of the version above, with other descriptors and a transaction
// ID of its own.
func (w *write) above(list []map[string]any) *write {
	other := &write{key: nextKey(w.key, 1), options: w.options}
	other.options.Metadata = map[string]string{}
	for k, v := range w.options.Metadata {
		other.options.Metadata[k] = v
	}
	other.options.Metadata[versionKey] = fmt.Sprint(versionOf(other.key))
	other.options.Metadata[transactionKey] = fmt.Sprint(time.Now().UnixNano())
	other.setDescriptors(list)
	return other
}
