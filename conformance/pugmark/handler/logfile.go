package handler

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

// A LogFile is a log that the handler's author keeps, as Input records, one JSON object
// a line.
type LogFile struct {
	Name string `json:"name"`
	Path string `json:"path"`
}

// NamedByPath is the log file whose name is its file's, without the extension.
func NamedByPath(path string) LogFile {
	base := filepath.Base(path)
	return LogFile{Name: strings.TrimSuffix(base, filepath.Ext(base)), Path: path}
}

// LoadLogs reads log files. Mistakes are reported all at once, each with file and line.
func LoadLogs(files []LogFile) ([]Log, error) {
	var logs []Log
	var errs []error
	for _, f := range files {
		if f.Path == "" {
			errs = append(errs, fmt.Errorf("log %q: no file is named", f.Name))
			continue
		}
		data, err := os.ReadFile(f.Path)
		if err != nil {
			errs = append(errs, fmt.Errorf("log %s: %w", f.Name, err))
			continue
		}
		l, err := ParseLog(f.Path, data)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		l.Name = f.Name
		logs = append(logs, l)
	}
	return logs, errors.Join(errs...)
}

// ParseLog reads a log: one Input record a line, with `data` of any length or, in its
// place, `text`. A leading memory record is left out, since pugcheck announces a
// memory of its own; a last line that is a lifecycle event alone (wake, fork, start, or
// {}) is the invocation's. name is used in messages.
func ParseLog(name string, data []byte) (Log, error) {
	p := logParser{file: name}
	lines := bytes.Split(data, []byte("\n"))
	last := 0
	for i, line := range lines {
		if len(bytes.TrimSpace(line)) > 0 {
			last = i
		}
	}
	l := Log{Name: name}
	records := 0
	for i, line := range lines {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		p.line = i + 1
		in, ok := p.record(bytes.TrimRight(line, "\r"))
		records++
		switch {
		case !ok:
		case in.Event == "memory":
			if records != 1 {
				p.fail("a memory record can only be the first; it is left out there, since pugcheck announces its own memory")
			}
		case i == last && lifecycleAlone(in):
			l.Lifecycle = in.Event
		case in.Event != "" && in.Event != "push":
			p.fail("event %q: an entry has push or none; wake, fork and start stand alone in the last line", in.Event)
		default:
			l.Entries = append(l.Entries, p.entry(in))
		}
	}
	if records == 0 {
		p.line = 1
		p.fail("the log holds no record; a session without entries is a log with the one line {}")
	}
	return l, errors.Join(p.errs...)
}

type logParser struct {
	file string
	line int
	errs []error
}

func (p *logParser) fail(format string, args ...any) {
	p.errs = append(p.errs, fmt.Errorf("%s:%d: %s", p.file, p.line, fmt.Sprintf(format, args...)))
}

// record decodes one line by the rules for Input records.
func (p *logParser) record(line []byte) (wire.Input, bool) {
	inputs, faults := wire.DecodeInputs(line)
	for _, f := range faults {
		p.fail("column %d: %s", f.Offset+1, f.Text)
	}
	if len(faults) > 0 {
		return wire.Input{}, false
	}
	if len(inputs) != 1 {
		p.fail("one JSON object a line is expected, found %d", len(inputs))
		return wire.Input{}, false
	}
	in := inputs[0]
	for _, key := range in.Keys {
		if key != "text" && !slices.Contains(wire.InputFields, key) {
			p.fail("unknown field %q; known are %s, and text in place of data", key, strings.Join(wire.InputFields, ", "))
			return wire.Input{}, false
		}
	}
	return in, true
}

// entry is the log entry that a record describes.
func (p *logParser) entry(in wire.Input) Entry {
	e := Entry{Event: in.Event, ContentType: in.ContentType, ContentEncoding: in.ContentEncoding,
		SchemaURL: in.SchemaURL, Name: in.Name, Metadata: in.Metadata, Body: in.Data}
	if in.Has("text") {
		if in.HasData {
			p.fail("both data and text: one of them is the body")
		}
		text, ok := in.String("text")
		if !ok {
			p.fail("text: want a string, found %s", json.RawMessage(in.Fields["text"]))
		}
		e.Body = []byte(text)
	}
	if in.URL != "" && !in.HasData && !in.Has("text") {
		p.fail("url: pugcheck serves the body itself; give it as data or text")
	}
	return e
}

func lifecycleAlone(in wire.Input) bool {
	if !slices.Contains([]string{"", "wake", "fork", "start"}, in.Event) {
		return false
	}
	for _, key := range in.Keys {
		if key != "event" && !in.Zero(key) {
			return false
		}
	}
	return true
}
