package runtime

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"mime"
	"strings"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

// layoutWrites are the subject's requests that store an object of the layout.
func (x *Lab) layoutWrites() []fakes3.Request {
	var out []fakes3.Request
	for _, p := range owned {
		for _, r := range x.created(p) {
			if r.Op != fakes3.OpCopy {
				out = append(out, r)
			}
		}
	}
	return out
}

// declared tells whether a handler of the scenario named the value as the given
// field of an Output: then it is the handler's and not the runtime's choice.
func (x *Lab) declared(value string, field func(wire.Output) string) bool {
	for _, inv := range x.invocations() {
		for _, o := range x.outputsOf(inv) {
			if field(o) == value {
				return true
			}
		}
	}
	return false
}

// Which type an object of each class has to have is judged with the class.
var _ = everyBucket("S2.3-2", func(x *Lab) {
	var forms, absent tally
	for _, r := range x.layoutWrites() {
		list, there := r.Header["Content-Type"]
		if !there {
			absent.check(false, "%s", Key(r))
			continue
		}
		value := strings.Join(list, ",")
		if strings.HasPrefix(Key(r), "objects/") && x.declared(value, func(o wire.Output) string { return o.ContentType }) {
			continue
		}
		media, _, err := mime.ParseMediaType(value)
		forms.check(err == nil && strings.Count(media, "/") == 1, "%s: Content-Type %q", Key(r), value)
	}
	forms.judge(x.Clause("S2.3-2"), "an object's Content-Type has the form type/subtype, with or without parameters", "writes")
	absent.faults(x.Clause("S2.3-2").Warning(), "a write names the object's Content-Type itself, and does not leave it to the store", "writes")
})

var _ = everyBucket("S2.3-4", func(x *Lab) {
	var closed, blobs tally
	for _, r := range x.layoutWrites() {
		value := encodingOf(r)
		ok := value == "" || value == "gzip" || value == "zstd" || value == "identity"
		if !strings.HasPrefix(Key(r), "objects/") {
			closed.check(ok, "%s: Content-Encoding %q", Key(r), value)
		} else if !x.declared(value, func(o wire.Output) string { return o.ContentEncoding }) {
			blobs.check(ok, "%s: Content-Encoding %q", Key(r), value)
		}
	}
	closed.judge(x.Clause("S2.3-4").Resting("R-12"), "the Content-Encoding of a manifest, snapshot, memory file or ref is empty, gzip or zstd", "writes")
	blobs.faults(x.Clause("S2.3-4").Assuming("R-12"), "the Content-Encoding of a blob is empty, gzip or zstd, or what the handler declared", "blob writes")
})

// undone is a body with one Content-Encoding undone.
func undone(body []byte, encoding string) ([]byte, error) {
	switch encoding {
	case "", "identity":
		return body, nil
	case "gzip":
		z, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(z)
	case "zstd":
		return wire.DecodeZstd(body)
	}
	return nil, fmt.Errorf("an encoding that is none of gzip and zstd")
}

// Snapshots and memory files have to be zstd, which S6.2-3, S6.2-4 and S8.2-10
// judge; here it is the others that agree with what they declare.
var _ = everyBucket("S15-1", func(x *Lab) {
	var plain, agree, blobs tally
	for _, r := range x.layoutWrites() {
		key := wire.ParseKey(Key(r))
		encoding := encodingOf(r)
		_, err := undone(r.Body, encoding)
		packed := encoding == "" && (bytes.HasPrefix(r.Body, []byte{0x1f, 0x8b}) || bytes.HasPrefix(r.Body, []byte{0x28, 0xb5, 0x2f, 0xfd}))
		switch {
		case r.Op == fakes3.OpCreateUpload:
		case key.Kind == wire.KindManifest || key.Kind == wire.KindRef:
			agree.check(err == nil && !packed, "%s: Content-Encoding %q, the body begins with % x", Key(r), encoding, clip(r.Body, 4))
			plain.check(encoding == "" || encoding == "identity" || err != nil, "%s: Content-Encoding %q", Key(r), encoding)
		case key.Kind == wire.KindBlob && encoding != "":
			if !x.declared(encoding, func(o wire.Output) string { return o.ContentEncoding }) {
				blobs.check(err == nil, "%s: Content-Encoding %q, the body begins with % x", Key(r), encoding, clip(r.Body, 4))
			}
		}
	}
	agree.judge(x.Clause("S15-1"), "the body of a manifest or ref is encoded as its Content-Encoding says", "writes")
	plain.faults(x.Clause("S15-1").Assuming("R-12"), "manifests and refs are stored plain", "writes")
	blobs.faults(x.Clause("S15-1").Assuming("R-12"), "a blob's body is encoded as its Content-Encoding says", "blob writes")
})

// Blobs and refs without a Cache-Control are judged by S3-5 and S9-6.
var _ = everyBucket("S16-1", func(x *Lab) {
	var there tally
	for _, r := range x.layoutWrites() {
		switch wire.ParseKey(Key(r)).Kind {
		case wire.KindManifest, wire.KindSnapshot, wire.KindMemory:
			there.check(r.Header.Get("Cache-Control") != "", "%s", r.String())
		}
	}
	there.judge(x.Clause("S16-1").Resting("R-13"), "every manifest, snapshot and memory file is written with a Cache-Control", "writes")
})

var _ = everyBucket("S16-2 S5.1-3", func(x *Lab) {
	var all, manifests, types tally
	for _, r := range x.layoutWrites() {
		kind := wire.ParseKey(Key(r)).Kind
		cache := x.Config.Profile.Assumed.Cache
		wanted, ok := map[wire.Kind]string{wire.KindManifest: cache.Manifests, wire.KindSnapshot: cache.Snapshots, wire.KindMemory: cache.Memory}[kind]
		if !ok {
			continue
		}
		if value := r.Header.Get("Cache-Control"); value != "" { // its absence is judged by S16-1
			age, long := cacheable(value)
			long = long && age >= day || value == wanted
			all.check(long, "%s: Cache-Control %q", Key(r), value)
			if kind == wire.KindManifest {
				manifests.check(long, "%s: Cache-Control %q", Key(r), value)
			}
		}
		if value, there := r.Header["Content-Type"]; kind == wire.KindManifest && there {
			media, _, _ := strings.Cut(strings.Join(value, ","), ";")
			types.check(strings.EqualFold(strings.TrimSpace(media), "application/json"), "%s: Content-Type %q", Key(r), value)
		}
	}
	all.judge(x.Clause("S16-2").Assuming("R-13"), "manifests, snapshots and memory files are written with Cache-Control max-age=<long>, immutable", "writes")
	manifests.judge(x.Clause("S5.1-3").Assuming("R-13"), "a manifest is written with Cache-Control max-age=<long>, immutable", "manifest writes")
	types.judge(x.Clause("S5.1-3").Assuming("R-13"), "a manifest is written with Content-Type application/json", "manifest writes")
})
