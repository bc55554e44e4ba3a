package wire_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	fixtures "github.com/pugcheck/pugcheck/fixtures/pugmark"
)

func golden[T any](t *testing.T, name string) []T {
	t.Helper()
	list, err := fixtures.Cases[T](name)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 {
		t.Fatalf("%s holds no case", name)
	}
	return list
}

func TestSessionIDsOfFixtures(t *testing.T) {
	for _, c := range golden[idCase](t, "session-ids/valid.json") {
		id, err := wire.ParseSessionID(c.ID)
		if err != nil {
			t.Errorf("%s: %v", c.Case, err)
			continue
		}
		path, err := id.Path()
		if err != nil || path != c.Path || id.Hour() != c.Hour || id.String() != c.ID {
			t.Errorf("%s: %s, hour %d, path %q, %v", c.Case, id, id.Hour(), path, err)
		}
		back, rest, err := wire.ParseSessionPath(c.Path + "/snapshots/FFFFFFFF.json")
		if err != nil || back != id || rest != "snapshots/FFFFFFFF.json" {
			t.Errorf("%s: path leads to %s, rest %q, %v", c.Case, back, rest, err)
		}
		if back, rest, err := wire.ParseSessionPath(c.Path); err != nil || back != id || rest != "" {
			t.Errorf("%s: bare path leads to %s, rest %q, %v", c.Case, back, rest, err)
		}
	}
	for _, c := range golden[textCase](t, "session-ids/spellings.json") {
		if id, err := wire.ParseSessionID(c.Text); err != nil || id.String() != c.ID {
			t.Errorf("%s: %s is read as %s, %v", c.Case, c.Text, id, err)
		}
	}
	for _, c := range golden[textCase](t, "session-ids/invalid-ids.json") {
		if id, err := wire.ParseSessionID(c.Text); err == nil {
			t.Errorf("%s: %q is read as %s", c.Case, c.Text, id)
		}
	}
	for _, c := range golden[idCase](t, "session-ids/no-path.json") {
		id, err := wire.ParseSessionID(c.ID)
		if err != nil {
			t.Fatal(err)
		}
		if path, err := id.Path(); err == nil {
			t.Errorf("%s: path %q", c.Case, path)
		}
		if k := wire.ParseKey(id.ManifestKey()); k.Kind != wire.KindMisplaced {
			t.Errorf("%s: its manifest key is of kind %s", c.Case, k.Kind)
		}
	}
}

func TestInvalidPathsNameTheirPart(t *testing.T) {
	words := map[string]string{"year": "year ", "month": "month ", "day": "day ", "hour": "hour ", "id": "ID segment ",
		"date": "has no day"}
	for _, c := range golden[pathCase](t, "session-ids/invalid-paths.json") {
		id, _, err := wire.ParseSessionPath(c.Path)
		if err == nil {
			t.Errorf("%s: read as %s", c.Case, id)
			continue
		}
		if !strings.Contains(err.Error(), c.Path) || !strings.Contains(strings.ReplaceAll(err.Error(), c.Path, ""), words[c.Part]) {
			t.Errorf("%s: the error does not name the path and its part: %v", c.Case, err)
		}
	}
}

func TestReverseVersionsOfFixtures(t *testing.T) {
	for _, c := range golden[versionCase](t, "reverse-versions/valid.json") {
		if name, err := wire.ReverseVersion(c.Version); err != nil || name != c.Name {
			t.Errorf("%s: %d is %q, %v", c.Case, c.Version, name, err)
		}
		if v, err := wire.ParseReverseVersion(c.Name); err != nil || v != c.Version {
			t.Errorf("%s: %s is %d, %v", c.Case, c.Name, v, err)
		}
	}
	for _, c := range golden[versionCase](t, "reverse-versions/invalid.json") {
		if v, err := wire.ParseReverseVersion(c.Name); err == nil {
			t.Errorf("%s: %q is read as %d", c.Case, c.Name, v)
		}
	}
	if name, err := wire.ReverseVersion(0); err == nil {
		t.Errorf("version 0 has the name %s", name)
	}
}

func TestKeysOfFixtures(t *testing.T) {
	for _, c := range golden[keyCase](t, "keys/keys.json") {
		k := wire.ParseKey(c.Key)
		got := keyCase{Case: c.Case, Key: c.Key, Kind: string(k.Kind), Version: k.Version, Namespace: k.Namespace, Name: k.Ref}
		if !k.Session.IsZero() {
			got.Session = k.Session.String()
		}
		if diff := cmp.Diff(c, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.Case, diff)
		}
		if (k.Kind == wire.KindMisplaced) != (k.Reason != "") {
			t.Errorf("%s: kind %s, reason %q", c.Case, k.Kind, k.Reason)
		}
	}
}

