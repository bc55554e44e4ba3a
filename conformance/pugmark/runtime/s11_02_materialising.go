package runtime

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

// Records in the older form are left to S7.2-2: a runtime that does not know it
// would fail every story about forks for that reason alone.

var _ = scenario("S11.2", "before-the-input", "three pending forks in the latest checkpoint, and a store that is slow with the last of them: all children are there before the handler gets a byte",
	"P11.1-4 P11.1-5 S11.2-1",
	func(x *Lab) {
		s := x.Session(wire.SessionSpec{})
		records, children := []wire.Entry{x.text("x")}, []wire.SessionID{}
		for i := range 3 {
			record, child := x.pendingFork(fmt.Sprint("task ", i+1))
			records, children = append(records, record), append(children, child)
		}
		s.Commit(wire.Checkpoint, records...)
		x.slowDown(At(x.pathOf(children[2]), fakes3.OpPut), lag)
		run := x.Run(s.ID)
		inv := run.Next()
		inv.Stream()
		at, _ := inv.reached()
		inv.Finish()
		run.Wait()
		const demand = "one run of the parent makes the manifest and the snapshot 1 of every pending fork"
		x.Clause("P11.1-4").Holds(x.complete(children...), demand, "missing after it: %s", x.lacking(children...))
		if !x.Clause("S11.2-1").Holds(x.complete(children...), demand, "missing after it: %s", x.lacking(children...)) {
			x.Stop("the children were not made (P11.1-4), so when is not judged")
		}
		for i, child := range children {
			for _, r := range x.writesOf(child) {
				for _, clause := range fields("P11.1-5 S11.2-1") {
					x.Clause(clause).Holds(r.Applied.Before(at), "nothing reaches the handler before all children are stored, and the store took its time", "child %d: %s, stored %s after the handler was reached", i+1, r.String(), r.Applied.Sub(at).Round(time.Millisecond))
				}
			}
		}
	}, overBoth)

var _ = scenario("S11.2", "below-later-snapshots", "a provisional, in another run a queueing snapshot lies on top of the checkpoint with the forks; older checkpoints hold forks that are done: the pending ones are carried out",
	"P11.1-19 S11.2-2",
	func(x *Lab) {
		for _, kind := range []wire.SnapshotType{"", wire.Provisional, wire.Queueing} {
			s := x.Session(wire.SessionSpec{})
			done, old := x.pendingFork("done")
			s.Commit(wire.Checkpoint, x.text("a"), done)
			grown := s.Fork(wire.SessionSpec{ID: old}, done)
			grown.Commit(wire.Checkpoint, x.text("grown"))
			one, first := x.pendingFork("one")
			two, second := x.pendingFork("two")
			s.Commit(wire.Checkpoint, one, x.text("x"), two)
			if kind != "" {
				s.Commit(kind, x.text("news"))
			}
			x.rest(s.ID)
			if kind == "" {
				if !x.complete(first, second) {
					x.Stop("forks of a checkpoint with nothing on top are not carried out either (P11.1-4, S11.2-1)")
				}
				continue
			}
			for _, clause := range fields("P11.1-19 S11.2-2") {
				x.Clause(clause).Resting("R-21", "F-3").Holds(x.complete(first, second), fmt.Sprintf("the pending forks of the latest checkpoint are carried out although a %s snapshot lies on top", kind), "missing: %s", x.lacking(first, second))
			}
			writes := x.writesOf(old)
			x.Clause("S11.2-2").Holds(len(writes) == 0, "a fork of an older checkpoint, whose child exists, leads to no writes", "%d writes below the child's path: %v", len(writes), writes)
		}
	}, overBoth)

