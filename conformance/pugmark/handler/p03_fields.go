package handler

import (
	"encoding/json"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

var _ = scenario("P3.1", "padding-of-inputs", "bodies of all lengths modulo three, with and without padding", "P3.1-4 P3.1-5", func(x *Lab) {
	if x.refusesPadding() {
		return
	}
	log, control := x.Attentive()
	x.Clause("P3.1-4").Holds(true, "padded base64 is decoded", "log %s: %s, which depend on the bodies", log.Name, counted(len(control.Records())))
	// Three logs whose bodies differ in length, so that every amount of padding occurs.
	for _, tail := range []string{"", " ", "  "} {
		longer := log
		longer.Entries = nil
		for _, e := range log.Entries {
			e.Body = append(e.Body[:len(e.Body):len(e.Body)], tail...)
			longer.Entries = append(longer.Entries, e)
		}
		padded := x.Vary(longer, Variation{What: "padded bodies", Bodies: Inline})
		if !padded.Well() {
			continue // a longer body is not to its taste, which is its right
		}
		got := x.Play(longer, Variation{What: "bodies without padding", Bodies: Inline, Spell: func(_, _ int, r []byte) []byte { return unpadded(r) }})
		x.SameAs(padded, longer, got, "P3.1-5")
	}
})

// refusesPadding looks for a log on which the handler fails, and succeeds once the
// padding is gone: a handler that wants it so has no control run with padding.
func (x *Lab) refusesPadding() bool {
	for _, log := range x.Logs() {
		padded := x.Control(log)
		if padded.Well() || !padded.Ended {
			continue
		}
		bare := x.Play(log, Variation{What: "bodies without padding", Spell: func(_, _ int, r []byte) []byte { return unpadded(r) }})
		if bare.Well() && len(bare.Records()) > 0 {
			x.Clause("P3.1-4").Holds(false, "padded base64 is decoded", "log %s, with padding: %s; without: %s", log.Name, padded.How(), bare.How())
			return true
		}
	}
	return false
}

var _ = scenario("P3.2", "spelled-out-zeros", "every field that a record lacks, with its zero value", "P3.2-3", func(x *Lab) {
	log, _ := x.Exemplar()
	x.Same(log, x.Play(log, Variation{What: "all missing fields spelled out as zero", Spell: func(_, _ int, r []byte) []byte { return zeros(r) }}), "P3.2-3")
})

var _ = scenario("P3.2", "sparse-inputs", "entries with a body and nothing else", "P3.2-1 P17-3", func(x *Lab) {
	log, control := x.Exemplar()
	if len(control.Records()) > 0 {
		x.heeded("P17-3", "Outputs depend on records of the listed fields", x.needsField)
	} else if !x.needsField() {
		x.Clause("P17-3").NotExercised(hintOutputs)
	}
	for _, form := range []struct {
		what   string
		bodies Bodies
		keep   []string
	}{
		{"only data in every entry", Inline, []string{"event", "data"}},
		{"only url in every entry", ByURL, []string{"event", "url"}},
		{"only url and size in every entry", ByURL, []string{"event", "url", "size"}},
	} {
		sparse := func(in []wire.InputRecord) []wire.InputRecord {
			for i := 1; i < len(in)-1; i++ {
				r := wire.InputRecord{Event: in[i].Event, Data: in[i].Data, URL: in[i].URL}
				if len(form.keep) == 3 {
					r.Size = in[i].Size
				}
				in[i] = r
			}
			return in
		}
		e := x.Play(log, Variation{What: form.what, Bodies: form.bodies, Inputs: sparse})
		if e.Well() {
			x.Clause("P3.2-1").Holds(true, "any subset of the fields is read", "log %s, with %s: %s", log.Name, form.what, e.How())
			continue
		}
		spelled := x.Play(log, Variation{What: form.what + ", the others zero", Bodies: form.bodies, Inputs: sparse, Spell: func(_, _ int, r []byte) []byte { return zeros(r) }})
		if !spelled.Well() {
			continue // it wants values there, which is its right
		}
		x.Clause("P3.2-1").Holds(false, "a field that is missing is as good as one with its zero value", "log %s, with %s: %s; with the others spelled out as zero: %s", log.Name, form.what, e.How(), spelled.How())
	}
})

var _ = scenario("P4.3", "without-push-tags", "the log with its tags, without any, and with all entries tagged", "P4.3-7", func(x *Lab) {
	log, _ := x.Exemplar()
	for _, tags := range []struct{ what, event string }{{"no entry tagged", ""}, {"every entry tagged push", "push"}} {
		e := x.Play(log, Variation{What: tags.what, Inputs: func(in []wire.InputRecord) []wire.InputRecord {
			for i := 1; i < len(in)-1; i++ {
				in[i].Event = tags.event
			}
			return in
		}})
		x.Clause("P4.3-7").Holds(e.Well(), "tags are a convenience; the run ends well with and without them", "log %s, with %s: %s", log.Name, tags.what, e.How())
	}
})

var _ = scenario("P6", "any-lifecycle-event", "the log with each of the four lifecycle events", "P6-7", func(x *Lab) {
	log, _ := x.Exemplar()
	for _, event := range []string{"start", "fork", "wake", ""} {
		name, _ := json.Marshal(event) // a string always encodes
		e := x.Vary(log.with(event), Variation{What: "lifecycle event " + string(name)})
		x.Clause("P6-7").Holds(e.Well(), "every lifecycle event is one to end well on", "log %s, with %s: %s", log.Name, e.What, e.How())
	}
})
