package wire_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

// names tells a log by the names of its entries, with the version and type they come from.
func names(log []wire.LogEntry) string {
	var out []string
	for _, e := range log {
		out = append(out, fmt.Sprintf("%s@%d", e.Descriptor.Name, e.Version))
	}
	return strings.Join(out, " ")
}

func TestLogReadsEachAncestorUpToItsPointer(t *testing.T) {
	objects := wire.Objects{}
	b := wire.NewBucket(objects)
	g := b.Session(wire.SessionSpec{})
	g.Commit(wire.Checkpoint, wire.Text("g1", "1"))
	p := b.Session(wire.SessionSpec{Parent: g.Pointer(1)})
	g.Commit(wire.Checkpoint, wire.Text("g2", "2"))
	c := b.Session(wire.SessionSpec{Parent: &wire.Pointer{Session: strings.ToUpper(p.ID.String())}})
	p.Commit(wire.Checkpoint, wire.Text("p1", "3"))
	c.Commit(wire.Checkpoint, wire.Text("c1", "4"))
	c.Commit(wire.Provisional, wire.Text("c2", "5"))
	for _, q := range []struct {
		session wire.SessionID
		version uint32
		want    string
	}{{g.ID, 0, "g1@1 g2@2"}, {p.ID, 0, "g1@1 p1@1"}, {c.ID, 0, "g1@1 c1@1 c2@2"}, {c.ID, 1, "g1@1 c1@1"}} {
		log, err := wire.Log(objects, q.session, q.version)
		if err != nil || names(log) != q.want {
			t.Errorf("%s at %d: %s, %v; want %s", q.session, q.version, names(log), err, q.want)
		}
	}
}

func TestLogSaysWhatIsMissing(t *testing.T) {
	lay := func() (wire.Objects, *wire.Session, *wire.Session) {
		objects := wire.Objects{}
		b := wire.NewBucket(objects)
		p := b.Session(wire.SessionSpec{})
		p.Commit(wire.Checkpoint, wire.Text("p1", "1"))
		p.Commit(wire.Checkpoint, wire.Text("p2", "2"))
		c := b.Session(wire.SessionSpec{Parent: p.Pointer(0)})
		c.Commit(wire.Checkpoint, wire.Text("c1", "3"))
		return objects, p, c
	}
	for _, q := range []struct {
		name  string
		spoil func(objects wire.Objects, p, c *wire.Session)
		err   error
		names string
	}{
		{"own manifest", func(o wire.Objects, _, c *wire.Session) { delete(o, c.ID.ManifestKey()) }, wire.ErrNoSession, ""},
		{"parent's manifest", func(o wire.Objects, p, _ *wire.Session) { delete(o, p.ID.ManifestKey()) }, wire.ErrNoSession, ""},
		{"parent's second snapshot", func(o wire.Objects, p, _ *wire.Session) { delete(o, p.ID.SnapshotKey(2)) }, wire.ErrNoSnapshot, "p1@1"},
		{"nothing left", func(o wire.Objects, _, _ *wire.Session) { clear(o) }, wire.ErrNoSession, ""},
		{"own ancestor", func(o wire.Objects, p, c *wire.Session) {
			spoiled, err := wire.SessionSpec{ID: p.ID, Parent: c.Pointer(0)}.Manifest()
			if err != nil {
				t.Fatal(err)
			}
			o[spoiled.Key] = spoiled
		}, wire.ErrCycle, ""},
	} {
		objects, p, c := lay()
		q.spoil(objects, p, c)
		log, err := wire.Log(objects, c.ID, 0)
		if !errors.Is(err, q.err) || names(log) != q.names {
			t.Errorf("%s: %s, %v", q.name, names(log), err)
		}
	}
	objects, _, c := lay()
	o := objects[c.ID.SnapshotKey(1)]
	o.Body = []byte("[]")
	objects[o.Key] = o
	var problem wire.Problem
	if log, err := wire.Log(objects, c.ID, 0); !errors.As(err, &problem) || problem.Kind != wire.ProblemBody || names(log) != "p1@1 p2@2" {
		t.Errorf("body that is no zstd: %s, %v", names(log), err)
	}
}

