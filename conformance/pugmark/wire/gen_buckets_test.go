package wire_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	fixtures "github.com/pugcheck/pugcheck/fixtures/pugmark"
)

// bucketCase lays out one bucket. lay says which session is to be read.
type bucketCase struct {
	name, about string
	lifecycle   string // event of the next invocation, or open
	push        int    // how many replayed Inputs are tagged, or -1 where open
	lay         func(b *wire.Bucket) *wire.Session
	extra       map[string]any // further expected-….json files
}

const open = "open"

// sessionID is a fixed ID for one part in one case; each holds letters in its tail.
func sessionID(n byte) wire.SessionID {
	return wire.NewSessionID(0x00073ea7, [12]byte{0x00, 0xab, 0xcd, 0xef, 0, 0, 0, 0, 0, 0, 0xfa, n})
}

var long = strings.Repeat("0123456789abcdef", 64) + "!" // 1025 bytes: one more than may be inlined

var bucketCases = []bucketCase{
	{name: "plain", about: "a root session with two checkpoints; bodies of 0, 1024 and 1025 bytes; two equal bodies under one name",
		lifecycle: "", push: 2, lay: func(b *wire.Bucket) *wire.Session {
			s := b.Session(wire.SessionSpec{ID: sessionID(1), Agent: "agent-1", Metadata: map[string]string{"k": "v"}})
			s.Commit(wire.Checkpoint, wire.Text("z", "first"), wire.Text("short", long[:1024]), wire.Text("long", long),
				wire.Text("empty", ""), wire.Text("b", "same"), wire.Text("b", "same"))
			s.Commit(wire.Checkpoint, wire.Text("y", "new"), wire.Text("a", "newer"))
			return s
		}},
	{name: "no-snapshot", about: "a session with a manifest and nothing committed: version 0", lifecycle: "start", push: 0,
		lay: func(b *wire.Bucket) *wire.Session { return b.Session(wire.SessionSpec{ID: sessionID(2)}) }},
	{name: "parent-chain", about: "three generations, each pointer below its target's latest version; created-at falls along the chain",
		lifecycle: open, push: -1, lay: func(b *wire.Bucket) *wire.Session {
			day := func(n int) time.Time { return time.Date(2024, 3, n, 0, 0, 0, 0, time.UTC) }
			old := func(name string, n int) wire.Entry {
				e := wire.Text(name, name+" body")
				e.CreatedAt = day(n)
				return e
			}
			g := b.Session(wire.SessionSpec{ID: sessionID(3)})
			g.Commit(wire.Checkpoint, old("g1-z", 30), old("g1-a", 29))
			g.Commit(wire.Checkpoint, old("g2", 28))
			p := b.Session(wire.SessionSpec{ID: sessionID(4), Parent: g.Pointer(2)})
			g.Commit(wire.Checkpoint, old("g3-beyond-the-pointer", 27))
			p.Commit(wire.Checkpoint, old("p1", 20), old("p1-b", 19))
			c := b.Session(wire.SessionSpec{ID: sessionID(5), Parent: p.Pointer(1)})
			p.Commit(wire.Checkpoint, old("p2-beyond-the-pointer", 18))
			c.Commit(wire.Checkpoint, old("c1", 10))
			c.Commit(wire.Checkpoint, old("c2-z", 9), old("c2-a", 8))
			return c
		}},
	{name: "fork-child", about: "a child just materialised, its own and a sibling's fork record in the parent (R-23: the body is seen once)",
		lifecycle: "fork", push: 1, lay: func(b *wire.Bucket) *wire.Session {
			p := b.Session(wire.SessionSpec{ID: sessionID(6), Agent: "agent-1", Handler: "python"})
			p.Commit(wire.Checkpoint, wire.Text("e1", "entry 1"), wire.ForkEntry("task for the child", sessionID(7)),
				wire.ForkEntry("task for the sibling", sessionID(8)), wire.LegacyForkEntry("task for an older sibling", sessionID(9)),
				wire.Text("e2", "entry 2"))
			spec := wire.SessionSpec{ID: sessionID(7), Agent: "agent-1", Handler: "python"}
			child := p.Fork(spec, wire.ForkEntry("task for the child", sessionID(7)))
			spec.ID = sessionID(8)
			p.Fork(spec, wire.ForkEntry("task for the sibling", sessionID(8)))
			return child
		}},
	{name: "pending-fork", about: "two fork records in the latest checkpoint, neither child existing", lifecycle: "", push: -1,
		lay: func(b *wire.Bucket) *wire.Session {
			s := b.Session(wire.SessionSpec{ID: sessionID(10)})
			s.Commit(wire.Checkpoint, wire.Text("w", "before"))
			s.Commit(wire.Checkpoint, wire.Text("x", "entry x"), wire.ForkEntry("task 1", sessionID(11)),
				wire.Text("y", "entry y"), wire.ForkEntry("task 2", sessionID(12)))
			return s
		}},
	{name: "legacy-fork", about: "a fork recorded as fork-session-id, and entries whose fork-session-id is empty or zero, which are plain",
		lifecycle: "", push: -1, lay: func(b *wire.Bucket) *wire.Session {
			s := b.Session(wire.SessionSpec{ID: sessionID(13)})
			plain := func(name, legacy string) wire.Entry {
				e := wire.Text(name, name+" body")
				e.Extra = map[string]any{"fork-session-id": legacy}
				return e
			}
			upper := wire.LegacyForkEntry("task 2", sessionID(15))
			upper.Target = strings.ToUpper(upper.Target)
			s.Commit(wire.Checkpoint, plain("empty", ""), wire.LegacyForkEntry("task 1", sessionID(14)), plain("zero", strings.Repeat("0", 32)),
				upper)
			return s
		}},
	{name: "untyped-snapshot", about: "the latest snapshot has no type in its metadata, so it is a checkpoint, and its fork is pending",
		lifecycle: "", push: -1, lay: func(b *wire.Bucket) *wire.Session {
			s := b.Session(wire.SessionSpec{ID: sessionID(16)})
			s.Commit(wire.Checkpoint, wire.Text("a", "typed"))
			s.Put(wire.SnapshotSpec{NoType: true, Entries: []wire.Entry{wire.Text("b", "untyped"), wire.ForkEntry("task", sessionID(17))}})
			return s
		}},
	{name: "provisional-on-top", about: "a provisional and a queueing snapshot above a checkpoint with a pending fork (R-21)",
		lifecycle: "", push: -1, lay: func(b *wire.Bucket) *wire.Session {
			s := b.Session(wire.SessionSpec{ID: sessionID(18)})
			s.Commit(wire.Checkpoint, wire.Text("x", "entry x"), wire.ForkEntry("task", sessionID(19)), wire.Text("y", "entry y"))
			s.Commit(wire.Provisional, wire.Text("p", "pushed"))
			s.Commit(wire.Queueing, wire.Text("q", "queued"))
			return s
		}},
	{name: "memory", about: "namespaces that nest, with several versions; user/123 and user/A sort before user's own files",
		lifecycle: "", push: 1, lay: func(b *wire.Bucket) *wire.Session {
			s := b.Session(wire.SessionSpec{ID: sessionID(20)})
			s.Commit(wire.Checkpoint, wire.Text("a", "entry"))
			record := func(name, body string) wire.MemoryEntry {
				return wire.MemoryEntry{Entry: wire.Text(name, body), Session: s.ID, Version: 1}
			}
			b.Memory("user", record("a", "user a 1"), record("b", "user b 1"), record("c", "user c 1"))
			b.Memory("user", record("b", "user b 2"))
			b.Memory("user", record("d", "user d 3"), record("a", "user a 3"))
			b.Memory("user/123", record("a", "nested a"), record("long", long))
			b.Memory("user/A", record("x", "beside"))
			b.Memory("user/zed/deep", record("x", "deep"))
			return s
		}, extra: map[string]any{"memory": memory("user/a", "user a 3", "user/b", "user b 2", "user/c", "user c 1", "user/d", "user d 3",
			"user/123/a", "nested a", "user/123/long", long, "user/A/x", "beside", "user/zed/deep/x", "deep")}},
	{name: "refs", about: "two named sessions and a ref of no kind", lifecycle: "", push: 1, lay: func(b *wire.Bucket) *wire.Session {
		s := b.Session(wire.SessionSpec{ID: sessionID(21), Name: "daily"})
		s.Commit(wire.Checkpoint, wire.Text("a", "entry"))
		b.Session(wire.SessionSpec{ID: sessionID(22), Name: "wöchentlich"})
		b.Ref("main", s.ID.ManifestKey())
		return s
	}, extra: map[string]any{"refs": map[string]string{"sessions/daily": sessionID(21).String(),
		"sessions/wöchentlich": sessionID(22).String(), "main": sessionID(21).String()}}},
	{name: "tombstone", about: "names deleted, written anew, and renamed; three spellings of a tombstone's missing digest",
		lifecycle: "", push: -1, lay: func(b *wire.Bucket) *wire.Session {
			s := b.Session(wire.SessionSpec{ID: sessionID(23)})
			empty, zero := wire.Tombstone("again"), wire.Tombstone("old-name")
			empty.Extra = map[string]any{"digest": ""}
			zero.Extra = map[string]any{"digest": "sha256:" + strings.Repeat("0", 64)}
			s.Commit(wire.Checkpoint, wire.Text("doc", "doc 1"), wire.Text("again", "again 1"), wire.Text("old-name", "kept"), wire.Text("other", "other"))
			s.Commit(wire.Checkpoint, wire.Tombstone("doc"), empty)
			s.Commit(wire.Provisional, wire.Text("again", "again 2"), zero, wire.Text("new-name", "kept"))
			return s
		}, extra: map[string]any{"lookups": map[string]any{"doc": nil, "again": wire.Digest([]byte("again 2")), "old-name": nil,
			"new-name": wire.Digest([]byte("kept")), "other": wire.Digest([]byte("other")), "never-written": nil}}},
	{name: "stopped-and-woken", about: "a stopped control message, then a provisional snapshot: the session is due, its new entries are tagged",
		lifecycle: "wake", push: 2, lay: func(b *wire.Bucket) *wire.Session {
			s := b.Session(wire.SessionSpec{ID: sessionID(24)})
			s.Commit(wire.Checkpoint, wire.Text("a", "entry"), wire.ControlEntry("running", "", ""))
			s.Commit(wire.Checkpoint, wire.Text("b", "last words"), wire.ControlEntry("stopped", "nothing to do", ""))
			s.Commit(wire.Provisional, wire.Text("c", "wake up"))
			s.Commit(wire.Queueing, wire.Text("d", "and this"))
			return s
		}},
	{name: "cross-session", about: "the target of two cross-session writes; its writer's log holds the requests", lifecycle: open, push: -1,
		lay: func(b *wire.Bucket) *wire.Session {
			w, target := b.Session(wire.SessionSpec{ID: sessionID(25)}), b.Session(wire.SessionSpec{ID: sessionID(26)})
			target.Commit(wire.Checkpoint, wire.Text("own", "own entry"))
			w.Commit(wire.Checkpoint, wire.Text("w", "writer's own"), wire.CrossEntry("m1", "message 1", target.ID), wire.CrossEntry("m2", "message 2", target.ID))
			target.Commit(wire.Provisional, wire.DeliveredEntry("m1", "message 1", w.ID, 1), wire.DeliveredEntry("m2", "message 2", w.ID, 1))
			return target
		}},
	{name: "cross-session-writer", about: "the writer's side: its log holds the requests among its own entries", lifecycle: open, push: -1,
		lay: func(b *wire.Bucket) *wire.Session {
			w, target := b.Session(wire.SessionSpec{ID: sessionID(27)}), b.Session(wire.SessionSpec{ID: sessionID(28)})
			w.Commit(wire.Checkpoint, wire.Text("w1", "one"), wire.CrossEntry("m", "message", target.ID), wire.Text("w2", "two"))
			target.Commit(wire.Provisional, wire.DeliveredEntry("m", "message", w.ID, 1))
			return w
		}},
	{name: "zstd-frames", about: "snapshots in other conformant zstd streams: two data frames, a skippable frame, no checksum, raw blocks",
		lifecycle: "", push: 1, lay: func(b *wire.Bucket) *wire.Session {
			s := b.Session(wire.SessionSpec{ID: sessionID(29)})
			skippable := []byte{0x50, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 'p', 'u', 'g'}
			for i, encode := range []func([]byte) []byte{
				func(d []byte) []byte { return append(wire.EncodeZstd(d[:len(d)/2]), wire.EncodeZstd(d[len(d)/2:])...) },
				func(d []byte) []byte { return append(skippable, wire.EncodeZstd(d)...) },
				func(d []byte) []byte { return append(wire.EncodeZstd(d), skippable...) },
				func(d []byte) []byte { return encodeWith(d, zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true)) },
				rawBlocks,
			} {
				s.Put(wire.SnapshotSpec{Encode: encode, Entries: []wire.Entry{wire.Text(fmt.Sprint("v", i+1), fmt.Sprint("body ", i+1))}})
			}
			return s
		}},
	{name: "upper-case-ids", about: "session IDs in upper case in manifests and descriptors", lifecycle: open, push: -1,
		lay: func(b *wire.Bucket) *wire.Session {
			p := b.Session(wire.SessionSpec{ID: sessionID(30), UpperCase: true})
			p.Commit(wire.Checkpoint, wire.Text("p", "parent's"), wire.ForkEntry("task", sessionID(31)))
			c := b.Session(wire.SessionSpec{ID: sessionID(31), Parent: p.Pointer(1), UpperCase: true})
			c.Commit(wire.Checkpoint, wire.Text("", "task"), wire.DeliveredEntry("m", "message", sessionID(32), 7))
			return c
		}},
	{name: "all-fields", about: "descriptors with every field, with unknown fields, and with nothing but digest, size and sequence-number",
		lifecycle: "", push: -1, lay: func(b *wire.Bucket) *wire.Session {
			s := b.Session(wire.SessionSpec{ID: sessionID(33), FirstSequence: 9007199254740993, Extra: map[string]any{"x-unknown": []int{1}},
				Agent: "agent-1", Handler: "python", Metadata: map[string]string{"a": "", "B": "x y", "ключ": "1"}})
			body, err := base64.StdEncoding.DecodeString(gzipped)
			if err != nil {
				panic(err)
			}
			all := wire.Entry{Body: body, Name: "ü/日本 😀", ContentType: "application/json; charset=utf-8",
				ContentEncoding: "gzip", SchemaURL: "https://example.com/schema", CacheControl: "max-age=60",
				Metadata: map[string]string{"a": "", "B": "x y", "ключ": "1"}, CreatedAt: time.Date(2024, 2, 29, 23, 59, 59, 123456789, time.UTC),
				Extra: map[string]any{"x-unknown": map[string]any{"fork": true}, "Fork": true}}
			s.Commit(wire.Checkpoint, all, wire.Entry{Body: []byte("bare"), NoInline: true, Omit: []string{"created-at"}})
			return s
		}},
}

