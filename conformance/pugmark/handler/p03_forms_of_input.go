package handler

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

// The forms that an input stream may take. Each is the control run's log once more.

var _ = scenario("P3", "inputs-run-together", "records with nothing between them, and with ten thousand blanks", "P3-4", func(x *Lab) {
	log, _ := x.Exemplar()
	x.Same(log, x.Play(log, Variation{What: "no whitespace between records", Join: joined("")}), "P3-4")
	// Of a log with very many entries each border gets fewer, lest the blanks outgrow all
	// reason.
	blanks := max(10, min(5000, (2<<20)/(len(log.Entries)+3)))
	wide := strings.Repeat(" \n", blanks)
	x.Same(log, x.Play(log, Variation{What: fmt.Sprintf("%d blanks and line feeds before, between and after records", 2*blanks), Join: func(lines [][]byte) []Chunk {
		return []Chunk{{Bytes: []byte(wide)}, {Bytes: append(bytes.Join(lines, []byte(wide)), wide...)}}
	}}), "P3-4")
})

var _ = scenario("P3", "separators-of-inputs", "every kind of JSON whitespace between records, and all kinds in one stream", "P3-7", func(x *Lab) {
	log, _ := x.Exemplar()
	for _, s := range []struct{ what, separator string }{
		{"CR", "\r"}, {"tab", "\t"}, {"a blank", " "}, {"CR LF", "\r\n"}, {"three LF", "\n\n\n"}, {"blank, tab, CR, LF, blank, tab", " \t\r\n \t"},
	} {
		x.Same(log, x.Play(log, Variation{What: s.what + " between records", Join: separated(s.separator)}), "P3-7")
	}
	kinds := []string{"\n", "\r", " ", "\t", "\r\n"}
	x.Same(log, x.Play(log, Variation{What: "another separator after each record", Join: func(lines [][]byte) []Chunk {
		all := []byte("\r\n ")
		for i, line := range lines {
			all = append(append(all, line...), kinds[i%len(kinds)]...)
		}
		return []Chunk{{Bytes: all}}
	}}), "P3-7")
})

var _ = scenario("P3", "no-line-feed-at-the-end", "the last byte is the lifecycle record's brace, and the input ends there", "P3-16", func(x *Lab) {
	log, _ := x.Exemplar()
	x.Same(log, x.Play(log, Variation{What: "no byte after the last record", Join: joined("\n")}), "P3-16")
})

var _ = scenario("P3", "pretty-printed-inputs", "records over several lines, with blanks between all tokens", "P3-8", func(x *Lab) {
	log, _ := x.Exemplar()
	x.Same(log, x.Play(log, Variation{What: "records that are indented over several lines", Spell: func(_, _ int, r []byte) []byte { return indented(r) }}), "P3-8")
})

var _ = scenario("P3", "inputs-in-pieces", "the stream byte by byte, then cut in odd places", "P3-8", func(x *Lab) {
	log, _ := x.Exemplar()
	x.Same(log, x.Play(log, Variation{What: "a write for every byte", Join: inPieces(1)}), "P3-8")
	x.Same(log, x.Play(log, Variation{What: "a write for every 1021 bytes", Join: inPieces(1021)}), "P3-8")
})

// inPieces cuts the stream into writes of n bytes. Of a long stream that is done with
// the beginning and the end; a million tiny writes would measure the kernel.
func inPieces(n int) func([][]byte) []Chunk {
	const begin, end = 16 << 10, 2 << 10
	return func(lines [][]byte) []Chunk {
		all := separated("\n")(lines)[0].Bytes
		middle := max(0, len(all)-begin-end)
		var out []Chunk
		for at := 0; at < len(all); {
			k := min(n, len(all)-at)
			if at >= begin && middle > 0 {
				k, middle = middle, 0
			}
			out = append(out, Chunk{Bytes: all[at : at+k]})
			at += k
		}
		return out
	}
}

var _ = scenario("P3", "long-inputs", "an entry with 70 KiB of metadata, then 1.2 MiB", "P3-9", func(x *Lab) {
	log, _ := x.Exemplar()
	grown := func(n int) func([]wire.InputRecord) []wire.InputRecord {
		return func(in []wire.InputRecord) []wire.InputRecord {
			i := max(0, len(in)-2)
			m := map[string]string{"pad": strings.Repeat("0123456789abcdef", n/16)}
			for k, v := range in[i].Metadata {
				m[k] = v
			}
			in[i].Metadata = m
			return in
		}
	}
	const demand = "a record of the length that ordinary metadata can have is read"
	for _, size := range []struct {
		what  string
		bytes int
	}{{"70 KiB of metadata", 70 << 10}, {"1.2 MiB of metadata", 1258291}} {
		e := x.Play(log, Variation{What: size.what, Inputs: grown(size.bytes)})
		a := x.Clause("P3-9")
		if size.bytes > 1<<20 {
			a = a.Warning()
		}
		if e.Well() && len(e.Records()) == 0 {
			a.NotExercised(hintOutputs)
			continue
		}
		a.Holds(e.Well(), demand, "log %s, with %s: %s", log.Name, size.what, e.How())
	}
})

