package runtime

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/pugcheck/pugcheck/conformance/pugmark/form"
	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

// The form of the input stream. Where records could not be told apart, nothing is said
// about their contents.

// provenByRecords are the clauses on the form that any stream with records decides;
// the others need bodies or text of a certain kind, so their passes come from scenarios.
var provenByRecords = map[string]bool{"P3-1": true, "P3-10": true, "P3-11": true}

var _ = everyStream("P3-1 P3-2 P3-5 P3-10 P3-11 P3.1-1 P3.1-2 P3.1-3 P4-1 P2.1-2 P2.2-3",
	func(x *Lab, inv *Invocation, s Stream) {
		for _, rule := range form.Inputs() {
			found := s.faults(rule.Kinds...)
			if rule.Clause == "P3.1-1" || rule.Clause == "P3.1-2" {
				found = s.alphabetFaults(rule.Clause == "P3.1-2")
			}
			switch {
			case len(found) > 0:
				x.Clause(rule.Clause).Holds(false, rule.Demand, "%s: %s", inv.which(), listed(found))
			case provenByRecords[rule.Clause] && len(s.Inputs) > 0:
				x.Clause(rule.Clause).Holds(true, rule.Demand, "%s: %d records in %d bytes", inv.which(), len(s.Inputs), len(s.Raw))
			}
		}
		for _, f := range s.faults(wire.DuplicateKey) {
			x.Clause("P3-1").Warning().Holds(false, "no record holds a key twice", "%s: %s", inv.which(), f.Error())
		}
		if len(bytes.TrimSpace(s.Raw)) == 0 {
			clause, where := "P2.1-2", "file descriptor 0"
			if x.Over == HTTP {
				clause, where = "P2.2-3", "the request's body"
			}
			x.Clause(clause).Holds(false, "the Inputs come on "+where+", a memory record and a lifecycle record at least", "%s: it ended after %d bytes, without a record", inv.which(), len(s.Raw))
		}
	})

var _ = everyStream("P3-3", func(x *Lab, inv *Invocation, s Stream) {
	const demand = "each JSON object is one record: none is a frame around records"
	for _, in := range s.Inputs {
		if field := wire.Frames(in.Record, wire.InputFields); field != "" {
			x.Clause("P3-3").Holds(false, demand, "%s: record %d at byte %d has no field of an Input but a field %q that holds objects with such fields: %s", inv.which(), in.N, in.Offset, field, clip(in.Raw, 300))
			return
		}
	}
	if len(s.Inputs) > 1 {
		x.Clause("P3-3").Holds(true, demand, "%s: %d records, none of them a frame", inv.which(), len(s.Inputs))
	}
})

var _ = everyStream("P3-15", func(x *Lab, inv *Invocation, s Stream) {
	if s.unreadable() != "" || len(s.Inputs) == 0 {
		return
	}
	const demand = "exactly one line feed follows each record, the last one included"
	var wrong []wire.Input
	for _, in := range s.Inputs {
		if string(in.After) != "\n" {
			wrong = append(wrong, in)
		}
	}
	if len(wrong) == 0 {
		x.Clause("P3-15").Holds(true, demand, "%s: %d records", inv.which(), len(s.Inputs))
		return
	}
	first := wrong[0]
	x.Clause("P3-15").Holds(false, demand, "%s: %d of %d records are followed by something else; the first is record %d, followed at byte %d by %q", inv.which(), len(wrong), len(s.Inputs), first.N, first.End, clip(first.After, 40))
})

var _ = everyStream("P3.2-2", func(x *Lab, inv *Invocation, s Stream) {
	if s.unreadable() != "" || len(s.Inputs) == 0 {
		return
	}
	const demand = `fields that are empty ("", {}, 0, false, null) are left out`
	var spelled []string
	var first wire.Input
	for _, in := range s.Inputs {
		for _, field := range wire.InputFields {
			if in.Zero(field) {
				if len(spelled) == 0 {
					first = in
				}
				spelled = append(spelled, fmt.Sprintf("%s in record %d", field, in.N))
			}
		}
	}
	if len(spelled) == 0 {
		x.Clause("P3.2-2").Holds(true, demand, "%s: %d records without an empty field", inv.which(), len(s.Inputs))
		return
	}
	count := len(spelled)
	if count > 12 {
		spelled = append(spelled[:12], "…")
	}
	x.Clause("P3.2-2").Holds(false, demand, "%s: %d empty fields are spelled out (%s); record %d at byte %d: %s", inv.which(), count, strings.Join(spelled, ", "), first.N, first.Offset, clip(first.Raw, 300))
})

// faults are the stream's faults of the given kinds.
func (s Stream) faults(kinds ...wire.FaultKind) []wire.Fault { return form.Faults(s.Faults, kinds...) }

// alphabetFaults are the faults of data fields that are no standard base64: those
// in the URL-safe alphabet, or those that are no base64 at all. Text that merely
// happens to be URL-safe base64 is told by size, which it does not agree with.
func (s Stream) alphabetFaults(urlSafe bool) []wire.Fault {
	var out []wire.Fault
	for _, f := range s.faults(wire.BadBase64, wire.URLSafeBase64) {
		safe := f.Kind == wire.URLSafeBase64
		for _, in := range s.Inputs {
			if in.N == f.Record && in.HasSize && in.Size != int64(len(in.Data)) {
				safe = false
			}
		}
		if safe == urlSafe {
			out = append(out, f)
		}
	}
	return out
}

// unreadable says why the records of a stream cannot be told apart, so that what
// they hold is not to be judged; "" where they can. A byte-order mark does not
// matter here.
func (s Stream) unreadable() string {
	for _, f := range s.Faults {
		if !f.Kind.Soft() && f.Kind != wire.BOM {
			return f.Error()
		}
	}
	for _, in := range s.Inputs {
		if field := wire.Frames(in.Record, wire.InputFields); field != "" {
			return fmt.Sprintf("record %d is a frame: its field %q holds records", in.N, field)
		}
	}
	return ""
}

// which names the invocation in the texts of the invariants.
func (i *Invocation) which() string { return fmt.Sprintf("invocation %d", i.N) }

// listed puts faults into one line, the first few of them.
func listed(faults []wire.Fault) string {
	var parts []string
	for i, f := range faults {
		if i == 4 {
			parts = append(parts, fmt.Sprintf("and %d more", len(faults)-i))
			break
		}
		parts = append(parts, f.Error())
	}
	return strings.Join(parts, "; ")
}
