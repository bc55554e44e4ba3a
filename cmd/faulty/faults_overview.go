package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/pugcheck/pugcheck/reference/pugmark/store"
	"github.com/pugcheck/pugcheck/reference/pugmark/stream"
	"github.com/pugcheck/pugcheck/reference/pugmark/transport"
)

// overviewFaults spoil what happens in an invocation as a whole, its events, and
// what version 1 has closed.
var overviewFaults = map[string]Fault{
	"snapshot-before-rewritten": snapshotBeforeRewritten(),
	"first-version-left-out": writes(func(w *write) {
		if w.isOwn() && path.Base(w.key) == "FFFFFFFF.json" {
			w.key = path.Dir(w.key) + "/FFFFFFFE.json"
			w.options.Metadata["pugmark-snapshot-version"] = "2"
		}
	}),
	"equal-neighbours-once": records(func(in []stream.Input) []stream.Input {
		out := in[:1:1]
		for _, one := range in[1:] {
			if before := out[len(out)-1]; one.URL == "" || one.URL != before.URL || one.Name != before.Name {
				out = append(out, one)
			}
		}
		return out
	}),
	"idle-output-is-over":      idleOutputIsOver(),
	"twenty-entries-a-time":    twentyEntriesATime(),
	"unreadable-is-skipped":    unreadableIsSkipped(),
	"bodies-as-text":           replay(func(in *stream.Input) { in.Data = []byte(strings.ToValidUTF8(string(in.Data), "?")) }),
	"signals-are-success":      endingAnyhow(func(e *exec.ExitError) bool { return e.ExitCode() == -1 }),
	"failed-work-is-committed": failedWorkIsCommitted(),
	"event-elsewhere":          lifecycle(func(string) string { return "" }),
	"no-record-without-event": records(func(in []stream.Input) []stream.Input {
		if in[len(in)-1].Event == stream.EventNone {
			return in[:len(in)-1]
		}
		return in
	}),
	"new-sessions-get-no-event": lifecycle(func(event string) string { return strings.TrimPrefix(event, "start") }),
	"children-get-start":        lifecycle(func(event string) string { return strings.Replace(event, "fork", "start", 1) }),
	"wakes-get-start":           lifecycle(func(event string) string { return strings.Replace(event, "wake", "start", 1) }),
	"start-each-time": lifecycle(func(event string) string {
		if event == "" {
			return "start"
		}
		return event
	}),
	"memory-announced-at-the-start": records(func(in []stream.Input) []stream.Input {
		if in[len(in)-1].Event != stream.EventStart {
			return in[1:]
		}
		return in
	}),
	"root-of-a-wake-without-slash": records(func(in []stream.Input) []stream.Input {
		if in[len(in)-1].Event == stream.EventWake {
			in[0].URL = strings.TrimSuffix(in[0].URL, "/")
		}
		return in
	}),
	"json-embedded": fieldsOf(func(_, _ int, fields map[string]any) {
		var body []byte
		text, _ := json.Marshal(fields["data"])
		if fields["content-type"] == "application/json" && json.Unmarshal(text, &body) == nil && json.Valid(body) {
			fields["data"] = json.RawMessage(body)
		}
	}),
	"inlines-1025-bytes": fieldsOf(func(_, _ int, fields map[string]any) {
		address, _ := fields["url"].(string)
		if fmt.Sprint(fields["size"]) == "1025" {
			if res, err := http.Get(address); err == nil {
				fields["data"], _ = io.ReadAll(res.Body)
				res.Body.Close()
			}
		}
	}),
	"digest-told": fieldsOf(func(_, _ int, fields map[string]any) {
		if address, _ := fields["url"].(string); strings.Contains(address, "sha256:") {
			fields["digest"] = path.Base(address)
		}
	}),
	"sparse-output-refused": objectsOrError(func(o map[string]json.RawMessage) error {
		if len(o) == 1 {
			return errors.New("a record needs more than a body")
		}
		return nil
	}),
	"unknown-field-ends-a-fork": objects(func(o map[string]json.RawMessage) map[string]json.RawMessage {
		if o["x-later"] != nil {
			delete(o, "fork")
		}
		return o
	}),
	"greets-with-its-version": records(func(in []stream.Input) []stream.Input {
		return append([]stream.Input{{Event: "protocol", Metadata: map[string]string{"version": "1"}}}, in...)
	}),
	"pause-by-prefix": objects(func(o map[string]json.RawMessage) map[string]json.RawMessage {
		if strings.HasPrefix(string(o["content-type"]), `"application/vnd.pugmark.pause`) {
			o["content-type"] = json.RawMessage(`"application/vnd.pugmark.pause+text"`)
		}
		return o
	}),
	"control-by-prefix": descriptorsRead(func(list []map[string]any) []map[string]any {
		for _, d := range list {
			if t, _ := d["content-type"].(string); strings.HasPrefix(t, "application/vnd.pugmark.control") {
				d["content-type"] = controlType
			}
		}
		return list
	}),
}

