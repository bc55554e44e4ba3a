package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// messageFaults spoil messages between sessions on the writer's side.
var messageFaults = map[string]Fault{
	"fork-false-refused": objectsOrError(func(o map[string]json.RawMessage) error {
		if string(o["fork"]) == "false" && len(o["session"]) > 2 {
			return errors.New("session without fork")
		}
		return nil
	}),
	"missing-target-made-up": faultOf(lookupFaults, "missing-session-made-up"),
	"missing-target-passed-over": {Ending: func(err error) error {
		if errors.Is(err, session.ErrSessionNotFound) {
			return nil
		}
		return err
	}},
	"messages-beside-forks-stop": list(func(all []map[string]json.RawMessage) []map[string]json.RawMessage {
		forks, sent := 0, 0
		for _, o := range all {
			switch {
			case isFork(o):
				forks++
			case isMessage(o):
				sent++
			}
		}
		if forks > 0 && sent > 0 && forks+sent == len(all) {
			return append(all, map[string]json.RawMessage{"content-type": json.RawMessage(pauseType)})
		}
		return all
	}),
	"several-messages-stop": list(func(all []map[string]json.RawMessage) []map[string]json.RawMessage {
		if len(all) < 2 || slices.ContainsFunc(all, func(o map[string]json.RawMessage) bool { return !isMessage(o) }) {
			return all
		}
		return append(all, map[string]json.RawMessage{"content-type": json.RawMessage(pauseType)})
	}),
	"message-ends-the-output": list(func(all []map[string]json.RawMessage) []map[string]json.RawMessage {
		if i := slices.IndexFunc(all, isMessage); i >= 0 {
			return all[:i+1]
		}
		return all
	}),
	"own-messages-delivered": toItself(func(o string) bool { return true }, func(ctx context.Context, next store.Store, w *write, mine []map[string]any) (string, error) {
		etag, err := w.send(ctx, next)
		if err != nil {
			return "", err
		}
		copies := cloned(mine)
		for i, d := range copies {
			d["source-session"], d["source-version"] = running, versionOf(w.key)
			d["sequence-number"] = number(w.descriptors()[len(w.descriptors())-1]) + int64(i) + 1
		}
		above := w.above(copies)
		above.options.Metadata[typeKey] = "provisional"
		_, err = above.send(ctx, next)
		return etag, err
	}),
	"own-target-kept":             ownTargetKept(func(string) bool { return true }),
	"own-target-in-capitals-kept": ownTargetKept(func(text string) bool { return text != strings.ToLower(text) }),
	"messages-unrecorded": snapshots(func(w *write) {
		if !w.isOwn() {
			return
		}
		if rest := slices.DeleteFunc(w.descriptors(), isRecord); len(rest) > 0 {
			w.setDescriptors(rest)
		}
	}),
	"messages-alone-uncommitted": withdrawn(func(w *write) bool {
		return w.isOwn() && !slices.ContainsFunc(w.descriptors(), func(d map[string]any) bool { return !isRecord(d) })
	}),
}

