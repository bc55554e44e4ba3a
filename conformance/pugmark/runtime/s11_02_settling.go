package runtime

import (
	"bytes"
	"fmt"
	"slices"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

// childManifest is the manifest that a run makes for a pending fork, and a mark
// by which it is known again.
func (x *Lab) childManifest(parent *wire.Session, child wire.SessionID) wire.Stored {
	spec := wire.SessionSpec{ID: child, Parent: parent.Pointer(0), FirstSequence: parent.NextSequence(), Extra: map[string]any{"x-seed": x.Word("seed")}}
	o, err := spec.Manifest()
	x.Must(err)
	return o
}

var _ = scenario("S11.2", "manifest-there", "the child's manifest is there already, or lands while the runtime's own is on its way: it is taken as it is, and snapshot 1 is made",
	"P11.1-10 P11.1-11 S11.2-8",
	func(x *Lab) {
		for _, landing := range []bool{false, true} {
			what := "the manifest is there before the run"
			if landing {
				what = "the manifest lands while the runtime's own is on its way"
			}
			s := x.Session(wire.SessionSpec{})
			record, child := x.pendingFork("task")
			s.Commit(wire.Checkpoint, x.text("a"), record)
			there := x.childManifest(s, child)
			met := func() bool { return true }
			if landing {
				l := x.landAt(child.ManifestKey(), 1, func(int, *fakes3.Request) { x.Must(x.Put(there)) })
				met = func() bool { return l.Met() > 0 }
			} else {
				x.Must(x.Put(there))
			}
			run := x.Run(s.ID)
			inv := run.Next("P11.1-11", "S11.2-8")
			inv.Finish()
			exit := run.Wait()
			if !met() {
				x.Stop("the runtime wrote no manifest of the child (P11.1-4)")
			}
			now, _ := x.Get(child.ManifestKey())
			kept := bytes.Equal(now.Body, there.Body)
			x.Clause("P11.1-11").Holds(exit.Success() && kept && x.complete(child), "the run succeeds, leaves the manifest as it is and makes the child's snapshot 1 ("+what+")", "%s; missing: %s; manifest: %s%s", exit.Exit, x.lacking(child), now.Body, run.said())
			x.Clause("S11.2-8").Holds(kept, "a manifest that exists is not written over ("+what+")", "it is now %s", now.Body)
			if landing {
				x.Clause("P11.1-10").Holds(kept, "a manifest that lands before the runtime's own is not written over", "it is now %s", now.Body)
			}
			for _, r := range x.Writes(child.ManifestKey()) {
				for _, clause := range fields("P11.1-10 S11.2-8") {
					x.Clause(clause).Holds(r.IfNoneMatch == "*", "a child's manifest is written with If-None-Match: *", "%s", r.String())
				}
			}
			loaded := slices.ContainsFunc(x.S3.Requests(), func(r fakes3.Request) bool {
				return r.Op == fakes3.OpGet && Key(r) == child.ManifestKey() && r.Status == 200
			})
			x.Clause("S11.2-8").Holds(loaded, "a manifest that exists is loaded ("+what+")", "no GET of %s was answered with it", child.ManifestKey())
		}
	}, overBoth)

var _ = scenario("S11.2", "child-has-snapshots", "the fork is still pending and its child has gone on to version 2: three runs of the parent leave the child alone",
	"P11.1-12 S11.2-9",
	func(x *Lab) {
		s := x.Session(wire.SessionSpec{})
		record, id := x.pendingFork("task")
		fresh, control := x.pendingFork("control")
		s.Commit(wire.Checkpoint, x.text("a"), record, fresh)
		child := s.Fork(wire.SessionSpec{ID: id}, record)
		child.Commit(wire.Checkpoint, x.text("progress"))
		for range 3 {
			run := x.Run(s.ID)
			inv := run.Next("P11.1-12", "S11.2-9")
			inv.Finish()
			run.Success("P11.1-12", "S11.2-9")
		}
		if !x.complete(control) {
			x.Stop("the other fork of the same snapshot was not carried out, so that this one was left alone says nothing")
		}
		writes := x.writesOf(id)
		for _, clause := range fields("P11.1-12 S11.2-9") {
			x.Clause(clause).Holds(len(writes) == 0, "nothing is written below the path of a child that has snapshots, however often the parent runs", "%d writes: %v; versions of the child: %v", len(writes), writes, x.Versions(id))
		}
	}, overBoth)

var _ = scenario("S11.2", "body-crowded-out", "somebody wrote into the child between its manifest and its snapshot 1, or takes that place at the last moment: the run goes on, and the fork's body is lost or appended once",
	"P11.1-14 S11.2-9 S11.2-13",
	func(x *Lab) {
		for _, landing := range []bool{false, true} {
			s := x.Session(wire.SessionSpec{})
			record, id := x.pendingFork("task")
			s.Commit(wire.Checkpoint, x.text("a"), record)
			child := x.Session(wire.SessionSpec{ID: id, Parent: s.Pointer(0)})
			foreign := wire.SnapshotSpec{Type: wire.Provisional, Entries: []wire.Entry{x.text("message")}}
			clauses, met := fields("S11.2-9"), func() bool { return true }
			if landing {
				clauses = fields("S11.2-13 P11.1-14")
				l := x.landAt(id.SnapshotKey(1), 1, func(int, *fakes3.Request) { x.store(child.Build(foreign)) })
				met = func() bool { return l.Met() > 0 && x.refused(id.SnapshotKey(1)) > 0 }
			} else {
				child.Put(foreign)
			}
			for range 2 {
				run := x.Run(s.ID)
				run.Next(clauses...).Finish()
				run.Success(clauses...)
			}
			if !met() {
				x.Stop("no snapshot 1 of the child was refused, so what follows is not judged")
			}
			copies := 0
			for _, v := range x.Versions(id) {
				if x.bodyCommitted(id, v, record.Body) {
					copies++
				}
			}
			for _, clause := range clauses {
				x.Clause(clause).Resting("F-15").Holds(copies <= 1, "a child whose snapshots lack the fork's body is left alone, or the body is appended once", "it is in %d snapshots; versions: %v", copies, x.Versions(id))
				x.Clause(clause).Assuming("F-15").Holds(copies > 0, "the fork's body is not lost, although somebody else's snapshot took its place", "no snapshot of the child holds it; versions: %v", x.Versions(id))
			}
		}
	})

var _ = scenario("S11.2", "another-run-was-first", "another run's snapshot 1 of the child lands between the runtime's look and its write: that counts as success",
	"P11.1-14 S11.2-13",
	func(x *Lab) {
		s := x.Session(wire.SessionSpec{})
		record, id := x.pendingFork("task")
		s.Commit(wire.Checkpoint, x.text("a"), record)
		l := x.landAt(id.SnapshotKey(1), 1, func(_ int, r *fakes3.Request) {
			meta := metadataOf(r)
			meta[wire.MetaTransaction] = "1234567890123456789"
			x.Must(x.Put(wire.Stored{Key: id.SnapshotKey(1), Body: r.Body, ContentType: "application/json", ContentEncoding: "zstd", CacheControl: wire.Immutable, Metadata: meta}))
		})
		run := x.Run(s.ID)
		inv := run.Next("P11.1-14", "S11.2-13")
		inv.Finish()
		exit := run.Wait("P11.1-14", "S11.2-13")
		if l.Met() == 0 || x.refused(id.SnapshotKey(1)) == 0 {
			x.Stop("no snapshot 1 of the child was refused, so what follows is not judged")
		}
		for _, clause := range fields("P11.1-14 S11.2-13") {
			x.Clause(clause).Holds(exit.Success(), "the parent's run goes on to its handler and ends well", "%s%s", exit.Exit, run.said())
			x.Clause(clause).Expect(x.Versions(id)).To(Equal([]uint32{1}), "the child keeps the other run's snapshot 1 and gets no further one")
		}
	}, overBoth)

// undisturbed says in what a child is not what a run that nothing disturbs makes
// of a fork; "" where it is.
func (x *Lab) undisturbed(s *wire.Session, version uint32, child wire.SessionID, body []byte) string {
	m, ok := x.manifest(child)
	if !ok {
		return "no manifest"
	}
	if m.Parent == nil || m.Parent.Session != s.ID.String() || m.Parent.Version != version {
		return fmt.Sprintf("manifest %s", m.JSON)
	}
	versions := x.Versions(child)
	if !slices.Equal(versions, []uint32{1}) {
		return fmt.Sprintf("versions %v", versions)
	}
	snap, _ := x.Snapshot(child, 1)
	if len(snap.Descriptors) != 1 || snap.Descriptors[0].Digest != wire.Digest(body) {
		return "snapshot 1: " + commit{entries: snap.Descriptors}.list()
	}
	return ""
}

// Only writes are moments at which a crash makes a difference: between two of
// them the bucket is the same.
var _ = scenario("S11.2", "crashes", "the runtime is killed at each write of two forks in turn, before and after it took effect: the next run completes the children",
	"P11.1-16 S11.2-15",
	func(x *Lab) {
		judge := func(s *wire.Session, version uint32, children map[wire.SessionID][]byte, ordinary []string, where string) {
			run := x.Run(s.ID)
			inv := run.Next("P11.1-16", "S11.2-15")
			got := inv.Names()
			inv.Finish()
			run.Success("P11.1-16", "S11.2-15")
			for _, clause := range fields("P11.1-16 S11.2-15") {
				for child, body := range children {
					why := x.undisturbed(s, version, child, body)
					x.Clause(clause).Resting("R-22").Holds(why == "", "after a crash at any point the next run leaves each child with its manifest and the fork's body as its only snapshot, as a run does that nothing disturbs", "killed %s; then: %s", where, orNothingAtAll(why))
				}
				x.Clause(clause).Holds(len(without(ordinary, got)) == 0 && len(without(got, ordinary)) == 0, fmt.Sprintf("the next run invokes the handler with the ordinary entries %v", ordinary), "killed %s; then: %v", where, got)
			}
		}
		control := x.Session(wire.SessionSpec{})
		record, child := x.pendingFork("task")
		control.Commit(wire.Checkpoint, x.text("a"), record)
		x.rest(control.ID)
		if why := x.undisturbed(control, 1, child, record.Body); why != "" {
			x.Stop("a run that nothing disturbs does not make a child as it should be either: %s", why)
		}
		crashed := 0
		for n := 1; n <= 4; n++ {
			for _, after := range []bool{false, true} {
				s := x.Session(wire.SessionSpec{})
				one, first := x.pendingFork("one")
				two, second := x.pendingFork("two")
				s.Commit(wire.Checkpoint, x.text("a"), one, x.text("b"), two)
				writes := fakes3.Nth(n, fakes3.Or(At(x.pathOf(first), fakes3.OpPut), At(x.pathOf(second), fakes3.OpPut)))
				if !x.crash(s.ID, writes, after) {
					continue // fewer writes than that
				}
				crashed++
				judge(s, 1, map[wire.SessionID][]byte{first: one.Body, second: two.Body}, fields("a b"), fmt.Sprintf("at write %d below the children's paths (after its effect: %v)", n, after))
			}
		}
		if crashed == 0 {
			x.Stop("the runtime wrote nothing below the children's paths at which it could be killed")
		}
		s, one, two := x.shortLog(), x.NewID(), x.NewID()
		outs := []wire.OutputRecord{x.output("mine"), x.forkOutput("one", one), x.forkOutput("two", two)}
		if x.crash(s.ID, At(s.ID.SnapshotKey(2), fakes3.OpPut), true, outs...) && len(x.forkTargets(s.ID)) == 2 {
			judge(s, 2, map[wire.SessionID][]byte{one: outs[1].Data, two: outs[2].Data}, fields("seed mine"), "when the parent's snapshot had been stored")
		}
	})

var _ = scenario("S11.2", "two-runs-at-once", "two runs carry out the same two forks, and every write of one meets that of the other: both go on, and each child is made once",
	"P11.1-17 S11.2-16",
	func(x *Lab) {
		s := x.Session(wire.SessionSpec{})
		one, first := x.pendingFork("one")
		two, second := x.pendingFork("two")
		s.Commit(wire.Checkpoint, x.text("a"), one, two)
		meeting := x.rendezvous(fakes3.Or(At(x.pathOf(first), fakes3.OpPut), At(x.pathOf(second), fakes3.OpPut)))
		runs := []*Run{x.Run(s.ID), x.Run(s.ID)}
		var invoked []*Invocation
		why := ""
		for range runs {
			inv, w := x.awaitOf(runs...)
			if inv == nil {
				why = w
				break
			}
			invoked = append(invoked, inv)
		}
		met := meeting.Met()
		if len(met) == 0 {
			x.Stop("the writes of the two runs never met")
		}
		const goOn = "both runs go on to invoke their handlers"
		for _, clause := range fields("P11.1-17 S11.2-16") {
			x.Clause(clause).Holds(len(invoked) == 2, goOn, "%d of 2 did; writes met at %v; %s", len(invoked), met, orNothingAtAll(why))
		}
		for _, inv := range invoked {
			inv.Finish()
		}
		for _, run := range runs {
			exit := run.Wait("P11.1-17", "S11.2-16")
			for _, clause := range fields("P11.1-17 S11.2-16") {
				x.Clause(clause).Holds(exit.Success(), "neither run reports an error for the forks", "%s%s", exit.Exit, run.said())
			}
		}
		for child, body := range map[wire.SessionID][]byte{first: one.Body, second: two.Body} {
			why := x.undisturbed(s, 1, child, body)
			for _, clause := range fields("P11.1-17 S11.2-16") {
				x.Clause(clause).Holds(why == "", "each child has one manifest and one snapshot, the fork's body", "%s", orNothingAtAll(why))
			}
		}
	})

var _ = scenario("S11.2", "winner-dies", "two runs race for the child's manifest, and the winner is killed at once: the loser makes the child's snapshot 1",
	"P11.1-17 S11.2-16",
	func(x *Lab) {
		s := x.Session(wire.SessionSpec{})
		record, child := x.pendingFork("task")
		s.Commit(wire.Checkpoint, x.text("a"), record)
		gate := x.S3.Gate(At(child.ManifestKey(), fakes3.OpPut), 2)
		winner := x.Run(s.ID)
		winner.release() // one that makes no child comes to its end
		won, ok := x.held(gate, winner)
		x.Hub.Auto(nil)
		if !ok {
			x.Stop("the runtime wrote no manifest of the child (P11.1-4)")
		}
		loser := x.Run(s.ID)
		lost, ok := x.held(gate, loser)
		if !ok {
			x.Stop("the second run wrote no manifest of the child")
		}
		took := make(chan struct{})
		gate.Release(won, fakes3.LoseAs(503, "SlowDown").Then(closes(took)))
		x.Waiting(func() {
			select {
			case <-took:
			case <-winner.proc.Done():
			}
		})
		winner.Kill()
		gate.Release(lost, fakes3.Pass())
		inv := loser.Next("P11.1-17", "S11.2-16")
		inv.Finish()
		loser.Success("P11.1-17", "S11.2-16")
		why := x.undisturbed(s, 1, child, record.Body)
		for _, clause := range fields("P11.1-17 S11.2-16") {
			x.Clause(clause).Holds(why == "", "the run that lost the manifest to another, which then died, makes the child's snapshot 1", "%s", orNothingAtAll(why))
		}
	})
