package runtime

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

// writtenDescriptor is a descriptor, or a memory record, of a file that the
// subject stored.
type writtenDescriptor struct {
	wire.Descriptor
	file   fakes3.Request // the write that stored the file
	copied bool           // of a body that the subject did not store
	place  string         // key and position, for messages
	fields map[string]json.RawMessage
}

// writtenDescriptors are all descriptors of snapshots and memory files that the
// subject stored, without those of bodies which it did not store itself: these are
// copies of what the scenario laid out.
func (x *Lab) writtenDescriptors() []writtenDescriptor {
	var out []writtenDescriptor
	for _, d := range x.allDescriptors() {
		if !d.copied {
			out = append(out, d)
		}
	}
	return out
}

// has tells whether a field is there and not null; a null stands for none.
func (d writtenDescriptor) has(field string) bool {
	raw, ok := d.fields[field]
	return ok && string(raw) != "null"
}

// text is the value of a field as it was written, "" where it is no string.
func (d writtenDescriptor) text(field string) (text string, isString bool) {
	return text, json.Unmarshal(d.fields[field], &text) == nil
}

var descriptorShapes = sync.OnceValue(func() (s struct{ digest, time, directives, integer, session *regexp.Regexp }) {
	s.digest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	s.time = regexp.MustCompile(`^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$`)
	const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
	const directive = token + `(=(` + token + `|"[^"]*"))?`
	s.directives = regexp.MustCompile(`^\s*` + directive + `(\s*,\s*` + directive + `)*\s*$`)
	s.integer = regexp.MustCompile(`^-?\d+$`)
	s.session = regexp.MustCompile(`^([0-9a-fA-F]{32})?$`)
	return s
})

// refers tells whether a descriptor has a well-formed digest of a blob. A tombstone
// may do without one; anything else without is judged by S7-1.
func (d writtenDescriptor) refers() bool {
	return d.HasDigest() && descriptorShapes().digest.MatchString(d.Digest)
}

var _ = everyBucket("S7-1 S7-5", func(x *Lab) {
	var digests, times, present tally
	shapes := descriptorShapes()
	for _, d := range x.writtenDescriptors() {
		text, isString := d.text("digest")
		digests.check(isString && shapes.digest.MatchString(text) && d.HasDigest() || d.Deleted && !d.HasDigest(), "%s: digest %q in %s", d.place, d.Digest, clip(d.Raw, 300))
		present.check(d.has("created-at"), "%s", d.place)
		if d.has("created-at") {
			text, isString = d.text("created-at")
			times.check(isString && isTimestamp(text), "%s: created-at %s", d.place, d.fields["created-at"])
		}
	}
	digests.judge(x.Clause("S7-1"), "a descriptor's digest is sha256: and 64 lowercase hex digits; a tombstone's may be zero or absent", "descriptors")
	times.judge(x.Clause("S7-5"), "created-at is an RFC 3339 timestamp with an offset", "descriptors")
	present.faults(x.Clause("S7-5").Assuming("Q:S7-5"), "a descriptor has a created-at", "descriptors")
})

func isTimestamp(text string) bool {
	_, err := time.Parse(time.RFC3339Nano, strings.ToUpper(text))
	return err == nil && descriptorShapes().time.MatchString(text)
}

