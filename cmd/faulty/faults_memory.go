package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// memoryFaults spoil how memory is found, merged and written.
var memoryFaults = map[string]Fault{
	"memory-per-session":            memoryPerSession(),
	"memory-in-place":               memoryFiles(func(w *write) { w.key, w.options.IfAbsent = path.Dir(w.key)+"/FFFFFFFF.json", false }),
	"memory-file-per-object":        memoryFilePerObject(),
	"memory-file-in-lower-case":     memoryFiles(func(w *write) { w.key = path.Dir(w.key) + "/" + strings.ToLower(path.Base(w.key)) }),
	"memory-version-of-the-session": memoryVersionOfTheSession(),
	"asking-makes-a-namespace":      askingMakesANamespace(),
	"memory-as-an-object": memoryFiles(func(w *write) {
		byName := map[string]any{}
		for _, d := range w.descriptors() {
			byName[fmt.Sprint(d["name"])] = d
		}
		plain, _ := json.Marshal(byName)
		w.setDocument(plain)
	}),
	"memory-without-envelope": ownRecords(func(d map[string]any) { delete(d, "commit") }),
	"envelopes-of-the-last-writer": memoryFiles(func(w *write) {
		list := w.descriptors()
		for _, d := range list {
			d["commit"] = list[len(list)-1]["commit"]
		}
		w.setDescriptors(list)
	}),
	"envelope-at-version-0": ownRecords(func(d map[string]any) { d["commit"].(map[string]any)["version"] = 0 }),
	"memory-transaction-as-a-double": memoryFiles(func(w *write) {
		w.eachDescriptor(func(_, _ int, d map[string]any) {
			if c, ok := d["commit"].(map[string]any); ok {
				n, _ := c["transaction"].(json.Number)
				f, _ := n.Float64()
				c["transaction"] = json.Number(strconv.FormatFloat(f, 'f', -1, 64))
			}
		})
	}),
	"memory-marked-no-cache":     memoryFiles(func(w *write) { w.options.CacheControl = "no-cache" }),
	"memory-as-octet-stream":     memoryFiles(func(w *write) { w.options.ContentType = "application/octet-stream" }),
	"memory-not-compressed":      memoryFiles(func(w *write) { w.body = w.document() }),
	"memory-overwrites":          memoryFiles(func(w *write) { w.options.IfAbsent = false }),
	"memory-metadata-dropped":    ownRecords(func(d map[string]any) { delete(d, "metadata") }),
	"memory-only-what-is-new":    memoryFiles(func(w *write) { w.setDescriptors(w.fresh()) }),
	"memory-sorted-by-name":      memoryFiles(func(w *write) { w.setDescriptors(sortedByName(w.descriptors())) }),
	"memory-bodies-at-their-key": memoryBodiesAtTheirKey(),
	"first-slash-divides":        slashesIntoNames(func(string) bool { return true }),
	"nested-into-known":          nestedIntoKnown(),
	"conflict-in-memory-is-success": stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		etag, err := w.send(ctx, next)
		if w.isMemory() && errors.Is(err, store.ErrExists) {
			return "", nil
		}
		return etag, err
	}}),
	"conflict-in-memory-fails":    memoryGivesUp(),
	"memory-moves-on-unmerged":    memoryMovesOn(func(first, _ []map[string]any) []map[string]any { return first }),
	"retry-forgets-the-others":    memoryMovesOn(func(_, now []map[string]any) []map[string]any { return freshOf(now) }),
	"merges-what-it-read-first":   mergesWhatItReadFirst(),
	"snapshot-for-memory":         snapshotForMemory(),
	"memory-alone-is-lost":        memoryAloneIsLost(),
	"oldest-memory":               memoryListings(func(_ string, keys []string) string { return keys[len(keys)-1] }),
	"nested-memory-mistaken":      nestedMemoryMistaken(),
	"lists-all-of-memory":         listsAllOfMemory(),
	"typed-memory-skipped":        typedMemorySkipped(),
	"memory-duplicates-kept":      memoryDuplicatesKept(),
	"memory-without-a-name":       memoryWithoutAName(),
	"memory-names-with-an-ending": memoryOutputs(func(name string) string { return name + ".bin" }),
	"memory-in-the-log-too":       memoryInTheLogToo(),
}

