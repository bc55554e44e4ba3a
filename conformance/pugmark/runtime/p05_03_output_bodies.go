package runtime

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

var _ = scenario("P5.3", "body-from-data", "an Output with data QUJD: the body is ABC, and blob and digest are of these three bytes",
	"P5.3-1",
	func(x *Lab) {
		got := x.commitOf("P5.3-1", plainly(wire.OutputRecord{Name: "abc", Data: []byte("ABC"), ContentType: "text/plain"}))
		x.storedAs("P5.3-1", got, []byte("ABC"), "3 bytes ABC, from data QUJD")
	}, overBoth)

var _ = scenario("P5.3", "body-from-uri", "bodies behind s3:// addresses in the same bucket and in another, behind http, and behind an address that is gone: what is there becomes the entry's body",
	"P5.3-2",
	func(x *Lab) {
		if long := x.longBody(200_000); !x.exact(wire.OutputRecord{Name: "long", Data: long}, long) {
			x.Stop("a long body that comes as data is not committed with its digest either (P5.3-1, S3-4)")
		}
		x.Must(x.S3.CreateBucket("elsewhere"))
		near, far := x.longBody(3<<20), x.threes("in another bucket")
		put := func(bucket, key string, body []byte) {
			x.Must(x.S3.Put(bucket, key, fakes3.Object{Body: body, ContentType: "text/x-source", CacheControl: "no-store"}))
		}
		put(bucketName, "outside/near", near)
		put("elsewhere", "a/far", far)
		for _, v := range []struct {
			how, uri, bucket, key string
			body                  []byte
			assumed               bool
		}{
			{"an object of the same bucket, 3 MiB", "s3://" + bucketName + "/outside/near", bucketName, "outside/near", near, false},
			{"an object of another bucket", "s3://elsewhere/a/far", "elsewhere", "a/far", far, false},
			{"an http address", x.S3.Endpoint() + "/elsewhere/a/far", "elsewhere", "a/far", far, true},
		} {
			clause := x.Clause("P5.3-2")
			if v.assumed {
				clause = clause.Assuming("R-31")
			}
			source, _ := x.S3.Get(v.bucket, v.key)
			seen := len(x.S3.Requests())
			got := x.commitOf("P5.3-2", plainly(wire.OutputRecord{Name: "fetched", URI: v.uri}))
			_, ok := got.by(v.body)
			clause.Holds(ok, fmt.Sprintf("an Output whose uri is %s is committed with the digest of what lies there, %d bytes", v.how, len(v.body)),
				"%s; committed: %s%s", got.exit.Exit, got.list(), got.complaint())
			if ok {
				clause.Holds(fetched(x.S3.Requests()[seen:], v.bucket, v.key), "the body is fetched from the uri ("+v.how+")", "no GET of %s/%s among the requests of the run", v.bucket, v.key)
			}
			after, _ := x.S3.Get(v.bucket, v.key)
			clause.Holds(after.Modified.Equal(source.Modified) && after.CacheControl == source.CacheControl && bytes.Equal(after.Body, source.Body), "the source stays as it is ("+v.how+")", "modified %s, before the run %s", after.Modified, source.Modified)
		}
		outs := []wire.OutputRecord{x.unpadded("beside"), {Name: "gone", URI: "s3://elsewhere/a/gone"}}
		gone := x.commitOf("P5.3-2", plainly(outs...))
		for _, d := range gone.entries {
			if d.Name == "gone" {
				x.Clause("P5.3-2").Holds(!d.HasDigest(), "what answers 404 is not committed as the entry's body", "committed: %s", gone.list())
			}
		}
		x.Clause("P5.3-2").Assuming("R-29", "R-31").Holds(len(gone.lacks(outs...)) == 2, "a uri that answers 404 fails the invocation, and none of its Outputs is committed", "%s; committed: %s", gone.exit.Exit, gone.list())
	})

func fetched(requests []fakes3.Request, bucket, key string) bool {
	for _, r := range requests {
		if r.Op == fakes3.OpGet && r.Bucket == bucket && r.Key == key {
			return true
		}
	}
	return false
}

var _ = scenario("P5.3", "data-wins", "Outputs with data and a uri beside it that serves other bytes, or nothing: the body is data, and nobody asks for the uri",
	"P5.3-3",
	func(x *Lab) {
		if control := x.unpadded("control"); !x.exact(control, control.Data) {
			x.Stop("an Output with data alone is not committed with the digest of that body (P5.3-1)")
		}
		other := x.elsewhere("other", x.threes("other bytes"))
		outs := []wire.OutputRecord{x.unpadded("a"), x.unpadded("b")}
		outs[0].URI, outs[1].URI = other, "s3://"+bucketName+"/outside/none"
		seen := len(x.S3.Requests())
		got := x.commitOf("P5.3-3", plainly(outs...))
		for i, how := range []string{"a uri that serves other bytes", "a uri that answers 404"} {
			_, ok := got.by(outs[i].Data)
			x.Clause("P5.3-3").Holds(ok, "with data and "+how+" the body is that of data", "%s; committed: %s%s", got.exit.Exit, got.list(), got.complaint())
		}
		for _, r := range x.S3.Requests()[seen:] {
			if strings.HasPrefix(r.Key, "outside/") {
				x.Clause("P5.3-3").Warning().Holds(false, "where data is present the uri is not asked for", "%s", r.String())
			}
		}
	})

