package runtime

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/pugcheck/pugcheck/conformance"
	"github.com/pugcheck/pugcheck/conformance/profile"
	"github.com/pugcheck/pugcheck/conformance/pugmark"
	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
	"github.com/pugcheck/pugcheck/harness/probe"
	"github.com/pugcheck/pugcheck/harness/report"
)

// put is one write of a make-believe runtime.
type put struct {
	wire.Stored
	ifNoneMatch string
	checksum    string // base64 of the SHA-256; "-" for none
	method      string // default: PUT
}

// writer holds what a make-believe runtime is about to write: the blobs of two
// entries and of a control message, the snapshot that names them, and a memory file.
type writer struct {
	lab             *Lab
	session, source *wire.Session
	entries         []wire.Entry
	spec            wire.SnapshotSpec
	puts            []put // once built: blobs, snapshot, memory
	change          func(puts []put) []put
}

func (w *writer) build(t *testing.T) {
	t.Helper()
	w.spec.Entries = w.entries
	file, blobs, err := w.session.Build(w.spec)
	if err != nil {
		t.Fatal(err)
	}
	memory, more, err := wire.BuildMemory("notes", 1, wire.MemoryEntry{Entry: wire.Text("k", "note"), Session: w.session.ID, Version: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range append(blobs, more...) {
		w.puts = append(w.puts, put{Stored: b})
	}
	w.puts = append(w.puts, put{Stored: file, ifNoneMatch: "*"}, put{Stored: memory, ifNoneMatch: "*"})
	if w.change != nil {
		w.puts = w.change(w.puts)
	}
}

func (w *writer) send(t *testing.T) {
	t.Helper()
	for _, p := range w.puts {
		if p.method == "" {
			p.method = http.MethodPut
		}
		r, err := http.NewRequest(p.method, w.lab.S3.Endpoint()+"/"+bucketName+"/"+bucketRoot+p.Key, bytes.NewReader(p.Body))
		if err != nil {
			t.Fatal(err)
		}
		set := func(name, value string) {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		set("Content-Type", p.ContentType)
		set("Content-Encoding", p.ContentEncoding)
		set("Cache-Control", p.CacheControl)
		set("If-None-Match", p.ifNoneMatch)
		if strings.HasPrefix(p.Key, "objects/") && p.checksum == "" {
			raw, _ := hex.DecodeString(strings.TrimPrefix(wire.Digest(p.Body), "sha256:"))
			p.checksum = base64.StdEncoding.EncodeToString(raw)
		}
		if p.checksum != "-" {
			set("X-Amz-Checksum-Sha256", p.checksum)
		}
		for k, v := range p.Metadata {
			set("X-Amz-Meta-"+k, v)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
	}
}

// at is the first write whose key begins with a prefix and ends with a suffix.
func at(puts []put, prefix, suffix string) *put {
	i := slices.IndexFunc(puts, func(p put) bool { return strings.HasPrefix(p.Key, prefix) && strings.HasSuffix(p.Key, suffix) })
	return &puts[i]
}

func snapshotOf(puts []put) *put { return at(puts, "sessions/", ".json") }
func blobOfAny(puts []put) *put  { return at(puts, "objects/", "") }

// Every fault of what is stored is held against one clause, the right one.
func TestBucketInvariants(t *testing.T) {
	header := func(f func(p *put)) func(w *writer) {
		return func(w *writer) { w.change = func(puts []put) []put { f(snapshotOf(puts)); return puts } }
	}
	blob := func(f func(p *put)) func(w *writer) {
		return func(w *writer) { w.change = func(puts []put) []put { f(blobOfAny(puts)); return puts } }
	}
	extra := func(key string) func(w *writer) {
		return func(w *writer) {
			w.change = func(puts []put) []put { return append(puts, put{Stored: wire.Stored{Key: key, Body: []byte("x")}}) }
		}
	}
	field := func(name string, value any) func(w *writer) {
		return func(w *writer) { w.entries[0].Extra = map[string]any{name: value} }
	}
	meta := func(key, value string) func(w *writer) {
		return func(w *writer) { w.spec.Metadata = map[string]string{key: value} }
	}
	document := func(text string) func(w *writer) {
		return func(w *writer) {
			encode := func([]byte) []byte { return wire.EncodeZstd([]byte(text)) }
			w.spec.Encode = encode
		}
	}
	long := bytes.Repeat([]byte("long "), 300)
	for _, c := range []struct {
		fault    string
		seed     func(w *writer)
		violates string
	}{
		{"none", func(*writer) {}, ""},
		{"none, two frames", func(w *writer) { w.spec.Encode = inFrames }, ""},
		{"none, a charset", header(func(p *put) { p.ContentType = "application/json; charset=utf-8" }), ""},
		{"none, a chunked transfer's token", header(func(p *put) { p.ContentEncoding = "zstd,aws-chunked" }), ""},
		{"none, ten years", blob(func(p *put) { p.CacheControl = "public, immutable, max-age=315360000" }), ""},
		{"none, a zero tombstone", func(w *writer) { w.entries = append(w.entries, wire.Tombstone("gone")) }, ""},
		{"none, zero references", field("target-session", zeroID), ""},
		{"none, no inline data", func(w *writer) { w.entries[0].NoInline = true }, ""},

		{"a lock", extra("locks/session"), "S1-2"},
		{"an index of branches", func(w *writer) {
			extra(strings.TrimSuffix(w.session.ID.ManifestKey(), "manifest.json") + "branches.json")(w)
		}, "S1-5"},
		{"a list of sessions", extra("sessions/index.json"), "S1-5"},
		{"a lock in memory", extra("memories/notes/lock"), "S1-5"},
		{"a directory marker", extra("refs/sessions/"), "S1-5"},
		{"another algorithm", extra("objects/sha1:0123456789abcdef0123456789abcdef01234567"), "S1-5"},
		{"a snapshot deleted", func(w *writer) {
			w.change = func(puts []put) []put {
				return append(puts, put{Stored: wire.Stored{Key: w.session.ID.SnapshotKey(1)}, method: http.MethodDelete})
			}
		}, "S1-8"},
		{"a snapshot read and replaced", func(w *writer) {
			w.change = func(puts []put) []put {
				old, _ := w.lab.Get(w.session.ID.SnapshotKey(1))
				read := put{Stored: wire.Stored{Key: old.Key}, method: http.MethodGet}
				replaced := *snapshotOf(puts)
				replaced.Key, replaced.Metadata, replaced.ifNoneMatch = old.Key, old.Metadata, ""
				return append(puts, read, replaced)
			}
		}, "S1-8"},

		{"an escaped colon", blob(func(p *put) { p.Key = strings.Replace(p.Key, ":", "%253A", 1) }), "S3-1"},
		{"a slash for the colon", blob(func(p *put) { p.Key = strings.Replace(p.Key, ":", "/", 1) }), "S3-1"},
		{"no algorithm", blob(func(p *put) { p.Key = strings.Replace(p.Key, "sha256:", "", 1) }), "S3-1"},
		{"an upper-case digest in the key", blob(func(p *put) {
			p.Key = "objects/sha256:" + strings.ToUpper(strings.TrimPrefix(p.Key, "objects/sha256:"))
		}), "S3-2"},
		{"a short digest in the key", blob(func(p *put) { p.Key = p.Key[:len(p.Key)-1] }), "S3-2"},
		{"the digest of other bytes", blob(func(p *put) { p.Body = append([]byte(nil), bytes.ToUpper(p.Body)...) }), "S3-3"},
		{"no Cache-Control on a blob", blob(func(p *put) { p.CacheControl = "" }), "S3-5"},
		{"no-cache on a blob", blob(func(p *put) { p.CacheControl = "no-cache" }), "S3-5"},
		{"max-age without immutable", blob(func(p *put) { p.CacheControl = "max-age=31536000" }), "S3-5"},
		{"max-age of an hour", blob(func(p *put) { p.CacheControl = "max-age=3600, immutable" }), "S3-5 (warn), S3-6 (warn)"},
		{"no checksum", blob(func(p *put) { p.checksum = "-" }), "S3-7"},
		{"If-None-Match on a blob", blob(func(p *put) { p.ifNoneMatch = "*" }), "S3-9"},
		{"a long body inline", func(w *writer) { w.entries[0].Body, w.entries[0].Inline = long, true }, "S3.1-2"},
		{"a blob of an inline body left out", func(w *writer) { w.entries[0].NoBlob = true }, "S3.1-3, S7.1-3"},

		{"an object in place of the array", document(`{"descriptors":[]}`), "S6-1"},
		{"one descriptor per line", document("{}\n{}\n"), "S6-1"},
		{"text behind the array", document("[] []"), "S6-1"},
		{"an array in the array", document("[[]]"), "S6-1"},
		{"a lower-case file name", header(func(p *put) { p.Key = strings.Replace(p.Key, "FFFFFFFE", "fffffffe", 1) }), "S6.1-3"},
		{"a decimal file name", header(func(p *put) { p.Key = strings.Replace(p.Key, "FFFFFFFE", "2", 1) }), "S6.1-3"},
		{"no-cache on a snapshot", header(func(p *put) { p.CacheControl = "no-cache" }), "S6.2-1 (warn)"},
		{"another type of content", header(func(p *put) { p.ContentType = "application/zstd" }), "S6.2-2"},
		{"no Content-Encoding", header(func(p *put) { p.ContentEncoding = "" }), "S6.2-3"},
		{"plain JSON as zstd", func(w *writer) { w.spec.Encode = func(b []byte) []byte { return b } }, "S6.2-4"},
		{"bytes behind the frame", func(w *writer) { w.spec.Encode = func(b []byte) []byte { return append(wire.EncodeZstd(b), "\n"...) } }, "S6.2-4"},
		{"an unconditional snapshot", header(func(p *put) { p.ifNoneMatch = "" }), "S6.2-8"},
		{"another session in the metadata", func(w *writer) { meta(wire.MetaSession, w.source.ID.String())(w) }, "S6.2-9 (warn)"},
		{"no session in the metadata", meta(wire.MetaSession, ""), "S6.2-9 (warn)"},
		{"another version in the metadata", meta(wire.MetaVersion, "1"), "S6.2-10 (warn)"},
		{"no transaction ID", meta(wire.MetaTransaction, ""), "S13.2-2, S6.2-11"},
		{"a UUID as transaction ID", meta(wire.MetaTransaction, "0d9c8d55-9f5c-4b36-b0a4-9a4e6c6dbd2b"), "S13.2-2, S6.2-11"},
		{"transaction ID 0", meta(wire.MetaTransaction, "0"), "S13.2-8"},
		{"no type", func(w *writer) { w.spec.NoType = true }, "S6.2-12 (warn)"},
		{"no type on a delivery", func(w *writer) {
			w.spec.NoType = true
			w.entries = []wire.Entry{wire.DeliveredEntry("d", "delivered", w.source.ID, 1)}
		}, "S6.2-12"},
		{"a capital in the type", meta(wire.MetaType, "Checkpoint"), "S6.4-1"},

		{"a bare digest", func(w *writer) { field("digest", strings.TrimPrefix(wire.Digest(w.entries[0].Body), "sha256:"))(w) }, "S7-1"},
		{"no digest", func(w *writer) { w.entries[0].Omit = fields("digest") }, "S7-1"},
		{"a blob left out", func(w *writer) { w.entries[1].NoBlob = true }, "S7-2"},
		{"the blob of a control message left out", func(w *writer) { w.entries[2].NoBlob = true }, "S7-2"},
		{"a blob behind its snapshot", func(w *writer) {
			w.change = func(puts []put) []put { return append(puts[1:], puts[0]) }
		}, "S7-3"},
		{"the length of the base64", field("size", 8), "S7-4"},
		{"size as text", field("size", "4"), "S7-4"},
		{"Unix seconds", field("created-at", 1709247600), "S7-5"},
		{"a local time", field("created-at", "2024-02-29T23:00:00"), "S7-5"},
		{"no created-at", func(w *writer) { w.entries[0].Omit = fields("created-at") }, "S7-5 (warn)"},
		{"a number as name", field("name", 7), "S7-6"},
		{"a number in metadata", field("metadata", map[string]any{"k": 1}), "S7-7"},
		{"seconds as cache-control", field("cache-control", 3600), "S7-8"},
		{"sequence-number as text", field("sequence-number", "2"), "S7-9"},
		{"a target that is no ID", field("target-session", "here"), "S7-10"},
		{"source-version as text", field("source-version", "1"), "S7-10"},
		{"fork as text", field("fork", "no"), "S7-10"},
		{"other bytes inline", field("data", "b3RoZXI="), "S7.1-1"},
		{"text in data", field("data", "not base64!"), "S7.1-1"},
		{"base64 without padding", func(w *writer) { field("data", base64.RawStdEncoding.EncodeToString(w.entries[0].Body))(w) }, "S7.1-1 (warn)"},
		{"the older field of forks", field("fork-session-id", ""), "S7.2-4"},
	} {
		t.Run(c.fault, func(t *testing.T) {
			x := benchWithoutSubject(t)
			w := &writer{lab: x, session: x.Session(wire.SessionSpec{}), source: x.Session(wire.SessionSpec{})}
			w.session.Commit(wire.Checkpoint, x.text("seed"))
			w.entries = []wire.Entry{wire.Text("short", "body"), wire.Text("long", string(long)), stopped("enough")}
			c.seed(w)
			w.build(t)
			w.send(t)
			x.invariants()
			if got := violations(t, x, "S1-2", "S1-5", "S1-8", "S3", "S6", "S7", "S13.2"); got != c.violates {
				t.Errorf("what was stored violates %q, held against it: %q", c.violates, got)
			}
		})
	}
}

// benchWithoutSubject is a lab whose subject is the test itself.
func benchWithoutSubject(t *testing.T) *Lab {
	t.Helper()
	s3, err := fakes3.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s3.Close() })
	if err := s3.CreateBucket(bucketName); err != nil {
		t.Fatal(err)
	}
	hub, err := probe.NewHub()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = hub.Close() })
	x := &Lab{
		T:   &conformance.T{Ledger: conformance.NewLedger(pugmark.Severity, Always()), Rand: rand.New(rand.NewPCG(1, 2))},
		Ctx: context.Background(), Config: Config{Profile: profile.Default()}, S3: s3, Hub: hub, seeded: map[string]bool{},
	}
	x.Bucket = wire.NewBucket(x)
	return x
}

// violations are the violated clauses with one of the prefixes, in order of their
// names; a warning says so.
func violations(t *testing.T, x *Lab, prefixes ...string) string {
	t.Helper()
	var found []string
	for _, f := range x.Worst(report.Fail, report.Warn, report.Error) {
		name := f.Clause
		if f.Verdict != report.Fail {
			name += fmt.Sprintf(" (%s)", f.Verdict)
		}
		mine := slices.ContainsFunc(prefixes, func(p string) bool {
			return f.Clause == p || strings.HasPrefix(f.Clause, p+".") || strings.HasPrefix(f.Clause, p+"-")
		})
		if mine && !slices.Contains(found, name) {
			found = append(found, name)
		}
		t.Logf("%s: acceptable: %s; seen: %s", name, f.Acceptable, f.Seen)
	}
	slices.Sort(found)
	return strings.Join(found, ", ")
}