// The types of fields, as far as a wrong one shows in every descriptor.
var _ = everyBucket("S7-4 S7-6 S7-7 S7-8 S7-9 S7-10 S7.2-4", func(x *Lab) {
	var sizes, texts, metadata, caching, numbers, references, legacy tally
	shapes := descriptorShapes()
	isInteger := func(raw json.RawMessage, bits int) bool {
		_, err := strconv.ParseInt(string(raw), 10, bits)
		return err == nil && shapes.integer.Match(raw)
	}
	for _, d := range x.allDescriptors() {
		legacy.check(!d.Present["fork-session-id"], "%s: fork-session-id %s", d.place, d.fields["fork-session-id"])
		if d.copied {
			continue
		}
		each := func(t *tally, ok func(raw json.RawMessage) bool, names ...string) {
			for _, name := range names {
				if d.has(name) {
					t.check(ok(d.fields[name]), "%s: %s %s", d.place, name, clip(d.fields[name], 100))
				}
			}
		}
		isString := func(raw json.RawMessage) bool { return raw[0] == '"' }
		each(&sizes, func(raw json.RawMessage) bool { return isInteger(raw, 64) && raw[0] != '-' }, "size")
		each(&texts, isString, "content-type", "content-encoding", "schema-url", "name")
		each(&metadata, func(raw json.RawMessage) bool {
			var m map[string]*string
			return json.Unmarshal(raw, &m) == nil && !hasNil(m)
		}, "metadata")
		each(&caching, func(raw json.RawMessage) bool {
			text, ok := d.text("cache-control")
			return ok && (text == "" || shapes.directives.MatchString(text))
		}, "cache-control")
		each(&numbers, func(raw json.RawMessage) bool { return isInteger(raw, 64) }, "sequence-number")
		each(&references, func(raw json.RawMessage) bool {
			var text string
			return json.Unmarshal(raw, &text) == nil && shapes.session.MatchString(text)
		}, "target-session", "source-session")
		each(&references, func(raw json.RawMessage) bool {
			_, err := strconv.ParseUint(string(raw), 10, 32)
			return err == nil
		}, "source-version")
		each(&references, func(raw json.RawMessage) bool { return string(raw) == "true" || string(raw) == "false" }, "fork", "deleted")
	}
	sizes.faults(x.Clause("S7-4"), "size is a 64-bit integer from 0 on", "sizes")
	texts.faults(x.Clause("S7-6"), "content-type, content-encoding, schema-url and name are strings", "values")
	metadata.faults(x.Clause("S7-7"), "metadata is an object of strings", "values")
	caching.faults(x.Clause("S7-8"), "a descriptor's cache-control is a string of Cache-Control directives", "values")
	numbers.faults(x.Clause("S7-9"), "sequence-number is a JSON integer of 64 bits", "values")
	references.judge(x.Clause("S7-10"), "target-session and source-session are 32 hex digits, source-version is an unsigned 32-bit integer, fork and deleted are true or false", "values")
	legacy.faults(x.Clause("S7.2-4"), "fork-session-id is only ever read: no written descriptor has that key", "descriptors")
})

func hasNil(m map[string]*string) bool {
	for _, v := range m {
		if v == nil {
			return true
		}
	}
	return false
}

// A descriptor and its blob. Where the subject stores blobs at keys of another
// form, S3-1 and S3-2 judge that, and nothing is said about missing ones.
var _ = everyBucket("S3.1-3 S7.1-3 S7-2 S7-3", func(x *Lab) {
	for _, r := range x.created("objects/") {
		if wire.ParseKey(Key(r)).Kind != wire.KindBlob {
			return
		}
	}
	var inline, referred, order tally
	for _, d := range x.writtenDescriptors() {
		if !d.refers() || d.Deleted {
			continue
		}
		_, there := x.Get(d.BlobKey())
		if tried := x.created(d.BlobKey()); !there && len(tried) > 0 {
			order.check(false, "%s was never stored: %s; %s refers to it", d.BlobKey(), tried[len(tried)-1].String(), Key(d.file))
			continue
		}
		carried := (d.HasData || d.Digest == wire.Digest(nil)) && !d.IsControl() // an empty body is always at hand
		if carried {
			inline.check(there, "%s (%q, %d bytes inline): no %s", d.place, d.Name, len(d.Data), d.BlobKey())
		}
		if carried && !there {
			continue
		}
		referred.check(there, "%s (%q): no %s", d.place, d.Name, d.BlobKey())
		if there {
			before, first := x.storedBefore(d.BlobKey(), d.file)
			order.check(before, "%s was stored by %s, %s by %s", d.BlobKey(), first, Key(d.file), d.file.String())
		}
	}
	inline.judge(x.Clause("S3.1-3"), "the blob of a descriptor with inline data is stored like any other", "descriptors with inline data")
	inline.judge(x.Clause("S7.1-3"), "the blob of a descriptor with inline data is stored like any other", "descriptors with inline data")
	referred.judge(x.Clause("S7-2"), "the blob that a descriptor refers to exists", "descriptors")
	order.judge(x.Clause("S7-3"), "a blob is stored before the file that refers to it is written", "descriptors")
})