var _ = scenario("P5.3", "stored-before-named", "an entry, a fork, a cross-session write and a memory write, short and long: each body is stored under its digest before a file refers to it",
	"P5.3-4",
	func(x *Lab) {
		other, ns := x.shortLog(), x.Word("ns")
		var outs, ordinary []wire.OutputRecord
		for _, n := range []int{30, 3000} {
			var four [4]wire.OutputRecord
			for i, name := range []string{"entry", "fork", "message", "memories/" + ns + "/kept"} {
				name = fmt.Sprintf("%s-%d", name, n)
				four[i] = wire.OutputRecord{Name: name, Data: x.longBody(n), ContentType: "text/plain"}
			}
			four[1].Fork, four[2].Session = true, other.ID.String()
			outs, ordinary = append(outs, x.welcome(four[:]...)...), append(ordinary, four[0])
		}
		// Who does not wait for the blobs writes the file while these are held.
		x.S3.Intercept(At("objects/", fakes3.OpPut), func(ctx context.Context, r *fakes3.Request) fakes3.Decision {
			delay(ctx, 40*time.Millisecond)
			return fakes3.Pass()
		})
		got := x.commitOf("", plainly(outs...))
		if len(got.lacks(ordinary...)) > 0 {
			x.Stop("the ordinary entries were not committed (%s; committed: %s), so where bodies are stored is not judged", got.exit.Exit, got.list())
		}
		files := x.filesReferringTo()
		for _, o := range outs {
			digest := wire.Digest(o.Data)
			named := files[digest]
			if len(named) == 0 {
				continue // that kind of Output does not arrive, which is judged elsewhere
			}
			_, ok := x.Get("objects/" + digest)
			if !ok && x.keyHolding(o.Data) != "" {
				continue // at a key of another form: S3-1, S3-2
			}
			if !x.Clause("P5.3-4").Holds(ok, "the body of "+o.Name+" lies at objects/"+digest, "there: %t; referred to by %s", ok, named[0].Key) {
				continue
			}
			for _, file := range named {
				before := false
				for _, r := range x.Writes("objects/" + digest) {
					before = before || r.Took == fakes3.Applied && r.Status == 200 && !r.Applied.After(file.Arrived)
				}
				x.Clause("P5.3-4").Holds(before, "the body of "+o.Name+" is stored before the file that refers to it is written", "%s, and the blob's writes: %s", file.String(), requestLines(x.Writes("objects/"+digest)))
			}
		}
	})

// filesReferringTo are, by digest, the successful writes of snapshots and memory
// files that name it.
func (x *Lab) filesReferringTo() map[string][]fakes3.Request {
	out := map[string][]fakes3.Request{}
	for _, r := range append(x.Writes("sessions/"), x.Writes("memories/")...) {
		o, ok := x.Get(Key(r))
		if !ok || r.Took != fakes3.Applied || r.Status != 200 {
			continue
		}
		switch wire.ParseKey(o.Key).Kind {
		case wire.KindSnapshot:
			snap, _ := wire.DecodeSnapshot(o)
			for _, d := range snap.Descriptors {
				out[d.Digest] = append(out[d.Digest], r)
			}
		case wire.KindMemory:
			file, _ := wire.DecodeMemory(o)
			for _, d := range file.Records {
				out[d.Digest] = append(out[d.Digest], r)
			}
		}
	}
	return out
}

func requestLines(list []fakes3.Request) string {
	if len(list) == 0 {
		return "none"
	}
	var out []string
	for _, r := range list {
		out = append(out, r.String())
	}
	return strings.Join(out, "; ")
}

var _ = scenario("P5.3", "one-key-per-body", "the same body as two entries, a fork, a message, a memory object, by data and by uri: one blob, one digest",
	"P5.3-5",
	func(x *Lab) {
		other, ns := x.shortLog(), x.Word("ns")
		body := x.longBody(2000)
		uri := x.elsewhere("same", body)
		outs := []wire.OutputRecord{
			{Name: "first", Data: body, ContentType: "text/plain"},
			{Name: "second", Data: body, ContentType: "application/json", Metadata: map[string]string{"k": "v"}},
			{Name: "fork", Data: body, Fork: true, ContentType: "text/x-fork"},
			{Name: "message", Data: body, Session: other.ID.String()},
			{Name: "memories/" + ns + "/kept", Data: body},
		}
		if control := x.unpadded("control"); !x.exact(control, control.Data) {
			x.Stop("an Output with data is not committed with the digest of that body (P5.3-1)")
		}
		if behind := x.threes("behind a uri"); x.exact(wire.OutputRecord{Name: "control", URI: x.elsewhere("control", behind)}, behind) {
			outs = append(outs, wire.OutputRecord{Name: "by-uri", URI: uri})
		}
		outs = x.welcome(outs...)
		got := x.commitOf("", plainly(outs...))
		if len(got.lacks(outs[0], outs[1])) > 0 {
			x.Stop("the ordinary entries were not committed (%s; committed: %s), so their digests say nothing", got.exit.Exit, got.list())
		}
		var holders []string
		for _, k := range x.New("objects/") {
			if o, _ := x.Get(k); bytes.Equal(o.Body, body) {
				holders = append(holders, k)
			}
		}
		if len(holders) == 0 {
			x.Stop("no key below objects/ holds the bytes (S3-3), so that equal bodies share one is not seen")
		}
		x.Clause("P5.3-5").Expect(holders).To(HaveLen(1), "exactly one key below objects/ holds these bytes")
		for _, d := range append(got.entries, x.appended(other.ID)...) {
			x.Clause("P5.3-5").Expect(d.Digest).To(Equal(wire.Digest(body)), "every descriptor of the body has that digest (%s)", d.Name)
		}
		for _, r := range x.remembered(ns) {
			x.Clause("P5.3-5").Expect(r.Digest).To(Equal(wire.Digest(body)), "the memory record of the body has that digest")
		}
	})
