package runtime

import (
	"encoding/base64"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

// year and day are the max-age that the text recommends for blobs, and the least
// that passes for long (Q:S3-5).
const (
	year = 31536000
	day  = 86400
)

// blobWrites are the subject's writes to well-formed blob keys, but for copies
// within the store, which S3.2-3 judges.
func (x *Lab) blobWrites() []fakes3.Request {
	var out []fakes3.Request
	for _, r := range x.created("objects/") {
		if r.Op != fakes3.OpCopy && wire.ParseKey(Key(r)).Kind == wire.KindBlob {
			out = append(out, r)
		}
	}
	return out
}

var _ = everyBucket("S3-3", func(x *Lab) {
	var bodies tally
	put := map[string]bool{}
	for _, r := range x.Writes("objects/") {
		if key := Key(r); wire.ParseKey(key).Kind == wire.KindBlob && r.Took == fakes3.Applied {
			put[key] = true
			bodies.check("objects/sha256:"+r.BodySHA256 == key, "%s holds %d bytes whose SHA-256 is %s", key, len(r.Body), r.BodySHA256)
		}
	}
	for _, key := range x.New("objects/") {
		if !put[key] && wire.ParseKey(key).Kind == wire.KindBlob { // stored in parts, or copied
			o, _ := x.Get(key)
			digest := x.digestAt(key, o.Body)
			bodies.check("objects/"+digest == key, "%s holds %d bytes whose digest is %s", key, len(o.Body), digest)
		}
	}
	bodies.judge(x.Clause("S3-3"), "the digest in a blob's key is the SHA-256 of exactly the bytes stored there", "blobs")
})

var _ = everyBucket("S3-5 S3-6", func(x *Lab) {
	const demand = "a blob is written with a Cache-Control of max-age=<long> and immutable, without no-cache and no-store"
	var stated, long, recommended tally
	for _, r := range x.blobWrites() {
		value := r.Header.Get("Cache-Control")
		age, ok := cacheable(value)
		stated.check(ok && age > 0, "%s: Cache-Control %q", Key(r), value)
		if !ok || age <= 0 {
			continue
		}
		long.check(age >= day, "%s: Cache-Control %q", Key(r), value)
		if age == year || age < day {
			recommended.check(age == year, "%s: Cache-Control %q", Key(r), value)
		} // another long value is the implementation's choice
	}
	stated.judge(x.Clause("S3-5"), demand, "blob writes")
	long.faults(x.Clause("S3-5").Assuming("Q:S3-5"), demand+"; less than a day passes for long with a warning only", "blob writes")
	recommended.judge(x.Clause("S3-6"), "the recommended max-age is 31536000; another long one is as good", "blob writes")
})

// cacheable reads a Cache-Control value: its max-age, and whether it is marked
// immutable and nothing in it forbids to keep the object.
func cacheable(value string) (maxAge int64, ok bool) {
	maxAge = -1
	immutable := false
	for _, part := range strings.Split(value, ",") {
		name, arg, _ := strings.Cut(strings.ToLower(strings.TrimSpace(part)), "=")
		switch strings.TrimSpace(name) {
		case "immutable":
			immutable = true
		case "max-age":
			n, err := strconv.ParseInt(strings.Trim(strings.TrimSpace(arg), `"`), 10, 64)
			if err != nil {
				return -1, false
			}
			maxAge = n
		case "no-cache", "no-store":
			return -1, false
		}
	}
	return maxAge, immutable && maxAge >= 0
}

var _ = everyBucket("S3-7 S3-9", func(x *Lab) {
	const demand = "a blob is written with x-amz-checksum-sha256 (header or trailer), and it is the digest of the key"
	var sums, payload, unconditional tally
	for _, r := range x.blobWrites() {
		digest := strings.TrimPrefix(wire.ParseKey(Key(r)).Digest, "sha256:")
		unconditional.check(r.IfNoneMatch == "", "%s: If-None-Match: %s", Key(r), r.IfNoneMatch)
		sum, sent := r.Checksums["sha256"]
		switch {
		case r.Op == fakes3.OpCreateUpload:
			sums.check(false, "%s is uploaded in parts, whose common checksum is not that of the body", Key(r))
		case r.BodySHA256 != digest:
			// other bytes, which S3-3 judges, or a body that was broken off
		case !sent && strings.EqualFold(r.ContentSHA256, digest):
			payload.check(false, "%s: only x-amz-content-sha256 says so", Key(r))
		case !sent:
			sums.check(false, "%s: checksums %v, x-amz-content-sha256 %q", Key(r), slices.Sorted(maps.Keys(r.Checksums)), r.ContentSHA256)
		default:
			raw, err := base64.StdEncoding.DecodeString(sum)
			sums.check(err == nil && hex.EncodeToString(raw) == digest, "%s: x-amz-checksum-sha256 %q", Key(r), sum)
		}
	}
	sums.judge(x.Clause("S3-7"), demand, "blob writes")
	payload.faults(x.Clause("S3-7").Assuming("Q:S3-7"), demand+"; the payload's hash of the signature instead is a warning", "blob writes")
	unconditional.judge(x.Clause("S3-9"), "a blob is written without If-None-Match", "blob writes")
})