// TestStreamsOfFixtures reads every golden stream by its kind's decoder.
func TestStreamsOfFixtures(t *testing.T) {
	for _, group := range []string{"valid", "invalid"} {
		list, err := fixtures.Streams(group)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			records, bodies, faults := decodeStream(s)
			var want []wire.Fault
			if s.Fault != nil {
				want = []wire.Fault{{Record: s.Fault.Record, Offset: s.Fault.Offset, Kind: wire.FaultKind(s.Fault.Kind)}}
			}
			for i := range faults {
				if faults[i].Text == "" {
					t.Errorf("%s/%s: a fault without words", group, s.Case)
				}
				faults[i].Text = ""
			}
			if diff := cmp.Diff(want, faults); diff != "" {
				t.Errorf("%s/%s: faults (-want +got):\n%s", group, s.Case, diff)
			}
			if diff := cmp.Diff(s.Records, found(t, s, records, bodies)); diff != "" {
				t.Errorf("%s/%s: records (-want +got):\n%s", group, s.Case, diff)
			}
			tiles(t, s, records)
		}
	}
}

func decodeStream(s fixtures.Stream) (records []wire.Record, bodies [][]byte, faults []wire.Fault) {
	if s.Kind == "input" {
		inputs, faults := wire.DecodeInputs(s.Bytes)
		for _, in := range inputs {
			records, bodies = append(records, in.Record), append(bodies, in.Data)
		}
		return records, bodies, faults
	}
	outputs, faults := wire.DecodeOutputs(s.Bytes)
	for _, out := range outputs {
		records, bodies = append(records, out.Record), append(bodies, out.Data)
	}
	return records, bodies, faults
}

// found puts decoded records into the fixture's form. Values are compared as JSON.
func found(t *testing.T, s fixtures.Stream, records []wire.Record, bodies [][]byte) []fixtures.StreamRecord {
	t.Helper()
	got := make([]fixtures.StreamRecord, 0, len(records))
	for i, r := range records {
		f := fixtures.StreamRecord{Offset: r.Offset, End: r.End}
		if i < len(s.Records) && s.Records[i].Value != nil {
			f.Value = s.Records[i].Value
			if same, err := sameValue(r, f.Value); err != nil || !same {
				t.Errorf("%s: record %d is %s, want %s (%v)", s.Case, i+1, r.Raw, f.Value, err)
			}
		}
		if bodies[i] != nil && (s.Fault == nil || !strings.HasPrefix(s.Fault.Kind, "base64")) {
			f.Body = strings.TrimPrefix(wire.Digest(bodies[i]), "sha256:")
		}
		got = append(got, f)
	}
	return got
}

// sameValue compares a record field by field; strings by our own reading of them.
func sameValue(r wire.Record, value json.RawMessage) (bool, error) {
	var want map[string]json.RawMessage
	if err := json.Unmarshal(value, &want); err != nil {
		return false, err
	}
	if len(want) != len(r.Fields) {
		return false, nil
	}
	for k, raw := range want {
		if text, ok := r.String(k); ok {
			var wantText string
			if err := json.Unmarshal(raw, &wantText); err != nil || text != wantText {
				return false, err
			}
			continue
		}
		var a, b any
		if err := json.Unmarshal(raw, &a); err != nil {
			return false, err
		}
		if err := json.Unmarshal(r.Fields[k], &b); err != nil {
			return false, err
		}
		if !reflect.DeepEqual(a, b) {
			return false, nil
		}
	}
	return true, nil
}

// tiles checks that records lie where they say, one behind the other, with nothing but whitespace in After.
func tiles(t *testing.T, s fixtures.Stream, records []wire.Record) {
	t.Helper()
	end := int64(0)
	for _, r := range records {
		if r.Offset < end || string(s.Bytes[r.Offset:r.End]) != string(r.Raw) ||
			strings.Trim(string(r.After), " \t\r\n") != "" || !strings.HasPrefix(string(s.Bytes[r.End:]), string(r.After)) {
			t.Errorf("%s: record %d is misplaced: %+v", s.Case, r.N, r)
		}
		end = r.End
	}
	if s.Fault == nil && len(records) > 0 {
		var all strings.Builder
		all.Write(s.Bytes[:records[0].Offset])
		for _, r := range records {
			all.Write(r.Raw)
			all.Write(r.After)
		}
		if all.String() != string(s.Bytes) {
			t.Errorf("%s: records and what follows them do not make up the stream", s.Case)
		}
	}
}

// objectsOf is a golden bucket as a Source.
func objectsOf(b fixtures.Bucket) wire.Objects {
	m := wire.Objects{}
	for _, o := range b.Objects {
		m[o.Key] = wire.Stored{Key: o.Key, Body: o.Body, ContentType: o.ContentType, ContentEncoding: o.ContentEncoding,
			CacheControl: o.CacheControl, Metadata: o.Metadata}
	}
	return m
}

