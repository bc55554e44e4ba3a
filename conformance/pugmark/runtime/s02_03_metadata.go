package runtime

import "github.com/pugcheck/pugcheck/conformance/pugmark/wire"

// The rules on all writes of the layout judge; the story sees to it that each class
// of object is written, with and without a type and an encoding of the handler's.
var _ = scenario("S2.3", "every-class-of-object", "blobs with and without a declared type and encoding, a snapshot, a memory file, a child's manifest, a delivery: what the headers of each say",
	"S2.3-2 S2.3-4 S16-1 S16-2 S5.1-3",
	func(x *Lab) {
		packed, _ := x.gzipped()
		untyped := x.unpadded("untyped")
		untyped.ContentType = ""
		t := x.newTour()
		t.make(x, func(id wire.SessionID) *Run { return x.Run(id) })
		run := x.Run(t.s.ID)
		run.Next().Finish(untyped, wire.OutputRecord{Name: "packed", Data: packed, ContentType: "text/plain", ContentEncoding: "gzip"})
		run.Success()
		for what, prefix := range map[string]string{"memory file": "memories/", "child's manifest": t.child.ManifestKey(), "snapshot": t.s.ID.SnapshotsPrefix(), "blob without a type": "objects/" + wire.Digest(untyped.Data)} {
			if len(x.created(prefix)) == 0 {
				x.Evidence("note", "no "+what+" was written, so its headers are not judged")
			}
			if what == "child's manifest" && len(x.created(prefix)) == 0 {
				x.Clause("S5.1-3").NotExercised("no manifest of a child was written")
			}
		}
	}, overBoth)
