package stream

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Output is one record of the output stream: an entry that the handler appends,
// or a signal to the runtime. No field has to be there (P3.2-1, P17-3).
type Output struct {
	URI             string
	Data            []byte
	ContentType     string
	ContentEncoding string
	SchemaURL       string
	Name            string
	Metadata        map[string]string
	Fork            bool
	Session         string // as the handler spelled it; its form is not checked here

	Record int   // number of the record in its stream, counted from 1
	Offset int64 // byte offset of its opening brace, counted from 0
}

// Empty reports whether the record has no field that is filled and known.
// P3-17, P3-18: such a record is no mistake, and has no effect.
func (o Output) Empty() bool {
	return o.URI == "" && len(o.Data) == 0 && o.ContentType == "" && o.ContentEncoding == "" &&
		o.SchemaURL == "" && o.Name == "" && len(o.Metadata) == 0 && !o.Fork && o.Session == ""
}

// Fault is a record that breaks the wire format or the protocol's rules: the
// handler's mistake, not the transport's. R-29: it fails the whole invocation.
type Fault struct {
	Record int   // number of the record, counted from 1
	Offset int64 // byte offset in the stream, counted from 0
	Err    error
}

func (f *Fault) Error() string {
	return fmt.Sprintf("output record %d at byte %d: %v", f.Record, f.Offset, f.Err)
}

func (f *Fault) Unwrap() error { return f.Err }

// Fault returns err as a fault of this record.
func (o Output) Fault(err error) error {
	return &Fault{Record: o.Record, Offset: o.Offset, Err: err}
}

// Decoder reads Output records. It accepts any JSON whitespace between and in
// records, none at all between them and behind the last (P3-16), any split of the
// stream into reads, and records of any length (P3-4, P3-7, P3-8, P3-9).
type Decoder struct {
	json    *json.Decoder
	records int
	err     error
}

// NewDecoder returns a decoder that reads from r. It reads ahead.
func NewDecoder(r io.Reader) *Decoder {
	return &Decoder{json: json.NewDecoder(r)}
}

// Next returns the next record, empty ones included, and io.EOF once the stream
// has ended between two records. A *Fault means that the stream holds something
// else than records; any other error is the reader's. After an error Next
// returns the same error again.
func (d *Decoder) Next() (Output, error) {
	if d.err != nil {
		return Output{}, d.err
	}
	o, err := d.next()
	d.err = err
	return o, err
}

func (d *Decoder) next() (Output, error) {
	var raw json.RawMessage
	if err := d.json.Decode(&raw); err != nil {
		if err == io.EOF {
			return Output{}, io.EOF
		}
		var syntax *json.SyntaxError
		switch {
		case errors.As(err, &syntax):
			// The offset counts the offending byte; the fault points at it.
			return Output{}, &Fault{d.records + 1, syntax.Offset - 1, err}
		case err == io.ErrUnexpectedEOF:
			return Output{}, &Fault{d.records + 1, d.json.InputOffset(), errors.New("the stream ends inside a record")}
		}
		return Output{}, err
	}
	d.records++
	o := Output{Record: d.records, Offset: d.json.InputOffset() - int64(len(raw))}
	if err := o.parse(raw); err != nil {
		return Output{}, o.Fault(err)
	}
	return o, nil
}

// parse fills o from one JSON value that is known to be well formed.
func (o *Output) parse(raw []byte) error {
	// P3-1: a record is an object and nothing else.
	if raw[0] != '{' {
		return fmt.Errorf("a record has to be a JSON object, not %s", abridged(raw))
	}
	// P3-2: the stream is UTF-8; encoding/json would put U+FFFD in its place.
	if !utf8.Valid(raw) {
		return errors.New("the record is not valid UTF-8")
	}
	for key, value := range members(raw) {
		if err := o.set(key, value); err != nil {
			return fmt.Errorf("field %q: %w", key, err)
		}
	}
	return nil
}

// set stores one member. P3-13, P17-4, P17-5: a name that is not known is ignored.
// P3-14: names are compared exactly, which is why the record is not left to
// encoding/json, since that also accepts "Fork" for "fork".
// P3.2-3: a missing field has its zero value; null counts as missing.
func (o *Output) set(key string, value json.RawMessage) error {
	switch key {
	case "uri":
		return str(value, &o.URI)
	case "data":
		return base64Data(value, &o.Data)
	case "content-type":
		return str(value, &o.ContentType)
	case "content-encoding":
		return str(value, &o.ContentEncoding)
	case "schema-url":
		return str(value, &o.SchemaURL)
	case "name":
		return str(value, &o.Name)
	case "metadata":
		o.Metadata = nil
		if json.Unmarshal(value, &o.Metadata) != nil {
			return fmt.Errorf("has to be an object of strings, not %s", abridged(value))
		}
	case "fork":
		o.Fork = false
		if json.Unmarshal(value, &o.Fork) != nil {
			return fmt.Errorf("has to be true or false, not %s", abridged(value))
		}
	case "session":
		return str(value, &o.Session)
	}
	return nil
}

func str(value json.RawMessage, field *string) error {
	*field = ""
	if json.Unmarshal(value, field) != nil {
		return fmt.Errorf("has to be a string, not %s", abridged(value))
	}
	return nil
}

// base64Data decodes a body, of any bytes and length (P5.1-1). P3.1-4, P3.1-5:
// padding is optional.
func base64Data(value json.RawMessage, field *[]byte) error {
	*field = nil
	text := value
	if text[0] == '"' && bytes.IndexByte(text, '\\') < 0 {
		text = text[1 : len(text)-1] // the usual case: bodies can be large, so spare a copy
	} else {
		var s string
		if err := str(value, &s); err != nil {
			return err
		}
		text = []byte(s)
	}
	if bytes.ContainsAny(text, "\r\n") {
		return errors.New("base64 with a line break in it")
	}
	text = text[:len(text)-padding(text)]
	body := make([]byte, base64.RawStdEncoding.DecodedLen(len(text)))
	n, err := base64.RawStdEncoding.Decode(body, text)
	if err != nil {
		return fmt.Errorf("not standard base64: %w", err)
	}
	*field = body[:n]
	return nil
}

// padding is the number of "=" that a whole, padded text ends in, and 0 for one
// whose length is no multiple of four.
func padding(text []byte) int {
	switch {
	case len(text)%4 != 0:
		return 0
	case bytes.HasSuffix(text, []byte("==")):
		return 2
	case bytes.HasSuffix(text, []byte("=")):
		return 1
	}
	return 0
}

// abridged is a JSON value for a message.
func abridged(value []byte) string {
	const limit = 40
	if len(value) <= limit {
		return string(value)
	}
	return strings.ToValidUTF8(string(value[:limit]), "") + "…"
}
