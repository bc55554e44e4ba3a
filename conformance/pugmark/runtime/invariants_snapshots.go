package runtime

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

// snapshotRequests are the subject's requests that store a snapshot at a
// well-formed key, whether or not they took effect: how a snapshot is written
// shows in each of them.
func (x *Lab) snapshotRequests() []fakes3.Request { return x.requestsFor(wire.KindSnapshot) }

// manifestRequests are those that store a manifest.
func (x *Lab) manifestRequests() []fakes3.Request { return x.requestsFor(wire.KindManifest) }

func (x *Lab) requestsFor(kind wire.Kind) []fakes3.Request {
	var out []fakes3.Request
	for _, r := range x.created("sessions/") {
		if wire.ParseKey(Key(r)).Kind == kind {
			out = append(out, r)
		}
	}
	return out
}

// encodingOf is the Content-Encoding that a request declares for the object,
// without the token of its own transfer.
func encodingOf(r fakes3.Request) string {
	var out []string
	for _, token := range strings.Split(r.Header.Get("Content-Encoding"), ",") {
		if token = strings.TrimSpace(token); token != "" && token != "aws-chunked" {
			out = append(out, token)
		}
	}
	return strings.Join(out, ",")
}

var _ = everyBucket("S6.2-1 S6.2-2 S6.2-3", func(x *Lab) {
	var caching, types, encodings tally
	for _, r := range x.snapshotRequests() {
		if value := r.Header.Get("Cache-Control"); value != "" { // its absence is judged by S16-1
			age, long := cacheable(value)
			caching.check(long && age >= day || value == x.Config.Profile.Assumed.Cache.Snapshots, "%s: Cache-Control %q", Key(r), value)
		}
		media, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
		types.check(strings.EqualFold(strings.TrimSpace(media), "application/json"), "%s: Content-Type %q", Key(r), r.Header.Get("Content-Type"))
		encodings.check(encodingOf(r) == "zstd", "%s: Content-Encoding %q", Key(r), r.Header.Get("Content-Encoding"))
	}
	caching.judge(x.Clause("S6.2-1").Assuming("R-13"), "a snapshot is written with Cache-Control max-age=<long>, immutable", "snapshot writes")
	types.judge(x.Clause("S6.2-2"), "a snapshot is written with Content-Type application/json", "snapshot writes")
	encodings.judge(x.Clause("S6.2-3").Resting("R-12"), "a snapshot is written with Content-Encoding zstd, however small it is", "snapshot writes")
})

var _ = everyBucket("S6.2-8", func(x *Lab) {
	var conditions tally
	rewritten := map[int]bool{}
	for _, r := range x.rewrites() {
		rewritten[r.N] = true // overwriting was the purpose: S1-8
	}
	for _, r := range x.snapshotRequests() {
		if r.Op != fakes3.OpCreateUpload && !rewritten[r.N] {
			conditions.check(r.IfNoneMatch == "*", "%s: If-None-Match %q", r.String(), r.IfNoneMatch)
		}
	}
	conditions.faults(x.Clause("S6.2-8"), "every snapshot write carries If-None-Match: *", "snapshot writes")
})

// decompressed is the text of a zstd stream; ok is false where the body is none of which
// all is decoded.
func decompressed(body []byte) (doc []byte, ok bool, why string) {
	doc, err := wire.DecodeZstd(body)
	switch {
	case errors.Is(err, wire.ErrTrailing):
		return doc, false, err.Error()
	case err != nil:
		return nil, false, err.Error()
	}
	return doc, true, ""
}

var _ = everyBucket("S6-1 S6.2-4", func(x *Lab) {
	var arrays, streams, doubled tally
	for _, r := range x.snapshotWrites() {
		doc, ok, why := x.document(r)
		streams.check(ok, "%s: %s; the body begins with % x", Key(r), why, clip(r.Body, 8))
		if !ok {
			continue
		}
		broken := ""
		for _, p := range x.snapshotIn(r).problems {
			switch p.Kind {
			case wire.ProblemJSON, wire.ProblemText, wire.ProblemShape, wire.ProblemTrailing:
				if broken == "" {
					broken = p.Error()
				}
			case wire.ProblemDuplicate:
				doubled.check(false, "%v", p)
			}
		}
		arrays.check(broken == "", "%s; it begins %q", broken, clip(bytes.TrimSpace(doc), 100))
	}
	streams.judge(x.Clause("S6.2-4"), "a snapshot's body is zstd, decodes to its end, and nothing follows", "snapshots")
	arrays.judge(x.Clause("S6-1"), "a snapshot is one JSON array of objects, and nothing follows it", "snapshots")
	doubled.faults(x.Clause("S6-1").Warning(), "no object in a snapshot holds a key twice", "snapshots")
})

