package runtime

import (
	"bytes"
	"context"
	"fmt"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/profile"
	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

// childToCome lays out a parent whose latest checkpoint asks for one child.
func (x *Lab) childToCome() (parent *wire.Session, child wire.SessionID, task string) {
	parent, child, task = x.plainLog(), x.NewID(), x.Word("task")
	parent.Commit(wire.Checkpoint, x.text("f"), wire.ForkEntry(task, child))
	return parent, child, task
}

// The handler emits nothing, so that no commit of the parent itself can conflict.
var _ = scenario("S5.1", "two-makers-of-a-child", "two runs on a parent with a pending fork, whose writes of the child's manifest are let go together: one makes it, the other leaves it as it is",
	"S5.1-2 S5.1-1",
	func(x *Lab) {
		parent, child, _ := x.childToCome()
		key := child.ManifestKey()
		race := x.race(key, 2)
		one, two := x.Run(parent.ID), x.Run(parent.ID)
		one.release()
		held := race.start(one, two)
		exits := []Exit{one.Wait(), two.Wait()}
		if held < 2 {
			x.Stop("%d of two runs wrote the child's manifest before it was there", held)
		}
		made, lost := []fakes3.Request{}, 0
		for _, w := range x.Writes(key) {
			switch {
			case w.Took == fakes3.Applied:
				made = append(made, w)
			case w.Status == 412:
				lost++
			}
		}
		if len(made) > 0 && made[0].IfNoneMatch != "*" {
			x.Stop("the manifest is written without a condition (S5.1-1), so there is no winner")
		}
		seen := fmt.Sprintf("%d writes took effect, %d were refused; %s and %s%s%s", len(made), lost, exits[0].Exit, exits[1].Exit, one.said(), two.said())
		x.Clause("S5.1-2").Holds(len(made) == 1 && lost > 0, "of two that create one session one wins, and the other is told so by the failed precondition", "%s", seen)
		if now, _ := x.Get(key); len(made) > 0 {
			x.Clause("S5.1-2").Holds(bytes.Equal(now.Body, made[0].Body), "the manifest is the winner's", "%q, the winner wrote %q", now.Body, made[0].Body)
		}
		x.Clause("S5.1-2").Holds(exits[0].Success() && exits[1].Success(), "both runs end without failure", "%s", seen)
	}, overBoth)

var _ = scenario("S5.1", "existing-child", "a pending fork whose child exists already, with metadata and numbers of its own: it is taken as it is",
	"S5.1-4 S5.1-5",
	func(x *Lab) {
		parent, child, task := x.childToCome()
		x.Session(wire.SessionSpec{ID: child, Metadata: map[string]string{"who": "first"}, FirstSequence: 500})
		was, _ := x.Get(child.ManifestKey())
		run := x.Run(parent.ID)
		run.Next("S5.1-4").Finish()
		exit := run.Wait("S5.1-4")
		x.Clause("S5.1-4").Holds(exit.Success(), "the run succeeds although the child exists", "%s%s", exit.Exit, run.said())
		for _, clause := range fields("S5.1-4 S5.1-5") {
			x.unchanged(x.Clause(clause), was, "the existing manifest stays as it is")
		}
		snap, ok := x.Snapshot(child, 1)
		if !x.Clause("S5.1-4").Holds(ok && x.bodyCommitted(child, 1, []byte(task)), "the child gets its snapshot 1", "keys of the child: %v", x.childKeys(child)) {
			return
		}
		if n := sequence(snap.Descriptors); n[0] != 500 && n[0] != parent.NextSequence() {
			x.Stop("the child's first descriptor has a number of no manifest, %d, which S7.3 judges", n[0])
		}
		x.Clause("S5.1-4").Expect(sequence(snap.Descriptors)[:1]).To(Equal([]int64{500}), "the child's first descriptor has the number 500 of the existing manifest, which so was read")
	}, overBoth)

var _ = scenario("S5.1", "create-twice", "a session created by command under an ID that exists: the command succeeds, and the manifest stays",
	"S5.1-4 S5.1-5",
	func(x *Lab) {
		id := x.NewID()
		run := x.Command(x.Config.Profile.Create, profile.Values{Session: id.String(), Agent: "first"})
		if exit := run.Wait(); !exit.Success() {
			x.Stop("no session could be created (%s)%s", exit.Exit, run.said())
		}
		was, ok := x.Get(id.ManifestKey())
		if !ok {
			x.Stop("the session that was created has no manifest at %s", id.ManifestKey())
		}
		run = x.Command(x.Config.Profile.Create, profile.Values{Session: id.String(), Agent: "second"})
		exit := run.Wait("S5.1-4")
		x.Clause("S5.1-4").Holds(exit.Success(), "creating a session that exists succeeds", "%s, printed %q%s", exit.Exit, run.Printed(), run.said())
		for _, clause := range fields("S5.1-4 S5.1-5") {
			x.unchanged(x.Clause(clause), was, "the existing manifest stays as it is")
		}
	}, needing("create"))

// Every way of failing that might tempt a runtime to change a manifest, or to clear
// it away.
var _ = scenario("S5.1", "manifests-stay", "a commit with a pause, a failed first commit of a child, a lost conflict, a name given to another session: every manifest stays as it was",
	"S5.1-5 S5.1-6 S9.2-4",
	func(x *Lab) {
		parent, child, _ := x.childToCome()
		rival, named, heir := x.plainLog(), x.Session(wire.SessionSpec{Name: "name"}), x.Session(wire.SessionSpec{})
		stays := func(what string, key string, was wire.Stored) {
			_, there := x.Get(key)
			for _, clause := range fields("S5.1-6 S9.2-4") {
				x.Clause(clause).Holds(there, "the manifest is still there ("+what+")", "%s there: %t", key, there)
			}
			if there {
				x.unchanged(x.Clause("S5.1-5"), was, "the manifest is as it was, with its headers and metadata (%s)", what)
			}
		}

		remove := x.S3.Intercept(At(child.SnapshotKey(1), fakes3.OpPut), func(context.Context, *fakes3.Request) fakes3.Decision {
			return fakes3.Fail(403, "AccessDenied")
		})
		run := x.Run(parent.ID)
		run.Wait()
		remove()
		if w := x.Writes(child.ManifestKey()); len(w) > 0 && w[0].Took == fakes3.Applied && len(x.Writes(child.SnapshotKey(1))) > 0 {
			stays("the child's first commit failed", child.ManifestKey(), x.asSent(w[0]))
		}

		was, _ := x.Get(rival.ID.ManifestKey())
		l := x.landAt(rival.ID.SnapshotKey(4), 1, func(int, *fakes3.Request) {
			x.store(rival.Build(wire.SnapshotSpec{Entries: []wire.Entry{x.text("foreign")}}))
		})
		run = x.Run(rival.ID)
		run.Next().Finish(x.output("lost"))
		run.Wait()
		if l.Met() > 0 {
			stays("a conflict was lost", rival.ID.ManifestKey(), was)
		}

		was, _ = x.Get(named.ID.ManifestKey())
		run = x.Run(named.ID)
		run.Next().Finish(x.output("entry"), pause("enough"))
		run.Success()
		stays("the run committed and paused", named.ID.ManifestKey(), was)
		x.Bucket.Ref("sessions/name", heir.ID.ManifestKey())
		run = x.Run(named.ID)
		run.Wait()
		stays("its name was given to another session", named.ID.ManifestKey(), was)
	}, overBoth)

// asSent is the object that a write carried, with what is told apart of its headers.
func (x *Lab) asSent(r fakes3.Request) wire.Stored {
	o, _ := x.Get(Key(r))
	o.Body = r.Body
	o.ContentType, o.CacheControl, o.ContentEncoding = r.Header.Get("Content-Type"), r.Header.Get("Cache-Control"), encodingOf(r)
	return o
}
