package runtime

import (
	"fmt"
	"slices"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

var _ = scenario("S11.3", "generations", "a parent forks, its child forks in turn, both through the runtime: the grandchild sees the whole chain",
	"S11.3-1",
	func(x *Lab) {
		g := x.Session(wire.SessionSpec{})
		child, grandchild := x.NewID(), x.NewID()
		step := func(id wire.SessionID, outs ...wire.OutputRecord) {
			run := x.Run(id)
			run.Next().Finish(outs...)
			run.Success()
		}
		step(g.ID, x.output("g1"))
		step(g.ID, x.output("g2"), x.forkOutput("task", child))
		step(g.ID, x.output("late")) // makes the child before its handler runs
		x.childOf(child)
		step(child, x.output("p1"), x.forkOutput("small task", grandchild))
		step(child)
		x.childOf(grandchild)
		run := x.Run(grandchild)
		inv := run.Next("S11.3-1")
		want := fields("g1 g2 task p1")
		want = append(want, "small task")
		var got []string
		for _, n := range inv.Names() {
			if slices.Contains(want, n) && !slices.Contains(got, n) { // how often is for S11.3-3
				got = append(got, n)
			}
		}
		x.Clause("S11.3-1").Holds(slices.Equal(got, want), "the grandchild's handler sees the grandparent's entries up to the pointer, the parent's, the body its parent was forked with among them, and then its own: "+fmt.Sprintf("%q", want), "replayed: %q", inv.Names())
		inv.Finish()
		run.Wait()
	}, overBoth)

var _ = scenario("S11.3", "siblings", "forks of three generations to one another's sisters, in the same and in earlier snapshots: nobody sees the body of another's fork",
	"P11.2-6 S11.3-2 S11.3-3",
	func(x *Lab) {
		g := x.Session(wire.SessionSpec{})
		bodies := map[string][]byte{} // of every fork record
		fork := func(name string) (wire.Entry, wire.SessionID) {
			e, id := x.pendingFork(name)
			bodies[name] = e.Body
			return e, id
		}
		sister0, s0 := fork("sister 0")
		g.Commit(wire.Checkpoint, x.text("g1"), sister0)
		g.Fork(wire.SessionSpec{ID: s0}, sister0)
		me, p := fork("the parent")
		sister1, s1 := fork("sister 1")
		g.Commit(wire.Checkpoint, x.text("g2"), me, sister1, x.text("g3"))
		g.Fork(wire.SessionSpec{ID: s1}, sister1)
		parent := g.Fork(wire.SessionSpec{ID: p}, me)
		niece, n := fork("niece")
		older, o := fork("older niece")
		parent.Commit(wire.Checkpoint, x.text("p1"), older)
		parent.Fork(wire.SessionSpec{ID: o}, older)
		parent.Commit(wire.Checkpoint, x.text("p2"), niece)
		child := parent.Fork(wire.SessionSpec{ID: n}, niece)
		x.rest(parent.ID) // the fork of its latest snapshot is done by now
		for _, c := range []struct {
			who      string
			id       wire.SessionID
			ordinary []string
			own      []string // the forks that made the session and its ancestors
			open     []string // its own forks of older snapshots: R-24
		}{
			{"the child of the first generation", p, fields("g1 g2 g3 p1 p2"), []string{"the parent"}, []string{"older niece"}},
			{"the child of the second generation", child.ID, fields("g1 g2 g3 p1 p2"), []string{"the parent", "niece"}, nil},
		} {
			run := x.Run(c.id)
			inv := run.Next("P11.2-6", "S11.3-2")
			if missing := without(c.ordinary, inv.Names()); len(missing) > 0 {
				x.Stop("ordinary entries are missing from the replay of %s (%v), so the absence of fork records says nothing", c.who, missing)
			}
			seen := map[string]int{}
			for _, in := range inv.Replay() {
				body, _, _ := inv.Body(in)
				for name, b := range bodies {
					if string(b) == string(body) || in.Name == name {
						seen[name]++
					}
				}
			}
			var others []string
			for name := range seen {
				if !slices.Contains(c.own, name) && !slices.Contains(c.open, name) {
					others = append(others, name)
				}
			}
			slices.Sort(others)
			for _, clause := range fields("P11.2-6 S11.3-2") {
				x.Clause(clause).Holds(len(others) == 0, "no Input of "+c.who+" has the body or the name of a fork that is addressed to another session", "forks seen: %q; replayed: %q", others, inv.Names())
			}
			for _, name := range c.own {
				x.Clause("S11.3-3").Resting("R-23").Holds(seen[name] == 1, "the body that a session was forked with occurs once in its log, and in that of its children: "+name, "%d times in the stream of %s: %q", seen[name], c.who, inv.Names())
			}
			inv.Finish()
			run.Wait()
		}
	}, overBoth)