// memoryFiles changes memory files before they are written.
func memoryFiles(change func(w *write)) Fault {
	return writes(func(w *write) {
		if w.isMemory() {
			change(w)
		}
	})
}

// fresh are the records of a memory file that this write brought: those of the
// last one's transaction.
func (w *write) fresh() []map[string]any { return freshOf(w.descriptors()) }

func freshOf(list []map[string]any) []map[string]any {
	var out []map[string]any
	for _, d := range list {
		if transactionIn(d) == transactionIn(list[len(list)-1]) {
			out = append(out, d)
		}
	}
	return out
}

func transactionIn(d map[string]any) string {
	c, _ := d["commit"].(map[string]any)
	return fmt.Sprint(c["transaction"])
}

// ownRecords changes the records that a write brings.
func ownRecords(change func(d map[string]any)) Fault {
	return memoryFiles(func(w *write) {
		own := fmt.Sprint(transactionIn(last(w.descriptors())))
		w.eachDescriptor(func(_, _ int, d map[string]any) {
			if transactionIn(d) == own {
				change(d)
			}
		})
	})
}

func last(list []map[string]any) map[string]any {
	if len(list) == 0 {
		return nil
	}
	return list[len(list)-1]
}

func sortedByName(list []map[string]any) []map[string]any {
	slices.SortStableFunc(list, func(a, b map[string]any) int { return strings.Compare(fmt.Sprint(a["name"]), fmt.Sprint(b["name"])) })
	return list
}

// memoryElsewhere keeps all of memory under other keys.
func memoryElsewhere(move func(key string) string) Fault {
	f, at := keysMoved("memories/", move)
	f.list = func(ctx context.Context, next store.Store, prefix string, o store.ListOptions) (store.Page, error) {
		page, err := next.List(ctx, at(prefix), o)
		for i, key := range page.Keys {
			page.Keys[i] = prefix + strings.TrimPrefix(key, at(prefix))
		}
		return page, err
	}
	return stored(f)
}

// memoryPerSession keeps memory apart for each session.
func memoryPerSession() Fault {
	return memoryElsewhere(func(key string) string { return strings.Replace(key, "memories/", "memories/"+running+"/", 1) })
}

func memoryFilePerObject() Fault {
	return memoryFiles(func(w *write) {
		w.key = path.Dir(w.key) + "/" + fmt.Sprint(last(w.descriptors())["name"]) + "/" + path.Base(w.key)
	})
}

// memoryVersionOfTheSession names memory files after the version of the writer's
// snapshot.
func memoryVersionOfTheSession() Fault {
	return memoryFiles(func(w *write) {
		c, _ := last(w.descriptors())["commit"].(map[string]any)
		n, _ := strconv.ParseUint(fmt.Sprint(c["version"]), 10, 32)
		w.key = fmt.Sprintf("%s/%08X.json", path.Dir(w.key), ^uint32(n-1))
	})
}

// askingMakesANamespace writes an empty file where a handler asks for an object of
// a namespace that has none.
func askingMakesANamespace() Fault {
	var bucket store.Store
	f := served(memoryOnly(func(next http.Handler, w http.ResponseWriter, r *http.Request) {
		a := ask(next, r, r.URL.Path)
		if namespace := path.Dir(r.URL.Path); a.status == http.StatusNotFound && namespace != "." {
			page, err := bucket.List(r.Context(), "memories/"+namespace+"/", store.ListOptions{Max: 1})
			if err == nil && len(page.Keys) == 0 {
				empty := &write{key: "memories/" + namespace + "/FFFFFFFF.json"}
				empty.setDocument([]byte("[]"))
				empty.options.ContentType, empty.options.ContentEncoding, empty.options.IfAbsent = "application/json", "zstd", true
				empty.options.CacheControl = "max-age=31536000, immutable"
				_, _ = empty.send(r.Context(), bucket)
			}
		}
		a.send(w)
	}), nil)
	f.Store = func(s store.Store) store.Store {
		bucket = s
		return s
	}
	return f
}

