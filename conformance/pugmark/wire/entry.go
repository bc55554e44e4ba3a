package wire

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// inlineLimit is the longest body that a descriptor may carry itself (S3.1-1).
const inlineLimit = 1024

// Entry describes one descriptor to write. The zero value of every field stands for what a conforming writer does.
type Entry struct {
	Body                                                        []byte
	Name, ContentType, ContentEncoding, SchemaURL, CacheControl string
	Metadata                                                    map[string]string
	NoInline                                                    bool // leave data out even of a short body
	Inline                                                      bool // write data even of a long or empty body, or of a tombstone
	NoBlob                                                      bool // do not store the blob that the digest names
	Fork, Deleted                                               bool
	Target, Source                                              string // session IDs, written as they stand
	SourceVersion                                               uint32
	Legacy                                                      bool      // write a fork as fork-session-id, its older form (S7.2-2)
	CreatedAt                                                   time.Time // default: the session's hour plus as many seconds as its sequence number
	Sequence                                                    *int64    // in place of the next number; the one after it counts on from here
	Raw                                                         json.RawMessage
	Extra                                                       map[string]any // fields by hand, replacing known ones; json.RawMessage stands as it is
	Omit                                                        []string       // fields to leave out after all
}

// Text is a plain entry with a text body.
func Text(name, body string) Entry {
	return Entry{Name: name, Body: []byte(body), ContentType: "text/plain; charset=utf-8"}
}

// ForkEntry is the record of a pending fork.
func ForkEntry(body string, child SessionID) Entry {
	return Entry{Body: []byte(body), ContentType: "text/plain; charset=utf-8", Fork: true, Target: child.String()}
}

// LegacyForkEntry is the record of a pending fork in its older form.
func LegacyForkEntry(body string, child SessionID) Entry {
	e := ForkEntry(body, child)
	e.Legacy = true
	return e
}

// ControlEntry is a control message; empty arguments are left out of its body.
func ControlEntry(status, reason, startAt string) Entry {
	var w writer
	w.str("status", status)
	w.str("reason", reason)
	w.str("start-at", startAt)
	return Entry{Body: w.object(), ContentType: ControlType}
}

// Tombstone deletes a name.
func Tombstone(name string) Entry { return Entry{Name: name, Deleted: true} }

// CrossEntry is a cross-session write as the writer's snapshot records it.
func CrossEntry(name, body string, target SessionID) Entry {
	e := Text(name, body)
	e.Target = target.String()
	return e
}

// DeliveredEntry is a cross-session write as it lies in its target.
func DeliveredEntry(name, body string, source SessionID, version uint32) Entry {
	e := Text(name, body)
	e.Source, e.SourceVersion = source.String(), version
	return e
}

// written is one entry turned into bytes.
type written struct {
	json []byte
	name string
	blob *Stored // to be stored; nil where there is none
}

// descriptor writes the entry's fields; more adds fields at the end.
func (e Entry) descriptor(sequence int64, created time.Time, more func(*writer)) (written, error) {
	var w writer
	out := written{name: e.Name}
	if e.Raw != nil {
		out.json = e.Raw
		return out, nil
	}
	refers := e.Body != nil || !e.Deleted
	if refers {
		w.str("digest", Digest(e.Body))
		w.integer("size", int64(len(e.Body)))
		if !e.NoBlob {
			out.blob = &Stored{Key: "objects/" + Digest(e.Body), Body: e.Body, ContentType: e.ContentType,
				ContentEncoding: e.ContentEncoding, CacheControl: Immutable}
		}
	}
	if !e.CreatedAt.IsZero() {
		created = e.CreatedAt
	}
	w.str("created-at", created.UTC().Format(time.RFC3339Nano))
	w.str("content-type", e.ContentType)
	w.str("content-encoding", e.ContentEncoding)
	w.str("cache-control", e.CacheControl)
	w.str("schema-url", e.SchemaURL)
	w.str("name", e.Name)
	w.strings("metadata", e.Metadata)
	w.raw("sequence-number", fmt.Append(nil, sequence))
	if refers && !e.NoInline && len(e.Body) > 0 && len(e.Body) <= inlineLimit || e.Inline {
		w.raw("data", quote(base64.StdEncoding.EncodeToString(e.Body)))
	}
	if !e.Legacy {
		w.str("target-session", e.Target)
	}
	w.str("source-session", e.Source)
	w.uint("source-version", uint64(e.SourceVersion))
	if !e.Legacy {
		w.flag("fork", e.Fork)
	}
	w.flag("deleted", e.Deleted)
	if e.Legacy {
		w.str(legacyFork, e.Target)
	}
	if more != nil {
		more(&w)
	}
	if err := w.extra(e.Extra); err != nil {
		return out, err
	}
	for _, k := range e.Omit {
		w.drop(k)
	}
	out.json = w.object()
	return out, nil
}

func documentOf(items [][]byte) []byte {
	parts := make([]string, len(items))
	for i, b := range items {
		parts[i] = string(b)
	}
	return []byte("[" + strings.Join(parts, ",") + "]")
}
