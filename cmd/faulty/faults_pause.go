package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pugcheck/pugcheck/reference/pugmark/engine"
)

const pauseType = `"application/vnd.pugmark.pause+text"`

// pauseFaults spoil pausing, sleeping and waking.
var pauseFaults = map[string]Fault{
	"sleeps-are-skipped": {Engine: func(c *engine.Config) { c.Clock = &hasty{} }},
	"over-long-sleep-refused": objectsOrError(func(o map[string]json.RawMessage) error {
		if d, err := time.ParseDuration(durationOf(o)); err == nil && d > 10*time.Minute {
			return errors.New("duration: more than 10 minutes")
		}
		return nil
	}),
	"micro-sign-refused": objectsOrError(func(o map[string]json.RawMessage) error {
		if strings.Contains(durationOf(o), "µ") {
			return errors.New("duration: unknown unit")
		}
		return nil
	}),
	"malformed-duration-ignored": list(func(all []map[string]json.RawMessage) []map[string]json.RawMessage {
		for _, o := range all {
			if d := durationOf(o); d != "" && isPause(o) {
				if _, err := time.ParseDuration(d); err != nil || strings.HasPrefix(d, "-") {
					delete(o, "metadata")
				}
			}
		}
		return all
	}),
	"reason-dropped": list(func(all []map[string]json.RawMessage) []map[string]json.RawMessage {
		for _, o := range all {
			if isPause(o) && pauses(all) == 1 {
				delete(o, "data")
			}
		}
		return all
	}),
	"pause-forgotten": list(func(all []map[string]json.RawMessage) []map[string]json.RawMessage {
		if last := len(all) - 1; pauses(all) == 1 && !isPause(all[last]) {
			return slices.DeleteFunc(all, isPause)
		}
		return all
	}),
	"pause-ends-the-stream": list(func(all []map[string]json.RawMessage) []map[string]json.RawMessage {
		paused, out := false, all[:0:0]
		for _, o := range all {
			paused = paused || isPause(o)
			if !paused || isPause(o) {
				out = append(out, o)
			}
		}
		return out
	}),
	"first-pause-counts": list(func(all []map[string]json.RawMessage) []map[string]json.RawMessage {
		paused, out := false, all[:0:0]
		for _, o := range all {
			if !isPause(o) || !paused {
				out = append(out, o)
			}
			paused = paused || isPause(o)
		}
		return out
	}),
	"any-fork-stops": list(func(all []map[string]json.RawMessage) []map[string]json.RawMessage {
		for _, o := range all {
			if string(o["fork"]) == "true" && pauses(all) == 0 {
				return append(all, map[string]json.RawMessage{"content-type": json.RawMessage(pauseType)})
			}
		}
		return all
	}),
	"producers-stop": list(func(all []map[string]json.RawMessage) []map[string]json.RawMessage {
		for _, o := range all {
			if len(o["session"]) < 34 || string(o["fork"]) == "true" {
				return all
			}
		}
		if len(all) == 0 {
			return all
		}
		return append(all, map[string]json.RawMessage{"content-type": json.RawMessage(pauseType)})
	}),
	"fork-runs-go-on": snapshots(func(w *write) {
		all := w.descriptors()
		last := len(all) - 1
		if last < 1 || kind(all[last]) != 2 || hasReason(all[last]) {
			return
		}
		for _, d := range all[:last] {
			if kind(d) != 1 {
				return
			}
		}
		w.setDescriptors(all[:last])
	}),
}

// hasReason tells whether a control message has a reason, as that of a pause
// which the handler asked for.
func hasReason(d map[string]any) bool {
	text, _ := d["data"].(string)
	body, err := base64.StdEncoding.DecodeString(text)
	return err == nil && bytes.Contains(body, []byte(`"reason"`))
}

func pauses(all []map[string]json.RawMessage) int {
	n := 0
	for _, o := range all {
		if isPause(o) {
			n++
		}
	}
	return n
}

func isPause(o map[string]json.RawMessage) bool { return string(o["content-type"]) == pauseType }

func durationOf(o map[string]json.RawMessage) string {
	m := map[string]string{}
	_ = json.Unmarshal(o["metadata"], &m)
	return m["duration"]
}

// list rewrites the handler's output as a list of JSON objects.
func list(rewrite func([]map[string]json.RawMessage) []map[string]json.RawMessage) Fault {
	return output(func(whole []byte) ([]byte, error) {
		var all []map[string]json.RawMessage
		for d := json.NewDecoder(bytes.NewReader(whole)); ; {
			o := map[string]json.RawMessage{}
			if err := d.Decode(&o); err == io.EOF {
				break
			} else if err != nil {
				return whole, nil // the runtime itself says what is wrong
			}
			all = append(all, o)
		}
		var out []byte
		for _, o := range rewrite(all) {
			line, _ := json.Marshal(o)
			out = append(append(out, line...), '\n')
		}
		return out, nil
	})
}

// hasty is a clock that goes ahead instead of waiting.
type hasty struct{ ahead atomic.Int64 }

func (h *hasty) Now() time.Time { return time.Now().Add(time.Duration(h.ahead.Load())) }

func (h *hasty) Wait(_ context.Context, t time.Time) error {
	h.ahead.Store(int64(time.Until(t)))
	return nil
}
