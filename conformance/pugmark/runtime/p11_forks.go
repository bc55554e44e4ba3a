package runtime

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

// The two phases (section 11.1) are demanded by the storage layout as well, and
// judged for both with the scenarios of its sections 11.1 and 11.2.

var _ = scenario("P11", "a-child-appears", "a handler forks with a short and with a long body: after the next run each has become a session with the body as its first object",
	"P11-1 P11-2",
	func(x *Lab) {
		s := x.plainLog()
		short, long := x.forkOutput("short", wire.SessionID{}), x.forkOutput("long", wire.SessionID{})
		short.Data, long.Data = []byte(x.Word("0")), bytes.Repeat([]byte(x.Word("megabytes")), 2<<20/18)
		short.SchemaURL = "https://example.com/task"
		run := x.Run(s.ID)
		run.Next().Finish(x.output("beside"), short, long)
		if !run.Wait().Success() {
			x.knowsForks("P11-1")
		}
		run.Success()
		x.rest(s.ID)
		children := slices.DeleteFunc(x.born(), func(id wire.SessionID) bool { _, ok := x.Snapshot(id, 1); return !ok })
		if !x.Clause("P11-1").Holds(len(children) == 2, "after two runs each of the two forks has a session of its own, with a manifest and a snapshot 1", "sessions made: %v, with a snapshot 1: %v; committed by the parent: %s",
			x.born(), children, commit{entries: x.appended(s.ID)}.list()) && len(children) == 0 {
			x.Stop("no child was made")
		}
		got := map[string]wire.Descriptor{}
		for _, id := range children {
			snap, _ := x.Snapshot(id, 1)
			x.Clause("P11-2").Holds(len(snap.Descriptors) == 1, "a child's snapshot 1 holds one object", "%d: %s", len(snap.Descriptors), commit{entries: snap.Descriptors}.list())
			if len(snap.Descriptors) > 0 {
				got[snap.Descriptors[0].Digest] = snap.Descriptors[0]
			}
		}
		for _, o := range []wire.OutputRecord{short, long} {
			d, ok := got[wire.Digest(o.Data)]
			how := fmt.Sprintf("the fork %s, %d bytes", o.Name, len(o.Data))
			x.Clause("P11-2").Holds(ok, "the fork's body is the first object of its child's snapshot 1: "+how, "first objects of the children: %v", got)
			if ok {
				x.Clause("P11-2").Holds(d.ContentType == o.ContentType && d.Name == o.Name && d.SchemaURL == o.SchemaURL, "it has the fork's content-type, name and schema-url: "+how, "%s", d.Raw)
			}
		}
	}, overBoth)

// forkTargets are the children that the fork records of a session's new snapshots
// name, by the name of the record.
func (x *Lab) forkTargets(id wire.SessionID) map[string]wire.SessionID {
	out := map[string]wire.SessionID{}
	for _, d := range x.appended(id) {
		if child, ok := d.ForkTarget(); ok {
			out[d.Name] = child
		}
	}
	return out
}

var _ = scenario("P11", "chosen-child", "forks that name their child, in lower and in upper case and with the time of another day: that is the child's ID",
	"P11-3",
	func(x *Lab) {
		s := x.plainLog()
		day := uint32(time.Now().Unix()/3600) - 30
		chosen := map[string]wire.SessionID{"lower": x.NewID(), "upper": x.NewID(), "another day": x.IDAt(day)}
		outs := []wire.OutputRecord{x.output("beside")}
		for _, name := range []string{"lower", "upper", "another day"} {
			o := x.forkOutput(name, chosen[name])
			if name == "upper" {
				o.Session = string(bytes.ToUpper([]byte(o.Session)))
			}
			outs = append(outs, o)
		}
		run := x.Run(s.ID)
		run.Next().Finish(outs...)
		run.Success()
		records := x.forkTargets(s.ID)
		if len(records) == 0 {
			x.Stop("no fork was recorded, so whose ID it has is not judged")
		}
		x.rest(s.ID)
		if len(x.born()) == 0 {
			x.Stop("no child was made, so whose ID it has is not judged")
		}
		for name, id := range chosen {
			x.Clause("P11-3").Holds(records[name] == id, "the fork's record names the child that the Output chose, "+id.String()+" ("+name+")", "target-session %s", records[name])
			m, ok := x.manifest(id)
			x.Clause("P11-3").Holds(ok, "the child has the chosen ID ("+name+")", "no %s; sessions made: %v", id.ManifestKey(), x.born())
			if ok {
				got, _ := wire.ParseSessionID(m.Session)
				x.Clause("P11-3").Holds(got == id, "the child's manifest names the chosen ID ("+name+")", "session %q", m.Session)
			}
		}
	}, overBoth)

var _ = scenario("P11", "unnamed-children", "ten forks with equal bodies that name no child, and the same run once more after everything was set back: each child has a new random ID",
	"P11-4",
	func(x *Lab) {
		s := x.plainLog()
		outs := []wire.OutputRecord{x.output("beside")}
		for range 10 {
			outs = append(outs, wire.OutputRecord{Name: "task", ContentType: "text/plain", Data: []byte("the same task"), Fork: true})
		}
		seen := map[wire.SessionID]string{s.ID: "the parent"}
		now := uint32(time.Now().Unix() / 3600)
		for _, turn := range []string{"the first run", "the run once more"} {
			x.committed(s, 4, outs)
			n := 0
			for _, d := range x.appended(s.ID) {
				child, ok := d.ForkTarget()
				if !ok {
					continue
				}
				n++
				who := fmt.Sprintf("fork %d of %s", n, turn)
				other, taken := seen[child]
				x.Clause("P11-4").Holds(!taken, "each child has an ID that nobody else has", "%s names %s, as does %s", who, child, other)
				seen[child] = who
				x.Clause("P11-4").Resting("R-07").Holds(child.Hour()+1 >= now && child.Hour() <= now+1, fmt.Sprintf("the first four bytes are the present hour, %08x, give or take one", now), "%s names %s", who, child)
			}
			if n < 10 {
				x.Stop("%d of ten forks were recorded with a child", n)
			}
			x.setBack(s.ID)
		}
	})
