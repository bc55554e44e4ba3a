package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync/atomic"
	"unicode/utf16"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
	"github.com/pugcheck/pugcheck/reference/pugmark/stream"
	"github.com/pugcheck/pugcheck/reference/pugmark/transport"
)

// streamVariants give handlers the same log in other records.
var streamVariants = map[string]Fault{
	"urls-only": replay(func(in *stream.Input) { in.Data = nil }),
	"data-without-url": replay(func(in *stream.Input) {
		if len(in.Data) > 0 {
			in.URL = ""
		}
	}),
	"small-bodies-always-inline": stored(&seam{open: inlined}),
	"records-in-other-words": lines(func(_, _ int, line []byte) []byte {
		return append(bytes.TrimSpace(inOtherWords(line)), '\n')
	}),
	"further-fields-on-the-wire": fieldsOf(func(_, _ int, fields map[string]any) {
		fields["x-position"], fields["x-hints"] = 1, map[string]any{"read": []any{1, nil}, "by": "x"}
	}),
	"byte-by-byte":           dripping,
	"push-on-the-last-delta": pushOnLastDelta,
	"own-old-forks-shown":    ownOldForks,
}

// inlined reads snapshots with the bodies of at most 1024 bytes in their
// descriptors, whether or not they were written so.
func inlined(ctx context.Context, next store.Store, key string) (io.ReadCloser, store.Attributes, error) {
	if !isSnapshotKey(key) {
		return next.Open(ctx, key)
	}
	return reread(ctx, next, key, func(d map[string]any) bool {
		digest, _ := d["digest"].(string)
		size, _ := d["size"].(json.Number)
		if n, err := size.Int64(); err != nil || n == 0 || n > stream.InlineLimit || d["data"] != nil || d["deleted"] == true {
			return false
		}
		blob, err := fetch(ctx, next, "objects/"+digest)
		if err != nil || len(blob) > stream.InlineLimit {
			return false
		}
		d["data"] = blob
		return true
	})
}

// reread opens a snapshot in zstd with its descriptors as change leaves them, which
// says whether it did anything.
func reread(ctx context.Context, next store.Store, key string, change func(d map[string]any) bool) (io.ReadCloser, store.Attributes, error) {
	body, attrs, err := next.Open(ctx, key)
	if err != nil || attrs.ContentEncoding != "zstd" {
		return body, attrs, err
	}
	raw, err := io.ReadAll(body)
	body.Close()
	if err != nil {
		return nil, attrs, err
	}
	w := write{body: raw}
	list, changed := w.descriptors(), false
	for _, d := range list {
		changed = change(d) || changed
	}
	if changed {
		w.setDescriptors(list)
	}
	attrs.Size = int64(len(w.body))
	return io.NopCloser(bytes.NewReader(w.body)), attrs, nil
}

// dripping sends the first bytes of a stream one by one, and the rest in small
// pieces, each as soon as it is there. A stream that goes into one request as a
// whole is cut only as the network cuts it.
var dripping = Fault{Handler: func(next transport.Handler) transport.Handler {
	return handlerFunc(func(ctx context.Context, inv transport.Invocation) error {
		produce := inv.Inputs
		inv.Inputs = func(ctx context.Context, w io.Writer) error { return produce(ctx, &drip{w: w}) }
		return next.Invoke(ctx, inv)
	})
}}

type drip struct {
	w    io.Writer
	sent int
}

func (d *drip) Write(p []byte) (int, error) {
	const single, piece = 4096, 777
	for done := 0; done < len(p); {
		n := 1
		if d.sent >= single {
			n = min(piece, len(p)-done)
		}
		if _, err := d.w.Write(p[done : done+n]); err != nil {
			return done, err
		}
		if f, ok := d.w.(interface{ Flush() error }); ok {
			if err := f.Flush(); err != nil {
				return done, err
			}
		}
		done, d.sent = done+n, d.sent+n
	}
	return len(p), nil
}

// pushOnLastDelta tags the objects of the last snapshot alone where nothing has
// stopped, whatever came between the last run and it.
var pushOnLastDelta = func() Fault {
	var bucket store.Store
	return Fault{
		Store: func(next store.Store) store.Store {
			bucket = next
			return next
		},
		Handler: func(next transport.Handler) transport.Handler {
			return handlerFunc(func(ctx context.Context, inv transport.Invocation) error {
				version := inv.Identity.Version
				return records(func(in []stream.Input) []stream.Input {
					if event := in[len(in)-1].Event; version == 0 || event != stream.EventNone && event != stream.EventStart {
						return in
					}
					fresh := visibleIn(ctx, bucket, version)
					for i := 1; i < len(in)-1-fresh; i++ {
						in[i].Event = stream.EventNone
					}
					return in
				}).Handler(next).Invoke(ctx, inv)
			})
		},
	}
}()

// visibleIn counts the descriptors of one of the session's own snapshots that a
// handler is shown.
func visibleIn(ctx context.Context, bucket store.Store, version uint32) int {
	raw, err := fetch(ctx, bucket, snapshotsOf(running)+layout.VersionFile(version))
	if err != nil {
		return 0
	}
	n := 0
	for _, d := range (&write{body: raw}).descriptors() {
		if d["fork"] != true && d["content-type"] != controlType {
			n++
		}
	}
	return n
}

func utf16Of(r rune) []uint16 { return utf16.AppendRune(nil, r) }

// ownOldForks reads the session's own fork records as plain entries once a later
// checkpoint lies above them, when they have long been carried out.
var ownOldForks = func() Fault {
	var checkpoint atomic.Uint64
	return stored(&seam{
		list: func(ctx context.Context, next store.Store, prefix string, o store.ListOptions) (store.Page, error) {
			page, err := next.List(ctx, prefix, o)
			if err != nil || len(page.Keys) == 0 || running == "" || prefix != snapshotsOf(running) {
				return page, err
			}
			for version := versionOf(page.Keys[0]); version > 0; version-- {
				attrs, err := next.Head(ctx, prefix+layout.VersionFile(uint32(version)))
				if err == nil && session.SnapshotType(attrs.Metadata["pugmark-snapshot-type"]).IsCheckpoint() {
					checkpoint.Store(version)
					break
				}
			}
			return page, nil
		},
		open: func(ctx context.Context, next store.Store, key string) (io.ReadCloser, store.Attributes, error) {
			own := running != "" && strings.HasPrefix(key, snapshotsOf(running))
			if !own || versionOf(key) >= checkpoint.Load() {
				return next.Open(ctx, key)
			}
			return reread(ctx, next, key, func(d map[string]any) bool {
				if d["fork"] != true && d["fork-session-id"] == nil {
					return false
				}
				delete(d, "fork")
				delete(d, "fork-session-id")
				delete(d, "target-session")
				return true
			})
		},
	})
}()
