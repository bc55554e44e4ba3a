package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"strings"
	"sync"

	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// childFaults spoil how forks are carried out: the second of their two phases.
var childFaults = map[string]Fault{
	"child-described": childsFirst(func(ctx context.Context, next store.Store, w *write) error {
		list := w.descriptors()
		body, _ := json.Marshal(map[string]any{"fork": list[0]["name"], "of": running})
		setBody(list[0], body)
		w.setDescriptors(list)
		return putBlob(ctx, next, body, "application/json")
	}),
	"first-fork-only": onRead(func(_ string, own bool, list []map[string]any) []map[string]any {
		seen, out := false, list[:0:0]
		for _, d := range list {
			if !own || d["fork"] != true || !seen {
				out = append(out, d)
			}
			seen = seen || d["fork"] == true
		}
		return out
	}),
	"children-in-the-background":     background(func(w *write) bool { return w.isManifest() || w.childsFirst() }),
	"childs-body-in-the-background":  background(func(w *write) bool { return w.childsFirst() }),
	"parent-version-before":          parentVersion(-1),
	"parent-version-ahead":           parentVersion(+1),
	"child-without-handler":          manifestsWritten(func(_ context.Context, _ store.Store, m map[string]any) { delete(m, "handler") }),
	"child-without-agent":            manifestsWritten(func(_ context.Context, _ store.Store, m map[string]any) { delete(m, "agent") }),
	"childs-agent-is-its-parent":     manifestsWritten(func(_ context.Context, _ store.Store, m map[string]any) { m["agent"] = running }),
	"childs-metadata-merged":         childsMetadata(true),
	"childs-metadata-is-the-parents": childsMetadata(false),
	"child-has-the-name": manifestsWritten(func(ctx context.Context, next store.Store, m map[string]any) {
		if name := ownManifest(ctx, next)["name"]; name != nil {
			m["name"] = name
		}
	}),
	"child-manifest-overwrites": writes(func(w *write) {
		if w.isManifest() {
			w.options.IfAbsent = false
		}
	}),
	"existing-manifest-is-an-error": refused((*write).isManifest, func(context.Context, store.Store, *write) (string, error) {
		return "", errors.New("the child's manifest exists")
	}),
	"existing-manifest-not-loaded": refused((*write).isManifest, func(context.Context, store.Store, *write) (string, error) { return "", nil }),
	"fork-body-not-recognised": onRead(func(_ string, own bool, list []map[string]any) []map[string]any {
		for _, d := range list {
			if !own {
				d["name"] = fmt.Sprint(d["name"], " of another session")
			}
		}
		return list
	}),
	"grown-child-is-an-error": stored(&seam{list: func(ctx context.Context, next store.Store, prefix string, o store.ListOptions) (store.Page, error) {
		page, err := next.List(ctx, prefix, o)
		if err == nil && len(page.Keys) > 0 && strings.HasSuffix(prefix, "/snapshots/") && prefix != snapshotsOf(running) {
			err = errors.New("the child has snapshots")
		}
		return page, err
	}}),
	"child-forks-itself": childEntries(func(w *write, d map[string]any) {
		d["fork"], d["target-session"] = true, sessionOf(dirOfKey(w.key)+"/manifest.json")
	}),
	"childs-entry-without-schema": childEntries(func(_ *write, d map[string]any) { delete(d, "schema-url") }),
	"child-numbered-from-one":     childEntries(func(_ *write, d map[string]any) { d["sequence-number"] = 1 }),
	"child-provisional": snapshots(func(w *write) {
		if w.childsFirst() {
			w.options.Metadata[typeKey] = "provisional"
		}
	}),
	"refused-child-renumbered": refused((*write).childsFirst, func(ctx context.Context, next store.Store, w *write) (string, error) {
		return w.above(w.descriptors()).send(ctx, next)
	}),
	"refused-child-ends-the-run": givesUp((*write).childsFirst),
	"nameless-forks-replayed": onRead(func(_ string, own bool, list []map[string]any) []map[string]any {
		var out []map[string]any
		for _, d := range list {
			out = append(out, d)
			if own && d["fork"] == true {
				entry := maps.Clone(d)
				for _, field := range []string{"fork", "target-session", "name"} {
					delete(entry, field)
				}
				out = append(out, entry)
			}
		}
		return out
	}),
	"last-fork-replayed": onRead(func(_ string, own bool, list []map[string]any) []map[string]any {
		if last := len(list) - 1; own && list[last]["fork"] == true {
			entry := maps.Clone(list[last])
			delete(entry, "fork")
			delete(entry, "target-session")
			list = append(list, entry)
		}
		return list
	}),
	"manifest-means-made":        manifestMeansMade(false),
	"made-by-others-left-undone": manifestMeansMade(true),
	"loser-cleans-up": refused((*write).isManifest, func(ctx context.Context, next store.Store, w *write) (string, error) {
		if err := next.Delete(ctx, w.key, store.DeleteOptions{}); err != nil {
			return "", err
		}
		return "", errors.New("another run was first")
	}),
	"half-made-child-is-an-error": refused((*write).isManifest, func(ctx context.Context, next store.Store, w *write) (string, error) {
		page, err := next.List(ctx, path.Dir(w.key)+"/snapshots/", store.ListOptions{Max: 1})
		if err == nil && len(page.Keys) > 0 {
			err = store.ErrExists
		} else if err == nil {
			err = errors.New("the child has no snapshot")
		}
		return "", err
	}),
	"stop-before-children": onRead(func(_ string, own bool, list []map[string]any) []map[string]any {
		var out []map[string]any
		for _, d := range list {
			if !own || d["fork"] != true || !hasStop(list) {
				out = append(out, d)
			}
		}
		return out
	}),
	"fork-stop-forgotten": onRead(func(_ string, own bool, list []map[string]any) []map[string]any {
		var out []map[string]any
		for _, d := range list {
			if !own || list[0]["fork"] != true || d["content-type"] != controlType {
				out = append(out, d)
			}
		}
		return out
	}),
	"latest-file-only":     latestFileOnly(""),
	"queueing-hides-forks": latestFileOnly("queueing"),
}

