package run

import (
	"encoding/json"

	"github.com/pugcheck/pugcheck/conformance"
	"github.com/pugcheck/pugcheck/harness/artifacts"
)

// order is what a worker reads from standard input, once.
type order struct {
	Job   json.RawMessage    `json:"job"`
	Seed  uint64             `json:"seed"`
	Turns []conformance.Turn `json:"turns"`

	Artifacts *artifacts.Keeper `json:"artifacts,omitempty"`
}

// message is one line from a worker. Exactly one field is set.
type message struct {
	Started *conformance.Turn    `json:"started,omitempty"`
	Outcome *conformance.Outcome `json:"outcome,omitempty"`
	Trouble string               `json:"trouble,omitempty"` // the order cannot be carried out at all
}
