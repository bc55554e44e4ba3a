package runtime

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"slices"
	"strings"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

func gzipOf(b []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, _ = z.Write(b) // a buffer takes everything
	_ = z.Close()
	return out.Bytes()
}

// Whether a body is what its declaration says is the handler's affair.
var _ = scenario("S15", "declared-encodings", "bodies declared gzip and zstd, as data and by uri, and bodies without a declaration: what their blobs say of themselves",
	"S15-1",
	func(x *Lab) {
		s := x.shortLog()
		plain := func() []byte { return []byte(strings.Repeat(x.Word("text"), 40)) }
		outs := []wire.OutputRecord{
			{Name: "gzip", Data: gzipOf(plain()), ContentType: "text/plain", ContentEncoding: "gzip"},
			{Name: "zstd", Data: wire.EncodeZstd(plain()), ContentType: "text/plain", ContentEncoding: "zstd"},
			{Name: "long gzip", Data: gzipOf(x.Bytes(3000)), ContentType: "text/plain", ContentEncoding: "gzip"},
			{Name: "none", Data: plain(), ContentType: "text/plain"},
			{Name: "none, JSON", Data: []byte(`{"a":"` + x.Word("w") + `"}`)},
		}
		bodies := map[string][]byte{}
		for _, o := range outs {
			bodies[o.Name] = o.Data
		}
		for _, encoding := range fields("gzip zstd") {
			name, body := "uri "+encoding, gzipOf(x.Bytes(2000))
			if encoding == "zstd" {
				body = wire.EncodeZstd(x.Bytes(2000))
			}
			bodies[name] = body
			outs = append(outs, wire.OutputRecord{Name: name, URI: x.elsewhere(encoding, body), ContentType: "text/plain", ContentEncoding: encoding})
		}
		got := x.commitTo(s, "", plainly(outs...))
		for _, o := range outs {
			body := bodies[o.Name]
			blob, there := x.Get("objects/" + wire.Digest(body))
			if _, committed := got.by(body); !committed || !there {
				continue // stored otherwise, or not at all: S3-1 to S3-4
			}
			encoding := strings.TrimPrefix(blob.ContentEncoding, "identity")
			x.Clause("S15-1").Resting("R-12").Holds(encoding == o.ContentEncoding && bytes.Equal(blob.Body, body),
				fmt.Sprintf("the blob of a body declared %q has that Content-Encoding, and the body's own bytes (%s)", o.ContentEncoding, o.Name), "Content-Encoding %q, %d bytes of %d", blob.ContentEncoding, len(blob.Body), len(body))
		}
	}, overBoth)

var _ = scenario("S15", "encoded-documents", "manifests, a ref, snapshots and memory files that are stored gzip, zstd or plain, with the header to match: they are read by it",
	"S15-2",
	func(x *Lab) {
		encode := map[string]func([]byte) []byte{"": bytes.Clone, "gzip": gzipOf, "zstd": wire.EncodeZstd}
		for _, encoding := range []string{"", "gzip", "zstd"} {
			name := x.Word("name")
			s := x.Session(wire.SessionSpec{Agent: "agent-7", Name: name, NoRef: true, Metadata: map[string]string{"k": "v"}, ContentEncoding: encoding})
			ref := wire.Ref("sessions/"+name, s.ID.ManifestKey())
			ref.Body, ref.ContentEncoding = encode[encoding](ref.Body), encoding
			x.Must(x.Put(ref))
			s.Commit(wire.Checkpoint, x.text("a"))
			out := x.output("entry")
			seen, ok := x.runsWith(s, fields("a"), out)
			if encoding == "" && !ok {
				x.Stop("a named session whose manifest and ref are plain does not run either: %s", seen)
			}
			x.Clause("S15-2").Holds(ok, fmt.Sprintf("a manifest and a ref with Content-Encoding %q are decoded by it: the session runs like one that is stored plain", encoding), "%s", seen)
		}
		// Other encodings of snapshots and memory files are against the text themselves.
		for _, encoding := range []string{"zstd", "gzip", ""} {
			s := x.Session(wire.SessionSpec{})
			spec := wire.SnapshotSpec{Entries: []wire.Entry{x.text("a"), x.text("b")}, Encode: encode[encoding], ContentEncoding: encoding}
			if encoding == "" {
				spec.ContentEncoding = "-"
			}
			s.Put(spec)
			seen, ok := x.runsWith(s, fields("a b"), x.output("entry"))
			if encoding == "zstd" && !ok {
				x.Stop("a session with an ordinary snapshot does not run either: %s", seen)
			}
			x.Clause("S15-2").Warning().Holds(ok, fmt.Sprintf("a snapshot with Content-Encoding %q is decoded by it", encoding), "%s", seen)
		}
	}, overBoth)

