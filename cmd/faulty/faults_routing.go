package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/pugcheck/pugcheck/reference/pugmark/engine"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// routingFaults spoil what becomes of an Output: which body it has, and what it is
// recorded as.
var routingFaults = map[string]Fault{
	"bodies-committed-as-text": outputBodies(func(_ map[string]json.RawMessage, body []byte) []byte {
		return []byte(strings.ToValidUTF8(string(body), "\uFFFD"))
	}),
	"uri-is-the-body": objects(func(o map[string]json.RawMessage) map[string]json.RawMessage {
		var uri string
		if _ = json.Unmarshal(o["uri"], &uri); uri != "" && len(o["data"]) <= 2 {
			o["data"], _ = json.Marshal([]byte(uri))
			delete(o, "uri")
		}
		return o
	}),
	"encoded-bodies-unpacked": outputBodies(func(o map[string]json.RawMessage, body []byte) []byte {
		if string(o["content-encoding"]) == `"gzip"` {
			if r, err := gzip.NewReader(bytes.NewReader(body)); err == nil {
				body, _ = io.ReadAll(r)
			}
		}
		return body
	}),
	"chosen-child-only-in-part": objects(func(o map[string]json.RawMessage) map[string]json.RawMessage {
		var child string
		if _ = json.Unmarshal(o["session"], &child); isFork(o) && len(child) == 32 {
			var drawn [12]byte
			_, _ = rand.Read(drawn[:])
			o["session"], _ = json.Marshal(child[:8] + hex.EncodeToString(drawn[:]))
		}
		return o
	}),
	"numbered-by-digest": snapshots(func(w *write) {
		if !w.isOwn() {
			return
		}
		list := w.descriptors()
		if len(list) < 2 || slices.ContainsFunc(list, func(d map[string]any) bool { return kind(d) != 0 || isRecord(d) }) {
			return
		}
		numbers, byDigest := []any{}, slices.Clone(list)
		for _, d := range list {
			numbers = append(numbers, d["sequence-number"])
		}
		slices.SortFunc(byDigest, func(a, b map[string]any) int {
			return strings.Compare(fmt.Sprint(a["digest"]), fmt.Sprint(b["digest"]))
		})
		for i, d := range byDigest {
			d["sequence-number"] = numbers[i]
		}
		w.setDescriptors(list)
	}),
	"base64-is-the-body": outputBodies(func(o map[string]json.RawMessage, body []byte) []byte {
		return []byte(base64.StdEncoding.EncodeToString(body))
	}),
	"first-mebibyte-fetched": {Engine: func(c *engine.Config) {
		whole := c.Fetch
		c.Fetch = func(ctx context.Context, uri string) (io.ReadCloser, error) {
			body, err := whole(ctx, uri)
			if err != nil {
				return nil, err
			}
			return struct {
				io.Reader
				io.Closer
			}{io.LimitReader(body, 1<<20), body}, nil
		}
	}},
	"memory-bodies-unstored": memoryBodiesUnstored(),
	"copy-for-each-type":     copyForEachType(),
	"pause-is-an-entry-too": list(func(all []map[string]json.RawMessage) []map[string]json.RawMessage {
		var out []map[string]json.RawMessage
		for _, o := range all {
			if isPause(o) {
				out = append(out, map[string]json.RawMessage{"content-type": json.RawMessage(`"text/plain"`), "data": orEmpty(o["data"])})
			}
			out = append(out, o)
		}
		return out
	}),
	"memories-without-namespace": objects(func(o map[string]json.RawMessage) map[string]json.RawMessage {
		if rest, ok := strings.CutPrefix(nameIn(o), "memories/"); ok && rest != "" && !strings.Contains(rest, "/") {
			o["name"], _ = json.Marshal("memories/default/" + rest)
		}
		return o
	}),
	"session-before-fork": objects(func(o map[string]json.RawMessage) map[string]json.RawMessage {
		if len(o["session"]) > 2 {
			delete(o, "fork")
		}
		return o
	}),
	"target-not-recorded": snapshots(func(w *write) {
		if w.isOwn() {
			w.eachDescriptor(func(_, _ int, d map[string]any) {
				if isRecord(d) {
					delete(d, "target-session")
				}
			})
		}
	}),
	"nameless-dropped": objects(func(o map[string]json.RawMessage) map[string]json.RawMessage {
		if len(o["name"]) <= 2 && !isPause(o) && !isFork(o) {
			return nil
		}
		return o
	}),
}

func orEmpty(text json.RawMessage) json.RawMessage {
	if text == nil {
		return json.RawMessage(`""`)
	}
	return text
}

// outputBodies changes the bodies that Outputs, but for pauses, carry as data.
func outputBodies(change func(o map[string]json.RawMessage, body []byte) []byte) Fault {
	return objects(func(o map[string]json.RawMessage) map[string]json.RawMessage {
		var text string
		if _ = json.Unmarshal(o["data"], &text); text == "" || isPause(o) {
			return o
		}
		if body, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "=")); err == nil {
			o["data"], _ = json.Marshal(change(o, body))
		}
		return o
	})
}

// memoryBodiesUnstored keeps short bodies of memory objects in the memory file
// only.
func memoryBodiesUnstored() Fault {
	var mu sync.Mutex
	short := map[string]bool{}
	f := outputBodies(func(o map[string]json.RawMessage, body []byte) []byte {
		if isMemoryName(o) && len(body) <= 1024 {
			mu.Lock()
			short["objects/"+digestOf(body)] = true
			mu.Unlock()
		}
		return body
	})
	f.Store = withdrawn(func(w *write) bool {
		mu.Lock()
		defer mu.Unlock()
		return short[w.key]
	}).Store
	return f
}

// copyForEachType stores a body once more, under a key of its own, when it comes with
// another content type.
func copyForEachType() Fault {
	types := newMemory()
	var mu sync.Mutex
	return stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		if w.isBlob() {
			mu.Lock()
			first, seen := types.get(w.key)
			if !seen {
				types.keep(w.key, []byte(w.options.ContentType))
			}
			mu.Unlock()
			if seen && string(first) != w.options.ContentType {
				w.key = "objects/" + digestOf(append([]byte(w.options.ContentType+"\n"), w.body...))
			}
		}
		return w.send(ctx, next)
	}})
}
