package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// tombstoneFaults spoil the deletion of names.
var tombstoneFaults = map[string]Fault{
	"tombstones-delete-blobs": tombstonesDeleteBlobs(),
	"tombstone-without-name": numbered(func(_, _ int, d map[string]any) {
		if d["deleted"] == true {
			d["metadata"] = map[string]any{"name": d["name"]}
			delete(d, "name")
		}
	}),
	"tombstone-with-data": numbered(func(_, _ int, d map[string]any) {
		if d["deleted"] == true {
			d["data"] = "eA=="
		}
	}),
	"deletes-by-rewriting": stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		list := []map[string]any{}
		if w.isSnapshot() {
			list = w.descriptors()
		}
		if len(list) != 1 || list[0]["deleted"] != true {
			return w.send(ctx, next)
		}
		for v := versionOf(w.key) - 1; v > 0; v-- {
			err := rewrite(ctx, next, versionKeyOf(path.Dir(w.key), v), func(raw []byte) []byte {
				old := &write{body: raw}
				old.setDescriptors(slices.DeleteFunc(old.descriptors(), func(d map[string]any) bool { return d["name"] == list[0]["name"] }))
				return old.body
			})
			if err != nil {
				return "", err
			}
		}
		return "", nil
	}}),
	"deleted-names-vanish": descriptorsRead(func(list []map[string]any) []map[string]any {
		gone := map[any]bool{}
		for _, d := range list {
			if d["deleted"] == true {
				gone[d["name"]] = true
			}
		}
		return slices.DeleteFunc(list, func(d map[string]any) bool { return gone[d["name"]] })
	}),
	"first-of-a-name-counts": descriptorsRead(func(list []map[string]any) []map[string]any {
		seen := map[any]bool{}
		return slices.DeleteFunc(list, func(d map[string]any) bool {
			name, _ := d["name"].(string)
			again := name != "" && seen[name]
			seen[name] = true
			return again
		})
	}),
	"tombstones-skipped": descriptorsRead(func(list []map[string]any) []map[string]any {
		return slices.DeleteFunc(list, func(d map[string]any) bool { return d["deleted"] == true })
	}),
}

// tombstonesDeleteBlobs frees what a tombstone hides, whichever of the two is read
// first.
func tombstonesDeleteBlobs() Fault {
	var mu sync.Mutex
	digests, gone := map[string][]string{}, map[string]bool{}
	return stored(&seam{open: func(ctx context.Context, next store.Store, key string) (io.ReadCloser, store.Attributes, error) {
		body, attrs, err := next.Open(ctx, key)
		if err != nil || !isSnapshotKey(key) {
			return body, attrs, err
		}
		raw, err := io.ReadAll(body)
		body.Close()
		z, _ := zstd.NewReader(nil)
		defer z.Close()
		plain, _ := z.DecodeAll(raw, nil)
		mu.Lock()
		defer mu.Unlock()
		for _, d := range decodeDescriptors(plain) {
			slot := path.Dir(key) + " " + fmt.Sprint(d["name"])
			digest, _ := d["digest"].(string)
			if d["deleted"] == true {
				gone[slot] = true
			} else if digest != "" {
				digests[slot] = append(digests[slot], digest)
			}
			if gone[slot] && strings.HasPrefix(key, snapshotsOf(running)) {
				for _, digest := range digests[slot] {
					_ = next.Delete(ctx, "objects/"+digest, store.DeleteOptions{})
				}
			}
		}
		return io.NopCloser(bytes.NewReader(raw)), attrs, err
	}})
}

// versionKeyOf is the key of a version in a directory of version files.
func versionKeyOf(dir string, version uint64) string {
	return fmt.Sprintf("%s/%08X.json", dir, ^uint32(version-1))
}
