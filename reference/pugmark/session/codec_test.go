package session_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// plainBody reads a zstd document by the library's own reader.
func plainBody(t *testing.T, b *bench, key string) string {
	t.Helper()
	body, _, err := store.Get(ctx, b.store.Store, key)
	if err != nil {
		t.Fatal(err)
	}
	r := must(zstd.NewReader(bytes.NewReader(body)))(t)
	defer r.Close()
	return string(must(io.ReadAll(r))(t))
}

func zstdFrame(t *testing.T, plain string, options ...zstd.EOption) []byte {
	t.Helper()
	e := must(zstd.NewWriter(nil, options...))(t)
	defer e.Close()
	return e.EncodeAll([]byte(plain), nil)
}

func zstdStream(t *testing.T, plain string, options ...zstd.EOption) []byte {
	t.Helper()
	var out bytes.Buffer
	e := must(zstd.NewWriter(&out, options...))(t)
	must(e.Write([]byte(plain[:100])))(t)
	if err := e.Flush(); err != nil {
		t.Fatal(err)
	}
	must(e.Write([]byte(plain[100:])))(t)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func skippable(n int) []byte {
	return append(binary.LittleEndian.AppendUint32([]byte{0x5a, 0x2a, 0x4d, 0x18}, uint32(n)), make([]byte, n)...)
}

// S6.2-6, S15-2, S15-3: every conformant stream, by its header or, where that is lost, by its first bytes.
func TestSnapshotEncodings(t *testing.T) {
	plain := `[{"name":"a","sequence-number":1,"data":"` + strings.Repeat("YWFh", 300) + `"},` + "\n" + `{"name":"b","sequence-number":2}]`
	half := len(plain) / 2
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	must(z.Write([]byte(plain)))(t)
	z.Close()
	for name, c := range map[string]struct {
		encoding string
		body     []byte
	}{
		"fastest":               {"zstd", zstdFrame(t, plain, zstd.WithEncoderLevel(zstd.SpeedFastest))},
		"best":                  {"zstd", zstdFrame(t, plain, zstd.WithEncoderLevel(zstd.SpeedBestCompression))},
		"no checksum":           {"zstd", zstdFrame(t, plain, zstd.WithEncoderCRC(false))},
		"streamed":              {"zstd", zstdStream(t, plain)},
		"window of 8 MiB":       {"zstd", zstdStream(t, plain+strings.Repeat(" ", 9<<20), zstd.WithWindowSize(8<<20))},
		"two frames":            {"zstd", append(zstdFrame(t, plain[:half]), zstdStream(t, plain[half:])...)},
		"skippable frame first": {"zstd", append(skippable(100), zstdFrame(t, plain)...)},
		"skippable frames":      {"zstd", append(append(append(zstdFrame(t, plain[:half]), skippable(0)...), zstdFrame(t, plain[half:])...), skippable(3)...)},
		"zstd, encoding lost":   {"", append(skippable(1), zstdFrame(t, plain)...)},
		"plain zstd, lost":      {"", zstdFrame(t, plain)},
		"gzip":                  {"gzip", zipped.Bytes()},
		"gzip, encoding lost":   {"", zipped.Bytes()},
		"not encoded":           {"", []byte(" \n" + plain)},
	} {
		b := setUp(t)
		id := b.create(session.Manifest{}).Session
		b.write(b.path(id).Snapshot(1), c.body, store.Attributes{ContentEncoding: c.encoding})
		s, err := b.repo.LoadSnapshot(ctx, id, 1)
		if err != nil || len(s.Descriptors) != 2 || s.Descriptors[1].Name != "b" || len(s.Descriptors[0].Data) != 900 {
			t.Errorf("%s: %d descriptors, %v", name, len(s.Descriptors), err)
		}
	}
	for name, c := range map[string]struct {
		encoding string
		body     []byte
	}{
		"cut short":     {"zstd", zstdFrame(t, plain)[:100]},
		"garbage after": {"zstd", append(zstdFrame(t, plain), "garbage"...)},
		"not zstd":      {"zstd", []byte(plain)},
		"unknown":       {"br", []byte(plain)},
		"object":        {"", []byte(`{"name":"a"}`)},
		"two arrays":    {"", []byte(`[][]`)},
	} {
		b := setUp(t)
		id := b.create(session.Manifest{}).Session
		b.write(b.path(id).Snapshot(1), c.body, store.Attributes{ContentEncoding: c.encoding})
		if s, err := b.repo.LoadSnapshot(ctx, id, 1); err == nil || !strings.Contains(err.Error(), "snapshot 1 of session "+id.String()) {
			t.Errorf("%s: %+v, error %v", name, s, err)
		}
	}
}

// S15-2 for manifests and refs.
func TestEncodedManifestAndRef(t *testing.T) {
	b := setUp(t)
	id := b.newID()
	b.write(b.path(id).Manifest(), zstdFrame(t, `{"session":"`+strings.ToUpper(id.String())+`","agent":"a"}`), store.Attributes{ContentEncoding: "zstd"})
	if m := must(b.repo.LoadManifest(ctx, id))(t); m.Agent != "a" || m.Session != id {
		t.Errorf("manifest %+v", m)
	}
	b.write("refs/sessions/n", zstdFrame(t, b.path(id).Manifest()), store.Attributes{ContentEncoding: "zstd"})
	if got := must(b.repo.ResolveName(ctx, "n"))(t); got != id {
		t.Errorf("name resolves to %s", got)
	}
}

// S7, S7.2, S18-5, S18-6: what a reader makes of the forms that it may meet.
func TestDescriptorForms(t *testing.T) {
	b := setUp(t)
	id, other := b.create(session.Manifest{}).Session, b.newID()
	zeros := strings.Repeat("0", 32)
	load := func(fields string) (session.Descriptor, error) {
		b.write(b.path(id).Snapshot(1), []byte(`[{`+fields+`}]`), store.Attributes{})
		s, err := b.fresh().LoadSnapshot(ctx, id, 1)
		if err != nil {
			return session.Descriptor{}, err
		}
		return s.Descriptors[0], nil
	}
	for fields, ok := range map[string]func(session.Descriptor) bool{
		``: func(d session.Descriptor) bool {
			return d.Digest.IsZero() && d.SequenceNumber == 0 && !d.Fork && d.CreatedAt.IsZero()
		},
		`"fork-session-id":"` + other.String() + `"`:                                  func(d session.Descriptor) bool { return d.Fork && d.TargetSession == other },
		`"fork-session-id":"` + strings.ToUpper(other.String()) + `"`:                 func(d session.Descriptor) bool { return d.Fork && d.TargetSession == other },
		`"fork-session-id":""`:                                                        func(d session.Descriptor) bool { return !d.Fork && d.TargetSession.IsZero() },
		`"fork-session-id":"` + zeros + `","name":"x"`:                                func(d session.Descriptor) bool { return !d.Fork && d.Name == "x" },
		`"fork":true,"target-session":"` + other.String() + `"`:                       func(d session.Descriptor) bool { return d.Fork && d.TargetSession == other },
		`"fork-session-id":"` + zeros + `","target-session":"` + other.String() + `"`: session.Descriptor.IsCrossSession,
		`"target-session":"` + zeros + `","source-session":""`:                        func(d session.Descriptor) bool { return !d.IsCrossSession() && d.SourceSession.IsZero() },
		`"digest":""`: func(d session.Descriptor) bool { return d.Digest.IsZero() },
		`"digest":"sha256:` + zeros + zeros + `"`: func(d session.Descriptor) bool { return d.Digest.IsZero() },
		`"data":"YQ"`:   func(d session.Descriptor) bool { return string(d.Data) == "a" },
		`"data":"YQ=="`: func(d session.Descriptor) bool { return string(d.Data) == "a" },
		`"sequence-number":9223372036854775807,"source-version":4294967295`: func(d session.Descriptor) bool {
			return d.SequenceNumber == math.MaxInt64 && d.SourceVersion == math.MaxUint32
		},
		`"Name":"x","FORK":true,"novel":[{"fork":true}],"name":"y"`:  func(d session.Descriptor) bool { return d.Name == "y" && !d.Fork },
		`"metadata":null,"created-at":"2026-11-30T12:00:00.5+01:00"`: func(d session.Descriptor) bool { return d.Metadata == nil && d.CreatedAt.Equal(noon.Add(-3599.5e9)) },
	} {
		if d, err := load(fields); err != nil || !ok(d) {
			t.Errorf("{%s}: %+v, %v", fields, d, err)
		}
	}
	for _, fields := range []string{
		`"fork":"true"`, `"sequence-number":1.5`, `"sequence-number":9223372036854775808`, `"source-version":-1`, `"digest":"md5:00"`,
		`"target-session":"xyz"`, `"fork-session-id":"xyz"`, `"data":"Y-_="`, `"data":"YQ==\n"`, `"name":"a","name":"b"`, `"metadata":{"k":1}`,
	} {
		if d, err := load(fields); err == nil {
			t.Errorf("{%s} was read as %+v", fields, d)
		}
	}
}

// S5-3, S18-3: every way of having no parent, and fields of later versions.
func TestManifestForms(t *testing.T) {
	b := setUp(t)
	zeros := strings.Repeat("0", 32)
	for _, parent := range []string{"", `"parent":null,`, `"parent":{},`, `"parent":{"session":"` + zeros + `","version":0},`, `"parent":{"session":""},`} {
		id := b.newID()
		b.write(b.path(id).Manifest(), []byte(`{`+parent+`"novel":1,"Agent":"no","session":"`+id.String()+`"}`), store.Attributes{})
		m, err := b.repo.LoadManifest(ctx, id)
		if err != nil || !m.Parent.IsZero() || m.Agent != "" || m.FirstSequenceNumber != 0 {
			t.Errorf("%s: %+v, %v", parent, m, err)
		}
	}
	id, parent := b.newID(), b.newID()
	b.write(b.path(id).Manifest(), []byte(fmt.Sprintf(`{"session":"%s","parent":{"session":"%X","version":4294967295},"first-sequence-number":9007199254740993}`, id, [16]byte(parent))), store.Attributes{})
	m := must(b.repo.LoadManifest(ctx, id))(t)
	if m.Parent != (session.Pointer{Session: parent, Version: math.MaxUint32}) || m.FirstSequenceNumber != 1<<53+1 {
		t.Errorf("%+v", m)
	}
}

// transaction IDs as others write them.
func TestTransactionForms(t *testing.T) {
	for text, want := range map[string]uint64{
		"": 0, "0": 0, "7": 7, "18446744073709551615": math.MaxUint64, "00000000deadbeef": 0xdeadbeef, "FFFFFFFFFFFFFFFF": math.MaxUint64,
		"18446744073709551616": 0, "-1": 0, "deadbeef": 0, "0x0000000000000f": 0,
	} {
		b := setUp(t)
		id := b.create(session.Manifest{}).Session
		b.write(b.path(id).Snapshot(1), []byte("[]"), store.Attributes{Metadata: map[string]string{"pugmark-transaction-id": text, "schema": "novel"}})
		s := must(b.repo.LoadSnapshot(ctx, id, 1))(t)
		if s.Transaction != want || s.Type != session.Checkpoint {
			t.Errorf("%q: transaction %d, want %d; type %s", text, s.Transaction, want, s.Type)
		}
	}
}

// S7.2-4, S7-10: what is written has no legacy field and no zero values but the number.
func TestDescriptorAsWritten(t *testing.T) {
	b := setUp(t)
	id := b.create(session.Manifest{}).Session
	b.write(b.path(id).Snapshot(1), []byte(`[{"fork-session-id":"`+b.newID().String()+`"}]`), store.Attributes{})
	legacy := must(b.repo.LoadSnapshot(ctx, id, 1))(t).Descriptors[0]
	must(b.repo.Commit(ctx, session.Commit{Session: id, Base: 1, Type: session.Checkpoint, Descriptors: []session.Descriptor{legacy, session.Tombstone("x")}}))(t)
	body := plainBody(t, b, b.path(id).Snapshot(2))
	if strings.Contains(body, "fork-session-id") || !strings.Contains(body, `"fork":true`) || !strings.Contains(body, `"deleted":true`) ||
		strings.Contains(body, "source-") || strings.Contains(body, "digest") || strings.Contains(body, `"size"`) {
		t.Error(body)
	}
}

func TestControlMessages(t *testing.T) {
	c := session.Control{Status: session.StatusStopped, Reason: "naïve \"quotes\"", StartAt: noon}
	body := must(c.Encode())(t)
	if got := must(session.DecodeControl(body))(t); got != c {
		t.Errorf("%s is read as %+v", body, got)
	}
	if got := must(session.DecodeControl([]byte(`{"novel":1}`)))(t); got != (session.Control{}) {
		t.Errorf("%+v", got)
	}
	if body := must(session.Control{Status: "stopped"}.Encode())(t); string(body) != `{"status":"stopped"}` {
		t.Errorf("%s", body)
	}
	if got := must(session.DecodeControl([]byte(`{"status":"stopped","reason":null,"start-at":""}`)))(t); got != (session.Control{Status: "stopped"}) {
		t.Errorf("empty fields: %+v", got)
	}
	if got := must(session.DecodeControl([]byte(`{"start-at":"2026-05-04t03:02:01.5z"}`)))(t); got.StartAt.UnixMilli() != 1777863721500 {
		t.Errorf("%+v", got)
	}
	for _, bad := range []string{"", "[]", `{"start-at":"tomorrow"}`, `{"status":1}`} {
		if got, err := session.DecodeControl([]byte(bad)); err == nil {
			t.Errorf("%q is read as %+v", bad, got)
		}
	}
}

func TestUnplaceableEverywhere(t *testing.T) {
	b := setUp(t)
	id := must(layout.ParseSessionID("ffffffff000000000000000000000000"))(t)
	_, err := b.repo.Latest(ctx, id)
	wantError(t, err, layout.ErrUnplaceable)
	_, err = b.repo.LoadManifest(ctx, id)
	wantError(t, err, layout.ErrUnplaceable)
	_, err = b.repo.LoadSnapshot(ctx, id, 1)
	wantError(t, err, layout.ErrUnplaceable)
	_, err = b.repo.Commit(ctx, session.Commit{Session: id, Type: session.Provisional, Descriptors: entries("x")})
	wantError(t, err, layout.ErrUnplaceable)
	if got := b.store.since(0); len(got) != 0 {
		t.Errorf("requests: %q", got)
	}
}
