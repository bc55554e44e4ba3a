package runtime

import (
	"slices"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

// newControls are the control messages in snapshots that the subject wrote, by
// rising version. One whose body is neither inline nor stored is left out.
func (x *Lab) newControls(id wire.SessionID) []wire.Control {
	x.legible()
	var out []wire.Control
	for _, v := range x.newVersions(id) {
		snap, _ := x.Snapshot(id, v)
		for _, d := range snap.Descriptors {
			if !d.IsControl() {
				continue
			}
			body := d.Data
			if !d.HasData {
				blob, ok := x.Get(d.BlobKey())
				if !ok {
					continue
				}
				body = blob.Body
			}
			c, _ := wire.DecodeControl(body)
			out = append(out, c)
		}
	}
	return out
}

// stops counts the new control messages that say stopped.
func (x *Lab) stops(id wire.SessionID) int {
	n := 0
	for _, c := range x.newControls(id) {
		if c.Status == "stopped" {
			n++
		}
	}
	return n
}

// remembered are the records of a memory namespace's newest file.
func (x *Lab) remembered(namespace string) []wire.MemoryRecord {
	var newest wire.MemoryFile
	for _, k := range x.Keys("memories/" + namespace + "/") {
		o, _ := x.Get(k)
		if f, _ := wire.DecodeMemory(o); f.Namespace == namespace && f.Version > newest.Version {
			newest = f
		}
	}
	return newest.Records
}

// recalls tells whether a namespace's newest file has a record of that name and body.
func (x *Lab) recalls(namespace, name string, body []byte) bool {
	return slices.ContainsFunc(x.remembered(namespace), func(r wire.MemoryRecord) bool {
		return r.Name == name && r.Digest == wire.Digest(body)
	})
}

// kinds tells in sorted words what a run led to: entries of the session by kind,
// memory records of the namespace, deliveries to another session.
func (x *Lab) kinds(s *wire.Session, other wire.SessionID, namespace string) []string {
	out := []string{}
	for _, d := range x.appended(s.ID) {
		target, cross := d.CrossTarget()
		switch {
		case d.IsFork():
			out = append(out, "fork record "+d.Name)
		case cross && target == other:
			out = append(out, "cross-session record "+d.Name)
		default:
			out = append(out, "entry "+d.Name)
		}
	}
	for _, c := range x.newControls(s.ID) {
		if c.Status == "stopped" {
			out = append(out, "stopped message for "+c.Reason)
		}
	}
	for _, r := range x.remembered(namespace) {
		out = append(out, "memory record "+r.Name)
	}
	for _, d := range x.appended(other) {
		out = append(out, "delivery "+d.Name)
	}
	slices.Sort(out)
	return out
}
