package wire_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

// lay makes a bucket of a bit of everything.
func lay(b *wire.Bucket) {
	p := b.Session(wire.SessionSpec{Name: "n", Agent: "a", Metadata: map[string]string{"k": "v", "a": "b"}})
	p.Commit(wire.Checkpoint, wire.Text("x", "1"), wire.ForkEntry("task", sessionID(1)))
	p.Fork(wire.SessionSpec{ID: sessionID(1)}, wire.ForkEntry("task", sessionID(1))).Commit(wire.Provisional, wire.Text("y", strings.Repeat("z", 2000)))
	b.Memory("ns", wire.MemoryEntry{Entry: wire.Text("k", "v"), Session: p.ID, Version: 1})
}

func TestBucketDependsOnNothingButTheCalls(t *testing.T) {
	one, two := wire.Objects{}, wire.Objects{}
	lay(wire.NewBucket(one))
	lay(wire.NewBucket(two))
	if diff := cmp.Diff(one, two); diff != "" {
		t.Error(diff)
	}
	for key, o := range one {
		for _, p := range problemsOf(o) {
			t.Error(p)
		}
		if k := wire.ParseKey(key); k.Kind == wire.KindForeign || k.Kind == wire.KindMisplaced {
			t.Errorf("%s: %s", key, k.Reason)
		}
	}
}

func TestChildCountsOnFromItsParentsPointer(t *testing.T) {
	objects := wire.Objects{}
	b := wire.NewBucket(objects)
	p := b.Session(wire.SessionSpec{FirstSequence: 40})
	empty := b.Session(wire.SessionSpec{Parent: &wire.Pointer{Session: p.ID.String()}})
	p.Commit(wire.Checkpoint, wire.Text("a", "1"), wire.Text("b", "2"))
	p.Commit(wire.Checkpoint, wire.Text("c", "3"))
	at1 := b.Session(wire.SessionSpec{Parent: p.Pointer(1)})
	at2 := b.Session(wire.SessionSpec{Parent: p.Pointer(0)})
	none := b.Session(wire.SessionSpec{Omit: []string{"first-sequence-number"}})
	for _, c := range []struct {
		s     *wire.Session
		first int64
		has   bool
	}{{p, 40, true}, {empty, 40, true}, {at1, 42, true}, {at2, 43, true}, {none, 0, false}} {
		m, _ := wire.DecodeManifest(objects[c.s.ID.ManifestKey()])
		if m.FirstSequenceNumber != c.first || m.HasFirst != c.has {
			t.Errorf("first sequence number %d (%v), want %d", m.FirstSequenceNumber, m.HasFirst, c.first)
		}
		next := c.s.NextSequence()
		v := c.s.Commit(wire.Checkpoint, wire.Text("x", "x"))
		s, _ := wire.DecodeSnapshot(objects[c.s.ID.SnapshotKey(v)])
		if s.Descriptors[0].SequenceNumber != next || c.s != p && next != c.first {
			t.Errorf("numbered %d, want %d", s.Descriptors[0].SequenceNumber, next)
		}
	}
}

func TestBuildStoresNothingAndDoesNotCountOn(t *testing.T) {
	objects := wire.Objects{}
	s := wire.NewBucket(objects).Session(wire.SessionSpec{})
	before := len(objects)
	spec := wire.SnapshotSpec{Type: wire.Provisional, Entries: []wire.Entry{wire.Text("a", "1"), wire.Text("b", "2")}}
	built, blobs, err := s.Build(spec)
	if err != nil || len(blobs) != 2 || len(objects) != before || s.Version() != 0 || s.NextSequence() != 1 {
		t.Fatalf("%d blobs, %d objects, version %d, next %d, %v", len(blobs), len(objects), s.Version(), s.NextSequence(), err)
	}
	if v := s.Put(spec); v != 1 || s.Version() != 1 || s.NextSequence() != 3 {
		t.Errorf("version %d, next %d", s.Version(), s.NextSequence())
	}
	if diff := cmp.Diff(built, objects[built.Key]); diff != "" {
		t.Error(diff)
	}
}

