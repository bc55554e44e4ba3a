package wire

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// The Cache-Control values that the builder writes.
const (
	Immutable = "max-age=31536000, immutable"
	NoCache   = "no-cache"
)

// Bucket lays out sessions, memory namespaces and refs byte by byte. What it writes depends on nothing but the calls: the
// same calls give the same bytes.
//
// A scenario that cannot be laid out is a defect of the scenario or of its environment, so errors do not come back from
// each call: they go to OnError, and without one they panic. A Bucket is not safe for concurrent use.
type Bucket struct {
	OnError  func(error)
	sink     Sink
	sessions map[SessionID]*Session
	memory   map[string]*namespace
	made     int
}

// NewBucket makes a builder that puts what it makes into sink.
func NewBucket(sink Sink) *Bucket {
	return &Bucket{sink: sink, sessions: map[SessionID]*Session{}, memory: map[string]*namespace{}}
}

func (b *Bucket) fail(err error) {
	if b.OnError == nil {
		panic(err)
	}
	b.OnError(err)
}

// Raw stores an object as it is.
func (b *Bucket) Raw(o Stored) {
	if err := b.sink.Put(o); err != nil {
		b.fail(fmt.Errorf("put %s: %w", o.Key, err))
	}
}

// Blob stores a body under its digest and gives that.
func (b *Bucket) Blob(body []byte, contentType, contentEncoding string) (digest string) {
	digest = Digest(body)
	b.Raw(Stored{Key: "objects/" + digest, Body: body, ContentType: contentType, ContentEncoding: contentEncoding,
		CacheControl: Immutable})
	return digest
}

// Ref stores refs/<name> with a target, without a line feed.
func (b *Bucket) Ref(name, target string) { b.Raw(Ref(name, target)) }

// Ref is the object that links a name to a target.
func Ref(name, target string) Stored {
	return Stored{Key: "refs/" + name, Body: []byte(target), ContentType: "text/plain; charset=utf-8",
		CacheControl: NoCache}
}

// SessionSpec describes a session to create. The zero value of every field stands for what a conforming writer does.
type SessionSpec struct {
	ID                   SessionID // default: the next of a fixed series, all of one hour in 2024
	Parent               *Pointer
	Name, Agent, Handler string // a name also gets its ref
	Metadata             map[string]string
	FirstSequence        int64          // default: 1, or for a child of a session made here the number after its parent's last visible one
	UpperCase            bool           // write session IDs in upper case
	Extra                map[string]any // fields by hand, replacing known ones
	Omit                 []string       // fields to leave out; without first-sequence-number the numbering begins at 0
	NoRef                bool           // do not write the ref of a named session
	NoManifest           bool           // write no manifest
	ContentEncoding      string         // "gzip" or "zstd": write the manifest encoded
}

// Session writes a session's manifest, and its ref if it is named, and gives what further commits go to.
func (b *Bucket) Session(spec SessionSpec) *Session {
	if spec.ID.IsZero() {
		spec.ID = b.nextID()
	}
	s := &Session{ID: spec.ID, bucket: b, upper: spec.UpperCase, parent: spec.Parent, lasts: map[uint32]int64{}}
	s.first = b.firstSequence(spec)
	s.next, s.lasts[0] = s.first, s.first-1
	if _, err := spec.ID.Path(); err != nil && !spec.NoManifest {
		b.fail(err)
		return s
	}
	b.sessions[spec.ID] = s
	manifest, err := spec.manifest(s.first)
	if err != nil {
		b.fail(fmt.Errorf("manifest of session %s: %w", spec.ID, err))
		return s
	}
	if !spec.NoManifest {
		b.Raw(manifest)
	}
	if spec.Name != "" && !spec.NoRef {
		b.Ref("sessions/"+spec.Name, spec.ID.ManifestKey())
	}
	return s
}

// nextID is the next of the series of IDs for sessions that do not care. Each holds hex letters, so that case shows.
func (b *Bucket) nextID() SessionID {
	for {
		b.made++
		sum := sha256.Sum256(fmt.Appendf(nil, "session %d of a bucket", b.made))
		id := NewSessionID(0x00073ea7, [12]byte(sum[:12]))
		if _, taken := b.sessions[id]; !taken {
			return id
		}
	}
}

func (b *Bucket) firstSequence(spec SessionSpec) int64 {
	switch {
	case slices.Contains(spec.Omit, "first-sequence-number"):
		return 0
	case spec.FirstSequence != 0:
		return spec.FirstSequence
	case spec.Parent != nil:
		if id, err := ParseSessionID(spec.Parent.Session); err == nil && b.sessions[id] != nil {
			// S7.3: the child counts on from what it can see of its parent.
			if last, ok := b.sessions[id].lasts[spec.Parent.Version]; ok {
				return last + 1
			}
		}
	}
	return 1
}

