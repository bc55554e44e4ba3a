package handler

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
)

// A handler that fails, or has nothing to say, may be one that looks for its input in
// another place or form than a runtime gives it. That shows once it finds it there: the
// same records, and Outputs all of a sudden. Nobody looks for this in a handler whose
// Outputs depend on what it was sent.

// idle are the logs with entries on which the handler succeeds with nothing to say, or
// does not succeed; a few of them, the author's own first. It is nil for a handler that
// does not come to an end, since each try would cost the time limit.
func (x *Lab) idle() []Log {
	const enough = 3
	var out []Log
	for _, log := range x.Logs() {
		if len(log.Entries) == 0 {
			continue
		}
		e := x.Control(log)
		if !e.Ended {
			return nil
		}
		if silent(e) && len(out) < enough {
			out = append(out, log)
		}
	}
	return out
}

// silent tells whether an invocation failed or gave no Output.
func silent(e *Exchange) bool { return !e.Well() || len(e.Records()) == 0 }

// speaks is the contrary: success, with Outputs.
func speaks(e *Exchange) bool { return !silent(e) }

// readsFile looks for a handler that reads its input from a file named in its arguments.
// It tells whether P2.1-2 fell.
func (x *Lab) readsFile() bool {
	if x.Over != Subprocess {
		return false
	}
	dir, err := os.MkdirTemp("", "pugcheck-input-")
	x.Must(err)
	x.Cleanup(func() { _ = os.RemoveAll(dir) })
	full, empty := filepath.Join(dir, "input.ndjson"), filepath.Join(dir, "empty.ndjson")
	x.Must(os.WriteFile(empty, nil, 0o600))
	for _, log := range x.idle() {
		there := x.Play(log, Variation{What: "the input in a file that the last argument names, and nothing on descriptor 0", Args: []string{full}, Join: func(lines [][]byte) []Chunk {
			x.Must(os.WriteFile(full, append(bytes.Join(lines, []byte("\n")), '\n'), 0o600))
			return nil
		}})
		if !speaks(there) {
			continue
		}
		// It might only want an argument, whatever that is.
		argued := x.Play(log, Variation{What: "the input on descriptor 0, and an empty file that the last argument names", Args: []string{empty}})
		if speaks(argued) {
			continue
		}
		x.Clause("P2.1-2").Holds(false, "the input is read from file descriptor 0", "log %s, on descriptor 0: %s; with %s: %s", log.Name, x.Control(log).How(), there.What, there.How())
		return true
	}
	return false
}

// envelopes are forms in which services commonly expect what they are sent.
var envelopes = []struct {
	what string
	wrap func(lines [][]byte) (body []byte, contentType string)
}{
	{"the records in one JSON array", func(lines [][]byte) ([]byte, string) { return array(lines), "" }},
	{`the records in an object, {"inputs":[…]}`, member("inputs")},
	{`the records in an object, {"input":[…]}`, member("input")},
	{`the records in an object, {"records":[…]}`, member("records")},
	{`the records in an object, {"events":[…]}`, member("events")},
	{"the stream as a file of a form", func(lines [][]byte) ([]byte, string) {
		var b bytes.Buffer
		w := multipart.NewWriter(&b) // to memory, where no write fails
		part, _ := w.CreateFormFile("input", "input.ndjson")
		_, _ = part.Write(append(bytes.Join(lines, []byte("\n")), '\n'))
		_ = w.Close()
		return b.Bytes(), w.FormDataContentType()
	}},
}

func array(lines [][]byte) []byte {
	return append(append([]byte("["), bytes.Join(lines, []byte(","))...), ']')
}

func member(name string) func([][]byte) ([]byte, string) {
	return func(lines [][]byte) ([]byte, string) {
		return fmt.Appendf(nil, "{%q:%s}", name, array(lines)), ""
	}
}

// wantsEnvelope looks for a service that expects something around the input stream. It
// tells whether P2.2-3 fell.
func (x *Lab) wantsEnvelope() bool {
	if x.Over != HTTP {
		return false
	}
	for _, log := range x.idle() {
		for _, form := range envelopes {
			v := Variation{What: form.what + " as the body", Header: http.Header{}}
			v.Join = func(lines [][]byte) []Chunk {
				body, contentType := form.wrap(lines)
				if contentType != "" {
					v.Header.Set("Content-Type", contentType)
				}
				return []Chunk{{Bytes: body}}
			}
			if e := x.Play(log, v); speaks(e) {
				x.Clause("P2.2-3").Holds(false, "the body of the request is the input stream and nothing else", "log %s, as it is: %s; with %s: %s", log.Name, x.Control(log).How(), v.What, e.How())
				return true
			}
		}
	}
	return false
}
