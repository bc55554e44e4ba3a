package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pugcheck/pugcheck/reference/pugmark/session"
)

// audit holds a bucket against the ledger of what was asked for. Everything that it finds begins with the clause that is
// broken. What a later run makes up for is demanded only of a bucket that is settled.
type audit struct {
	*contents
	*ledger
	settled bool
	forks   map[string][]forkRecord

	complaints   []string
	transactions map[uint64]string // whose they are
	committed    map[string]place  // where the snapshot of a work is, by the work's tag
	copies       map[string]int    // how often an entry is in a session that it was sent to or forked into: "tag in session"
}

// place is a snapshot's.
type place struct {
	session string
	version uint32
}

func (p place) String() string {
	return fmt.Sprintf("session %.12s, version %d", p.session[8:], p.version)
}

// check gives all complaints about a bucket.
func check(c *contents, l *ledger, settled bool) []string {
	a := &audit{contents: c, ledger: l, settled: settled, forks: c.forkRecords(), complaints: slices.Clone(c.complaints),
		transactions: map[uint64]string{}, committed: map[string]place{}, copies: map[string]int{}}
	for _, id := range slices.Sorted(maps.Keys(c.sessions)) {
		a.log(c.sessions[id])
	}
	for _, id := range slices.Sorted(maps.Keys(c.sessions)) {
		a.sent(c.sessions[id])
	}
	for _, w := range l.order {
		a.outcome(w)
	}
	for _, namespace := range slices.Sorted(maps.Keys(c.memory)) {
		a.namespace(namespace)
	}
	a.memoryOutcomes()
	return a.complaints
}

func (a *audit) complain(at any, format string, args ...any) {
	a.complaints = append(a.complaints, fmt.Sprintf(format, args...)+fmt.Sprintf(" (%v)", at))
}

// latest is the session's version.
func (h *history) latest() uint32 {
	var latest uint32
	for version := range h.snapshots {
		latest = max(latest, version)
	}
	return latest
}

// log checks a session's own snapshots.
func (a *audit) log(h *history) {
	if h.manifest == nil {
		a.complain(h.id, "S6.3-4: there are snapshots and no manifest")
		return
	}
	a.manifest(h)
	number, checkpoint := h.manifest.First, uint32(0)
	for version := uint32(1); version <= h.latest(); version++ {
		at, s := place{h.id, version}, h.snapshots[version]
		if s == nil {
			a.complain(at, "S13.3-1: there is no such version, and a later one")
			continue
		}
		for _, d := range s.entries {
			if d.Number != number {
				a.complain(at, "S7.3-8: an entry has the number %d, and it is the turn of %d", d.Number, number)
			}
			number = d.Number + 1
			a.blob(at, d)
		}
		if s.transaction == 0 {
			a.complain(at, "S13.2-8: the transaction ID is 0")
		}
		if other, ok := a.transactions[s.transaction]; ok {
			a.complain(at, "S13.2-1: the transaction ID is that of %s", other)
		}
		a.transactions[s.transaction] = at.String()
		w := a.origin(at, s)
		if s.kind == string(session.Checkpoint) {
			if w != nil && w.base < checkpoint {
				a.complain(at, "S13.3-3: it was run on version %d, and checkpoint %d came between", w.base, checkpoint)
			}
			checkpoint = version
		}
	}
}

// blob checks what an entry says about its body.
func (a *audit) blob(at any, d document) {
	if d.Deleted && d.Digest == "" {
		return
	}
	switch size, ok := a.blobs[d.Digest]; {
	case !ok:
		a.complain(at, "S7-3: %s names the blob %q, which does not exist", d.tag(), d.Digest)
	case size != d.Size:
		a.complain(at, "S7-4: %s has %d bytes, and its blob %d", d.tag(), d.Size, size)
	case d.Data != nil && string(d.Data) != string(a.objects["objects/"+d.Digest].body):
		a.complain(at, "S7.1-1: %s has other bytes than its blob", d.tag())
	}
}

