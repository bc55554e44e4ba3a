package main

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// numberFaults spoil sequence numbers and the order of what is committed.
var numberFaults = map[string]Fault{
	"control-without-number": numbered(func(_, _ int, d map[string]any) {
		if d["content-type"] == "application/vnd.pugmark.control+json" {
			delete(d, "sequence-number")
		}
	}),
	"always-from-one": snapshots(func(w *write) {
		if strings.HasSuffix(w.key, "/FFFFFFFF.json") && !w.childsFirst() {
			w.eachDescriptor(func(i, _ int, d map[string]any) { d["sequence-number"] = i + 1 })
		}
	}),
	"gaps-between-numbers": numbered(func(i, _ int, d map[string]any) { d["sequence-number"] = number(d) + int64(i) }),
	"fork-record-without-number": numbered(func(_, _ int, d map[string]any) {
		if d["fork"] == true {
			d["sequence-number"] = 0
		}
	}),
	"forks-behind-entries": snapshots(func(w *write) {
		list := w.descriptors()
		numbers := []any{}
		for _, d := range list {
			numbers = append(numbers, d["sequence-number"])
		}
		slices.SortStableFunc(list, func(a, b map[string]any) int { return kind(a) - kind(b) })
		for i, d := range list {
			d["sequence-number"] = numbers[i]
		}
		w.setDescriptors(list)
	}),
	"numbers-begin-anew": snapshots(func(w *write) {
		if !strings.HasSuffix(w.key, "/FFFFFFFF.json") {
			w.eachDescriptor(func(i, _ int, d map[string]any) { d["sequence-number"] = i + 1 })
		}
	}),
	"child-after-fork-record": childAfterForkRecord(),
	"child-keeps-parents-number": snapshots(func(w *write) {
		if w.childsFirst() {
			w.eachDescriptor(func(_, _ int, d map[string]any) { d["sequence-number"] = number(d) - 2 })
		}
	}),
}

// childAfterForkRecord gives the children that it makes a manifest whose first
// number is one too low, and numbers them accordingly.
func childAfterForkRecord() Fault {
	made := newMemory()
	return stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		dir, _, _ := strings.Cut(w.key, "/snapshots/")
		_, own := made.get(dir)
		switch {
		case w.isManifest():
			w.body = shifted(w.body, "first-sequence-number", -1)
		case own && w.childsFirst():
			w.eachDescriptor(func(_, _ int, d map[string]any) { d["sequence-number"] = number(d) - 1 })
		}
		etag, err := w.send(ctx, next)
		if err == nil && w.isManifest() {
			made.keep(strings.TrimSuffix(w.key, "/manifest.json"), nil)
		}
		return etag, err
	}})
}

// childsFirst tells whether a write is the snapshot 1 of a fork child: in another
// session than the one that is run, and not a delivery.
func (w *write) childsFirst() bool {
	if !w.isSnapshot() || !strings.HasSuffix(w.key, "/FFFFFFFF.json") || strings.HasPrefix(w.key, snapshotsOf(running)) {
		return false
	}
	return !slices.ContainsFunc(w.descriptors(), func(d map[string]any) bool { return d["source-session"] != nil })
}

func numbered(change func(i, n int, d map[string]any)) Fault {
	return snapshots(func(w *write) { w.eachDescriptor(change) })
}

func kind(d map[string]any) int {
	switch {
	case d["content-type"] == "application/vnd.pugmark.control+json":
		return 2
	case d["fork"] == true:
		return 1
	}
	return 0
}

// shifted adds to a number of a JSON object.
func shifted(body []byte, field string, by int64) []byte {
	m := map[string]any{}
	d := json.NewDecoder(strings.NewReader(string(body)))
	d.UseNumber()
	if d.Decode(&m) != nil {
		return body
	}
	if n, ok := m[field].(json.Number); ok {
		i, _ := n.Int64()
		m[field] = i + by
	}
	body, _ = json.Marshal(m)
	return body
}

// wholeLog repeats in each snapshot what the one before it holds, and so the whole
// log.
func wholeLog() Fault {
	return stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		if w.isSnapshot() {
			dir, _, _ := strings.Cut(w.key, "/snapshots/")
			page, err := next.List(ctx, dir+"/snapshots/", store.ListOptions{Max: 1})
			if err != nil {
				return "", err
			}
			for _, key := range page.Keys {
				if body, _, err := next.Open(ctx, key); err == nil {
					raw, _ := io.ReadAll(body)
					body.Close()
					latest := write{body: raw}
					w.setDescriptors(append(latest.descriptors(), w.descriptors()...))
				}
			}
		}
		return w.send(ctx, next)
	}})
}

// parentsWithoutBound reads ancestors up to their latest version.
func parentsWithoutBound() Fault {
	var s store.Store
	f := manifestsRead(func(m map[string]any, _ int) {
		parent, ok := m["parent"].(map[string]any)
		if !ok {
			return
		}
		id, _ := parent["session"].(string)
		if page, err := s.List(context.Background(), snapshotsOf(id), store.ListOptions{Max: 1}); err == nil && len(page.Keys) == 1 {
			parent["version"] = versionOf(page.Keys[0])
		}
	})
	wrap := f.Store
	f.Store = func(next store.Store) store.Store {
		s = next
		return wrap(next)
	}
	return f
}
