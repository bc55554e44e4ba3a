package runtime

import (
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

// forked lays out a parent with two pending forks, the first of them in the form
// that write gives it, runs the parent and both children, and tells in lines what
// came of it. The record's own name is "record".
func (x *Lab) forked(write func(body string, child wire.SessionID) wire.Entry, because string) (lines []string, parent *wire.Session, child wire.SessionID, task string) {
	parent = x.Session(wire.SessionSpec{})
	child, sibling := x.NewID(), x.NewID()
	task = x.Word("task")
	record, other := write(task, child), wire.ForkEntry(x.Word("sibling's task"), sibling)
	record.Name, other.Name = "record", "sibling's record"
	parent.Commit(wire.Checkpoint, x.text("a"))
	parent.Commit(wire.Checkpoint, x.text("b"), record, other, x.text("c"))
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	replay := func(id wire.SessionID, who string) {
		run := x.Run(id)
		inv, why := run.await()
		if inv == nil {
			why = strings.ReplaceAll(strings.ReplaceAll(why, id.String(), "…"), parent.ID.String(), "…")
			say("%s: no invocation: %s", who, why)
			return
		}
		say("%s: handler gets %s", who, strings.Join(inv.Names(), ", "))
		inv.Finish()
		run.Wait(because)
	}
	replay(parent.ID, "parent")
	say("child's snapshot 1 holds the record's body: %t", x.bodyCommitted(child, 1, []byte(task)))
	if o, ok := x.Get(child.ManifestKey()); ok {
		m, _ := wire.DecodeManifest(o)
		say("child's manifest: parent there %t, at version 2 %t", m.Parent != nil && strings.EqualFold(m.Parent.Session, parent.ID.String()), m.Parent != nil && m.Parent.Version == 2)
	}
	replay(child, "child")
	replay(sibling, "sibling")
	return lines, parent, child, task
}

// except leaves out what the child's handler got.
func except(lines []string, leaveOut bool) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return leaveOut && strings.HasPrefix(line, "child: ") })
}

var _ = scenario("S7.2", "both-forms", "the same pending fork with fork and target-session, and as fork-session-id in lower and upper case: parent, child and sibling come out alike",
	"S7.2-1 S7.2-2 S7.2-4",
	func(x *Lab) {
		want, _, child, task := x.forked(wire.ForkEntry, "S7.2-1")
		made := x.bodyCommitted(child, 1, []byte(task))
		x.Clause("S7.2-1").Holds(made, "a fork record of fork and target-session, written by somebody else, is materialised: the child has a snapshot 1 with its body", "keys of the child: %v", x.childKeys(child))
		if !made {
			x.Stop("a fork in the current form is not materialised, so the older form is not judged")
		}
		for _, upper := range []bool{false, true} {
			what := "in lower case"
			if upper {
				what = "in upper case"
			}
			got, _, child, task := x.forked(func(body string, child wire.SessionID) wire.Entry {
				e := wire.LegacyForkEntry(body, child)
				if upper {
					e.Target = strings.ToUpper(e.Target)
				}
				return e
			}, "S7.2-2")
			snap, ok := x.Snapshot(child, 1)
			ok = ok && x.bodyCommitted(child, 1, []byte(task))
			carriedOn := false // S7.2-4, and then the child takes its first entry for a fork
			for _, d := range snap.Descriptors {
				if ok {
					carriedOn = !x.Clause("S7.2-4").Holds(!d.Present["fork-session-id"], "the child's first entry, copied from a record with fork-session-id, has no such key", "%s", d.Raw) || carriedOn
				}
			}
			x.Clause("S7.2-2").Expect(except(got, carriedOn)).To(Equal(except(want, carriedOn)), "a record with fork-session-id (%s) leads to the same as one with fork and target-session", what)
		}
		fork := x.output("fork")
		fork.Fork = true
		for _, d := range x.commitOf("", plainly(fork, x.output("beside"))).entries {
			if d.IsFork() {
				x.Clause("S7.2-4").Holds(!d.Present["fork-session-id"] && d.Fork, "a new fork record has fork and target-session, and no fork-session-id", "%s", d.Raw)
			}
		}
	})

var _ = scenario("S7.2", "no-older-fork", "entries whose fork-session-id is empty or 32 zeros: they are plain entries, and no session comes of them",
	"S7.2-3",
	func(x *Lab) {
		for _, value := range []string{"", zeroID} {
			s := x.Session(wire.SessionSpec{})
			e := x.text("zero")
			e.Extra = map[string]any{"fork-session-id": value}
			s.Commit(wire.Checkpoint, x.text("before"), e, x.text("after"))
			run := x.Run(s.ID)
			inv := run.Next("S7.2-3")
			x.Clause("S7.2-3").Expect(inv.Names()).To(ConsistOf(fields("before zero after")), "an entry with fork-session-id %q is replayed like any other", value)
			inv.Finish(x.output("next"))
			exit := run.Wait()
			x.Clause("S7.2-3").Holds(exit.Success(), fmt.Sprintf("the run succeeds (fork-session-id %q)", value), "%s%s", exit.Exit, run.said())
			x.Clause("S7.2-3").Expect(x.noZeroSession()).To(BeEmpty(), "no session 0 is created (fork-session-id %q)", value)
		}
	}, overBoth)
