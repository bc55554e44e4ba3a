package engine

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	fixtures "github.com/pugcheck/pugcheck/fixtures/pugmark"
	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
	"github.com/pugcheck/pugcheck/reference/pugmark/stream"
	"github.com/pugcheck/pugcheck/reference/pugmark/transport"
)

// TestGoldenBuckets invokes a handler on each bucket of the fixtures and compares
// what it is told with what the bucket says.
func TestGoldenBuckets(t *testing.T) {
	buckets, err := fixtures.Buckets()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range buckets {
		t.Run(b.Case, func(t *testing.T) {
			r := newRig(t)
			for _, o := range b.Objects {
				_, err := store.PutBytes(t.Context(), r.store.Store, o.Key, o.Body, store.PutOptions{Attributes: store.Attributes{
					ContentType: o.ContentType, ContentEncoding: o.ContentEncoding, CacheControl: o.CacheControl, Metadata: o.Metadata}})
				if err != nil {
					t.Fatal(err)
				}
			}
			id, err := layout.ParseSessionID(b.Session)
			if err != nil {
				t.Fatal(err)
			}
			r.config.Handlers.Named = map[string]transport.Handler{"python": r.handler}
			memory := goldenMemory(t, b.Case)
			var bodies [][]byte
			r.handler.act = func(c *call) (string, error) {
				for _, in := range c.Inputs[1 : len(c.Inputs)-1] {
					bodies = append(bodies, body(t, in))
				}
				for key, want := range memory {
					if status, got := r.get(c.Inputs[0].URL + key); status != 200 || got != want {
						t.Errorf("memory %s: status %d, %q, want %q", key, status, got, want)
					}
				}
				return "", nil
			}
			result, err := r.try(id)
			if err != nil {
				t.Fatal(err)
			}
			if result.Version != b.Version || result.Invocations != 1 {
				t.Fatalf("got %+v, want an invocation on version %d", result, b.Version)
			}
			c := r.handler.last()
			if c.Session != b.Session || c.Version != b.Version {
				t.Errorf("the handler was told session %s, version %d", c.Session, c.Version)
			}
			entries := c.Inputs[1 : len(c.Inputs)-1]
			pushed := 0
			for i := range entries {
				if entries[i].Event == stream.EventPush {
					pushed++
				} else if pushed > 0 {
					t.Errorf("entry %d is not pushed, and the one before is", i)
				}
				entries[i].Event, entries[i].URL, entries[i].Data = "", "", bodies[i]
			}
			if last := c.Inputs[len(c.Inputs)-1]; b.Lifecycle != nil && !cmp.Equal(last, stream.Input{Event: *b.Lifecycle}) {
				t.Errorf("lifecycle record %+v, want event %q", last, *b.Lifecycle)
			}
			if b.Push != nil && pushed != *b.Push {
				t.Errorf("%d entries are pushed, want %d", pushed, *b.Push)
			}
			if diff := cmp.Diff(decodeAll(t, b.Inputs), reencode(t, entries)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// body is what an Input leads to, by url and by data.
func body(t *testing.T, in stream.Input) []byte {
	t.Helper()
	if in.URL == "" {
		return in.Data
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableCompression: true}}).Get(in.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	served, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("%s: %s, %v", in.URL, resp.Status, err)
	}
	if len(in.Data) > 0 && !bytes.Equal(served, in.Data) {
		t.Errorf("%s: url and data differ", in.Name)
	}
	if got := resp.Header.Get("Content-Encoding"); got != in.ContentEncoding {
		t.Errorf("%s: served with Content-Encoding %q, want %q", in.Name, got, in.ContentEncoding)
	}
	return served
}

func goldenMemory(t *testing.T, bucket string) map[string]string {
	t.Helper()
	text, err := fs.ReadFile(fixtures.FS, "buckets/"+bucket+"/expected-memory.json")
	if err != nil {
		return nil
	}
	var encoded map[string]string
	if err := json.Unmarshal(text, &encoded); err != nil {
		t.Fatal(err)
	}
	memory := map[string]string{}
	for key, data := range encoded {
		body, err := base64.StdEncoding.DecodeString(data)
		if err != nil {
			t.Fatal(err)
		}
		memory[key] = string(body)
	}
	return memory
}

func decodeAll(t *testing.T, texts []json.RawMessage) []any {
	t.Helper()
	var values []any
	for _, text := range texts {
		var v any
		if err := json.Unmarshal(text, &v); err != nil {
			t.Fatal(err)
		}
		values = append(values, v)
	}
	return values
}

func reencode(t *testing.T, inputs []stream.Input) []any {
	t.Helper()
	var texts []json.RawMessage
	for _, in := range inputs {
		text, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
	}
	return decodeAll(t, texts)
}
