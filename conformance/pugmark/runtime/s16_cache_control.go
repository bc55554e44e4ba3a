package runtime

import (
	"github.com/pugcheck/pugcheck/conformance/profile"
	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

// The rules on all writes judge. Memory over a file that is there, a commit that is
// merged and a second attempt are written by other paths than first ones.
var _ = scenario("S16", "every-class", "blobs, manifests, snapshots first and merged, memory first and over another file: the Cache-Control of each",
	"S16-1 S16-2",
	func(x *Lab) {
		t := x.newTour()
		x.landAt(t.s.ID.SnapshotKey(2), 1, func(int, *fakes3.Request) { t.s.Commit(wire.Provisional, x.text("pushed")) })
		t.make(x, func(id wire.SessionID) *Run { return x.Run(id) })
		run := x.Run(t.s.ID)
		run.Next().Finish(wire.OutputRecord{Name: "memories/" + t.namespace + "/more", Data: x.threes("more")}, pause("enough"))
		run.Wait()
	})

var _ = scenario("S16", "refs", "a session created under a name: the Cache-Control of its ref and of its manifest",
	"S16-1 S16-3",
	func(x *Lab) {
		name := x.Word("name")
		x.create(profile.Values{Name: name})
		if len(x.Writes("refs/sessions/"+name)) == 0 {
			x.Stop("the name was not linked")
		}
	}, needing("create", "names"))
