package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/pugcheck/pugcheck/reference/pugmark/store"
	"github.com/pugcheck/pugcheck/reference/pugmark/stream"
)

// descriptorFaults spoil what of an Output gets into its descriptor, and what
// descriptors say.
var descriptorFaults = map[string]Fault{
	"type-normalised": entriesWritten(func(d map[string]any) {
		if text, ok := d["content-type"].(string); ok {
			d["content-type"] = strings.ToLower(text)
		}
	}),
	"schema-lost": entriesWritten(func(d map[string]any) { delete(d, "schema-url") }),
	"name-made-up": entriesWritten(func(d map[string]any) {
		if d["name"] == nil && d["fork"] != true && d["source-session"] == nil {
			d["name"] = d["digest"]
		}
	}),
	"stored-metadata-lower-case": entriesWritten(func(d map[string]any) {
		if m, ok := d["metadata"].(map[string]any); ok {
			lower := map[string]any{}
			for k, v := range m {
				lower[strings.ToLower(k)] = v
			}
			d["metadata"] = lower
		}
	}),
	"stored-size-of-base64": entriesWritten(func(d map[string]any) {
		if n, ok := d["size"].(json.Number); ok {
			i, _ := n.Int64()
			d["size"] = (i + 2) / 3 * 4
		}
	}),
	"control-without-blob": stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		if w.isBlob() && bytes.HasPrefix(w.body, []byte(`{"status":`)) {
			return "", nil
		}
		return w.send(ctx, next)
	}}),
	"time-without-zone": timeWithoutZone(),
	"child-keeps-older-field": snapshots(func(w *write) {
		if w.childsFirst() {
			w.eachDescriptor(func(_, _ int, d map[string]any) { d["fork-session-id"] = strings.Repeat("ab", 16) })
		}
	}),
	"commits-as-provisional": snapshots(func(w *write) {
		if strings.HasPrefix(w.key, snapshotsOf(running)) {
			w.options.Metadata[typeKey] = "provisional"
		}
	}),
	"order-of-uploads": snapshots(func(w *write) {
		list := w.descriptors()
		numbers := []any{}
		for _, d := range list {
			numbers = append(numbers, d["sequence-number"])
		}
		slices.SortStableFunc(list, func(a, b map[string]any) int { return slow(a) - slow(b) })
		for i, d := range list {
			d["sequence-number"] = numbers[i]
		}
		w.setDescriptors(list)
	}),
	"lock-object": stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		if w.isSnapshot() {
			lock := &write{key: "locks/" + running}
			if _, err := lock.send(ctx, next); err != nil {
				return "", err
			}
		}
		return w.send(ctx, next)
	}}),

	"fork-needs-session": objects(func(o map[string]json.RawMessage) map[string]json.RawMessage {
		if string(o["fork"]) == "true" && len(o["session"]) <= 2 {
			delete(o, "fork")
		}
		return o
	}),
	"memory-before-pause": objects(func(o map[string]json.RawMessage) map[string]json.RawMessage {
		if isPause(o) && isMemoryName(o) {
			o["content-type"] = json.RawMessage(`"text/plain"`)
		}
		return o
	}),
	"fork-before-memory": objects(func(o map[string]json.RawMessage) map[string]json.RawMessage {
		if string(o["fork"]) == "true" && isMemoryName(o) && !isPause(o) {
			delete(o, "name")
		}
		return o
	}),
	"only-the-last-pushed": records(func(in []stream.Input) []stream.Input {
		for i := 1; i < len(in)-2 && woken(in); i++ {
			in[i].Event = ""
		}
		return in
	}),
	"all-pushed-on-wake": records(func(in []stream.Input) []stream.Input {
		for i := 1; i < len(in)-1 && woken(in) && pushed(in); i++ {
			in[i].Event = stream.EventPush
		}
		return in
	}),
	"data-decompressed": replay(func(in *stream.Input) {
		if in.ContentEncoding != "gzip" || len(in.Data) == 0 {
			return
		}
		if plain, err := gunzip(in.Data); err == nil {
			in.Data = plain
		}
	}),
}

// entriesWritten changes the descriptors of log entries, but for control messages,
// when a snapshot is written.
func entriesWritten(change func(d map[string]any)) Fault {
	return snapshots(func(w *write) {
		w.eachDescriptor(func(_, _ int, d map[string]any) {
			if kind(d) != 2 {
				change(d)
			}
		})
	})
}

// slow tells the descriptors of bodies that take longer to store: those which are
// not inlined.
func slow(d map[string]any) int {
	if kind(d) == 2 {
		return 2
	}
	if d["data"] == nil {
		return 1
	}
	return 0
}

// timeWithoutZone writes local times without an offset, and reads them back as
// UTC.
func timeWithoutZone() Fault {
	const bare = "2006-01-02T15:04:05.000"
	each := func(raw []byte, respell func(text string) string) []byte {
		w := write{body: raw}
		list := w.descriptors()
		if list == nil {
			return raw
		}
		for _, d := range list {
			if text, ok := d["created-at"].(string); ok {
				d["created-at"] = respell(text)
			}
		}
		w.setDescriptors(list)
		return w.body
	}
	f := snapshotsRead(func(_ string, raw []byte) []byte {
		return each(raw, func(text string) string {
			if _, err := time.Parse(bare, text); err == nil {
				return text + "Z"
			}
			return text
		})
	})
	reading := f.Store
	return Fault{Store: func(next store.Store) store.Store {
		writing := &seam{Store: next, put: func(ctx context.Context, next store.Store, w *write) (string, error) {
			if w.isSnapshot() {
				w.body = each(w.body, func(text string) string {
					if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
						return t.Format(bare)
					}
					return text
				})
			}
			return w.send(ctx, next)
		}}
		return reading(writing)
	}}
}

func isMemoryName(o map[string]json.RawMessage) bool {
	var name string
	_ = json.Unmarshal(o["name"], &name)
	return strings.HasPrefix(name, "memories/") && strings.Count(name, "/") > 1
}

func gunzip(packed []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