// problemsOf decodes any object by its class.
func problemsOf(o wire.Stored) []wire.Problem {
	var found []wire.Problem
	switch wire.ParseKey(o.Key).Kind {
	case wire.KindManifest:
		_, found = wire.DecodeManifest(o)
	case wire.KindSnapshot:
		_, found = wire.DecodeSnapshot(o)
	case wire.KindMemory:
		_, found = wire.DecodeMemory(o)
	case wire.KindRef:
		_, found = wire.DecodeRef(o)
	}
	return found
}

func TestBucketsOfFixtures(t *testing.T) {
	buckets, err := fixtures.Buckets()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range buckets {
		t.Run(b.Case, func(t *testing.T) {
			src := objectsOf(b)
			id, err := wire.ParseSessionID(b.Session)
			if err != nil {
				t.Fatal(err)
			}
			if v, err := wire.Latest(src, id); err != nil || v != b.Version {
				t.Errorf("latest version %d, want %d (%v)", v, b.Version, err)
			}
			log, err := wire.Log(src, id, 0)
			if err != nil {
				t.Fatal(err)
			}
			var descriptors, inputs []string
			for _, e := range log {
				descriptors = append(descriptors, string(e.Descriptor.Raw))
				if e.Descriptor.HasDigest() && !e.HasBody {
					t.Errorf("%s: no body", e.Descriptor.Raw)
				}
			}
			for _, e := range wire.Visible(log, id) {
				inputs = append(inputs, strings.TrimSpace(string(inputOf(e))))
			}
			if diff := cmp.Diff(texts(b.Log), descriptors); diff != "" {
				t.Errorf("log (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(texts(b.Inputs), inputs); diff != "" {
				t.Errorf("inputs (-want +got):\n%s", diff)
			}
			for _, key := range src.Keys("") {
				for _, p := range problemsOf(src[key]) {
					if p.Kind != wire.ProblemUpperCase || !slices.Contains([]string{"upper-case-ids", "legacy-fork"}, b.Case) {
						t.Errorf("unexpected problem: %v", p)
					}
				}
			}
		})
	}
}

func texts(list []json.RawMessage) []string {
	var out []string
	for _, raw := range list {
		out = append(out, string(raw))
	}
	return out
}

func TestMemoryAndRefsOfFixtures(t *testing.T) {
	b, err := fixtures.ReadBucket("memory")
	if err != nil {
		t.Fatal(err)
	}
	src, latest, got := objectsOf(b), map[string]uint32{}, map[string]string{}
	for _, key := range src.Keys("memories/") {
		m, found := wire.DecodeMemory(src[key])
		if found != nil {
			t.Error(found)
		}
		if m.Version <= latest[m.Namespace] {
			continue
		}
		latest[m.Namespace] = m.Version
		for _, r := range m.Records {
			if !r.HasCommit || r.Commit.Transaction == 0 || r.Commit.Session != b.Session || r.Commit.Version != 1 {
				t.Errorf("%s/%s: commit %+v", m.Namespace, r.Name, r.Commit)
			}
			got[m.Namespace+"/"+r.Name] = base64.StdEncoding.EncodeToString(src[r.BlobKey()].Body)
		}
	}
	expectJSON(t, "buckets/memory/expected-memory.json", got)

	b, err = fixtures.ReadBucket("refs")
	if err != nil {
		t.Fatal(err)
	}
	src, refs := objectsOf(b), map[string]string{}
	for _, key := range src.Keys("refs/") {
		target, found := wire.DecodeRef(src[key])
		id, rest, err := wire.ParseSessionPath(target)
		if found != nil || err != nil || rest != "manifest.json" {
			t.Error(found, err, rest)
		}
		refs[wire.ParseKey(key).Ref] = id.String()
	}
	expectJSON(t, "buckets/refs/expected-refs.json", refs)
}

func expectJSON(t *testing.T, name string, got any) {
	t.Helper()
	raw, err := fixtures.FS.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(raw), string(indented(got))); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func Example() {
	records, faults := wire.DecodeStream([]byte("{\"data\":\"QQ==\"}\nstarting\n{\"name\":\"n\",\"name\":\"m\"}\n"))
	for _, r := range records {
		fmt.Printf("record %d at byte %d: %s\n", r.N, r.Offset, r.Raw)
	}
	for _, f := range faults {
		fmt.Println(f)
	}
	// Output:
	// record 1 at byte 0: {"data":"QQ=="}
	// record 2 at byte 25: {"name":"n","name":"m"}
	// record 2, byte 16: stray bytes "starting"
	// record 2, byte 37: the key "name" occurs twice
}
