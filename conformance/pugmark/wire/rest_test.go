package wire_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

// snapshotOf is a good snapshot of one entry, changed by edit.
func snapshotOf(edit func(*wire.Stored, *wire.SnapshotSpec)) wire.Stored {
	s := wire.NewBucket(wire.Objects{}).Session(wire.SessionSpec{ID: sessionID(1)})
	spec := wire.SnapshotSpec{Entries: []wire.Entry{wire.Text("n", "body")}}
	edit(nil, &spec)
	file, _, err := s.Build(spec)
	if err != nil {
		panic(err)
	}
	edit(&file, nil)
	return file
}

func entry(extra map[string]any) func(*wire.Stored, *wire.SnapshotSpec) {
	return func(_ *wire.Stored, spec *wire.SnapshotSpec) {
		if spec != nil {
			spec.Entries[0].Extra = extra
		}
	}
}

func document(text string) func(*wire.Stored, *wire.SnapshotSpec) {
	return func(_ *wire.Stored, spec *wire.SnapshotSpec) {
		if spec != nil {
			spec.Document = []byte(text)
		}
	}
}

func file(edit func(*wire.Stored)) func(*wire.Stored, *wire.SnapshotSpec) {
	return func(o *wire.Stored, _ *wire.SnapshotSpec) {
		if o != nil {
			edit(o)
		}
	}
}

var goodBody = wire.Digest([]byte("body"))