func TestOddForms(t *testing.T) {
	objects := wire.Objects{}
	b := wire.NewBucket(objects)
	s := b.Session(wire.SessionSpec{})
	seven := int64(7)
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.FixedZone("", 3600))
	e := wire.Entry{Body: []byte("long"), NoInline: true, NoBlob: true, Sequence: &seven, CreatedAt: at,
		Extra: map[string]any{"x": json.RawMessage("1e2"), "size": 9}, Omit: []string{"cache-control"}, CacheControl: "no-store"}
	v := s.Put(wire.SnapshotSpec{Version: 3, Type: wire.Queueing, NoType: true, Transaction: "-", ContentEncoding: "-", ContentType: "text/x",
		CacheControl: "-", Metadata: map[string]string{wire.MetaVersion: "", "schema": "s"}, Entries: []wire.Entry{e,
			{Raw: json.RawMessage(`{"raw":true}`)}, {Body: []byte{}, Inline: true}}})
	o := objects[s.ID.SnapshotKey(3)]
	want := wire.Stored{Key: s.ID.SnapshotKey(3), ContentType: "text/x", Metadata: map[string]string{wire.MetaSession: s.ID.String(), "schema": "s"},
		Body: []byte(`[{"digest":"` + wire.Digest([]byte("long")) + `","size":9,"created-at":"2030-01-02T02:04:05Z","sequence-number":7,"x":1e2},` +
			`{"raw":true},{"digest":"` + wire.Digest(nil) + `","created-at":"2024-02-29T23:00:09Z","sequence-number":9,"data":""}]`)}
	if diff := cmp.Diff(want, o); diff != "" {
		t.Error(diff)
	}
	if v != 3 || s.NextSequence() != 10 {
		t.Errorf("version %d, next %d", v, s.NextSequence())
	}
	if _, ok := objects["objects/"+wire.Digest([]byte("long"))]; ok {
		t.Error("the blob is there")
	}
	if _, ok := objects["objects/"+wire.Digest(nil)]; !ok {
		t.Error("the empty blob is not there")
	}
}

func TestUpperCaseSession(t *testing.T) {
	objects := wire.Objects{}
	b := wire.NewBucket(objects)
	p := b.Session(wire.SessionSpec{UpperCase: true})
	c := b.Session(wire.SessionSpec{Parent: p.Pointer(0), UpperCase: true})
	c.Commit(wire.Checkpoint, wire.CrossEntry("x", "y", p.ID))
	m, found := wire.DecodeManifest(objects[c.ID.ManifestKey()])
	if m.Session != strings.ToUpper(c.ID.String()) || m.Parent == nil || m.Parent.Session != strings.ToUpper(p.ID.String()) || len(found) != 2 {
		t.Errorf("%+v, %v", m, found)
	}
	s, _ := wire.DecodeSnapshot(objects[c.ID.SnapshotKey(1)])
	if id, ok := s.Descriptors[0].CrossTarget(); !ok || id != p.ID || s.Descriptors[0].TargetSession == id.String() {
		t.Errorf("target %s", s.Descriptors[0].TargetSession)
	}
}

func TestMemoryMergesByName(t *testing.T) {
	objects := wire.Objects{}
	b := wire.NewBucket(objects)
	record := func(name, body string) wire.MemoryEntry {
		return wire.MemoryEntry{Entry: wire.Text(name, body), Session: sessionID(1), Version: 1}
	}
	b.Memory("a/b", record("x", "1"), record("y", "1"))
	if v := b.Memory("a/b", record("x", "2"), record("z", "2")); v != 2 {
		t.Errorf("version %d", v)
	}
	old, _ := wire.DecodeMemory(objects[wire.MemoryKey("a/b", 1)])
	m, found := wire.DecodeMemory(objects[wire.MemoryKey("a/b", 2)])
	var got []string
	for _, r := range m.Records {
		got = append(got, r.Name+"="+string(r.Data))
	}
	if diff := cmp.Diff([]string{"y=1", "x=2", "z=2"}, got); diff != "" || found != nil {
		t.Error(diff, found)
	}
	if string(old.Records[1].Raw) != string(m.Records[0].Raw) {
		t.Errorf("a kept record changed from %s to %s", old.Records[1].Raw, m.Records[0].Raw)
	}
}

type refusingSink struct{}

var errRefused = errors.New("refused")

func (refusingSink) Put(wire.Stored) error { return errRefused }

func TestErrorsReachOnError(t *testing.T) {
	var got []error
	b := wire.NewBucket(refusingSink{})
	b.OnError = func(err error) { got = append(got, err) }
	s := b.Session(wire.SessionSpec{})
	if len(got) != 1 || !errors.Is(got[0], errRefused) || !strings.Contains(got[0].Error(), s.ID.ManifestKey()) {
		t.Errorf("%v", got)
	}
	got = nil
	s.Commit(wire.Checkpoint, wire.Entry{Extra: map[string]any{"x": func() {}}})
	if len(got) != 1 || s.Version() != 0 || !strings.Contains(got[0].Error(), `entry 1: extra field "x"`) {
		t.Errorf("%v, version %d", got, s.Version())
	}
	got = nil
	b.Session(wire.SessionSpec{ID: wire.NewSessionID(0xffffffff, [12]byte{})})
	if len(got) != 1 || !strings.Contains(got[0].Error(), "has no path") {
		t.Errorf("%v", got)
	}
	defer func() {
		if err, ok := recover().(error); !ok || !errors.Is(err, errRefused) {
			t.Errorf("panics with %v", err)
		}
	}()
	wire.NewBucket(refusingSink{}).Ref("x", "y")
}
