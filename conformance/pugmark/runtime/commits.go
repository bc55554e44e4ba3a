package runtime

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pugcheck/pugcheck/conformance"
	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

// commit is what came of one run whose handler wrote a given output stream.
type commit struct {
	session *wire.Session
	exit    Exit
	entries []wire.Descriptor // of all new snapshots by rising version, without control messages
}

// shortLog is a session with one checkpoint of one entry: enough of a log for
// stories about what a handler writes.
func (x *Lab) shortLog() *wire.Session {
	s := x.Session(wire.SessionSpec{Agent: "agent-7"})
	s.Commit(wire.Checkpoint, x.text("seed"))
	return s
}

// commitOf runs a session of its own whose handler writes the pieces, one after
// the other, and ends well. A runtime that then does not come to its end is held
// against clause ("" = the clause on the end of an invocation).
//
// The blobs of earlier runs are out of the way meanwhile: stories that run the same
// bodies several times are not about bodies which are there already (S3-10).
func (x *Lab) commitOf(clause string, pieces ...string) commit {
	defer x.setAside("objects/")()
	return x.commitTo(x.shortLog(), clause, pieces...)
}

// setAside takes what the subject has stored below prefix out of the bucket.
// restore puts back what is not there again.
func (x *Lab) setAside(prefix string) (restore func()) {
	aside := map[string]fakes3.Object{}
	for _, key := range x.New(prefix) {
		if o, ok := x.S3.Get(bucketName, bucketRoot+key); ok {
			aside[bucketRoot+key] = o
			x.Must(x.S3.Delete(bucketName, bucketRoot+key))
		}
	}
	return func() {
		for key, o := range aside {
			if _, again := x.S3.Get(bucketName, key); !again {
				x.Must(x.S3.Put(bucketName, key, o))
			}
		}
	}
}

// commitTo is commitOf for a session that is there already.
func (x *Lab) commitTo(s *wire.Session, clause string, pieces ...string) commit {
	run := x.Run(s.ID)
	inv := run.Next()
	for _, p := range pieces {
		inv.Say(p)
	}
	inv.Finish()
	exit := run.Wait(fields(clause)...)
	return commit{s, exit, x.appended(s.ID)}
}

// settle waits until every run of the scenario has come to rest.
func (x *Lab) settle(because ...string) {
	x.mu.Lock()
	runs := slices.Clone(x.runs)
	x.mu.Unlock()
	for _, r := range runs {
		r.Wait(because...)
	}
}

// appended are the descriptors of all snapshots of a session that the subject
// wrote, by rising version, without control messages, and without copies of what
// earlier snapshots hold (S6.5-1).
func (x *Lab) appended(id wire.SessionID) []wire.Descriptor {
	x.legible()
	var out []wire.Descriptor
	earlier, fresh := map[string]bool{}, x.newVersions(id)
	for _, v := range x.Versions(id) {
		snap, _ := x.Snapshot(id, v)
		for _, d := range entries(snap) {
			if key := stamp(d); !earlier[key] && slices.Contains(fresh, v) {
				out = append(out, d)
			}
		}
		for _, d := range snap.Descriptors {
			earlier[stamp(d)] = true
		}
	}
	return out
}

// stamp is the same for a descriptor and its copy in a later snapshot, and differs
// for two descriptors of equal contents.
func stamp(d wire.Descriptor) string {
	return fmt.Sprintf("%d %s %q %q", d.SequenceNumber, d.Digest, d.Name, d.CreatedAt)
}

// repeated tells how many of a snapshot's descriptors an earlier one holds already.
func (x *Lab) repeated(id wire.SessionID, version uint32) int {
	earlier, n := map[string]bool{}, 0
	for _, v := range x.Versions(id) {
		snap, _ := x.Snapshot(id, v)
		for _, d := range snap.Descriptors {
			if v == version && earlier[stamp(d)] {
				n++
			}
			earlier[stamp(d)] = earlier[stamp(d)] || v < version
		}
	}
	return n
}

// newVersions are the snapshot versions of a session that the scenario did not
// lay out, ascending.
func (x *Lab) newVersions(id wire.SessionID) []uint32 {
	fresh := x.New("sessions/")
	return slices.DeleteFunc(x.Versions(id), func(v uint32) bool { return !slices.Contains(fresh, id.SnapshotKey(v)) })
}

// plainly spells Outputs as compact JSON, a line each.
func plainly(outs ...wire.OutputRecord) string {
	var b strings.Builder
	for _, o := range outs {
		b.Write(o.Encode())
	}
	return b.String()
}

// compact spells one Output as compact JSON, with no line feed.
func compact(o wire.OutputRecord) string { return strings.TrimSuffix(string(o.Encode()), "\n") }

