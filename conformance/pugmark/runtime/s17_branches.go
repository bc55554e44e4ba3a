package runtime

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

var _ = scenario("S17", "children-by-records", "three forks, before and after they are materialised: what the bucket says about them, and where",
	"S17-1 S17-2 S17-4",
	func(x *Lab) {
		s := x.Session(wire.SessionSpec{Agent: "agent-7"})
		s.Commit(wire.Checkpoint, x.text("a"))
		chosen := x.NewID()
		outs := []wire.OutputRecord{x.forkOutput("chosen", chosen), x.forkOutput("drawn", wire.SessionID{}), x.forkOutput("drawn too", wire.SessionID{})}
		run := x.Run(s.ID)
		run.Next().Finish(append(outs, x.output("entry"))...)
		run.Success()
		snap, ok := x.Snapshot(s.ID, 2)
		if !ok {
			x.Stop("the forks were not recorded")
		}
		var children []wire.SessionID
		for _, d := range snap.Descriptors {
			if !d.IsFork() {
				continue
			}
			target, whole := d.ForkTarget()
			if x.Clause("S17-4").Holds(whole, "the record of a fork has the ID of its child, before there is one", "%s", d.Raw) {
				children = append(children, target)
			}
		}
		if len(children) == 0 {
			x.Stop("no fork record with a target was found")
		}
		early := 0
		for _, id := range children {
			early += len(x.childKeys(id))
		}
		was, _ := x.Get(s.ID.SnapshotKey(2))
		manifest, _ := x.Get(s.ID.ManifestKey())
		run = x.Run(s.ID)
		run.Next().Finish(x.output("more"))
		run.Wait()
		made := x.born()
		if len(made) == 0 {
			x.Stop("no child was made")
		}
		if early == 0 { // else S13.6-1
			for _, id := range made {
				x.Clause("S17-4").Expect(children).To(ContainElement(id), "each child that is made later has the ID which its record had")
			}
		}
		x.unchanged(x.Clause("S17-2"), was, "after its child was made, the record of a fork is in the parent's snapshot as before")
		for _, id := range made {
			if m, ok := x.manifest(id); ok && m.Parent != nil && strings.EqualFold(m.Parent.Session, s.ID.String()) {
				x.Clause("S17-2").Holds(recorded(snap, id), "a child that points at its parent is found by a fork record there", "child %s, records of the parent's version 2: %d", id, len(children))
			}
		}
		current, _ := x.Get(s.ID.ManifestKey())
		x.Clause("S17-1").Holds(bytes.Equal(current.Body, manifest.Body), "the parent's manifest does not list its children", "%s", clip(current.Body, 500))
		for _, key := range x.New("") {
			o, _ := x.Get(key)
			for _, id := range made {
				if why := indexes(key, o, s.ID, id); why != "" {
					x.Clause("S17-1").Holds(false, "no object of its own, and no ref, tells which children a session has", "%s %s of child %s", key, why, id)
				}
			}
		}
		x.Clause("S17-1").Holds(true, "no object of its own, and no ref, tells which children a session has", "%d new objects", len(x.New("")))
	}, overBoth)

func recorded(s wire.Snapshot, child wire.SessionID) bool {
	for _, d := range s.Descriptors {
		if target, ok := d.ForkTarget(); ok && target == child {
			return true
		}
	}
	return false
}

// indexes tells how an object outside a child's own room speaks of it, other than
// by the records of its parent; "" where it does not.
func indexes(key string, o wire.Stored, parent, child wire.SessionID) string {
	parsed := wire.ParseKey(key)
	if parsed.Session == child && !child.IsZero() {
		return ""
	}
	text, err := o.Decoded()
	if err != nil {
		text = o.Body
	}
	speaks := bytes.Contains(bytes.ToLower(text), []byte(child.String())) || bytes.Contains(text, []byte(child.ManifestKey()))
	switch {
	case !speaks || parsed.Kind == wire.KindSnapshot || parsed.Kind == wire.KindBlob:
		return ""
	case parsed.Kind == wire.KindManifest:
		var m map[string]json.RawMessage
		_ = json.Unmarshal(text, &m)
		return fmt.Sprintf("is the manifest of session %s, with the ID", parsed.Session)
	}
	return "has the ID"
}
