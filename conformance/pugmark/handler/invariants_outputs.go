package handler

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

// Rules for what the Outputs say, and for the requests behind them.

// P3.1-1..3: a body proves the encoding only if it has the bytes that would show it.
var _ = always("P3.1-1 P3.1-2 P3.1-3", func(x *Lab, e *Exchange) {
	for _, o := range e.Outputs {
		if !o.HasData || len(e.faults(wire.BadBase64, wire.URLSafeBase64, wire.BrokenBase64)) > 0 {
			continue
		}
		x.Clause("P3.1-1").Holds(true, "a data field is base64", "%s: record %d, %d bytes", e.which(), o.N, len(o.Data))
		if strings.ContainsAny(o.RawData, "+/") {
			x.Clause("P3.1-2").Holds(true, "a data field is base64 in the standard alphabet, without - and _", "%s: record %d has + or /", e.which(), o.N)
		}
		if len(o.Data) > 57 {
			x.Clause("P3.1-3").Holds(true, "a data field is base64 in one piece, without line breaks", "%s: record %d, %d characters", e.which(), o.N, len(o.RawData))
		}
	}
})

// everyOutput registers a rule for each Output; judge says what is wrong with it ("" =
// nothing) and whether it decides anything.
func everyOutput(clause, demand string, judge func(e *Exchange, o wire.Output) (field, wrong string, decides bool)) bool {
	return always(clause, func(x *Lab, e *Exchange) {
		decided := 0
		for _, o := range e.Outputs {
			field, wrong, decides := judge(e, o)
			switch {
			case !decides:
			case wrong != "":
				x.Clause(clause).Holds(false, demand, "%s", e.place(o, field, "%s", wrong))
				return
			default:
				decided++
			}
		}
		if decided > 0 {
			x.Clause(clause).Holds(true, demand, "%s: %s", e.which(), counted(decided))
		}
	})
}

var _ = everyOutput("P5.1-9", "a session is an ID of 32 hex digits", func(e *Exchange, o wire.Output) (string, string, bool) {
	_, err := wire.ParseSessionID(o.Session)
	return "session", "", o.Session != "" && err == nil // the decoder reports the others
})

var _ = everyOutput("S4.1-3", "a session ID is written as 32 lowercase hex digits", func(e *Exchange, o wire.Output) (string, string, bool) {
	if _, err := wire.ParseSessionID(o.Session); o.Session == "" || err != nil {
		return "", "", false
	}
	if o.Session != strings.ToLower(o.Session) {
		return "session", fmt.Sprintf("session %s has digits in upper case", o.Session), true
	}
	return "session", "", strings.ContainsAny(o.Session, "abcdef")
})

var _ = everyOutput("P9-11", "no Output has the content type of control messages, which the runtime writes", func(e *Exchange, o wire.Output) (string, string, bool) {
	if o.ContentType == wire.ControlType {
		return "content-type", "an Output with the content type " + wire.ControlType, true
	}
	return "", "", !o.Empty()
})

var _ = everyOutput("P17-11", "the content type of a pause is application/vnd.pugmark.pause+text and no variant of it", func(e *Exchange, o wire.Output) (string, string, bool) {
	if !strings.Contains(strings.ToLower(o.ContentType), "pugmark.pause") || pauseAskedOtherwise(o.ContentType) {
		return "", "", false // P10-1 has the latter
	}
	if o.ContentType != wire.PauseType {
		return "content-type", fmt.Sprintf("the content type %q is close to that of a pause and is not it", o.ContentType), true
	}
	return "", "", true
})

// P10-1: other Outputs may say what they like; these can mean nothing but a pause.
var _ = everyOutput("P10-1", "a pause is asked for by an Output of content type application/vnd.pugmark.pause+text, spelled so", func(e *Exchange, o wire.Output) (string, string, bool) {
	if o.ContentType == wire.PauseType {
		return "", "", true
	}
	if pauseAskedOtherwise(o.ContentType) {
		return "content-type", fmt.Sprintf("the content type %q is that of a pause, spelled in another way", o.ContentType), true
	}
	if event, _ := o.String("event"); event == "pause" || event == "sleep" {
		return "event", fmt.Sprintf("the event %q asks for a pause; Outputs have no such field", event), true
	}
	for _, field := range []string{"pause", "sleep"} {
		if o.Has(field) && !o.Zero(field) {
			return field, fmt.Sprintf("the field %q asks for a pause; Outputs have no such field", field), true
		}
	}
	return "", "", false
})

// pauseAskedOtherwise tells whether a content type names that of a pause with other
// letter case, or with parameters.
func pauseAskedOtherwise(contentType string) bool {
	bare, _, _ := strings.Cut(contentType, ";")
	return contentType != wire.PauseType && strings.EqualFold(strings.TrimSpace(bare), wire.PauseType)
}