// origin finds out where a snapshot came from, and whether it is all of that and nothing else. It gives the work whose
// commit it is, or nil.
func (a *audit) origin(at place, s *documents) *work {
	if len(s.entries) == 0 {
		a.complain(at, "S14.2-1: it is empty, which nobody asked for")
		return nil
	}
	first := s.entries[0]
	if first.Source != "" {
		a.delivery(at, s)
		return nil
	}
	tag := first.tag()
	if first.isControl() {
		tag = a.control(at, first).Reason + "#0"
	}
	w, i, ok := a.find(tag)
	if !ok && first.isControl() { // a pause without entries
		w, ok = a.works[strings.TrimSuffix(tag, "#0")]
	}
	switch {
	case !ok:
		a.complain(at, "S14.2-1: it begins with %q, which nobody wrote", tag)
		return nil
	case w.session == at.session:
		a.commit(at, s, w)
		return w
	case w.items[i].fork:
		a.birth(at, s)
	default:
		a.complain(at, "S14.2-1: it begins with %s, which was for session %s", tag, w.session)
	}
	return nil
}

func (a *audit) control(at place, d document) controlBody {
	var c controlBody
	if err := json.Unmarshal(a.objects["objects/"+d.Digest].body, &c); err != nil {
		a.complain(at, "P9-2: its control message: %v", err)
	}
	return c
}

// commit checks that the snapshot is what the work asked for: everything, once, and in its order (S13.1-3, S13.3-5).
func (a *audit) commit(at place, s *documents, w *work) {
	if other, ok := a.committed[w.tag]; ok {
		a.complain(at, "S14.2-1: %s is there twice, also in %s", w.tag, other)
	}
	a.committed[w.tag] = at
	if s.kind != string(w.kind) {
		a.complain(at, "S6.4: %s was to be a %s and is a %s", w.tag, w.kind, s.kind)
	}
	if w.kind == session.Checkpoint && w.base >= at.version {
		a.complain(at, "P1-9: it was run on version %d", w.base)
	}
	rest := s.entries
	for _, i := range w.entries() {
		if len(rest) == 0 || rest[0].tag() != w.tagOf(i) {
			a.complain(at, "S13.1-3: %s is not in its place", w.tagOf(i))
			return
		}
		d, it := rest[0], w.items[i]
		rest = rest[1:]
		target := it.target
		if it.fork && target == "" {
			target = d.Target // the runtime's choice
		}
		if target == w.session {
			target = "" // S12.3-5
		}
		if d.Name != it.name || d.Deleted != it.deleted || d.Fork != it.fork || d.Target != target || d.Fork && d.Target == "" {
			a.complain(at, "S7-1: %s is %+v", w.tagOf(i), d)
		}
		if body := a.objects["objects/"+d.Digest].body; !it.deleted && string(body) != it.body {
			a.complain(at, "S14.2-1: %s has another body", w.tagOf(i))
		}
	}
	status := ""
	if len(rest) > 0 && rest[0].isControl() {
		c := a.control(at, rest[0])
		status, rest = c.Status, rest[1:]
		if c.StartAt.IsZero() == w.timed {
			a.complain(at, "P10-9: it sleeps: %v, its start-at is %v", w.timed, c.StartAt)
		}
	}
	if status != w.ends() {
		a.complain(at, "P10-9: %s ends with control message %q, want %q", w.tag, status, w.ends())
	}
	if status == session.StatusStopped && w.final && at.version > w.base+1 {
		a.complain(at, "F-2: %s stopped, and was not woken for what lies behind version %d", w.tag, w.base)
	}
	if len(rest) > 0 {
		a.complain(at, "S6.5-1: there is more in it than %s wrote, such as %q", w.tag, rest[0].tag())
	}
}

// outcome checks that a commit is there if and only if its writer was told so.
func (a *audit) outcome(w *work) {
	at, there := a.committed[w.tag]
	switch {
	case w.fate == in && w.commits() && !there:
		a.complain(w.tag, "S14.2-1: it was committed to session %s, and is lost", w.session)
	case w.fate == out_ && there:
		a.complain(at, "S14.2-5: %s was discarded, and is there", w.tag)
	}
}

// namespace checks a memory namespace: each version is the one before it with the records of one writer put in.
func (a *audit) namespace(name string) {
	versions := a.memory[name]
	before := &documents{}
	for version := uint32(1); version <= uint32(len(versions)); version++ {
		at := fmt.Sprintf("memory %s, version %d", name, version)
		f := versions[version]
		if f == nil {
			a.complain(at, "S8.1-1: there is no such version, and a later one")
			return
		}
		a.merged(at, name, before, f)
		before = f
	}
}

