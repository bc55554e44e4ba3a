package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"

	"github.com/pugcheck/pugcheck/reference/pugmark/store"
	"github.com/pugcheck/pugcheck/reference/pugmark/transport"
)

// writerFaults spoil how several writers get along.
var writerFaults = map[string]Fault{
	"invokes-before-the-commit": {Handler: func(next transport.Handler) transport.Handler {
		return handlerFunc(func(ctx context.Context, inv transport.Invocation) error {
			if err := next.Invoke(ctx, inv); err != nil {
				return err
			}
			again := inv
			again.Outputs = func(_ context.Context, r io.Reader) error {
				_, err := io.Copy(io.Discard, r)
				return err
			}
			return next.Invoke(ctx, again)
		})
	}},
	"ref-not-looked-at": stored(&seam{open: func(ctx context.Context, next store.Store, key string) (io.ReadCloser, store.Attributes, error) {
		body, attrs, err := next.Open(ctx, key)
		if err == nil && strings.HasPrefix(key, "refs/sessions/") {
			body.Close()
			body = io.NopCloser(strings.NewReader(dirOf(running) + "/manifest.json"))
		}
		return body, attrs, err
	}}),
	"a-lock-for-each-session": locked(),
	"every-conflict-is-mine":  refused((*write).isOwn, func(context.Context, store.Store, *write) (string, error) { return "", nil }),
	"delivers-twice": stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		etag, err := w.send(ctx, next)
		if err == nil && w.isDelivery() {
			list := w.descriptors()
			shift := number(list[len(list)-1]) - number(list[0]) + 1
			for _, d := range list {
				d["sequence-number"] = number(d) + shift
			}
			_, err = w.above(list).send(ctx, next)
			if errors.Is(err, store.ErrExists) {
				err = nil
			}
		}
		return etag, err
	}}),
	"loser-panics":        refused((*write).isOwn, func(context.Context, store.Store, *write) (string, error) { panic("unhandled conflict") }),
	"second-sender-fails": givesUp((*write).isDelivery),
	"senders-share-a-snapshot": refused((*write).isDelivery, func(ctx context.Context, next store.Store, w *write) (string, error) {
		raw, err := fetch(ctx, next, w.key)
		if err != nil {
			return "", err
		}
		there := (&write{body: raw}).descriptors()
		list := w.descriptors()
		for i, d := range list {
			d["sequence-number"] = number(there[len(there)-1]) + int64(i) + 1
		}
		w.setDescriptors(append(there, list...))
		w.options.IfAbsent = false
		return w.send(ctx, next)
	}),
	"conflict-not-looked-at": conflictNotLookedAt(),
}

// locked takes a lock object before a session is read, and gives it back at the
// end.
func locked() Fault {
	var once sync.Once
	var held store.Store
	failure := error(nil)
	f := stored(&seam{list: func(ctx context.Context, next store.Store, prefix string, o store.ListOptions) (store.Page, error) {
		once.Do(func() {
			lock := &write{key: "locks/" + running, options: store.PutOptions{IfAbsent: true}}
			if _, err := lock.send(ctx, next); err != nil {
				failure = errors.New("the session is locked")
				return
			}
			held = next
		})
		if failure != nil {
			return store.Page{}, failure
		}
		return next.List(ctx, prefix, o)
	}})
	f.Ending = func(err error) error {
		if held != nil {
			err = errors.Join(err, held.Delete(context.Background(), "locks/"+running, store.DeleteOptions{}))
		}
		return err
	}
	return f
}

// conflictNotLookedAt goes by listings alone: what a write met and no listing has
// shown does not exist.
func conflictNotLookedAt() Fault {
	met, put := conflicts()
	return stored(&seam{
		put: put,
		open: func(ctx context.Context, next store.Store, key string) (io.ReadCloser, store.Attributes, error) {
			if _, ok := met.get(key); ok && isSnapshotKey(key) {
				return nil, store.Attributes{}, store.ErrNotFound
			}
			return next.Open(ctx, key)
		},
	})
}
