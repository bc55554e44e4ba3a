package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pugcheck/pugcheck/reference/pugmark/engine"
	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
	"github.com/pugcheck/pugcheck/reference/pugmark/stream"
	"github.com/pugcheck/pugcheck/reference/pugmark/transport"
)

// versionFaults spoil which version a session is at, and what the beginning of one
// looks like.
var versionFaults = map[string]Fault{
	"hours-rebuilt-in-local-time": identity(process, func(id *transport.Identity) {
		hour, err := strconv.ParseUint(id.Session[:8], 16, 32)
		if err != nil || os.Getenv("TZ") == "" {
			return
		}
		t := time.Unix(int64(hour)*3600, 0).UTC()
		local := time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), 0, 0, 0, zone())
		id.Session = fmt.Sprintf("%08x%s", local.Unix()/3600, id.Session[8:])
	}),
	"version-zero-is-a-file":     versionZeroIsAFile(),
	"quiet-first-run-leaves-one": quietFirstRunLeavesOne(),
	"new-sessions-are-welcomed": records(func(in []stream.Input) []stream.Input {
		last := len(in) - 1
		if last != 1 || in[last].Event != stream.EventStart {
			return in
		}
		welcome := stream.Input{Name: "welcome", ContentType: "text/plain", Data: []byte("welcome"), Size: 7}
		return []stream.Input{in[0], welcome, in[last]}
	}),
	"counts-from-zero": writes(func(w *write) {
		if w.isOwn() && versionOf(w.key) == 1 {
			w.key = path.Dir(w.key) + "/00000000.json"
			w.options.Metadata[versionKey] = "0"
		}
	}),
	"last-digit-only": listings(func(ctx context.Context, next store.Store, prefix string, o store.ListOptions) (store.Page, error) {
		page, err := next.List(ctx, prefix, o)
		if err == nil && o.Max == 1 && len(page.Keys) == 1 {
			key := page.Keys[0]
			page.Keys = []string{path.Dir(key) + "/FFFFFFF" + path.Base(key)[7:]}
		}
		return page, err
	}),
	"no-checkpoint-no-session": {Run: func(ctx context.Context, c engine.Config, id layout.SessionID) error {
		latest, err := c.Repo.Latest(ctx, id)
		if err == nil && latest > 0 {
			if _, err := c.Repo.LatestCheckpoint(ctx, id); errors.Is(err, session.ErrNoCheckpoint) {
				return fmt.Errorf("session %s: %w", id, session.ErrSessionNotFound)
			}
		}
		_, err = engine.Run(ctx, c, id)
		return err
	}},
}

// emptySnapshot is the write of a snapshot without descriptors.
func emptySnapshot(key string, version uint64) *write {
	w := &write{key: key}
	w.setDocument([]byte("[]"))
	w.options.ContentType, w.options.ContentEncoding, w.options.CacheControl = "application/json", "zstd", "max-age=31536000, immutable"
	w.options.IfAbsent = true
	w.options.Metadata = map[string]string{
		sessionKey: running, versionKey: fmt.Sprint(version), typeKey: "checkpoint", transactionKey: fmt.Sprint(time.Now().UnixNano()),
	}
	return w
}

// versionZeroIsAFile writes a file for the state of a session that has no snapshot.
func versionZeroIsAFile() Fault {
	var once sync.Once
	return stored(&seam{list: func(ctx context.Context, next store.Store, prefix string, o store.ListOptions) (store.Page, error) {
		page, err := next.List(ctx, prefix, o)
		if err == nil && len(page.Keys) == 0 && prefix == snapshotsOf(running) {
			once.Do(func() { _, err = emptySnapshot(prefix+"00000000.json", 0).send(ctx, next) })
		}
		return page, err
	}})
}

// quietFirstRunLeavesOne commits an empty array as version 1 when the handler of a
// new session had nothing to say.
func quietFirstRunLeavesOne() Fault {
	var under store.Store
	var spoke atomic.Bool
	f := output(func(whole []byte) ([]byte, error) {
		spoke.Store(len(bytes.TrimSpace(whole)) > 0)
		return whole, nil
	})
	f.Store = func(next store.Store) store.Store {
		under = next
		return next
	}
	f.Ending = func(err error) error {
		if err != nil || spoke.Load() {
			return err
		}
		prefix := snapshotsOf(running)
		page, err := under.List(context.Background(), prefix, store.ListOptions{Max: 1})
		if err == nil && len(page.Keys) == 0 {
			_, err = emptySnapshot(prefix+layout.VersionFile(1), 1).send(context.Background(), under)
		}
		return err
	}
	return f
}

// endingFaults spoil how streams and invocations end.
var endingFaults = map[string]Fault{
	"input-stays-open": {Handler: func(next transport.Handler) transport.Handler {
		if _, ok := next.(*transport.Process); !ok {
			return next
		}
		return handlerFunc(func(ctx context.Context, inv transport.Invocation) error {
			produce, consume, ended := inv.Inputs, inv.Outputs, make(chan struct{})
			inv.Inputs = func(ctx context.Context, w io.Writer) error {
				var whole bytes.Buffer
				if err := produce(ctx, &whole); err != nil {
					return err
				}
				in := decode(whole.Bytes())
				_, err := w.Write(whole.Bytes())
				if buffered, ok := w.(interface{ Flush() error }); ok && err == nil {
					err = buffered.Flush()
				}
				if len(in) > 2 || err != nil {
					return err
				}
				select { // a log without entries: nothing will ever follow, but who knows
				case <-ended:
				case <-ctx.Done():
				}
				return nil
			}
			inv.Outputs = func(ctx context.Context, r io.Reader) error {
				defer close(ended)
				return consume(ctx, r)
			}
			return next.Invoke(ctx, inv)
		})
	}},
	"blank-output-is-an-error": output(func(whole []byte) ([]byte, error) {
		if len(whole) > 0 && len(bytes.TrimSpace(whole)) == 0 {
			return nil, errors.New("unexpected end of JSON input")
		}
		return whole, nil
	}),
	"failures-are-entries": failuresAreEntries(),
}

// failuresAreEntries commits an entry that tells of a failed invocation, and
// nothing else of it.
func failuresAreEntries() Fault {
	var failure error
	return Fault{
		Handler: func(next transport.Handler) transport.Handler {
			return handlerFunc(func(ctx context.Context, inv transport.Invocation) error {
				consume := inv.Outputs
				var whole []byte
				inv.Outputs = func(_ context.Context, r io.Reader) (err error) {
					whole, err = io.ReadAll(r)
					return err
				}
				if failure = next.Invoke(ctx, inv); failure != nil {
					whole, _ = json.Marshal(map[string]any{"name": "error", "content-type": "text/plain", "data": []byte(failure.Error())})
				}
				return consume(ctx, bytes.NewReader(whole))
			})
		},
		Ending: func(err error) error { return errors.Join(failure, err) },
	}
}
