package handler

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

// Same judges a run with something changed against the control run of its log: it has
// to succeed and to give the same Outputs. What differs between control runs already is
// left out of the comparison. Where the control run has no Outputs, only a failure says
// something. It tells whether all is well.
func (x *Lab) Same(log Log, got *Exchange, clauses ...string) bool {
	return x.same(x.Control(log), log, got, false, clauses)
}

// SameAs is Same against another run than the control run.
func (x *Lab) SameAs(control *Exchange, log Log, got *Exchange, clauses ...string) bool {
	return x.same(control, log, got, false, clauses)
}

// SameAsOrWarn is SameAs for a part whose violation is a warning at most.
func (x *Lab) SameAsOrWarn(control *Exchange, log Log, got *Exchange, clauses ...string) bool {
	return x.same(control, log, got, true, clauses)
}

func (x *Lab) same(control *Exchange, log Log, got *Exchange, capped bool, clauses []string) bool {
	acceptable := "success, and the Outputs of the control run, with " + got.What
	seen, undecided := x.unlike(control, got)
	for _, id := range clauses {
		a := x.Clause(id).Calldepth(2)
		if capped {
			a = a.Warning()
		}
		switch {
		case undecided != "":
			a.NotExercised("%s", undecided)
		case seen != "":
			a.Holds(false, acceptable, "log %s, with %s: %s", log.Name, got.What, seen)
		default:
			a.Holds(true, acceptable, "log %s: %d Outputs", log.Name, len(got.Records()))
		}
	}
	return seen == ""
}

// unlike says in which way a run differs from the control run, "" where it does not;
// or why that cannot be told.
func (x *Lab) unlike(control, got *Exchange) (seen, undecided string) {
	switch {
	case !got.Well():
		return got.How(), ""
	case len(control.Records()) == 0 && len(got.Records()) == 0:
		return "", hintOutputs
	}
	seen, ok := x.differs(control, got, true)
	if !ok {
		return "", "the number of its Outputs differs from run to run on the same log, or it does not always succeed, so nothing can be compared"
	}
	return seen, ""
}

// canonical are the Outputs with an effect as text by field: bodies decoded, metadata
// sorted, and addresses of the servers, which differ by nature, replaced.
func (e *Exchange) canonical() []map[string]string {
	var swap []string
	for i, address := range e.addresses {
		swap = append(swap, address, fmt.Sprintf("<server %d>", i+1))
	}
	plain := strings.NewReplacer(swap...)
	var out []map[string]string
	for _, o := range e.Records() {
		fields := map[string]string{
			"uri": o.URI, "data": string(o.Data), "content-type": o.ContentType, "content-encoding": o.ContentEncoding,
			"schema-url": o.SchemaURL, "name": o.Name, "session": strings.ToLower(o.Session),
		}
		if len(o.Metadata) > 0 {
			b, _ := json.Marshal(o.Metadata) // strings always encode
			fields["metadata"] = string(b)
		}
		if o.Fork {
			fields["fork"] = "true"
		}
		for k, v := range fields {
			fields[k] = plain.Replace(v)
		}
		out = append(out, fields)
	}
	return out
}

// difference is the first one between the Outputs of two runs, in words; "" where there
// is none outside the mask.
func difference(control, got *Exchange, skip mask) string {
	return unequal(control.canonical(), got.canonical(), skip)
}

func unequal(a, b []map[string]string, skip mask) string {
	for i := range min(len(a), len(b)) {
		for _, field := range wire.OutputFields {
			if a[i][field] != b[i][field] && !skip[i][field] {
				return fmt.Sprintf("Output %d differs in %s: %s in the control run, %s here", i+1, field, shown(a[i][field], b[i][field]), shown(b[i][field], a[i][field]))
			}
		}
	}
	if len(a) != len(b) {
		return fmt.Sprintf("%s in the control run, %s here", counted(len(a)), counted(len(b)))
	}
	return ""
}

func counted(n int) string {
	if n == 1 {
		return "1 Output"
	}
	return fmt.Sprintf("%d Outputs", n)
}

// shown quotes a value around the place where it begins to differ from the other.
func shown(v, other string) string {
	if v == "" {
		return "nothing"
	}
	const reach = 40
	at := 0
	for at < len(v) && at < len(other) && v[at] == other[at] {
		at++
	}
	from, to := max(0, at-reach), min(len(v), at+reach)
	for from > 0 && !utf8.RuneStart(v[from]) {
		from--
	}
	text := fmt.Sprintf("%q", v[from:to])
	if from > 0 {
		text = "…" + text
	}
	if to < len(v) {
		text += "…"
	}
	return text
}

// Sensitive tells whether the Outputs on a log depend on the bodies of its entries:
// other bodies give other Outputs, or a failure. It is found out once per process.
func (x *Lab) Sensitive(log Log) bool {
	x.bench.mu.Lock()
	sensitive, known := x.bench.sensitive[log.Name]
	x.bench.mu.Unlock()
	if known {
		return sensitive
	}
	if got := x.Play(log.otherBodies(), Variation{What: "other bodies"}); got.Well() {
		seen, ok := x.differs(x.Control(log), got, false)
		sensitive = ok && seen != ""
	} else {
		sensitive = true
	}
	x.bench.mu.Lock()
	x.bench.sensitive[log.Name] = sensitive
	x.bench.mu.Unlock()
	return sensitive
}

// Attentive is the first log on which the handler gives Outputs that depend on the
// bodies. It ends the scenario where there is none.
func (x *Lab) Attentive() (Log, *Exchange) {
	log, e := x.attentive()
	if e == nil {
		x.Stop(hintBodies)
	}
	return log, e
}

// attentive is Attentive with nil where there is none.
func (x *Lab) attentive() (Log, *Exchange) {
	for _, log := range x.Logs() {
		e := x.Control(log)
		if e.Well() && len(e.Records()) > 0 && slices.ContainsFunc(log.Entries, func(e Entry) bool { return len(e.Body) > 0 }) && x.Sensitive(log) {
			return log, e
		}
	}
	return Log{}, nil
}

// heeded passes a clause about reading the log where the Outputs show that it was
// read. A handler that says the same whatever it is told is free to, and shows
// nothing, unless the contrary shows: fell looks for that.
func (x *Lab) heeded(clause, demand string, fell func() bool) {
	log, e := x.attentive()
	if e == nil {
		if !fell() {
			x.Clause(clause).NotExercised(hintBodies)
		}
		return
	}
	x.Clause(clause).Calldepth(1).Holds(true, demand, "log %s: %s, and others with other bodies", log.Name, counted(len(e.Records())))
}
