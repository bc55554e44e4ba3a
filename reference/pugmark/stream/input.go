// Package stream is the wire format between a runtime and a handler: a sequence
// of JSON objects in UTF-8, one object per record, in both directions.
//
// The runtime writes Input records with an [Encoder] and reads Output records
// with a [Decoder]. Neither knows what a record means; the engine decides that.
package stream

import (
	"encoding/json"
	"io"
)

// Values of Input.Event. The set is closed in version 1 (P17-6), in which no
// record announces a protocol version (P17-13).
const (
	EventMemory = "memory" // first record of a stream: where memory is served
	EventPush   = "push"   // a replayed entry that is newly arrived
	EventStart  = "start"  // lifecycle: no handler has run on this session yet
	EventFork   = "fork"   // lifecycle: first invocation of a fork child
	EventWake   = "wake"   // lifecycle: a stopped session is due again
	EventNone   = ""       // lifecycle: any other invocation; the record is {}
)

// InlineLimit is the largest body in bytes, as stored, that may travel inside a
// record or a descriptor (P7.1-2, S3.1-2).
const InlineLimit = 1024

// Input is one record of the input stream: a replayed log entry or an event
// (P4-1). It has these fields and no others (P17-1).
//
// P3.2-2: every empty field is left out, so the zero Input is the record {}.
type Input struct {
	Event           string            `json:"event,omitempty"`
	URL             string            `json:"url,omitempty"`
	Size            int64             `json:"size,omitempty"` // bytes as stored, before any content decoding
	ContentType     string            `json:"content-type,omitempty"`
	ContentEncoding string            `json:"content-encoding,omitempty"`
	SchemaURL       string            `json:"schema-url,omitempty"`
	Name            string            `json:"name,omitempty"`
	Metadata        map[string]string `json:"metadata,omitempty"`
	// P3.1-1 to P3.1-3, P7.1-1: standard alphabet, padded, without line breaks,
	// which is what encoding/json makes of a byte slice.
	Data []byte `json:"data,omitempty"`
}

// Encoder writes Input records.
type Encoder struct {
	json *json.Encoder
}

// NewEncoder returns an encoder that writes each record to w in one call of
// Write.
func NewEncoder(w io.Writer) *Encoder {
	j := json.NewEncoder(w)
	j.SetEscapeHTML(false)
	return &Encoder{json: j}
}

// Encode writes one record, as one object (P3-3, P3-6), and a line feed (P3-5,
// P3-15). Nothing else gets into the stream, no byte-order mark either (P3-10,
// P3-11). Errors are those of the writer.
func (e *Encoder) Encode(in Input) error { return e.json.Encode(in) }