// childsFirst changes the snapshot 1 of fork children.
func childsFirst(change func(ctx context.Context, next store.Store, w *write) error) Fault {
	return stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		if w.childsFirst() {
			if err := change(ctx, next, w); err != nil {
				return "", err
			}
		}
		return w.send(ctx, next)
	}})
}

func childEntries(change func(w *write, d map[string]any)) Fault {
	return snapshots(func(w *write) {
		if w.childsFirst() {
			w.eachDescriptor(func(_, _ int, d map[string]any) { change(w, d) })
		}
	})
}

// dirOfKey is the path of the session that a snapshot lies in.
func dirOfKey(key string) string { return path.Dir(path.Dir(key)) }

func parentVersion(by int64) Fault {
	return manifestsWritten(func(_ context.Context, _ store.Store, m map[string]any) {
		parent, _ := m["parent"].(map[string]any)
		if n, ok := parent["version"].(json.Number); ok {
			i, _ := n.Int64()
			parent["version"] = i + by
		}
	})
}

func childsMetadata(merged bool) Fault {
	return manifestsWritten(func(ctx context.Context, next store.Store, m map[string]any) {
		parents, _ := ownManifest(ctx, next)["metadata"].(map[string]any)
		if own, ok := m["metadata"].(map[string]any); ok && merged {
			maps.Copy(own, parents)
		} else if !merged || !ok {
			m["metadata"] = parents
		}
	})
}

// manifestMeansMade takes a child whose manifest somebody else has made for
// complete; with race only where both were about to make it.
func manifestMeansMade(race bool) Fault {
	var mu sync.Mutex
	made := map[string]bool{}
	return stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		mu.Lock()
		done := w.childsFirst() && made[dirOfKey(w.key)]
		mu.Unlock()
		if done {
			return "", nil
		}
		raced := !race
		if race && w.isManifest() {
			_, err := next.Head(ctx, w.key)
			raced = errors.Is(err, store.ErrNotFound)
		}
		etag, err := w.send(ctx, next)
		if w.isManifest() && errors.Is(err, store.ErrExists) && raced {
			mu.Lock()
			made[path.Dir(w.key)] = true
			mu.Unlock()
		}
		return etag, err
	}})
}

func hasStop(list []map[string]any) bool {
	for _, d := range list {
		if d["content-type"] == controlType && object(bodyOf(d))["status"] == "stopped" {
			return true
		}
	}
	return false
}

// latestFileOnly overlooks forks in all snapshots but the latest; with a type only
// where the latest is of that type.
func latestFileOnly(kind string) Fault {
	var mu sync.Mutex
	latest, hides := "", false
	hide := onRead(func(key string, own bool, list []map[string]any) []map[string]any {
		mu.Lock()
		defer mu.Unlock()
		if !own || key == latest || !hides {
			return list
		}
		var out []map[string]any
		for _, d := range list {
			if d["fork"] != true {
				out = append(out, d)
			}
		}
		return out
	}).Store
	return Fault{Store: func(next store.Store) store.Store {
		watch := &seam{Store: next, list: func(ctx context.Context, next store.Store, prefix string, o store.ListOptions) (store.Page, error) {
			page, err := next.List(ctx, prefix, o)
			if err == nil && prefix == snapshotsOf(running) && len(page.Keys) > 0 {
				attrs, _ := next.Head(ctx, page.Keys[0])
				mu.Lock()
				latest, hides = page.Keys[0], kind == "" || attrs.Metadata[typeKey] == kind
				mu.Unlock()
			}
			return page, err
		}}
		return hide(watch)
	}}
}
