package handler

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/pugcheck/pugcheck/conformance/pugmark/form"
	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

// An invariant is a rule for every output stream and every request of a handler, in
// whatever scenario: each runs when a scenario's story is over.
type invariant struct {
	clauses []string
	judge   func(x *Lab, e *Exchange)
}

var invariants []invariant

// always registers a rule over each invocation.
func always(clauses string, judge func(x *Lab, e *Exchange)) bool {
	invariants = append(invariants, invariant{strings.Fields(clauses), judge})
	return true
}

// Always lists the clauses that any scenario can give a verdict on.
func Always() []string {
	out := []string{"P2-1"}
	for _, i := range invariants {
		for _, id := range i.clauses {
			if !slices.Contains(out, id) {
				out = append(out, id)
			}
		}
	}
	return out
}

func (x *Lab) invariants() {
	for _, e := range x.Exchanges() {
		if x.Over == HTTP && e.Status != 200 {
			continue // not an output stream (P2.2-5): free text may stand there
		}
		for _, i := range invariants {
			i.judge(x, e)
		}
	}
}

// which names the invocation in the texts of the invariants.
func (e *Exchange) which() string { return fmt.Sprintf("on log %s%s", e.Log, with(e.What)) }

// at shows a fault with its place in the stream.
func (e *Exchange) at(f wire.Fault) string {
	return fmt.Sprintf("%s: record %d, byte %d: %s\n%s", e.which(), f.Record, f.Offset, f.Text, wire.Caret(e.Output, f.Offset))
}

// place shows where an Output begins that is well-formed and wrong otherwise.
func (e *Exchange) place(o wire.Output, field, text string, args ...any) string {
	at := o.Offset
	if field != "" {
		at = o.Place(field)
	}
	return fmt.Sprintf("%s: record %d, byte %d: %s\n%s", e.which(), o.N, at, fmt.Sprintf(text, args...), wire.Caret(e.Output, at))
}

// provenByRecords are the clauses on the form that any stream with records decides.
var provenByRecords = map[string]bool{"P3-1": true, "P3-2": true, "P3-5": true, "P3-10": true, "P3-11": true, "P5-1": true}

var _ = always("P3-1 P3-2 P3-5 P3-10 P3-11 P3.1-1 P3.1-2 P3.1-3 P5-1 P5.1-9", func(x *Lab, e *Exchange) {
	for _, rule := range form.Outputs() {
		found := e.faults(rule.Kinds...)
		switch {
		case len(found) > 0:
			more := ""
			if len(found) > 1 {
				more = fmt.Sprintf("\nand %d more of the kind", len(found)-1)
			}
			x.Clause(rule.Clause).Holds(false, rule.Demand, "%s%s", e.at(found[0]), more)
		case provenByRecords[rule.Clause] && len(e.Records()) > 0:
			x.Clause(rule.Clause).Holds(true, rule.Demand, "%s: %s in %d bytes", e.which(), counted(len(e.Outputs)), len(e.Output))
		}
	}
	for _, f := range e.faults(wire.DuplicateKey) {
		x.Clause("P3-1").Warning().Holds(false, "no record holds a key twice", "%s", e.at(f))
	}
})

// P3-12: what a log says belongs on stderr. A line of it in the stream is found as
// stray bytes, behind records or before them.
var _ = always("P3-12", func(x *Lab, e *Exchange) {
	const demand = "diagnostics stand on standard error (or in a response that is not 200), never between records"
	if stray := e.faults(wire.Stray); len(stray) > 0 {
		x.Clause("P3-12").Holds(false, demand, "%s", e.at(stray[0]))
	} else if len(e.Records()) > 0 && (e.Over == HTTP || e.Stderr != "") {
		x.Clause("P3-12").Holds(true, demand, "%s: %d bytes on standard error, only records in the stream", e.which(), len(e.Stderr))
	}
})

var _ = always("P3-3", func(x *Lab, e *Exchange) {
	const demand = "each JSON object is one record: none is a frame around records"
	for _, o := range e.Outputs {
		field := wire.Frames(o.Record, wire.OutputFields)
		if field != "" && !bytes.Contains(e.Input, o.Fields[field]) { // what was sent to it like that is an echo
			x.Clause("P3-3").Holds(false, demand, "%s", e.place(o, field, "no field of an Output, but a field %q that holds objects with such fields", field))
			return
		}
	}
	if len(e.Records()) > 0 {
		x.Clause("P3-3").Holds(true, demand, "%s: %s, none of them a frame", e.which(), counted(len(e.Outputs)))
	}
})

// P3-6: a record in pieces shows as a record with a body and nothing else, followed by
// one with a name or metadata and no body.
var _ = always("P3-6", func(x *Lab, e *Exchange) {
	const demand = "no record is spread over several objects"
	for i, o := range e.Outputs {
		if i == 0 || !e.bare(e.Outputs[i-1]) || o.HasData || o.URI != "" || o.Fork || o.Session != "" || o.ContentType == wire.PauseType || o.Empty() {
			continue
		}
		// Legal all the same for whoever means an entry with an empty body by it.
		x.Clause("P3-6").Assuming("R-03").Holds(false, demand, "%s", e.place(o, "", "an object with %s and no body follows one with a body and nothing else", strings.Join(o.Keys, ", ")))
		return
	}
	if e.readable() && len(e.Records()) > 0 {
		x.Clause("P3-6").Holds(true, demand, "%s: %s", e.which(), counted(len(e.Outputs)))
	}
})

// bare tells whether an Output is a body and nothing else.
func (e *Exchange) bare(o wire.Output) bool {
	for _, field := range wire.OutputFields {
		if field != "data" && o.Has(field) && !o.Zero(field) {
			return false
		}
	}
	return o.HasData
}

var _ = always("P3-15", func(x *Lab, e *Exchange) {
	if !e.readable() || len(e.Outputs) == 0 {
		return
	}
	const demand = "exactly one line feed follows each record, the last one included"
	for i, o := range e.Outputs {
		if string(o.After) == "\n" || e.Partly && i == len(e.Outputs)-1 {
			continue
		}
		x.Clause("P3-15").Holds(false, demand, "%s: record %d is followed at byte %d by %q\n%s", e.which(), o.N, o.End, clip(o.After, 40), wire.Caret(e.Output, o.End))
		return
	}
	x.Clause("P3-15").Holds(true, demand, "%s: %s", e.which(), counted(len(e.Outputs)))
})

var _ = always("P3.2-2", func(x *Lab, e *Exchange) {
	const demand = `fields that are empty ("", {}, 0, false, null) are left out`
	if !e.readable() || len(e.Outputs) == 0 {
		return
	}
	for _, o := range e.Outputs {
		for _, field := range wire.OutputFields {
			if o.Zero(field) {
				x.Clause("P3.2-2").Holds(false, demand, "%s", e.place(o, field, "%s is spelled out with an empty value", field))
				return
			}
		}
	}
	x.Clause("P3.2-2").Holds(true, demand, "%s: %s without an empty field", e.which(), counted(len(e.Outputs)))
})

// faults are the stream's faults of the given kinds.
func (e *Exchange) faults(kinds ...wire.FaultKind) []wire.Fault {
	return form.Faults(e.Faults, kinds...)
}

// readable tells whether the records of the stream can be told apart.
func (e *Exchange) readable() bool {
	return !slices.ContainsFunc(e.Faults, hinders)
}

// hinders tells whether a fault keeps records from being told apart.
func hinders(f wire.Fault) bool { return !f.Kind.Soft() && f.Kind != wire.BOM }