func TestLatestPassesOverForeignKeys(t *testing.T) {
	objects := wire.Objects{}
	b := wire.NewBucket(objects)
	s := b.Session(wire.SessionSpec{})
	if v, err := wire.Latest(objects, s.ID); v != 0 || err != nil {
		t.Errorf("version %d, %v", v, err)
	}
	for range 257 {
		s.Commit(wire.Checkpoint)
	}
	b.Raw(wire.Stored{Key: s.ID.SnapshotsPrefix() + "00000000.json"})
	b.Raw(wire.Stored{Key: s.ID.SnapshotsPrefix() + "0"})
	if v, err := wire.Latest(objects, s.ID); v != 257 || err != nil {
		t.Errorf("version %d, %v", v, err)
	}
	if _, err := wire.Latest(objects, sessionID(9)); !errors.Is(err, wire.ErrNoSession) {
		t.Error(err)
	}
}

// TestVisible has, per snapshot, one entry of each sort that matters.
func TestVisible(t *testing.T) {
	objects := wire.Objects{}
	b := wire.NewBucket(objects)
	named := func(name string, e wire.Entry) wire.Entry { e.Name = name; return e }
	child, sibling := sessionID(100), sessionID(101)
	p := b.Session(wire.SessionSpec{})
	p.Commit(wire.Checkpoint, wire.Text("p", "1"), named("p-control", wire.ControlEntry("stopped", "", "")),
		named("p-child", wire.ForkEntry("x", child)), named("p-sibling", wire.LegacyForkEntry("x", sibling)))
	c := b.Session(wire.SessionSpec{ID: child, Parent: p.Pointer(0)})
	c.Commit(wire.Checkpoint, named("old-fork", wire.ForkEntry("x", sibling)), wire.Text("c1", "2"))
	c.Commit(wire.Provisional, named("older-legacy", wire.LegacyForkEntry("x", sibling)))
	c.Put(wire.SnapshotSpec{NoType: true, Entries: []wire.Entry{named("pending", wire.ForkEntry("x", sibling)), wire.Tombstone("c1")}})
	c.Commit(wire.Queueing, named("pending-on-top", wire.ForkEntry("x", sibling)), wire.CrossEntry("cross", "3", sibling))
	log, err := wire.Log(objects, child, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := names(wire.Visible(log, child)), "p@1 c1@1 c1@3 cross@4"; got != want {
		t.Errorf("visible: %s, want %s", got, want)
	}
	if got, want := names(wire.Visible(log, child, wire.KeepOldForks)), "p@1 old-fork@1 c1@1 older-legacy@2 c1@3 cross@4"; got != want {
		t.Errorf("visible with old forks: %s, want %s", got, want)
	}
}

func TestDescriptorReadsForks(t *testing.T) {
	other := sessionID(1).String()
	zero := strings.Repeat("0", 32)
	for _, c := range []struct {
		name            string
		d               wire.Descriptor
		fork, cross     bool
		target          string
		digest, control bool
	}{
		{name: "plain", d: wire.Descriptor{Digest: sampleDigest}, digest: true},
		{name: "fork", d: wire.Descriptor{Fork: true, TargetSession: other}, fork: true, target: other},
		{name: "legacy", d: wire.Descriptor{ForkSessionID: strings.ToUpper(other)}, fork: true, target: other},
		{name: "legacy empty", d: wire.Descriptor{ForkSessionID: ""}},
		{name: "legacy zero", d: wire.Descriptor{ForkSessionID: zero}},
		{name: "fork without target", d: wire.Descriptor{Fork: true}, fork: true},
		{name: "cross", d: wire.Descriptor{TargetSession: other}, cross: true, target: other},
		{name: "zero target", d: wire.Descriptor{TargetSession: zero}},
		{name: "zero digest", d: wire.Descriptor{Digest: "sha256:" + zero + zero}},
		{name: "control", d: wire.Descriptor{ContentType: wire.ControlType}, control: true},
	} {
		id, fork := c.d.ForkTarget()
		crossID, cross := c.d.CrossTarget()
		if cross {
			id = crossID
		}
		target := ""
		if !id.IsZero() {
			target = id.String()
		}
		if c.d.IsFork() != c.fork || cross != c.cross || target != c.target || c.d.HasDigest() != c.digest || c.d.IsControl() != c.control ||
			fork && !c.fork {
			t.Errorf("%s: fork %v, cross %v, target %q, digest %v", c.name, c.d.IsFork(), cross, target, c.d.HasDigest())
		}
	}
	if p, ok := (wire.Descriptor{SourceSession: strings.ToUpper(other), SourceVersion: 7}).Source(); !ok || p != (wire.Pointer{Session: other, Version: 7}) {
		t.Errorf("source %+v, %v", p, ok)
	}
	if diff := cmp.Diff("", (wire.Descriptor{}).BlobKey()); diff != "" {
		t.Error(diff)
	}
}