func TestSnapshotProblems(t *testing.T) {
	other := sessionID(2).String()
	for _, c := range []struct {
		name        string
		edit        func(*wire.Stored, *wire.SnapshotSpec)
		kind        wire.ProblemKind // empty: no problem
		where       string
		descriptors int
	}{
		{"good", func(*wire.Stored, *wire.SnapshotSpec) {}, "", "", 1},
		{"empty array", document("[]"), "", "", 0},
		{"whitespace around", document(" \n[ ]\r\n"), "", "", 0},
		{"key of another class", file(func(o *wire.Stored) { o.Key = "refs/x" }), wire.ProblemKey, "", 1},
		{"no Content-Encoding", file(func(o *wire.Stored) { o.ContentEncoding = "" }), wire.ProblemEncoding, "Content-Encoding", 1},
		{"wrong Content-Type", file(func(o *wire.Stored) { o.ContentType = "text/plain" }), wire.ProblemHeader, "Content-Type", 1},
		{"charset parameter", file(func(o *wire.Stored) { o.ContentType = "application/json; charset=utf-8" }), "", "", 1},
		{"not zstd", file(func(o *wire.Stored) { o.Body = []byte("[]") }), wire.ProblemBody, "", 0},
		{"cut short", file(func(o *wire.Stored) { o.Body = o.Body[:len(o.Body)-1] }), wire.ProblemBody, "", 0},
		{"trailing byte", file(func(o *wire.Stored) { o.Body = append(o.Body, 'x') }), wire.ProblemTrailing, "", 1},
		{"unknown type", file(func(o *wire.Stored) { o.Metadata[wire.MetaType] = "final" }), wire.ProblemUnexpected, "metadata pugmark-snapshot-type", 1},
		{"other session", file(func(o *wire.Stored) { o.Metadata[wire.MetaSession] = other }), wire.ProblemMismatch, "metadata pugmark-snapshot-session", 1},
		{"malformed session", file(func(o *wire.Stored) { o.Metadata[wire.MetaSession] = "x" }), wire.ProblemMetadata, "metadata pugmark-snapshot-session", 1},
		{"other version", file(func(o *wire.Stored) { o.Metadata[wire.MetaVersion] = "2" }), wire.ProblemMismatch, "metadata pugmark-snapshot-version", 1},
		{"malformed version", file(func(o *wire.Stored) { o.Metadata[wire.MetaVersion] = "-1" }), wire.ProblemMetadata, "metadata pugmark-snapshot-version", 1},
		{"transaction zero", file(func(o *wire.Stored) { o.Metadata[wire.MetaTransaction] = "0" }), wire.ProblemMetadata, "metadata pugmark-transaction-id", 1},
		{"transaction in hex", file(func(o *wire.Stored) { o.Metadata[wire.MetaTransaction] = "00000000deadbeef" }), "", "", 1},
		{"transaction as text", file(func(o *wire.Stored) { o.Metadata[wire.MetaTransaction] = "tx" }), wire.ProblemMetadata, "metadata pugmark-transaction-id", 1},
		{"object", document("{}"), wire.ProblemShape, "byte 0", 0},
		{"element no object", document("[1]"), wire.ProblemShape, "descriptor 1", 0},
		{"empty document", document(" "), wire.ProblemJSON, "byte 1", 0},
		{"broken document", document(`[{"digest":"` + goodBody + `","size":4},{]`), wire.ProblemJSON, "byte 96", 1},
		{"two documents", document("[] []"), wire.ProblemTrailing, "byte 3", 0},
		{"byte-order mark", document("\xef\xbb\xbf[]"), wire.ProblemText, "byte 0", 0},
		{"repeated key", document(`[{"digest":"` + goodBody + `","size":4,"size":4}]`), wire.ProblemDuplicate, "byte 94", 1},
		{"NaN", document(`[{"digest":"` + goodBody + `","x":NaN}]`), wire.ProblemJSON, "byte 89", 1},
		{"invalid UTF-8", document(`[{"digest":"` + goodBody + "\",\"name\":\"\xff\"}]"), wire.ProblemText, "byte 93", 1},
		{"no digest", entry(map[string]any{"digest": ""}), wire.ProblemMissing, "descriptor 1, digest", 1},
		{"bare digest", entry(map[string]any{"digest": goodBody[7:], "data": ""}), wire.ProblemDigest, "descriptor 1, digest", 1},
		{"upper-case digest", entry(map[string]any{"digest": "sha256:" + strings.ToUpper(goodBody[7:]), "data": ""}), wire.ProblemDigest, "descriptor 1, digest", 1},
		{"digest of another body", entry(map[string]any{"digest": wire.Digest(nil)}), wire.ProblemMismatch, "descriptor 1, data", 1},
		{"size as text", entry(map[string]any{"size": "4"}), wire.ProblemType, "descriptor 1, size", 1},
		{"negative size", entry(map[string]any{"size": -4}), wire.ProblemType, "descriptor 1, size", 1},
		{"number with fraction", entry(map[string]any{"sequence-number": 1.5}), wire.ProblemType, "descriptor 1, sequence-number", 1},
		{"name a number", entry(map[string]any{"name": 1}), wire.ProblemType, "descriptor 1, name", 1},
		{"metadata value a number", entry(map[string]any{"metadata": map[string]int{"a": 1}}), wire.ProblemType, "descriptor 1, metadata", 1},
		{"fork as text", entry(map[string]any{"fork": "true"}), wire.ProblemType, "descriptor 1, fork", 1},
		{"source version beyond 32 bits", entry(map[string]any{"source-version": 1 << 32}), wire.ProblemType, "descriptor 1, source-version", 1},
		{"time without zone", entry(map[string]any{"created-at": "2024-02-29T23:00:00"}), wire.ProblemTime, "descriptor 1, created-at", 1},
		{"time in seconds", entry(map[string]any{"created-at": 1709247600}), wire.ProblemType, "descriptor 1, created-at", 1},
		{"one-digit hour", entry(map[string]any{"created-at": "2024-02-29T1:00:00Z"}), wire.ProblemTime, "descriptor 1, created-at", 1},
		{"time with offset", entry(map[string]any{"created-at": "2024-02-29T23:00:00.5+05:45"}), "", "", 1},
		{"target too short", entry(map[string]any{"target-session": "00ff"}), wire.ProblemSession, "descriptor 1, target-session", 1},
		{"source in upper case", entry(map[string]any{"source-session": strings.ToUpper(other)}), wire.ProblemUpperCase, "descriptor 1, source-session", 1},
		{"zero target", entry(map[string]any{"target-session": strings.Repeat("0", 32)}), "", "", 1},
		{"data not base64", entry(map[string]any{"data": "*"}), wire.ProblemBase64, "descriptor 1, data", 1},
		{"data in URL-safe base64", entry(map[string]any{"data": "-_-_", "digest": wire.Digest([]byte{0xfb, 0xff, 0xbf})}), wire.ProblemBase64, "descriptor 1, data", 1},
		{"tombstone without name", entry(map[string]any{"deleted": true, "name": ""}), wire.ProblemMissing, "descriptor 1, name", 1},
		{"null field", entry(map[string]any{"schema-url": nil}), "", "", 1},
		{"unknown field", entry(map[string]any{"x": []int{1}, "Name": 2}), "", "", 1},
		{"numbers fall", document(`[{"digest":"` + goodBody + `","sequence-number":2},{"digest":"` + goodBody + `","sequence-number":2}]`), wire.ProblemMismatch, "descriptor 2, sequence-number", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, found := wire.DecodeSnapshot(snapshotOf(c.edit))
			expectProblem(t, found, c.kind, c.where)
			if len(s.Descriptors) != c.descriptors {
				t.Errorf("%d descriptors, want %d", len(s.Descriptors), c.descriptors)
			}
		})
	}
}

