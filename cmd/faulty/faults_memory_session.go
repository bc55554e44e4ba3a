package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"
	"sync/atomic"

	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// snapshotForMemory marks each memory write by an empty snapshot of its session.
func snapshotForMemory() Fault {
	return stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		etag, err := w.send(ctx, next)
		if err != nil || !w.isMemory() {
			return etag, err
		}
		page, err := next.List(ctx, snapshotsOf(running), store.ListOptions{Max: 1})
		if err != nil {
			return "", err
		}
		var version uint64 = 1
		if len(page.Keys) > 0 {
			version = versionOf(page.Keys[0]) + 1
		}
		mark := &write{key: fmt.Sprintf("%s%08X.json", snapshotsOf(running), ^uint32(version-1))}
		mark.setDocument([]byte("[]"))
		mark.options.ContentType, mark.options.ContentEncoding, mark.options.CacheControl, mark.options.IfAbsent = "application/json", "zstd", w.options.CacheControl, true
		mark.options.Metadata = map[string]string{
			typeKey: "checkpoint", transactionKey: fmt.Sprint(version + 1e9),
			"pugmark-snapshot-session": running, "pugmark-snapshot-version": fmt.Sprint(version),
		}
		if _, err := mark.send(ctx, next); err != nil {
			return "", err
		}
		return etag, nil
	}})
}

// memoryAloneIsLost writes memory only beside a snapshot.
func memoryAloneIsLost() Fault {
	var committed atomic.Bool
	return stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		if w.isOwn() {
			committed.Store(true)
		}
		if w.isMemory() && !committed.Load() {
			return "", nil
		}
		return w.send(ctx, next)
	}})
}

// memoryListings picks what a listing for the latest version of a namespace says.
func memoryListings(pick func(prefix string, keys []string) string) Fault {
	return stored(&seam{list: func(ctx context.Context, next store.Store, prefix string, o store.ListOptions) (store.Page, error) {
		if !strings.HasPrefix(prefix, "memories/") || o.Max != 1 {
			return next.List(ctx, prefix, o)
		}
		keys, err := allKeys(ctx, next, prefix, o.After)
		if err != nil || len(keys) == 0 {
			return store.Page{}, err
		}
		return store.Page{Keys: []string{pick(prefix, keys)}}, nil
	}})
}

func listsAllOfMemory() Fault {
	return memoryListings(func(_ string, keys []string) string { return keys[0] })
}

// nestedMemoryMistaken takes the first key below a namespace for its latest version,
// whatever namespace that is of.
func nestedMemoryMistaken() Fault {
	return memoryListings(func(prefix string, keys []string) string { return prefix + path.Base(keys[0]) })
}

// typedMemorySkipped takes files with the metadata of provisional snapshots for none.
func typedMemorySkipped() Fault {
	return stored(&seam{open: func(ctx context.Context, next store.Store, key string) (io.ReadCloser, store.Attributes, error) {
		body, attrs, err := next.Open(ctx, key)
		if err != nil || !strings.HasPrefix(key, "memories/") || attrs.Metadata[typeKey] == "" {
			return body, attrs, err
		}
		body.Close()
		older := fmt.Sprintf("%s/%08X.json", path.Dir(key), ^uint32(versionOf(key)-2))
		return next.Open(ctx, older)
	}})
}

// memoryOutputs gives other names to the memory objects among the Outputs.
func memoryOutputs(rename func(name string) string) Fault {
	return objects(func(o map[string]json.RawMessage) map[string]json.RawMessage {
		if name := nameIn(o); strings.HasPrefix(name, "memories/") && strings.Count(name, "/") > 1 {
			o["name"], _ = json.Marshal(rename(name))
		}
		return o
	})
}

func nameIn(o map[string]json.RawMessage) string {
	var name string
	_ = json.Unmarshal(o["name"], &name)
	return name
}

// memoryDuplicatesKept has each write append a record, also where the name is there.
func memoryDuplicatesKept() Fault {
	var n atomic.Int64
	f := memoryOutputs(func(name string) string { return fmt.Sprintf("%s\x00%d", name, n.Add(1)) })
	f.Store = memoryFiles(func(w *write) {
		w.eachDescriptor(func(_, _ int, d map[string]any) {
			d["name"], _, _ = strings.Cut(fmt.Sprint(d["name"]), "\x00")
		})
	}).Store
	return f
}

// memoryWithoutAName takes memories/ns/ for an object of ns whose name is empty.
func memoryWithoutAName() Fault {
	f := memoryOutputs(func(name string) string {
		if strings.HasSuffix(name, "/") {
			return name + "\x00"
		}
		return name
	})
	f.Store = memoryFiles(func(w *write) {
		w.eachDescriptor(func(_, _ int, d map[string]any) {
			if d["name"] == "\x00" {
				d["name"] = ""
			}
		})
	}).Store
	return f
}

// memoryInTheLogToo makes an entry beside each memory object.
func memoryInTheLogToo() Fault {
	return eachObject(func(o map[string]json.RawMessage, emit func(map[string]json.RawMessage)) {
		emit(o)
		if name := nameIn(o); strings.HasPrefix(name, "memories/") && strings.Count(name, "/") > 1 {
			o["name"], _ = json.Marshal(path.Base(name))
			emit(o)
		}
	})
}
