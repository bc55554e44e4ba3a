package session

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
)

// InlineLimit is the length in bytes up to which a body travels inside its descriptor (S3.1-2).
const InlineLimit = 1024

// Descriptor is one entry of a snapshot: what a blob is, and what is to become of it. Absent fields are zero values
// (S7-11). What its writer said of it stays to the letter (S7-6, S7-7). Descriptors that a Repo returns share their maps
// and slices; callers do not change those.
type Descriptor struct {
	Digest          layout.Digest     `json:"digest,omitzero"`     // S7-1
	Size            int64             `json:"size,omitzero"`       // bytes of the blob as stored (S7-4)
	CreatedAt       time.Time         `json:"created-at,omitzero"` // S7-5
	ContentType     string            `json:"content-type,omitempty"`
	ContentEncoding string            `json:"content-encoding,omitempty"`
	CacheControl    string            `json:"cache-control,omitempty"` // S7-8: kept where it is found
	SchemaURL       string            `json:"schema-url,omitempty"`
	Name            string            `json:"name,omitempty"`
	Metadata        map[string]string `json:"metadata,omitempty"`
	SequenceNumber  int64             `json:"sequence-number"` // S7-9: an integer, never by way of a float
	Data            Base64            `json:"data,omitempty"`  // the blob's bytes, where they are few (S7.1-1)
	TargetSession   layout.SessionID  `json:"target-session,omitzero"`
	SourceSession   layout.SessionID  `json:"source-session,omitzero"`
	SourceVersion   uint32            `json:"source-version,omitzero"`
	Fork            bool              `json:"fork,omitzero"` // with TargetSession: the child's ID (S11-1, S17-4)
	Deleted         bool              `json:"deleted,omitzero"`
}

// Describe makes the descriptor of a body, with the body inside where it is short enough (S3.1-1).
func Describe(body []byte) Descriptor {
	d := Descriptor{Digest: layout.DigestOf(body), Size: int64(len(body))}
	if len(body) <= InlineLimit {
		d.Data = body
	}
	return d
}

// Tombstone makes the descriptor that deletes a name from a session (S10-2, S10-3), without data (S10-4). Renaming an entry
// takes one for the old name and an entry of the new name (S10-10).
func Tombstone(name string) Descriptor { return Descriptor{Name: name, Deleted: true} }

// IsControl tells whether the entry is a control message (P9-1).
func (d Descriptor) IsControl() bool { return d.ContentType == ControlType }

// IsCrossSession tells whether the entry asks for delivery to another session (S12-1).
func (d Descriptor) IsCrossSession() bool { return !d.Fork && !d.TargetSession.IsZero() }

// Inline gives the body where the descriptor alone tells it (S3.1-4): where it is carried, empty, or none. S7.1-2: that it
// is not carried says nothing about its length.
func (d Descriptor) Inline() (body []byte, ok bool) {
	switch {
	case len(d.Data) > 0:
		return d.Data, true
	case d.Digest.IsZero(), d.Digest == emptyDigest:
		return nil, true
	}
	return nil, false
}

var emptyDigest = layout.DigestOf(nil)

// plainDescriptor has the fields of Descriptor without its methods.
type plainDescriptor Descriptor

// legacyDescriptor is a descriptor as it may be found, with the fork field of older writers.
type legacyDescriptor struct {
	plainDescriptor `json:",inline"`
	ForkSessionID   layout.SessionID `json:"fork-session-id"`
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom. Unknown fields are passed over (S18-5).
//
// S7.2-1, S7.2-2, S18-6: a fork-session-id says the same as fork and target-session. S7.2-3: a zero or empty one says
// nothing. Writers never use it (S7.2-4), so it is not kept.
func (d *Descriptor) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	var found legacyDescriptor
	if err := json.UnmarshalDecode(dec, &found); err != nil {
		return err
	}
	*d = Descriptor(found.plainDescriptor)
	if !found.ForkSessionID.IsZero() {
		d.Fork, d.TargetSession = true, found.ForkSessionID
	}
	return nil
}

// Base64 is a byte string that JSON carries in standard base64, written with padding and read with or without.
type Base64 []byte

// MarshalText implements encoding.TextMarshaler.
func (b Base64) MarshalText() ([]byte, error) {
	return base64.StdEncoding.AppendEncode(nil, b), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (b *Base64) UnmarshalText(text []byte) error {
	if bytes.ContainsAny(text, "\r\n") {
		return fmt.Errorf("base64: line break in the encoded text")
	}
	encoding := base64.StdEncoding
	if len(text)%4 != 0 {
		encoding = base64.RawStdEncoding
	}
	decoded, err := encoding.AppendDecode(nil, text)
	if err != nil {
		return fmt.Errorf("base64: %w", err)
	}
	*b = decoded
	return nil
}
