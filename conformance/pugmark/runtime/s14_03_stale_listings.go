package runtime

import (
	"context"
	"fmt"
	"strings"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

// behind has listings lag: they do not show a key until a write has met what lies
// there.
func (x *Lab) behind(key string) {
	x.Cleanup(x.S3.Intercept(func(r *fakes3.Request) bool {
		return r.Op == fakes3.OpList && strings.HasPrefix(bucketRoot+key, r.ListPrefix)
	}, func(context.Context, *fakes3.Request) fakes3.Decision {
		if x.refused(key) > 0 {
			return fakes3.Pass()
		}
		return fakes3.Hide(func(listed string) bool { return listed == bucketRoot+key })
	}))
}

var _ = scenario("S14.3", "stale-listing", "the latest snapshot is not listed yet, a pushed one, a checkpoint, or one of a message's target: the write meets it and is settled against the new latest version",
	"S14.3-1",
	func(x *Lab) {
		for _, kind := range []wire.SnapshotType{wire.Provisional, wire.Queueing, wire.Checkpoint} {
			s := x.plainLog()
			key := s.ID.SnapshotKey(4)
			s.Commit(kind, x.text("unlisted"))
			there, _ := x.Get(key)
			x.behind(key)
			run := x.Run(s.ID)
			out := x.output("mine")
			run.Next().Finish(out)
			exit := run.Wait("S14.3-1")
			if x.refused(key) == 0 {
				x.Stop("no write met the snapshot that was not listed (%s)", kind)
			}
			now, _ := x.Get(key)
			what := fmt.Sprintf("a %s snapshot that was not listed", kind)
			check := x.Clause("S14.3-1").Resting("R-11", "F-18")
			check.Holds(string(now.Body) == string(there.Body), what+" stays as it is", "%d bytes, were %d", len(now.Body), len(there.Body))
			if kind == wire.Checkpoint {
				n := x.occurrences(s.ID, out.Data)
				check.Holds(n == 0 && exit.Signal == 0, "against "+what+" the run loses, or invokes its handler anew: what the handler said on the stale state is not committed", "%d times; versions: %v; %s%s", n, x.Versions(s.ID), exit.Exit, run.said())
				continue
			}
			check.Holds(x.bodyCommitted(s.ID, 5, out.Data) && exit.Success(), "against "+what+" the run commits at the next version", "versions: %v; %s%s", x.Versions(s.ID), exit.Exit, run.said())
		}
		s, target := x.shortLog(), x.shortLog()
		key := target.ID.SnapshotKey(2)
		target.Commit(wire.Checkpoint, x.text("unlisted"))
		x.behind(key)
		run := x.Run(s.ID)
		out := x.message("message", target.ID)
		run.Next().Finish(out)
		exit := run.Wait("S14.3-1")
		if x.refused(key) == 0 {
			x.Stop("no delivery met the snapshot that was not listed")
		}
		x.Clause("S14.3-1").Resting("R-11", "F-1").Holds(exit.Success(), "a sender that saw a stale listing of its target ends well", "%s%s", exit.Exit, run.said())
		x.Clause("S14.3-1").Assuming("F-1").Holds(x.bodyCommitted(target.ID, 3, out.Data), "its message is delivered at the target's next version", "versions of the target: %v", x.Versions(target.ID))
	}, overBoth)