var _ = everyBucket("S6.2-9 S6.2-10", func(x *Lab) {
	var sessions, versions tally
	for _, r := range x.snapshotWrites() {
		key := wire.ParseKey(Key(r))
		text := r.Header.Get("X-Amz-Meta-" + wire.MetaSession)
		id, err := wire.ParseSessionID(text)
		sessions.check(err == nil && id == key.Session && text == id.String(), "%s is of session %s: %q", Key(r), key.Session, text)
		if x.astray(Key(r)) != "" {
			continue // a name too far, which S6.1-4 judges
		}
		text = r.Header.Get("X-Amz-Meta-" + wire.MetaVersion)
		versions.check(text == strconv.FormatUint(uint64(key.Version), 10), "%s is version %d: %q", Key(r), key.Version, text)
	}
	sessions.judge(x.Clause("S6.2-9").Assuming("R-09"), "a snapshot's metadata "+wire.MetaSession+" is the ID of the session that it lies in, 32 lowercase hex digits", "snapshots")
	versions.judge(x.Clause("S6.2-10").Assuming("R-09"), "a snapshot's metadata "+wire.MetaVersion+" is the version that its file name stands for, in decimal", "snapshots")
})

// transactionNumber reads a transaction ID as transactionOf gives it, zero too.
func transactionNumber(text string) (n uint64, ok bool) {
	if strings.Trim(text, "0") == "" {
		return 0, text != ""
	}
	n, err := wire.ParseTransaction(text)
	return n, err == nil
}

var _ = everyBucket("S6.2-11 S13.2-2 S13.2-8", func(x *Lab) {
	var numbers, zeros tally
	for _, r := range x.snapshotWrites() {
		n, ok := transactionNumber(transactionOf(r))
		numbers.check(ok, "%s: %q", Key(r), transactionOf(r))
		if ok {
			zeros.check(n != 0, "%s: %q", Key(r), transactionOf(r))
		}
	}
	const demand = "a snapshot's metadata " + wire.MetaTransaction + " is there and an unsigned 64-bit number, decimal or 16 hex digits"
	numbers.judge(x.Clause("S6.2-11").Resting("R-09"), demand, "snapshots")
	numbers.judge(x.Clause("S13.2-2").Resting("R-09"), demand, "snapshots")
	zeros.judge(x.Clause("S13.2-8"), "a snapshot's transaction ID is not zero", "snapshots")
})

// Which type a snapshot has to have is for the scenarios; that deliveries name
// theirs can be told from their descriptors alone.
var _ = everyBucket("S6.4-1 S6.2-12", func(x *Lab) {
	var values, deliveries, others tally
	for _, r := range x.snapshotWrites() {
		list, named := r.Header["X-Amz-Meta-"+canonicalType]
		if !named {
			if delivered(x.snapshotIn(r).Snapshot) {
				deliveries.check(false, "%s, which holds entries from another session, has no such key", Key(r))
			} else {
				others.check(false, "%s", Key(r))
			}
			continue
		}
		switch value := strings.Join(list, ","); wire.SnapshotType(value) {
		case wire.Checkpoint, wire.Provisional, wire.Queueing:
			values.check(true, "")
		default:
			values.check(false, "%s: %q", Key(r), value)
		}
	}
	values.judge(x.Clause("S6.4-1").Resting("R-10"), wire.MetaType+" is one of checkpoint, provisional, queueing", "snapshots that name their type")
	deliveries.faults(x.Clause("S6.2-12"), "a snapshot that delivers another session's entries names its type in the metadata "+wire.MetaType+", since without it would be read as a checkpoint", "snapshots without the key")
	others.faults(x.Clause("S6.2-12").Assuming("R-09"), "a new snapshot names its type in the metadata "+wire.MetaType, "snapshots without the key")
})

const canonicalType = "Pugmark-Snapshot-Type"

// delivered tells whether a snapshot holds entries that another session sent.
func delivered(s wire.Snapshot) bool {
	for _, d := range s.Descriptors {
		if _, ok := d.Source(); ok {
			return true
		}
	}
	return false
}
