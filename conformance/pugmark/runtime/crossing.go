package runtime

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

// message is an Output to another session, with a body that occurs nowhere else.
func (x *Lab) message(name string, target wire.SessionID) wire.OutputRecord {
	o := x.output(name)
	o.Session = target.String()
	return o
}

// delivery is one entry that a session got from elsewhere, and where it lies.
type delivery struct {
	wire.Descriptor
	version uint32
	kind    wire.SnapshotType
}

// deliveries are the entries that the subject's snapshots added to a session, by
// rising version, without copies of what earlier snapshots hold (S6.5-1). Only the
// target's side of messages is judged by it.
func (x *Lab) deliveries(target wire.SessionID) []delivery {
	x.legible()
	var out []delivery
	earlier, fresh := map[string]bool{}, x.newVersions(target)
	for _, v := range x.Versions(target) {
		snap, _ := x.Snapshot(target, v)
		for _, d := range entries(snap) {
			if slices.Contains(fresh, v) && !earlier[stamp(d)] {
				out = append(out, delivery{d, v, snap.Type})
			}
		}
		for _, d := range snap.Descriptors {
			earlier[stamp(d)] = true
		}
	}
	return out
}

// delivered finds what a target got of an Output. Without it the scenario ends:
// that messages arrive is for P12-4 and S12-1 to judge.
func (x *Lab) delivered(target wire.SessionID, o wire.OutputRecord) delivery {
	list := x.deliveries(target)
	i := slices.IndexFunc(list, func(d delivery) bool { return d.Digest == wire.Digest(o.Data) })
	if i < 0 {
		x.Stop("the message was not delivered (P12-4, S12-1); new in the target: %s", listDeliveries(list))
	}
	return list[i]
}

func listDeliveries(list []delivery) string {
	if len(list) == 0 {
		return "nothing"
	}
	var out []string
	for _, d := range list {
		from := "no source"
		if source, ok := d.Source(); ok {
			from = fmt.Sprintf("from %s version %d", source.Session, source.Version)
		}
		out = append(out, fmt.Sprintf("%q in version %d (%s, %s)", d.Name, d.version, d.kind, from))
	}
	return strings.Join(out, ", ")
}

// occurrences counts the entries of a session, in all its snapshots, that have a
// body. A snapshot's copy of what an earlier one holds is no further entry.
func (x *Lab) occurrences(id wire.SessionID, body []byte) int {
	seen := map[string]bool{}
	for _, v := range x.Versions(id) {
		snap, _ := x.Snapshot(id, v)
		for _, d := range snap.Descriptors {
			if d.Digest == wire.Digest(body) {
				seen[stamp(d)] = true
			}
		}
	}
	return len(seen)
}

// write runs a session once, whose handler emits the Outputs, and lets the runtime
// come to rest.
func (x *Lab) write(id wire.SessionID, outs ...wire.OutputRecord) Exit {
	run := x.Run(id)
	run.Next().Finish(outs...)
	return run.Wait()
}
