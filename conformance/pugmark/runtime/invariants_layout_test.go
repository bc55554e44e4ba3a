package runtime

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

// Every fault of manifests, refs and headers is held against the right clause.
func TestLayoutInvariants(t *testing.T) {
	manifest := func(f func(p *put)) func(puts []put) []put {
		return func(puts []put) []put { f(at(puts, "sessions/", "/manifest.json")); return puts }
	}
	inManifest := func(old, replaced string) func(puts []put) []put {
		return manifest(func(p *put) {
			if !bytes.Contains(p.Body, []byte(old)) {
				panic("the manifest has no " + old + ": " + string(p.Body))
			}
			p.Body = bytes.Replace(p.Body, []byte(old), []byte(replaced), 1)
		})
	}
	ref := func(f func(p *put)) func(puts []put) []put {
		return func(puts []put) []put { f(at(puts, "refs/", "")); return puts }
	}
	memory := func(f func(p *put)) func(puts []put) []put {
		return func(puts []put) []put { f(at(puts, "memories/", "")); return puts }
	}
	blob := func(f func(p *put)) func(puts []put) []put {
		return func(puts []put) []put { f(blobOfAny(puts)); return puts }
	}
	remove := func(key string) func(puts []put) []put {
		return func(puts []put) []put {
			if strings.HasSuffix(key, "/") {
				key = at(puts, key, "").Key
			}
			return append(puts, put{Stored: wire.Stored{Key: key}, method: http.MethodDelete, checksum: "-"})
		}
	}
	for _, c := range []struct {
		fault    string
		change   func(puts []put) []put
		violates string
	}{
		{"none", nil, ""},
		{"none, a manifest of encoded gzip is a warning", manifest(func(p *put) { p.Body, p.ContentEncoding = gzipOf(p.Body), "gzip" }), "S15-1 (warn)"},
		{"none, an ID of another hour, which is a matter of the path", inManifest(`"session":"0`, `"session":"1`), ""},
		{"none, further directives", ref(func(p *put) { p.CacheControl = "no-cache, max-age=0, must-revalidate" }), ""},
		{"none, blanks in the type", ref(func(p *put) { p.ContentType = "Text/plain;charset=UTF-8" }), ""},
		{"two documents", manifest(func(p *put) { p.Body = append(p.Body, "{}"...) }), "S5-1"},
		{"no JSON", manifest(func(p *put) { p.Body = []byte("session: 1") }), "S5-1"},
		{"a byte-order mark", manifest(func(p *put) { p.Body = append([]byte("\xef\xbb\xbf"), p.Body...) }), "S5-1"},
		{"another session's ID", inManifest(`00000001"`, `00000002"`), "S5-2"},
		{"the parent's version as text", inManifest(`"version":1`, `"version":"1"`), "S5-3"},
		{"a parent's version that is not there", inManifest(`"version":1`, `"version":7`), "S5-3"},
		{"a parent as text", inManifest(`"parent":{`, `"parent":"x","was":{`), "S5-3"},
		{"an agent of numbers", inManifest(`"agent":"agent-7"`, `"agent":7`), "S5-4"},
		{"metadata of numbers", inManifest(`"team":"blue"`, `"team":1`), "S5-5"},
		{"a first number as text", inManifest(`"first-sequence-number":2`, `"first-sequence-number":"2"`), "S5-6"},
		{"no condition", manifest(func(p *put) { p.ifNoneMatch = "" }), "S5.1-1"},
		{"a manifest as octet-stream", manifest(func(p *put) { p.ContentType = "application/octet-stream" }), "S5.1-3 (warn)"},
		{"a manifest without caching", manifest(func(p *put) { p.CacheControl = "no-cache" }), "S16-2 (warn), S5.1-3 (warn)"},
		{"a manifest without Cache-Control", manifest(func(p *put) { p.CacheControl = "" }), "S16-1"},
		{"a manifest again, once it was seen", func(puts []put) []put {
			again := *at(puts, "sessions/", "/manifest.json")
			look, force := again, again
			look.method, look.checksum, look.ifNoneMatch, force.ifNoneMatch = http.MethodHead, "-", "", ""
			return append(puts, look, force)
		}, "S5.1-5"},
		{"a manifest deleted", func(puts []put) []put { return remove(at(puts, "sessions/", "/manifest.json").Key)(puts) }, "S5.1-6, S9.2-4"},
		{"a blob of a descriptor deleted", remove("objects/"), "S1-6"},
		{"a memory file deleted", remove("memories/"), "S1-9"},
		{"a snapshot without a manifest", func(puts []put) []put {
			stray := *at(puts, "sessions/", "FFFFFFFE.json")
			stray.Key = wire.SessionID{1: 7, 15: 9}.SnapshotKey(1)
			return append(puts, stray)
		}, "S1-11"},
		{"a blob's type of one word", blob(func(p *put) { p.ContentType = "text" }), "S2.3-2"},
		{"no type at all", blob(func(p *put) { p.ContentType = "" }), "S2.3-2 (warn)"},
		{"an unknown encoding of memory", memory(func(p *put) { p.ContentEncoding = "br" }), "S2.3-4"},
		{"an unknown encoding of a blob", blob(func(p *put) { p.ContentEncoding = "br" }), "S15-1 (warn), S2.3-4 (warn)"},
		{"a blob that is not what it says", blob(func(p *put) { p.ContentEncoding = "gzip" }), "S15-1 (warn)"},
		{"a manifest that is not what it says", manifest(func(p *put) { p.ContentEncoding = "gzip" }), "S15-1"},
		{"an encoded ref that does not say so", ref(func(p *put) { p.Body = gzipOf(p.Body) }), "S15-1, S9-3"},
		{"a ref as JSON", ref(func(p *put) { p.Body = []byte(`{"target":"x"}`) }), "S9-3"},
		{"a ref of two lines", ref(func(p *put) { p.Body = append(p.Body, "\nmore"...) }), "S9-3"},
		{"a ref with a line end", ref(func(p *put) { p.Body = append(p.Body, '\n') }), "S9-3 (warn)"},
		{"a ref to a bare ID", ref(func(p *put) { p.Body = []byte("00079cdb01a41b0701ad43a1e150fffc") }), "S9.1-1"},
		{"a ref of another type", ref(func(p *put) { p.ContentType = "text/plain" }), "S9-2"},
		{"a ref that is kept", ref(func(p *put) { p.CacheControl = wire.Immutable }), "S16-3, S9-6"},
		{"a ref too deep", ref(func(p *put) { p.Key = "refs/sessions/team/alice" }), "S9-4"},
		{"a room of its own", func(puts []put) []put {
			return append(puts, put{Stored: wire.Stored{Key: "index/x", ContentType: "text/plain"}, checksum: "-"})
		}, "S18-1"},
		{"a file beside the manifest", func(puts []put) []put {
			file := *at(puts, "sessions/", "/manifest.json")
			file.Key = strings.Replace(file.Key, "manifest", "children", 1)
			return append(puts, file)
		}, "S18-2"},
		{"memory in lower case", memory(func(p *put) { p.Key = strings.ToLower(p.Key) }), "S18-7"},
	} {
		t.Run(c.fault, func(t *testing.T) {
			x := benchWithoutSubject(t)
			w := &writer{lab: x, session: x.Session(wire.SessionSpec{})}
			w.session.Commit(wire.Checkpoint, x.text("seed"))
			w.entries = []wire.Entry{wire.Text("short", "body")}
			child, err := wire.SessionSpec{ID: wire.SessionID{1: 7, 15: 1}, Agent: "agent-7", Metadata: map[string]string{"team": "blue"},
				Parent: w.session.Pointer(1), FirstSequence: 2}.Manifest()
			if err != nil {
				t.Fatal(err)
			}
			w.change = func(puts []put) []put {
				puts = append(puts, put{Stored: child, ifNoneMatch: "*"}, put{Stored: wire.Ref("sessions/name", child.Key)})
				if c.change != nil {
					puts = c.change(puts)
				}
				return puts
			}
			w.build(t)
			w.send(t)
			x.invariants()
			got := violations(t, x, "S1-3", "S1-6", "S1-9", "S1-11", "S2.3", "S5", "S9", "S13.1", "S15", "S16", "S18")
			if got != c.violates {
				t.Errorf("what was stored violates %q, held against it: %q", c.violates, got)
			}
		})
	}
}
