package runtime

import (
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

// snapshotLists are the subject's LIST requests that can show snapshots of the
// session, in order, up to the moment when it must know the latest version: its
// first GET of a snapshot.
func (x *Lab) snapshotLists(s *wire.Session) []fakes3.Request {
	prefix := bucketRoot + s.ID.SnapshotsPrefix()
	var out []fakes3.Request
	for _, r := range x.S3.Requests() {
		switch {
		case r.Op == fakes3.OpGet && strings.HasPrefix(r.Key, prefix):
			return out
		case r.Op == fakes3.OpList && (strings.HasPrefix(r.ListPrefix, prefix) || strings.HasPrefix(prefix, r.ListPrefix)):
			out = append(out, r)
		}
	}
	return out
}

func listing(rs []fakes3.Request) string {
	if len(rs) == 0 {
		return "no LIST that covers the session's snapshots"
	}
	var b strings.Builder
	for _, r := range rs {
		max := "without max-keys"
		if r.MaxKeys >= 0 {
			max = fmt.Sprintf("max-keys=%d", r.MaxKeys)
		}
		fmt.Fprintf(&b, "LIST prefix=%s %s; ", r.ListPrefix, max)
	}
	return strings.TrimSuffix(b.String(), "; ")
}

var _ = scenario("S6.3", "one-key-listing", "how the runtime finds the latest of three snapshots",
	"S6.3-1",
	func(x *Lab) {
		s := x.plainLog()
		run := x.Run(s.ID)
		inv := run.Next("S6.3-1")
		lists := x.snapshotLists(s)
		seen := listing(lists)
		const acceptable = "LIST of the session's snapshots/ prefix with max-keys=1 before the first snapshot is read"
		found, short := false, true
		for _, r := range lists {
			prefix := bucketRoot + s.ID.SnapshotsPrefix()
			found = found || r.MaxKeys == 1 && (r.ListPrefix == prefix || r.ListPrefix == strings.TrimSuffix(prefix, "/"))
			short = short && r.MaxKeys > 0 && r.MaxKeys <= 100
		}
		check := x.Clause("S6.3-1")
		if short {
			check = check.Warning() // some other way that never lists the whole set of a longer session
		}
		check.Holds(found, acceptable, "%s", seen)
		inv.Finish()
		run.Wait()
	})

var _ = scenario("S6.3", "decoded-version", "sessions at versions 1, 16, 17, 256 and 257: what follows is built on just that version",
	"S6.3-2 S6.1-5",
	func(x *Lab) {
		for _, v := range []int{1, 16, 17, 256, 257} {
			s := x.Session(wire.SessionSpec{})
			for i := 1; i <= v; i++ {
				s.Commit(wire.Checkpoint, wire.Text(fmt.Sprintf("entry-%d", i), fmt.Sprintf("body %d of %s", i, s.ID)))
			}
			x.reupload(s)
			run := x.Run(s.ID)
			inv := run.Next("S6.3-2")
			names := inv.Names()
			found := slices.Contains(names, fmt.Sprintf("entry-%d", v))
			for _, r := range x.S3.Requests() {
				found = found || r.Op == fakes3.OpGet && Key(r) == s.ID.SnapshotKey(uint32(v)) // whatever is then replayed
			}
			x.Clause("S6.1-5").Holds(found, fmt.Sprintf("the snapshot of version %d, whose name sorts first, is read, and its entry replayed", v), "%d entries are replayed; the newest: %s", len(names), newest(names))
			out := x.output("next")
			inv.Finish(out)
			run.Success()
			x.Clause("S6.3-2").Holds(x.bodyCommitted(s.ID, uint32(v+1), out.Data), fmt.Sprintf("the output is committed as version %d", v+1),
				"the session's new keys: %v", x.New(s.ID.SnapshotsPrefix()))
		}
	})

// newest is the highest-numbered of names like entry-7.
func newest(names []string) string {
	most, found := -1, "none"
	for _, name := range names {
		var n int
		if _, err := fmt.Sscanf(name, "entry-%d", &n); err == nil && n > most {
			most, found = n, name
		}
	}
	return found
}

// reupload stores the snapshots of a session once more in an order drawn from
// the scenario's seed, so that times of modification say nothing.
func (x *Lab) reupload(s *wire.Session) {
	keys := x.Keys(s.ID.SnapshotsPrefix())
	x.Rand.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	for _, k := range keys {
		o, _ := x.Get(k)
		x.Must(x.Put(o))
	}
}

var _ = scenario("S6.3", "manifest-only", "a session with a manifest and no snapshot: it exists, at version 0",
	"S6.3-3 S4.3-3 S6.1-1",
	func(x *Lab) {
		s := x.Session(wire.SessionSpec{})
		run := x.Run(s.ID)
		inv := run.Next("S6.3-3", "S4.3-3")
		asked := ""
		for _, r := range x.S3.Requests() {
			if (r.Op == fakes3.OpHead || r.Op == fakes3.OpGet) && Key(r) == s.ID.ManifestKey() {
				asked = r.Method
			}
		}
		x.Clause("S6.3-3").Holds(asked != "", "HEAD or GET of the session's manifest.json before the handler starts", "HEAD or GET of the manifest: %q", asked)
		x.Clause("S4.3-3").Expect(inv.Names()).To(BeEmpty(), "no log record is replayed")
		out := x.output("first")
		inv.Finish(out)
		run.Success()
		for _, key := range x.New(s.ID.SnapshotsPrefix()) {
			// One that says itself that it is version 1 has a wrong name: S6.1-4.
			if o, _ := x.Get(key); key != s.ID.SnapshotKey(1) && o.Metadata[wire.MetaVersion] != "1" {
				x.Clause("S6.1-1").Holds(false, "a session's first version is 1", "%s, which says that it is version %q", key, o.Metadata[wire.MetaVersion])
			}
		}
		for _, id := range []string{"S6.3-3", "S4.3-3", "S6.1-1"} {
			x.Clause(id).Holds(x.bodyCommitted(s.ID, 1, out.Data), "the first commit is version 1, "+s.ID.SnapshotKey(1), "new snapshots: %v", x.New(s.ID.SnapshotsPrefix()))
		}
		for v := uint32(2); v <= 3; v++ {
			out := x.output(fmt.Sprint("commit ", v))
			run := x.Run(s.ID)
			run.Next().Finish(out)
			run.Success()
			x.Clause("S6.1-1").Holds(x.bodyCommitted(s.ID, v, out.Data), fmt.Sprintf("the next commit is version %d", v), "snapshots: %v", x.Versions(s.ID))
		}
	}, overBoth)

var _ = scenario("S6.3", "no-such-session", "neither manifest nor snapshots: the run fails, nothing is invoked or created",
	"S6.3-4",
	func(x *Lab) {
		control := x.Session(wire.SessionSpec{})
		run := x.Run(control.ID)
		run.Next().Finish() // the same command line succeeds where there is a manifest
		run.Success()

		x.refusesMissing("S6.3-4", x.NewID())
	}, overBoth)

// refusesMissing judges that a run on a session that does not exist fails,
// invokes nothing and creates nothing.
func (x *Lab) refusesMissing(clause string, missing wire.SessionID) {
	before := len(x.invocations())
	run := x.Run(missing)
	exit := run.Wait(clause)
	a := x.Clause(clause).Calldepth(1)
	if started := len(x.invocations()) - before; started > 0 {
		a.Holds(false, "the handler is not invoked for a session that does not exist", "%d invocations", started)
	}
	a.Holds(!exit.Success(), "a run of a session that does not exist ends with a non-zero exit status", "%s", exit.Exit)
	path, err := missing.Path()
	x.Must(err)
	a.Expect(x.Keys(path)).To(BeEmpty(), "no key is created for it")
	if !exit.Success() && !strings.Contains(strings.ToLower(exit.Stderr), missing.String()[8:]) {
		x.Evidence("note", "the error message does not name the session "+missing.String()+": "+exit.Stderr)
	}
}

var _ = scenario("S6.3", "checkpoint-below-pushes", "a pending fork in checkpoint 3, provisional and queueing snapshots above it: the walk finds it, near and 1,200 snapshots away",
	"S6.3-5",
	func(x *Lab) {
		for _, above := range []int{1, 1200} {
			s := x.Session(wire.SessionSpec{})
			s.Commit(wire.Checkpoint, x.text("a"))
			s.Commit(wire.Checkpoint, x.text("b"))
			child := x.NewID()
			task := x.Word("task")
			s.Commit(wire.Checkpoint, wire.ForkEntry(task, child), x.text("c"))
			for i := 0; i < above; i++ {
				s.Commit(wire.Provisional, wire.Text(fmt.Sprintf("push-%d", i), fmt.Sprintf("push %d of %s", i, s.ID)))
			}
			s.Commit(wire.Queueing, x.text("queued"))
			run := x.Run(s.ID)
			inv := run.Next("S6.3-5")
			x.Clause("S6.3-5").Resting("R-21").Holds(x.bodyCommitted(child, 1, []byte(task)),
				"the child of the fork in the latest checkpoint has its snapshot 1 before the parent's handler is invoked",
				"%d provisional and one queueing snapshot lie above the checkpoint; keys of the child: %v", above, x.childKeys(child))
			inv.Finish()
			run.Wait()
		}
	})

func (x *Lab) childKeys(id wire.SessionID) []string {
	path, err := id.Path()
	x.Must(err)
	return x.Keys(path)
}

// The catalogue's twin "without a manifest" is S6.3-4: a session that has nothing
// at all. Snapshots without a manifest are outside the layout (S1-11), and what a
// runtime does with them is nowhere said.
var _ = scenario("S6.3", "no-checkpoint", "two provisional snapshots and no checkpoint: a valid session",
	"S6.3-6",
	func(x *Lab) {
		s := x.Session(wire.SessionSpec{})
		s.Commit(wire.Provisional, x.text("a"))
		s.Commit(wire.Provisional, x.text("b"))
		run := x.Run(s.ID)
		inv := run.Next("S6.3-6")
		x.Clause("S6.3-6").Expect(inv.Names()).To(ConsistOf(fields("a b")), "the handler gets the entries of both provisional snapshots")
		out := x.output("c")
		inv.Finish(out)
		run.Success()
		x.Clause("S6.3-6").Holds(x.bodyCommitted(s.ID, 3, out.Data), "the output is committed as version 3", "versions: %v", x.Versions(s.ID))
	}, overBoth)