// expectProblem checks that there is just the one problem, or none for an empty kind.
func expectProblem(t *testing.T, found []wire.Problem, kind wire.ProblemKind, where string) {
	t.Helper()
	switch {
	case kind == "" && len(found) == 0:
	case len(found) == 1 && found[0].Kind == kind && found[0].Where == where && found[0].Text != "":
	default:
		t.Errorf("problems %v, want one of kind %q at %q", found, kind, where)
	}
}

func TestManifestProblems(t *testing.T) {
	id, parent := sessionID(1), sessionID(2).String()
	good := fmt.Sprintf(`"session":%q`, id)
	for _, c := range []struct {
		name, text  string
		kind        wire.ProblemKind
		where       string
		parent      string
		parentVerse uint32
	}{
		{name: "least", text: `{` + good + `}`},
		{name: "child", text: `{` + good + `,"parent":{"session":"` + parent + `","version":3}}`, parent: parent, parentVerse: 3},
		{name: "parent at version 0", text: `{` + good + `,"parent":{"session":"` + parent + `"}}`, parent: parent},
		{name: "parent null", text: `{` + good + `,"parent":null}`},
		{name: "parent empty", text: `{` + good + `,"parent":{}}`},
		{name: "parent zero", text: `{` + good + `,"parent":{"session":"` + strings.Repeat("0", 32) + `","version":0}}`},
		{name: "unknown field", text: `{` + good + `,"x":1}`},
		{name: "no session", text: `{}`, kind: wire.ProblemMissing, where: "session"},
		{name: "other session", text: `{"session":"` + parent + `"}`, kind: wire.ProblemMismatch, where: "session"},
		{name: "session in upper case", text: `{"session":"` + strings.ToUpper(id.String()) + `"}`, kind: wire.ProblemUpperCase, where: "session"},
		{name: "malformed session", text: `{"session":"x"}`, kind: wire.ProblemSession, where: "session"},
		{name: "broken document", text: `{` + good + `,}`, kind: wire.ProblemJSON, where: "byte 46"},
		{name: "parent a string", text: `{` + good + `,"parent":"` + parent + `"}`, kind: wire.ProblemType, where: "parent"},
		{name: "parent version a string", text: `{` + good + `,"parent":{"session":"` + parent + `","version":"3"}}`, kind: wire.ProblemType, where: "parent, version", parent: parent},
		{name: "parent version negative", text: `{` + good + `,"parent":{"session":"` + parent + `","version":-1}}`, kind: wire.ProblemType, where: "parent, version", parent: parent},
		{name: "parent version beyond 32 bits", text: `{` + good + `,"parent":{"session":"` + parent + `","version":4294967296}}`, kind: wire.ProblemType, where: "parent, version", parent: parent},
		{name: "parent without session", text: `{` + good + `,"parent":{"version":3}}`, kind: wire.ProblemMissing, where: "parent, session"},
		{name: "agent a number", text: `{` + good + `,"agent":1}`, kind: wire.ProblemType, where: "agent"},
		{name: "metadata value a number", text: `{` + good + `,"metadata":{"a":1}}`, kind: wire.ProblemType, where: "metadata"},
		{name: "first number a string", text: `{` + good + `,"first-sequence-number":"1"}`, kind: wire.ProblemType, where: "first-sequence-number"},
		{name: "array", text: `[]`, kind: wire.ProblemShape, where: "byte 0"},
		{name: "second document", text: `{` + good + `}{}`, kind: wire.ProblemTrailing, where: "byte 46"},
		{name: "repeated key", text: `{` + good + `,` + good + `}`, kind: wire.ProblemDuplicate, where: "byte 46"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, found := wire.DecodeManifest(wire.Stored{Key: id.ManifestKey(), Body: []byte(c.text), ContentType: "application/json"})
			expectProblem(t, found, c.kind, c.where)
			switch {
			case c.parent == "" && m.Parent != nil:
				t.Errorf("parent %+v, want none", *m.Parent)
			case c.parent != "" && (m.Parent == nil || m.Parent.Session != c.parent || m.Parent.Version != c.parentVerse):
				t.Errorf("parent %+v, want %s at version %d", m.Parent, c.parent, c.parentVerse)
			}
		})
	}
}

