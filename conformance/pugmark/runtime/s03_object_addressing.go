package runtime

import (
	"bytes"
	"fmt"
	"regexp"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

// digestLike searches a short body whose digest begins with a zero byte and has
// letters, so that dropped zeros and upper case show.
func (x *Lab) digestLike() []byte {
	shape := regexp.MustCompile(`^sha256:00.*[a-f]`)
	for {
		if body := []byte(x.Word("body")); shape.MatchString(wire.Digest(body)) {
			return body
		}
	}
}

// blobOf judges that a body which was to be committed under a name lies at the key
// of its digest, unchanged. A body that went elsewhere is held against the clause
// that its place breaks.
func (x *Lab) blobOf(got commit, name string, body []byte, what string, pass ...string) {
	key := "objects/" + wire.Digest(body)
	if o, ok := x.Get(key); ok {
		if bytes.Equal(o.Body, body) { // other bytes there break S3-3, which the rule on blobs judges
			for _, clause := range pass {
				x.Clause(clause).Calldepth(1).Holds(true, "the body lies at objects/sha256:<its digest>, as it is", "%s: %d bytes at %s", what, len(body), key)
			}
		}
		return
	}
	if x.keyHolding(body) != "" {
		return // there, at a key of another form: S3-1, S3-2
	}
	for _, d := range got.entries {
		if d.Name != name || !d.HasDigest() || d.Digest == wire.Digest(body) {
			continue
		}
		other, there := x.Get(d.BlobKey())
		x.Clause("S3-4").Calldepth(1).Resting("R-12").Holds(false, "the body is stored as it is, at the key of its own digest",
			"%s of %d bytes, beginning %q, is committed as %s; stored there: %t, %d bytes, beginning %q", what, len(body), clip(body, 40), d.Digest, there, len(other.Body), clip(other.Body, 40))
		return
	}
}

// keyHolding is a key below objects/ at which the subject stored a body, "" for none.
func (x *Lab) keyHolding(body []byte) string {
	for _, k := range x.New("objects/") {
		if o, _ := x.Get(k); bytes.Equal(o.Body, body) {
			return k
		}
	}
	return ""
}

var _ = scenario("S3", "stored-bodies", "empty, short, long, binary, JSON and gzip bodies, one whose digest begins with zeros, and a megabyte that would compress well: each is stored as it is, at the key of its digest",
	"S3-1 S3-2 S3-3 S3-4",
	func(x *Lab) {
		packed, _ := x.gzipped()
		control := x.unpadded("control")
		bodies := []struct {
			name, what, encoding string
			body                 []byte
			clauses              []string
		}{
			{"five", "a body of five bytes", "", x.Bytes(5), fields("S3-1")},
			{"long", "a body of 2000 bytes", "", x.Bytes(2000), fields("S3-1")},
			{"zeros", "a body whose digest begins with two zeros and has letters", "", x.digestLike(), fields("S3-1 S3-2")},
			{"binary", "bytes with NUL, CR LF and no UTF-8", "", append([]byte("a\x00\r\n\xff\xfe\r"), x.Bytes(1500)...), fields("S3-4")},
			{"json", "JSON text with spaces", "", []byte(fmt.Sprintf("{ \"b\" : 1.0,\n\t\"a\": %q }\n", x.Word("w"))), fields("S3-4")},
			{"packed", "a gzip body, declared so", "gzip", packed, fields("S3-3 S3-4")},
			{"megabyte", "a megabyte of repeated text", "", x.longBody(1 << 20), fields("S3-4")},
		}
		outs := []wire.OutputRecord{control}
		for _, b := range bodies {
			outs = append(outs, wire.OutputRecord{Name: b.name, Data: b.body, ContentEncoding: b.encoding})
		}
		got := x.commitOf("", plainly(outs...))
		if len(got.entries) == 0 {
			x.Stop("nothing was committed (%s)%s", got.exit.Exit, got.complaint())
		}
		for _, b := range bodies {
			x.blobOf(got, b.name, b.body, b.what, b.clauses...)
		}

		// That a name alone makes an entry with an empty body is assumed.
		empty := x.commitOf("", plainly(x.unpadded("beside"), wire.OutputRecord{Name: "empty"}))
		if len(empty.lacks(wire.OutputRecord{Name: "empty"})) == 0 {
			x.blobOf(empty, "empty", nil, "an empty body", "S3-1")
		}
	}, overBoth)

var _ = scenario("S3", "every-way-of-writing", "blobs by data, by uri (20 MiB), of memory, of forks, of messages and of a pause, some of them again by later runs and another session: how each of them is written",
	"S3-5 S3-6 S3-7 S3-9 S7.1-3 S3.1-3",
	func(x *Lab) {
		s, second, target, ns := x.shortLog(), x.shortLog(), x.shortLog(), x.Word("ns")
		large := x.longBody(20 << 20)
		fork, message := x.output("fork"), x.output("message")
		fork.Fork = true
		message.Session = target.ID.String()
		again := x.output("again")
		outs := []wire.OutputRecord{again, {Name: "large", URI: x.elsewhere("large", large)},
			{Name: "memories/" + ns + "/note", Data: []byte(x.Word("note"))}, fork, message, {Name: "empty"}, {Name: "long", Data: x.Bytes(3000)}, pause("enough")}
		first := x.commitTo(s, "", plainly(x.welcome(outs...)...))
		if len(first.entries) == 0 {
			x.Stop("nothing was committed (%s)%s", first.exit.Exit, first.complaint())
		}
		for range 2 {
			x.commitTo(second, "", plainly(again))
		}
		// The verdicts are those of the rules on all writes of blobs. What has to have
		// happened for them to say something about each kind:
		for what, body := range map[string][]byte{"an entry": again.Data, "a uri": large, "a fork": fork.Data, "a message": message.Data, "a memory write": outs[2].Data} {
			if len(x.created("objects/"+wire.Digest(body))) == 0 {
				x.Evidence("note", "no write of the blob of "+what+" was seen, so how that is written is not judged")
			}
		}
	})

var _ = scenario("S3", "already-there", "Outputs whose bodies the bucket holds already, from a seed and from an earlier run: the run succeeds as with new ones, and the blobs stay whole",
	"S3-10",
	func(x *Lab) {
		x.control(x.unpadded("control"))
		seeded, own := x.longBody(1500), wire.OutputRecord{Name: "own", Data: x.longBody(2000), ContentType: "text/plain"}
		x.Bucket.Blob(seeded, "application/octet-stream", "")
		x.control(own)
		before, _ := x.Get("objects/" + wire.Digest(own.Data))
		intact := bytes.Equal(before.Body, own.Data) // else S3-3 has been broken already
		for _, o := range []struct {
			what string
			out  wire.OutputRecord
		}{
			{"which somebody else stored", wire.OutputRecord{Name: "seeded", Data: seeded, ContentType: "text/plain"}},
			{"which an earlier run stored", own},
		} {
			got := x.commitTo(x.shortLog(), "S3-10", plainly(o.out))
			_, committed := got.by(o.out.Data)
			x.Clause("S3-10").Holds(got.exit.Success() && committed, "an Output whose body is there already, "+o.what+", is committed like any other", "%s; committed: %s%s", got.exit.Exit, got.list(), got.complaint())
			if blob, there := x.Get("objects/" + wire.Digest(o.out.Data)); there && intact {
				x.Clause("S3-10").Holds(bytes.Equal(blob.Body, o.out.Data), "the blob, "+o.what+", still has its bytes", "%d bytes, %q…", len(blob.Body), clip(blob.Body, 40))
			}
		}
	}, overBoth)
