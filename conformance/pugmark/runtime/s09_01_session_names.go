package runtime

import (
	"fmt"
	"strings"
	"time"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

// Of the contract's commands it is rename that takes a name and may not create it.
var _ = scenario("S9.1", "resolving", "a name whose session is to be found, another session with the same name in its manifest, and a name that nobody has: the ref alone decides",
	"S9.1-2",
	func(x *Lab) {
		decoys := []*wire.Session{x.Session(wire.SessionSpec{ID: x.IDAt(1), Name: "name", NoRef: true}), x.Session(wire.SessionSpec{ID: x.IDAt(600_000), Name: "name", NoRef: true})}
		s := x.Session(wire.SessionSpec{Name: "name"})
		s.Commit(wire.Checkpoint, x.text("a"))
		run, exit := x.rename("name", "other")
		if !exit.Success() {
			x.Stop("a name cannot be moved (%s)%s", exit.Exit, run.said())
		}
		x.Clause("S9.1-2").Holds(len(x.asks("name", 0)) > 0, "the name is looked up at refs/sessions/name", "reads of it: %d", len(x.asks("name", 0)))
		x.Clause("S9.1-2").Holds(strings.EqualFold(strings.TrimSpace(run.Printed()), s.ID.String()), "the session is the one whose manifest the ref points to, "+s.ID.String(), "printed %q", run.Printed())
		for _, d := range decoys {
			x.Clause("S9.1-2").Holds(len(x.New(x.pathOf(d.ID))) == 0 && !strings.Contains(strings.ToLower(run.Printed()), d.ID.String()), "a session that merely has the name in its manifest is left alone", "new keys of session %s: %v; printed %q", d.ID, x.New(x.pathOf(d.ID)), run.Printed())
		}
		run, exit = x.rename("nobody", "somebody")
		_, made := x.Get("refs/sessions/somebody")
		x.Clause("S9.1-2").Holds(!exit.Success() && !made, "a name without a ref is not found: the command fails and makes nothing", "%s, printed %q, new ref there: %t", exit.Exit, run.Printed(), made)
	}, needing("names"))

var _ = scenario("S9.1", "read-on-each-invocation", "two invocations of a named session: the ref is read in each of them, before its commit",
	"S9.1-3",
	func(x *Lab) {
		s := x.Session(wire.SessionSpec{Name: "name"})
		s.Commit(wire.Checkpoint, x.text("a"))
		run := x.Run(s.ID)
		inv := run.Next()
		outs := []wire.OutputRecord{x.output("first"), x.output("second")}
		inv.Finish(outs[0])
		x.awaitCommit(run, s.ID.SnapshotKey(2))
		run.Again().Finish(outs[1])
		x.settle()
		since := 0
		for i, out := range outs {
			at, ok := x.commitOfBody(s.ID, out.Data)
			if !ok {
				x.Stop("invocation %d was not committed", i+1)
			}
			read := false
			for _, r := range x.asks("name", since) {
				read = read || r.N < at
			}
			x.Clause("S9.1-3").Holds(read, "refs/sessions/name is read before the commit of each invocation", "invocation %d: read since the last commit: %t", i+1, read)
			since = at
		}
	}, overBoth)

// commitOfBody is the number of the write whose snapshot holds a body.
func (x *Lab) commitOfBody(id wire.SessionID, body []byte) (n int, ok bool) {
	for _, w := range x.snapshotWrites() {
		if key := wire.ParseKey(Key(w)); key.Session == id && x.bodyCommitted(id, key.Version, body) {
			return w.N, true
		}
	}
	return 0, false
}

var _ = scenario("S9.1", "name-given-away", "a session whose name belongs to another one, with a pending fork and a message to send: the invocation comes to nothing",
	"S9.1-4",
	func(x *Lab) {
		for _, lost := range []bool{false, true} {
			name := x.Word("name")
			s, heir, target, child := x.Session(wire.SessionSpec{Name: name}), x.Session(wire.SessionSpec{Name: name, NoRef: true}), x.plainLog(), x.NewID()
			s.Commit(wire.Checkpoint, x.text("a"), wire.ForkEntry(x.Word("task"), child))
			if lost {
				x.Bucket.Ref("sessions/"+name, heir.ID.ManifestKey())
			}
			out, message := x.output("entry"), x.output("message")
			message.Session = target.ID.String()
			run := x.Run(s.ID)
			inv, _ := run.await()
			if inv != nil {
				inv.Finish(out, message)
			}
			exit := run.Wait("S9.1-4")
			if !lost {
				if !exit.Success() || !x.bodyCommitted(s.ID, 2, out.Data) {
					x.Stop("with the right ref the invocation is not committed either (%s)%s", exit.Exit, run.said())
				}
				continue
			}
			asks := x.asks(name, 0)
			if len(asks) == 0 {
				x.Clause("S9.1-4").NotExercised("the runtime does not read the ref (S9.1-3)")
				return
			}
			check := x.Clause("S9.1-4").Resting("F-13")
			check.Holds(len(x.newVersions(s.ID)) == 0, "no snapshot is committed to the session that lost its name", "new versions: %v; %s%s", x.newVersions(s.ID), exit.Exit, run.said())
			check.Holds(len(x.newVersions(target.ID)) == 0, "nothing is delivered to another session", "new versions of the target: %v", x.newVersions(target.ID))
			for _, w := range x.snapshotWrites() {
				if wire.ParseKey(Key(w)).Session != child {
					continue
				}
				if w.Arrived.Before(asks[0].Answered) {
					check = check.Warning()
				}
				check.Holds(false, "no child is made after the ref was read, and best none before", "%s; the ref was first read by %s", w.String(), asks[0].String())
			}
			check.Holds(!exit.Success() || strings.TrimSpace(exit.Stderr) != "", "the run reports that it was aborted, by its exit status or a message", "%s, nothing on stderr", exit.Exit)
		}
	}, overBoth)

var _ = scenario("S9.1", "name-given-away-meanwhile", "the name goes to another session while the handler runs: a runtime that looks again before its commit does not commit",
	"S9.1-4",
	func(x *Lab) {
		s, heir := x.Session(wire.SessionSpec{Name: "name"}), x.Session(wire.SessionSpec{Name: "name", NoRef: true})
		s.Commit(wire.Checkpoint, x.text("a"))
		run := x.Run(s.ID)
		inv := run.Next()
		inv.Received()
		x.Bucket.Ref("sessions/name", heir.ID.ManifestKey())
		switched := time.Now()
		out := x.output("entry")
		inv.Finish(out)
		exit := run.Wait()
		n, committed := x.commitOfBody(s.ID, out.Data)
		looked := false
		for _, r := range x.asks("name", 0) {
			looked = looked || r.Arrived.After(switched) && (!committed || r.N < n)
		}
		if !looked {
			x.Clause("S9.1-4").NotExercised("the ref was not read after the handler had ended, which nothing demands")
			return
		}
		x.Clause("S9.1-4").Holds(!committed, "no snapshot is committed once the ref was seen to point elsewhere", "versions: %v; %s%s", x.Versions(s.ID), exit.Exit, run.said())
	}, overBoth)

var _ = everyBucket("S9.1-1", func(x *Lab) {
	var targets tally
	for _, r := range x.refWrites() {
		if !strings.HasPrefix(Key(r), "refs/sessions/") || r.Took != fakes3.Applied {
			continue
		}
		target := strings.TrimSuffix(strings.TrimSuffix(string(r.Body), "\n"), "\r")
		if strings.ContainsAny(target, "\r\n{\"") || target == bucketRoot+strings.TrimPrefix(target, bucketRoot) {
			continue // S9-3, and the root in front of it, which the scenarios judge
		}
		targets.check(wire.ParseKey(target).Kind == wire.KindManifest, "%s: %s", Key(r), fmt.Sprintf("%q", clip(r.Body, 200)))
	}
	targets.faults(x.Clause("S9.1-1"), "the ref of a session's name holds the key of a manifest, relative to the root, and nothing else", "ref writes")
})
