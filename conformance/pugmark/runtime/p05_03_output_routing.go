package runtime

import (
	"fmt"
	"strings"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

// Stories about where an Output goes first see the plain kind arrive there: a
// runtime without memory or pauses at all says nothing about precedence.

var _ = scenario("P5.3", "pause-first", "pause Outputs that also look like a memory write, a fork, a cross-session write, all three: each stops the session and is nothing else",
	"P5.3-6",
	func(x *Lab) {
		if s := x.commitOf("", plainly(pause("enough"))).session; x.stops(s.ID) != 1 {
			x.Stop("a plain pause Output does not lead to one stopped control message, so nothing is known about others")
		}
		other, ns := x.shortLog(), x.Word("ns")
		for _, v := range []struct {
			how    string
			change func(o *wire.OutputRecord)
		}{
			{"a name that begins with memories/ns/", func(o *wire.OutputRecord) { o.Name = "memories/" + ns + "/x" }},
			{"fork true", func(o *wire.OutputRecord) { o.Fork = true }},
			{"the session of another session", func(o *wire.OutputRecord) { o.Session = other.ID.String() }},
			{"a memory name, fork true and another session", func(o *wire.OutputRecord) {
				o.Name, o.Fork, o.Session = "memories/"+ns+"/y", true, other.ID.String()
			}},
		} {
			out := pause("enough")
			v.change(&out)
			got := x.commitOf("P5.3-6", plainly(out))
			x.Clause("P5.3-6").Expect(x.stops(got.session.ID)).To(Equal(1), "a pause Output with %s gives one control message with status stopped; %s; committed beside control messages: %s%s", v.how, got.exit.Exit, got.list(), got.complaint())
			x.Clause("P5.3-6").Expect(x.New("memories/")).To(BeEmpty(), "a pause Output with %s writes no memory", v.how)
			for _, d := range got.entries {
				if _, cross := d.CrossTarget(); cross || d.IsFork() {
					x.Clause("P5.3-6").Holds(false, "a pause Output with "+v.how+" records neither fork nor cross-session write", "committed: %s", essence(d))
				}
			}
			x.Clause("P5.3-6").Expect(x.newVersions(other.ID)).To(BeEmpty(), "a pause Output with %s writes nothing to another session", v.how)
		}
	})

var _ = scenario("P5.3", "pause-is-no-entry", "an entry and a pause: the snapshot holds the entry and the control message, and no later handler sees the pause",
	"P5.3-7",
	func(x *Lab) {
		out := x.unpadded("entry")
		reason := x.Word("enough of")
		got := x.commitOf("", plainly(out, pause(reason)))
		if x.stops(got.session.ID) != 1 || len(got.lacks(out)) > 0 {
			x.Stop("the run did not commit the entry and one stopped control message (%s; committed: %s)", got.exit.Exit, got.list())
		}
		const demand = "a pause is recorded by its control message alone, no entry stands for it"
		x.Clause("P5.3-7").Holds(len(got.entries) == 1, demand, "committed beside control messages: %s", got.list())
		for _, d := range got.entries {
			x.Clause("P5.3-7").Expect(d.ContentType).NotTo(Equal(wire.PauseType), "no descriptor has the pause type")
		}
		s := got.session
		s.Put(wire.SnapshotSpec{Version: x.Versions(s.ID)[len(x.Versions(s.ID))-1] + 1, Type: wire.Provisional, Entries: []wire.Entry{x.later(s, "news")}})
		run := x.Run(s.ID)
		inv := run.Next()
		for _, in := range inv.Replay() {
			x.Clause("P5.3-7").Expect(in.ContentType).NotTo(Equal(wire.PauseType), "no later invocation has a pause in its input")
		}
		inv.Finish()
		run.Wait()
	})

// later is an entry for a session to which the runtime has committed: it counts
// on from the numbers found there.
func (x *Lab) later(s *wire.Session, name string) wire.Entry {
	e := x.text(name)
	next := s.NextSequence()
	for _, v := range x.newVersions(s.ID) {
		snap, _ := x.Snapshot(s.ID, v)
		for _, d := range snap.Descriptors {
			next = max(next, d.SequenceNumber+1)
		}
	}
	e.Sequence = &next
	return e
}

var _ = scenario("P5.3", "memory-second", "Outputs with a memory name that also have fork true, another session, both: each goes to memory and nowhere else",
	"P5.3-8",
	func(x *Lab) {
		other := x.shortLog()
		ns := x.Word("ns")
		plain := x.unpadded("memories/" + ns + "/plain")
		x.commitOf("", plainly(plain))
		if !x.recalls(ns, "plain", plain.Data) {
			x.Stop("a plain memory write does not reach its namespace, so nothing is known about others")
		}
		for name, change := range map[string]func(o *wire.OutputRecord){
			"fork":     func(o *wire.OutputRecord) { o.Fork = true },
			"session":  func(o *wire.OutputRecord) { o.Session = other.ID.String() },
			"both":     func(o *wire.OutputRecord) { o.Fork, o.Session = true, other.ID.String() },
			"child-id": func(o *wire.OutputRecord) { o.Fork, o.Session = true, x.NewID().String() },
		} {
			out := x.unpadded("memories/" + ns + "/" + name)
			change(&out)
			how := strings.TrimSpace(string(out.Encode()))
			got := x.commitOf("P5.3-8", plainly(out))
			x.Clause("P5.3-8").Holds(x.recalls(ns, name, out.Data), "the Output becomes a record of its memory namespace: "+how, "%s; records of %s: %s", got.exit.Exit, ns, memoryNames(x.remembered(ns)))
			x.Clause("P5.3-8").Holds(len(got.entries) == 0, "it leaves no record in the session: "+how, "committed: %s", got.list())
			x.Clause("P5.3-8").Expect(x.newVersions(other.ID)).To(BeEmpty(), "it writes nothing to another session: %s", how)
		}
	})

func memoryNames(records []wire.MemoryRecord) string {
	var out []string
	for _, r := range records {
		out = append(out, r.Name)
	}
	return strings.Join(out, ", ")
}

var _ = scenario("P5.3", "ordinary-names", "names with memories/ in other places, or without a namespace: they are names like any other",
	"P5.3-9",
	func(x *Lab) {
		var outs []wire.OutputRecord
		for _, n := range fields("memories/x memories xmemories/ns/x a/memories/ns/x Memories/ns/x") {
			outs = append(outs, x.unpadded(n))
		}
		control := x.unpadded("control")
		x.control(control)
		got := x.commitOf("P5.3-9", plainly(append(outs, control)...))
		for _, o := range outs {
			_, ok := got.of(o)
			x.Clause("P5.3-9").Resting("R-28").Holds(ok, fmt.Sprintf("an Output named %q becomes an entry of the session with this name", o.Name), "%s; committed: %s%s", got.exit.Exit, got.list(), got.complaint())
		}
		x.Clause("P5.3-9").Resting("R-28").Expect(x.New("memories/")).To(BeEmpty(), "no memory file is written")

		// What becomes of these is open; a record without a name, or in a namespace
		// without one, is what must not come of it.
		for _, n := range []string{"memories/ns/", "memories//x"} {
			x.commitOf("", plainly(x.unpadded(n)))
			for _, key := range x.New("memories/") {
				namespace, _, err := wire.ParseMemoryKey(key)
				named := err == nil && namespace != ""
				o, _ := x.Get(key)
				file, _ := wire.DecodeMemory(o)
				for _, r := range file.Records {
					named = named && r.Name != ""
				}
				if !named {
					x.Clause("P5.3-9").Resting("R-28").Holds(false, "no memory file in a namespace without a name, no record without one", "%s holds %q", key, memoryNames(file.Records))
				}
			}
		}
	})

var _ = scenario("P5.3", "forks-third", "fork Outputs with a chosen child and with the ID of another session: both are recorded as pending forks of the writer",
	"P5.3-10",
	func(x *Lab) {
		other := x.shortLog()
		for _, target := range []wire.SessionID{x.NewID(), other.ID} {
			what := "a new session"
			if target == other.ID {
				what = "an existing session"
			}
			out, beside := x.unpadded("fork"), x.unpadded("beside")
			out.Fork, out.Session = true, target.String()
			got := x.commitOf("P5.3-10", plainly(out, beside))
			if len(got.lacks(beside)) > 0 {
				x.knowsForks("P5.3-10")
				x.Stop("the entry beside the fork was not committed (%s; committed: %s), so the fork is not judged", got.exit.Exit, got.list())
			}
			d, ok := got.of(out)
			child, forked := d.ForkTarget()
			x.Clause("P5.3-10").Holds(ok && forked && child == target, fmt.Sprintf("an Output with fork true and the ID of %s is recorded with fork true and target-session %s", what, target), "committed: %s", got.list())
			for _, d := range x.appended(other.ID) {
				if source, sent := d.Source(); sent {
					x.Clause("P5.3-10").Holds(false, "it is not delivered to a session of that ID as a message", "session %s got %s from %s", other.ID, essence(d), source.Session)
				}
			}
		}
	})

var _ = scenario("P5.3", "cross-session-fourth", "an Output with the ID of another session: the writer's snapshot records it, and the other session gets it",
	"P5.3-11",
	func(x *Lab) {
		other := x.shortLog()
		out, beside := x.unpadded("message"), x.unpadded("beside")
		out.Session = other.ID.String()
		got := x.commitOf("P5.3-11", plainly(beside, out))
		if len(got.lacks(beside)) > 0 {
			x.Stop("the entry beside the message was not committed (%s; committed: %s), so the message is not judged", got.exit.Exit, got.list())
		}
		d, ok := got.of(out)
		target, cross := d.CrossTarget()
		x.Clause("P5.3-11").Holds(ok && cross && target == other.ID, "the writer's snapshot has a descriptor of the body with target-session "+other.ID.String()+" and without fork", "committed: %s", got.list())
		delivered := commit{entries: x.appended(other.ID)}
		_, there := delivered.of(out)
		x.Clause("P5.3-11").Holds(there, "the other session gets the body", "its new entries: %s; the run: %s%s", delivered.list(), got.exit.Exit, got.complaint())
	})

var _ = scenario("P5.3", "the-rest-is-the-log", "Outputs with a body and nothing else, with every copied field, with a type near the special ones: each is an ordinary entry",
	"P5.3-12",
	func(x *Lab) {
		full := x.unpadded("full")
		full.ContentEncoding, full.SchemaURL, full.Metadata = "x-none", "https://example.com/s", map[string]string{"k": "v"}
		x.control(full)
		bare := wire.OutputRecord{Data: x.threes("bare")}
		full.Data = x.threes("full")
		typed := []wire.OutputRecord{full, {Data: x.threes("json"), ContentType: "application/json"}, {Name: "text", Data: x.threes("text"), ContentType: "text/vnd.pugmark.pause"}}
		got, alone := x.commitOf("P5.3-12", plainly(typed...)), x.commitOf("P5.3-12", plainly(bare))
		for i, o := range append(typed, bare) {
			if i == len(typed) {
				if got = alone; !got.exit.Success() {
					break // whether a body may do without a type is P3.2-1
				}
			}
			d, ok := got.of(o)
			how := strings.TrimSpace(string(o.Encode()))
			if !x.Clause("P5.3-12").Holds(ok, "an Output becomes an entry of the new snapshot: "+how, "%s; committed: %s%s", got.exit.Exit, got.list(), got.complaint()) {
				continue
			}
			_, sent := d.Source()
			_, cross := d.CrossTarget()
			x.Clause("P5.3-12").Holds(!d.IsFork() && !cross && !sent && !d.Deleted, "the entry has neither fork, target-session, source-session nor deleted: "+how, "%s", d.Raw)
		}
	}, overBoth)