// deliveryFaults spoil messages between sessions on their way into the target.
var deliveryFaults = map[string]Fault{
	"messages-not-delivered": withdrawn((*write).isDelivery),
	"copy-under-another-key": besideDelivery(func(w *write, digest string) string { return "objects/" + digest + "-copy" }),
	"copy-for-each-target":   besideDelivery(func(w *write, _ string) string { return "objects/for-" + sessionOf(dirOfKey(w.key)+"/manifest.json") }),
	"delivered-as-checkpoint": snapshots(func(w *write) {
		if w.isDelivery() {
			w.options.Metadata[typeKey] = "checkpoint"
		}
	}),
	"delivery-overwrites": writes(func(w *write) {
		if w.isDelivery() {
			w.options.IfAbsent = false
		}
	}),
	"source-is-the-target":        deliveredEntries(func(w *write, d map[string]any) { d["source-session"] = sessionOf(dirOfKey(w.key) + "/manifest.json") }),
	"source-is-somebody-else":     deliveredEntries(func(_ *write, d map[string]any) { d["source-session"] = strings.Repeat("ab", 16) }),
	"targets-version-as-source":   deliveredEntries(func(w *write, d map[string]any) { d["source-version"] = versionOf(w.key) + 100 }),
	"source-version-before-merge": sourceVersionBeforeMerge(),
	"source-session-alone":        deliveredUnless(func(there, _ map[string]any) bool { return there["source-session"] == running }),
	"digest-is-enough":            deliveredUnless(func(there, message map[string]any) bool { return there["digest"] == message["digest"] }),
	"own-deliveries-forgotten":    forgetful(true),
	"source-pair-not-read":        forgetful(false),
	"delivers-first": stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		if w.isOwn() {
			if err := w.deliverNow(ctx, next); err != nil {
				return "", err
			}
		}
		return w.send(ctx, next)
	}}),
	"first-of-each-batch": snapshots(func(w *write) {
		if w.isDelivery() {
			w.setDescriptors(w.descriptors()[:1])
		}
	}),
	"targets-taken-for-empty": stored(&seam{list: func(ctx context.Context, next store.Store, prefix string, o store.ListOptions) (store.Page, error) {
		if strings.HasSuffix(prefix, "/snapshots/") && prefix != snapshotsOf(running) {
			return store.Page{}, nil
		}
		return next.List(ctx, prefix, o)
	}}),
	"target-kept-in-the-copy": deliveredEntries(func(w *write, d map[string]any) { d["target-session"] = sessionOf(dirOfKey(w.key) + "/manifest.json") }),
	"delivered-from-one":      snapshots(func(w *write) { w.renumbered((*write).isDelivery) }),
	"refused-delivery-fails":  givesUp((*write).isDelivery),
	"messages-wake-nobody": onRead(func(_ string, own bool, list []map[string]any) []map[string]any {
		if own && len(list) > 0 && list[len(list)-1]["source-session"] != nil {
			stop := map[string]any{"content-type": controlType, "sequence-number": number(list[len(list)-1])}
			setBody(stop, []byte(`{"status":"stopped"}`))
			list = append(list, stop)
		}
		return list
	}),
}

func faultOf(table map[string]Fault, name string) Fault { return table[name] }

// isMessage tells whether an Output is addressed to another session.
func isMessage(o map[string]json.RawMessage) bool { return len(o["session"]) > 33 && !isFork(o) }

// isRecord tells whether a descriptor records a message of the writer.
func isRecord(d map[string]any) bool { return d["target-session"] != nil && d["fork"] != true }

func cloned(list []map[string]any) []map[string]any {
	var out []map[string]any
	for _, d := range list {
		out = append(out, maps.Clone(d))
	}
	return out
}

func (w *write) renumbered(which func(w *write) bool) {
	if which(w) {
		w.eachDescriptor(func(i, _ int, d map[string]any) { d["sequence-number"] = i + 1 })
	}
}

func deliveredEntries(change func(w *write, d map[string]any)) Fault {
	return snapshots(func(w *write) {
		if w.isDelivery() {
			w.eachDescriptor(func(_, _ int, d map[string]any) { change(w, d) })
		}
	})
}

// besideDelivery stores the body of each message once more.
func besideDelivery(key func(w *write, digest string) string) Fault {
	return stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		if w.isDelivery() {
			for _, d := range w.descriptors() {
				digest, _ := d["digest"].(string)
				body, err := fetch(ctx, next, "objects/"+digest)
				if err != nil {
					return "", err
				}
				copied := &write{key: key(w, digest), body: body}
				if _, err := copied.send(ctx, next); err != nil {
					return "", err
				}
			}
		}
		return w.send(ctx, next)
	}})
}

