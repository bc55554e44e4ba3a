package runtime

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

// Rules for every memory file that the subject writes: its key, how it is stored,
// and its records. Records that it merely took over from what a scenario laid out
// keep whatever form they had, and are not judged.

var memoryShapes = sync.OnceValue(func() (s struct{ digits, file *regexp.Regexp }) {
	s.digits = regexp.MustCompile(`^[0-9A-Fa-f]{8}\.json$`)
	s.file = regexp.MustCompile(`^[0-9A-F]{8}\.json$`)
	return s
})

// memoryKeyFault says which rule on its key a write below memories/ breaks, and how.
func (x *Lab) memoryKeyFault(key string) (clause, why string) {
	path := strings.TrimPrefix(key, "memories/")
	slash := strings.LastIndexByte(path, '/')
	if slash <= 0 || !memoryShapes().digits.MatchString(path[slash+1:]) {
		return "S8.1-1", "it is no <namespace>/<version>.json"
	}
	parsed := wire.ParseKey(key)
	switch {
	case !memoryShapes().file.MatchString(path[slash+1:]):
		return "S8.1-3", "lower-case digits"
	case path[slash+1:] == "00000000.json":
		return "S8.1-4", "it stands for no version"
	case parsed.Kind != wire.KindMemory:
		return "", "" // a namespace with an odd segment: R-28
	case parsed.Version > 1:
		if _, ok := x.Get(wire.MemoryKey(parsed.Namespace, parsed.Version-1)); !ok {
			return "S8.1-3", fmt.Sprintf("it stands for version %d, and there is no version %d", parsed.Version, parsed.Version-1)
		}
	}
	return "", ""
}

var _ = everyBucket("S8.1-1 S8.1-3 S8.1-4", func(x *Lab) {
	var shapes, names, zero, segments tally
	for _, r := range x.created("memories/") {
		key := Key(r)
		clause, why := x.memoryKeyFault(key)
		shapes.check(clause != "S8.1-1", "%s: %s", key, why)
		if clause == "S8.1-1" {
			continue
		}
		zero.check(clause != "S8.1-4", "%s: %s", key, why)
		names.check(clause != "S8.1-3", "%s: %s", key, why)
		odd := clause == "" && wire.ParseKey(key).Kind != wire.KindMemory
		segments.check(!odd, "%s: %s", key, wire.ParseKey(key).Reason)
	}
	shapes.judge(x.Clause("S8.1-1"), "a key below memories/ is <namespace>/<version>.json, the name being eight hex digits and no object's", "memory writes")
	segments.faults(x.Clause("S8.1-1").Assuming("R-28"), `a namespace has no empty segment, none called "." and none called ".."`, "memory writes")
	names.judge(x.Clause("S8.1-3"), "a memory file's name is eight uppercase hex digits of 4294967295 - (version - 1), and the versions of a namespace count from 1 without gap", "memory writes")
	zero.faults(x.Clause("S8.1-4"), "no file stands for version 0", "memory writes")
})

var _ = everyBucket("S8.2-8 S8.2-9 S8.2-10 S8.2-11", func(x *Lab) {
	var caching, types, encodings, bodies, conditions tally
	for _, r := range x.created("memories/") {
		key := Key(r)
		if value := r.Header.Get("Cache-Control"); value != "" { // its absence is judged by S16-1
			age, long := cacheable(value)
			caching.check(long && age >= day || value == x.Config.Profile.Assumed.Cache.Memory, "%s: Cache-Control %q", key, value)
		}
		media, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
		types.check(strings.EqualFold(strings.TrimSpace(media), "application/json"), "%s: Content-Type %q", key, r.Header.Get("Content-Type"))
		encodings.check(encodingOf(r) == "zstd", "%s: Content-Encoding %q", key, r.Header.Get("Content-Encoding"))
		if r.Op == fakes3.OpPut && r.Took == fakes3.Applied {
			_, ok, why := x.document(r)
			bodies.check(ok, "%s: %s; the body begins with % x", key, why, clip(r.Body, 8))
		}
		if r.Op != fakes3.OpCreateUpload {
			conditions.check(r.IfNoneMatch == "*", "%s: If-None-Match %q", r.String(), r.IfNoneMatch)
		}
	}
	caching.judge(x.Clause("S8.2-8").Assuming("R-13"), "a memory file is written with Cache-Control max-age=<long>, immutable", "memory writes")
	types.judge(x.Clause("S8.2-9"), "a memory file is written with Content-Type application/json", "memory writes")
	encodings.judge(x.Clause("S8.2-10").Resting("R-12"), "a memory file is written with Content-Encoding zstd, however small it is", "memory writes")
	bodies.judge(x.Clause("S8.2-10"), "a memory file's body is zstd, decodes to its end, and nothing follows", "memory files")
	conditions.judge(x.Clause("S8.2-11"), "every memory write carries If-None-Match: *, the first of a namespace and repeated ones alike", "memory writes")
})

