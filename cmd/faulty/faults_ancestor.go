package main

import (
	"context"
	"encoding/json"
	"maps"
	"strings"

	"github.com/pugcheck/pugcheck/reference/pugmark/store"
	"github.com/pugcheck/pugcheck/reference/pugmark/stream"
)

// ancestorFaults spoil what a session gets from its parents.
var ancestorFaults = map[string]Fault{
	"children-start": lastEvent(func(event string) string {
		if event == stream.EventFork {
			return stream.EventStart
		}
		return event
	}),
	"children-always-fork": forkEvents(func(child bool, event string) string {
		if child {
			return stream.EventFork
		}
		return event
	}),
	"fork-body-twice": onRead(func(_ string, own bool, list []map[string]any) []map[string]any {
		return replaying(list, func(d map[string]any) bool { return !own && d["target-session"] == running })
	}),
	"fork-body-from-the-parent": onRead(func(key string, own bool, list []map[string]any) []map[string]any {
		if own && strings.HasSuffix(key, "/FFFFFFFF.json") && len(list) == 1 {
			return nil
		}
		return replaying(list, func(d map[string]any) bool { return !own && d["target-session"] == running })
	}),
	"ancestors-forks-replayed": onRead(func(_ string, own bool, list []map[string]any) []map[string]any {
		return replaying(list, func(d map[string]any) bool { return !own && d["target-session"] != running })
	}),
	"grandparents-forks-replayed": grandparentsForks(),
	"forking-snapshot-left-out":   manifestsRead(func(m map[string]any, _ int) { shiftParent(m, -1) }),
	"one-snapshot-too-many":       manifestsRead(func(m map[string]any, _ int) { shiftParent(m, +1) }),
	"children-are-roots":          manifestsWritten(func(_ context.Context, _ store.Store, m map[string]any) { delete(m, "parent") }),
}

// lastEvent changes the event of the last record of a stream.
func lastEvent(change func(event string) string) Fault {
	return records(func(in []stream.Input) []stream.Input {
		if len(in) > 0 {
			in[len(in)-1].Event = change(in[len(in)-1].Event)
		}
		return in
	})
}

// replaying turns some fork records into entries.
func replaying(list []map[string]any, which func(d map[string]any) bool) []map[string]any {
	for i, d := range list {
		if d["fork"] == true && which(d) {
			entry := maps.Clone(d)
			delete(entry, "fork")
			delete(entry, "target-session")
			list[i] = entry
		}
	}
	return list
}

func shiftParent(m map[string]any, by int64) {
	parent, _ := m["parent"].(map[string]any)
	if n, ok := parent["version"].(json.Number); ok {
		i, _ := n.Int64()
		parent["version"] = i + by
	}
}

// grandparentsForks replays the fork records that lie beyond the direct parent.
func grandparentsForks() Fault {
	parent := ""
	manifest := manifestsRead(func(m map[string]any, nth int) {
		if p, ok := m["parent"].(map[string]any); ok && nth == 1 {
			parent, _ = p["session"].(string)
		}
	}).Store
	records := onRead(func(key string, own bool, list []map[string]any) []map[string]any {
		far := !own && parent != "" && !strings.HasPrefix(key, snapshotsOf(parent))
		return replaying(list, func(d map[string]any) bool { return far && d["target-session"] != parent })
	}).Store
	return Fault{Store: func(next store.Store) store.Store { return records(manifest(next)) }}
}
