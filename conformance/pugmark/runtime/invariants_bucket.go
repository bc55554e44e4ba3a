package runtime

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/pugcheck/pugcheck/conformance"
	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

// The bucket rules hold for everything that the subject stores, in whatever
// scenario: keys here, blobs, snapshots and descriptors in files of their own. A
// fault can break several of them at once, so each rule leaves to the others what
// is theirs; and what a scenario laid out itself, or the subject merely copied
// from that, is never judged.

// tally gathers the outcome of one rule over many objects, so that a scenario has
// one finding per rule.
type tally struct {
	looked int
	wrong  []string
}

// check counts one object; seen describes it where it breaks the rule.
func (t *tally) check(ok bool, seen string, args ...any) {
	t.looked++
	if !ok {
		t.wrong = append(t.wrong, fmt.Sprintf(seen, args...))
	}
}

// judge records the finding: a violation with the first few objects that break
// the rule, a pass where objects were looked at and none does. Nothing is
// recorded where there was nothing to look at.
func (t *tally) judge(a conformance.Assertion, demand, of string) {
	a = a.Calldepth(1)
	switch {
	case len(t.wrong) > 0:
		shown := t.wrong
		if len(shown) > 4 {
			shown = append(shown[:4:4], fmt.Sprintf("and %d more", len(t.wrong)-4))
		}
		a.Holds(false, demand, "%d of %d %s: %s", len(t.wrong), t.looked, of, strings.Join(shown, "; "))
	case t.looked > 0:
		a.Holds(true, demand, "%d %s", t.looked, of)
	}
}

// faults records a violation and no pass: for rules whose passes need a stimulus
// that a scenario of their own provides.
func (t *tally) faults(a conformance.Assertion, demand, of string) {
	if len(t.wrong) > 0 {
		t.judge(a.Calldepth(1), demand, of)
	}
}

// creates are the operations by which an object comes about at its key.
func creates(op fakes3.Op) bool {
	switch op {
	case fakes3.OpPut, fakes3.OpCopy, fakes3.OpCreateUpload:
		return true
	}
	return false
}

// created are the subject's requests below a prefix of the root that store an
// object, whether or not they took effect. An upload in parts counts once, by the
// request that begins it and carries its headers.
func (x *Lab) created(prefix string) []fakes3.Request {
	var out []fakes3.Request
	all := x.requests()
	if s := x.aftermath.Load(); s != nil {
		all = s.creating
	}
	for i := range all {
		if r := &all[i]; creates(r.Op) && r.Bucket == bucketName && below(r.Key, prefix) {
			out = append(out, *r)
		}
	}
	return out
}

// below tells whether a key of the bucket is below a prefix of the root.
func below(key, prefix string) bool {
	key, ok := strings.CutPrefix(key, bucketRoot)
	return ok && strings.HasPrefix(key, prefix)
}

// owned are the four prefixes that the layout consists of.
var owned = []string{"objects/", "sessions/", "memories/", "refs/"}

func ownedPrefix(key string) string {
	for _, p := range owned {
		if strings.HasPrefix(key, p) {
			return p
		}
	}
	return ""
}

var _ = everyBucket("S1-2 S1-5 S3-1 S3-2 S6.1-3", func(x *Lab) {
	var outside, strange, blobs, digests, files tally
	for _, r := range x.requests() {
		if !creates(r.Op) {
			continue
		}
		key, below := strings.CutPrefix(r.Key, bucketRoot)
		below = below && r.Bucket == bucketName
		if !below && r.Bucket == bucketName && ownedPrefix(r.Key) != "" {
			continue // in the layout, but not below the root: S1-1
		}
		outside.check(below && ownedPrefix(key) != "", "%s /%s/%s", r.Method, r.Bucket, r.Key)
		if !below || ownedPrefix(key) == "" {
			continue
		}
		clause, why := keyFault(key)
		strange.check(clause != "S1-5", "%s: %s", key, why)
		if strings.HasPrefix(key, "objects/") && clause != "S1-5" {
			blobs.check(clause != "S3-1", "%s", key)
			if clause != "S3-1" {
				digests.check(clause != "S3-2", "%s", key)
			}
		}
		if _, rest, err := wire.ParseSessionPath(key); err == nil && strings.HasPrefix(rest, "snapshots/") {
			files.check(clause != "S6.1-3", "%s", key)
		}
	}
	outside.judge(x.Clause("S1-2"), "nothing is written but below objects/, sessions/, memories/ and refs/ of the bucket's root", "writes")
	strange.judge(x.Clause("S1-5"), "each of the four prefixes holds its own kinds of key only: objects/sha256:<hex>; manifest.json and snapshots/ of a session; <namespace>/<version>.json; <name> or <kind>/<name>", "writes")
	blobs.judge(x.Clause("S3-1"), "a blob's key is objects/, sha256, a colon and the digest in hex", "blob writes")
	digests.judge(x.Clause("S3-2"), "the digest in a blob's key is 64 lowercase hex digits", "blob writes")
	files.judge(x.Clause("S6.1-3"), "a snapshot's file name is eight uppercase hex digits and .json", "snapshot writes")
})

