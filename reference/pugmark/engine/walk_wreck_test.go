package engine

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
)

// wreck is a finished bucket with something broken in it.
type wreck struct {
	*testing.T
	*contents
	ledger  *ledger
	changes map[string]*storedObject
}

// find gives a snapshot that has the property, the first in the order of keys.
func (w *wreck) find(property func(at place, f *documents) bool) (place, *documents) {
	w.Helper()
	for _, id := range slices.Sorted(maps.Keys(w.sessions)) {
		for version := range w.sessions[id].latest() {
			if f := w.sessions[id].snapshots[version+1]; property(place{id, version + 1}, f) {
				return place{id, version + 1}, f
			}
		}
	}
	w.Fatal("the walk has made no such snapshot")
	return place{}, nil
}

func (w *wreck) path(id string) layout.SessionPath {
	parsed, err := layout.ParseSessionID(id)
	if err != nil {
		w.Fatal(err)
	}
	path, err := parsed.Path()
	if err != nil {
		w.Fatal(err)
	}
	return path
}

func (w *wreck) key(at place) string { return w.path(at.session).Snapshot(at.version) }

// last tells whether a snapshot is the session's latest.
func (w *wreck) last(at place) bool { return at.version == w.sessions[at.session].latest() }

func (w *wreck) drop(key string) { w.changes[key] = nil }

// edit changes the records of a snapshot or a memory file.
func (w *wreck) edit(key string, change func(records []map[string]any) []map[string]any) {
	w.Helper()
	o := w.objects[key]
	text, err := zstdReader.DecodeAll(o.body, nil)
	if err != nil {
		w.Fatal(err)
	}
	records, err := decodeRecords(text)
	if err != nil {
		w.Fatal(err)
	}
	if text, err = json.Marshal(change(records)); err != nil {
		w.Fatal(err)
	}
	w.changes[key] = &storedObject{zstdWriter.EncodeAll(text, nil), o.attrs}
}

// describe changes a snapshot's metadata.
func (w *wreck) describe(at place, key, value string) {
	o := w.objects[w.key(at)]
	o.attrs.Metadata = maps.Clone(o.attrs.Metadata)
	o.attrs.Metadata[key] = value
	w.changes[w.key(at)] = &o
}

// again adds a snapshot to the session once more, as its latest, well numbered and with a transaction ID of its own.
func (w *wreck) again(at place, f *documents) {
	h := w.sessions[at.session]
	latest := h.latest()
	entries := h.snapshots[latest].entries
	next := place{at.session, latest + 1}
	w.edit(w.key(at), renumbered(entries[len(entries)-1].Number+1))
	o := w.changes[w.key(at)]
	delete(w.changes, w.key(at))
	o.attrs.Metadata = maps.Clone(o.attrs.Metadata)
	o.attrs.Metadata["pugmark-snapshot-version"] = strconv.FormatUint(uint64(next.version), 10)
	o.attrs.Metadata["pugmark-transaction-id"] = strconv.FormatUint(f.transaction+1, 10)
	w.changes[w.key(next)] = o
}

func renumbered(first int64) func([]map[string]any) []map[string]any {
	return func(records []map[string]any) []map[string]any {
		for i, r := range records {
			r["sequence-number"] = first + int64(i)
		}
		return records
	}
}

// rewriteManifest changes a session's manifest.
func (w *wreck) rewriteManifest(id, from, to string) {
	key := w.path(id).Manifest()
	o := w.objects[key]
	body := bytes.Replace(o.body, []byte(from), []byte(to), 1)
	if bytes.Equal(body, o.body) {
		w.Fatalf("there is no %s in %s", from, o.body)
	}
	o.body = body
	w.changes[key] = &o
}

// What the snapshots are that the table below looks for.
func isDelivery(_ place, f *documents) bool { return f.entries[0].Source != "" }
func isCommit(_ place, f *documents) bool {
	return f.kind == string(session.Checkpoint) && len(f.entries) > 1 && !f.entries[0].isControl()
}
func (w *wreck) isBirth(at place, f *documents) bool {
	_, root := w.ledger.roots[at.session]
	return !root && at.version == 1
}

// memoryKey is a version of a namespace that has kept records of others, and has so many new ones.
func (w *wreck) memoryKey(fresh int) string {
	w.Helper()
	for _, namespace := range namespaces {
		for version := range uint32(len(w.memory[namespace])) {
			entries := w.memory[namespace][version+1].entries
			i := slices.IndexFunc(entries, func(d document) bool { return d.Commit == entries[len(entries)-1].Commit })
			if i > 0 && len(entries)-i == fresh {
				return layout.MemoryKey(namespace, version+1)
			}
		}
	}
	w.Fatal("the walk has made no such memory file")
	return ""
}

func (w *wreck) editEnvelope(fresh int, field string, value any) {
	w.edit(w.memoryKey(fresh), func(records []map[string]any) []map[string]any {
		records[len(records)-1]["commit"].(map[string]any)[field] = value
		return records
	})
}
