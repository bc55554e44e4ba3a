package runtime

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

var _ = scenario("S13.6", "three-writes", "a fork and the run after it: the parent's snapshot, the child's manifest and its snapshot 1 are written one after the other, each by its own condition",
	"S13.6-1",
	func(x *Lab) {
		s, child := x.shortLog(), x.NewID()
		run := x.Run(s.ID)
		run.Next().Finish(x.forkOutput("fork", child), x.output("entry"))
		run.Success()
		if _, ok := x.Snapshot(s.ID, 2); !ok {
			x.Stop("the fork was not recorded")
		}
		run = x.Run(s.ID)
		run.Next().Finish()
		run.Wait()
		keys := []string{s.ID.SnapshotKey(2), child.ManifestKey(), child.SnapshotKey(1)}
		order, bare := []string{}, []string{}
		for _, r := range x.created("sessions/") {
			if i := slices.Index(keys, Key(r)); i >= 0 && r.Took == fakes3.Applied {
				order = append(order, []string{"parent's snapshot", "child's manifest", "child's snapshot 1"}[i])
				if r.IfNoneMatch != "*" {
					bare = append(bare, r.String())
				}
			}
		}
		if len(order) < 3 {
			x.Stop("not all of the three writes were made: %q", order)
		}
		x.Clause("S13.6-1").Holds(slices.Equal(order, []string{"parent's snapshot", "child's manifest", "child's snapshot 1"}), "first the parent's snapshot, when nothing of the child is there, then the child's manifest, then its snapshot 1, each once", "%q", order)
		if len(bare) > 0 {
			x.Evidence("note", fmt.Sprintf("without If-None-Match: %v", bare)) // S5.1-1, S6.2-8
		}
	}, overBoth)

var _ = scenario("S13.6", "child-made-meanwhile", "the child's manifest, its snapshot 1, or both come from elsewhere after the runtime has looked: it takes them for its own success",
	"S13.6-2",
	func(x *Lab) {
		for _, what := range []string{"its manifest", "its snapshot 1", "its manifest and its snapshot 1"} {
			parent, child, task := x.childToCome()
			var landed []wire.Stored
			both := what == "its manifest and its snapshot 1"
			made := wire.SessionSpec{ID: child, Parent: parent.Pointer(0), FirstSequence: parent.NextSequence()}
			body := wire.Entry{Body: []byte(task), ContentType: "text/plain"}
			first := func() {
				file, err := made.Manifest()
				x.Must(err)
				x.Must(x.Put(file))
				landed = append(landed, file)
			}
			second := func() {
				twin := wire.NewBucket(wire.Objects{}).Session(made) // to build what the other one writes
				file, blobs, err := twin.Build(wire.SnapshotSpec{Entries: []wire.Entry{body}})
				x.store(file, blobs, err)
				landed = append(landed, file)
			}
			var met []*Landing
			if what != "its snapshot 1" {
				met = append(met, x.landAt(child.ManifestKey(), 1, func(int, *fakes3.Request) {
					first()
					if both {
						second()
					}
				}))
			}
			if what == "its snapshot 1" {
				met = append(met, x.landAt(child.SnapshotKey(1), 1, func(int, *fakes3.Request) { second() }))
			}
			run := x.Run(parent.ID)
			inv, why := run.await()
			if met[0].Met() == 0 {
				x.Stop("the runtime did not set out to make the child: %s", why)
			}
			check := x.Clause("S13.6-2")
			if inv == nil {
				check.Holds(false, "the run goes on where "+what+" came from elsewhere", "%s", why)
				continue
			}
			inv.Finish()
			exit := run.Wait("S13.6-2")
			check.Holds(exit.Success(), "the run succeeds where "+what+" came from elsewhere", "%s%s", exit.Exit, run.said())
			for _, o := range landed {
				now, _ := x.Get(o.Key)
				check.Holds(bytes.Equal(now.Body, o.Body), what+" from elsewhere stays as it was", "%s: %d bytes, before %d", o.Key, len(now.Body), len(o.Body))
			}
			check.Holds(x.bodyCommitted(child, 1, []byte(task)) && len(x.Versions(child)) == 1, "the child has the fork's body once, in its snapshot 1 ("+what+" came from elsewhere)", "versions of the child: %v", x.Versions(child))
		}
	}, overBoth)
