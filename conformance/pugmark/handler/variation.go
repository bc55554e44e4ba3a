package handler

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

// A Variation is the one thing that differs from the control run.
type Variation struct {
	What     string                                      // in words, to follow "with"
	Bodies   Bodies                                      // how bodies travel
	Inputs   func([]wire.InputRecord) []wire.InputRecord // changes records before they are spelled
	Spell    func(i, n int, record []byte) []byte        // spells record i of n
	Lines    func(records [][]byte) [][]byte             // adds, drops or moves spelled records
	Join     func(records [][]byte) []Chunk              // nil = a line feed after each, one write
	KeepOpen bool                                        // the input stays open
	Args     []string                                    // a process's, behind those of the command
	Env      map[string]string                           // a process's, added; "-NAME" as key takes a variable out
	Header   http.Header                                 // a request's, added
	Objects  func(path string, a Answer) Answer          // changes what the object server answers
	Memory   func(key string) (Answer, bool)             // in place of the configured memory
	Root     string                                      // path of the memory root, "" = /memories/
	Servers  *Servers                                    // others than the bench's
	Identity func(*Identity)                             // changes who is invoked
	Timeout  time.Duration                               // another limit than the configured one

	PlainBodies bool // bodies of Outputs are compared without the content encoding that they name
}

// Bodies says how the bodies of entries travel.
type Bodies int

// The ways of bodies. AsUsual is what a runtime does: inline up to 1024 bytes, by URL
// beyond.
const (
	AsUsual Bodies = iota
	Inline
	ByURL
	InlineAndURL
)

// Identity is whom the runtime invokes.
type Identity struct {
	Session     wire.SessionID
	Agent       string
	Metadata    map[string]string
	Traceparent string
	NoVariable  bool // an empty agent or metadata is left out of the environment
}

// inputs are the records of an invocation in their order (P4.2-1 and on): the memory,
// the log, the lifecycle event.
func inputs(log Log, servers *Servers, root string, bodies Bodies) []wire.InputRecord {
	out := []wire.InputRecord{{Event: "memory", URL: servers.Memory.URL + root}}
	for _, e := range log.Entries {
		in := e.input()
		short := len(e.Body) <= inlineLimit
		if bodies == Inline || bodies == InlineAndURL || bodies == AsUsual && short {
			in.Data = e.Body
		}
		if bodies == ByURL || bodies == InlineAndURL || bodies == AsUsual && !short {
			in.URL = servers.Object.URL + e.key()
		}
		out = append(out, in)
	}
	return append(out, wire.InputRecord{Event: log.Lifecycle})
}

// spell is the stream as records of compact JSON, changed as the variation wants.
func (v Variation) spell(records []wire.InputRecord) [][]byte {
	if v.Inputs != nil {
		records = v.Inputs(records)
	}
	lines := make([][]byte, len(records))
	for i, r := range records {
		lines[i] = bytes.TrimSuffix(r.Encode(), []byte("\n"))
		if v.Spell != nil {
			lines[i] = v.Spell(i, len(records), lines[i])
		}
	}
	if v.Lines != nil {
		lines = v.Lines(lines)
	}
	return lines
}

func (v Variation) chunks(lines [][]byte) []Chunk {
	if v.Join != nil {
		return v.Join(lines)
	}
	return separated("\n")(lines)
}

// separated puts the separator behind every record, in one write.
func separated(separator string) func([][]byte) []Chunk {
	return func(lines [][]byte) []Chunk {
		return []Chunk{{Bytes: append(bytes.Join(lines, []byte(separator)), separator...)}}
	}
}

// joined puts the separator between records only.
func joined(separator string) func([][]byte) []Chunk {
	return func(lines [][]byte) []Chunk { return []Chunk{{Bytes: bytes.Join(lines, []byte(separator))}} }
}

// withFields adds fields at the end of a record, as they stand in members:
// `"name":value` separated by commas.
func withFields(record []byte, members string) []byte {
	out := bytes.TrimSuffix(record, []byte("}"))
	if !bytes.Equal(out, []byte("{")) {
		out = append(out[:len(out):len(out)], ',')
	} else {
		out = out[:len(out):len(out)]
	}
	return append(append(out, members...), '}')
}

// indented is the record over several lines.
func indented(record []byte) []byte {
	var b bytes.Buffer
	if string(record) == "{}" {
		return []byte("{\r\n}")
	}
	if json.Indent(&b, record, "", "  ") != nil { // cannot be: the record is JSON
		return record
	}
	return b.Bytes()
}

// unpadded takes the padding off the record's data.
func unpadded(record []byte) []byte {
	at := bytes.Index(record, []byte(`"data":"`))
	if at < 0 {
		return record
	}
	at += len(`"data":"`)
	end := at + bytes.IndexByte(record[at:], '"')
	text := strings.TrimRight(string(record[at:end]), "=")
	return append(append(record[:at:at], text...), record[end:]...)
}

// escaped spells every character beyond ASCII as \u escapes.
func escaped(record []byte) []byte {
	var out bytes.Buffer
	for _, r := range string(record) {
		switch {
		case r < 0x80:
			out.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			writeEscape(&out, 0xd800+r>>10)
			writeEscape(&out, 0xdc00+r&0x3ff)
		default:
			writeEscape(&out, r)
		}
	}
	return out.Bytes()
}

func writeEscape(out *bytes.Buffer, r rune) {
	const digits = "0123456789abcdef"
	out.WriteString(`\u`)
	for shift := 12; shift >= 0; shift -= 4 {
		out.WriteByte(digits[r>>shift&0xf])
	}
}

// zeros spells out every known field that the record lacks, with its zero value.
func zeros(record []byte) []byte {
	var have map[string]json.RawMessage
	if json.Unmarshal(record, &have) != nil {
		return record
	}
	for _, field := range wire.InputFields {
		if _, ok := have[field]; ok {
			continue
		}
		zero := `""`
		switch field {
		case "size":
			zero = "0"
		case "metadata":
			zero = "{}"
		}
		record = withFields(record, `"`+field+`":`+zero)
	}
	return record
}

func header(name, value string) http.Header { return http.Header{name: {value}} }
