package main

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"io"
	"path"
	"strconv"
	"strings"
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
	"one-transaction-for-ever":     transactions(func() uint64 { return 0x5eed5eed5eed5eed }),
	"transactions-from-a-clock":    transactions(func() uint64 { return uint64(time.Now().UnixNano()) }),
	"transaction-anew-per-attempt": transactionAnewPerAttempt(),
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
	"no-transaction-is-mine": stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		etag, err := w.send(ctx, next)
		if w.isSnapshot() && errors.Is(err, store.ErrExists) {
			if there, failed := next.Head(ctx, w.key); failed == nil && strings.Trim(there.Metadata[transactionKey], "0") == "" {
				return there.ETag, nil
			}
		}
		return etag, err
	}}),
	"checkpoint-moves-on": checkpointMovesOn(),
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

// transactionAnewPerAttempt repeats snapshot writes by itself, each time with
// another ID.
func transactionAnewPerAttempt() Fault {
	f := stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		for attempt := 1; ; attempt++ {
			if w.isSnapshot() {
				var id [8]byte
				_, _ = rand.Read(id[:])
				w.options.Metadata[transactionKey] = strconv.FormatUint(binary.BigEndian.Uint64(id[:]), 10)
			}
			etag, err := w.send(ctx, next)
			if err == nil || errors.Is(err, store.ErrExists) || attempt == 3 {
				return etag, err
			}
		}
	}})
	f.Environment = map[string]string{"AWS_MAX_ATTEMPTS": "1"} // the store's own retries would repeat the same bytes
	return f
}

// checkpointMovesOn takes whatever a commit of its own met for provisional.
func checkpointMovesOn() Fault {
	met, put := conflicts()
	return stored(&seam{
		put: put,
		open: func(ctx context.Context, next store.Store, key string) (io.ReadCloser, store.Attributes, error) {
			body, attrs, err := next.Open(ctx, key)
			if _, ok := met.get(key); ok && err == nil {
				attrs.Metadata[typeKey] = "provisional"
			}
			return body, attrs, err
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
