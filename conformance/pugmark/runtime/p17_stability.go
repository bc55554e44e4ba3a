package runtime

import (
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

var _ = everyStream("P17-1 P17-6", func(x *Lab, inv *Invocation, s Stream) {
	if s.unreadable() != "" || len(s.Inputs) == 0 {
		return
	}
	var fields, events tally
	for _, in := range s.Inputs {
		var further []string
		for _, key := range in.Keys {
			if !slices.Contains(wire.InputFields, key) {
				further = append(further, key)
			}
		}
		fields.check(len(further) == 0, "%s: record %d has %s: %s", inv.which(), in.N, strings.Join(further, ", "), clip(in.Raw, 300))
		events.check(slices.Contains([]string{"", "memory", "push", "wake", "fork", "start"}, in.Event), "%s: record %d has event %q", inv.which(), in.N, in.Event)
	}
	fields.judge(x.Clause("P17-1").Assuming("R-40"), "no record has a field beyond event, url, size, content-type, content-encoding, schema-url, name, metadata and data", "records")
	events.judge(x.Clause("P17-6").Resting("R-04"), "no record has an event beyond memory, push, wake, fork, start and the empty one", "records")
})

var _ = scenario("P17", "closed-sets", "a full entry, a failure, a lost race and a wake: no Input has a further field or a further event",
	"P17-1 P17-6",
	func(x *Lab) {
		// Judged by the invariants of these clauses, on these and all other streams.
		s := x.plainLog()
		full := x.text("full")
		full.ContentEncoding, full.SchemaURL, full.CacheControl, full.Metadata = "x-none", "https://example.com/s", "no-store", map[string]string{"k": "v"}
		s.Commit(wire.Checkpoint, full)
		s.Commit(wire.Provisional, wire.DeliveredEntry("message", x.Word("m"), x.NewID(), 3))
		status := 1
		if x.Over == HTTP {
			status = 500
		}
		_, run := x.failing(s, nil, status)
		x.landAt(s.ID.SnapshotKey(6), 1, func(int, *fakes3.Request) {
			x.store(s.Build(wire.SnapshotSpec{Entries: []wire.Entry{x.text("foreign")}}))
		})
		inv := run.Again()
		inv.Received()
		inv.Finish(x.unpadded("mine"))
		x.settle()
		woken, _ := x.woken()
		x.observe(woken)
	}, overBoth)

var _ = scenario("P17", "nothing-further-required", "Outputs with data alone and with uri alone: they are committed",
	"P17-3",
	func(x *Lab) {
		control := x.unpadded("control")
		control.URI = "" // with a name and a type
		x.control(control)
		body := x.threes("behind a uri")
		for what, out := range map[string]wire.OutputRecord{"data": {Data: x.threes("data alone")}, "uri": {URI: x.remote("sparse", body)}} {
			got := x.commitOf("P17-3", plainly(out))
			if what == "data" {
				body = out.Data
			} else {
				body = x.stored(out.URI)
			}
			_, ok := got.by(body)
			x.Clause("P17-3").Holds(ok, "an Output with "+what+" and no other field is committed", "%s; committed: %s%s", got.exit.Exit, got.list(), got.complaint())
		}
	}, overBoth)

// stored is the object of the other bucket at an s3:// address.
func (x *Lab) stored(uri string) []byte {
	o, _ := x.S3.Get(otherBucket, strings.TrimPrefix(uri, "s3://"+otherBucket+"/"))
	return o.Body
}

var _ = scenario("P17", "further-fields-of-outputs", "an entry, a fork, a message, a memory object and a pause, each with a field of a later revision: they lead to what they lead to without",
	"P17-4 P17-5",
	func(x *Lab) {
		kinds, due := [2][]string{}, 0
		for i, field := range []string{"", `"x-later":{"event":"protocol","fork":true,"session":"00"},`} {
			s, other := x.plainLog(), x.shortLog()
			namespace := "later-" + s.ID.String()[8:]
			fork, message := x.unpadded("fork"), x.unpadded("message")
			fork.Fork, message.Session = true, other.ID.String()
			run := x.Run(s.ID)
			inv := run.Next()
			outs := x.welcome(x.unpadded("entry"), fork, message, x.remember(namespace+"/x"), pause("enough"))
			due = len(outs) - 1 // one kind may be missing, and is missing then in both cases
			for _, out := range outs {
				inv.Say("{" + field + compact(out)[1:] + "\n")
			}
			inv.Finish()
			run.Wait()
			x.memoryLegible()
			kinds[i] = x.kinds(s, other.ID, namespace)
		}
		if len(kinds[0]) < due {
			x.Stop("without the field the Outputs lead to %v only", kinds[0])
		}
		for _, clause := range []string{"P17-4", "P17-5"} {
			x.Clause(clause).Expect(kinds[1]).To(Equal(kinds[0]), "Outputs with a field that is not known lead to what they lead to without it")
		}
	}, overBoth)

var _ = scenario("P17", "further-variables", "an invocation whose environment has further PUGMARK_ variables, or none: both conform",
	"P17-9",
	func(x *Lab) {
		s := x.plainLog()
		run := x.Run(s.ID)
		inv := run.Next()
		names := x.Config.Profile.Assumed.Environment
		known := []string{"PUGMARK_AGENT_ID", "PUGMARK_SESSION_ID", "PUGMARK_SESSION_METADATA", names.SnapshotVersion, names.RPCAddress}
		further := []string{} // for the report: the permission leaves nothing to violate
		for _, variable := range inv.Env {
			if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "PUGMARK_") && !slices.Contains(known, name) {
				further = append(further, name)
			}
		}
		x.Clause("P17-9").Holds(true, "any further PUGMARK_ variables, and none", "beyond the known ones: %v", further)
		inv.Finish()
		run.Wait()
	})

