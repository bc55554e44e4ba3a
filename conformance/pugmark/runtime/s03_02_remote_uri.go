package runtime

import (
	"bytes"
	"encoding/base64"
	"fmt"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

var _ = scenario("S3.2", "taken-in", "bodies in another bucket, in the user's part of the same bucket and on a web server, with misleading tags: each becomes a blob of the session's bucket, and later runs do without the source",
	"S3.2-1 S3.2-2 S3.2-3 S3.2-4",
	func(x *Lab) {
		if long := x.longBody(200_000); !x.exact(wire.OutputRecord{Name: "long", Data: long}, long) {
			x.Stop("a long body that comes as data is not committed with its digest either (P5.3-1, S3-4)")
		}
		far, near, below, web := x.longBody(5<<20), x.longBody(3000), x.longBody(2000), x.longBody(4000)
		server := x.web(func(string) (int, []byte, int) { return 200, web, -1 })
		x.Must(x.S3.Put(bucketName, bucketRoot+"uploads/below", fakes3.Object{Body: below, ContentType: "text/x-source"}))
		for _, v := range []struct {
			what, uri, bucket, key string
			body                   []byte
		}{
			{"an object of another bucket, 5 MiB", x.remote("path/far", far), otherBucket, "path/far", far},
			{"an object of the user's part of the same bucket", x.elsewhere("near", near), bucketName, "outside/near", near},
			{"an object beside the four prefixes of the root", "s3://" + bucketName + "/" + bucketRoot + "uploads/below", bucketName, bucketRoot + "uploads/below", below},
			{"an answer of a web server", server.address + "/web", "", "/web", web},
		} {
			s := x.shortLog()
			got := x.commitTo(s, "S3.2-1", plainly(wire.OutputRecord{Name: "taken", URI: v.uri}))
			permitted := x.Clause("S3.2-1")
			if v.bucket == "" {
				permitted = permitted.Assuming("R-31")
			}
			if !permitted.Holds(got.exit.Success() && len(got.entries) == 1, "an Output that has a uri and no data is committed ("+v.what+")", "%s; committed: %s%s", got.exit.Exit, got.list(), got.complaint()) {
				continue
			}
			d := got.entries[0]
			asked := server.asked(v.key) > 0 || fetched(x.S3.Requests(), v.bucket, v.key)
			copied := x.copies(wire.Digest(v.body))
			if copied == "" {
				x.Clause("S3.2-2").Resting("R-31").Holds(asked, "the runtime gets the body from its source ("+v.what+")", "GET of %s seen: %t", v.uri, asked)
			}
			blob, there := x.Get("objects/" + wire.Digest(v.body))
			if there || x.keyHolding(v.body) == "" { // a key of another form: S3-1, S3-2
				x.Clause("S3.2-3").Holds(there && copied == "", "the body is stored by a write of its own at objects/<digest> of the session's bucket ("+v.what+")",
					"at objects/%s: %t, %d bytes; copied within the store: %q", wire.Digest(v.body), there, len(blob.Body), copied)
			}
			if there { // where it is not, the descriptor cannot refer to it
				x.Clause("S3.2-4").Holds(d.Digest == wire.Digest(v.body), "the descriptor refers to the blob of what the source served ("+v.what+")", "digest %s, size %d", d.Digest, d.Size)
			}
			x.Clause("S3.2-2").Resting("R-31").Holds(d.Digest == wire.Digest(v.body), "the digest is that of the bytes which the source served, "+wire.Digest(v.body)+", whatever its tags say ("+v.what+")", "digest %s", d.Digest)

			if !bytes.Equal(blob.Body, v.body) {
				continue // not there, or other bytes (S3-3): what a later run serves of that is not judged
			}
			if v.bucket != "" {
				x.Must(x.S3.Delete(v.bucket, v.key))
			}
			before, gets := len(x.S3.Requests()), server.asked(v.key)
			run := x.Run(s.ID)
			inv := run.Next("S3.2-4")
			in, replayed := inv.named("taken")
			if !replayed {
				x.Stop("the entry that was taken in is not replayed")
			}
			body, ok, why := inv.Body(in)
			x.Clause("S3.2-4").Holds(ok && bytes.Equal(body, v.body), "the next run serves the body although its source is gone ("+v.what+")", "got %d bytes %s", len(body), why)
			inv.Finish()
			run.Wait()
			again := server.asked(v.key) > gets
			for _, r := range x.S3.Requests()[before:] {
				again = again || v.bucket != "" && r.Bucket == v.bucket && r.Key == v.key
			}
			x.Clause("S3.2-4").Holds(!again, "a later run does not turn to the source ("+v.what+")", "the source was asked again: %t", again)
		}
	}, overBoth)

// copies tells which server-side copy created a blob, "" for none.
func (x *Lab) copies(digest string) string {
	for _, r := range x.created("objects/" + digest) {
		if r.Op == fakes3.OpCopy {
			return r.String()
		}
	}
	return ""
}

var _ = scenario("S3.2", "broken-sources", "a source that breaks off half-way, one that answers 404, one that answers 500 with a body: nothing that came is committed",
	"S3.2-2",
	func(x *Lab) {
		body := x.longBody(200_000)
		half := len(body) / 2
		answers := map[string]func() (int, []byte, int){
			"/whole": func() (int, []byte, int) { return 200, body, -1 },
			"/cut":   func() (int, []byte, int) { return 200, body, half },
			"/none":  func() (int, []byte, int) { return 404, []byte("404 no such object"), -1 },
			"/error": func() (int, []byte, int) { return 500, []byte("500 something broke"), -1 },
		}
		server := x.web(func(path string) (int, []byte, int) { return answers[path]() })
		whole := x.commitOf("", plainly(wire.OutputRecord{Name: "whole", URI: server.address + "/whole"}))
		if _, ok := whole.by(body); !ok {
			x.Stop("a whole body from a web server is not taken in either (%s; committed: %s)%s", whole.exit.Exit, whole.list(), whole.complaint())
		}
		for _, v := range []struct {
			path, what string
			came       []byte
		}{
			{"/cut", "breaks off half-way", body[:half]},
			{"/none", "answers 404", []byte("404 no such object")},
			{"/error", "answers 500 for ever", []byte("500 something broke")},
		} {
			got := x.commitOf("S3.2-2", plainly(x.unpadded("beside"), wire.OutputRecord{Name: "broken", URI: server.address + v.path}))
			if server.asked(v.path) == 0 {
				continue
			}
			partial := false
			for _, d := range got.entries {
				partial = partial || d.Name == "broken" && d.HasDigest() && d.Digest != wire.Digest(nil)
			}
			x.Clause("S3.2-2").Resting("R-31").Holds(!partial, "of a source that "+v.what+" nothing is committed as if it were the body", "%s; committed: %s (what came: %d bytes, %s)", got.exit.Exit, got.list(), len(v.came), wire.Digest(v.came))
			x.Clause("S3.2-2").Assuming("R-31").Holds(len(got.entries) == 0 && !got.exit.Success(), "a source that "+v.what+" fails the invocation, and nothing of it is committed", "%s; committed: %s", got.exit.Exit, got.list())
		}
	})

// That the body behind a uri does not go through the record stream holds by
// construction for what the handler says; this judges the other direction.
var _ = scenario("S3.2", "not-through-the-stream", "the handler names a body of 5 MiB by uri while its input may still be open: nothing about it comes back in that invocation, and the replay leads to it by url",
	"S3.2-5",
	func(x *Lab) {
		s := x.shortLog()
		body := x.longBody(5 << 20)
		plain := wire.OutputRecord{Name: "by-data", Data: x.longBody(5000)}
		run := x.Run(s.ID)
		inv := run.Next()
		inv.Emit(wire.OutputRecord{Name: "by-uri", URI: x.remote("large", body)}, plain)
		input := append([]byte(nil), inv.Received().Raw...)
		inv.Finish()
		exit := run.Wait()
		input = append(input, inv.Input()[min(len(input), len(inv.Input())):]...)
		if got := x.appended(s.ID); len(got) < 2 || got[0].Digest != wire.Digest(body) {
			x.Stop("the body behind the uri was not committed (%s)%s", exit.Exit, run.said())
		}
		mark := []byte(base64.StdEncoding.EncodeToString(body[:300]))
		x.Clause("S3.2-5").Holds(fetched(x.S3.Requests(), otherBucket, "large"), "the runtime gets the body by itself", "no GET of the source")
		x.Clause("S3.2-5").Holds(!bytes.Contains(input, mark) && !bytes.Contains(input, []byte("by-uri")) && !bytes.Contains(input, []byte(wire.Digest(body))),
			"in the invocation that names the uri, the handler's input has nothing of it", "input of %d bytes, beginning %q", len(input), clip(input, 200))
		again := x.Run(s.ID)
		next := again.Next()
		in, replayed := next.named("by-uri")
		control, _ := next.named("by-data")
		if !replayed || control.HasData {
			x.Clause("S3.2-5").NotExercised("%s", fmt.Sprintf("the entry is replayed: %t; one of 5000 bytes by data is replayed inline: %t, which P4.1 judges", replayed, control.HasData))
		} else {
			x.Clause("S3.2-5").Expect(in.HasData).To(BeFalse(), "the replay of a long body that was named by uri has a url and no data, like that of one that came as data")
		}
		next.Finish()
		again.Wait()
	}, overBoth)
