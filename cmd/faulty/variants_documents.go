package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// documentVariants leave fields out of what is stored, add some, or give others
// values that are as good.
var documentVariants = map[string]Fault{
	"bodies-in-blobs-only": recordsWritten(func(_ *write, d map[string]any) { delete(d, "data") }),
	"further-fields-at-rest": both(recordsWritten(func(w *write, d map[string]any) {
		d["x-origin"] = map[string]any{"host": "a", "tags": []any{1, nil, true}}
		d["cache-control"] = "max-age=31536000, immutable"
		if commit, ok := d["commit"].(map[string]any); ok {
			commit["x-attempt"], d["sequence-number"] = 1, 7
		}
	}), both(manifestFields(func(m map[string]any) {
		m["x-labels"] = map[string]any{"a": 1, "b": []any{nil}}
		m["created-by"] = "somebody"
	}), writes(func(w *write) {
		if w.isSnapshot() || w.isMemory() {
			w.options.Metadata["schema"] = "https://example.org/descriptors/1"
		}
	}))),
	"zeros-spelled-out": both(recordsWritten(func(w *write, d map[string]any) {
		for name, zero := range map[string]any{"name": "", "content-type": "", "content-encoding": "", "schema-url": "",
			"metadata": map[string]any{}, "fork": false, "deleted": false, "source-version": 0,
			"target-session": strings.Repeat("0", 32), "source-session": strings.Repeat("0", 32)} {
			if _, given := d[name]; !given {
				d[name] = zero
			}
		}
	}), manifestFields(func(m map[string]any) {
		for name, zero := range map[string]any{"name": "", "agent": "", "handler": "", "metadata": map[string]any{}, "parent": nil} {
			if _, given := m[name]; !given {
				m[name] = zero
			}
		}
	})),
	"times-of-another-zone": both(recordsWritten(func(_ *write, d map[string]any) {
		text, _ := d["created-at"].(string)
		if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
			d["created-at"] = at.In(aside).Format(time.RFC3339)
		}
	}), controls(func(m map[string]any) {
		text, _ := m["start-at"].(string)
		if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
			m["start-at"] = at.In(aside).Format("2006-01-02T15:04:05.000000000Z07:00")
		}
	})),
	"tombstones-of-zeros":         tombstones(func(d map[string]any) { d["digest"] = "sha256:" + strings.Repeat("0", 64) }),
	"tombstones-of-an-empty-text": tombstones(func(d map[string]any) { d["digest"] = "" }),
	"tombstones-of-a-body": stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		if w.isSnapshot() {
			list, found := w.descriptors(), false
			for _, d := range list {
				if d["deleted"] == true {
					d["digest"], found = digestOf(nil), true
				}
			}
			if found {
				if err := putBlob(ctx, next, nil, "application/octet-stream"); err != nil {
					return "", err
				}
				w.setDescriptors(list)
			}
		}
		return w.send(ctx, next)
	}}),
	"numbered-from-zero":       firstNumber(nil),
	"numbered-from-a-thousand": firstNumber(json.Number("1000")),
	"numbered-from-below-zero": firstNumber(json.Number("-5")),
}

// aside is a zone that is not the machine's.
var aside = time.FixedZone("", 5*3600+1800)

// recordsWritten changes the records of snapshots and memory files as they are written,
// those of memory only where this process made them.
func recordsWritten(change func(w *write, d map[string]any)) Fault {
	return writes(func(w *write) {
		if !w.isSnapshot() && !w.isMemory() {
			return
		}
		list := w.descriptors()
		last := ""
		if n := len(list); n > 0 {
			last = commitOf(list[n-1])
		}
		for _, d := range list {
			if commitOf(d) == last {
				change(w, d)
			}
		}
		w.setDescriptors(list)
	})
}

// commitOf is the commit envelope of a memory record, "" for any other.
func commitOf(d map[string]any) string {
	if d["commit"] == nil {
		return ""
	}
	text, _ := json.Marshal(d["commit"])
	return string(text)
}

// manifestFields changes manifests as they are written.
func manifestFields(change func(m map[string]any)) Fault {
	return writes(func(w *write) {
		if w.isManifest() {
			m := object(w.body)
			change(m)
			w.body, _ = json.Marshal(m)
			w.options.SHA256 = nil
		}
	})
}

func tombstones(change func(d map[string]any)) Fault {
	return recordsWritten(func(_ *write, d map[string]any) {
		if d["deleted"] == true {
			change(d)
		}
	})
}

// firstNumber gives root sessions another first sequence number; nil leaves the
// field out.
func firstNumber(n any) Fault {
	return manifestFields(func(m map[string]any) {
		if m["parent"] != nil {
			return
		}
		if m["first-sequence-number"] = n; n == nil {
			delete(m, "first-sequence-number")
		}
	})
}

// spellingVariants write the same values in other bytes.
var spellingVariants = map[string]Fault{
	"documents-in-other-words": both(controlsInOtherWords, writes(func(w *write) {
		switch {
		case w.isManifest():
			w.body, w.options.SHA256 = inOtherWords(w.body), nil
		case w.isSnapshot(), w.isMemory():
			w.setDocument(inOtherWords(w.document()))
		}
	})),
	"zstd-in-several-frames": writes(func(w *write) {
		if w.isSnapshot() || w.isMemory() {
			w.body = inFrames(w.document())
		}
	}),
	"types-with-a-charset": writes(func(w *write) {
		if w.isSnapshot() || w.isMemory() || w.isManifest() {
			w.options.ContentType = "application/json; charset=utf-8"
		}
	}),
	"other-cache-control": writes(func(w *write) {
		switch {
		case w.isBlob():
			w.options.CacheControl = "public, immutable, max-age=63072000"
		case w.isRef():
			w.options.CacheControl = "no-cache, private"
		default:
			w.options.CacheControl = "public, max-age=2592000, immutable"
		}
	}),
	"transactions-in-hex": writes(func(w *write) {
		const key = "pugmark-transaction-id"
		if n, err := strconv.ParseUint(w.options.Metadata[key], 10, 64); err == nil {
			w.options.Metadata[key] = hex16(n)
		}
	}),
}

