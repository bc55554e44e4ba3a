package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// lookupFaults spoil what is found in the bucket, and how.
var lookupFaults = map[string]Fault{
	"lists-a-thousand-keys": listings(func(ctx context.Context, next store.Store, prefix string, o store.ListOptions) (store.Page, error) {
		most := o.Max
		o.Max = 0
		page, err := next.List(ctx, prefix, o)
		return cut(page, most), err
	}),
	"lists-all-pages": listings(func(ctx context.Context, next store.Store, prefix string, o store.ListOptions) (store.Page, error) {
		keys, err := allKeys(ctx, next, prefix, o.After)
		return cut(store.Page{Keys: keys}, o.Max), err
	}),
	"last-two-digits-only": listings(func(ctx context.Context, next store.Store, prefix string, o store.ListOptions) (store.Page, error) {
		page, err := next.List(ctx, prefix, o)
		if err == nil && o.Max == 1 && len(page.Keys) == 1 {
			key := page.Keys[0]
			page.Keys = []string{path.Dir(key) + "/FFFFFF" + path.Base(key)[6:]}
		}
		return page, err
	}),
	"no-snapshots-no-session": stored(&seam{list: func(ctx context.Context, next store.Store, prefix string, o store.ListOptions) (store.Page, error) {
		page, err := next.List(ctx, prefix, o)
		if err == nil && len(page.Keys) == 0 && strings.HasSuffix(prefix, "/snapshots/") {
			err = fmt.Errorf("session not found: %w", store.ErrNotFound)
		}
		return page, err
	}}),
	"missing-session-made-up": stored(&seam{
		open: func(ctx context.Context, next store.Store, key string) (io.ReadCloser, store.Attributes, error) {
			body, attrs, err := next.Open(ctx, key)
			if errors.Is(err, store.ErrNotFound) && path.Base(key) == "manifest.json" {
				plain := fmt.Sprintf(`{"session":%q,"first-sequence-number":1}`, sessionOf(key))
				return io.NopCloser(strings.NewReader(plain)), store.Attributes{ContentType: "application/json"}, nil
			}
			return body, attrs, err
		},
		head: func(ctx context.Context, next store.Store, key string) (store.Attributes, error) {
			attrs, err := next.Head(ctx, key)
			if errors.Is(err, store.ErrNotFound) && path.Base(key) == "manifest.json" {
				return store.Attributes{ContentType: "application/json"}, nil
			}
			return attrs, err
		},
	}),
	"everything-is-a-checkpoint":  types(func(string) string { return "checkpoint" }),
	"missing-type-is-provisional": types(func(t string) string { return orElse(t, "provisional") }),
	"unknown-schema-refused": stored(&seam{open: func(ctx context.Context, next store.Store, key string) (io.ReadCloser, store.Attributes, error) {
		body, attrs, err := next.Open(ctx, key)
		if err == nil && attrs.Metadata["schema"] != "" {
			body.Close()
			return nil, attrs, fmt.Errorf("%s: unknown schema %q", key, attrs.Metadata["schema"])
		}
		return body, attrs, err
	}}),
	"first-zstd-frame-only": snapshotsRead(func(_ string, raw []byte) []byte {
		if end := secondFrame(raw); end > 0 {
			d, _ := zstd.NewReader(bytes.NewReader(raw[:end]))
			defer d.Close()
			plain, _ := io.ReadAll(d)
			plain = append(bytes.TrimRight(plain, ", \n"), ']')
			return recompress(plain)
		}
		return raw
	}),
	"descriptors-sorted-by-name": descriptorsRead(func(list []map[string]any) []map[string]any {
		entries := []map[string]any{}
		for _, d := range list {
			if kind(d) != 2 {
				entries = append(entries, d)
			}
		}
		slices.SortStableFunc(entries, func(a, b map[string]any) int {
			return strings.Compare(fmt.Sprint(a["name"]), fmt.Sprint(b["name"]))
		})
		for i := range list { // control messages stay where they are
			if kind(list[i]) != 2 {
				list[i], entries = entries[0], entries[1:]
			}
		}
		return list
	}),
	"descriptors-sorted-by-number": descriptorsRead(func(list []map[string]any) []map[string]any {
		slices.SortStableFunc(list, func(a, b map[string]any) int { return int(number(a) - number(b)) })
		return list
	}),
	"old-controls-replayed": descriptorsRead(func(list []map[string]any) []map[string]any {
		for i, d := range list {
			if i < len(list)-1 && d["content-type"] == "application/vnd.pugmark.control+json" {
				d["content-type"] = "application/json"
			}
		}
		return list
	}),
	"forks-are-entries": descriptorsRead(func(list []map[string]any) []map[string]any {
		var out []map[string]any
		for _, d := range list {
			out = append(out, d)
			older, _ := d["fork-session-id"].(string)
			if d["fork"] == true || strings.Trim(older, "0") != "" {
				entry := maps.Clone(d) // the record itself is still there to be materialised
				for _, field := range []string{"fork", "fork-session-id", "target-session"} {
					delete(entry, field)
				}
				out = append(out, entry)
			}
		}
		return out
	}),
	"legacy-forks-overlooked": descriptorsRead(func(list []map[string]any) []map[string]any {
		for _, d := range list {
			delete(d, "fork-session-id")
		}
		return list
	}),
	"one-generation-only": manifestsRead(func(m map[string]any, nth int) {
		if nth > 1 {
			delete(m, "parent")
		}
	}),
	"parents-without-bound": parentsWithoutBound(),
	"versions-swapped": stored(&seam{open: func(ctx context.Context, next store.Store, key string) (io.ReadCloser, store.Attributes, error) {
		// Versions 4 and 5 of a session change places when they are read.
		if other := map[string]string{"FFFFFFFC.json": "FFFFFFFB.json", "FFFFFFFB.json": "FFFFFFFC.json"}[path.Base(key)]; other != "" && isSnapshotKey(key) {
			if body, attrs, err := next.Open(ctx, path.Dir(key)+"/"+other); err == nil {
				return body, attrs, nil
			}
		}
		return next.Open(ctx, key)
	}}),
	"paths-normalised": stored(&seam{open: func(ctx context.Context, next store.Store, key string) (io.ReadCloser, store.Attributes, error) {
		body, attrs, err := next.Open(ctx, key)
		if err != nil || !strings.HasPrefix(key, "refs/") {
			return body, attrs, err
		}
		text, err := io.ReadAll(body)
		body.Close()
		return io.NopCloser(strings.NewReader(normalised(string(text)))), attrs, err
	}}),
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func cut(page store.Page, most int) store.Page {
	if most > 0 && len(page.Keys) > most {
		page.Keys, page.Next = page.Keys[:most], "more"
	}
	return page
}

// allKeys reads every page of a listing.
func allKeys(ctx context.Context, next store.Store, prefix, after string) ([]string, error) {
	var keys []string
	for o := (store.ListOptions{After: after}); ; {
		page, err := next.List(ctx, prefix, o)
		if err != nil {
			return nil, err
		}
		keys = append(keys, page.Keys...)
		if page.Next == "" {
			return keys, nil
		}
		o.Token = page.Next
	}
}

// listings changes only how snapshots are listed.
func listings(list func(ctx context.Context, next store.Store, prefix string, o store.ListOptions) (store.Page, error)) Fault {
	return stored(&seam{list: func(ctx context.Context, next store.Store, prefix string, o store.ListOptions) (store.Page, error) {
		if !strings.HasSuffix(prefix, "/snapshots/") || o.Token != "" {
			return next.List(ctx, prefix, o)
		}
		return list(ctx, next, prefix, o)
	}})
}

// types respells the snapshot type wherever it is read.
func types(respell func(string) string) Fault {
	change := func(key string, attrs *store.Attributes) {
		if isSnapshotKey(key) && attrs.Metadata != nil {
			attrs.Metadata[typeKey] = respell(attrs.Metadata[typeKey])
		}
	}
	return stored(&seam{
		open: func(ctx context.Context, next store.Store, key string) (io.ReadCloser, store.Attributes, error) {
			body, attrs, err := next.Open(ctx, key)
			change(key, &attrs)
			return body, attrs, err
		},
		head: func(ctx context.Context, next store.Store, key string) (store.Attributes, error) {
			attrs, err := next.Head(ctx, key)
			change(key, &attrs)
			return attrs, err
		},
	})
}

// snapshotsRead changes the stored bytes of snapshots when they are read.
func snapshotsRead(change func(key string, raw []byte) []byte) Fault {
	return stored(&seam{open: func(ctx context.Context, next store.Store, key string) (io.ReadCloser, store.Attributes, error) {
		body, attrs, err := next.Open(ctx, key)
		if err != nil || !isSnapshotKey(key) {
			return body, attrs, err
		}
		raw, err := io.ReadAll(body)
		body.Close()
		if err != nil {
			return nil, attrs, err
		}
		raw = change(key, raw)
		attrs.Size = int64(len(raw))
		return io.NopCloser(bytes.NewReader(raw)), attrs, nil
	}})
}

// descriptorsRead changes the descriptors of snapshots when they are read.
func descriptorsRead(change func(list []map[string]any) []map[string]any) Fault {
	return snapshotsRead(func(_ string, raw []byte) []byte {
		d, _ := zstd.NewReader(nil)
		defer d.Close()
		plain, err := d.DecodeAll(raw, nil)
		if err != nil {
			return raw
		}
		plain, _ = json.Marshal(change(decodeDescriptors(plain)))
		return recompress(plain)
	})
}

func recompress(plain []byte) []byte {
	e, _ := zstd.NewWriter(nil)
	defer e.Close()
	return e.EncodeAll(plain, nil)
}

// secondFrame is the offset of a second data frame, 0 where there is none.
func secondFrame(raw []byte) int {
	magic := []byte{0x28, 0xb5, 0x2f, 0xfd}
	first := bytes.Index(raw, magic)
	if first < 0 {
		return 0
	}
	for at := first + 4; ; {
		i := bytes.Index(raw[at:], magic)
		if i < 0 {
			return 0
		}
		d, _ := zstd.NewReader(nil)
		_, err := d.DecodeAll(raw[first:at+i], nil)
		d.Close()
		if err == nil {
			return at + i
		}
		at += i + 4
	}
}

// manifestsRead changes manifests when they are read; nth counts the different
// manifests of this process, from 1.
func manifestsRead(change func(m map[string]any, nth int)) Fault {
	seen := map[string]int{}
	lock := make(chan struct{}, 1)
	return stored(&seam{open: func(ctx context.Context, next store.Store, key string) (io.ReadCloser, store.Attributes, error) {
		body, attrs, err := next.Open(ctx, key)
		if err != nil || path.Base(key) != "manifest.json" {
			return body, attrs, err
		}
		raw, err := io.ReadAll(body)
		body.Close()
		lock <- struct{}{}
		defer func() { <-lock }()
		if seen[key] == 0 {
			seen[key] = len(seen) + 1
		}
		m := map[string]any{}
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		if err != nil || d.Decode(&m) != nil {
			return io.NopCloser(bytes.NewReader(raw)), attrs, err
		}
		change(m, seen[key])
		raw, _ = json.Marshal(m)
		attrs.Size = int64(len(raw))
		return io.NopCloser(bytes.NewReader(raw)), attrs, nil
	}})
}

func number(d map[string]any) int64 {
	n, _ := d["sequence-number"].(json.Number)
	i, _ := n.Int64()
	return i
}

var pathParts = regexp.MustCompile(`^sessions/year=(\d+)/month=(\d+)/day=(\d+)/hour=(\d+)/([0-9A-F]{24})(/.*)?$`)

// normalised lets the calendar carry over what is out of range.
func normalised(text string) string {
	m := pathParts.FindStringSubmatch(text)
	if m == nil {
		return text
	}
	n := make([]int, 5)
	for i := 1; i <= 4; i++ {
		n[i], _ = strconv.Atoi(m[i])
	}
	t := time.Date(n[1], time.Month(n[2]), n[3], n[4], 0, 0, 0, time.UTC)
	return t.Format("sessions/year=2006/month=01/day=02/hour=15/") + m[5] + m[6]
}

// sessionOf rebuilds the session ID from a manifest's key.
func sessionOf(key string) string {
	m := pathParts.FindStringSubmatch(key)
	if m == nil {
		return ""
	}
	t, _ := time.Parse("2006-01-02-15", m[1]+"-"+m[2]+"-"+m[3]+"-"+m[4])
	return fmt.Sprintf("%08x%s", t.Unix()/3600, strings.ToLower(m[5]))
}
