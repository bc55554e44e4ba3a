package runtime

import (
	"fmt"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

// otherConditions are the subject's requests below sessions/ and memories/ that
// rely on another primitive than the conditional create: a write that holds only
// for a known state, a lock on the object.
func (x *Lab) otherConditions() []string {
	var out []string
	for _, r := range x.S3.Requests() {
		key := Key(r)
		if !strings.HasPrefix(key, "sessions/") && !strings.HasPrefix(key, "memories/") {
			continue
		}
		_, hold := r.Query["legal-hold"]
		_, retention := r.Query["retention"]
		locked := hold || retention || r.Header.Get("X-Amz-Object-Lock-Mode") != "" || r.Header.Get("X-Amz-Object-Lock-Legal-Hold") != ""
		writes := creates(r.Op) || r.Op == fakes3.OpCompleteUpload
		if locked || writes && (r.IfMatch != "" || r.IfNoneMatch != "" && r.IfNoneMatch != "*") {
			out = append(out, fmt.Sprintf("%s If-Match:%q", r.String(), r.IfMatch))
		}
	}
	return out
}

const oneCondition = "writes below sessions/ and memories/ carry no condition but If-None-Match: *, and nothing is locked"

// That each such write carries the condition is for S5.1-1, S6.2-8 and S8.2-11 to
// judge; here it is that there is no other.
var _ = everyBucket("S13.1-1", func(x *Lab) {
	if others := x.otherConditions(); len(others) > 0 {
		x.Clause("S13.1-1").Holds(false, oneCondition, "%s", strings.Join(others[:min(4, len(others))], "; "))
	}
})

var _ = scenario("S13.1", "one-primitive", "a child's manifest, snapshots, memory over a file that is there, conflicts on both: by which conditions they are written",
	"S13.1-1",
	func(x *Lab) {
		t := x.newTour()
		x.Bucket.Memory(t.namespace, wire.MemoryEntry{Entry: x.text("seed"), Session: t.s.ID, Version: 1})
		x.landAt(t.s.ID.SnapshotKey(2), 1, func(int, *fakes3.Request) { t.s.Commit(wire.Provisional, x.text("pushed")) })
		x.landAt("memories/"+t.namespace+"/", 1, func(int, *fakes3.Request) {
			x.Bucket.Memory(t.namespace, wire.MemoryEntry{Entry: x.text("foreign"), Session: t.s.ID, Version: 1})
		})
		t.make(x, func(id wire.SessionID) *Run { return x.Run(id) })
		missing := []string{}
		for what, prefix := range map[string]string{"manifest": t.child.ManifestKey(), "snapshot": t.s.ID.SnapshotsPrefix(), "memory file": "memories/"} {
			if !slices.ContainsFunc(x.Writes(prefix), func(r fakes3.Request) bool { return r.Took == fakes3.Applied && r.IfNoneMatch == "*" }) {
				missing = append(missing, what)
			}
		}
		slices.Sort(missing)
		switch {
		case len(missing) > 0:
			x.Clause("S13.1-1").NotExercised("not created by If-None-Match: *: %v", missing)
		case len(x.otherConditions()) == 0: // a violation is described by the rule above
			x.Clause("S13.1-1").Holds(true, oneCondition, "manifest, snapshots and memory files were created so")
		}
	}, overBoth)

var _ = scenario("S13.1", "together-or-not", "fifty Outputs with a rest after the first half, a handler that fails half-way, and a runtime that is killed with its commit on the way: all of them in one snapshot, or none",
	"S13.1-3",
	func(x *Lab) {
		outs, want := []wire.OutputRecord{}, []string{}
		for i := range 50 {
			o := x.output(fmt.Sprint("o", i))
			outs, want = append(outs, o), append(want, o.Name)
		}
		whole := x.shortLog()
		run := x.Run(whole.ID)
		inv := run.Next()
		inv.Emit(outs[:25]...)
		x.pause(time.Second) // long enough for whoever writes out what has come so far
		early := len(x.Writes(whole.ID.SnapshotsPrefix()))
		inv.Finish(outs[25:]...)
		exit := run.Wait("S13.1-3")
		x.Clause("S13.1-3").Holds(early == 0, "no snapshot is written before the handler's output has ended", "%d writes after the first 25 Outputs", early)
		holding := []string{}
		for _, v := range x.newVersions(whole.ID) {
			snap, _ := x.Snapshot(whole.ID, v)
			if there := slices.DeleteFunc(names(entries(snap)), func(n string) bool { return !slices.Contains(want, n) }); len(there) > 0 {
				holding = append(holding, fmt.Sprintf("%d in version %d", len(there), v))
			}
		}
		if len(holding) == 0 {
			x.Stop("nothing was committed (%s)%s", exit.Exit, run.said())
		}
		x.Clause("S13.1-3").Expect(holding).To(Equal([]string{"50 in version 2"}), "all fifty Outputs are in one snapshot, the next version")

		failed := x.shortLog()
		run = x.Run(failed.ID)
		inv = run.Next()
		inv.Emit(outs[:25]...)
		_ = inv.Exit(3)
		run.Wait()
		x.Clause("S13.1-3").Expect(x.newVersions(failed.ID)).To(BeEmpty(), "no snapshot of a handler that failed after 25 Outputs")

		killed := x.shortLog()
		gate := x.S3.Gate(At(killed.ID.SnapshotsPrefix(), fakes3.OpPut), 1)
		run = x.Run(killed.ID)
		run.Next().Finish(outs[:25]...)
		if x.killAt(run, gate, false) {
			x.Clause("S13.1-3").Expect(x.newVersions(killed.ID)).To(BeEmpty(), "no snapshot of a run that was killed before its one write took effect")
		}
	}, lasts(time.Second), overBoth)
