package catalogue

// Judge is a scenario that judges a clause.
type Judge struct {
	Scenario string `json:"scenario"` // P4.2/parents-first@http
	Suite    string `json:"suite"`    // runtime
}

// Index tells which scenarios judge which clause, by clause ID. A suite builds
// it from the labels of its scenarios.
type Index map[string][]Judge

// State tells whether anything judges a clause yet.
type State string

// The states of a clause.
const (
	Judged     State = "judged"     // by at least one scenario
	Untestable State = "untestable" // no observation decides it, and no scenario judges a part of it
	NotJudged  State = "not-judged" // it could be judged, but no scenario does yet
)

// State is the state of a clause under the scenarios in the index.
func (x Index) State(c *Clause) State {
	switch {
	case len(x[c.ID]) > 0:
		return Judged
	case c.Untestable != "":
		return Untestable
	default:
		return NotJudged
	}
}
