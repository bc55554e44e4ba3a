package runtime

import (
	"context"
	"fmt"
	"slices"
	"sync"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

// sources are the source pairs of a session's entries, by the name of the entry.
func (x *Lab) sources(id wire.SessionID) map[string][]wire.Pointer {
	out := map[string][]wire.Pointer{}
	for _, v := range x.newVersions(id) {
		snap, _ := x.Snapshot(id, v)
		for _, d := range snap.Descriptors {
			if p, ok := d.Source(); ok {
				out[d.Name] = append(out[d.Name], p)
			}
		}
	}
	return out
}

var _ = scenario("S13.5", "five-senders", "five sessions send a message to one target, one after the other, and all at the same moment: all messages arrive",
	"S13.5-1",
	func(x *Lab) {
		for _, together := range []bool{false, true} {
			target := x.plainLog()
			what := "one after the other"
			var gate *race
			if together {
				what = "at the same moment"
				gate = x.race(target.ID.SnapshotsPrefix(), 5)
			}
			var runs []*Run
			var want []string
			for i := range 5 {
				message := x.output(fmt.Sprint("message-", i+1))
				message.Session = target.ID.String()
				want = append(want, message.Name)
				run := x.Run(x.shortLog().ID)
				run.Next().Finish(message)
				runs = append(runs, run)
				if !together {
					run.Wait("S13.5-1")
				}
			}
			if together {
				if held := gate.start(runs...); held < 5 {
					x.Stop("only %d of five deliveries were on their way at the same moment", held)
				}
			}
			failed := ""
			for _, run := range runs {
				if exit := run.Wait("S13.5-1"); !exit.Success() {
					failed = fmt.Sprintf("%s%s", exit.Exit, run.said())
				}
			}
			got := x.sources(target.ID)
			missing, senders := []string{}, map[wire.Pointer]bool{}
			for _, name := range want {
				if len(got[name]) == 0 {
					missing = append(missing, name)
				}
				for _, p := range got[name] {
					senders[p] = true
				}
			}
			x.Clause("S13.5-1").Holds(failed == "", "no run fails because another session's message came first ("+what+")", "%s", failed)
			check := x.Clause("S13.5-1").Resting("R-11")
			if together && failed == "" {
				check = x.Clause("S13.5-1").Assuming("F-1")
			}
			check.Holds(len(missing) == 0, "the messages of all five sessions are in the target ("+what+")", "missing: %v; new versions: %v", missing, x.newVersions(target.ID))
			if len(missing) == 0 && failed == "" {
				x.Clause("S13.5-1").Holds(len(senders) == 5, "they have five different source pairs ("+what+")", "%d: %v", len(senders), got)
			}
		}
	})

var _ = scenario("S13.5", "delivered-while-running", "two messages land in a session while its handler runs: its checkpoint is committed above them, and the next invocation sees both",
	"S13.5-2",
	func(x *Lab) {
		s, first, second, out := x.plainLog(), x.shortLog(), x.shortLog(), x.output("mine")
		run := x.Run(s.ID)
		inv := run.Next()
		inv.Received()
		s.Commit(wire.Provisional, wire.DeliveredEntry("m1", x.Word("m1"), first.ID, 1))
		s.Commit(wire.Provisional, wire.DeliveredEntry("m2", x.Word("m2"), second.ID, 1))
		inv.Finish(out)
		exit := run.Wait("S13.5-2")
		snap, ok := x.Snapshot(s.ID, 6)
		if !x.Clause("S13.5-2").Resting("R-20").Holds(ok && snap.Type == wire.Checkpoint && x.bodyCommitted(s.ID, 6, out.Data), "the checkpoint is committed above the messages, at version 6", "versions: %v; %s%s", x.Versions(s.ID), exit.Exit, run.said()) {
			return
		}
		run = x.Run(s.ID)
		inv = run.Next()
		x.Clause("S13.5-2").Expect(inv.Names()).To(ContainElements("m1", "m2", "mine"), "the next invocation sees both messages and what was committed above them")
		inv.Finish()
		run.Wait()
	}, overBoth)

var _ = scenario("S13.5", "delivered-once", "the answer to a delivery is lost, and the writer is run once more: the target has the message once",
	"S13.5-3",
	func(x *Lab) {
		for _, answer := range []fakes3.Decision{fakes3.Lose(), fakes3.LoseAs(503, "SlowDown")} {
			writer, target, message := x.shortLog(), x.plainLog(), x.output("message")
			message.Session = target.ID.String()
			var once sync.Once
			remove := x.S3.Intercept(At(target.ID.SnapshotsPrefix(), fakes3.OpPut), func(context.Context, *fakes3.Request) fakes3.Decision {
				d := fakes3.Pass()
				once.Do(func() { d = answer })
				return d
			})
			x.Cleanup(remove)
			run := x.Run(writer.ID)
			run.Next().Finish(message)
			run.Wait("S13.5-3")
			x.rest(writer.ID)
			count := func() int { return len(x.sources(target.ID)["message"]) }
			if len(x.Writes(target.ID.SnapshotsPrefix())) == 0 || count() == 0 {
				x.Stop("the message was not delivered")
			}
			pairs := x.sources(target.ID)["message"]
			same := slices.Equal(slices.Compact(slices.Clone(pairs)), pairs[:1])
			x.Clause("S13.5-3").Resting("R-33").Holds(count() == 1 || !same, "a message that is in the target with its source pair is not delivered again", "it is there %d times: %v; versions: %v", count(), pairs, x.Versions(target.ID))
		}
	}, overBoth)