func memory(pairs ...string) map[string]string {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = base64.StdEncoding.EncodeToString([]byte(pairs[i+1]))
	}
	return m
}

func encodeWith(d []byte, options ...zstd.EOption) []byte {
	e, err := zstd.NewWriter(nil, append(options, zstd.WithEncoderConcurrency(1))...)
	if err != nil {
		panic(err)
	}
	return e.EncodeAll(d, nil)
}

// rawBlocks writes a zstd frame by hand: no content size, a window of 1 KiB, uncompressed blocks of at most 100 bytes.
func rawBlocks(d []byte) []byte {
	out := []byte{0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x00}
	for block := range slices.Chunk(d, 100) {
		last := 0
		if &block[len(block)-1] == &d[len(d)-1] {
			last = 1
		}
		head := len(block)<<3 | last
		out = append(out, byte(head), byte(head>>8), byte(head>>16))
		out = append(out, block...)
	}
	return out
}

// files gives the files of the case's directory by name.
func (c bucketCase) files() (map[string][]byte, error) {
	objects := wire.Objects{}
	s := c.lay(wire.NewBucket(objects))
	index := fixtures.Bucket{Case: c.name, About: c.about, Session: s.ID.String(), Version: s.Version()}
	if c.lifecycle != open {
		index.Lifecycle = &c.lifecycle
	}
	if c.push >= 0 {
		index.Push = &c.push
	}
	files := map[string][]byte{}
	count := map[wire.Kind]int{}
	for _, key := range objects.Keys("") {
		o := objects[key]
		kind := wire.ParseKey(key).Kind
		count[kind]++
		name := fmt.Sprintf("%s-%02d%s", kind, count[kind], map[string]string{"zstd": ".json.zst"}[o.ContentEncoding])
		if o.ContentEncoding == "" {
			name += map[wire.Kind]string{wire.KindBlob: ".bin", wire.KindManifest: ".json", wire.KindRef: ".txt"}[kind]
		}
		files[name] = o.Body
		index.Objects = append(index.Objects, fixtures.Object{Key: key, File: name, ContentType: o.ContentType,
			ContentEncoding: o.ContentEncoding, CacheControl: o.CacheControl, Metadata: o.Metadata})
	}
	log, err := wire.Log(objects, s.ID, 0)
	if err != nil {
		return nil, fmt.Errorf("bucket %s: %w", c.name, err)
	}
	files["expected-log.jsonl"], files["expected-inputs.jsonl"] = []byte{}, []byte{}
	for _, e := range log {
		files["expected-log.jsonl"] = append(append(files["expected-log.jsonl"], e.Descriptor.Raw...), '\n')
	}
	for _, e := range wire.Visible(log, s.ID) {
		files["expected-inputs.jsonl"] = append(files["expected-inputs.jsonl"], inputOf(e)...)
	}
	files["index.json"] = indented(index)
	for name, v := range c.extra {
		files["expected-"+name+".json"] = indented(v)
	}
	return files, nil
}

// inputOf is the Input for an entry, with its body inline whatever its length.
func inputOf(e wire.LogEntry) []byte {
	d := e.Descriptor
	return wire.InputRecord{Size: d.Size, ContentType: d.ContentType, ContentEncoding: d.ContentEncoding, SchemaURL: d.SchemaURL,
		Name: d.Name, Metadata: d.Metadata, Data: e.Body}.Encode()
}

func indented(v any) []byte {
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return []byte(out.String())
}
