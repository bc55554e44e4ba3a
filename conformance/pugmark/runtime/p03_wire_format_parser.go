package runtime

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

// The runtime as a reader of Outputs. Each story first runs the same Outputs in
// their plain spelling, a line each, and then compares: what the control commits
// has to be committed from every other spelling of it too.

var _ = scenario("P3", "back-to-back", "three Outputs with nothing between them, and with 10000 blanks and line feeds: all three are committed",
	"P3-4",
	func(x *Lab) {
		outs := []wire.OutputRecord{x.unpadded("a"), x.unpadded("b"), x.unpadded("c")}
		control := x.control(outs...)
		// The line feed at the end stays: a missing one there is P3-16.
		tight := compact(outs[0]) + compact(outs[1]) + compact(outs[2]) + "\n"
		control.same(x.Clause("P3-4"), x.commitOf("P3-4", tight), "no byte between the records")
		gap := strings.Repeat(" \n", 5000)
		wide := gap + compact(outs[0]) + gap + compact(outs[1]) + gap + compact(outs[2]) + "\n"
		control.same(x.Clause("P3-4"), x.commitOf("P3-4", wide), "10000 blanks and line feeds before and between the records")
	}, overBoth)

var _ = scenario("P3", "separators", "Outputs separated by every kind of JSON whitespace: all are committed",
	"P3-7",
	func(x *Lab) {
		seps := []string{"\n", "\r", "\t", " ", "\r\n", "\n\n\n", " \t\r\n \t"}
		var outs []wire.OutputRecord
		for i := range 2 * len(seps) {
			outs = append(outs, x.unpadded(fmt.Sprintf("o%d", i)))
		}
		control := x.control(outs...)
		// All of them in one stream, a different one at each border, also before
		// the first record and behind the last.
		var all strings.Builder
		for i, o := range outs {
			all.WriteString(seps[(i+6)%len(seps)] + compact(o))
		}
		all.WriteString(seps[6])
		if control.same(x.Clause("P3-7"), x.commitOf("P3-7", all.String()), "line feeds, carriage returns, tabs and blanks in turn between the records") {
			return
		}
		for _, sep := range seps { // which one is it?
			var b strings.Builder
			for _, o := range outs {
				b.WriteString(sep + compact(o))
			}
			control.same(x.Clause("P3-7"), x.commitOf("P3-7", b.String()+sep), fmt.Sprintf("%q before, between and after the records", sep))
		}
	}, overBoth)

var _ = scenario("P3", "spread-and-split", "Outputs printed over many lines, written byte by byte, written at once: all give the same commit",
	"P3-8",
	func(x *Lab) {
		outs := []wire.OutputRecord{x.unpadded("first ü 日本 \U0001F600"), x.unpadded("second")}
		outs[0].Metadata = map[string]string{"k": "ü\n\"\U0001F600", "empty": ""}
		control := x.control(outs...)

		var pretty bytes.Buffer
		for _, o := range outs {
			x.Must(json.Indent(&pretty, o.Encode(), "", "\t"))
		}
		// No string of these records has a colon.
		spread := strings.ReplaceAll(pretty.String(), ":", " \n\t:\n ")
		control.same(x.Clause("P3-8"), x.commitOf("P3-8", spread), "line breaks and tabs between all tokens")

		// A third record has its text as escapes, so that these are cut too.
		third := x.unpadded("third ü \U0001F600")
		text := plainly(outs...) + escaped(plainly(third))
		whole := x.commitOf("P3-8", text)
		if lost := whole.lacks(append(outs, third)...); len(lost) > 0 {
			x.Stop("written at once, three records with characters beyond ASCII are not committed, so nothing is known about other writes (%s)", whole.list())
		}
		var bytewise []string
		for i := range len(text) {
			bytewise = append(bytewise, text[i:i+1])
		}
		whole.same(x.Clause("P3-8"), x.commitOf("P3-8", bytewise...), "every byte written by itself")
	}, overBoth)

var _ = scenario("P3", "long-records", "Outputs of 70 KiB, 1.2 MiB and 8 MiB, each on one line: their bodies are stored whole",
	"P3-9",
	func(x *Lab) {
		x.control(x.unpadded("short"))
		lengths := []int{70 << 10, 1200 << 10}
		if x.Over == Subprocess {
			lengths = append(lengths, 8<<20)
		}
		for _, n := range lengths {
			out := wire.OutputRecord{Name: "long", Data: x.longBody(n), ContentType: "application/octet-stream"}
			got := x.commitOf("P3-9", plainly(out))
			clause := x.Clause("P3-9")
			if n > 2<<20 {
				clause = clause.Warning() // Q:P3-9: no bound is stated, and 8 MiB is beyond what handlers usually hand over inline
			}
			_, ok := got.by(out.Data)
			if !clause.Holds(ok, fmt.Sprintf("an Output with %d bytes of data is committed with their digest", n), "%s; committed: %s%s", got.exit.Exit, got.list(), got.complaint()) {
				return // the longer ones would only say it again
			}
		}
	}, overBoth, limit(4*DefaultTimeout))

// longBody is n bytes, rounded up to a multiple of three, that repeat a random
// word: large bodies need not be random to the last byte.
func (x *Lab) longBody(n int) []byte {
	word := x.threes("long")
	return bytes.Repeat(word, (n+len(word)-1)/len(word))
}