func TestManifestIsReadByItsContentEncoding(t *testing.T) {
	for _, encoding := range []string{"gzip", "zstd"} {
		objects := wire.Objects{}
		s := wire.NewBucket(objects).Session(wire.SessionSpec{Agent: "a", ContentEncoding: encoding})
		m, found := wire.DecodeManifest(objects[s.ID.ManifestKey()])
		if m.Agent != "a" || m.FirstSequenceNumber != 1 || !m.HasFirst {
			t.Errorf("%s: %+v", encoding, m)
		}
		expectProblem(t, found, wire.ProblemEncoding, "Content-Encoding")
	}
}

func TestMemoryProblems(t *testing.T) {
	good := wire.MemoryEntry{Entry: wire.Text("n", "body"), Session: sessionID(1), Version: 1}
	with := func(edit func(*wire.MemoryEntry)) []wire.MemoryEntry {
		e := good
		edit(&e)
		return []wire.MemoryEntry{e}
	}
	for _, c := range []struct {
		name    string
		entries []wire.MemoryEntry
		kind    wire.ProblemKind
		where   string
	}{
		{"good", []wire.MemoryEntry{good}, "", ""},
		{"no name", with(func(e *wire.MemoryEntry) { e.Name = "" }), wire.ProblemMissing, "record 1, name"},
		{"slash in name", with(func(e *wire.MemoryEntry) { e.Name = "a/b" }), wire.ProblemName, "record 1, name"},
		{"name twice", []wire.MemoryEntry{good, good}, wire.ProblemDuplicate, "record 2, name"},
		{"no commit", with(func(e *wire.MemoryEntry) { e.NoCommit = true }), wire.ProblemMissing, "record 1, commit"},
		{"commit a string", with(func(e *wire.MemoryEntry) { e.Extra = map[string]any{"commit": "x"} }), wire.ProblemType, "record 1, commit"},
		{"transaction a string", with(func(e *wire.MemoryEntry) {
			e.Extra = map[string]any{"commit": map[string]any{"session": sessionID(1).String(), "transaction": "1"}}
		}), wire.ProblemType, "record 1, commit, transaction"},
		{"commit session malformed", with(func(e *wire.MemoryEntry) {
			e.Extra = map[string]any{"commit": map[string]any{"session": "x", "transaction": uint64(1<<64 - 1)}}
		}), wire.ProblemSession, "record 1, commit, session"},
	} {
		file, _, err := wire.BuildMemory("ns", 1, c.entries...)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(c.name, func(t *testing.T) {
			m, found := wire.DecodeMemory(file)
			expectProblem(t, found, c.kind, c.where)
			if len(m.Records) != len(c.entries) || m.Namespace != "ns" || m.Version != 1 {
				t.Errorf("%+v", m)
			}
			for _, r := range m.Records {
				if r.Unknown != nil {
					t.Errorf("unknown fields %v", r.Unknown)
				}
			}
		})
	}
}

func TestControlAndRefProblems(t *testing.T) {
	for _, c := range []struct {
		text  string
		kind  wire.ProblemKind
		where string
		want  wire.Control
	}{
		{`{}`, "", "", wire.Control{}},
		{`{"status":"stopped","reason":"done","start-at":"2024-02-29T23:00:00Z"}`, "", "", wire.Control{Status: "stopped", Reason: "done", StartAt: "2024-02-29T23:00:00Z"}},
		{`{"status":"paused"}`, wire.ProblemUnexpected, "status", wire.Control{Status: "paused"}},
		{`{"start-at":"tomorrow"}`, wire.ProblemTime, "start-at", wire.Control{StartAt: "tomorrow"}},
		{`{"reason":1}`, wire.ProblemType, "reason", wire.Control{}},
		{`stopped`, wire.ProblemJSON, "byte 0", wire.Control{}},
	} {
		got, found := wire.DecodeControl([]byte(c.text))
		expectProblem(t, found, c.kind, c.where)
		if got.Status != c.want.Status || got.Reason != c.want.Reason || got.StartAt != c.want.StartAt {
			t.Errorf("%s: %+v", c.text, got)
		}
	}
	for _, c := range []struct {
		body, contentType, target string
		kind                      wire.ProblemKind
		where                     string
	}{
		{"a/b", "text/plain; charset=utf-8", "a/b", "", ""},
		{"a/b", "text/plain;charset=UTF-8", "a/b", "", ""},
		{"a/b\n", "text/plain; charset=utf-8", "a/b", wire.ProblemTrailing, "byte 3"},
		{"a/b\r\n", "text/plain; charset=utf-8", "a/b", wire.ProblemTrailing, "byte 3"},
		{"a\nb", "text/plain; charset=utf-8", "a\nb", wire.ProblemShape, "byte 1"},
		{"", "text/plain; charset=utf-8", "", wire.ProblemMissing, ""},
		{"a", "text/plain", "a", wire.ProblemHeader, "Content-Type"},
	} {
		target, found := wire.DecodeRef(wire.Stored{Key: "refs/x", Body: []byte(c.body), ContentType: c.contentType})
		expectProblem(t, found, c.kind, c.where)
		if target != c.target {
			t.Errorf("%q leads to %q", c.body, target)
		}
	}
}

