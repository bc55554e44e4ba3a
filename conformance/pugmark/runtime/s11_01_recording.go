package runtime

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

var _ = scenario("S11.1", "records", "an entry, a fork to a chosen child, an entry, two forks without one: the next snapshot records each fork as what it is, in its place",
	"P11.1-1 S11-1 S11.1-2 S11.1-3",
	func(x *Lab) {
		s, child := x.plainLog(), x.NewID()
		chosen, free, remote := x.forkOutput("chosen", child), x.forkOutput("free", wire.SessionID{}), x.forkOutput("remote", wire.SessionID{})
		chosen.Data = append(chosen.Data, bytes.Repeat([]byte("0123456789abcdef"), 192)...)
		chosen.SchemaURL, chosen.ContentEncoding = "https://example.com/task?v=1", "x-none"
		chosen.Metadata = map[string]string{"Task": "1", "über": "grün"}
		body := remote.Data
		remote.Data, remote.URI = nil, x.remote("task", body)
		run := x.Run(s.ID)
		run.Next().Finish(x.output("A"), chosen, x.output("B"), free, remote)
		if !run.Wait().Success() {
			x.knowsForks("P11.1-1", "S11-1")
		}
		run.Success()
		x.legible()

		found, at := map[string]wire.Descriptor{}, map[string]uint32{}
		for _, v := range x.newVersions(s.ID) {
			snap, _ := x.Snapshot(s.ID, v)
			for _, d := range entries(snap) {
				found[d.Name], at[d.Name] = d, v
			}
		}
		if at["A"] == 0 || at["B"] == 0 {
			x.Stop("the entries beside the forks were not committed; committed: %s", commit{entries: x.appended(s.ID)}.list())
		}
		const demand = "the run's commit holds an entry for each fork Output, with fork true and the child in target-session"
		forks := fields("chosen free remote")
		targets := map[wire.SessionID]bool{}
		for _, name := range forks {
			d, ok := found[name]
			target, forked := d.ForkTarget()
			x.Clause("P11.1-1").Holds(ok && forked && d.Fork, demand, "%s: %s", name, orNothing(ok, d))
			if !ok {
				continue
			}
			x.Clause("S11-1").Holds(forked && d.Fork, "a fork Output leads to a descriptor with fork true and a target-session", "%s", d.Raw)
			x.Clause("S11.1-2").Holds(!targets[target], "two forks have two children", "%s and another fork record name the child %s", name, target)
			targets[target] = true
		}
		for _, name := range fields("A B") {
			_, cross := found[name].CrossTarget()
			x.Clause("P11.1-1").Holds(!found[name].IsFork() && !cross, "an ordinary entry beside forks has neither fork nor target-session", "%s", found[name].Raw)
		}
		if d, ok := found["chosen"]; ok {
			target, _ := d.ForkTarget()
			x.Clause("S11.1-2").Holds(target == child, "target-session is the child that the fork chose, "+child.String(), "%s", d.Raw)
			x.Clause("S11.1-2").Holds(d.Digest == wire.Digest(chosen.Data) && d.Size == int64(len(chosen.Data)), "digest and size are those of the fork's body", "%s", d.Raw)
			x.Clause("S11.1-2").Holds(d.ContentType == chosen.ContentType && d.ContentEncoding == chosen.ContentEncoding && d.SchemaURL == chosen.SchemaURL && maps.Equal(d.Metadata, chosen.Metadata),
				"content-type, content-encoding, schema-url and metadata are those of the fork", "%s", d.Raw)
		}
		if d, ok := found["remote"]; ok {
			x.Clause("S11.1-2").Expect(d.Digest).To(Equal(wire.Digest(body)), "a fork whose body is given by uri records the fetched body's digest")
		}
		versions := map[uint32]bool{}
		for _, name := range fields("A chosen B free remote") {
			if v, ok := at[name]; ok {
				versions[v] = true
			}
		}
		if len(found) < 5 {
			return
		}
		x.Clause("S11.1-3").Resting("R-32").Holds(len(versions) == 1 && versions[4], "the fork records lie in the parent's next snapshot, version 4, beside the run's other entries", "versions by name: %v", at)
		if len(versions) == 1 {
			x.Clause("S11.1-3").Resting("R-32").Expect(names(x.appended(s.ID))).To(Equal(fields("A chosen B free remote")), "fork records and entries keep the order in which they were emitted")
		}
	}, overBoth)

func orNothingAtAll(seen string) string {
	if seen == "" {
		return "nothing"
	}
	return seen
}

func orNothing(ok bool, d wire.Descriptor) string {
	if !ok {
		return "no descriptor"
	}
	return string(d.Raw)
}

var _ = scenario("S11.1", "only-forks-fork", "a record of a message to another session lies beside a fork record: only the fork makes a child",
	"S11-1",
	func(x *Lab) {
		other := x.Session(wire.SessionSpec{})
		before, _ := x.Get(other.ID.ManifestKey())
		fork, child := x.pendingFork("task")
		s := x.Session(wire.SessionSpec{})
		s.Commit(wire.Checkpoint, x.text("a"), wire.CrossEntry("message", x.Word("message"), other.ID), fork)
		x.rest(s.ID)
		x.childOf(child)
		now, _ := x.Get(other.ID.ManifestKey())
		x.Clause("S11-1").Holds(bytes.Equal(before.Body, now.Body), "a descriptor with a target-session and without fork makes no child: the other session's manifest stays", "%s", now.Body)
		for _, d := range x.deliveries(other.ID) {
			_, sent := d.Source()
			x.Clause("S11-1").Holds(sent, "a descriptor with a target-session and without fork makes no child: the other session gets nothing but the message", "%s: %s", listDeliveries([]delivery{d}), d.Raw)
		}
	})

