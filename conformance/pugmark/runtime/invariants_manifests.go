package runtime

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

// writtenManifest is a manifest that the subject stored, taken apart.
type writtenManifest struct {
	wire.Manifest
	place  string
	fields map[string]json.RawMessage
}

// writtenManifests are those of which the document could be read.
func (x *Lab) writtenManifests() []writtenManifest {
	var out []writtenManifest
	for _, r := range x.manifestRequests() {
		if r.Took != fakes3.Applied || r.Op != fakes3.OpPut {
			continue
		}
		body, err := undone(r.Body, encodingOf(r))
		if err != nil {
			continue // S15-1
		}
		m, _ := wire.DecodeManifest(wire.Stored{Key: Key(r), Body: body})
		w := writtenManifest{Manifest: m, place: Key(r)}
		if json.Unmarshal(body, &w.fields) == nil && w.fields != nil {
			out = append(out, w)
		}
	}
	return out
}

// everThere tells whether the bucket has a key, or had it until the scenario took
// away what the subject wrote.
func (x *Lab) everThere(key string) bool {
	if _, there := x.Get(key); there {
		return true
	}
	return slices.ContainsFunc(x.created(key), func(r fakes3.Request) bool { return Key(r) == key && r.Took == fakes3.Applied })
}

var manifestShapes = sync.OnceValue(func() (s struct{ session, version, integer *regexp.Regexp }) {
	s.session = regexp.MustCompile(`^[0-9a-fA-F]{32}$`)
	s.version = regexp.MustCompile(`^(0|[1-9][0-9]{0,9})$`)
	s.integer = regexp.MustCompile(`^-?[0-9]+$`)
	return s
})

// textOf is what a JSON string says, whatever is escaped in it; "" for any other
// value.
func textOf(raw json.RawMessage) string {
	var text string
	_ = json.Unmarshal(raw, &text)
	return text
}

var _ = everyBucket("S5-1", func(x *Lab) {
	var documents tally
	for _, r := range x.manifestRequests() {
		if r.Op != fakes3.OpPut || r.Took != fakes3.Applied {
			continue
		}
		body, err := undone(r.Body, encodingOf(r))
		if err != nil {
			continue // S15-1
		}
		_, problems := wire.DecodeManifest(wire.Stored{Key: Key(r), Body: body, ContentType: "application/json", CacheControl: wire.Immutable})
		broken := ""
		for _, p := range problems {
			switch p.Kind {
			case wire.ProblemJSON, wire.ProblemText, wire.ProblemShape, wire.ProblemTrailing:
				broken = p.Error()
			}
		}
		documents.check(broken == "", "%s; it begins %q and ends %q", broken, clip(body, 60), body[max(0, len(body)-60):])
	}
	documents.judge(x.Clause("S5-1"), "a manifest is one JSON object in UTF-8, and nothing follows it", "manifests")
})

var _ = everyBucket("S5-2 S5-4 S5-5 S5-6", func(x *Lab) {
	var sessions, texts, metadata, numbers tally
	isString := func(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '"' || string(raw) == "null" }
	for _, m := range x.writtenManifests() {
		if id, err := wire.ParseSessionID(m.Session); err == nil && id != m.ID && id.String()[8:] == m.ID.String()[8:] {
			continue // of another hour than its path, which S4.2-2 judges
		}
		sessions.check(manifestShapes().session.MatchString(textOf(m.fields["session"])) && strings.EqualFold(m.Session, m.ID.String()), "%s, of session %s: session %s", m.place, m.ID, m.fields["session"])
		for _, name := range fields("name agent handler") {
			if raw, ok := m.fields[name]; ok {
				texts.check(isString(raw), "%s: %s %s", m.place, name, raw)
			}
		}
		if raw, ok := m.fields["metadata"]; ok && string(raw) != "null" {
			var values map[string]*string
			metadata.check(json.Unmarshal(raw, &values) == nil && !hasNil(values), "%s: metadata %s", m.place, raw)
		}
		if raw, ok := m.fields["first-sequence-number"]; ok && string(raw) != "null" {
			var n int64
			numbers.check(manifestShapes().integer.Match(raw) && json.Unmarshal(raw, &n) == nil, "%s: first-sequence-number %s", m.place, raw)
		}
	}
	sessions.judge(x.Clause("S5-2"), "a manifest's session is the ID that its path spells, as 32 hex digits", "manifests")
	texts.judge(x.Clause("S5-4"), "a manifest's name, agent and handler are strings, or absent", "values")
	metadata.judge(x.Clause("S5-5"), "a manifest's metadata is an object of strings", "values")
	numbers.faults(x.Clause("S5-6"), "a manifest's first-sequence-number is an integer of 64 bits", "values")
})

