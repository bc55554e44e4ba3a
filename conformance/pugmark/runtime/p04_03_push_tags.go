package runtime

import (
	"slices"
	"strings"
	"time"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

// tagged runs a session once and returns the names of the entries whose event is
// push and of those with another event or none. A replay that lacks one of the names in
// want stops the scenario: tags of entries that are not there say nothing.
func (x *Lab) tagged(s *wire.Session, all string, because ...string) (push, plain []string, inv *Invocation) {
	run := x.Run(s.ID)
	inv = run.Next(because...)
	if missing := without(fields(all), inv.Names()); len(missing) > 0 {
		x.Stop("entries are missing from the replay: %v", missing)
	}
	push, plain = []string{}, []string{}
	for _, in := range inv.Replay() {
		if !slices.Contains(fields(all), in.Name) {
			continue
		}
		switch in.Event {
		case "push":
			push = append(push, in.Name)
		default: // empty; another value is P4.1-1
			plain = append(plain, in.Name)
		}
	}
	inv.Finish()
	run.Wait()
	return push, plain, inv
}

func stopped(reason string) wire.Entry { return wire.ControlEntry("stopped", reason, "") }

var _ = scenario("P4.3", "since-the-stop", "objects arrived in two snapshots after a stop: all of them are tagged, nothing before the stop is",
	"P4.3-1 P4.3-2",
	func(x *Lab) {
		s := x.Session(wire.SessionSpec{})
		s.Commit(wire.Checkpoint, x.text("a"), x.text("b"), stopped("waiting"))
		s.Commit(wire.Provisional, x.text("c"))
		s.Commit(wire.Queueing, x.text("d"), x.text("e"))
		push, plain, _ := x.tagged(s, "a b c d e", "P4.3-1")
		x.Clause("P4.3-1").Expect(push).To(ContainElements("c", "d", "e"), "c, d and e, which follow the stopped message, have event push")
		x.Clause("P4.3-2").Expect(plain).To(ContainElements("a", "b"), "a and b, which precede the stopped message in the same snapshot, have no event")

		older := x.Session(wire.SessionSpec{})
		older.Commit(wire.Checkpoint, x.text("k"))
		older.Commit(wire.Checkpoint, x.text("l"), stopped("first"))
		older.Commit(wire.Checkpoint, x.text("m"), x.text("n"))
		older.Commit(wire.Checkpoint, x.text("o"), stopped("second"))
		older.Commit(wire.Provisional, x.text("p"))
		push, plain, _ = x.tagged(older, "k l m n o p", "P4.3-1")
		x.Clause("P4.3-1").Expect(push).To(ContainElement("p"), "p, which follows the latest stopped message, has event push")
		x.Clause("P4.3-2").Expect(plain).To(ContainElements(strings.Fields("k l m n o")), "nothing before the latest of two stopped messages has an event")
	}, overBoth)

var _ = scenario("P4.3", "after-a-sleep", "a sleep is over and nothing arrived: no entry is tagged",
	"P4.3-2",
	func(x *Lab) {
		s := x.Session(wire.SessionSpec{})
		s.Commit(wire.Checkpoint, x.text("a"))
		s.Commit(wire.Checkpoint, x.text("b"), wire.ControlEntry("stopped", "nap", time.Now().Add(-time.Minute).UTC().Format(time.RFC3339)))
		push, plain, _ := x.tagged(s, "a b", "P4.3-2")
		x.Clause("P4.3-2").Holds(len(push) == 0, "no entry follows the stopped message, so none has event push", "push: %v, without event: %v", push, plain)
	}, overBoth)

var _ = scenario("P4.3", "last-delta", "sessions without a stop: just the objects of the last snapshot are tagged",
	"P4.3-3 P4.3-4",
	func(x *Lab) {
		push, plain, _ := x.tagged(x.plainLog(), "a b c d e", "P4.3-3")
		x.Clause("P4.3-3").Expect(push).To(ContainElements("d", "e"), "d and e, the two objects of the last snapshot, have event push")
		x.Clause("P4.3-4").Expect(plain).To(ContainElements("a", "b", "c"), "a, b and c have no event")

		first := x.Session(wire.SessionSpec{})
		first.Commit(wire.Checkpoint, x.text("a"), x.text("b"), x.text("c"))
		push, _, _ = x.tagged(first, "a b c", "P4.3-3")
		x.Clause("P4.3-3").Expect(push).To(ConsistOf(fields("a b c")), "all three objects of the only snapshot have event push")

		parent := x.plainLog()
		child := x.Session(wire.SessionSpec{Parent: parent.Pointer(3), FirstSequence: 6})
		child.Commit(wire.Checkpoint, x.text("own"))
		push, plain, _ = x.tagged(child, "a b c d e own", "P4.3-3")
		x.Clause("P4.3-3").Expect(push).To(ContainElement("own"), "own, the last snapshot's object, has event push")
		x.Clause("P4.3-4").Expect(plain).To(ContainElements(fields("a b c d e")), "inherited entries have no event")
	}, overBoth)

var _ = scenario("P4.3", "other-status", "the latest control message says running, unknown or nothing: an older stop no longer counts",
	"P4.3-5",
	func(x *Lab) {
		for _, status := range []string{"running", "unknown", ""} {
			s := x.Session(wire.SessionSpec{})
			s.Commit(wire.Checkpoint, x.text("a"), stopped("early"))
			s.Commit(wire.Checkpoint, x.text("b"))
			latest := wire.ControlEntry(status, "", "")
			if status == "" {
				latest.Body = []byte("{}")
			}
			s.Commit(wire.Checkpoint, x.text("c"), latest)
			s.Commit(wire.Checkpoint, x.text("d"), x.text("e"))
			push, _, _ := x.tagged(s, "a b c d e", "P4.3-5")
			if !slices.Contains(push, "e") {
				x.Stop("the newest entry is not tagged at all (P4.3-3), so what the older stop does cannot be told")
			}
			if slices.Contains(push, "a") {
				x.Stop("what precedes every control message is tagged (P4.3-4), so what the older stop does cannot be told")
			}
			x.Clause("P4.3-5").Expect(push).NotTo(ContainElement(BeElementOf("b", "c")), "of b, c, d and e, which follow an older stop, b and c have no event (latest control message: status %q)", status)
		}
	}, overBoth)

var _ = scenario("P4.3", "parents-stop", "the parent was stopped when it forked: its control message does not count for the child's tags",
	"P4.3-6",
	func(x *Lab) {
		parent := x.Session(wire.SessionSpec{})
		parent.Commit(wire.Checkpoint, x.text("a"), stopped("forking"))
		id := x.NewID()
		parent.Commit(wire.Checkpoint, x.text("b"), wire.ForkEntry(x.Word("task"), id), stopped("waiting for the child"))
		child := x.Session(wire.SessionSpec{ID: id, Parent: parent.Pointer(2), FirstSequence: 6})
		child.Commit(wire.Checkpoint, x.text("task"))
		child.Commit(wire.Checkpoint, x.text("x"))
		push, _, _ := x.tagged(child, "a b task x", "P4.3-6")
		if !slices.Contains(push, "x") {
			x.Stop("the newest entry is not tagged at all (P4.3-3), so what the parent's stop does cannot be told")
		}
		if slices.Contains(push, "a") {
			x.Stop("what precedes the parent's control message is tagged (P4.3-4), so what that does cannot be told")
		}
		x.Clause("P4.3-6").Expect(push).To(Equal(fields("x")), "only x, the last snapshot's object, has event push: the parent's stopped message does not count in the child")
	}, overBoth)