// memoryBodiesAtTheirKey stores a copy of each new body at the object's own name.
func memoryBodiesAtTheirKey() Fault {
	bodies := newMemory()
	return stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		if w.isBlob() {
			bodies.keep(strings.TrimPrefix(w.key, "objects/"), w.body)
		}
		if w.isMemory() {
			for _, d := range w.fresh() {
				if body, ok := bodies.get(fmt.Sprint(d["digest"])); ok {
					if _, err := next.Put(ctx, path.Dir(w.key)+"/"+fmt.Sprint(d["name"]), bytes.NewReader(body), store.PutOptions{}); err != nil {
						return "", err
					}
				}
			}
		}
		return w.send(ctx, next)
	}})
}

// slashesIntoNames puts what belongs into a nested namespace into the namespace
// above all of it, under a name with slashes.
func slashesIntoNames(applies func(namespace string) bool) Fault {
	return stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		namespace, deeper, nested := strings.Cut(strings.TrimPrefix(path.Dir(w.key), "memories/"), "/")
		if !w.isMemory() || !nested || !applies(namespace) {
			return w.send(ctx, next)
		}
		w.eachDescriptor(func(_, _ int, d map[string]any) { d["name"] = deeper + "/" + fmt.Sprint(d["name"]) })
		for version := uint32(1); ; version++ {
			w.key = fmt.Sprintf("memories/%s/%08X.json", namespace, ^(version - 1))
			if etag, err := w.send(ctx, next); !errors.Is(err, store.ErrExists) {
				return etag, err
			}
		}
	}})
}

// nestedIntoKnown does so only where the upper namespace was there when it was
// first looked for.
func nestedIntoKnown() Fault {
	var inner store.Store
	f := slashesIntoNames(func(namespace string) bool {
		page, err := inner.List(context.Background(), "memories/"+namespace+"/F", store.ListOptions{Max: 1})
		return err == nil && len(page.Keys) > 0
	})
	wrap := f.Store
	f.Store = func(s store.Store) store.Store {
		inner = s
		return wrap(s)
	}
	return f
}

// memoryMovesOn keeps what a first attempt was to write; later attempts write what
// merge makes of that and of what they would write by rights.
func memoryMovesOn(merge func(first, now []map[string]any) []map[string]any) Fault {
	var mu sync.Mutex
	first := map[string][]map[string]any{}
	return stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		if w.isMemory() {
			mu.Lock()
			if was, again := first[path.Dir(w.key)]; again {
				w.setDescriptors(merge(was, w.descriptors()))
			} else {
				first[path.Dir(w.key)] = w.descriptors()
			}
			mu.Unlock()
		}
		return w.send(ctx, next)
	}})
}

// mergesWhatItReadFirst goes on from the first version of a namespace that this
// process read, whatever has landed since.
func mergesWhatItReadFirst() Fault {
	first := newMemory()
	return stored(&seam{
		open: func(ctx context.Context, next store.Store, key string) (io.ReadCloser, store.Attributes, error) {
			body, attrs, err := next.Open(ctx, key)
			if err != nil || !strings.HasPrefix(key, "memories/") {
				return body, attrs, err
			}
			raw, err := io.ReadAll(body)
			body.Close()
			if _, known := first.get(path.Dir(key)); !known {
				first.keep(path.Dir(key), raw)
			}
			return io.NopCloser(bytes.NewReader(raw)), attrs, err
		},
		put: func(ctx context.Context, next store.Store, w *write) (string, error) {
			if raw, known := first.get(path.Dir(w.key)); known && w.isMemory() {
				d, _ := zstd.NewReader(nil)
				defer d.Close()
				plain, _ := d.DecodeAll(raw, nil)
				fresh := w.fresh()
				var list []map[string]any
				for _, old := range decodeDescriptors(plain) {
					if !slices.ContainsFunc(fresh, func(f map[string]any) bool { return f["name"] == old["name"] }) {
						list = append(list, old)
					}
				}
				w.setDescriptors(append(list, fresh...))
			}
			return w.send(ctx, next)
		},
	})
}
