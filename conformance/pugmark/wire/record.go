package wire

import "bytes"

// The content types that the protocol reserves.
const (
	PauseType   = "application/vnd.pugmark.pause+text"
	ControlType = "application/vnd.pugmark.control+json"
)

// InputFields and OutputFields are the known fields of each kind of record, in the order of the schemas.
var (
	InputFields = []string{"event", "url", "size", "content-type", "content-encoding", "schema-url", "name", "metadata",
		"data"}
	OutputFields = []string{"uri", "data", "content-type", "content-encoding", "schema-url", "name", "metadata", "fork",
		"session"}
)

// Input is a decoded Input record (P4-1). Fields that are absent, null or of a wrong type have their zero value.
type Input struct {
	Record
	Event, URL                                    string
	Size                                          int64
	HasSize                                       bool
	ContentType, ContentEncoding, SchemaURL, Name string
	Metadata                                      map[string]string
	Data                                          []byte // decoded
	HasData                                       bool   // data is there, not empty, and base64 of some kind
	RawData                                       string // data as it stood
}

// Output is a decoded Output record. Fields that are absent, null or of a wrong type have their zero value.
type Output struct {
	Record
	URI                                           string
	Data                                          []byte
	HasData                                       bool
	RawData                                       string
	ContentType, ContentEncoding, SchemaURL, Name string
	Metadata                                      map[string]string
	Fork                                          bool
	Session                                       string // as found; "" and the zero ID both mean none
}

// DecodeInputs decodes a stream of Input records. To the faults of DecodeStream it adds those of known fields.
func DecodeInputs(b []byte) ([]Input, []Fault) {
	records, faults := DecodeStream(b)
	inputs := make([]Input, 0, len(records))
	for _, r := range records {
		f := r.known(&faults)
		in := Input{
			Record: r, Event: f.str("event"), URL: f.str("url"), ContentType: f.str("content-type"),
			ContentEncoding: f.str("content-encoding"), SchemaURL: f.str("schema-url"), Name: f.str("name"),
			Metadata: f.strings("metadata"),
		}
		in.Size, in.HasSize = f.integer("size", 0)
		in.RawData, in.Data, in.HasData = f.data("data")
		inputs = append(inputs, in)
	}
	sortFaults(faults)
	return inputs, faults
}

// DecodeOutputs decodes a stream of Output records. To the faults of DecodeStream it adds those of known fields, a
// session that is no session ID among them.
func DecodeOutputs(b []byte) ([]Output, []Fault) {
	records, faults := DecodeStream(b)
	outputs := make([]Output, 0, len(records))
	for _, r := range records {
		f := r.known(&faults)
		out := Output{
			Record: r, URI: f.str("uri"), ContentType: f.str("content-type"), ContentEncoding: f.str("content-encoding"),
			SchemaURL: f.str("schema-url"), Name: f.str("name"), Metadata: f.strings("metadata"), Fork: f.flag("fork"),
			Session: f.str("session"),
		}
		out.RawData, out.Data, out.HasData = f.data("data")
		if out.Session != "" {
			if _, err := ParseSessionID(out.Session); err != nil {
				f.fault("session", BadSession, "session: "+err.Error())
			}
		}
		outputs = append(outputs, out)
	}
	sortFaults(faults)
	return outputs, faults
}

// known gives typed access to the record's fields; faults are placed at the field's value.
func (r Record) known(faults *[]Fault) fields {
	return fields{raw: r.Fields, fault: func(field string, kind FaultKind, text string) {
		*faults = append(*faults, Fault{r.N, r.Place(field), kind, text})
	}}
}

// Place is where in the stream the value of a field begins; the record's beginning for one that it lacks.
func (r Record) Place(field string) int64 {
	at := r.Offset
	s := scanner{b: r.Raw}
	members, _ := s.object(true)
	for _, m := range members {
		if m.key == field {
			at = r.Offset + int64(m.start)
		}
	}
	return at
}

// Empty tells whether no known field has a value: such a record is the empty lifecycle event, or has no effect (P3-18).
func (in Input) Empty() bool { return in.empty(InputFields) }

// Empty tells whether no known field has a value: such a record has no effect (P3-18).
func (o Output) Empty() bool { return o.empty(OutputFields) }

func (r Record) empty(known []string) bool {
	for _, k := range known {
		if r.Has(k) && !r.Zero(k) {
			return false
		}
	}
	return true
}

// JSON is the record in the one form that equal records share: compact, known fields only, in the schema's order, empty
// ones left out, data as padded base64.
func (in Input) JSON() []byte {
	return bytes.TrimSuffix(InputRecord{Event: in.Event, URL: in.URL, Size: in.Size, ContentType: in.ContentType,
		ContentEncoding: in.ContentEncoding, SchemaURL: in.SchemaURL, Name: in.Name, Metadata: in.Metadata,
		Data: in.Data}.Encode(), []byte("\n"))
}

// JSON is the record in the one form that equal records share; see Input.JSON.
func (o Output) JSON() []byte {
	return bytes.TrimSuffix(OutputRecord{URI: o.URI, Data: o.Data, ContentType: o.ContentType,
		ContentEncoding: o.ContentEncoding, SchemaURL: o.SchemaURL, Name: o.Name, Metadata: o.Metadata, Fork: o.Fork,
		Session: o.Session}.Encode(), []byte("\n"))
}

// InputRecord builds one Input record.
type InputRecord struct {
	Event, URL                                    string
	Size                                          int64
	ContentType, ContentEncoding, SchemaURL, Name string
	Metadata                                      map[string]string
	Data                                          []byte
}

// Encode writes the record as compact JSON with a line feed; empty fields are left out.
func (r InputRecord) Encode() []byte {
	var w writer
	w.str("event", r.Event)
	w.str("url", r.URL)
	w.integer("size", r.Size)
	w.str("content-type", r.ContentType)
	w.str("content-encoding", r.ContentEncoding)
	w.str("schema-url", r.SchemaURL)
	w.str("name", r.Name)
	w.strings("metadata", r.Metadata)
	w.data("data", r.Data)
	return append(w.object(), '\n')
}

// OutputRecord builds one Output record.
type OutputRecord struct {
	URI                                           string
	Data                                          []byte
	ContentType, ContentEncoding, SchemaURL, Name string
	Metadata                                      map[string]string
	Fork                                          bool
	Session                                       string
}

// Encode writes the record as compact JSON with a line feed; empty fields are left out.
func (r OutputRecord) Encode() []byte {
	var w writer
	w.str("uri", r.URI)
	w.data("data", r.Data)
	w.str("content-type", r.ContentType)
	w.str("content-encoding", r.ContentEncoding)
	w.str("schema-url", r.SchemaURL)
	w.str("name", r.Name)
	w.strings("metadata", r.Metadata)
	w.flag("fork", r.Fork)
	w.str("session", r.Session)
	return append(w.object(), '\n')
}
