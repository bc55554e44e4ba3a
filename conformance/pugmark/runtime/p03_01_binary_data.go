package runtime

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

var _ = scenario("P3.1", "inline-bodies", "short bodies of every byte value and length, inline in their descriptors: where they travel in data it is standard base64 in one piece",
	"P3.1-1 P3.1-2 P3.1-3",
	func(x *Lab) {
		every := make([]byte, 256)
		for i := range every {
			every[i] = byte(i)
		}
		bodies := map[string][]byte{
			"every-byte": every, "one": {0x80}, "two": {0x7f, 0xfe}, "three": {0xff, 0, 0xff}, "plus-and-slashes": {0xfb, 0xff, 0xfe},
			"text": []byte("plain text, with blanks: no base64"), "58-bytes": x.Bytes(58), "100-bytes": x.Bytes(100), "1024-bytes": x.Bytes(1024),
		}
		order := fields("every-byte one two three plus-and-slashes text 58-bytes 100-bytes 1024-bytes")
		var list []wire.Entry
		for _, n := range order {
			list = append(list, wire.Entry{Name: n, Body: bodies[n]})
		}
		s := x.Session(wire.SessionSpec{})
		s.Commit(wire.Checkpoint, list...)
		run := x.Run(s.ID)
		inv := run.Next()
		for _, in := range inv.Replay() {
			body, ok := bodies[in.Name]
			if !ok || in.RawData == "" {
				continue
			}
			spelled := base64.StdEncoding.EncodeToString(body)
			x.Clause("P3.1-1").Holds(bytes.Equal(in.Data, body), "data is the base64 of the body: "+clipped(spelled), "%s: data %q", in.Name, clip([]byte(in.RawData), 100))
			if !likeBase64(in.RawData) {
				continue // no base64 of any alphabet
			}
			if strings.ContainsAny(spelled, "+/") {
				x.Clause("P3.1-2").Holds(!strings.ContainsAny(in.RawData, "-_"), "data uses + and /, never - and _", "%s: data %q", in.Name, clip([]byte(in.RawData), 100))
			}
			if len(body) > 57 {
				x.Clause("P3.1-3").Holds(!strings.ContainsAny(in.RawData, "\r\n"), "data has no line break, however long it is", "%s: data %q", in.Name, clip([]byte(in.RawData), 100))
			}
		}
		inv.Finish()
		run.Wait()
	}, overBoth)

// likeBase64 tells whether a text has only characters of the two alphabets,
// padding and line breaks.
func likeBase64(s string) bool {
	return strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=\r\n") == ""
}

func clipped(s string) string {
	if len(s) > 100 {
		return s[:100] + "…"
	}
	return s
}

var _ = scenario("P3.1", "output-bodies", "the handler hands over bodies of every byte value in base64: exactly these bytes are stored; data that is no base64 fails the invocation",
	"P3.1-1",
	func(x *Lab) {
		// Lengths that need no padding: the others are P3.1-4 and P3.1-5.
		every := make([]byte, 258)
		for i := range every {
			every[i] = byte(i)
		}
		control := wire.OutputRecord{Name: "control", Data: []byte("ABC")}
		if d, ok := x.control(control).by(control.Data); !ok || d.Size != 3 {
			x.Stop("the body ABC, handed over as QUJD, is not stored as ABC, so more is not to be learnt here")
		}
		outs := []wire.OutputRecord{{Name: "every-byte", Data: every}, {Name: "short", Data: []byte{0xfb, 0xff, 0xfe}}, {Name: "1023", Data: x.Bytes(1023)}, {Name: "6000", Data: x.Bytes(6000)}}
		got := x.commitOf("P3.1-1", plainly(outs...))
		for _, o := range outs {
			x.storedAs("P3.1-1", got, o.Data, fmt.Sprintf("%d bytes, as padded base64", len(o.Data)))
		}
		s := x.shortLog()
		bad := x.commitTo(s, "P3.1-1", plainly(control)+`{"name":"bad","data":"****"}`+"\n")
		x.Clause("P3.1-1").Assuming("R-29").Holds(len(bad.lacks(control, wire.OutputRecord{Name: "bad", Data: control.Data})) == 2, `an Output whose data is "****" fails the invocation, and nothing of its output is committed`, "%s; committed: %s", bad.exit.Exit, bad.list())
	}, overBoth)

// storedAs judges that a body has come through: a descriptor has its digest. That
// blobs lie at the key of their digest, and are what it says, is for S3 to judge.
func (x *Lab) storedAs(clause string, got commit, body []byte, how string) {
	acceptable := fmt.Sprintf("a descriptor has the digest of the body (%s)", how)
	d, ok := got.by(body)
	if !ok {
		x.Clause(clause).Calldepth(1).Holds(false, acceptable, "none has digest %s; %s; committed: %s%s", wire.Digest(body), got.exit.Exit, got.list(), got.complaint())
		return
	}
	x.Clause(clause).Calldepth(1).Holds(true, acceptable, "%s", essence(d))
}

var _ = scenario("P3.1", "padding", "bodies of one, two and three bytes with padding, in another run without: A, AB and ABC are stored both times",
	"P3.1-4 P3.1-5",
	func(x *Lab) {
		control := wire.OutputRecord{Name: "control", Data: []byte("ABC")}
		if d, ok := x.control(control).by(control.Data); !ok || d.Size != 3 {
			x.Stop("the body ABC, handed over as QUJD, is not stored as ABC, so nothing is known about padding")
		}
		long := x.Bytes(1000)
		data := func(encoding *base64.Encoding) string {
			var b strings.Builder
			for i, body := range [][]byte{[]byte("A"), []byte("AB"), []byte("ABC"), long} {
				fmt.Fprintf(&b, `{"name":"n%d","data":"%s"}`+"\n", i, encoding.EncodeToString(body))
			}
			return b.String()
		}
		for _, v := range []struct {
			clause, how string
			encoding    *base64.Encoding
		}{{"P3.1-4", "with padding", base64.StdEncoding}, {"P3.1-5", "without padding", base64.RawStdEncoding}} {
			got := x.commitOf(v.clause, data(v.encoding))
			for _, body := range [][]byte{[]byte("A"), []byte("AB"), []byte("ABC"), long} {
				x.storedAs(v.clause, got, body, fmt.Sprintf("%d bytes, %s: %s", len(body), v.how, clipped(v.encoding.EncodeToString(body))))
			}
		}
	}, overBoth)