// control runs Outputs in their plain spelling. A runtime that does not even
// commit these says nothing about other spellings, and the scenario ends.
func (x *Lab) control(outs ...wire.OutputRecord) commit {
	c := x.commitOf("", plainly(outs...))
	if lost := c.lacks(outs...); len(lost) > 0 {
		x.Stop("in their plain spelling, a line each, the Outputs %s are not committed either (%s; committed: %s)",
			strings.Join(lost, ", "), c.exit.Exit, c.list())
	}
	return c
}

// lacks names the Outputs that no descriptor stands for, neither by its name nor
// by its digest.
func (c commit) lacks(outs ...wire.OutputRecord) []string {
	var out []string
	for _, o := range outs {
		if !slices.ContainsFunc(c.entries, func(d wire.Descriptor) bool {
			return o.Name != "" && d.Name == o.Name || d.Digest == wire.Digest(o.Data)
		}) {
			out = append(out, fmt.Sprintf("%q", o.Name))
		}
	}
	return out
}

// of finds the descriptor of an Output, by its name, or by its body where it has none.
func (c commit) of(o wire.OutputRecord) (wire.Descriptor, bool) {
	for _, d := range c.entries {
		if o.Name != "" && d.Name == o.Name || o.Name == "" && d.Digest == wire.Digest(o.Data) {
			return d, true
		}
	}
	return wire.Descriptor{}, false
}

// exact runs an Output and tells whether its bytes came to be what is stored. A
// runtime of which not even that is true says little about where bytes come from.
func (x *Lab) exact(o wire.OutputRecord, body []byte) bool {
	_, ok := x.commitOf("", plainly(o)).by(body)
	return ok
}

// by finds the descriptor of a body.
func (c commit) by(body []byte) (wire.Descriptor, bool) {
	i := slices.IndexFunc(c.entries, func(d wire.Descriptor) bool { return d.Digest == wire.Digest(body) })
	if i < 0 {
		return wire.Descriptor{}, false
	}
	return c.entries[i], true
}

// same judges that another spelling led to the same descriptors as the control,
// in whatever order: how they are ordered, stored and named is for other clauses.
func (c commit) same(clause conformance.Assertion, got commit, how string) bool {
	want, have := c.essences(), got.essences()
	return clause.Calldepth(1).Holds(slices.Equal(want, have) && (got.exit.Success() || !c.exit.Success()),
		fmt.Sprintf("with %s the run succeeds and commits the same as from the plain spelling: %s", how, c.list()),
		"%s; committed: %s%s", got.exit.Exit, got.list(), got.complaint())
}

// essences are the descriptors, reduced to what an Output decides, sorted.
func (c commit) essences() []string {
	var out []string
	for _, d := range c.entries {
		out = append(out, essence(d))
	}
	slices.Sort(out)
	return out
}

// list is the committed descriptors in short, for messages.
func (c commit) list() string {
	if len(c.entries) == 0 {
		return "nothing"
	}
	var out []string
	for i, d := range c.entries {
		if i == 12 {
			out = append(out, fmt.Sprintf("and %d more", len(c.entries)-i))
			break
		}
		out = append(out, essence(d))
	}
	return strings.Join(out, ", ")
}

// complaint quotes the end of what a failed run said.
func (c commit) complaint() string {
	text := strings.TrimSpace(c.exit.Stderr)
	if c.exit.Success() || text == "" {
		return ""
	}
	if len(text) > 300 {
		text = "… " + text[len(text)-300:]
	}
	return "; stderr: " + text
}

// essence is what of a descriptor the Output decides, as text.
func essence(d wire.Descriptor) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q %.15s… %d bytes", d.Name, d.Digest, d.Size)
	for _, f := range []struct{ name, value string }{{"type", d.ContentType}, {"encoding", d.ContentEncoding}, {"schema", d.SchemaURL}, {"target", d.TargetSession}} {
		if f.value != "" {
			fmt.Fprintf(&b, " %s=%s", f.name, f.value)
		}
	}
	if len(d.Metadata) > 0 {
		m, _ := json.Marshal(d.Metadata) // strings always encode; keys come sorted
		fmt.Fprintf(&b, " metadata=%s", m)
	}
	if d.Fork {
		b.WriteString(" fork")
	}
	if d.Deleted {
		b.WriteString(" deleted")
	}
	return b.String()
}

// threes is a body whose length is a multiple of three, so that its base64 has no
// padding: a decoder's trouble with padding shows where that is judged and
// nowhere else.
func (x *Lab) threes(prefix string) []byte {
	b := []byte(x.Word(prefix))
	for len(b)%3 != 0 {
		b = append(b, '.')
	}
	return b
}

// unpadded is an Output with such a body.
func (x *Lab) unpadded(name string) wire.OutputRecord {
	return wire.OutputRecord{Name: name, Data: x.threes("body of " + name), ContentType: "text/plain"}
}
