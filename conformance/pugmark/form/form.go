// Package form says which clause a fault in the form of a record stream breaks. The
// stream of Inputs and that of Outputs have the same form (P2-2), so the suites on
// either side judge by the same table.
//
// Each kind of fault belongs to one clause: one mistake fails one clause, and the
// report sends nobody to the wrong place.
package form

import (
	"slices"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

// Rule is one clause about the form of a stream.
type Rule struct {
	Clause string
	Kinds  []wire.FaultKind // that violate it
	Demand string           // in words
}

// rules hold for the streams of both directions.
var rules = []Rule{
	{"P3-1", []wire.FaultKind{wire.NotObject, wire.NotJSON, wire.NotANumber},
		"the stream is a sequence of JSON objects: no other value at top level, and no record breaks JSON's grammar"},
	{"P3-2", []wire.FaultKind{wire.InvalidUTF8, wire.LoneSurrogate},
		"the stream is UTF-8, and escapes in it spell whole characters"},
	{"P3-5", []wire.FaultKind{wire.Truncated},
		"each record is one complete JSON object; the stream does not end inside one"},
	{"P3-10", []wire.FaultKind{wire.BOM},
		"no byte-order mark stands before, between or after records"},
	{"P3-11", []wire.FaultKind{wire.Stray},
		"between records stand space, tab, line feed and carriage return and nothing else"},
	{"P3.1-1", []wire.FaultKind{wire.BadBase64},
		"a data field is base64"},
	{"P3.1-2", []wire.FaultKind{wire.URLSafeBase64},
		"a data field is base64 in the standard alphabet, without - and _"},
	{"P3.1-3", []wire.FaultKind{wire.BrokenBase64},
		"a data field is base64 in one piece, without line breaks"},
}

// Inputs are the rules for the stream that a handler reads.
func Inputs() []Rule {
	return append(slices.Clone(rules), Rule{"P4-1", []wire.FaultKind{wire.WrongType},
		"event, url, content-type, content-encoding, schema-url, name and data are strings, size is a non-negative integer without fraction or exponent, metadata is an object of strings"})
}

// Outputs are the rules for the stream that a handler writes.
func Outputs() []Rule {
	return append(slices.Clone(rules), Rule{"P5-1", []wire.FaultKind{wire.WrongType},
		"uri, data, content-type, content-encoding, schema-url, name and session are strings, metadata is an object of strings, fork is true or false"},
		Rule{"P5.1-9", []wire.FaultKind{wire.BadSession},
			"a session is an ID of 32 hex digits"})
}

// Faults are those of the given kinds, without those that another fault at the same
// place gave rise to. found is in the order of the stream.
func Faults(found []wire.Fault, kinds ...wire.FaultKind) []wire.Fault {
	var out []wire.Fault
	for i, f := range found {
		if i > 0 && found[i-1].Offset == f.Offset {
			continue
		}
		if slices.Contains(kinds, f.Kind) {
			out = append(out, f)
		}
	}
	return out
}
