package handler

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

// A handler that was written against one runtime may have come to need a field that
// only this runtime sends. It fails on records of the listed fields, or ignores them, and
// works once the field is there.

// furtherField is a field that some runtime might send, with a value that suits its name.
type furtherField struct {
	name  string
	value func(n int, e Entry) any // for the n-th entry, from 1
}

// furtherFields are what runtimes are likely to add to an entry.
var furtherFields = []furtherField{
	{"digest", func(_ int, e Entry) any { return wire.Digest(e.Body) }},
	{"sha256", func(_ int, e Entry) any { return strings.TrimPrefix(wire.Digest(e.Body), "sha256:") }},
	{"hash", func(_ int, e Entry) any { return wire.Digest(e.Body) }},
	{"id", func(_ int, e Entry) any { return wire.Digest(e.Body) }},
	{"key", func(_ int, e Entry) any { return wire.Digest(e.Body) }},
	{"uri", func(_ int, e Entry) any { return "s3://bucket/" + wire.Digest(e.Body) }},
	{"seq", func(n int, _ Entry) any { return n }},
	{"sequence", func(n int, _ Entry) any { return n }},
	{"index", func(n int, _ Entry) any { return n - 1 }},
	{"offset", func(n int, _ Entry) any { return n - 1 }},
	{"version", func(n int, _ Entry) any { return n }},
	{"length", func(_ int, e Entry) any { return len(e.Body) }},
	{"type", func(int, Entry) any { return "message" }},
	{"kind", func(int, Entry) any { return "message" }},
	{"role", func(int, Entry) any { return "user" }},
	{"text", func(_ int, e Entry) any { return string(e.Body) }},
	{"content", func(_ int, e Entry) any { return string(e.Body) }},
	{"body", func(_ int, e Entry) any { return string(e.Body) }},
	{"message", func(_ int, e Entry) any { return string(e.Body) }},
	{"payload", func(_ int, e Entry) any { return string(e.Body) }},
	{"time", instant}, {"timestamp", instant}, {"created", instant}, {"created-at", instant}, {"created_at", instant}, {"date", instant},
}

func instant(n int, _ Entry) any {
	return time.Date(2026, 1, 1, 0, 0, n, 0, time.UTC).Format(time.RFC3339)
}

// fieldNames finds names in quotes in what a handler says about its failure.
var fieldNames = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("['\"`‘“]([A-Za-z][A-Za-z0-9_.-]{0,40})['\"`’”]|(?:field|key|property|attribute|member) ([A-Za-z][A-Za-z0-9_-]{0,40})")
})

// asksFor are the fields that the handler's complaint may be about, and those that are
// likely anyway.
func asksFor(complaint string) []furtherField {
	var out []furtherField
	for _, found := range fieldNames().FindAllStringSubmatch(complaint, 20) {
		name := found[1] + found[2]
		known := func(f furtherField) bool { return f.name == name }
		if slices.Contains(wire.InputFields, name) || slices.ContainsFunc(out, known) || slices.ContainsFunc(furtherFields, known) {
			continue
		}
		out = append(out, furtherField{name, func(_ int, e Entry) any { return wire.Digest(e.Body) }})
	}
	return append(out, furtherFields...)
}

// needsField looks for a handler that works only with a field beside the listed ones. It
// tells whether P17-3 fell.
func (x *Lab) needsField() bool {
	for _, log := range x.idle() {
		control := x.Control(log)
		fields := asksFor(control.Stderr + "\n" + string(clip(control.Output, 2000)))
		if !speaks(x.withFurther(log, "further fields in every entry", fields)) {
			continue
		}
		const demand = "records with no other fields than the listed ones are enough"
		for _, f := range fields { // which of them it is
			if e := x.withFurther(log, "a further field "+f.name+" in every entry", []furtherField{f}); speaks(e) {
				x.Clause("P17-3").Holds(false, demand, "log %s: %s; with %s: %s", log.Name, control.How(), e.What, e.How())
				return true
			}
		}
		var names []string
		for _, f := range fields {
			names = append(names, f.name)
		}
		x.Clause("P17-3").Holds(false, demand, "log %s: %s; it succeeds with further fields in every entry, though not with one of them alone: %s", log.Name, control.How(), strings.Join(names, ", "))
		return true
	}
	return false
}

// withFurther plays a log with fields added to each entry.
func (x *Lab) withFurther(log Log, what string, fields []furtherField) *Exchange {
	return x.Play(log, Variation{What: what, Spell: func(i, n int, record []byte) []byte {
		if i == 0 || i == n-1 {
			return record
		}
		for _, f := range fields {
			value, err := json.Marshal(f.value(i, log.Entries[i-1]))
			x.Must(err)
			record = withFields(record, `"`+f.name+`":`+string(value))
		}
		return record
	}})
}