// lifecycle changes the event that a stream ends with.
func lifecycle(change func(event string) string) Fault {
	return records(func(in []stream.Input) []stream.Input {
		in[len(in)-1].Event = change(in[len(in)-1].Event)
		return in
	})
}

// snapshotBeforeRewritten spells the previous snapshot anew when it writes one.
func snapshotBeforeRewritten() Fault {
	return stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		version := versionOf(w.key)
		if w.isOwn() && version > 1 {
			before := &write{key: fmt.Sprintf("%s/%08X.json", path.Dir(w.key), ^uint32(version-2))}
			body, attrs, err := next.Open(ctx, before.key)
			if err != nil {
				return "", err
			}
			before.body, _ = io.ReadAll(body)
			body.Close()
			before.options.Attributes = attrs
			before.setDocument(append([]byte("\n"), before.document()...))
			if _, err := before.send(ctx, next); err != nil {
				return "", err
			}
		}
		return w.send(ctx, next)
	}})
}

// idleOutputIsOver takes a second's silence for the end of the output.
func idleOutputIsOver() Fault {
	return Fault{Handler: func(next transport.Handler) transport.Handler {
		return handlerFunc(func(ctx context.Context, inv transport.Invocation) error {
			consume := inv.Outputs
			inv.Outputs = func(ctx context.Context, r io.Reader) error {
				pieces, sent := make(chan []byte), make(chan struct{})
				go func() {
					defer close(pieces)
					for {
						piece := make([]byte, 64<<10)
						n, err := r.Read(piece)
						if n > 0 {
							pieces <- piece[:n]
						}
						if err != nil {
							return
						}
					}
				}()
				var whole bytes.Buffer
				go func() {
					defer close(sent)
					for over := false; ; {
						var idle <-chan time.Time
						if whole.Len() > 0 {
							idle = time.After(time.Second)
						}
						select {
						case piece, ok := <-pieces:
							if !ok {
								return
							}
							if !over {
								whole.Write(piece)
							}
						case <-idle:
							over = true
						}
					}
				}()
				<-sent
				return consume(ctx, &whole)
			}
			return next.Invoke(ctx, inv)
		})
	}}
}

// twentyEntriesATime commits what is more than twenty entries in several snapshots.
func twentyEntriesATime() Fault {
	return stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		list := w.descriptors()
		for w.isOwn() && len(list) > 20 {
			part := *w
			part.setDescriptors(list[:20])
			if etag, err := part.send(ctx, next); err != nil {
				return etag, err
			}
			list = list[20:]
			version := versionOf(w.key) + 1
			w.key = fmt.Sprintf("%s/%08X.json", path.Dir(w.key), ^uint32(version-1))
			w.options.Metadata["pugmark-snapshot-version"] = fmt.Sprint(version)
			w.setDescriptors(list)
		}
		return w.send(ctx, next)
	}})
}

// unreadableIsSkipped takes a snapshot that cannot be read for an empty one.
func unreadableIsSkipped() Fault {
	return stored(&seam{open: func(ctx context.Context, next store.Store, key string) (io.ReadCloser, store.Attributes, error) {
		body, attrs, err := next.Open(ctx, key)
		if !isSnapshotKey(key) || errors.Is(err, store.ErrNotFound) {
			return body, attrs, err
		}
		empty := recompress([]byte("[]"))
		var raw []byte
		if err == nil {
			raw, err = io.ReadAll(body)
			body.Close()
		}
		d, _ := zstd.NewReader(nil)
		defer d.Close()
		if _, broken := d.DecodeAll(raw, nil); err != nil || broken != nil {
			raw = empty
			attrs.ContentEncoding = "zstd"
		}
		attrs.Size = int64(len(raw))
		return io.NopCloser(bytes.NewReader(raw)), attrs, nil
	}})
}

// endingAnyhow takes some failed ends of processes for success.
func endingAnyhow(applies func(*exec.ExitError) bool) Fault {
	return Fault{Handler: func(next transport.Handler) transport.Handler {
		return handlerFunc(func(ctx context.Context, inv transport.Invocation) error {
			err := next.Invoke(ctx, inv)
			var status *exec.ExitError
			if errors.As(err, &status) && applies(status) {
				return nil
			}
			return err
		})
	}}
}

// failedWorkIsCommitted looks at the status of a handler after the commit only.
func failedWorkIsCommitted() Fault {
	failed := false
	f := endingAnyhow(func(*exec.ExitError) bool {
		failed = true
		return true
	})
	f.Ending = func(err error) error {
		if err == nil && failed {
			return errors.New("the handler failed")
		}
		return err
	}
	return f
}