// storedBefore tells whether a blob was there when a file's write arrived; first is
// the write that stored it, where it came later. The moments are those of the
// server: a client that waits for the answer is always past the effect.
func (x *Lab) storedBefore(key string, file fakes3.Request) (before bool, first string) {
	if x.laidOut(key) {
		return true, ""
	}
	for _, r := range x.Writes(key) {
		if r.Took != fakes3.Applied {
			continue
		}
		if !r.Applied.After(file.Arrived) {
			return true, ""
		}
		if first == "" {
			first = r.String()
		}
	}
	return first == "", first // none: stored in parts or copied, of which no moment is known
}

var _ = everyBucket("S3.1-2 S7.1-1 S7-4", func(x *Lab) {
	var lengths, bodies, alphabet, sizes, encoded tally
	for _, d := range x.writtenDescriptors() {
		var body []byte
		if text, isString := d.text("data"); d.has("data") && text != "" || d.has("data") && !isString {
			strict, err := base64.StdEncoding.Strict().DecodeString(text)
			if strings.ContainsAny(text, "\r\n") {
				err = fmt.Errorf("line breaks")
			}
			switch {
			case !isString || !d.HasData:
				bodies.check(false, "%s: data is not base64: %s", d.place, clip(d.fields["data"], 100))
				continue
			case err != nil:
				alphabet.check(false, "%s: %v: %s", d.place, err, clip(d.fields["data"], 100))
			}
			body = d.Data
			if err == nil {
				body = strict
			}
			lengths.check(len(body) <= 1024, "%s (%q) carries %d bytes", d.place, d.Name, len(body))
		}
		blob, there := x.Get(d.BlobKey())
		if !d.refers() || !there || x.digestAt(d.BlobKey(), blob.Body) != d.Digest {
			continue // S7-1, S7-2, S3-3
		}
		if body != nil {
			bodies.check(bytes.Equal(body, blob.Body), "%s (%q): data stands for %d bytes, %q…; the blob has %d, %q…", d.place, d.Name, len(body), clip(body, 40), len(blob.Body), clip(blob.Body, 40))
		}
		if _, isInteger := d.fields["size"]; isInteger && d.Size == 0 && len(blob.Body) > 0 && string(d.fields["size"]) != "0" {
			continue // of another type, which the rule on types judges
		}
		if d.ContentEncoding == "" {
			sizes.check(d.Size == int64(len(blob.Body)), "%s (%q): size %d, the blob has %d bytes", d.place, d.Name, d.Size, len(blob.Body))
		} else {
			encoded.check(d.Size == int64(len(blob.Body)), "%s (%q, %s): size %d, the blob has %d bytes", d.place, d.Name, d.ContentEncoding, d.Size, len(blob.Body))
		}
	}
	lengths.faults(x.Clause("S3.1-2"), "no descriptor carries more than 1024 bytes inline", "inline bodies")
	bodies.judge(x.Clause("S7.1-1"), "data is the base64 of exactly the blob's bytes", "inline bodies")
	alphabet.faults(x.Clause("S7.1-1").Warning(), "data is base64 of the standard alphabet, padded and without line breaks, as on the wire", "inline bodies")
	sizes.judge(x.Clause("S7-4"), "size is the blob's length in bytes", "descriptors")
	encoded.faults(x.Clause("S7-4").Assuming("R-02"), "size is the length of the blob as stored, in its encoding", "descriptors of encoded blobs")
})
