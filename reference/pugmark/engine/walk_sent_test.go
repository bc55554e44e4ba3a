package engine

import (
	"fmt"
	"maps"
	"slices"

	"github.com/pugcheck/pugcheck/reference/pugmark/session"
)

// delivery checks a snapshot that came from another session: it is all that one snapshot of the writer sends here, in
// its order (S12.2-2, S12.2-5 to S12.2-9).
func (a *audit) delivery(at place, s *documents) {
	source := place{s.entries[0].Source, s.entries[0].SourceAt}
	if s.kind != string(session.Provisional) {
		a.complain(at, "S12.2-9: a delivery is a %s", s.kind)
	}
	var writer *documents
	if h := a.sessions[source.session]; h != nil {
		writer = h.snapshots[source.version]
	}
	if writer == nil {
		a.complain(at, "S12.2-1: it was delivered out of a snapshot that does not exist: %v", source)
		return
	}
	var want, got []string
	for _, d := range writer.entries {
		if !d.Fork && d.Target == at.session {
			want = append(want, d.tag())
		}
	}
	for _, d := range s.entries {
		got = append(got, d.tag())
		if d.Source != source.session || d.SourceAt != source.version || d.Target != "" || d.Fork {
			a.complain(at, "S12.2-5: %s is %+v", d.tag(), d)
		}
		a.copies[d.tag()+" in "+at.session]++
	}
	if !slices.Equal(got, want) {
		a.complain(at, "S12.2-2: %v sends %v here, and %v have come", source, want, got)
	}
}

// birth checks a snapshot that has a fork's body: snapshot 1 of the child, a checkpoint (S11.2-10 to S11.2-12), or where
// somebody's push came first, a provisional one behind that (F-15).
func (a *audit) birth(at place, s *documents) {
	d := s.entries[0]
	if len(s.entries) > 1 || d.Fork || d.Target != "" {
		a.complain(at, "S11.2-10: the body of a fork has come as %+v", s.entries)
	}
	if kind := string(session.Checkpoint); at.version == 1 && s.kind != kind || at.version > 1 && s.kind == kind {
		a.complain(at, "S11.2-12: the body of a fork has come as a %s", s.kind)
	}
	a.copies[d.tag()+" in "+at.session]++
}

// forkRecord is a fork record at its place.
type forkRecord struct {
	place
	document
}

// forkRecords are all fork records, by the child that they name.
func (c *contents) forkRecords() map[string][]forkRecord {
	records := map[string][]forkRecord{}
	for _, h := range c.sessions {
		for version, s := range h.snapshots {
			for _, d := range s.entries {
				if d.Fork {
					records[d.Target] = append(records[d.Target], forkRecord{place{h.id, version}, d})
				}
			}
		}
	}
	return records
}

// child is the manifest that a fork record asks for.
func (a *audit) child(r forkRecord) manifestFile {
	m := manifestFile{Session: r.Target, Metadata: r.Metadata}
	parent := a.sessions[r.session]
	if parent.manifest == nil {
		return m
	}
	m.Agent, m.Handler = parent.manifest.Agent, parent.manifest.Handler
	m.Parent.Session, m.Parent.Version = r.session, r.version
	m.First = parent.manifest.First
	for version := r.version; version > 0; version-- {
		if s := parent.snapshots[version]; s != nil && len(s.entries) > 0 {
			m.First = s.entries[len(s.entries)-1].Number + 1
			break
		}
	}
	return m
}

func (m manifestFile) equal(other manifestFile) bool {
	return fmt.Sprint(m) == fmt.Sprint(other) // maps are printed in the order of their keys
}

// manifest checks that a session is what it was created as, or what a fork record asks for (S11.2-4 to S11.2-7, S7.3-4).
func (a *audit) manifest(h *history) {
	if root, ok := a.roots[h.id]; ok {
		want := manifestFile{Session: h.id, Agent: root.Agent, Handler: root.Handler, Metadata: root.Metadata, First: root.FirstSequenceNumber}
		if !h.manifest.equal(want) {
			a.complain(h.id, "S5.1-5: the manifest is %+v, and was %+v", *h.manifest, want)
		}
		return
	}
	records := a.forks[h.id]
	if len(records) == 0 {
		a.complain(h.id, "S14.2-1: a session that nobody asked for")
		return
	}
	for _, r := range records {
		if h.manifest.equal(a.child(r)) {
			return
		}
	}
	a.complain(h.id, "S11.2-4: the manifest is %+v, and a fork record asks for %+v", *h.manifest, a.child(records[0]))
}

// sent checks what became of a session's records for others.
func (a *audit) sent(h *history) {
	for _, version := range slices.Sorted(maps.Keys(h.snapshots)) {
		at := place{h.id, version}
		for _, d := range h.snapshots[version].entries {
			switch n := a.copies[d.tag()+" in "+d.Target]; {
			case d.Target == "":
			case n > 1:
				a.complain(at, "S14.2-1: %s is %d times in session %s", d.tag(), n, d.Target)
			case !a.settled:
			case d.Fork:
				a.forked(forkRecord{at, d}, n)
			case n == 0:
				if w, i, ok := a.find(d.tag()); ok && w.items[i].present {
					a.complain(at, "S12.2-2: %s has not come to session %s", d.tag(), d.Target)
				}
			}
		}
	}
}

// forked checks that a fork has its child. n is how often its body is in there.
func (a *audit) forked(r forkRecord, n int) {
	child := a.sessions[r.Target]
	if child == nil || child.manifest == nil {
		a.complain(r.place, "S11.2-15: %s has no child", r.tag())
		return
	}
	want := a.child(r)
	if child.manifest.Parent == want.Parent && n == 0 {
		a.complain(r.place, "S11.2-9: the body of %s is not in its child %s", r.tag(), r.Target)
	}
}