var _ = scenario("S11.2", "stopped-parent", "a run of forks alone stops the parent: the next run makes the children and does not invoke the handler",
	"P11.1-18 S11.2-3",
	func(x *Lab) {
		plain := x.Session(wire.SessionSpec{})
		record, child := x.pendingFork("task")
		plain.Commit(wire.Checkpoint, x.text("a"), record)
		if x.rest(plain.ID); !x.complete(child) {
			x.Stop("the fork of a parent that is not stopped is not carried out either (P11.1-4, S11.2-1)")
		}
		judge := func(s *wire.Session, what string, children ...wire.SessionID) {
			before := x.invocationsOf(s.ID)
			x.rest(s.ID)
			n := x.invocationsOf(s.ID) - before
			for _, clause := range fields("P11.1-18 S11.2-3") {
				x.Clause(clause).Resting("R-22").Holds(x.complete(children...), "the next run of a parent that its forks have stopped makes their children ("+what+")", "missing: %s", x.lacking(children...))
				if x.complete(children...) {
					x.Clause(clause).Resting("R-22").Holds(n == 0, "it does not invoke the parent's handler ("+what+")", "%d invocations", n)
				}
			}
		}
		seeded := x.Session(wire.SessionSpec{})
		one, first := x.pendingFork("one")
		two, second := x.pendingFork("two")
		seeded.Commit(wire.Checkpoint, one, two, stopped("waiting for the children"))
		judge(seeded, "a stop that was laid out", first, second)

		s, chosen := x.shortLog(), x.NewID()
		run := x.Run(s.ID)
		run.Next().Finish(x.forkOutput("task", chosen))
		run.Success()
		if x.stops(s.ID) != 1 || x.forkTargets(s.ID)["task"] != chosen {
			x.Stop("a run of forks alone left no stop or no record of the fork (P10-20, P11.1-1)")
		}
		judge(s, "a stop by the runtime itself", chosen)
	}, overBoth)

var _ = scenario("S11.2", "parent-pointer", "the runtime records a fork as version 4, and commits 5 in the run that makes the child: the child points to version 4",
	"P11.1-6 S11.2-4",
	func(x *Lab) {
		judge := func(child wire.SessionID, s *wire.Session, want, latest uint32, what string) {
			m, _ := x.childOf(child)
			for _, clause := range fields("P11.1-6 S11.2-4") {
				acceptable := fmt.Sprintf("the child's manifest has the parent's ID and version %d, whose snapshot holds the fork record, as parent (%s)", want, what)
				if !x.Clause(clause).Holds(m.Parent != nil, acceptable, "%s", m.JSON) {
					continue
				}
				id, _ := wire.ParseSessionID(m.Parent.Session)
				check := x.Clause(clause).Resting("R-21")
				if m.Parent.Version > want && m.Parent.Version <= latest {
					check = check.Warning()
					acceptable += fmt.Sprintf("; a later one up to %d is a warning", latest)
				}
				check.Holds(id == s.ID && m.Parent.Version == want, acceptable, "%s", m.JSON)
			}
		}
		s, child := x.plainLog(), x.NewID()
		run := x.Run(s.ID)
		run.Next().Finish(x.output("beside"), x.forkOutput("task", child))
		run.Success()
		if x.forkTargets(s.ID)["task"] != child {
			x.Stop("the fork was not recorded; versions: %v", x.Versions(s.ID))
		}
		run = x.Run(s.ID)
		run.Next().Finish(x.output("more"))
		run.Wait()
		judge(child, s, 4, 4, "recorded as version 4")

		pushed := x.plainLog()
		record, below := x.pendingFork("task")
		pushed.Commit(wire.Checkpoint, x.text("f"), record)
		pushed.Commit(wire.Provisional, x.text("news"))
		x.rest(pushed.ID)
		if x.complete(below) { // otherwise P11.1-19
			judge(below, pushed, 4, 5, "a provisional snapshot on top")
		}
	}, overBoth)

