package runtime

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/pugcheck/pugcheck/conformance/profile"
	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

var _ = scenario("S6.4", "own-commits", "runs with an entry, with nothing but a pause, with nothing but a fork, and with a merge: what the invocation commits is a checkpoint",
	"S6.4-1 S6.4-2",
	func(x *Lab) {
		fork := x.output("fork")
		fork.Fork = true
		for _, v := range []struct {
			what   string
			out    wire.OutputRecord
			merged bool
		}{
			{"an entry", x.output("entry"), false},
			{"a pause alone", pause("nothing to do"), false},
			{"a fork alone", fork, false},
			{"a merge above a pushed snapshot", x.output("merged"), true},
		} {
			s := x.shortLog()
			version, met := uint32(2), func() bool { return true }
			if v.merged {
				l := x.landAt(s.ID.SnapshotKey(2), 1, func(int, *fakes3.Request) {
					x.store(s.Build(wire.SnapshotSpec{Type: wire.Provisional, Entries: []wire.Entry{x.text("pushed")}}))
				})
				version, met = 3, func() bool { return l.Met() > 0 && x.refused(s.ID.SnapshotKey(2)) > 0 }
			}
			run := x.Run(s.ID)
			run.Next().Finish(v.out)
			run.Wait()
			snap, ok := x.Snapshot(s.ID, version)
			if !ok || !met() {
				x.Evidence("note", fmt.Sprintf("%s led to no version %d, so its type is not judged; versions: %v%s", v.what, version, x.Versions(s.ID), run.said()))
				continue
			}
			switch snap.Type {
			case wire.Checkpoint, wire.Provisional, wire.Queueing:
				x.Clause("S6.4-2").Resting("R-10").Holds(snap.Type == wire.Checkpoint, "what an invocation commits is a checkpoint ("+v.what+")", "version %d: %s %q", version, wire.MetaType, snap.Metadata[wire.MetaType])
			} // any other value: S6.4-1
		}
	}, overBoth)

var _ = scenario("S6.4", "pushed-types", "objects pushed by command, as provisional and as queueing, and a delivery: each snapshot has one of the three types",
	"S6.4-1",
	func(x *Lab) {
		dir, err := os.MkdirTemp("", "pugcheck-push-")
		x.Must(err)
		x.Cleanup(func() { _ = os.RemoveAll(dir) })
		file := filepath.Join(dir, "pushed.txt")
		x.Must(os.WriteFile(file, []byte(x.Word("pushed")), 0o600))
		s, writer := x.shortLog(), x.shortLog()
		for _, kind := range []string{"provisional", "queueing"} {
			push := x.Command(x.Config.Profile.Push, profile.Values{Session: s.ID.String(), Type: kind, Name: "pushed", ContentType: "text/plain", Files: []string{file}})
			if exit := push.Wait(); !exit.Success() {
				x.Stop("an object could not be pushed as %s (%s)%s", kind, exit.Exit, push.said())
			}
		}
		message := x.output("message")
		message.Session = s.ID.String()
		x.committed(writer, 2, []wire.OutputRecord{message})
	}, needing("push"))
