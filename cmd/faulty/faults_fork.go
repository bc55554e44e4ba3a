package main

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
	"github.com/pugcheck/pugcheck/reference/pugmark/transport"
)

// forkFaults spoil how forks are recorded: the first of their two phases.
var forkFaults = map[string]Fault{
	"forks-kept-as-entries": forkRecords(func(d map[string]any) {
		delete(d, "fork")
		delete(d, "target-session")
	}),
	"chosen-child-ignored": objects(func(o map[string]json.RawMessage) map[string]json.RawMessage {
		if isFork(o) {
			delete(o, "session")
		}
		return o
	}),
	"child-from-digest": objects(func(o map[string]json.RawMessage) map[string]json.RawMessage {
		if isFork(o) && len(o["session"]) <= 2 {
			sum := sha256.Sum256(o["data"])
			o["session"], _ = json.Marshal(fmt.Sprintf("%08x%s", time.Now().Unix()/3600, hex.EncodeToString(sum[:12])))
		}
		return o
	}),
	"forks-unrecorded": snapshots(func(w *write) {
		if !w.isOwn() {
			return
		}
		var rest []map[string]any
		for _, d := range w.descriptors() {
			if d["fork"] != true {
				rest = append(rest, d)
			}
		}
		if len(rest) > 0 {
			w.setDescriptors(rest)
		}
	}),
	"fork-bodies-late":       lateBodies(0),
	"large-fork-bodies-late": lateBodies(1024),
	"child-while-reading": childrenFirst(func(w *write, send func() (string, error), children func() error) (string, error) {
		if err := children(); err != nil {
			return "", err
		}
		return send()
	}),
	"child-of-a-lost-commit": childrenFirst(func(w *write, send func() (string, error), children func() error) (string, error) {
		etag, err := send()
		if errors.Is(err, store.ErrExists) {
			err = errors.Join(err, children())
		}
		return etag, err
	}),
	"one-child-for-all":              oneChildForAll(),
	"forks-without-schema":           forkRecords(func(d map[string]any) { delete(d, "schema-url") }),
	"forks-in-a-snapshot-of-its-own": inTwoSnapshots(func(d map[string]any) bool { return d["fork"] == true }),
	"targets-are-children": onRead(func(_ string, own bool, list []map[string]any) []map[string]any {
		for _, d := range list {
			if own && d["target-session"] != nil {
				d["fork"] = true
			}
		}
		return list
	}),
}

func isFork(o map[string]json.RawMessage) bool { return string(o["fork"]) == "true" }

// forkRecords changes the fork records that are committed.
func forkRecords(change func(d map[string]any)) Fault {
	return snapshots(func(w *write) {
		w.eachDescriptor(func(_, _ int, d map[string]any) {
			if d["fork"] == true {
				change(d)
			}
		})
	})
}

func oneChildForAll() Fault {
	id := sync.OnceValues(func() (layout.SessionID, error) { return layout.NewSessionID(time.Now(), random{}) })
	return Fault{Identifiers: func(o *session.Options) { o.NewSessionID = id }}
}

// lateBodies stores the bodies of forks, of those longer than a length, behind the
// snapshot that records them.
func lateBodies(longer int) Fault {
	var mu sync.Mutex
	forks, late := map[string]bool{}, map[string]*write{}
	f := objects(func(o map[string]json.RawMessage) map[string]json.RawMessage {
		var text string
		_ = json.Unmarshal(o["data"], &text)
		if body, err := base64.StdEncoding.DecodeString(text); err == nil && isFork(o) && len(body) > longer {
			mu.Lock()
			forks["objects/"+digestOf(body)] = true
			mu.Unlock()
		}
		return o
	})
	f.Store = stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		mu.Lock()
		held := forks[w.key]
		if held {
			late[w.key] = w
		}
		mu.Unlock()
		if held {
			return "", nil
		}
		etag, err := w.send(ctx, next)
		if err == nil && w.isOwn() {
			mu.Lock()
			defer mu.Unlock()
			for _, w := range late {
				if _, err := w.send(ctx, next); err != nil {
					return "", err
				}
			}
		}
		return etag, err
	}}).Store
	return f
}

// childrenFirst writes the manifests of children at another time than the next
// run: order decides what of both is sent when.
func childrenFirst(order func(w *write, send func() (string, error), children func() error) (string, error)) Fault {
	return stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		if !w.isOwn() {
			return w.send(ctx, next)
		}
		return order(w, func() (string, error) { return w.send(ctx, next) }, func() error {
			for _, d := range w.descriptors() {
				child, _ := d["target-session"].(string)
				if d["fork"] != true {
					continue
				}
				body := fmt.Sprintf(`{"session":%q,"parent":{"session":%q,"version":%d},"first-sequence-number":1}`, child, running, versionOf(w.key))
				if _, err := next.Put(ctx, dirOf(child)+"/manifest.json", strings.NewReader(body), store.PutOptions{
					Attributes: store.Attributes{ContentType: "application/json", CacheControl: "max-age=31536000, immutable"}, IfAbsent: true}); err != nil {
					return err
				}
			}
			return nil
		})
	}})
}

// forkEvents rewrites the event of a stream's last record, which is told whether
// the session that is run has a parent.
func forkEvents(change func(child bool, event string) string) Fault {
	var parent bool
	f := manifestsRead(func(m map[string]any, nth int) {
		if nth == 1 {
			parent = m["parent"] != nil
		}
	})
	f.Handler = func(next transport.Handler) transport.Handler {
		return lastEvent(func(event string) string { return change(parent, event) }).Handler(next)
	}
	return f
}