var _ = scenario("P17", "near-miss-pauses", "Outputs of types that resemble the pause type: ordinary entries; the pause type itself stops the session",
	"P17-11",
	func(x *Lab) {
		if x.stops(x.commitOf("", plainly(pause("enough"))).session.ID) != 1 {
			x.Stop("a plain pause does not stop the session (P10-8)")
		}
		for _, t := range fields("application/vnd.pugmark.pause+json application/vnd.pugmark.pause application/vnd.pugmark.sleep+text text/vnd.pugmark.pause application/vnd.pugmark.pause+text2") {
			out := x.unpadded("near")
			out.ContentType = t
			got := x.commitOf("P17-11", plainly(out))
			x.Clause("P17-11").Holds(len(got.lacks(out)) == 0 && x.stops(got.session.ID) == 0, "an Output of type "+t+" is an entry like any other and stops nothing", "%s; committed: %s; stopped messages: %d%s", got.exit.Exit, got.list(), x.stops(got.session.ID), got.complaint())
		}
	})

var _ = scenario("P17", "near-miss-controls", "entries of types that resemble the control type, their bodies saying stopped: they are replayed and stop nothing; the runtime's own control message has the type itself",
	"P17-12",
	func(x *Lab) {
		types := fields("application/vnd.pugmark.control application/vnd.pugmark.control+cbor application/vnd.pugmark.control+json2 text/vnd.pugmark.control")
		s := x.Session(wire.SessionSpec{})
		var want []string
		for i, t := range types {
			e := wire.ControlEntry("stopped", "not a control message", "")
			e.ContentType, e.Name = t, fmt.Sprint("near-", i)
			want = append(want, e.Name)
			s.Commit(wire.Checkpoint, e)
		}
		run := x.Run(s.ID)
		inv := run.Next("P17-12")
		x.Clause("P17-12").Expect(inv.Names()).To(ContainElements(want), "entries of the types %s are replayed", strings.Join(types, ", "))
		inv.Finish(pause("enough"))
		run.Wait()
		snap, ok := x.Snapshot(s.ID, uint32(len(types))+1)
		if !ok || len(snap.Descriptors) == 0 {
			x.Stop("the pause was not committed (P10-8)")
		}
		last := snap.Descriptors[len(snap.Descriptors)-1]
		x.Clause("P17-12").Expect(last.ContentType).To(Equal(wire.ControlType), "the control message of a pause has this very type")
	}, overBoth)