var _ = everyOutput("P10-2", "the body of a pause is UTF-8 text", func(e *Exchange, o wire.Output) (string, string, bool) {
	if o.ContentType != wire.PauseType || o.RawData != "" && !o.HasData {
		return "", "", false
	}
	if !utf8.Valid(o.Data) {
		return "data", fmt.Sprintf("the reason of the pause is no UTF-8: %q", clip(o.Data, 60)), true
	}
	return "", "", true
})

var _ = everyOutput("P10-3", "the duration of a sleep stands at metadata.duration", func(e *Exchange, o wire.Output) (string, string, bool) {
	if o.ContentType != wire.PauseType {
		return "", "", false
	}
	if o.Has("duration") {
		return "duration", "duration stands at the top level of the record, where nobody looks for it", true
	}
	_, there := o.Metadata["duration"]
	return "", "", there
})

var duration = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))+$`)
})

var _ = everyOutput("P10-4", "a duration is a sequence of decimal numbers, each with a unit: ns, us, µs, ms, s, m, h", func(e *Exchange, o wire.Output) (string, string, bool) {
	d, there := o.Metadata["duration"]
	if o.ContentType != wire.PauseType || !there {
		return "", "", false
	}
	if !duration().MatchString(d) {
		return "metadata", fmt.Sprintf("the duration %q", d), true
	}
	return "", "", true
})

var _ = always("P10-18", func(x *Lab, e *Exchange) {
	const demand = "at most one pause in an invocation"
	n := 0
	for _, o := range e.Outputs {
		if o.ContentType == wire.PauseType {
			if n++; n == 2 {
				x.Clause("P10-18").Holds(false, demand, "%s", e.place(o, "content-type", "a second pause; only the last one counts"))
				return
			}
		}
	}
	if n == 1 {
		x.Clause("P10-18").Holds(true, demand, "%s: one pause", e.which())
	}
})

var _ = everyOutput("P11-1", "a fork is an Output whose fork is the JSON value true", func(e *Exchange, o wire.Output) (string, string, bool) {
	raw := string(o.Fields["fork"])
	if raw == `"true"` || raw == "1" {
		return "fork", "fork is " + raw + " and not true", true
	}
	return "", "", o.Fork
})

var _ = everyOutput("P8.4-1", "a memory object is written by an Output named memories/<namespace>/<object-name>", func(e *Exchange, o wire.Output) (string, string, bool) {
	rest, memory := strings.CutPrefix(o.Name, "memories/")
	if !memory {
		return "", "", false
	}
	if i := strings.LastIndexByte(rest, '/'); i <= 0 {
		return "name", fmt.Sprintf("the name %q has no namespace and object name behind memories/", o.Name), true
	}
	return "", "", true
})

var _ = everyOutput("S8.3-1", "the name of a memory object is not empty", func(e *Exchange, o wire.Output) (string, string, bool) {
	if !strings.HasPrefix(o.Name, "memories/") {
		return "", "", false
	}
	if strings.HasSuffix(o.Name, "/") {
		return "name", fmt.Sprintf("%q ends without an object name", o.Name), true
	}
	return "", "", true
})

var _ = everyOutput("P17-2", "an Output has no field beside "+strings.Join(wire.OutputFields, ", "), func(e *Exchange, o wire.Output) (string, string, bool) {
	for _, key := range o.Keys {
		if !slices.Contains(wire.OutputFields, key) {
			return key, fmt.Sprintf("the field %q is none of an Output's", key), true
		}
	}
	return "", "", !o.Empty()
})

// S3.2-1: an entry described by its address is as good as one with a body.
var _ = everyOutput("S3.2-1", "an Output may name a uri in place of a body", func(e *Exchange, o wire.Output) (string, string, bool) {
	return "", "", o.URI != "" && !o.HasData
})

// P7-16: both servers are read-only for a handler.
var _ = always("P7-16", func(x *Lab, e *Exchange) {
	const demand = "a handler only reads from the object server and the memory server"
	for _, f := range e.Fetches {
		if f.Method != http.MethodGet && f.Method != http.MethodHead && f.Method != http.MethodOptions {
			x.Clause("P7-16").Holds(false, demand, "%s: %s", e.which(), f)
			return
		}
	}
	if len(e.Fetches) > 0 {
		x.Clause("P7-16").Holds(true, demand, "%s: %d requests, first %s", e.which(), len(e.Fetches), e.Fetches[0])
	}
})

// P7-19: an address of the servers that is written down outlives the invocation.
var _ = always("P7-19", func(x *Lab, e *Exchange) {
	const demand = "no address of the invocation's servers is written into the log"
	for _, o := range e.Records() {
		for _, address := range e.addresses {
			for _, field := range append([]string{"decoded data"}, wire.OutputFields...) {
				text := string(o.Fields[field])
				if field == "decoded data" {
					text = string(o.Data)
				}
				if strings.Contains(text, address) {
					x.Clause("P7-19").Warning().Holds(false, demand, "%s", e.place(o, strings.TrimPrefix(field, "decoded "), "%s holds the server's address %s", field, address))
					return
				}
			}
		}
	}
})
