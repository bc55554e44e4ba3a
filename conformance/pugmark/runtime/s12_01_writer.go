package runtime

import (
	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

var _ = scenario("S12.1", "records", "an entry, a message, an entry; and in another run a message alone: the writer's commit is an ordinary checkpoint that records the message with its target",
	"S12.1-1 S12.1-2",
	func(x *Lab) {
		s, target := x.plainLog(), x.shortLog()
		out := x.message("message", target.ID)
		ds := entries(x.committed(s, 4, []wire.OutputRecord{x.output("e1"), out, x.output("e2")}))
		x.Clause("S12.1-1").Resting("R-32").Expect(names(ds)).To(Equal(fields("e1 message e2")), "the writer's snapshot holds a descriptor of the message between those of the entries around it")
		for _, d := range ds {
			if d.Name != "message" {
				continue
			}
			to, cross := d.CrossTarget()
			x.Clause("S12.1-1").Holds(cross && to == target.ID && !d.IsFork(), "the message's record has target-session "+target.ID.String()+" and no fork", "%s", d.Raw)
		}
		if len(ds) == 3 && ascending(sequence(ds)) { // S7.3-1
			x.Clause("S12.1-1").Resting("R-32").Holds(stepping(sequence(ds)), "the record takes its number in the writer's sequence", "%v", sequence(ds))
		}

		alone := x.shortLog()
		other := x.message("alone", target.ID)
		got := x.commitTo(alone, "", plainly(other))
		_, recorded := got.of(other)
		snap, ok := x.Snapshot(alone.ID, 2)
		x.Clause("S12.1-2").Holds(ok && recorded && snap.Type == wire.Checkpoint, "a run whose only Output is a message commits a checkpoint that records it", "%s; new versions %v; type %s; committed: %s%s", got.exit.Exit, x.newVersions(alone.ID), snap.Type, got.list(), got.complaint())
		if ok {
			x.Clause("S12.1-2").Resting("R-36").Expect(x.stops(alone.ID)).To(Equal(0), "it leaves no control message with status stopped")
		}
	}, overBoth)
