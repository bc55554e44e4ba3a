package runtime

import (
	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

var _ = scenario("S12.3", "killed-while-delivering", "the runtime is killed when a delivery has been stored, and when it is about to be: the writer's next run leaves one copy, or none",
	"S12.3-2",
	func(x *Lab) {
		for _, after := range []bool{true, false} {
			s, target := x.shortLog(), x.shortLog()
			one, two := x.message("one", target.ID), x.message("two", target.ID)
			if !x.crash(s.ID, At(target.ID.SnapshotsPrefix(), fakes3.OpPut), after, one, two) {
				x.Stop("the runtime delivered nothing during which it could be killed")
			}
			x.rest(s.ID)
			for _, o := range []wire.OutputRecord{one, two} {
				n := x.occurrences(target.ID, o.Data)
				x.Clause("S12.3-2").Resting("R-33").Holds(n <= 1, "a delivery that is made again leaves one copy of each message in the target", "%d of the message %s; %s", n, o.Name, listDeliveries(x.deliveries(target.ID)))
				if !after {
					// No step of the text delivers after a crash before the delivery (F-9).
					x.Clause("S12.3-2").Assuming("F-9").Holds(n == 1, "a message that a crash prevented from being delivered is delivered by a later run of the writer", "it is not in the target; versions: %v", x.Versions(target.ID))
				}
			}
		}
	})

var _ = scenario("S12.3", "wakes-the-target", "a stopped session gets a message from another's run: its next run invokes the handler with wake, and the message is new",
	"S12.3-3",
	func(x *Lab) {
		s := x.shortLog()
		target := x.Session(wire.SessionSpec{})
		target.Commit(wire.Checkpoint, x.text("a"), stopped("waiting for messages"))
		before := x.invocationsOf(target.ID)
		if x.rest(target.ID); x.invocationsOf(target.ID) > before {
			x.Stop("the stopped session is run although nothing has arrived (P10-11)")
		}
		out := x.message("message", target.ID)
		x.write(s.ID, out)
		x.delivered(target.ID, out)
		run := x.Run(target.ID)
		inv := run.Next("S12.3-3")
		in, ok := inv.carrying(out.Data)
		x.Clause("S12.3-3").Resting("R-10").Expect(inv.Lifecycle()).To(Equal("wake"), "the handler of a stopped session is invoked with wake when a message has arrived")
		x.Clause("S12.3-3").Resting("R-10").Holds(ok && in.Event == "push", "the message is tagged push", "%s; events: %v", in.Raw, inv.Events())
		inv.Finish()
		run.Wait()
	}, overBoth)

var _ = scenario("S12.3", "message-while-pausing", "a message lands while the target's handler is about to pause: whether the target wakes for it is open",
	"S12.3-3",
	func(x *Lab) {
		target, writer, body := x.shortLog(), x.shortLog(), x.Word("message")
		run := x.Run(target.ID)
		inv := run.Next()
		inv.Stream()
		sent := writer.Commit(wire.Checkpoint, wire.CrossEntry("message", body, target.ID))
		message := wire.DeliveredEntry("message", body, writer.ID, sent)
		target.Commit(wire.Provisional, message)
		inv.Finish(pause("nothing to do"))
		run.Wait()
		if x.stops(target.ID) != 1 {
			x.Stop("the pause was not recorded (P10-8)")
		}
		x.rest(target.ID)
		woken := false
		for _, later := range x.invocationsSince(inv) {
			if s, ok := later.complete(); ok && s.unreadable() == "" {
				_, got := later.carrying(message.Body)
				woken = woken || got
			}
		}
		x.Clause("S12.3-3").Assuming("F-2").Holds(woken, "a message that landed while its target's handler decided to pause still wakes the target", "no later invocation has it; versions of the target: %v", x.Versions(target.ID))
	}, overBoth)
