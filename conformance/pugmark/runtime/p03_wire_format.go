package runtime

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

var _ = scenario("P3", "record-stream", "a log of five entries and a session without any: the stream is nothing but records, a line feed behind each",
	"P3-1 P3-3 P3-10 P3-11 P3-15 P3.2-2 P4.2-11 P4.2-13",
	func(x *Lab) {
		// What the streams look like is judged by the invariants, over these two
		// and over every other stream of the suite.
		for _, s := range []*wire.Session{x.plainLog(), x.Session(wire.SessionSpec{})} {
			run := x.Run(s.ID)
			inv := run.Next()
			inv.Received()
			inv.Finish()
			run.Wait()
		}
	}, overBoth)

// beyondASCII has characters of two, three and four bytes, and the line separator
// that some JSON writers treat apart.
const beyondASCII = "ü 日本 \U0001F600 \u2028"

// escaped spells every character beyond ASCII as \u escapes, above U+FFFF as a
// surrogate pair, as the inside of a JSON string.
func escaped(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r < 0x80:
			b.WriteRune(r)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, hi, lo)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

var _ = scenario("P3", "beyond-ascii", "names and metadata with ü, 日本, an emoji and U+2028, as UTF-8 and as escapes, in both directions: the text arrives unchanged",
	"P3-2",
	func(x *Lab) {
		plain, spelled := "name "+beyondASCII, `"name `+escaped(beyondASCII)+`"`
		raw := `"` + plain + `"`
		mark := x.Word("meta")
		odd := func(body, text string) wire.Entry {
			e := wire.Text("", x.Word(body))
			e.Extra = map[string]any{"name": json.RawMessage(text), "metadata": json.RawMessage(`{"k":` + text + `}`)}
			return e
		}
		ascii := wire.Text("ascii", x.Word("ascii"))
		ascii.Metadata = map[string]string{"k": mark}
		inUTF8, inEscapes := odd("in UTF-8", raw), odd("in escapes", spelled)
		s := x.Session(wire.SessionSpec{})
		s.Commit(wire.Checkpoint, ascii, inUTF8, inEscapes)

		run := x.Run(s.ID)
		inv := run.Next()
		control, ok := inv.carrying(ascii.Body)
		if !ok || control.Name != "ascii" || control.Metadata["k"] != mark {
			x.Stop("an entry with an ASCII name and ASCII metadata does not arrive with both, so nothing is known about other text")
		}
		for _, e := range []struct {
			how   string
			entry wire.Entry
		}{{"as UTF-8", inUTF8}, {"as \\u escapes", inEscapes}} {
			in, ok := inv.carrying(e.entry.Body)
			if !ok {
				continue
			}
			x.Clause("P3-2").Expect([]string{in.Name, in.Metadata["k"]}).To(Equal([]string{plain, plain}),
				"name and metadata of a log entry that a snapshot spells %s arrive as that text", e.how)
		}
		out := func(body []byte, text string) string {
			return fmt.Sprintf(`{"name":%s,"metadata":{"k":%s},"data":"%s"}`+"\n", text, text, base64.StdEncoding.EncodeToString(body))
		}
		bodies := [][]byte{x.threes("ascii out"), x.threes("out in UTF-8"), x.threes("out in escapes")}
		inv.Say(out(bodies[0], `"`+mark+`"`))
		inv.Say(out(bodies[1], raw))
		inv.Say(out(bodies[2], spelled))
		inv.Finish()
		got := commit{s, run.Wait(), x.appended(s.ID)}
		if d, ok := got.by(bodies[0]); !ok || d.Name != mark || d.Metadata["k"] != mark {
			x.Stop("an Output with an ASCII name and ASCII metadata is not committed with both, so nothing is known about other text (%s; committed: %s)", got.exit.Exit, got.list())
		}
		for i, how := range []string{"as UTF-8", "as \\u escapes"} {
			d, ok := got.by(bodies[i+1])
			if !ok {
				x.Clause("P3-2").Holds(false, "an Output whose text is spelled "+how+" is committed", "committed: %s", got.list())
				continue
			}
			x.Clause("P3-2").Expect([]string{d.Name, d.Metadata["k"]}).To(Equal([]string{plain, plain}),
				"name and metadata of an Output that spells them %s are committed as that text", how)
		}
	}, overBoth)

