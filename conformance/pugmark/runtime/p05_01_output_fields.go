package runtime

import (
	"fmt"
	"strings"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

// What of an Output gets into its descriptor. What the next replay makes of the
// descriptor is P4.1.

var _ = scenario("P5.1", "bodies", "bodies of several lengths, of every byte value and of bytes that are no UTF-8, and an Output without one: stored byte for byte",
	"P5.1-1",
	func(x *Lab) {
		every := make([]byte, 258)
		for i := range every {
			every[i] = byte(i)
		}
		// Lengths that need no padding (P3.1-4), none beyond 64 KiB on the wire (P3-9).
		outs := []wire.OutputRecord{{Name: "every-byte", Data: every}, {Name: "no-utf-8", Data: []byte{0xff, 0xfe, 0x80, 0xc3, 0x28, 0}}}
		for _, n := range []int{3, 1023, 1026, 39999} {
			outs = append(outs, wire.OutputRecord{Name: fmt.Sprintf("%d-bytes", n), Data: x.Bytes(n)})
		}
		for i := range outs {
			outs[i].ContentType = "application/octet-stream" // P3.2-1
		}
		control := x.unpadded("control")
		x.control(control)
		got := x.commitOf("P5.1-1", plainly(outs...))
		for _, o := range outs {
			x.storedAs("P5.1-1", got, o.Data, o.Name) // what size says is S7-4
		}
		empty := x.commitOf("P5.1-1", `{"name":"nothing in it"}`+"\n"+plainly(control))
		d, ok := empty.of(wire.OutputRecord{Name: "nothing in it"})
		x.Clause("P5.1-1").Assuming("R-03").Holds(ok && d.Digest == wire.Digest(nil), "an Output with a name and no body is committed with an empty body, digest "+wire.Digest(nil), "%s; committed: %s%s", empty.exit.Exit, empty.list(), empty.complaint())
	}, overBoth)

var _ = scenario("P5.1", "uri", "an Output with uri and name, and addresses of other schemes: the name stays, the address is not the body, ftp and file are refused",
	"P5.1-2",
	func(x *Lab) {
		body := x.threes("behind the uri")
		uri := x.elsewhere("key", body)
		got := x.commitOf("P5.1-2", plainly(wire.OutputRecord{Name: "named", URI: uri}))
		d, ok := got.of(wire.OutputRecord{Name: "named"})
		x.Clause("P5.1-2").Holds(ok && d.Digest == wire.Digest(body), "an Output with a name and uri "+uri+" is committed under its name with the body that lies there", "%s; committed: %s%s", got.exit.Exit, got.list(), got.complaint())
		_, literal := got.by([]byte(uri))
		x.Clause("P5.1-2").Holds(!literal, "the text of the uri is not the body", "committed: %s", got.list())
		for _, other := range []string{"ftp://127.0.0.1/x", "file:///etc/hostname"} {
			outs := []wire.OutputRecord{x.unpadded("beside"), {Name: "odd", URI: other}}
			refused := x.commitOf("P5.1-2", plainly(outs...))
			x.Clause("P5.1-2").Assuming("R-31").Holds(len(refused.lacks(outs...)) == 2, "the uri "+other+" fails the invocation, and none of its Outputs is committed", "%s; committed: %s", refused.exit.Exit, refused.list())
		}
	})

var _ = scenario("P5.1", "copied-fields", "types, schemas, names and metadata that others would tidy up: descriptors have them unchanged",
	"P5.1-3 P5.1-5 P5.1-6 P5.1-7",
	func(x *Lab) {
		control := x.unpadded("control")
		x.control(control)
		plain := func(change func(o *wire.OutputRecord)) wire.OutputRecord {
			o := wire.OutputRecord{Data: x.threes("body")}
			change(&o)
			return o
		}
		var outs []wire.OutputRecord
		for _, t := range []string{"Text/Plain; Charset=UTF-8", "application/x-none", "text/html"} {
			outs = append(outs, plain(func(o *wire.OutputRecord) { o.ContentType = t }))
		}
		outs = append(outs, plain(func(o *wire.OutputRecord) { o.SchemaURL = "https://example.com/s?v=1#x" }))
		for _, n := range []string{"a", "dir/b c.txt", "memo/x", "memories", "../up//and down/", ""} {
			outs = append(outs, plain(func(o *wire.OutputRecord) { o.Name = n }))
		}
		metadata := map[string]string{"Key-A": "1", "key-a": "2", "duration": "5s", "k": "two\nlines \"<&>"}
		outs = append(outs, plain(func(o *wire.OutputRecord) { o.Metadata = metadata }))
		got := x.commitOf("", plainly(outs...))
		for _, o := range outs {
			d, ok := got.by(o.Data)
			if !ok {
				continue // what is lost altogether is P5.3-12
			}
			if o.ContentType != "" {
				x.Clause("P5.1-3").Resting("R-03").Expect(d.ContentType).To(Equal(o.ContentType), "the descriptor's content-type is the Output's, character for character")
			}
			if o.SchemaURL != "" {
				x.Clause("P5.1-5").Resting("R-03").Expect(d.SchemaURL).To(Equal(o.SchemaURL), "the descriptor's schema-url is the Output's, unchanged")
			}
			x.Clause("P5.1-6").Resting("R-03").Expect(d.Name).To(Equal(o.Name), "the descriptor's name is the Output's, unchanged; where it has none there is none")
			if o.Metadata != nil {
				x.Clause("P5.1-7").Resting("R-03").Expect(d.Metadata).To(Equal(metadata), "the descriptor's metadata is the Output's, keys and values unchanged")
				x.Clause("P5.1-7").Resting("R-03").Expect(x.stops(got.session.ID)).To(BeZero(), "a duration in the metadata of an ordinary entry stops nothing")
			}
		}
	}, overBoth)

var _ = scenario("P5.1", "encoded-bodies", "a gzip and a zstd body with their content-encoding: stored as given, named as given",
	"P5.1-4",
	func(x *Lab) {
		packed, plain := x.gzipped()
		bodies := map[string][]byte{"gzip": packed, "zstd": wire.EncodeZstd(plain)}
		var outs []wire.OutputRecord
		for _, e := range fields("gzip zstd") {
			outs = append(outs, wire.OutputRecord{Name: e, Data: bodies[e], ContentType: "text/plain", ContentEncoding: e})
		}
		got := x.control(outs...)
		for _, o := range outs {
			d, _ := got.of(o)
			clause := x.Clause("P5.1-4").Resting("R-03", "R-12")
			clause.Expect(d.ContentEncoding).To(Equal(o.ContentEncoding), "the descriptor's content-encoding is the Output's (%s)", o.Name)
			clause.Expect(d.Digest).To(Equal(wire.Digest(o.Data)), "the descriptor's digest is over the bytes as given, still encoded (%s); decoded they would give %s", o.Name, wire.Digest(plain))
			if blob, ok := x.Get("objects/" + wire.Digest(o.Data)); ok {
				clause.Expect(blob.ContentEncoding).To(Equal(o.ContentEncoding), "the blob has the Output's Content-Encoding")
			}
		}
	}, overBoth)

var _ = scenario("P5.1", "fork-flag", "two Outputs that differ in fork only: one asks for a child session, the other is an entry",
	"P5.1-8",
	func(x *Lab) {
		asks, stays := x.unpadded("asks"), x.unpadded("stays")
		asks.Fork = true
		got := x.commitOf("P5.1-8", plainly(asks, stays))
		first, _ := got.of(asks)
		second, ok := got.of(stays)
		if !ok {
			x.knowsForks("P5.1-8")
			x.Stop("the entry beside the fork was not committed (%s; committed: %s)", got.exit.Exit, got.list())
		}
		child, forked := first.ForkTarget()
		x.Clause("P5.1-8").Resting("R-03").Holds(forked && !child.IsZero(), "the Output with fork true is recorded as a fork, with a child's ID as its target", "committed: %s", got.list())
		x.Clause("P5.1-8").Resting("R-03").Holds(!second.IsFork(), "the Output without it is no fork", "committed: %s", got.list())
	}, overBoth)

var _ = scenario("P5.1", "session-field", "a fork with a chosen child, messages to another session in lower and upper case, and an ID that is none",
	"P5.1-9",
	func(x *Lab) {
		other, child := x.shortLog(), x.NewID()
		fork, lower, upper := x.unpadded("fork"), x.unpadded("lower"), x.unpadded("upper")
		fork.Fork, fork.Session = true, child.String()
		lower.Session, upper.Session = other.ID.String(), strings.ToUpper(other.ID.String())
		got := x.commitOf("P5.1-9", plainly(x.welcome(fork, lower, x.unpadded("beside"))...))
		spelled := x.commitOf("P5.1-9", plainly(upper, x.unpadded("beside")))
		if d, ok := got.of(fork); ok && d.IsFork() {
			x.Clause("P5.1-9").Resting("R-03").Expect(strings.ToLower(d.TargetSession)).To(Equal(child.String()), "a fork's session is the child's ID")
		}
		for _, o := range []wire.OutputRecord{lower, upper} {
			if o.Name == upper.Name {
				if got = spelled; !got.exit.Success() {
					break // upper case is not taken, which S4.1-4 judges
				}
			}
			d, ok := got.of(o) // in which case an ID is recorded is S4.1-3
			x.Clause("P5.1-9").Resting("R-03").Holds(ok && !d.IsFork() && strings.EqualFold(d.TargetSession, other.ID.String()), fmt.Sprintf("an Output with session %s goes to that session", o.Session), "%s; committed: %s%s", got.exit.Exit, got.list(), got.complaint())
		}
		for _, bad := range []string{"not-an-id", other.ID.String()[:31], other.ID.String() + "0"} {
			odd := x.unpadded("odd")
			odd.Session = bad
			outs := []wire.OutputRecord{x.unpadded("beside"), odd}
			refused := x.commitOf("P5.1-9", plainly(outs...))
			x.Clause("P5.1-9").Assuming("R-29").Holds(len(refused.lacks(outs...)) == 2, fmt.Sprintf("session %q, which is not 32 hex digits, fails the invocation, and none of its Outputs is committed", bad), "%s; committed: %s", refused.exit.Exit, refused.list())
		}
	})
