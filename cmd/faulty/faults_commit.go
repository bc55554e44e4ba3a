package main

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"path"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// random is the secure source, as an io.Reader value.
type random struct{}

func (random) Read(p []byte) (int, error) { return rand.Read(p) }

var _ io.Reader = random{}

// commitFaults spoil transaction IDs and the settling of conflicts.
var commitFaults = map[string]Fault{
	"one-transaction-for-ever":  transactions(func() uint64 { return 0x5eed5eed5eed5eed }),
	"transactions-from-a-clock": transactions(func() uint64 { return uint64(time.Now().Unix()) << 8 }),
	"transaction-anew-per-attempt": func() Fault {
		var n atomic.Uint64
		return snapshots(func(w *write) {
			w.options.Metadata[transactionKey] = strconv.FormatUint(uint64(time.Now().UnixNano())+n.Add(1), 10)
		})
	}(),
	"any-conflict-is-success": stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		etag, err := w.send(ctx, next)
		if w.isSnapshot() && errors.Is(err, store.ErrExists) {
			return "", nil
		}
		return etag, err
	}}),
	"own-attempt-not-recognised": stored(&seam{
		open: func(ctx context.Context, next store.Store, key string) (io.ReadCloser, store.Attributes, error) {
			body, attrs, err := next.Open(ctx, key)
			hideTransaction(key, &attrs)
			return body, attrs, err
		},
		head: func(ctx context.Context, next store.Store, key string) (store.Attributes, error) {
			attrs, err := next.Head(ctx, key)
			hideTransaction(key, &attrs)
			return attrs, err
		},
	}),
	"no-transaction-is-mine": noTransactionIsMine(),
	"checkpoint-moves-on":    types(func(string) string { return "provisional" }),
}

func hideTransaction(key string, attrs *store.Attributes) {
	if isSnapshotKey(key) {
		delete(attrs.Metadata, transactionKey)
	}
}

func transactions(next func() uint64) Fault {
	return Fault{Identifiers: func(o *session.Options) {
		o.NewTransaction = func() (uint64, error) { return next(), nil }
	}}
}

// noTransactionIsMine takes a missing or zero ID on a stored snapshot for the ID
// of the snapshot that was last sent.
func noTransactionIsMine() Fault {
	var mine atomic.Value
	mine.Store("")
	fill := func(key string, attrs *store.Attributes) {
		if id := mine.Load().(string); isSnapshotKey(key) && id != "" && attrs.Metadata != nil {
			if have := attrs.Metadata[transactionKey]; have == "" || have == "0" {
				attrs.Metadata[transactionKey] = id
			}
		}
	}
	return stored(&seam{
		put: func(ctx context.Context, next store.Store, w *write) (string, error) {
			if w.isSnapshot() {
				mine.Store(w.options.Metadata[transactionKey])
			}
			return w.send(ctx, next)
		},
		open: func(ctx context.Context, next store.Store, key string) (io.ReadCloser, store.Attributes, error) {
			body, attrs, err := next.Open(ctx, key)
			fill(key, &attrs)
			return body, attrs, err
		},
		head: func(ctx context.Context, next store.Store, key string) (store.Attributes, error) {
			attrs, err := next.Head(ctx, key)
			fill(key, &attrs)
			return attrs, err
		},
	})
}

// snapshotsOf is the prefix of a session's snapshots.
func snapshotsOf(text string) string {
	id, err := layout.ParseSessionID(text)
	if err != nil {
		return ""
	}
	dir, err := id.Path()
	if err != nil {
		return ""
	}
	return dir.Snapshots()
}

// versionOf is the version in a snapshot's key.
func versionOf(key string) uint64 {
	n, _ := strconv.ParseUint(strings.TrimSuffix(path.Base(key), ".json"), 16, 32)
	return uint64(^uint32(n)) + 1
}