// controlsInOtherWords rewrites control messages, which are blobs of their own.
var controlsInOtherWords = stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
	if w.isSnapshot() {
		list := w.descriptors()
		for _, d := range list {
			if d["content-type"] != controlType {
				continue
			}
			body := inOtherWords(bodyOf(d))
			if err := putBlob(ctx, next, body, controlType); err != nil {
				return "", err
			}
			setBody(d, body)
		}
		w.setDescriptors(list)
	}
	return w.send(ctx, next)
}})

func hex16(n uint64) string {
	text := strconv.FormatUint(n, 16)
	return strings.Repeat("0", 16-len(text)) + text
}

// inOtherWords is the same JSON value with blanks, with the fields of objects the
// other way round, and with every character of a string escaped that is no digit.
func inOtherWords(raw []byte) []byte {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var out bytes.Buffer
	if err := reworded(d, &out, "\n"); err != nil {
		return raw
	}
	return append(append([]byte(" \r\n"), out.Bytes()...), "\t\n"...)
}

func reworded(d *json.Decoder, out *bytes.Buffer, indent string) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	switch t := token.(type) {
	case json.Delim:
		var parts []string
		for d.More() {
			var part bytes.Buffer
			if t == '{' {
				name, err := d.Token()
				if err != nil {
					return err
				}
				part.WriteString(escaped(name.(string)) + "\t: ")
			}
			if err := reworded(d, &part, indent+"  "); err != nil {
				return err
			}
			if t == '{' {
				parts = append([]string{part.String()}, parts...)
			} else {
				parts = append(parts, part.String())
			}
		}
		end, err := d.Token()
		if err != nil {
			return err
		}
		out.WriteString(t.String() + indent + "  " + strings.Join(parts, " ,"+indent+"  ") + indent + end.(json.Delim).String())
	case string:
		out.WriteString(escaped(t))
	default:
		text, err := json.Marshal(t)
		if err != nil {
			return err
		}
		out.Write(text)
	}
	return nil
}

// inFrames compresses a document into frames with checksums, none with more than a
// third of it, behind a frame that is to be skipped.
func inFrames(plain []byte) []byte {
	e, _ := zstd.NewWriter(nil, zstd.WithEncoderCRC(true), zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithSingleSegment(true))
	defer e.Close()
	body := []byte{0x53, 0x2a, 0x4d, 0x18, 5, 0, 0, 0, 'h', 'e', 'l', 'l', 'o'}
	for rest, size := plain, len(plain)/3+1; len(rest) > 0; {
		n := min(size, len(rest))
		body = e.EncodeAll(rest[:n], body)
		rest = rest[n:]
	}
	return body
}

// snapshotVariants record other things than the reference where the text leaves it
// open. What they write is not what the repository remembers, so it is to read
// everything again.
var snapshotVariants = map[string]Fault{
	"checkpoints-without-type": writes(func(w *write) {
		if w.options.Metadata["pugmark-snapshot-type"] == string(session.Checkpoint) {
			delete(w.options.Metadata, "pugmark-snapshot-type")
		}
	}),
	"running-recorded": both(withoutCache, stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
		if list := w.descriptors(); w.isOwn() && len(list) > 0 && w.options.Metadata["pugmark-snapshot-type"] == string(session.Checkpoint) &&
			list[len(list)-1]["content-type"] != controlType {
			body := []byte(`{"status":"running","reason":"goes on"}`)
			if err := putBlob(ctx, next, body, controlType); err != nil {
				return "", err
			}
			message := map[string]any{"content-type": controlType, "created-at": time.Now().UTC().Format(time.RFC3339),
				"sequence-number": numberOf(list[len(list)-1]) + 1}
			setBody(message, body)
			w.setDescriptors(append(list, message))
		}
		return w.send(ctx, next)
	}})),
	"stopped-to-the-letter": both(withoutCache, writes(func(w *write) {
		if list := w.descriptors(); w.isOwn() && len(list) > 1 {
			if last := list[len(list)-1]; last["content-type"] == controlType && object(bodyOf(last))["status"] == "running" {
				w.setDescriptors(list[:len(list)-1])
			}
		}
	})),
	"lost-deliveries-as-success": refused((*write).isDelivery, func(context.Context, store.Store, *write) (string, error) { return "", nil }),
}

// withoutCache keeps nothing of what was read or written.
var withoutCache = Fault{Identifiers: func(o *session.Options) { o.CacheBytes = 1 }}

func numberOf(d map[string]any) int64 {
	n, _ := d["sequence-number"].(json.Number)
	number, _ := n.Int64()
	return number
}

// escaped is a JSON string with every character escaped that is no digit.
func escaped(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		if '0' <= r && r <= '9' {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16Of(r) {
			text := strconv.FormatUint(uint64(unit), 16)
			b.WriteString(`\u` + strings.Repeat("0", 4-len(text)) + text)
		}
	}
	b.WriteByte('"')
	return b.String()
}