// toItself hands the commit of what a handler wrote to its own session to send,
// with the descriptors of that.
func toItself(which func(session string) bool, send func(ctx context.Context, next store.Store, w *write, mine []map[string]any) (string, error)) Fault {
	var mu sync.Mutex
	digests := map[string]bool{}
	f := objects(func(o map[string]json.RawMessage) map[string]json.RawMessage {
		var text, data string
		_ = json.Unmarshal(o["session"], &text)
		_ = json.Unmarshal(o["data"], &data)
		if strings.ToLower(text) == running && !isFork(o) && which(text) {
			body, _ := base64.StdEncoding.DecodeString(data)
			mu.Lock()
			digests[digestOf(body)] = true
			mu.Unlock()
		}
		return o
	})
	f.Store = stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		if !w.isOwn() {
			return w.send(ctx, next)
		}
		mu.Lock()
		mine := slices.DeleteFunc(w.descriptors(), func(d map[string]any) bool { return !digests[fmt.Sprint(d["digest"])] })
		mu.Unlock()
		if len(mine) == 0 {
			return w.send(ctx, next)
		}
		return send(ctx, next, w, mine)
	}}).Store
	return f
}

func ownTargetKept(which func(session string) bool) Fault {
	return toItself(which, func(ctx context.Context, next store.Store, w *write, mine []map[string]any) (string, error) {
		w.eachDescriptor(func(_, _ int, d map[string]any) {
			if slices.ContainsFunc(mine, func(m map[string]any) bool { return m["digest"] == d["digest"] }) {
				d["target-session"] = running
			}
		})
		return w.send(ctx, next)
	})
}

// sourceVersionBeforeMerge names the version that the writer's commit tried first.
func sourceVersionBeforeMerge() Fault {
	var mu sync.Mutex
	first := uint64(0)
	return writes(func(w *write) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case w.isOwn() && first == 0:
			first = versionOf(w.key)
		case w.isDelivery() && first > 0:
			w.eachDescriptor(func(_, _ int, d map[string]any) { d["source-version"] = first })
		}
	})
}

// deliveredUnless delivers nothing where a descriptor of the target is held to be
// the message.
func deliveredUnless(same func(there, message map[string]any) bool) Fault {
	return stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		if !w.isDelivery() {
			return w.send(ctx, next)
		}
		keys, err := allKeys(ctx, next, dirOfKey(w.key)+"/snapshots/", "")
		if err != nil {
			return "", err
		}
		for _, key := range keys {
			raw, err := fetch(ctx, next, key)
			if err != nil {
				return "", err
			}
			for _, d := range (&write{body: raw}).descriptors() {
				if same(d, w.descriptors()[0]) {
					return "", nil
				}
			}
		}
		return w.send(ctx, next)
	}})
}

// forgetful does not see what it has delivered itself: not by the source pair, and
// not by its transaction ID either where own attempts are forgotten as well.
func forgetful(attempts bool) Fault {
	f := onRead(func(_ string, own bool, list []map[string]any) []map[string]any {
		for _, d := range list {
			if !own {
				delete(d, "source-session")
				delete(d, "source-version")
			}
		}
		return list
	})
	if !attempts {
		return f
	}
	hide := commitFaults["own-attempt-not-recognised"].Store
	pairs := f.Store
	return Fault{Store: func(next store.Store) store.Store { return hide(pairs(next)) }}
}

// deliverNow appends the messages of a commit to their targets.
func (w *write) deliverNow(ctx context.Context, next store.Store) error {
	targets := map[string][]map[string]any{}
	for _, d := range w.descriptors() {
		if target, ok := d["target-session"].(string); ok && isRecord(d) {
			targets[target] = append(targets[target], d)
		}
	}
	for target, batch := range targets {
		keys, err := allKeys(ctx, next, snapshotsOf(target), "")
		if err != nil || len(keys) == 0 {
			return err
		}
		raw, err := fetch(ctx, next, keys[0])
		if err != nil {
			return err
		}
		latest := (&write{body: raw}).descriptors()
		copies := cloned(batch)
		for i, d := range copies {
			delete(d, "target-session")
			d["source-session"], d["source-version"] = running, versionOf(w.key)
			d["sequence-number"] = number(latest[len(latest)-1]) + int64(i) + 1
		}
		delivery := &write{key: keys[0], options: w.options}
		delivery = delivery.above(copies)
		delivery.options.Metadata[typeKey], delivery.options.Metadata[sessionKey] = "provisional", target
		if _, err := delivery.send(ctx, next); err != nil {
			return err
		}
	}
	return nil
}
