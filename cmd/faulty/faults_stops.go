package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
	"github.com/pugcheck/pugcheck/reference/pugmark/stream"
	"github.com/pugcheck/pugcheck/reference/pugmark/transport"
)

// stopFaults spoil what a session's control messages and latest snapshots decide:
// which entries are new, whether it is run, and when.
var stopFaults = map[string]Fault{
	"forks-below-pushes-replayed": forksBelowPushesReplayed(),
	"newer-statuses-skipped": ownSnapshots(func(_ context.Context, _ store.Store, _, _ string, list []map[string]any) []map[string]any {
		return slices.DeleteFunc(list, func(d map[string]any) bool {
			return isControl(d) && object(bodyOf(d))["status"] != "stopped"
		})
	}),
	"parents-stop-counts": ownSnapshots(func(ctx context.Context, next store.Store, key, _ string, list []map[string]any) []map[string]any {
		parent, _ := ownManifest(ctx, next)["parent"].(map[string]any)
		id, _ := parent["session"].(string)
		at, _ := parent["version"].(json.Number)
		version, _ := at.Int64()
		if versionOf(key) != 1 || id == "" || version < 1 {
			return list
		}
		for _, d := range snapshot(ctx, next, snapshotsOf(id)+layout.VersionFile(uint32(version))) {
			if isControl(d) && object(bodyOf(d))["status"] == "stopped" {
				return append([]map[string]any{d}, list...)
			}
		}
		return list
	}),

	"pauses-by-name": list(func(all []map[string]json.RawMessage) []map[string]json.RawMessage {
		for _, o := range all {
			if nameIn(o) == "pause" {
				o["content-type"] = json.RawMessage(pauseType)
			}
		}
		return all
	}),
	"any-metadata-is-a-duration": list(func(all []map[string]json.RawMessage) []map[string]json.RawMessage {
		for _, o := range all {
			m := map[string]string{}
			if _ = json.Unmarshal(o["metadata"], &m); !isPause(o) || m["duration"] != "" {
				continue
			}
			for _, text := range m {
				if _, err := time.ParseDuration(text); err == nil {
					o["metadata"], _ = json.Marshal(map[string]string{"duration": text})
				}
			}
		}
		return all
	}),
	"control-before-entries": snapshots(func(w *write) {
		all := w.descriptors()
		last := len(all) - 1
		if !w.isOwn() || last < 1 || !isControl(all[last]) {
			return
		}
		numbers := []any{}
		for _, d := range all {
			numbers = append(numbers, d["sequence-number"])
		}
		all = append([]map[string]any{all[last]}, all[:last]...)
		for i, d := range all {
			d["sequence-number"] = numbers[i]
		}
		w.setDescriptors(all)
	}),
	"start-at-from-the-signal": startAtFromTheSignal(),
	"paused-sessions-are-run": onLatest(func(_ context.Context, _ store.Store, _, _ string, list []map[string]any) []map[string]any {
		if len(list) > 0 && isControl(list[len(list)-1]) {
			d := list[len(list)-1]
			if says := object(bodyOf(d)); says["status"] == "stopped" && says["start-at"] == nil {
				setBody(d, []byte(`{"status":"running"}`))
			}
		}
		return list
	}),
	"stopped-for-good": stopRepeated(func(_ string, stop map[string]any) bool { return stop["start-at"] == nil }),
	"sleeps-it-out":    stopRepeated(func(_ string, stop map[string]any) bool { return startAt(stop).After(time.Now()) }),
	"pushes-wake-nobody": stopRepeated(func(kind string, _ map[string]any) bool {
		return kind == "provisional"
	}),
	"queueing-not-replayed": ownSnapshots(func(_ context.Context, _ store.Store, _, kind string, list []map[string]any) []map[string]any {
		if kind == "queueing" {
			for _, d := range list {
				invisible(d)
			}
		}
		return list
	}),
}

// forksBelowPushesReplayed replays fork records unless they stand in the latest
// snapshot.
func forksBelowPushesReplayed() Fault {
	var latest latestSnapshot
	f := ownSnapshots(func(_ context.Context, _ store.Store, key, _ string, all []map[string]any) []map[string]any {
		is, kind := latest.is(key)
		if is || kind == "checkpoint" {
			return all
		}
		var out []map[string]any
		for _, d := range all {
			out = append(out, d)
			if d["fork"] == true {
				entry := maps.Clone(d) // the record itself is still there to be carried out
				delete(entry, "fork")
				delete(entry, "target-session")
				out = append(out, entry)
			}
		}
		return out
	})
	return Fault{Store: func(next store.Store) store.Store { return f.Store(latest.watch(next)) }}
}

// startAtFromTheSignal counts a sleep from the moment at which the pause was read.
func startAtFromTheSignal() Fault {
	var mu sync.Mutex
	var read time.Time
	f := controls(func(m map[string]any) {
		mu.Lock()
		defer mu.Unlock()
		if at := startAt(m); !at.IsZero() && !read.IsZero() {
			m["start-at"] = at.Add(-time.Since(read)).UTC().Format(time.RFC3339Nano)
		}
	})
	f.Handler = func(next transport.Handler) transport.Handler {
		return handlerFunc(func(ctx context.Context, inv transport.Invocation) error {
			consume := inv.Outputs
			inv.Outputs = func(ctx context.Context, r io.Reader) error {
				var sofar []byte
				return consume(ctx, readerFunc(func(p []byte) (int, error) {
					n, err := r.Read(p)
					sofar = append(sofar, p[:n]...)
					mu.Lock()
					defer mu.Unlock()
					if read.IsZero() && bytes.Contains(sofar, []byte(pauseType)) {
						read = time.Now()
					}
					return n, err
				}))
			}
			return next.Invoke(ctx, inv)
		})
	}
	return f
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// stateFaults spoil of what, and in which order, a session's state is made.
var stateFaults = map[string]Fault{
	"own-entries-first": ownAndInherited(func(inherited, own []stream.Input) []stream.Input {
		return append(slices.Clone(own), inherited...)
	}),
	"parents-on-request": ownAndInherited(func(_, own []stream.Input) []stream.Input { return own }),
	"four-generations-only": manifestsRead(func(m map[string]any, nth int) {
		if nth > 3 {
			delete(m, "parent")
		}
	}),
	"descriptors-sorted-by-time": descriptorsRead(func(list []map[string]any) []map[string]any {
		slices.SortStableFunc(list, func(a, b map[string]any) int { return createdAt(a).Compare(createdAt(b)) })
		return list
	}),
}

func createdAt(d map[string]any) time.Time {
	text, _ := d["created-at"].(string)
	at, _ := time.Parse(time.RFC3339Nano, text)
	return at
}

// ownAndInherited arranges the replayed records anew: those that come from
// ancestors, and those of the session itself.
func ownAndInherited(arrange func(inherited, own []stream.Input) []stream.Input) Fault {
	var mu sync.Mutex
	visible := map[string]int{} // by the snapshot's key
	f := ownSnapshots(func(_ context.Context, _ store.Store, key, _ string, list []map[string]any) []map[string]any {
		mu.Lock()
		defer mu.Unlock()
		visible[key] = 0
		for _, d := range list {
			if kind(d) == 0 {
				visible[key]++
			}
		}
		return list
	})
	f.Handler = records(func(in []stream.Input) []stream.Input {
		mu.Lock()
		defer mu.Unlock()
		last, own := len(in)-1, 0
		for _, n := range visible {
			own += n
		}
		border := max(1, last-own)
		out := append(in[:1:1], arrange(in[1:border], in[border:last])...)
		return append(out, in[last])
	}).Handler
	return f
}