func (spec SessionSpec) manifest(first int64) (Stored, error) {
	id := func(text string) string {
		if spec.UpperCase {
			return upper(text)
		}
		return text
	}
	var w writer
	w.str("session", id(spec.ID.String()))
	if spec.Parent != nil {
		var p writer
		p.str("session", id(spec.Parent.Session))
		p.raw("version", strconv.AppendUint(nil, uint64(spec.Parent.Version), 10))
		w.raw("parent", p.object())
	}
	w.str("name", spec.Name)
	w.str("agent", spec.Agent)
	w.str("handler", spec.Handler)
	w.strings("metadata", spec.Metadata)
	w.raw("first-sequence-number", strconv.AppendInt(nil, first, 10))
	if err := w.extra(spec.Extra); err != nil {
		return Stored{}, err
	}
	for _, k := range spec.Omit {
		w.drop(k)
	}
	body, err := encodeBody(w.object(), spec.ContentEncoding)
	return Stored{Key: spec.ID.ManifestKey(), Body: body, ContentType: "application/json",
		ContentEncoding: spec.ContentEncoding, CacheControl: Immutable}, err
}

// Manifest is the manifest object that Session would write, without writing it. FirstSequence is taken as it is, 0
// standing for 1.
func (spec SessionSpec) Manifest() (Stored, error) {
	first := spec.FirstSequence
	if first == 0 {
		first = 1
	}
	return spec.manifest(first)
}

// transaction is a fixed non-zero number for one file.
func transaction(key string) uint64 {
	sum := sha256.Sum256([]byte("transaction of " + key))
	return binary.BigEndian.Uint64(sum[:]) | 1
}

// MemoryEntry is one record of a memory file to write.
type MemoryEntry struct {
	Entry
	Session     SessionID // of the commit envelope, with the two below
	Version     uint32
	Transaction uint64 // default: a fixed non-zero number
	NoCommit    bool   // leave the envelope out
}

type namespace struct {
	version uint32
	next    int64
	names   []string
	records [][]byte
}

// Memory writes the next version of a namespace as a conforming writer does: records of the latest version whose names
// are written anew fall out, the others stay as they are, the new ones are appended (S8.3-3). It gives the version.
func (b *Bucket) Memory(name string, entries ...MemoryEntry) (version uint32) {
	ns := b.memory[name]
	if ns == nil {
		ns = &namespace{next: 1}
		b.memory[name] = ns
	}
	for _, e := range entries {
		w, err := e.record(ns.next, MemoryKey(name, ns.version+1))
		if err != nil {
			b.fail(fmt.Errorf("memory namespace %s: %w", name, err))
			return ns.version
		}
		ns.next++
		if w.blob != nil {
			b.Raw(*w.blob)
		}
		if i := slices.Index(ns.names, w.name); i >= 0 {
			ns.names, ns.records = slices.Delete(ns.names, i, i+1), slices.Delete(ns.records, i, i+1)
		}
		ns.names, ns.records = append(ns.names, w.name), append(ns.records, w.json)
	}
	ns.version++
	b.Raw(memoryFile(name, ns.version, ns.records))
	return ns.version
}

// BuildMemory makes a memory file of exactly these records, for odd forms; nothing is stored, its blobs included.
func BuildMemory(name string, version uint32, entries ...MemoryEntry) (file Stored, blobs []Stored, err error) {
	var records [][]byte
	for i, e := range entries {
		w, err := e.record(int64(i)+1, MemoryKey(name, version))
		if err != nil {
			return Stored{}, nil, fmt.Errorf("memory namespace %s: %w", name, err)
		}
		if w.blob != nil {
			blobs = append(blobs, *w.blob)
		}
		records = append(records, w.json)
	}
	return memoryFile(name, version, records), blobs, nil
}

// MemoryKey is the key of a version, from 1 on, of a namespace.
func MemoryKey(name string, version uint32) string {
	return "memories/" + name + "/" + reverse(version) + ".json"
}

func memoryFile(name string, version uint32, records [][]byte) Stored {
	return Stored{Key: MemoryKey(name, version), Body: EncodeZstd(documentOf(records)), ContentType: "application/json",
		ContentEncoding: "zstd", CacheControl: Immutable}
}

func (e MemoryEntry) record(sequence int64, key string) (written, error) {
	if e.Sequence != nil {
		sequence = *e.Sequence
	}
	created := e.Session.Time().Add(secondsOf(sequence))
	return e.descriptor(sequence, created, func(w *writer) {
		if e.NoCommit {
			return
		}
		number := e.Transaction
		if number == 0 {
			number = transaction(key)
		}
		var c writer
		c.str("session", e.Session.String())
		c.raw("version", strconv.AppendUint(nil, uint64(e.Version), 10))
		c.raw("transaction", strconv.AppendUint(nil, number, 10))
		w.raw("commit", c.object())
	})
}

// Sessions are the IDs of the sessions made so far, in byte order.
func (b *Bucket) Sessions() []SessionID {
	return slices.SortedFunc(maps.Keys(b.sessions), func(x, y SessionID) int { return slices.Compare(x[:], y[:]) })
}
