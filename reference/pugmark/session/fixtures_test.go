package session_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	fixtures "github.com/pugcheck/pugcheck/fixtures/pugmark"
	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// lay puts a golden bucket under the bench.
func (b *bench) lay(bucket fixtures.Bucket) layout.SessionID {
	b.t.Helper()
	for _, o := range bucket.Objects {
		b.write(o.Key, o.Body, store.Attributes{
			ContentType: o.ContentType, ContentEncoding: o.ContentEncoding, CacheControl: o.CacheControl, Metadata: o.Metadata,
		})
	}
	return must(layout.ParseSessionID(bucket.Session))(b.t)
}

func TestGoldenLogs(t *testing.T) {
	for _, bucket := range must(fixtures.Buckets())(t) {
		t.Run(bucket.Case, func(t *testing.T) {
			b := setUp(t)
			id := b.lay(bucket)
			m, version, err := b.repo.Open(ctx, id)
			if err != nil || m.Session != id || version != bucket.Version {
				t.Fatalf("opened %+v at %d, %v; want version %d", m, version, err, bucket.Version)
			}
			var log, visible []session.Descriptor
			for e, err := range b.repo.Log(ctx, id, version) {
				if err != nil {
					t.Fatal(err)
				}
				log = append(log, e.Descriptor)
				if session.VisibleToHandler(id, e) {
					visible = append(visible, e.Descriptor)
				}
			}
			if len(log) != len(bucket.Log) {
				t.Fatalf("log of %d entries, want %d", len(log), len(bucket.Log))
			}
			for i, d := range log {
				if diff := cmp.Diff(canonical(t, bucket.Log[i]), canonical(t, must(jsonv2.Marshal(d))(t))); diff != "" {
					t.Errorf("entry %d: want (-), have (+)\n%s", i+1, diff)
				}
			}
			if len(visible) != len(bucket.Inputs) {
				t.Fatalf("%d entries are visible to a handler, want %d", len(visible), len(bucket.Inputs))
			}
			for i, d := range visible {
				var input struct{ Data []byte }
				if err := json.Unmarshal(bucket.Inputs[i], &input); err != nil {
					t.Fatal(err)
				}
				if body := must(b.repo.ReadBody(ctx, d))(t); string(body) != string(input.Data) {
					t.Errorf("visible entry %d: body %.60q, want %.60q", i+1, body, input.Data)
				}
			}
		})
	}
}

// canonical gives a descriptor as a JSON value in the form that this version writes: the legacy field translated,
// unknown fields and zero values left out.
func canonical(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	if legacy, _ := v["fork-session-id"].(string); strings.Trim(legacy, "0") != "" {
		v["fork"], v["target-session"] = true, legacy
	}
	known := map[string]any{}
	for _, field := range []string{
		"digest", "size", "created-at", "content-type", "content-encoding", "cache-control", "schema-url", "name", "metadata",
		"sequence-number", "data", "target-session", "source-session", "source-version", "fork", "deleted",
	} {
		switch x := v[field].(type) {
		case nil:
		case string:
			if strings.HasSuffix(field, "-session") {
				x = strings.ToLower(x)
			}
			if strings.Trim(strings.TrimPrefix(x, "sha256:"), "0") != "" {
				known[field] = x
			}
		case float64:
			if x != 0 {
				known[field] = x
			}
		case bool:
			if x {
				known[field] = x
			}
		case map[string]any:
			if len(x) > 0 {
				known[field] = x
			}
		}
	}
	return known
}

func TestGoldenMemory(t *testing.T) {
	b := setUp(t)
	b.lay(must(fixtures.ReadBucket("memory"))(t))
	var want map[string][]byte
	expected(t, "buckets/memory/expected-memory.json", &want)
	for key, body := range want {
		record, err := b.repo.LookupMemory(ctx, key)
		if err != nil {
			t.Errorf("%s: %v", key, err)
			continue
		}
		if got := must(b.repo.ReadBody(ctx, record.Descriptor))(t); string(got) != string(body) {
			t.Errorf("%s: %.60q, want %.60q", key, got, body)
		}
	}
	found := 0
	for namespace, version := range must(b.repo.Namespaces(ctx))(t) {
		for _, r := range must(b.repo.ReadMemory(ctx, namespace, version))(t).Records {
			found++
			if _, ok := want[namespace+"/"+r.Name]; !ok {
				t.Errorf("%s/%s is in the latest file of its namespace, and not expected", namespace, r.Name)
			}
		}
	}
	if found != len(want) {
		t.Errorf("%d objects in all namespaces, want %d", found, len(want))
	}
}

func TestGoldenRefs(t *testing.T) {
	b := setUp(t)
	b.lay(must(fixtures.ReadBucket("refs"))(t))
	var want map[string]string
	expected(t, "buckets/refs/expected-refs.json", &want)
	checked := 0
	for name, id := range want {
		session, ok := strings.CutPrefix(name, "sessions/")
		if !ok {
			continue
		}
		checked++
		if got, err := b.repo.ResolveName(ctx, session); err != nil || got.String() != id {
			t.Errorf("%s: %s, %v, want %s", name, got, err, id)
		}
	}
	if checked == 0 {
		t.Error("no session ref among the golden ones")
	}
}

func TestGoldenLookups(t *testing.T) {
	b := setUp(t)
	id := b.lay(must(fixtures.ReadBucket("tombstone"))(t))
	var want map[string]*string
	expected(t, "buckets/tombstone/expected-lookups.json", &want)
	for name, digest := range want {
		d, err := b.repo.Lookup(ctx, id, name)
		switch {
		case digest == nil && !errors.Is(err, session.ErrNameNotFound):
			t.Errorf("%s: %+v, %v, want none", name, d, err)
		case digest != nil && (err != nil || d.Digest.String() != *digest):
			t.Errorf("%s: %s, %v, want %s", name, d.Digest, err, *digest)
		}
	}
}

func expected(t *testing.T, name string, v any) {
	t.Helper()
	if err := json.Unmarshal(must(fixtures.FS.ReadFile(name))(t), v); err != nil {
		t.Fatal(err)
	}
}