// That a child points at the right snapshot is judged with forks; here it is the
// form, and that there is something to point at.
var _ = everyBucket("S5-3", func(x *Lab) {
	var parents tally
	for _, m := range x.writtenManifests() {
		raw, ok := m.fields["parent"]
		if !ok || string(raw) == "null" {
			continue
		}
		var p map[string]json.RawMessage
		if json.Unmarshal(raw, &p) != nil {
			parents.check(false, "%s: parent %s", m.place, raw)
			continue
		}
		if len(p) == 0 || textOf(p["session"]) == zeroID && string(p["version"]) == "0" {
			continue // another way of saying none
		}
		var id string
		var version uint32
		wrong := ""
		switch {
		case !manifestShapes().session.MatchString(textOf(p["session"])) || json.Unmarshal(p["session"], &id) != nil:
			wrong = "session is not 32 hex digits"
		case !manifestShapes().version.Match(p["version"]) || json.Unmarshal(p["version"], &version) != nil:
			wrong = "version is not an unsigned integer of 32 bits"
		default:
			parent, err := wire.ParseSessionID(id)
			if err != nil {
				wrong = err.Error()
				break
			}
			if _, there := x.Get(parent.ManifestKey()); !there {
				wrong = "there is no such session"
			} else if version > 0 && !x.everThere(parent.SnapshotKey(version)) {
				wrong = "the session has no such version"
			}
		}
		parents.check(wrong == "", "%s: parent %s: %s", m.place, raw, wrong)
	}
	parents.judge(x.Clause("S5-3"), "a manifest's parent is an object of session, 32 hex digits, and version, an unsigned 32-bit integer, which name a snapshot that exists", "manifests with a parent")
})

// overwrittenManifests are the subject's writes of manifests without If-None-Match:
// those at keys where it had seen one, and the others.
func (x *Lab) overwrittenManifests() (blind, knowing []fakes3.Request) {
	read, there := map[string]bool{}, map[string]bool{}
	for _, r := range x.requests() {
		key := Key(r)
		if wire.ParseKey(key).Kind != wire.KindManifest {
			continue
		}
		switch {
		case (r.Op == fakes3.OpGet || r.Op == fakes3.OpHead) && r.Status == 200, r.Status == 412:
			read[key], there[key] = true, true
		case creates(r.Op) && r.IfNoneMatch != "*":
			if r.Took == fakes3.Applied && read[key] && (there[key] || x.laidOut(key)) {
				knowing = append(knowing, r)
			} else {
				blind = append(blind, r)
			}
			there[key] = there[key] || r.Took == fakes3.Applied
		case creates(r.Op):
			there[key] = there[key] || r.Took == fakes3.Applied
		}
	}
	return blind, knowing
}

// A write without the condition is for S5.1-1; where the subject knew that it
// replaces a manifest, it is S5.1-5 that it breaks.
var _ = everyBucket("S5.1-1 S5.1-5", func(x *Lab) {
	var conditions, overwrites tally
	blind, knowing := x.overwrittenManifests()
	for range len(x.manifestRequests()) - len(blind) - len(knowing) {
		conditions.check(true, "")
	}
	for _, r := range blind {
		conditions.check(false, "%s", r.String())
	}
	for _, r := range knowing {
		overwrites.check(false, "%s, after the manifest there had been seen", r.String())
	}
	conditions.judge(x.Clause("S5.1-1"), "every write of a manifest carries If-None-Match: *", "manifest writes")
	overwrites.faults(x.Clause("S5.1-5"), "a manifest that exists is not written again", "manifest writes")
})

// lostNames are the manifests that the subject may delete (S5.1-7): made by itself,
// named by a ref that it wrote and then read again.
func (x *Lab) lostNames() map[string]bool {
	made, linked, out := map[string]bool{}, map[string]string{}, map[string]bool{}
	for _, r := range x.requests() {
		key := Key(r)
		switch kind := wire.ParseKey(key).Kind; {
		case kind == wire.KindManifest && creates(r.Op) && r.Took == fakes3.Applied:
			made[key] = true
		case kind == wire.KindRef && creates(r.Op) && r.Took == fakes3.Applied:
			linked[key] = strings.TrimSpace(string(r.Body))
		case kind == wire.KindRef && r.Op == fakes3.OpGet && r.Status == 200 && made[linked[key]]:
			if now, ok := x.Get(key); ok && strings.TrimSpace(string(now.Body)) != linked[key] {
				out[linked[key]] = true
			}
		}
	}
	return out
}

var _ = everyBucket("S5.1-6 S9.2-4", func(x *Lab) {
	var deletions tally
	may := x.lostNames()
	for _, r := range x.requests() {
		switch {
		case r.Op == fakes3.OpDelete && wire.ParseKey(Key(r)).Kind == wire.KindManifest && r.Took == fakes3.Applied:
			deletions.check(may[Key(r)], "%s", r.String())
		case r.Op == fakes3.OpDeleteMany && bytes.Contains(r.Body, []byte("/manifest.json")):
			deletions.check(false, "%s: %s", r.String(), clip(r.Body, 300))
		}
	}
	const demand = "no manifest is deleted, but by the loser of a race for a name, which deletes the one that it made itself"
	if len(deletions.wrong) > 0 {
		deletions.judge(x.Clause("S5.1-6"), demand, "deletions")
		deletions.judge(x.Clause("S9.2-4"), demand, "deletions")
	}
})