// writtenMemory is a memory file that the subject stored, decoded.
type writtenMemory struct {
	key     string
	file    wire.MemoryFile
	taken   []bool // the record lay in what the scenario had laid out
	problem string // why nothing can be said of its records
}

func (x *Lab) writtenMemory() []writtenMemory {
	var out []writtenMemory
	written, seeded := x.created("memories/"), map[string]bool{}
	namespaces := map[string]bool{}
	for _, r := range written {
		namespaces[wire.ParseKey(Key(r)).Namespace] = true
	}
	for namespace := range namespaces {
		looked := 0
		for _, key := range x.Keys("memories/" + namespace + "/") { // newest first, and older ones say nothing new
			if parsed := wire.ParseKey(key); parsed.Namespace != namespace || namespace == "" || !x.laidOut(key) || looked == 8 {
				continue
			}
			looked++
			o, _ := x.Get(key)
			file, _ := wire.DecodeMemory(o)
			for _, r := range file.Records {
				seeded[r.Name+" "+r.Digest] = true
			}
		}
	}
	for _, r := range written {
		if r.Op != fakes3.OpPut || r.Took != fakes3.Applied {
			continue
		}
		doc, ok, _ := x.document(r)
		if !ok {
			continue
		}
		o := wire.Stored{Key: Key(r), Body: doc}
		w := writtenMemory{key: Key(r), problem: unreadableFile(o)}
		w.file = x.memoryIn(r)
		for _, record := range w.file.Records {
			w.taken = append(w.taken, seeded[record.Name+" "+record.Digest])
		}
		out = append(out, w)
	}
	return out
}

var _ = everyBucket("S8.2-1 S8.2-2 S8.2-3 S8.2-5", func(x *Lab) {
	var arrays, envelopes, writers, numbers tally
	for _, w := range x.writtenMemory() {
		arrays.check(w.problem == "", "%s; it begins %q", w.problem, clip(w.file.JSON, 100))
		for i, r := range w.file.Records {
			place := fmt.Sprintf("record %d (%q) of %s", i+1, r.Name, w.key)
			if w.taken[i] {
				continue
			}
			raw, missing := envelopeOf(r), ""
			for _, field := range fields("session transaction") { // a version of 0 may be left out
				if len(raw[field]) == 0 {
					missing = "commit." + field
				}
			}
			if raw == nil {
				missing = "commit"
			}
			envelopes.check(missing == "", "%s has no %s: %s", place, missing, clip(r.Raw, 400))
			if missing != "" {
				continue
			}
			_, err := wire.ParseSessionID(r.Commit.Session)
			writers.check(err == nil && r.Commit.Session == strings.ToLower(r.Commit.Session), "%s: commit.session %q", place, r.Commit.Session)
			numbers.check(r.Commit.Transaction != 0, "%s: commit.transaction %s", place, raw["transaction"])
		}
	}
	arrays.judge(x.Clause("S8.2-1"), "a memory file is one JSON array of objects, and nothing follows it", "memory files")
	envelopes.judge(x.Clause("S8.2-2"), "a memory record has a commit envelope with session, version and transaction", "memory records")
	writers.judge(x.Clause("S8.2-3"), "commit.session is a session ID of 32 lowercase hex digits", "memory records")
	numbers.judge(x.Clause("S8.2-5"), "commit.transaction is a JSON integer from 1 to 2^64-1", "memory records")
})

// envelopeOf are the fields of a record's commit envelope as they were written.
func envelopeOf(r wire.MemoryRecord) map[string]json.RawMessage {
	var whole struct {
		Commit map[string]json.RawMessage `json:"commit"`
	}
	_ = json.Unmarshal(r.Raw, &whole) // what is no object has no fields
	return whole.Commit
}

var _ = everyBucket("S8.3-1 S8.3-2 S8.3-4", func(x *Lab) {
	var empty, slashes, twice tally
	for _, w := range x.writtenMemory() {
		if w.problem != "" {
			continue
		}
		seen := map[string]bool{}
		for i, r := range w.file.Records {
			if w.taken[i] {
				seen[r.Name] = true
				continue
			}
			empty.check(r.Name != "", "record %d of %s: %s", i+1, w.key, clip(r.Raw, 200))
			slashes.check(!strings.Contains(r.Name, "/"), "record %d of %s: %q", i+1, w.key, r.Name)
			twice.check(!seen[r.Name], "a second record %q in %s", r.Name, w.key)
			seen[r.Name] = true
		}
	}
	empty.judge(x.Clause("S8.3-1"), "a memory record has a name that is not empty", "memory records")
	slashes.judge(x.Clause("S8.3-2"), "a memory record's name has no slash", "memory records")
	twice.judge(x.Clause("S8.3-4"), "a memory file has one record for each name", "memory records")
})