var _ = scenario("P3", "whole-records", "an entry with every field, and one with 200 KiB of metadata and the longest inline body: each is one JSON object",
	"P3-5 P3-6",
	func(x *Lab) {
		full := wire.Entry{
			Name: x.Word("name"), Body: []byte(x.Word("full body")), ContentType: "application/" + x.Word("type"),
			ContentEncoding: "gzip", SchemaURL: "https://example.com/" + x.Word("schema"),
			Metadata: map[string]string{"k": x.Word("metadata")},
		}
		big := wire.Entry{Name: x.Word("big"), Body: x.Bytes(1024), Metadata: map[string]string{}}
		var pieces []string
		for i := range 200 {
			v := x.Word(fmt.Sprintf("piece-%d", i))
			pieces = append(pieces, v)
			big.Metadata[fmt.Sprintf("k%d", i)] = v + strings.Repeat("x", 1000)
		}
		s := x.Session(wire.SessionSpec{})
		s.Commit(wire.Checkpoint, full, big)
		run := x.Run(s.ID)
		inv := run.Next()
		in := inv.Inputs()

		marks := []string{full.Name, full.ContentType, full.SchemaURL, full.Metadata["k"]}
		holders := holding(in, marks...)
		x.inOnePiece("P3-5", holders, marks, "the name, type, schema and metadata of one entry stand in one JSON object")
		if len(holders) == 1 && holders[0].URL == "" && holders[0].RawData == "" {
			for _, r := range in {
				if r.Name == "" && string(r.Data) == string(full.Body) {
					x.Clause("P3-5").Holds(false, "the same object has the entry's body or the way to it",
						"record %d has neither, and record %d has the body and no name: %s", holders[0].N, r.N, clip(r.Raw, 200))
				}
			}
		}
		pieces = append(pieces, big.Name)
		x.inOnePiece("P3-6", holding(in, pieces...), pieces, "200 KiB of metadata stand in one JSON object with the entry's name")
		var parts []byte
		count := 0
		for _, r := range in {
			if r.HasData && string(r.Data) != string(full.Body) {
				parts, count = append(parts, r.Data...), count+1
			}
		}
		if string(parts) == string(big.Body) {
			x.Clause("P3-6").Holds(count == 1, "an inline body of 1024 bytes stands in one JSON object", "it came in %d records", count)
		}
		inv.Finish()
		run.Wait()
	}, overBoth)

// holding are the records whose text, whatever is escaped in it, has any of the marks.
func holding(in []wire.Input, marks ...string) []wire.Input {
	var out []wire.Input
	for _, r := range in {
		text := unescaped(r)
		if slices.ContainsFunc(marks, func(m string) bool { return strings.Contains(text, m) }) {
			out = append(out, r)
		}
	}
	return out
}

// unescaped is a record's text with its strings decoded, where it is JSON.
func unescaped(r wire.Input) string {
	var value any
	if json.Unmarshal(r.Raw, &value) == nil {
		return fmt.Sprint(value)
	}
	return string(r.Raw)
}

// inOnePiece judges that one record has all the marks. Where a mark is nowhere
// the field is lost, which other clauses judge.
func (x *Lab) inOnePiece(clause string, holders []wire.Input, marks []string, demand string) {
	if len(holders) > 1 {
		var which []string
		for _, r := range holders {
			which = append(which, fmt.Sprintf("record %d at byte %d: %s", r.N, r.Offset, clip(r.Raw, 120)))
		}
		x.Clause(clause).Calldepth(1).Holds(false, demand, "it is spread over %d records: %s", len(holders), strings.Join(which, "; "))
		return
	}
	text := ""
	for _, r := range holders {
		text = unescaped(r)
	}
	for _, m := range marks {
		if !strings.Contains(text, m) {
			x.Clause(clause).NotExercised("%q, which was seeded, stands in no record", m)
			return
		}
	}
	x.Clause(clause).Calldepth(1).Holds(true, demand, "record %d of %d bytes", holders[0].N, len(holders[0].Raw))
}

var _ = scenario("P3", "failure-text", "a handler that fails answers 500 with text and with what looks like records: none of it is taken for Outputs",
	"P3-12",
	func(x *Lab) {
		// Over HTTP only: what a handler writes to standard error is P2.1-5.
		out := x.unpadded("diagnostic")
		x.control(out)
		for _, text := range []string{"the model is overloaded\n" + plainly(out), plainly(out)} {
			s := x.shortLog()
			run := x.Run(s.ID)
			inv := run.Next()
			inv.Received()
			inv.SetStatus(500, nil)
			inv.Say(text)
			inv.Finish()
			run.Wait()
			got := commit{session: s, entries: x.appended(s.ID)}
			x.Clause("P3-12").Holds(len(got.lacks(out)) == 1, "a failing answer may carry diagnostics, whatever they look like, and nothing of its body is committed", "the body: %q; committed: %s", clip([]byte(text), 160), got.list())
		}
	}, overHTTP)

var _ = scenario("P3", "not-json", "the handler writes a log line between two Outputs, or ends inside a record: nothing of its output is committed",
	"P3-11",
	func(x *Lab) {
		a, b := x.unpadded("a"), x.unpadded("b")
		x.control(a, b)
		for _, v := range []struct{ how, raw string }{
			{"a log line between two Outputs", plainly(a) + "INFO one done, one to go\n" + plainly(b)},
			{"an Output that breaks off in the middle", plainly(a) + compact(b)[:20] + "\n"}, // a lost last line is P3-16
		} {
			s := x.shortLog()
			run := x.Run(s.ID)
			inv := run.Next()
			inv.Say(v.raw)
			inv.Finish()
			run.Wait("P3-11")
			got := commit{session: s, entries: x.appended(s.ID)}
			x.Clause("P3-11").Assuming("R-29").Holds(len(got.lacks(a, b)) == 2, "with "+v.how+" the invocation fails, and none of its Outputs is committed", "committed: %s", got.list())
		}
	}, overBoth)