var keyShapes = sync.OnceValue(func() (s struct{ hash, snapshot, file *regexp.Regexp }) {
	s.hash = regexp.MustCompile(`(?i)sha-?256|[0-9a-f]{60}`)
	s.snapshot = regexp.MustCompile(`^[0-9A-F]{8}\.json$`)
	s.file = regexp.MustCompile(`^[0-9A-Za-z]{1,16}\.json$`)
	return s
})

// keyFault says which of the rules on keys a key below an owned prefix breaks, and
// how; "" where it breaks none or one that is judged elsewhere (session paths,
// versions, namespaces, names of refs).
func keyFault(key string) (clause, why string) {
	parsed := wire.ParseKey(key)
	last := key[strings.LastIndexByte(key, '/')+1:]
	shapes := keyShapes()
	switch prefix := ownedPrefix(key); {
	case parsed.Kind != wire.KindMisplaced:
		return "", ""
	case prefix == "objects/":
		if strings.HasPrefix(key, "objects/sha256:") {
			return "S3-2", parsed.Reason
		}
		if shapes.hash.MatchString(key) {
			return "S3-1", parsed.Reason
		}
		return "S1-5", parsed.Reason
	case prefix == "sessions/":
		_, rest, err := wire.ParseSessionPath(key)
		name, isSnapshot := strings.CutPrefix(rest, "snapshots/")
		switch {
		case err != nil && (last == "manifest.json" || strings.Contains(key, "/snapshots/")):
			return "", "" // a session path of another form: S4.2
		case err == nil && isSnapshot && !shapes.snapshot.MatchString(name):
			return "S6.1-3", parsed.Reason
		case err == nil && isSnapshot:
			return "", "" // the name of no version: S6.1-2
		case err == nil && shapes.snapshot.MatchString(rest):
			return "", "" // a snapshot outside snapshots/: S4.3-1
		}
		return "S1-5", parsed.Reason
	case prefix == "memories/" && shapes.file.MatchString(last), prefix == "refs/" && last != "":
		return "", "" // S8.1, S9
	}
	return "S1-5", parsed.Reason
}

// S1-8 is about snapshots that the subject knew of: one that it overwrites without
// having seen it lacks If-None-Match, which S6.2-8 judges.
var _ = everyBucket("S1-8", func(x *Lab) {
	var rules tally
	for _, r := range x.rewrites() {
		rules.check(false, "%s, after the snapshot there had been read", r.String())
	}
	for _, r := range x.requests() {
		removes := r.Op == fakes3.OpDelete && wire.ParseKey(Key(r)).Kind == wire.KindSnapshot ||
			r.Op == fakes3.OpDeleteMany && strings.Contains(string(r.Body), "/snapshots/")
		if removes && r.Took == fakes3.Applied {
			rules.check(false, "%s", r.String())
		}
	}
	rules.faults(x.Clause("S1-8"), "a snapshot file that exists is neither overwritten nor deleted", "requests")
})

// rewrites are the subject's writes that replaced a snapshot which it had read. A
// write on condition that nothing is there replaces nothing: where it took effect,
// the scenario had taken the snapshot away.
func (x *Lab) rewrites() []fakes3.Request {
	read, own := map[string]bool{}, map[string]string{}
	var out []fakes3.Request
	for _, r := range x.requests() {
		key := Key(r)
		if wire.ParseKey(key).Kind != wire.KindSnapshot {
			continue
		}
		switch {
		case (r.Op == fakes3.OpGet || r.Op == fakes3.OpHead) && r.Status == 200:
			read[key] = true
		case creates(r.Op) && r.Took == fakes3.Applied:
			if r.IfNoneMatch != "*" && read[key] && own[key] != r.BodySHA256 {
				out = append(out, r)
			}
			own[key] = r.BodySHA256
		}
	}
	return out
}