func (a *audit) merged(at, namespace string, before, f *documents) {
	// The new records stand behind those that were kept, and have one writer.
	kept := len(f.entries)
	for kept > 0 && !slices.Contains(before.raw, f.raw[kept-1]) {
		kept--
	}
	if kept == len(f.entries) {
		a.complain(at, "S8.3-3: nothing in it is new")
		return
	}
	written := map[string]bool{}
	var tags []string
	for _, d := range f.entries[kept:] {
		written[d.Name] = true
		tags = append(tags, d.tag())
		a.blob(at, d)
	}
	var want []string
	for i, old := range before.entries {
		if !written[old.Name] {
			want = append(want, before.raw[i])
		}
	}
	if got := f.raw[:kept]; !slices.Equal(got, want) {
		a.complain(at, "S8.3-3: of the version before, %d records are kept, and %d of them are not written anew", len(got), len(want))
	}
	first := f.entries[kept]
	w, _, ok := a.find(first.tag())
	if !ok {
		a.complain(at, "S14.2-1: %q is a record that nobody wrote", first.tag())
		return
	}
	if want := w.remembers(namespace); !slices.Equal(tags, want) {
		a.complain(at, "S8.3-4: %s wrote %v, and %v are new", w.tag, want, tags)
	}
	a.copies[w.tag+" in "+namespace]++
	for _, d := range f.entries[kept:] {
		if d.Commit != first.Commit {
			a.complain(at, "S8.2-3: %s and %s have unlike envelopes", first.tag(), d.tag())
		}
	}
	a.envelope(at, w, first)
}

// envelope checks that the commit envelope names the write that a record came with (S8.2-3 to S8.2-5, R-27).
func (a *audit) envelope(at string, w *work, d document) {
	envelope := d.Commit
	snapshot := place{w.session, w.base}
	transaction, memoryOnly := envelope.Transaction, !w.commits()
	if !memoryOnly {
		var there bool
		if snapshot, there = a.committed[w.tag]; !there {
			a.complain(at, "S8.2-4: the snapshot that %s was written with does not exist", d.tag())
			return
		}
		transaction = a.sessions[w.session].snapshots[snapshot.version].transaction
	}
	if envelope.Session != w.session || envelope.Version != snapshot.version || envelope.Transaction != transaction || transaction == 0 {
		a.complain(at, "S8.2-4: the envelope of %s is %+v, and it was written with %v, transaction %d", d.tag(), envelope, snapshot, transaction)
	}
	if owner, taken := a.transactions[transaction]; memoryOnly && taken && !strings.HasPrefix(owner, w.tag+" ") {
		a.complain(at, "S13.2-1: the transaction ID of %s is that of %s", d.tag(), owner)
	}
	if memoryOnly {
		a.transactions[transaction] = w.tag + " in memory"
	}
}

// remembers are the tags that the work writes into a namespace: for each name the last one.
func (w *work) remembers(namespace string) []string {
	var tags []string
	for i, it := range w.items {
		replaced := slices.ContainsFunc(w.items[i+1:], func(later item) bool { return later.namespace == namespace && later.name == it.name })
		if it.namespace == namespace && !replaced {
			tags = append(tags, w.tagOf(i))
		}
	}
	return tags
}

// memoryOutcomes checks that an invocation's memory writes are there if and only if it was told so.
func (a *audit) memoryOutcomes() {
	for _, w := range a.ledger.order {
		for _, it := range w.items {
			if it.namespace == "" {
				continue
			}
			switch n := a.copies[w.tag+" in "+it.namespace]; {
			case n > 1:
				a.complain(it.namespace, "S14.2-1: what %s wrote is there %d times", w.tag, n)
			case w.memory == in && n == 0:
				a.complain(it.namespace, "S14.2-1: what %s wrote is lost", w.tag)
			case w.memory == out_ && n > 0:
				a.complain(it.namespace, "S14.2-5: what %s wrote was discarded, and is there", w.tag)
			}
		}
	}
}
