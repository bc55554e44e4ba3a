package runtime

import (
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

var _ = scenario("S14.1", "one-after-the-other", "three invocations that append and one that pauses, over a store that is slow to take snapshots: each begins when the one before has been committed",
	"S14.1-1",
	func(x *Lab) {
		s := x.shortLog()
		x.slowDown(At(s.ID.SnapshotsPrefix(), fakes3.OpPut), lag/3)
		run := x.Run(s.ID)
		inv := run.Next()
		for i := 1; i <= 3; i++ {
			inv.Stream()
			before := inv
			before.Finish(x.output(fmt.Sprint("entry ", i)))
			inv, _ = run.await()
			same := inv != nil
			if !same { // one invocation per process
				run = x.Run(s.ID)
				inv = run.Next()
			}
			key := s.ID.SnapshotKey(uint32(i) + 1)
			var commit fakes3.Request
			for _, r := range x.Writes(key) {
				if r.Took == fakes3.Applied {
					commit = r
				}
			}
			if commit.N == 0 && same {
				x.Clause("S14.1-1").Holds(false, "the handler is invoked again only when the commit of the invocation before is stored", "invocation %d came before version %d was", i+1, i+1)
			}
			if commit.N == 0 {
				x.Stop("invocation %d was not committed as version %d", i, i+1)
			}
			x.Clause("S14.1-1").Holds(!inv.Arrived.Before(before.ended()) && !inv.Arrived.Before(commit.Applied), "the handler is invoked again only when the invocation before has ended and its commit is stored", "invocation %d came %s after the end of the one before and %s after its commit", i+1, inv.Arrived.Sub(before.ended()), inv.Arrived.Sub(commit.Applied))
			x.Clause("S14.1-1").Expect(inv.Names()).To(ContainElement(fmt.Sprint("entry ", i)), "the next invocation runs on the version that the one before committed")
			if announced, ok := inv.Announced(); ok {
				x.Clause("S14.1-1").Assuming("R-01", "R-05").Expect(announced).To(Equal(fmt.Sprint(i+1)), "it is told that version")
			}
		}
		inv.Finish(pause("enough"))
		run.Wait()
	}, overBoth)

var _ = scenario("S14.1", "ref-elsewhere", "the ref of a named session points to another session, from the start or since the handler runs: nothing is committed",
	"S14.1-2",
	func(x *Lab) {
		named := func() *wire.Session {
			s := x.Session(wire.SessionSpec{Name: x.Word("main")})
			s.Commit(wire.Checkpoint, x.text("a"))
			return s
		}
		s, out := named(), x.output("entry")
		x.write(s.ID, out)
		if x.occurrences(s.ID, out.Data) != 1 {
			x.Stop("a named session whose ref points to it does not commit either")
		}
		for _, when := range []string{"from the start", "since the handler runs"} {
			s, other := named(), x.shortLog()
			m, _ := x.manifest(s.ID)
			move := func() { x.Bucket.Ref("sessions/"+m.Name, other.ID.ManifestKey()) }
			if when == "from the start" {
				move()
			}
			run := x.Run(s.ID)
			if inv, _ := run.await(); inv != nil { // a runtime may as well end before
				inv.Stream()
				if when != "from the start" {
					move()
				}
				inv.Finish(x.output("entry"))
			} else if when != "from the start" {
				x.Stop("the handler of a session with a right ref was not invoked")
			}
			run.Wait("S14.1-2")
			x.Clause("S14.1-2").Holds(len(x.newVersions(s.ID)) == 0, "a session whose ref points to another session commits nothing ("+when+")", "new versions: %v", x.newVersions(s.ID))
		}
	}, overBoth)

var _ = scenario("S14.1", "twice-invoked", "two processes for the same notification, at once and then one more: no two commits come of one version, and the later run sees what was committed",
	"S14.1-3 S14.2-2",
	func(x *Lab) {
		s := x.plainLog()
		runs := []*Run{x.Run(s.ID), x.Run(s.ID)}
		var outs []wire.OutputRecord
		var invoked []*Invocation
		for i := range runs {
			inv, why := x.awaitOf(runs...)
			if inv == nil {
				x.Clause("S14.2-2").Holds(false, "both of two instances on the same snapshot run their handlers", "%d of 2 did: %s", len(invoked), why)
				x.Stop("%s", why)
			}
			inv.Stream()
			invoked = append(invoked, inv)
			outs = append(outs, x.output(fmt.Sprint("entry ", i+1)))
		}
		for i, inv := range invoked {
			inv.Finish(outs[i])
			if i == 0 {
				x.awaitCommit(runs[0], s.ID.SnapshotKey(4))
			}
		}
		exits := []Exit{runs[0].Wait("S14.2-2"), runs[1].Wait("S14.2-2")}
		x.legible()
		n := x.occurrences(s.ID, outs[0].Data) + x.occurrences(s.ID, outs[1].Data)
		if n == 0 {
			x.Stop("neither of the two committed")
		}
		x.Clause("S14.2-2").Holds(true, "both of two instances on the same snapshot run their handlers", "two invocations")
		for _, clause := range fields("S14.1-3 S14.2-2") {
			x.Clause(clause).Resting("R-11").Holds(n == 1, "of two invocations on version 3 one is committed, and the other's output is not", "%d of them; versions: %v", n, x.Versions(s.ID))
		}
		if n == 1 && x.refused(s.ID.SnapshotKey(4)) > 0 {
			for i, exit := range exits {
				x.Clause("S14.2-2").Resting("R-11").Holds(exit.Signal == 0 && trace(exit.Stderr) == "", "both processes end in order: with a message and any exit status, but without a signal, a panic or a stack trace", "run %d: %s; %s%s", i+1, exit.Exit, orNothingAtAll(trace(exit.Stderr)), runs[i].said())
			}
		}
		run := x.Run(s.ID)
		inv := run.Next()
		won := slices.ContainsFunc(inv.Names(), func(name string) bool { return strings.HasPrefix(name, "entry ") })
		x.Clause("S14.1-3").Holds(won, "a run after that sees what was committed", "replayed: %v", inv.Names())
		inv.Finish()
		run.Wait()
	}, overBoth)

// trace is the line of a program's last words that gives away that it did not mean
// to end; "" where there is none.
func trace(text string) string {
	for line := range strings.Lines(text) {
		for _, sign := range []string{"panic:", "goroutine ", "Traceback (most recent", "Unhandled", "Exception in thread", "stack backtrace", "Segmentation fault", "\tat "} {
			if strings.Contains(line, sign) {
				return line
			}
		}
	}
	return ""
}

var _ = scenario("S14.1", "no-lock", "one runtime's handler takes its time: a second one on the same session is invoked and commits meanwhile",
	"S14.1-4",
	func(x *Lab) {
		s := x.plainLog()
		first := x.Run(s.ID)
		slow := first.Next()
		slow.Stream()
		second := x.Run(s.ID)
		inv, why := x.awaitOf(second)
		lock := slices.DeleteFunc(x.New(""), func(key string) bool {
			kind := wire.ParseKey(key).Kind
			return kind != wire.KindMisplaced && kind != wire.KindForeign
		})
		check := x.Clause("S14.1-4")
		if len(lock) == 0 {
			// What is not in the bucket is no global lock.
			check = check.Warning()
		}
		const demand = "a run in progress does not keep another from invoking its handler"
		if inv == nil {
			check.Holds(false, demand, "%s; keys beside the layout: %v", why, lock)
			x.Stop("%s", why)
		}
		x.Clause("S14.1-4").Holds(!slow.Gone(), demand, "the second handler was invoked while the first one ran")
		out := x.output("second")
		inv.Finish(out)
		committed := x.awaitCommit(second, s.ID.SnapshotKey(4))
		if committed || second.Alive() || !second.proc.Exit().Success() { // or else it commits nothing at all
			check.Holds(committed && x.occurrences(s.ID, out.Data) == 1, "the second run commits while the first one still runs", "versions: %v%s", x.Versions(s.ID), second.said())
		}
		slow.Finish(x.output("first"))
		first.Wait()
		second.Wait()
	}, overBoth)