const strange = `"x-null":null,"x-true":true,"x-number":-1.5,"x-big":1e30,"x-string":"s","x-list":[1,[2]],"x-record":{"data":"eA==","fork":true},"content_type":"image/png","events":["start"],"forks":1`

var _ = scenario("P3", "unknown-fields-of-inputs", "fields of every JSON type and with names near known ones, on every record", "P3-13 P17-4 P17-5", func(x *Lab) {
	log, _ := x.Exemplar()
	x.Same(log, x.Play(log, Variation{What: "unknown fields in every record", Spell: func(_, _ int, r []byte) []byte { return withFields(r, strange) }}), "P3-13", "P17-4", "P17-5")
	for _, at := range []struct {
		what string
		here func(i, n int) bool
	}{
		{"an unknown field in the memory record only", func(i, _ int) bool { return i == 0 }},
		{"an unknown field in the lifecycle record only", func(i, n int) bool { return i == n-1 }},
	} {
		x.Same(log, x.Play(log, Variation{What: at.what, Spell: func(i, n int, r []byte) []byte {
			if at.here(i, n) {
				return withFields(r, `"x-new":{"in":["a","later","revision"]}`)
			}
			return r
		}}), "P17-5")
	}
})

var _ = scenario("P3", "field-names-in-other-case", "unknown fields whose names differ from known ones in letter case only", "P3-14", func(x *Lab) {
	log, _ := x.Exemplar()
	x.Same(log, x.Play(log, Variation{What: "fields Data, URL, Event and Name beside the known ones", Spell: func(i, n int, r []byte) []byte {
		if i == 0 || i == n-1 {
			return withFields(r, `"Event":"protocol","Metadata":{"version":"2"}`)
		}
		return withFields(r, `"Data":"AAAA","URL":"http://127.0.0.1:9/","Event":"protocol","Name":"other"`)
	}}), "P3-14")
})

var _ = scenario("P3", "empty-records-of-input", "records without any known field, between entries and before the lifecycle event", "P3-17 P3-18", func(x *Lab) {
	log, control := x.Exemplar()
	between := func(noop string) func([][]byte) [][]byte {
		return func(lines [][]byte) [][]byte {
			var out [][]byte
			for i, line := range lines {
				if i > 0 {
					out = append(out, []byte(noop))
				}
				out = append(out, line)
			}
			return out
		}
	}
	const demand = "a record without any known field is no reason to fail"
	for _, noop := range []string{`{"data":"","metadata":{}}`, `{"x-unknown":1}`} {
		e := x.Play(log, Variation{What: noop + " between records", Lines: between(noop)})
		x.Copes("P3-17", control, e, demand, "log %s, with %s: %s", log.Name, e.What, e.How())
	}
	e := x.Vary(log.with(""), Variation{What: "{} as lifecycle record"})
	x.Copes("P3-17", control, e, demand, "log %s, with %s: %s", log.Name, e.What, e.How())

	if len(log.Entries) == 0 || !e.Well() || difference(x.Control(log), e, nil) != "" {
		x.Clause("P3-18").NotExercised("the Outputs depend on the lifecycle event, for which the handler may take a record without fields")
		return
	}
	x.Same(log, x.Play(log, Variation{What: `{"x-unknown":1} before the lifecycle record`, Lines: func(lines [][]byte) [][]byte {
		at := len(lines) - 1
		return append(append(append([][]byte{}, lines[:at]...), []byte(`{"x-unknown":1}`)), lines[at])
	}}), "P3-18")
})

var _ = scenario("P3", "text-beyond-ascii", "the same characters as raw UTF-8 and as escapes, and under another locale", "P3-2", func(x *Lab) {
	log, _ := x.Exemplar()
	name := "ü日本😀\u2028"
	named := func(in []wire.InputRecord) []wire.InputRecord {
		for i := range in {
			if in[i].Size > 0 {
				in[i].Metadata = map[string]string{"title": name}
				in[i].Name += name
			}
		}
		return in
	}
	raw := x.Play(log, Variation{What: "names and metadata beyond ASCII, raw", Inputs: named})
	if !raw.Well() {
		x.Clause("P3-2").Holds(false, "text beyond ASCII is no reason to fail", "log %s, with %s: %s", log.Name, raw.What, raw.How())
		return
	}
	got := x.Play(log, Variation{What: "the same as escapes", Inputs: named, Spell: func(_, _ int, r []byte) []byte { return escaped(r) }})
	x.SameAs(raw, log, got, "P3-2")
	if x.Over == Subprocess {
		got = x.Play(log, Variation{What: "the same under LC_ALL=C", Inputs: named, Env: map[string]string{"LC_ALL": "C", "LANG": "C"}})
		x.SameAs(raw, log, got, "P3-2")
	}
})
