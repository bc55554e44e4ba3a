package runtime

import (
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

// obstacle lands foreign snapshots of the given types, from version 4 on of a plain
// log, while the first write of the session's next version is on its way.
func (x *Lab) obstacle(s *wire.Session, types ...wire.SnapshotType) (l *Landing, last uint32) {
	l = x.landAt(s.ID.SnapshotsPrefix(), 1, func(int, *fakes3.Request) {
		for i, t := range types {
			s.Commit(t, x.text(fmt.Sprint("foreign-", i+1)))
		}
	})
	return l, uint32(3 + len(types))
}

func spelled(types []wire.SnapshotType) string {
	var out []string
	for i, t := range types {
		out = append(out, fmt.Sprintf("%s at V+%d", t, i+1))
	}
	return strings.Join(out, ", ")
}

var _ = scenario("S13.3", "checkpoint-meets-others", "a checkpoint on its way meets a provisional snapshot, a queueing one, three in a row: it reads them and is committed above them",
	"S13.3-4",
	func(x *Lab) {
		for _, types := range [][]wire.SnapshotType{{wire.Provisional}, {wire.Queueing}, {wire.Provisional, wire.Queueing, wire.Provisional}} {
			s, out := x.plainLog(), x.output("mine")
			l, last := x.obstacle(s, types...)
			run := x.Run(s.ID)
			run.Next().Finish(out)
			exit := run.Wait("S13.3-4")
			if l.Met() == 0 || x.refused(s.ID.SnapshotKey(4)) == 0 {
				x.Stop("no commit of the runtime met the foreign snapshot")
			}
			what := " (" + spelled(types) + ")"
			check := x.Clause("S13.3-4").Resting("R-11", "R-20")
			at := []uint32{}
			for _, v := range x.Versions(s.ID) {
				if x.bodyCommitted(s.ID, v, out.Data) {
					at = append(at, v)
				}
			}
			check.Expect(at).To(Equal([]uint32{last + 1}), "what the run made is committed once, at the first free version, %d"+what, last+1)
			check.Holds(exit.Success(), "the run succeeds"+what, "%s%s", exit.Exit, run.said())
			if !slices.Equal(at, []uint32{last + 1}) {
				continue
			}
			for v := uint32(4); v <= last; v++ {
				read := slices.ContainsFunc(x.S3.Requests(), func(r fakes3.Request) bool {
					return r.Op == fakes3.OpGet && r.Status == 200 && Key(r) == s.ID.SnapshotKey(v)
				})
				check.Holds(read, fmt.Sprintf("the snapshot in the way at version %d is read%s", v, what), "GET of %s seen: %t", s.ID.SnapshotKey(v), read)
			}
		}
	}, overBoth)

var _ = scenario("S13.3", "checkpoint-meets-checkpoint", "a checkpoint on its way meets a foreign checkpoint, at once or behind a provisional snapshot: it loses, and nothing of it is committed",
	"S13.3-3",
	func(x *Lab) {
		for _, behind := range []bool{false, true} {
			s, target := x.plainLog(), x.plainLog()
			what := "a foreign checkpoint at V+1"
			if behind {
				what = "a provisional snapshot at V+1 and a foreign checkpoint at V+2"
			}
			before := len(x.invocations())
			x.meetsForeign("S13.3-3", s, target, what, func(*fakes3.Request) wire.Stored {
				if behind {
					s.Commit(wire.Provisional, x.text("pushed"))
				}
				file, blobs, err := s.Build(wire.SnapshotSpec{Entries: []wire.Entry{x.text("foreign")}})
				x.Must(err)
				for _, b := range blobs {
					x.Must(x.Put(b))
				}
				return file
			})
			run := x.runs[len(x.runs)-1]
			again := len(x.invocations()) > before+1
			said := strings.TrimSpace(run.proc.Stderr().String()) != "" || !run.proc.Exit().Success()
			x.Clause("S13.3-3").Assuming("R-11").Holds(again || said, "the lost conflict is reported, by a message or the exit status, or the handler is invoked anew ("+what+")", "%s, nothing on stderr, no further invocation", run.proc.Exit())
		}
	}, overBoth)

var _ = scenario("S13.3", "two-runs", "two runs of one session whose commits are let go together: one of them stands, and of the other nothing",
	"S13.3-2",
	func(x *Lab) {
		s := x.plainLog()
		key := s.ID.SnapshotKey(4)
		race := x.race(key, 2)
		one, two := x.Run(s.ID), x.Run(s.ID)
		bodies := [][]wire.OutputRecord{{x.output("a1"), x.output("a2")}, {x.output("b1"), x.output("b2")}}
		for i, run := range []*Run{one, two} {
			run.Next().Finish(bodies[i]...)
		}
		if held := race.start(one, two); held < 2 {
			x.Stop("%d of two runs were about to commit version 4", held)
		}
		x.settle("S13.3-2")
		snap, ok := x.Snapshot(s.ID, 4)
		if !ok {
			x.Clause("S13.3-2").Holds(false, "one of the two commits stands", "versions: %v", x.Versions(s.ID))
			return
		}
		winner := -1
		for i, outs := range bodies {
			if slices.Equal(names(entries(snap)), []string{outs[0].Name, outs[1].Name}) {
				winner = i
			}
		}
		if !x.Clause("S13.3-2").Holds(winner >= 0, "version 4 is what one of the two made, whole", "it holds %q", names(entries(snap))) {
			return
		}
		for _, v := range x.Versions(s.ID) {
			for _, o := range bodies[1-winner] {
				x.Clause("S13.3-2").Resting("R-11").Holds(!x.bodyCommitted(s.ID, v, o.Data), "nothing of the loser's is in any snapshot", "%s is in version %d", o.Name, v)
			}
		}
		applied := 0
		for _, w := range x.Writes(key) {
			if w.Took == fakes3.Applied {
				applied++
			}
		}
		x.Clause("S13.3-2").Holds(applied == 1, "one write at version 4 takes effect", "%d did", applied)
	}, overBoth)

var _ = scenario("S13.3", "merged-whole", "entries, a fork and a message, and an entry with a pause, whose commits meet foreign snapshots: all of it is there, in order, and the others' once",
	"S13.3-5 S13.3-6",
	func(x *Lab) {
		s, target := x.plainLog(), x.plainLog()
		fork, message := x.output("fork"), x.output("message")
		fork.Fork, message.Session = true, target.ID.String()
		outs := x.welcome(x.output("one"), fork, x.output("two"), message, x.output("three"))
		outs[0].Metadata = map[string]string{"k": "v"}
		want := []string{}
		for _, o := range outs {
			want = append(want, o.Name)
		}
		l := x.landAt(s.ID.SnapshotKey(4), 1, func(int, *fakes3.Request) {
			s.Commit(wire.Provisional, x.text("p1"), x.text("p2"))
			s.Commit(wire.Queueing, x.text("p3"))
		})
		foreign := fields("p1 p2 p3")
		run := x.Run(s.ID)
		run.Next().Finish(outs...)
		run.Wait()
		if l.Met() == 0 || x.refused(s.ID.SnapshotKey(4)) == 0 {
			x.Stop("no commit of the runtime met the foreign snapshots")
		}
		snap, ok := x.Snapshot(s.ID, 6)
		if !ok {
			x.Stop("nothing is committed above the foreign snapshots (S13.3-4)")
		}
		own := slices.DeleteFunc(entries(snap), func(d wire.Descriptor) bool { return slices.Contains(foreign, d.Name) })
		check := x.Clause("S13.3-5").Resting("R-20")
		missing := without(want, names(own))
		if len(missing) > 0 || !slices.Equal(slices.Sorted(slices.Values(names(own))), slices.Sorted(slices.Values(want))) {
			check.Holds(false, "the merged checkpoint holds all that its writer meant to commit, and nothing twice", "it lacks %v; it holds %q", missing, names(snap.Descriptors))
		} else if check.Expect(names(own)).To(Equal(want), "the merged checkpoint holds its writer's descriptors in their order") {
			for i, d := range own {
				check.Holds(d.Digest == wire.Digest(outs[i].Data) && mapsEqual(d.Metadata, outs[i].Metadata) && d.IsFork() == outs[i].Fork && (strings.Trim(d.TargetSession, "0") != "") == (outs[i].Fork || outs[i].Session != ""),
					"each of them is what its Output said", "%s", d.Raw)
			}
		}

		paused := x.plainLog()
		l, last := x.obstacle(paused, wire.Provisional)
		run = x.Run(paused.ID)
		run.Next().Finish(x.output("entry"), pause("enough"))
		run.Wait()
		if l.Met() > 0 && len(x.newVersions(paused.ID)) > 0 && slices.Max(x.Versions(paused.ID)) > last {
			check.Holds(x.stops(paused.ID) > 0, "the merged checkpoint of a handler that paused holds its control message", "control messages that say stopped: %d; versions: %v", x.stops(paused.ID), x.Versions(paused.ID))
		}

		run = x.Run(s.ID)
		inv := run.Next()
		got := inv.Names()
		lost := without(append(fields("one two three message"), foreign...), got)
		inv.Finish()
		run.Wait()
		if !x.Clause("S13.3-5").Holds(len(without(lost, foreign)) == 0, "the next invocation sees each of the session's entries", "it lacks %v; replayed: %q", lost, got) || len(lost) > 0 {
			return
		}
		x.Clause("S13.3-6").Assuming("R-20").Expect(names(snap.Descriptors)).NotTo(ContainElements("p1"), "the merged checkpoint does not repeat what the snapshots below it hold")
		mine := slices.DeleteFunc(slices.Clone(got), func(n string) bool { return n == "fork" })
		x.Clause("S13.3-6").Assuming("R-20").Expect(mine).To(Equal(fields("a b c d e p1 p2 p3 one two message three")), "every entry once: those before, those of the snapshots in the way, those of the merged checkpoint")
	}, overBoth)

var _ = scenario("S13.3", "no-gaps", "commits, a failed handler, a merge above one foreign snapshot and above three: the versions go on without a gap",
	"S13.3-1",
	func(x *Lab) {
		s := x.plainLog()
		last := uint32(3)
		contiguous := func(what string) {
			for i, v := range x.Versions(s.ID) {
				if v != uint32(i+1) {
					x.Clause("S13.3-1").Holds(false, "versions are consecutive from 1 ("+what+")", "%v", x.Versions(s.ID))
					x.Stop("the versions have a gap")
				}
			}
			x.Clause("S13.3-1").Holds(true, "versions are consecutive from 1 ("+what+")", "%v", x.Versions(s.ID))
		}
		turn := func(what string, foreign int) {
			x.landAt(s.ID.SnapshotKey(last+1), 1, func(int, *fakes3.Request) {
				for i := range foreign {
					x.store(s.Build(wire.SnapshotSpec{Version: last + 1 + uint32(i), Type: wire.Provisional, Entries: []wire.Entry{x.later(s, "pushed")}}))
				}
			})
			run := x.Run(s.ID)
			run.Next().Finish(x.output("entry"))
			run.Wait()
			if now := x.Versions(s.ID); len(now) <= int(last)+foreign {
				x.Stop("the run did not commit (%s); versions: %v", what, now)
			}
			contiguous(what)
			last = slices.Max(x.Versions(s.ID))
		}
		turn("a plain commit", 0)
		run := x.Run(s.ID)
		inv := run.Next()
		inv.Emit(x.output("discarded"))
		_ = inv.Exit(3)
		run.Wait()
		turn("after a failed handler", 0)
		turn("above one foreign snapshot", 1)
		turn("above three foreign snapshots", 3)
	})

var _ = scenario("S13.3", "many-between-checkpoints", "1,100 provisional and queueing snapshots between two checkpoints: the run replays them all",
	"S13.3-7",
	func(x *Lab) {
		s := x.Session(wire.SessionSpec{})
		s.Commit(wire.Checkpoint, x.text("first"))
		want := []string{"first"}
		for i := range 1100 {
			name := fmt.Sprint("p", i)
			s.Commit([]wire.SnapshotType{wire.Provisional, wire.Queueing}[i%2], wire.Text(name, fmt.Sprintf("body %d of %s", i, s.ID)))
			want = append(want, name)
		}
		s.Commit(wire.Checkpoint, x.text("last"))
		want = append(want, "last")
		run := x.Run(s.ID)
		inv := run.Next("S13.3-7")
		missing := without(want, inv.Names())
		x.Clause("S13.3-7").Holds(len(missing) == 0, "all 1,102 entries are replayed", "%d are; missing: %v…", len(inv.Names()), missing[:min(5, len(missing))])
		inv.Finish()
		run.Wait()
	})