func TestZstdTakesEveryFrameAndNothingElse(t *testing.T) {
	text := bytes.Repeat([]byte("all work and no play "), 200)
	frame := wire.EncodeZstd(text)
	skippable := []byte{0x5A, 0x2A, 0x4D, 0x18, 2, 0, 0, 0, 'a', 'b'}
	large := bytes.Repeat(text, 2100)
	for name, c := range map[string]struct{ in, want []byte }{
		"one frame":            {frame, text},
		"two frames":           {bytes.Join([][]byte{frame, frame}, nil), append(bytes.Clone(text), text...)},
		"skippable first":      {bytes.Join([][]byte{skippable, frame}, nil), text},
		"skippable last":       {bytes.Join([][]byte{frame, skippable}, nil), text},
		"raw blocks":           {rawBlocks(text), text},
		"run-length block":     {[]byte{0x28, 0xB5, 0x2F, 0xFD, 0x20, 5, 5<<3 | 1<<1 | 1, 0, 0, 'x'}, []byte("xxxxx")},
		"empty content":        {wire.EncodeZstd(nil), nil},
		"no checksum":          {encodeWith(text, zstd.WithEncoderCRC(false)), text},
		"best, 8 MiB window":   {encodeWith(large, zstd.WithWindowSize(8<<20), zstd.WithEncoderLevel(zstd.SpeedBestCompression)), large},
		"fastest, one segment": {encodeWith(text, zstd.WithSingleSegment(true), zstd.WithEncoderLevel(zstd.SpeedFastest)), text},
	} {
		if got, err := wire.DecodeZstd(c.in); err != nil || !bytes.Equal(got, c.want) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	damaged := bytes.Clone(frame)
	damaged[len(damaged)-1] ^= 1
	for name, in := range map[string][]byte{
		"empty": nil, "skippable only": skippable, "JSON": []byte("[]"), "cut in block": frame[:len(frame)-8], "cut in checksum": frame[:len(frame)-1],
		"magic only": frame[:4], "wrong checksum": damaged, "skippable cut": append(bytes.Clone(frame), skippable[:9]...),
		"garbage behind skippable": append(bytes.Clone(skippable), "xxxxxxxx"...),
	} {
		if got, err := wire.DecodeZstd(in); err == nil || errors.Is(err, wire.ErrTrailing) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	if got, err := wire.DecodeZstd(append(bytes.Clone(frame), '\n')); !errors.Is(err, wire.ErrTrailing) || !bytes.Equal(got, text) {
		t.Errorf("trailing: %d bytes, %v", len(got), err)
	}
}

func TestSniffingTakesTheDeclaredEncodingFirst(t *testing.T) {
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	if _, err := w.Write([]byte("text")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		body     []byte
		declared string
		want     string
		undone   string
	}{
		{zipped.Bytes(), "gzip", "text", "gzip"},
		{zipped.Bytes(), "", "text", "gzip"},
		{wire.EncodeZstd([]byte("text")), "", "text", "zstd"},
		{wire.EncodeZstd(zipped.Bytes()), "zstd", zipped.String(), "zstd"},
		{[]byte("text"), "", "text", ""},
	} {
		got, undone, err := wire.Stored{Body: c.body, ContentEncoding: c.declared}.Sniffed()
		if err != nil || string(got) != c.want || undone != c.undone {
			t.Errorf("declared %q: %q, undone %q, %v", c.declared, got, undone, err)
		}
	}
	for _, o := range []wire.Stored{{Body: []byte("text"), ContentEncoding: "gzip"}, {Body: zipped.Bytes(), ContentEncoding: "zstd"}, {ContentEncoding: "br"}} {
		if _, _, err := o.Sniffed(); err == nil {
			t.Errorf("%q as %s: no error", o.Body, o.ContentEncoding)
		}
	}
	if got, err := (wire.Stored{Body: zipped.Bytes()}).Decoded(); err != nil || !bytes.Equal(got, zipped.Bytes()) {
		t.Errorf("Decoded sniffs: %q, %v", got, err)
	}
}
