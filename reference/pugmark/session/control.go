package session

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// ControlType is the content type of control messages (P9-1). P17-12: exactly this one; entries of similar types are
// plain ones.
const ControlType = "application/vnd.pugmark.control+json"

// The statuses of a control message.
const (
	StatusRunning = "running"
	StatusStopped = "stopped"
	StatusUnknown = "unknown"
)

// Control is the body of a control message, the record of a run's outcome (P9-2). Missing fields are zero (P9-3).
// P9-7, P9-8: StartAt is a time of day, and absent where there is no sleep.
type Control struct {
	Status  string    `json:"status,omitempty"`
	Reason  string    `json:"reason,omitempty"`
	StartAt time.Time `json:"start-at,omitzero"` // when a sleeping session is due
}

// Encode gives the body of the control message.
func (c Control) Encode() ([]byte, error) {
	body, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("encode control message: %w", err)
	}
	return body, nil
}

// DecodeControl reads the body of a control message. An empty start-at is none (P9-3).
func DecodeControl(body []byte) (Control, error) {
	var found struct {
		Status  string `json:"status"`
		Reason  string `json:"reason"`
		StartAt string `json:"start-at"`
	}
	if err := json.Unmarshal(body, &found); err != nil {
		return Control{}, fmt.Errorf("control message: %w", err)
	}
	c := Control{Status: found.Status, Reason: found.Reason}
	if found.StartAt != "" {
		at, err := time.Parse(time.RFC3339, strings.ToUpper(found.StartAt)) // "t" and "z" are allowed
		if err != nil {
			return Control{}, fmt.Errorf("control message: start-at: %w", err)
		}
		c.StartAt = at
	}
	return c, nil
}

// ReadControl reads the control message that d describes.
func (r *Repo) ReadControl(ctx context.Context, d Descriptor) (Control, error) {
	body, err := r.ReadBody(ctx, d)
	if err != nil {
		return Control{}, fmt.Errorf("control message %d: %w", d.SequenceNumber, err)
	}
	return DecodeControl(body)
}