var _ = scenario("P3", "unknown-fields", "Outputs with unknown fields of every JSON type, some with names like known ones: they are committed as without them",
	"P3-13",
	func(x *Lab) {
		outs := []wire.OutputRecord{x.unpadded("a"), x.unpadded("b")}
		outs[0].Metadata = map[string]string{"k": "v"}
		control := x.control(outs...)
		mark := x.Word("unknown")
		extra := fmt.Sprintf(`"x-null":null,"x-true":true,"x-number":-1.5,"x-large":1e30,"x-text":%q,"x-list":[1,[2]],`+
			`"x-object":{"data":"eHh4","fork":true,"name":%q},"forks":true,"content_type":%q,"metadata-":{"k":%q},"body":"eHh4","deleted":true,"digest":%q`,
			mark, mark, mark, mark, mark)
		got := x.commitOf("P3-13", "{"+extra+","+compact(outs[0])[1:]+"\n"+strings.TrimSuffix(compact(outs[1]), "}")+","+extra+"}\n")
		control.same(x.Clause("P3-13"), got, "unknown fields of every type in front of and behind the known ones")
		for _, v := range x.newVersions(got.session.ID) {
			snap, _ := x.Snapshot(got.session.ID, v)
			x.Clause("P3-13").Holds(!bytes.Contains(snap.JSON, []byte(mark)), "no unknown field of an Output gets into the snapshot", "version %d: %s", v, clip(snap.JSON, 600))
		}
	}, overBoth)

var _ = scenario("P3", "letter-case", "an Output with Fork, DATA and Session beside data: names in other letter case are unknown fields",
	"P3-14",
	func(x *Lab) {
		other := x.shortLog()
		body, wrong := x.threes("body"), x.threes("wrong body")
		b64 := base64.StdEncoding.EncodeToString
		plain := fmt.Sprintf(`{"name":"n","data":"%s"}`, b64(body))
		control := x.control(wire.OutputRecord{Name: "n", Data: body})
		if !x.ignores(`"x-unknown":1`) {
			x.Stop("a record with a plainly unknown field is not accepted (P3-13), so the letter case of one says nothing")
		}
		odd := fmt.Sprintf(`%s,"Fork":true,"DATA":"%s","Session":"%s","NAME":"wrong","URI":"s3://%s/none"}`+"\n", strings.TrimSuffix(plain, "}"), b64(wrong), other.ID, bucketName)
		control.same(x.Clause("P3-14").Assuming("R-40"), x.commitOf("P3-14", odd), "Fork, DATA, Session, NAME and URI as further fields, which are none of the known ones")
		x.Clause("P3-14").Assuming("R-40").Expect(x.newVersions(other.ID)).To(BeEmpty(), "nothing is written to the session that the unknown field Session names")
	}, overBoth)

// ignores tells whether an Output that has these further fields, which mean
// nothing, is committed.
func (x *Lab) ignores(fields string) bool {
	out := x.unpadded("with more fields")
	return len(x.commitOf("", "{"+fields+","+compact(out)[1:]+"\n").lacks(out)) == 0
}

var _ = scenario("P3", "no-last-line-feed", "a handler's only Output ends with its closing brace: it is committed",
	"P3-16",
	func(x *Lab) {
		out := x.unpadded("only")
		control := x.control(out)
		control.same(x.Clause("P3-16"), x.commitOf("P3-16", compact(out)), "no byte behind the last record's closing brace")
	}, overBoth)

var _ = scenario("P3", "empty-records", "records without a filled known field between two Outputs, and alone: they are accepted and have no effect",
	"P3-17 P3-18",
	func(x *Lab) {
		a, b := x.unpadded("a"), x.unpadded("b")
		control := x.control(a, b)
		empty := []string{"{}"}
		// Where such fields are refused beside filled ones too, that is judged
		// elsewhere (P3.2-3, P3-13).
		if x.ignores(`"fork":false,"metadata":{},"session":""`) {
			empty = append(empty, `{"data":"","fork":false,"metadata":{},"session":""}`)
		}
		if x.ignores(`"x-unknown":1`) {
			empty = append(empty, `{"x-unknown":1}`)
		}
		list := strings.Join(empty, "\n") + "\n"
		got := x.commitOf("P3-17", "{}\n"+plainly(a)+list+plainly(b)+"{}\n")
		lost := got.lacks(a, b)
		acceptable := "with " + strings.Join(empty, " and ") + " around them the run succeeds and the two Outputs are committed"
		if !x.Clause("P3-17").Holds(len(lost) == 0 && (got.exit.Success() || !control.exit.Success()), acceptable, "%s; committed: %s%s", got.exit.Exit, got.list(), got.complaint()) {
			x.Stop("the run with empty records did not end well, so their effect is not judged")
		}
		x.Clause("P3-18").Expect(names(got.entries)).To(ConsistOf(names(control.entries)), "the two Outputs are committed and nothing stands for the empty records")
		if len(got.entries) == 2 {
			first, second := got.entries[0].SequenceNumber, got.entries[1].SequenceNumber
			step := int64(1) // and what the plain spelling gives is S7.3-3
			if len(control.entries) == 2 {
				step = control.entries[1].SequenceNumber - control.entries[0].SequenceNumber
			}
			x.Clause("P3-18").Holds(second == first+step || first == second+step, "the sequence numbers of the two Outputs follow each other as without empty records", "%d and %d", first, second)
		}
		none := x.commitOf("P3-17", "{}\n"+list)
		if none.exit.Success() || !control.exit.Success() {
			x.Clause("P3-17").Holds(true, "a stream of empty records only is a success", "%s", none.exit.Exit)
			x.Clause("P3-18").Expect(x.newVersions(none.session.ID)).To(BeEmpty(), "a stream of empty records only leaves the session without a new snapshot")
		} else {
			x.Clause("P3-17").Holds(false, "a stream of empty records only is a success", "%s%s", none.exit.Exit, none.complaint())
		}
	}, overBoth)