var _ = scenario("S11.2", "handler-and-agent", "a parent with handler and agent, and one without: children and grandchildren have the same",
	"P11.1-7 P11.1-8 S11.2-5",
	func(x *Lab) {
		judge := func(id wire.SessionID, handler, agent, who string) {
			m, _ := x.childOf(id)
			x.Clause("P11.1-7").Expect(m.Handler).To(Equal(handler), "the manifest of the %s has the parent's handler", who)
			x.Clause("P11.1-8").Expect(m.Agent).To(Equal(agent), "the manifest of the %s has the parent's agent", who)
			x.Clause("S11.2-5").Holds(m.Handler == handler && m.Agent == agent, fmt.Sprintf("the manifest of the %s has the parent's handler %q and agent %q", who, handler, agent), "%s", m.JSON)
		}
		bare := x.Session(wire.SessionSpec{})
		record, child := x.pendingFork("task")
		bare.Commit(wire.Checkpoint, x.text("a"), record)
		x.rest(bare.ID)
		judge(child, "", "", "child of a parent with neither")

		parent := x.Session(wire.SessionSpec{Handler: "py", Agent: "agent-7"})
		record, child = x.pendingFork("task")
		parent.Commit(wire.Checkpoint, x.text("a"), record)
		x.rest(parent.ID, WithHandler("py"))
		judge(child, "py", "agent-7", "child")
		all := x.invocations()
		if m, _ := x.manifest(child); m.Handler != "py" || all[len(all)-1].Label != "py" {
			return // the parent is not run by its own handler either: P15-2
		}
		run := x.Run(child, WithHandler("py"))
		inv := run.Next()
		x.Clause("S11.2-5").Expect(inv.Label).To(Equal("py"), "the child is run by the handler that its parent had")
		grandchild := x.NewID()
		inv.Finish(x.output("beside"), x.forkOutput("more", grandchild))
		run.Wait()
		x.rest(child, WithHandler("py"))
		judge(grandchild, "py", "agent-7", "grandchild")
	}, overBoth)

var _ = scenario("S11.2", "metadata-and-name", "a named parent with metadata, a fork with a name and metadata of its own, and one without: what the child's manifest takes over",
	"P11.1-9 S11.2-6 S11.2-7",
	func(x *Lab) {
		parent := x.Session(wire.SessionSpec{Name: x.Word("main"), Metadata: map[string]string{"team": "blue"}})
		own, one := x.pendingFork("task")
		own.Metadata = map[string]string{"task": "1"}
		bare, two := x.pendingFork("other task")
		parent.Commit(wire.Checkpoint, x.text("a"), own, bare)
		x.rest(parent.ID)
		for child, want := range map[wire.SessionID]map[string]string{one: own.Metadata, two: nil} {
			m, _ := x.childOf(child)
			for _, clause := range fields("P11.1-9 S11.2-6") {
				x.Clause(clause).Holds(maps.Equal(m.Metadata, want), fmt.Sprintf("the child's metadata is the fork's, %v, and nothing of the parent's", want), "%s", m.JSON)
			}
			x.Clause("S11.2-7").Holds(m.Name == "", "a child has no name: neither its parent's nor that of the fork record", "%s", m.JSON)
		}
	}, overBoth)

