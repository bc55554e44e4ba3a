package runtime

import (
	"bytes"
	"fmt"
	"strings"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

// letters is a text of n random letters, and a dot that shows that it is no base64.
func (x *Lab) letters(n int) string {
	b := x.Bytes(n)
	for i := range b {
		b[i] = 'a' + b[i]%26
	}
	b[0] = '.'
	return string(b)
}

var _ = scenario("S3.1", "inline-or-not", "short entries with inline data, and the same without: the handler gets each body, from data or by url",
	"S3.1-1 S3.1-4 S7.1-2 S7.1-4",
	func(x *Lab) {
		s := x.Session(wire.SessionSpec{})
		long := wire.Text("long", x.letters(3000))
		list := []wire.Entry{}
		for _, n := range []int{1, 100, 1024} {
			for _, inline := range []bool{true, false} {
				e := wire.Text(fmt.Sprintf("%d bytes, inline %t", n, inline), x.letters(n))
				e.NoInline = !inline
				list = append(list, e)
			}
		}
		s.Commit(wire.Checkpoint, append([]wire.Entry{long}, list...)...)
		run := x.Run(s.ID)
		inv := run.Next()
		control, _ := inv.named("long")
		if body, _, why := inv.Body(control); !bytes.Equal(body, long.Body) {
			x.Stop("a long entry is not served either, so what becomes of short ones is for P4.1 to judge: %d bytes %s", len(body), why)
		}
		for _, e := range list {
			in, ok := inv.named(e.Name)
			if !ok {
				x.Stop("the entry %q is not replayed", e.Name)
			}
			body, ok, why := inv.Body(in)
			clauses := fields("S3.1-1 S3.1-4 S7.1-4")
			if e.NoInline {
				clauses = fields("S3.1-1 S7.1-2")
			}
			gets := 0
			for _, r := range x.S3.Requests() {
				if r.Op == fakes3.OpGet && Key(r) == "objects/"+wire.Digest(e.Body) {
					gets++
				}
			}
			for _, clause := range clauses {
				x.Clause(clause).Holds(ok && bytes.Equal(body, e.Body), "an entry of up to 1024 bytes reaches the handler whole, whether its descriptor carries data or not, and whether or not the blob is read",
					"%s: got %d bytes %q %s; GETs of the blob: %d", e.Name, len(body), clip(body, 40), why, gets)
			}
		}
		inv.Finish()
		run.Wait()
	}, overBoth)

var _ = scenario("S3.1", "inline-limit", "bodies of 0, 10, 1023, 1024, 1025 and 4096 bytes as entries, forks, messages and memory: only up to 1024 are inlined, and all are stored",
	"S3.1-2 S3.1-3 S7.1-3 S7-4",
	func(x *Lab) {
		s, target, ns := x.shortLog(), x.shortLog(), x.Word("ns")
		var outs []wire.OutputRecord
		for _, n := range []int{10, 1023, 1024, 1025, 4096} {
			for i, kind := range fields("entry fork message memory") {
				o := wire.OutputRecord{Name: fmt.Sprintf("%s-%d", kind, n), Data: x.Bytes(n), ContentType: "application/octet-stream"}
				switch i {
				case 1:
					o.Fork = true
				case 2:
					o.Session = target.ID.String()
				case 3:
					o.Name = "memories/" + ns + "/" + o.Name
				}
				outs = append(outs, o)
			}
		}
		outs = append(outs, wire.OutputRecord{Name: "entry-0"})
		x.commitTo(s, "", plainly(x.welcome(outs...)...))
		seen := map[string]bool{}
		for _, d := range x.writtenDescriptors() {
			kind, size, _ := strings.Cut(d.Name, "-")
			if size == "" {
				continue
			}
			if d.file.Key == bucketRoot+target.ID.SnapshotKey(2) {
				kind = "delivery"
			}
			seen[kind+"-"+size] = true
			if long := size == "1025" || size == "4096"; long {
				x.Clause("S3.1-2").Holds(!d.HasData, "a body of more than 1024 bytes, as stored, is not inlined", "%s-%s: %d bytes in data", kind, size, len(d.Data))
			}
		}
		if missing := without(fields("entry-1025 fork-1025 message-1025 delivery-1025 memory-1025"), keysOf(seen)); len(missing) > 0 {
			x.Evidence("note", "not committed, and so not judged: "+strings.Join(missing, ", "))
		}
	}, overBoth)

var _ = scenario("S3.1", "sizes", "five MiB by uri and a gzip body: size is the length of what is stored",
	"S7-4",
	func(x *Lab) {
		packed, _ := x.gzipped()
		large := x.longBody(5 << 20)
		got := x.commitOf("", plainly(wire.OutputRecord{Name: "packed", Data: packed, ContentEncoding: "gzip"}, wire.OutputRecord{Name: "large", URI: x.elsewhere("large", large)}))
		d, ok := got.by(large)
		if !ok {
			x.Stop("the body behind the uri was not committed (%s; committed: %s)%s", got.exit.Exit, got.list(), got.complaint())
		}
		x.Clause("S7-4").Expect(d.Size).To(Equal(int64(len(large))), "size is the length of the blob, %d bytes", len(large))
	})
