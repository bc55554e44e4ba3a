package runtime

import (
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

var _ = scenario("P11.2", "first-invocation", "a child that the runtime made, and one that was laid out: its first stream holds the fork's body once, as the only new object, and ends with fork",
	"P11.2-1 P11.2-2 S11.3-3",
	func(x *Lab) {
		for _, made := range []bool{true, false} {
			what := "a child that was laid out"
			parent := x.Session(wire.SessionSpec{})
			parent.Commit(wire.Checkpoint, x.text("a"), x.text("b"))
			record, id := x.pendingFork("task")
			parent.Commit(wire.Checkpoint, record, x.text("c"))
			if made {
				what = "a child that the runtime made"
				x.rest(parent.ID)
				x.childOf(id)
			} else {
				parent.Fork(wire.SessionSpec{ID: id}, record)
			}
			run := x.Run(id)
			inv := run.Next("P11.2-1")
			x.Clause("P11.2-1").Expect(inv.Lifecycle()).To(Equal("fork"), "a child's first stream ends with event fork (%s)", what)
			if missing := without(fields("a b c"), inv.Names()); len(missing) > 0 {
				x.Stop("the parent's entries are missing from the child's stream (P11.2-3): %v", missing)
			}
			copies, pushed, behind := 0, []string{}, false
			for i, in := range inv.Replay() {
				body, _, _ := inv.Body(in)
				if string(body) == string(record.Body) {
					copies++
					behind = i >= 3
				}
				if in.Event == "push" {
					pushed = append(pushed, in.Name)
				}
			}
			const once = "exactly one Input has the fork's body"
			x.Clause("P11.2-2").Resting("R-23").Holds(copies == 1, once+" ("+what+")", "%d; replayed: %v", copies, inv.Names())
			x.Clause("S11.3-3").Resting("R-23").Holds(copies == 1, once+" ("+what+")", "%d; replayed: %v", copies, inv.Names())
			if copies == 1 {
				x.Clause("S11.3-3").Resting("R-23").Holds(behind, "the fork's body comes from the child's own snapshot 1, behind what is inherited ("+what+")", "replayed: %v", inv.Names())
				x.Clause("P11.2-2").Expect(pushed).To(Equal([]string{"task"}), "the fork's body, and nothing else, has event push (%s)", what)
			}
			inv.Finish()
			run.Wait()
		}
		root := x.Session(wire.SessionSpec{})
		root.Commit(wire.Checkpoint, x.text("task"))
		run := x.Run(root.ID)
		inv := run.Next()
		x.Clause("P11.2-1").Expect(inv.Lifecycle()).NotTo(Equal("fork"), "a session without a parent gets another event, though it has the same snapshot")
		inv.Finish()
		run.Wait()
	}, overBoth)

var _ = scenario("P11.2", "inherited", "a child of a child, whose grandparent and parent went on after the fork points: it can read all up to them, the forking snapshot too, and nothing behind",
	"P11.2-3 P11.2-4",
	func(x *Lab) {
		g := x.Session(wire.SessionSpec{})
		g.Commit(wire.Checkpoint, x.text("g1"))
		parentID := x.NewID()
		g.Commit(wire.Checkpoint, x.text("g2"), wire.ForkEntry(x.Word("task"), parentID))
		p := g.Fork(wire.SessionSpec{ID: parentID}, x.text("p1"))
		g.Commit(wire.Checkpoint, x.text("late-g3"))
		for i := 2; i <= 3; i++ {
			p.Commit(wire.Checkpoint, x.text(fmt.Sprint("p", i)))
		}
		record, id := x.pendingFork("task")
		p.Commit(wire.Checkpoint, x.text("p4"), record)
		child := p.Fork(wire.SessionSpec{ID: id}, record)
		for i := 5; i <= 6; i++ {
			p.Commit(wire.Checkpoint, x.text(fmt.Sprint("late-p", i)))
		}
		run := x.Run(child.ID)
		inv := run.Next("P11.2-3")
		want := fields("g1 g2 p1 p2 p3 p4")
		got := inv.Names()
		missing := without(want, got)
		x.Clause("P11.2-3").Holds(len(missing) == 0, "the child's stream has every entry that its parent's snapshot gives access to, those of the grandparent and of the forking snapshot itself among them", "missing: %v; replayed: %v", missing, got)
		if len(missing) == 0 {
			ordered := slices.DeleteFunc(slices.Clone(got), func(n string) bool { return !slices.Contains(want, n) })
			x.Clause("P11.2-3").Expect(ordered).To(Equal(want), "what is inherited comes in the order of the chain")
			for _, in := range inv.Replay() {
				if slices.Contains(want, in.Name) {
					body, ok, why := inv.Body(in)
					x.Clause("P11.2-3").Holds(ok && len(body) > 0, "what is inherited can be read", "%s: %q %s", in.Name, body, why)
				}
			}
			late := slices.DeleteFunc(slices.Clone(got), func(n string) bool { return !strings.HasPrefix(n, "late-") })
			x.Clause("P11.2-4").Holds(len(late) == 0, "nothing that an ancestor added behind the fork point is in the child's stream", "replayed: %v", late)
		}
		inv.Finish()
		run.Wait()
	}, overBoth)

var _ = scenario("P11.2", "later-invocations", "a child after its first commit, after a pause, and after its parent has run again: it is a session like any other",
	"P11.2-5",
	func(x *Lab) {
		parent := x.Session(wire.SessionSpec{})
		record, id := x.pendingFork("task")
		parent.Commit(wire.Checkpoint, x.text("a"), record)
		child := parent.Fork(wire.SessionSpec{ID: id}, record)
		run := x.Run(child.ID)
		inv := run.Next()
		if inv.Lifecycle() != "fork" {
			x.Stop("the child's first invocation has another event than fork (P11.2-1)")
		}
		out := x.output("progress")
		inv.Finish(out)
		again := run.Again("P11.2-5")
		if x.occurrences(id, out.Data) == 0 {
			x.Stop("the child's first invocation was not committed, so the next one may be taken for its first")
		}
		x.plainEvent(again, "after the child's first commit").Finish()
		run.Wait()
		x.rest(parent.ID)
		run = x.Run(child.ID)
		x.plainEvent(run.Next("P11.2-5"), "after its parent has run again").Finish(pause("resting"))
		run.Wait()
		if x.stops(child.ID) != 1 {
			x.Stop("the child's pause was not recorded (P10-8)")
		}
		version := slices.Max(x.Versions(child.ID))
		child.Put(wire.SnapshotSpec{Version: version + 1, Type: wire.Provisional, Entries: []wire.Entry{x.later(child, "news")}})
		run = x.Run(child.ID)
		inv = run.Next("P11.2-5")
		x.Clause("P11.2-5").Expect(inv.Lifecycle()).To(Equal("wake"), "a child that paused is woken by a new object, with wake")
		inv.Finish()
		run.Wait()
	}, overBoth)

// plainEvent judges the event of a child's later invocation that nothing woke.
func (x *Lab) plainEvent(inv *Invocation, what string) *Invocation {
	got := inv.Lifecycle()
	check := x.Clause("P11.2-5").Calldepth(1)
	acceptable := "an invocation of a child that is not its first has an empty event (" + what + ")"
	if got == "wake" {
		check, acceptable = check.Warning(), acceptable+"; wake without a stop before is a warning"
	}
	check.Expect(got).To(Equal(""), "%s", acceptable)
	return inv
}
