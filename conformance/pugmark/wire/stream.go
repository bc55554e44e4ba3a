package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// Record is one JSON object of a record stream.
type Record struct {
	N           int                        // its number, counted from 1 over all top-level values
	Offset, End int64                      // the bytes it takes in the stream
	Raw         []byte                     // these bytes
	After       []byte                     // the whitespace between it and what follows
	Fields      map[string]json.RawMessage // by exact name; of a repeated key the last value
	Keys        []string                   // the names in the order of the text, repeated ones repeated
}

// DecodeStream splits a stream into its records. It finds every fault, and goes on behind one at the next place where
// a record can begin: behind a broken record that is the next line that begins with a brace; behind stray bytes the
// next object. Records and faults are in the order of the stream. It takes time linear in len(b).
func DecodeStream(b []byte) ([]Record, []Fault) {
	d := streamDecoder{b: b}
	d.run()
	sortFaults(d.faults)
	return d.records, d.faults
}

type streamDecoder struct {
	b       []byte
	pos     int
	n       int // top-level values so far
	records []Record
	faults  []Fault
}

func (d *streamDecoder) fault(record, at int, kind FaultKind, text string) {
	d.faults = append(d.faults, Fault{record, int64(at), kind, text})
}

func (d *streamDecoder) run() {
	for {
		space := d.pos
		for d.pos < len(d.b) && isSpace(d.b[d.pos]) {
			d.pos++
		}
		if k := len(d.records); k > 0 && int(d.records[k-1].End) == space {
			d.records[k-1].After = d.b[space:d.pos:d.pos]
		}
		if d.pos >= len(d.b) {
			return
		}
		switch {
		case d.mark():
		case d.b[d.pos] == '{':
			d.object()
		default:
			d.other()
		}
	}
}

// mark consumes a byte-order mark.
func (d *streamDecoder) mark() bool {
	for _, m := range []string{"\xef\xbb\xbf", "\xfe\xff", "\xff\xfe"} {
		if bytes.HasPrefix(d.b[d.pos:], []byte(m)) {
			d.fault(d.n+1, d.pos, BOM, fmt.Sprintf("byte-order mark % x", m))
			d.pos += len(m)
			return true
		}
	}
	return false
}

// object decodes the object at d.pos, or reports it and finds the next line that can begin one.
func (d *streamDecoder) object() {
	d.n++
	start := d.pos
	s := scanner{b: d.b, pos: start}
	members, broken := s.object(true)
	for _, e := range s.soft {
		d.fault(d.n, e.at, e.kind, e.text)
	}
	if broken != nil {
		d.fault(d.n, broken.at, broken.kind, broken.text)
		d.pos = nextLine(d.b, start, max(broken.at, start+1))
		return
	}
	d.accept(start, s.pos, members)
}

func (d *streamDecoder) accept(start, end int, members []member) {
	r := Record{
		N: d.n, Offset: int64(start), End: int64(end), Raw: d.b[start:end:end],
		Fields: make(map[string]json.RawMessage, len(members)), Keys: make([]string, 0, len(members)),
	}
	for _, m := range members {
		r.Fields[m.key] = d.b[m.start:m.end:m.end]
		r.Keys = append(r.Keys, m.key)
	}
	d.records = append(d.records, r)
	d.pos = end
}

// nextLine is the first brace at or behind from that only whitespace parts from a line break before it (but not from
// start), or the end.
func nextLine(b []byte, start, from int) int {
	for i := from; i < len(b); i++ {
		if b[i] != '{' {
			continue
		}
		for k := i - 1; k > start && isSpace(b[k]); k-- {
			if b[k] == '\n' || b[k] == '\r' {
				return i
			}
		}
	}
	return len(b)
}

// other takes what is no object: a JSON value of another type, or stray bytes up to the next object.
func (d *streamDecoder) other() {
	start := d.pos
	s := scanner{b: d.b, pos: start}
	broken := s.value()
	if broken == nil && endsToken(d.b, s.pos) {
		d.n++
		d.fault(d.n, start, NotObject, kindName(d.b[start])+" at top level")
		d.pos = s.pos
		return
	}
	if c := d.b[start]; broken != nil && broken.kind == Truncated && (c == '[' || c == '"') {
		d.n++
		d.fault(d.n, broken.at, Truncated, broken.text)
		d.pos = len(d.b)
		return
	}
	d.fault(d.n+1, start, Stray, fmt.Sprintf("stray bytes %s", excerpt(d.b[start:])))
	for d.pos = start + 1; d.pos < len(d.b); d.pos++ {
		if d.b[d.pos] != '{' {
			continue
		}
		s := scanner{b: d.b, pos: d.pos}
		if _, broken := s.object(false); broken == nil {
			return
		} else if broken.kind == Truncated && lineStart(d.b, d.pos) {
			return
		} else {
			d.pos = max(d.pos, broken.at-1)
		}
	}
}

// endsToken tells whether a value that ends at i is not glued to further letters or digits, as in "12:30" or "nullable".
func endsToken(b []byte, i int) bool {
	return i >= len(b) || isSpace(b[i]) || bytes.IndexByte([]byte(`{["`), b[i]) >= 0
}

func lineStart(b []byte, i int) bool {
	for i--; i >= 0 && isSpace(b[i]); i-- {
		if b[i] == '\n' || b[i] == '\r' {
			return true
		}
	}
	return i < 0
}

func kindName(c byte) string {
	switch c {
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	case '{':
		return "an object"
	}
	return "a number"
}

// excerpt quotes the first line of b, shortened.
func excerpt(b []byte) string {
	more := ""
	if len(b) > 60 {
		b, more = b[:60], "…"
	}
	if i := bytes.IndexAny(b, "\r\n"); i > 0 {
		b, more = b[:i], ""
	}
	return strconv.Quote(string(b)) + more
}
