package runtime

import . "github.com/onsi/gomega"

// Preflight is the scenario that is run before all others: a runtime that does
// not get through it is not worth forty time limits.
const Preflight = "P2.1/preflight"

var _ = scenario("P2.1", "preflight", "a session with three snapshots is run once: the handler is invoked, its one output is committed",
	"P2.1-1 P2.1-2 P2.1-3",
	func(x *Lab) {
		s := x.plainLog()
		run := x.Run(s.ID)
		inv := run.Next("P2.1-1")
		x.Clause("P2.1-1").Holds(true, "the handler is started as a process", "started as process %d", inv.Pid)
		x.Clause("P2.1-2").Expect(len(inv.Received().Raw)).To(BeNumerically(">", 0), "Input records arrive on the handler's standard input")
		out := x.output("first")
		inv.Finish(out)
		run.Success("P2.1-3")
		x.Clause("P2.1-3").Expect(x.bodyCommitted(s.ID, 4, out.Data)).To(BeTrue(), "what the handler wrote to standard output is in the session's next snapshot, version 4")
	})
