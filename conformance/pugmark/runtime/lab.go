package runtime

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pugcheck/pugcheck/conformance"
	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
	"github.com/pugcheck/pugcheck/harness/probe"
	"github.com/pugcheck/pugcheck/harness/report"
)

// The bucket root lies below a prefix of two segments, so that a runtime which
// takes the bucket itself, or its first segment, for the root is seen (S1-1).
const (
	bucketName = "pugcheck"
	bucketRoot = "lab/root/"
)

// Lab is the bench of one scenario: a fake S3 of its own, a bucket builder, the
// probe's hub, and the runtime under test.
type Lab struct {
	*conformance.T
	Ctx    context.Context
	Config Config
	Over   Transport
	S3     *fakes3.Server
	Bucket *wire.Bucket // writes below the root, unseen by the request record
	Hub    *probe.Hub

	mu      sync.Mutex
	runs    []*Run
	wrapped map[*probe.Invocation]*Invocation
	seeded  map[string]bool // keys that the scenario itself laid out

	aftermath atomic.Pointer[aftermath] // while the invariants run
}

func newLab(ctx context.Context, t *conformance.T, c Config, over Transport) *Lab {
	x := &Lab{T: t, Ctx: ctx, Config: c, Over: over, wrapped: map[*probe.Invocation]*Invocation{}, seeded: map[string]bool{}}
	var err error
	x.S3, err = fakes3.Start()
	t.Must(err)
	t.Cleanup(func() { x.S3.Close() })
	t.Must(x.S3.CreateBucket(bucketName))
	x.Hub, err = probe.NewHub()
	t.Must(err)
	t.Cleanup(func() { x.Hub.Close() })
	x.Bucket = wire.NewBucket(x)
	x.Bucket.OnError = t.Trouble
	t.Trace(x.trace)
	t.Timeline(x.timeline)
	t.Artifacts(x.keep)
	t.Cleanup(x.finish)
	return x
}

// finish ends what still runs and judges the invariants.
func (x *Lab) finish() {
	for _, r := range x.runs {
		r.end()
	}
	x.invariants()
}

// Put lays an object out below the root, as wire.Sink.
func (x *Lab) Put(o wire.Stored) error {
	x.mu.Lock()
	x.seeded[o.Key] = true
	x.mu.Unlock()
	return x.S3.Put(bucketName, bucketRoot+o.Key, fakes3.Object{
		Body: o.Body, ContentType: o.ContentType, ContentEncoding: o.ContentEncoding,
		CacheControl: o.CacheControl, Metadata: o.Metadata,
	})
}

// Get reads an object below the root, as wire.Source. The body must not be changed.
func (x *Lab) Get(key string) (wire.Stored, bool) {
	found := remembered(x, func(s *aftermath) *memo[string, foundObject] { return &s.objects }, key, func() foundObject {
		o, ok := x.get(key)
		return foundObject{o, ok}
	})
	return found.Stored, found.there
}

func (x *Lab) get(key string) (wire.Stored, bool) {
	o, ok := x.S3.View(bucketName, bucketRoot+key)
	if !ok {
		return wire.Stored{}, false
	}
	return wire.Stored{Key: key, Body: o.Body, ContentType: o.ContentType, ContentEncoding: o.ContentEncoding, CacheControl: o.CacheControl, Metadata: o.Metadata}, true
}

// Keys lists keys below the root, as wire.Source.
func (x *Lab) Keys(prefix string) []string {
	var out []string
	for _, k := range x.S3.Keys(bucketName, bucketRoot+prefix) {
		out = append(out, strings.TrimPrefix(k, bucketRoot))
	}
	return out
}

// laidOut tells whether the scenario put an object at the key itself, be it from
// a held request's goroutine.
func (x *Lab) laidOut(key string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.seeded[key]
}

// New lists keys below prefix that the scenario did not lay out itself.
func (x *Lab) New(prefix string) []string {
	var out []string
	for _, k := range x.Keys(prefix) {
		if !x.laidOut(k) {
			out = append(out, k)
		}
	}
	sort.Strings(out)
	return out
}

// Key is the root-relative key of a request, "" outside the root.
func Key(r fakes3.Request) string {
	key, ok := strings.CutPrefix(r.Key, bucketRoot)
	if r.Bucket != bucketName || !ok {
		return ""
	}
	return key
}

// Writes are the subject's PUT requests below prefix (root-relative), in order
// of arrival, whether or not they took effect.
func (x *Lab) Writes(prefix string) []fakes3.Request {
	var out []fakes3.Request
	all := x.requests()
	for i := range all {
		if r := &all[i]; r.Op == fakes3.OpPut && r.Bucket == bucketName && below(r.Key, prefix) {
			out = append(out, *r)
		}
	}
	return out
}

