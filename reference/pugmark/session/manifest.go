package session

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
)

// Manifest is what a session is created with; it never changes (S5.1-5). S5-1 to S5-6: one JSON object with these fields,
// of which a reader needs none (S18-4).
type Manifest struct {
	Session             layout.SessionID  `json:"session"`
	Parent              Pointer           `json:"parent,omitzero"`
	Name                string            `json:"name,omitempty"`
	Agent               string            `json:"agent,omitempty"`
	Handler             string            `json:"handler,omitempty"` // any text (P15-1)
	Metadata            map[string]string `json:"metadata,omitempty"`
	FirstSequenceNumber int64             `json:"first-sequence-number,omitzero"` // of the session's first descriptor
}

// Pointer names a session at a version. The zero value points nowhere.
type Pointer struct {
	Session layout.SessionID `json:"session"`
	Version uint32           `json:"version"`
}

// IsZero tells whether p points nowhere: at no session, whatever the version.
func (p Pointer) IsZero() bool { return p.Session.IsZero() }

func (m Manifest) encode() ([]byte, error) {
	body, err := json.Marshal(m, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("encode manifest of session %s: %w", m.Session, err)
	}
	return append(body, '\n'), nil
}

// decodeManifest reads the manifest found at the place of session id. Unknown fields are passed over (S18-3).
func decodeManifest(id layout.SessionID, body []byte) (Manifest, error) {
	var m Manifest
	if err := json.Unmarshal(body, &m); err != nil {
		return Manifest{}, fmt.Errorf("manifest of session %s: %w", id, err)
	}
	if m.Session.IsZero() {
		m.Session = id
	}
	if m.Session != id {
		return Manifest{}, fmt.Errorf("manifest of session %s: it says that it is of session %s", id, m.Session)
	}
	return m, nil
}
