package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/pugcheck/pugcheck/reference/pugmark/stream"
)

// inputFaults spoil the form of the input stream and the fields of its records.
var inputFaults = map[string]Fault{
	"records-in-an-array": input(func(whole []byte) []byte {
		list := bytes.ReplaceAll(bytes.TrimSpace(whole), []byte("\n"), []byte(","))
		return append(append([]byte("["), list...), "]\n"...)
	}),
	"byte-order-mark": input(func(whole []byte) []byte { return append([]byte("\xef\xbb\xbf"), whole...) }),
	"log-line-between": lines(func(i, n int, line []byte) []byte {
		if i == 1 {
			line = append([]byte("INFO sending log\n"), line...)
		}
		return append(line, '\n')
	}),
	"no-line-feeds": lines(func(_, _ int, line []byte) []byte { return append(line, ' ') }),
	"empty-fields-spelled-out": fieldsOf(func(_, _ int, fields map[string]any) {
		for _, k := range []string{"name", "content-encoding", "schema-url"} {
			if fields[k] == nil {
				fields[k] = ""
			}
		}
	}),
	"url-safe-base64":  data(base64.URLEncoding.EncodeToString),
	"wrapped-base64":   data(func(b []byte) string { return wrapped(base64.StdEncoding.EncodeToString(b)) }),
	"data-as-text":     data(func(b []byte) string { return string(b) }),
	"large-record-cut": fieldsOfLarge(),

	"size-as-string": fieldsOf(func(_, _ int, fields map[string]any) {
		if n, ok := fields["size"].(json.Number); ok {
			fields["size"] = n.String()
		}
	}),
	"replay-event": replay(func(in *stream.Input) {
		if in.Event == "" {
			in.Event = "replay"
		}
	}),
	"latest-url": records(func(in []stream.Input) []stream.Input {
		if len(in) > 2 {
			for i := 1; i < len(in)-1; i++ {
				in[i].URL = in[len(in)-2].URL
			}
		}
		return in
	}),
	"size-of-base64":      replay(func(in *stream.Input) { in.Size = (in.Size + 2) / 3 * 4 }),
	"type-without-params": replay(func(in *stream.Input) { in.ContentType, _, _ = strings.Cut(in.ContentType, ";") }),
	"encoding-dropped":    replay(func(in *stream.Input) { in.ContentEncoding = "" }),
	"schema-dropped":      replay(func(in *stream.Input) { in.SchemaURL = "" }),
	"name-basename": replay(func(in *stream.Input) {
		if in.Name != "" {
			in.Name = path.Base(in.Name)
		}
	}),
	"metadata-lower-case": replay(func(in *stream.Input) {
		lower := map[string]string{}
		for k, v := range in.Metadata {
			lower[strings.ToLower(k)] = v
		}
		in.Metadata = lower
	}),
	"small-bodies-unreachable": replay(func(in *stream.Input) {
		if in.Size > 0 && in.Size <= stream.InlineLimit && len(in.Data) == 0 {
			in.URL = ""
		}
	}),
	"ascii-only": replay(func(in *stream.Input) {
		in.Name = strings.Map(func(r rune) rune {
			if r > 127 {
				return '?'
			}
			return r
		}, in.Name)
	}),
}

// data respells the data field of every record.
func data(spell func([]byte) string) Fault {
	return fieldsOf(func(_, _ int, fields map[string]any) {
		if text, ok := fields["data"].(string); ok {
			if b, err := base64.StdEncoding.DecodeString(text); err == nil {
				fields["data"] = spell(b)
			}
		}
	})
}

func wrapped(s string) string {
	var b strings.Builder
	for len(s) > 76 {
		b.WriteString(s[:76] + "\r\n")
		s = s[76:]
	}
	return b.String() + s
}

// fieldsOfLarge sends a long record as two objects, the second with the rest of
// the fields.
func fieldsOfLarge() Fault {
	return lines(func(_, _ int, line []byte) []byte {
		if len(line) < 64<<10 {
			return append(line, '\n')
		}
		fields, rest := map[string]json.RawMessage{}, map[string]json.RawMessage{}
		_ = json.Unmarshal(line, &fields)
		if m, ok := fields["metadata"]; ok {
			rest["metadata"] = m
			delete(fields, "metadata")
		}
		one, _ := json.Marshal(fields)
		two, _ := json.Marshal(rest)
		return append(append(append(one, '\n'), two...), '\n')
	})
}

// replayFaults spoil which records there are, and in which order.
var replayFaults = map[string]Fault{
	"two-memory-records": records(func(in []stream.Input) []stream.Input {
		return append([]stream.Input{in[0], in[0]}, in[1:]...)
	}),
	"memory-root-without-slash": records(func(in []stream.Input) []stream.Input {
		in[0].URL = strings.TrimSuffix(in[0].URL, "/")
		return in
	}),
	"memory-root-of-objects": records(func(in []stream.Input) []stream.Input {
		in[0].URL = strings.TrimSuffix(in[0].URL, "memories/")
		return in
	}),
	"memory-record-late": records(func(in []stream.Input) []stream.Input {
		last := len(in) - 1
		out := append([]stream.Input{}, in[1:last]...)
		return append(out, in[0], in[last])
	}),
	"equal-objects-once": records(func(in []stream.Input) []stream.Input {
		seen := map[string]bool{}
		out := []stream.Input{in[0]}
		for _, one := range in[1 : len(in)-1] {
			if key := one.URL + one.Name; !seen[key] {
				seen[key] = true
				out = append(out, one)
			}
		}
		return append(out, in[len(in)-1])
	}),
	"newest-first": records(func(in []stream.Input) []stream.Input {
		for i, j := 1, len(in)-2; i < j; i, j = i+1, j-1 {
			in[i], in[j] = in[j], in[i]
		}
		return in
	}),
	"first-page-only": records(func(in []stream.Input) []stream.Input {
		if len(in) > 102 {
			in = append(in[:101], in[len(in)-1])
		}
		return in
	}),
	"two-lifecycle-records": records(func(in []stream.Input) []stream.Input {
		return append(in, stream.Input{Event: "start"})
	}),
	"lifecycle-with-metadata": records(func(in []stream.Input) []stream.Input {
		in[len(in)-1].Metadata = map[string]string{"version": "1"}
		return in
	}),
	"object-after-lifecycle": records(func(in []stream.Input) []stream.Input {
		if len(in) < 3 {
			return in
		}
		last := len(in) - 1
		in[last-1], in[last] = in[last], in[last-1]
		return in
	}),
	"last-one-tagged": records(func(in []stream.Input) []stream.Input {
		for i := 1; i < len(in)-2 && !woken(in); i++ {
			in[i].Event = ""
		}
		return in
	}),
	"all-tagged": records(func(in []stream.Input) []stream.Input {
		for i := 1; i < len(in)-1 && !woken(in); i++ {
			in[i].Event = stream.EventPush
		}
		return in
	}),
	"never-wake":            wakes(func(pushed bool) bool { return pushed }),
	"sleepers-get-no-event": wakes(func(pushed bool) bool { return !pushed }),
}

func woken(in []stream.Input) bool { return in[len(in)-1].Event == stream.EventWake }

func pushed(in []stream.Input) bool {
	return slices.ContainsFunc(in, func(one stream.Input) bool { return one.Event == stream.EventPush })
}

// wakes takes the wake event away where the rule says so, by whether there are
// pushed entries.
func wakes(rule func(pushed bool) bool) Fault {
	return records(func(in []stream.Input) []stream.Input {
		if woken(in) && rule(pushed(in)) {
			in[len(in)-1].Event = ""
		}
		return in
	})
}