// At matches requests of the given operations on keys below prefix (root-relative).
func At(prefix string, ops ...fakes3.Op) fakes3.Match {
	return func(r *fakes3.Request) bool {
		if r.Bucket != bucketName || !strings.HasPrefix(r.Key, bucketRoot+prefix) {
			return false
		}
		for _, op := range ops {
			if r.Op == op {
				return true
			}
		}
		return len(ops) == 0
	}
}

// NewID makes a session ID of the present hour with letters in it, from the
// scenario's own random source.
func (x *Lab) NewID() wire.SessionID {
	return x.IDAt(uint32(time.Now().Unix() / 3600))
}

// IDAt makes a session ID with the given hour counter. Byte 4 begins with a zero
// digit and byte 5 has letters, so that lost zeros and wrong case show.
func (x *Lab) IDAt(hour uint32) wire.SessionID {
	var tail [12]byte
	for i := range tail {
		tail[i] = byte(x.Rand.Uint32())
	}
	tail[0] = tail[0] & 0x0f
	tail[1] = tail[1]&0x0f | 0xa0
	tail[11] = tail[11]&0xf0 | 0x0c
	return wire.NewSessionID(hour, tail)
}

// Bytes are n random bytes of the scenario's own source.
func (x *Lab) Bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(x.Rand.Uint32())
	}
	return b
}

// Word is a short random word, for names and bodies that must not repeat.
func (x *Lab) Word(prefix string) string { return fmt.Sprintf("%s-%08x", prefix, x.Rand.Uint32()) }

// Session lays out a session; a zero ID is drawn.
func (x *Lab) Session(spec wire.SessionSpec) *wire.Session {
	if spec.ID == (wire.SessionID{}) {
		spec.ID = x.NewID()
	}
	return x.Bucket.Session(spec)
}

// Snapshot reads and strictly decodes a snapshot; one that is not there gives ok =
// false. Where the runtime wrote something that is no array of descriptors, or under
// a name that is none, nothing can be said about what it committed, and the scenario
// ends: the invariants say what is wrong with it.
func (x *Lab) Snapshot(id wire.SessionID, version uint32) (wire.Snapshot, bool) {
	o, ok := x.Get(id.SnapshotKey(version))
	if !ok {
		x.legible()
		return wire.Snapshot{}, false
	}
	s, problems := wire.DecodeSnapshot(o)
	x.mu.Lock()
	own := !x.seeded[o.Key]
	x.mu.Unlock()
	for _, p := range problems {
		switch p.Kind {
		case wire.ProblemBody, wire.ProblemJSON, wire.ProblemShape:
			if own {
				x.Stop("what the runtime stored as a snapshot cannot be read, so its contents are not judged: %v", p)
			}
		}
	}
	return s, true
}

// Versions are the snapshot versions of a session, ascending, as the bucket has them.
func (x *Lab) Versions(id wire.SessionID) []uint32 {
	path, err := id.Path()
	x.Must(err)
	var out []uint32
	for _, k := range x.Keys(path + "/snapshots/") {
		name := k[strings.LastIndex(k, "/")+1:]
		if v, err := wire.ParseReverseVersion(strings.TrimSuffix(name, ".json")); err == nil {
			out = append(out, v)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i] < out[j] })
	return out
}

// Blame records a violation of each clause, with what was seen instead.
func (x *Lab) Blame(clauses []string, acceptable, seen string) {
	for _, id := range clauses {
		x.Clause(id).Calldepth(1).Holds(false, acceptable, seen)
	}
}

func (x *Lab) trace() []report.Block {
	var out []report.Block
	for i, r := range x.runs {
		out = append(out, r.trace(i+1)...)
	}
	for _, inv := range x.invocations() {
		out = append(out, inv.trace()...)
	}
	var b strings.Builder
	for _, r := range x.requests() {
		fmt.Fprintln(&b, r.String())
	}
	return append(out, report.Block{Title: "S3 requests", Text: b.String()})
}

func (x *Lab) invocations() []*Invocation {
	var out []*Invocation
	for _, p := range x.Hub.Arrived() {
		out = append(out, x.wrap(p))
	}
	return out
}

func (x *Lab) wrap(p *probe.Invocation) *Invocation {
	if p == nil {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	inv := x.wrapped[p]
	if inv == nil {
		inv = &Invocation{Invocation: p, lab: x}
		x.wrapped[p] = inv
	}
	return inv
}

func fields(s string) []string { return strings.Fields(s) }