var _ = scenario("S11.1", "body-first", "forks whose bodies come by data, short and long, and by uri, over a store that takes blobs slowly: each is stored before the parent's snapshot is sent",
	"P11.1-2 S11.1-1",
	func(x *Lab) {
		s := x.shortLog()
		short, long, remote := x.forkOutput("short", wire.SessionID{}), x.forkOutput("long", wire.SessionID{}), x.forkOutput("remote", wire.SessionID{})
		long.Data = append(long.Data, bytes.Repeat([]byte("0123456789abcdef"), 192)...)
		bodies := map[string][]byte{"short": short.Data, "long": long.Data, "remote": remote.Data}
		remote.URI, remote.Data = x.remote("task", remote.Data), nil
		x.slowDown(At("objects/", fakes3.OpPut, fakes3.OpCopy), lag)
		run := x.Run(s.ID)
		run.Next().Finish(x.output("beside"), short, long, remote)
		run.Success()
		x.legible()
		targets := x.forkTargets(s.ID)
		var snapshot fakes3.Request
		for _, r := range x.writesOf(s.ID) {
			if snapshot.N == 0 {
				snapshot = r
			}
		}
		if snapshot.N == 0 || len(targets) == 0 {
			x.Stop("no fork was recorded, so when its body is stored is not judged")
		}
		for name, body := range bodies {
			if _, ok := targets[name]; !ok {
				continue
			}
			key := "objects/" + wire.Digest(body)
			_, there := x.Get(key)
			before, first := x.storedBefore(key, snapshot)
			for _, clause := range fields("P11.1-2 S11.1-1") {
				x.Clause(clause).Holds(there && before, fmt.Sprintf("the body of the fork %s is stored at its key before the snapshot that records the fork is sent", name), "%s there after the run: %v; stored by: %s; the snapshot: %s", key, there, orNothingAtAll(first), snapshot.String())
			}
		}
	}, overBoth)

// Whether a child that follows the commit in the same process was made without an
// invocation of its parent cannot be told from a loop that goes straight on to it.
var _ = scenario("S11.1", "no-child-before-the-commit", "the parent's commit is held back, fails for good, or loses to a foreign checkpoint: no child comes before it, or without it",
	"P11.1-3 S11.1-4",
	func(x *Lab) {
		early := func(child wire.SessionID, commit fakes3.Request) string {
			for _, r := range x.Writes(x.pathOf(child)) {
				if commit.N == 0 || r.Arrived.Before(commit.Applied) {
					return r.String()
				}
			}
			return ""
		}
		judge := func(ok bool, demand, seen string) {
			for _, clause := range fields("P11.1-3 S11.1-4") {
				x.Clause(clause).Calldepth(1).Holds(ok, demand, "%s", seen)
			}
		}
		s, child := x.shortLog(), x.NewID()
		x.slowDown(At(s.ID.SnapshotsPrefix(), fakes3.OpPut), lag)
		run := x.Run(s.ID)
		run.Next().Finish(x.output("beside"), x.forkOutput("task", child))
		run.Success()
		x.rest(s.ID)
		x.childOf(child)
		var parents fakes3.Request
		for _, r := range x.writesOf(s.ID) {
			if parents.N == 0 {
				parents = r
			}
		}
		got := early(child, parents)
		judge(got == "", "nothing is written below the child's path before the parent's snapshot has been stored", "the parent's snapshot: "+parents.String()+"; before it: "+orNothingAtAll(got))

		failing, orphan := x.shortLog(), x.NewID()
		remove := x.S3.Intercept(At(failing.ID.SnapshotsPrefix(), fakes3.OpPut), func(context.Context, *fakes3.Request) fakes3.Decision {
			return fakes3.Fail(403, "AccessDenied") // which no client takes for a passing trouble
		})
		run = x.Run(failing.ID)
		run.Next().Finish(x.output("beside"), x.forkOutput("task", orphan))
		run.Wait()
		remove()
		if len(x.Writes(failing.ID.SnapshotsPrefix())) > 0 {
			got = early(orphan, fakes3.Request{})
			judge(got == "", "a commit that fails for good leaves no child", "written below the child's path: "+orNothingAtAll(got))
		}

		losing, lost := x.shortLog(), x.NewID()
		l := x.landAt(losing.ID.SnapshotKey(2), 1, func(int, *fakes3.Request) {
			x.store(losing.Build(wire.SnapshotSpec{Entries: []wire.Entry{x.text("foreign")}}))
		})
		run = x.Run(losing.ID)
		run.Next().Finish(x.output("beside"), x.forkOutput("task", lost))
		run.Wait()
		if l.Met() > 0 && x.refused(losing.ID.SnapshotKey(2)) > 0 && !slices.Contains(slices.Collect(maps.Values(x.forkTargets(losing.ID))), lost) {
			got = early(lost, fakes3.Request{})
			judge(got == "", "a commit that loses to a foreign checkpoint leaves no child", "written below the child's path: "+orNothingAtAll(got))
		}
	}, overBoth)