// runsWith runs a session and tells whether it replays entries of these names and
// commits what its handler writes.
func (x *Lab) runsWith(s *wire.Session, want []string, out wire.OutputRecord) (seen string, ok bool) {
	run := x.Run(s.ID)
	inv, why := run.await()
	if inv == nil {
		return why, false
	}
	got := inv.Names()
	inv.Finish(out)
	exit := run.Wait()
	version := s.Version() + 1
	ok = slices.Equal(got, want) && x.bodyCommitted(s.ID, version, out.Data)
	return fmt.Sprintf("%q replayed, committed as version %d: %t; %s%s", got, version, x.bodyCommitted(s.ID, version, out.Data), exit.Exit, run.said()), ok
}

var _ = scenario("S15", "lost-encoding", "blobs of gzip and zstd bytes whose Content-Encoding was lost, and one of gzip within gzip that is declared: the first may be served in any of three ways, the second is undone once",
	"S15-3 S15-2",
	func(x *Lab) {
		text := []byte(strings.Repeat(x.Word("text"), 100))
		inner := gzipOf(text)
		s := x.Session(wire.SessionSpec{})
		s.Commit(wire.Checkpoint,
			wire.Entry{Name: "gzip", Body: inner, NoInline: true},
			wire.Entry{Name: "zstd", Body: wire.EncodeZstd(text), NoInline: true},
			wire.Entry{Name: "twice", Body: gzipOf(inner), ContentEncoding: "gzip", NoInline: true})
		run := x.Run(s.ID)
		inv := run.Next()
		if got := inv.Names(); !slices.Equal(got, fields("gzip zstd twice")) {
			x.Stop("the entries are not replayed as they lie there: %q", got)
		}
		for _, in := range inv.Replay() {
			if in.URL == "" {
				continue // served inline: P7.1
			}
			res, err := inv.Get(in.URL)
			if err != nil || res.Status != 200 {
				continue // P7
			}
			encoding := strings.TrimPrefix(res.Header.Get("Content-Encoding"), "identity")
			if in.Name == "twice" {
				once, err := undone(res.Body, encoding)
				x.Clause("S15-2").Holds(err == nil && (bytes.Equal(once, inner) || encoding == "" && bytes.Equal(res.Body, gzipOf(inner))), "a body that is declared gzip, and is gzip once more inside, is undone by its declaration at most, and not by its first bytes",
					"Content-Encoding %q, %d bytes, beginning % x", encoding, len(res.Body), clip(res.Body, 4))
				continue
			}
			raw := inner
			if in.Name == "zstd" {
				raw = wire.EncodeZstd(text)
			}
			asIs := bytes.Equal(res.Body, raw) && (encoding == "" || encoding == in.Name)
			decoded := bytes.Equal(res.Body, text) && encoding == ""
			x.Clause("S15-3").Holds(asIs || decoded, "the stored bytes as they are, the stored bytes with Content-Encoding "+in.Name+", or the decoded body", "Content-Encoding %q, %d bytes, beginning % x", encoding, len(res.Body), clip(res.Body, 4))
		}
		inv.Finish()
		run.Wait()
	}, overBoth)
