package runtime

import "github.com/pugcheck/pugcheck/conformance/pugmark/wire"

// The rule on all inline data compares it with the blob; these bodies are the ones
// that tell: both special characters of the alphabet, each kind of padding, and a
// short body in an encoding of its own.
var _ = scenario("S7.1", "telling-bodies", "short bodies whose base64 has + and / and every padding, and a gzip body: inline data is the blob, byte for byte",
	"S7.1-1",
	func(x *Lab) {
		packed, _ := x.gzipped()
		outs := []wire.OutputRecord{
			{Name: "alphabet", Data: []byte{0xfb, 0xff, 0xfe}},
			{Name: "one", Data: append([]byte{0xff, 0xef}, x.Bytes(2)...)},
			{Name: "two", Data: append([]byte{0xff, 0xef}, x.Bytes(3)...)},
			{Name: "longest", Data: x.Bytes(1024)},
			{Name: "packed", Data: packed, ContentEncoding: "gzip"},
		}
		got := x.commitOf("", plainly(outs...))
		inline := 0
		for _, d := range got.entries {
			if d.HasData {
				inline++
			}
		}
		if inline == 0 {
			x.Clause("S7.1-1").NotExercised("no descriptor carries its body inline, as the text permits (%s; committed: %s)", got.exit.Exit, got.list())
		}
	}, overBoth)