var _ = scenario("S11.2", "first-descriptor", "a fork record with every field set: the child's snapshot 1 repeats it as an ordinary entry",
	"P11.1-13 S11.2-10 S11.2-11 S11.2-12",
	func(x *Lab) {
		s := x.Session(wire.SessionSpec{})
		full, child := x.pendingFork("task")
		full.ContentType, full.ContentEncoding, full.SchemaURL = "application/x-task; v=1", "x-none", "https://example.com/task"
		full.Metadata = map[string]string{"Task": "1", "über": "grün"}
		s.Commit(wire.Checkpoint, x.texts("a", 1, 5)...)
		s.Commit(wire.Checkpoint, full, x.text("after"))
		x.rest(s.ID)
		m, snap := x.childOf(child)
		record, _ := x.Snapshot(s.ID, 2)
		want, got := record.Descriptors[0], snap.Descriptors[0]
		x.Clause("S11.2-10").Expect(snap.Descriptors).To(HaveLen(1), "the child's snapshot 1 holds one descriptor")
		x.Clause("P11.1-13").Expect(snap.Descriptors).To(HaveLen(1), "the child's snapshot 1 holds the fork's body alone")
		var differs []string
		for what, same := range map[string]bool{
			"digest": got.Digest == want.Digest, "size": got.Size == want.Size, "content-type": got.ContentType == want.ContentType,
			"content-encoding": got.ContentEncoding == want.ContentEncoding, "schema-url": got.SchemaURL == want.SchemaURL, "name": got.Name == want.Name,
			"metadata": maps.Equal(got.Metadata, want.Metadata), "data": !got.HasData || string(got.Data) == string(want.Data),
		} {
			if !same {
				differs = append(differs, what)
			}
		}
		slices.Sort(differs)
		x.Clause("S11.2-10").Holds(len(differs) == 0, "the child's first descriptor repeats the fork record's digest, size, content-type, content-encoding, schema-url, name and metadata, and its data where it has any",
			"%s differ(s); the record: %s; the child's: %s", strings.Join(differs, ", "), want.Raw, got.Raw)
		_, sent := got.Source()
		plain := !got.IsFork() && strings.Trim(got.TargetSession, "0") == "" && !sent && got.SourceVersion == 0
		const demand = "the child's first descriptor is no fork and has neither target-session nor source fields"
		x.Clause("S11.2-10").Holds(plain, demand, "%s", got.Raw)
		x.Clause("P11.1-13").Holds(plain, demand, "%s", got.Raw)
		x.Clause("S11.2-11").Holds(got.SequenceNumber == m.FirstSequenceNumber, fmt.Sprintf("the first descriptor's number is the manifest's first-sequence-number, %d", m.FirstSequenceNumber), "%s", got.Raw)

		// What its metadata says beside is judged wherever a snapshot is written (S6.2).
		x.Clause("S11.2-12").Resting("R-10").Holds(snap.Type == wire.Checkpoint, "the child's snapshot 1 is a checkpoint", "%s %q", wire.MetaType, snap.Metadata[wire.MetaType])
		x.Clause("P11.1-13").Holds(snap.Type == wire.Checkpoint, "the child's snapshot 1 is a checkpoint", "%s %q", wire.MetaType, snap.Metadata[wire.MetaType])
		for _, r := range x.Writes(child.SnapshotKey(1)) {
			x.Clause("S11.2-12").Holds(r.IfNoneMatch == "*", "the child's snapshot 1 is written with If-None-Match: *", "%s", r.String())
		}
		x.Clause("S11.2-12").Expect(x.Versions(child)).To(Equal([]uint32{1}), "the fork's body is committed as version 1 and no other")
	}, overBoth)

var _ = scenario("S11.2", "kept-from-the-parent", "forks between ordinary entries, in the run that makes the children and in one that finds them made: the parent's handler sees the entries only",
	"P11.1-15 S11.2-14",
	func(x *Lab) {
		s := x.Session(wire.SessionSpec{})
		one, first := x.pendingFork("task one")
		two, second := x.pendingFork("task two")
		s.Commit(wire.Checkpoint, x.text("x"), one, x.text("y"), two)
		for _, turn := range []string{"in the run that makes the children", "in the next run"} {
			run := x.Run(s.ID)
			inv := run.Next()
			if missing := without(fields("x y"), inv.Names()); len(missing) > 0 {
				x.Stop("ordinary entries are missing from the replay: %v", missing)
			}
			var seen []string
			for _, in := range inv.Replay() {
				body, _, _ := inv.Body(in)
				if strings.HasPrefix(in.Name, "task ") || string(body) == string(one.Body) || string(body) == string(two.Body) {
					seen = append(seen, string(in.Raw))
				}
			}
			inv.Finish()
			run.Wait()
			if !x.complete(first, second) {
				x.Stop("the forks were not carried out, so whether they are then left out is not judged")
			}
			for _, clause := range fields("P11.1-15 S11.2-14") {
				x.Clause(clause).Resting("R-24").Expect(seen).To(BeEmpty(), "no Input has the body or the name of a fork record of the latest snapshot, %s", turn)
			}
		}
	}, overBoth)
