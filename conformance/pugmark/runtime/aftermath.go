package runtime

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

// aftermath is what the rules of the invariants ask for again and again. When they run, the
// story is over and its processes have ended, so that each thing is copied, decoded and hashed
// once for all of them. What is shared so must not be changed.
type aftermath struct {
	requests    []fakes3.Request
	creating    []fakes3.Request // those of them that store an object
	objects     memo[string, foundObject]
	digests     memo[string, string]
	documents   memo[int, readDocument] // by number of the request
	snapshots   memo[int, readSnapshot]
	memories    memo[int, wire.MemoryFile]
	outputs     memo[int, []wire.Output] // by number of the invocation
	descriptors memo[struct{}, []writtenDescriptor]
}

type foundObject struct {
	wire.Stored
	there bool
}

type readDocument struct {
	doc []byte
	ok  bool
	why string
}

type readSnapshot struct {
	wire.Snapshot
	problems []wire.Problem
}

// memo keeps what was made for a key. Its zero value is empty.
type memo[K comparable, V any] struct {
	mu   sync.Mutex
	kept map[K]V
}

// of returns the value for a key, by make where it is not known yet.
func (m *memo[K, V]) of(key K, make func() V) V {
	m.mu.Lock()
	v, ok := m.kept[key]
	m.mu.Unlock()
	if ok {
		return v
	}
	v = make()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept == nil {
		m.kept = map[K]V{}
	}
	m.kept[key] = v
	return v
}

// lookBack begins the time in which nothing changes any more; it ends with done.
func (x *Lab) lookBack() (done func()) {
	s := &aftermath{requests: x.S3.Requests()}
	for i := range s.requests {
		if creates(s.requests[i].Op) {
			s.creating = append(s.creating, s.requests[i])
		}
	}
	x.aftermath.Store(s)
	return func() { x.aftermath.Store(nil) }
}

// requests are the subject's requests so far, in order of arrival.
func (x *Lab) requests() []fakes3.Request {
	if s := x.aftermath.Load(); s != nil {
		return s.requests
	}
	return x.S3.Requests()
}

// remembered is what make returns, made once for a key while the invariants run.
func remembered[K comparable, V any](x *Lab, where func(*aftermath) *memo[K, V], key K, make func() V) V {
	s := x.aftermath.Load()
	if s == nil {
		return make()
	}
	return where(s).of(key, make)
}

// digestAt is the digest of the body at a key, of which it is known that it is there.
func (x *Lab) digestAt(key string, body []byte) string {
	return remembered(x, func(s *aftermath) *memo[string, string] { return &s.digests }, key, func() string { return wire.Digest(body) })
}

// document is the JSON text of a snapshot or memory file that the subject stored;
// ok is false where its body is no zstd stream of which all is decoded.
func (x *Lab) document(r fakes3.Request) (doc []byte, ok bool, why string) {
	d := remembered(x, func(s *aftermath) *memo[int, readDocument] { return &s.documents }, r.N, func() readDocument {
		doc, ok, why := decompressed(r.Body)
		return readDocument{doc, ok, why}
	})
	return d.doc, d.ok, d.why
}

// snapshotIn is the snapshot that a request stored, as far as it can be read.
func (x *Lab) snapshotIn(r fakes3.Request) readSnapshot {
	return remembered(x, func(s *aftermath) *memo[int, readSnapshot] { return &s.snapshots }, r.N, func() (out readSnapshot) {
		out.Snapshot, out.problems = wire.DecodeSnapshot(x.storedBy(r))
		return out
	})
}

// memoryIn is the memory file that a request stored, as far as it can be read.
func (x *Lab) memoryIn(r fakes3.Request) wire.MemoryFile {
	return remembered(x, func(s *aftermath) *memo[int, wire.MemoryFile] { return &s.memories }, r.N, func() wire.MemoryFile {
		file, _ := wire.DecodeMemory(x.storedBy(r))
		return file
	})
}

// storedBy is what a request stored, plain where it could be decompressed.
func (x *Lab) storedBy(r fakes3.Request) wire.Stored {
	if doc, ok, _ := x.document(r); ok {
		return wire.Stored{Key: Key(r), Body: doc}
	}
	return wire.Stored{Key: Key(r), Body: r.Body, ContentEncoding: "zstd"}
}

// outputsOf are the Outputs that a handler of the scenario has written so far.
func (x *Lab) outputsOf(inv *Invocation) []wire.Output {
	return remembered(x, func(s *aftermath) *memo[int, []wire.Output] { return &s.outputs }, inv.N, func() []wire.Output {
		inv.mu.Lock()
		emitted := bytes.Clone(inv.emitted)
		inv.mu.Unlock()
		outs, _ := wire.DecodeOutputs(emitted)
		return outs
	})
}

// allDescriptors are the descriptors and memory records of all files that the subject
// stored, copies of what the scenario laid out included.
func (x *Lab) allDescriptors() []writtenDescriptor {
	return remembered(x, func(s *aftermath) *memo[struct{}, []writtenDescriptor] { return &s.descriptors }, struct{}{}, x.readDescriptors)
}

func (x *Lab) readDescriptors() []writtenDescriptor {
	own := map[string]bool{}
	for _, r := range x.created("objects/") {
		own[Key(r)] = true
	}
	var out []writtenDescriptor
	add := func(r fakes3.Request, i int, d wire.Descriptor) {
		w := writtenDescriptor{Descriptor: d, file: r, copied: x.laidOut(d.BlobKey()) && !own[d.BlobKey()], place: fmt.Sprintf("descriptor %d of %s", i+1, Key(r))}
		if json.Unmarshal(d.Raw, &w.fields) == nil {
			out = append(out, w)
		}
	}
	for _, r := range x.snapshotWrites() {
		for i, d := range x.snapshotIn(r).Descriptors {
			add(r, i, d)
		}
	}
	for _, r := range x.Writes("memories/") {
		if wire.ParseKey(Key(r)).Kind == wire.KindMemory && r.Took == fakes3.Applied {
			for i, record := range x.memoryIn(r).Records {
				add(r, i, record.Descriptor)
			}
		}
	}
	return out
}
