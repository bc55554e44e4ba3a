package runtime

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

// tour is a named session whose runs use every room of the bucket: an entry, a body
// taken in, a memory write, a fork that the second run materialises, and a
// delivery.
type tour struct {
	s, target *wire.Session
	child     wire.SessionID
	namespace string
	entry     wire.OutputRecord
}

func (x *Lab) newTour() *tour {
	t := &tour{target: x.plainLog(), child: x.NewID(), namespace: x.Word("ns"), entry: x.unpadded("entry")}
	t.s = x.Session(wire.SessionSpec{Name: x.Word("tour"), Agent: "agent-7"})
	t.s.Commit(wire.Checkpoint, x.text("a"))
	return t
}

// make makes the two runs.
func (t *tour) make(x *Lab, start func(id wire.SessionID) *Run, because ...string) {
	fork, message := x.unpadded("fork"), x.unpadded("message")
	fork.Fork, fork.Session = true, t.child.String()
	message.Session = t.target.ID.String()
	run := start(t.s.ID)
	run.Next(because...).Finish(x.welcome(t.entry, wire.OutputRecord{Name: "taken", URI: x.elsewhere("source-"+t.namespace, x.threes("source"))},
		wire.OutputRecord{Name: "memories/" + t.namespace + "/note", Data: x.threes("note")}, fork, message)...)
	run.Success(because...)
	run = start(t.s.ID)
	run.Next().Finish(x.unpadded("second"))
	run.Wait()
}

// A root of two segments is that of every scenario; the bare bucket is the other
// extreme. Only S3 roots are judged.
var _ = scenario("S1", "roots", "the same story with the root below a prefix of two segments and with the bare bucket as root: every key is relative to the root",
	"S1-1",
	func(x *Lab) {
		for _, root := range []string{bucketRoot, ""} {
			t := x.newTour()
			what, because := "root "+bucketName+"/"+root, []string{}
			start := func(id wire.SessionID) *Run { return x.Run(id) }
			if root == "" {
				what, because = "the bare bucket as root", fields("S1-1")
				for _, key := range x.Keys("") {
					o, _ := x.S3.Get(bucketName, bucketRoot+key)
					x.Must(x.S3.Put(bucketName, key, o))
				}
				start = func(id wire.SessionID) *Run {
					v := x.values()
					v.Bucket, v.Session, v.Handler = "s3://"+bucketName, id.String(), x.command("default")
					return x.start(x.Config.Profile.Run, v, nil)
				}
			}
			before := len(x.S3.Requests())
			t.make(x, start, because...)
			wrong, touched := []string{}, map[string]bool{}
			for _, r := range x.S3.Requests()[before:] {
				key := r.Key
				if r.Op == fakes3.OpList {
					key = r.ListPrefix
				}
				if r.Bucket != bucketName || key == "" || strings.HasPrefix(key, "outside/") {
					continue // of the bucket as a whole, or the source of the body taken in
				}
				rest, below := strings.CutPrefix(key, root)
				if p := ownedPrefix(rest); below && p != "" {
					touched[p] = true
				} else if ownedPrefix(key) != "" || below && strings.HasPrefix(rest, "/") {
					wrong = append(wrong, r.String()) // a key of no room at all is for S1-2 to judge
				}
			}
			if len(wrong) == 0 && len(touched) < len(owned) {
				x.Clause("S1-1").NotExercised("only keys below %v were requested (%s)", slices.Sorted(maps.Keys(touched)), what)
				continue
			}
			x.Clause("S1-1").Holds(len(wrong) == 0, "every key and every listing lies below the root that the run was given ("+what+")", "%d others: %s", len(wrong), strings.Join(wrong[:min(3, len(wrong))], "; "))
		}
	})

// belongings are objects of the user's own, beside the four prefixes and in the
// rest of the bucket, some with names that look like the layout's.
var belongings = fields("objects objects2/x objectsfoo/x sessions-old/a session/x Refs/a refs.txt memories.bak data/x aaa zzz")

var _ = scenario("S1", "belongings", "objects of the user's own, with names that nearly are the layout's, all around: nobody lists them, and they stay as they are",
	"S1-3 S1-4",
	func(x *Lab) {
		before := map[string]fakes3.Object{}
		for _, name := range belongings {
			for _, prefix := range []string{bucketRoot, "", "lab/"} {
				o := fakes3.Object{Body: x.Bytes(20), ContentType: "text/x-own", Metadata: map[string]string{"owner": "somebody"}}
				x.Must(x.S3.Put(bucketName, prefix+name, o))
				before[prefix+name], _ = x.S3.Get(bucketName, prefix+name)
			}
		}
		t := x.newTour()
		t.make(x, func(id wire.SessionID) *Run { return x.Run(id) })
		if !x.bodyCommitted(t.s.ID, 2, t.entry.Data) {
			x.Stop("the run did not commit its entry, so that it left other things alone says little")
		}
		for _, key := range slices.Sorted(maps.Keys(before)) {
			was, now := before[key], fakes3.Object{}
			now, _ = x.S3.Get(bucketName, key)
			meddled := ""
			for _, r := range x.S3.Requests() {
				if r.Bucket == bucketName && r.Key == key && r.Op != fakes3.OpGet && r.Op != fakes3.OpHead {
					meddled = r.String()
				}
			}
			same := meddled == "" && bytes.Equal(was.Body, now.Body) && was.ETag == now.ETag && was.Modified.Equal(now.Modified) && mapsEqual(was.Metadata, now.Metadata)
			x.Clause("S1-4").Holds(same, "an object beside objects/, sessions/, memories/ and refs/ stays as it was, and no request changes or deletes it", "%s: %d bytes, before %d; %s", key, len(now.Body), len(was.Body), meddled)
		}
	}, overBoth)

// S1-3 is a rule for all listings; the belongings make it tell.
var _ = everyBucket("S1-3", func(x *Lab) {
	var lists tally
	for _, r := range x.S3.Requests() {
		if r.Op != fakes3.OpList || r.Bucket != bucketName {
			continue
		}
		rest, below := strings.CutPrefix(r.ListPrefix, bucketRoot)
		if !below && ownedPrefix(r.ListPrefix) != "" {
			continue // in the layout, but not below the root: S1-1
		}
		lists.check(below && ownedPrefix(rest) != "", "LIST with prefix %q", r.ListPrefix)
	}
	lists.judge(x.Clause("S1-3"), "a listing has a prefix that begins with objects/, sessions/, memories/ or refs/ below the root", "listings")
})

var _ = scenario("S1", "blobs-for-ever", "the same body in two runs, an entry that a tombstone hides, and a lost conflict whose winner has the loser's body: no blob changes or goes",
	"S1-6",
	func(x *Lab) {
		s := x.plainLog()
		hidden := x.text("doc")
		s.Commit(wire.Checkpoint, hidden, wire.Tombstone("doc"))
		shared, lost := x.output("shared"), x.output("lost")
		for v := uint32(5); v <= 6; v++ {
			run := x.Run(s.ID)
			run.Next().Finish(shared)
			run.Success()
		}
		writes := x.Writes("objects/" + wire.Digest(shared.Data))
		rival := x.plainLog()
		l := x.landAt(rival.ID.SnapshotKey(4), 1, func(int, *fakes3.Request) {
			x.store(rival.Build(wire.SnapshotSpec{Entries: []wire.Entry{{Name: "shared", Body: shared.Data, NoBlob: true}}}))
		})
		run := x.Run(rival.ID)
		run.Next().Finish(shared, lost)
		run.Wait()
		if l.Met() == 0 || x.refused(rival.ID.SnapshotKey(4)) == 0 {
			x.Stop("no commit met the foreign checkpoint")
		}
		for _, b := range []struct {
			what string
			body []byte
		}{
			{"which two runs wrote, and which the winner of a conflict refers to", shared.Data},
			{"of an entry that a tombstone hides", hidden.Body},
		} {
			key := "objects/" + wire.Digest(b.body)
			if x.holdsOtherwise(b.body) {
				continue
			}
			blob, there := x.Get(key)
			x.Clause("S1-6").Holds(there && bytes.Equal(blob.Body, b.body), "a blob "+b.what+" is still there, with its bytes", "%s there: %t, %d bytes", key, there, len(blob.Body))
		}
		if len(writes) > 0 && writes[0].BodySHA256 == strings.TrimPrefix(wire.Digest(shared.Data), "sha256:") {
			for _, w := range writes[1:] {
				x.Clause("S1-6").Holds(w.BodySHA256 == writes[0].BodySHA256, "a blob that is written again is written with the same bytes", "%s", w.String())
			}
		}
		for _, r := range x.S3.Requests() {
			if r.Op == fakes3.OpDelete && Key(r) == "objects/"+wire.Digest(lost.Data) {
				x.Clause("S1-6").Warning().Holds(false, "a blob is not deleted, even where nothing refers to it", "%s", r.String())
			}
		}
	})

// holdsOtherwise tells whether the subject keeps a body at a key of another form,
// or under a digest of other bytes, which S3-1 to S3-3 judge.
func (x *Lab) holdsOtherwise(body []byte) bool {
	key := x.keyHolding(body)
	return key != "" && key != "objects/"+wire.Digest(body)
}

var _ = everyBucket("S1-6", func(x *Lab) {
	var deletions tally
	for _, r := range x.S3.Requests() {
		if r.Op != fakes3.OpDelete || r.Took != fakes3.Applied || wire.ParseKey(Key(r)).Kind != wire.KindBlob {
			continue
		}
		for _, key := range append(x.Keys("sessions/"), x.Keys("memories/")...) {
			o, _ := x.Get(key)
			if text, err := o.Decoded(); err == nil && bytes.Contains(text, []byte(strings.TrimPrefix(Key(r), "objects/"))) {
				deletions.check(false, "%s, which %s refers to", r.String(), key)
				break
			}
		}
	}
	deletions.faults(x.Clause("S1-6"), "no blob is deleted that a descriptor or memory record refers to", "deletions")
})

var _ = scenario("S1", "one-body-many-uses", "one body as two entries, a fork, a message, a memory object and a uri: it lies in the bucket once",
	"S1-7",
	func(x *Lab) {
		s, target, body := x.shortLog(), x.plainLog(), x.longBody(3000)
		source := x.elsewhere("source", body)
		as := func(o wire.OutputRecord) wire.OutputRecord { o.Data = body; return o }
		outs := []wire.OutputRecord{as(wire.OutputRecord{Name: "one", ContentType: "text/plain"}), as(wire.OutputRecord{Name: "two", ContentType: "application/x-two"}),
			as(wire.OutputRecord{Name: "child", Fork: true}), as(wire.OutputRecord{Name: "message", Session: target.ID.String()}),
			as(wire.OutputRecord{Name: "memories/" + x.Word("ns") + "/note"}), {Name: "taken", URI: source}}
		run := x.Run(s.ID)
		run.Next().Finish(x.welcome(outs...)...)
		run.Success()
		run = x.Run(s.ID) // makes the child
		run.Next().Finish()
		run.Wait()
		found, others := []string{}, map[string]string{}
		for _, key := range x.Keys("") {
			o, _ := x.Get(key)
			if bytes.Contains(o.Body, body) {
				found = append(found, key)
			}
		}
		if len(found) == 0 {
			x.Stop("the body lies nowhere as it is, which S3-4 judges")
		}
		for _, d := range x.writtenDescriptors() {
			if slices.Contains(fields("one two child message note taken"), d.Name) && d.Digest != wire.Digest(body) {
				others[d.Name] = d.Digest
			}
		}
		x.Clause("S1-7").Holds(len(found) == 1, "one key holds the body", "it lies at %v", found)
		x.Clause("S1-7").Holds(len(others) == 0, "all descriptors of the body have its one digest", "other digests: %v", others)
	}, overBoth)

var _ = scenario("S1", "memory-only-grows", "three writes to a namespace, and one that meets a foreign version: all versions stay as they were written",
	"S1-9",
	func(x *Lab) {
		s, ns := x.shortLog(), x.Word("ns")
		x.Bucket.Memory(ns, wire.MemoryEntry{Entry: x.text("seed"), Session: s.ID, Version: 1})
		first := map[string][]byte{}
		look := func() {
			for _, key := range x.Keys("memories/" + ns + "/") {
				o, _ := x.Get(key)
				if first[key] == nil {
					first[key] = o.Body
				}
			}
		}
		look()
		foreign := wire.MemoryKey(ns, 4)
		for i := range 3 {
			if i == 2 {
				x.landAt(foreign, 1, func(int, *fakes3.Request) {
					file, blobs, err := wire.BuildMemory(ns, 4, wire.MemoryEntry{Entry: x.text("foreign"), Session: s.ID, Version: 1})
					x.store(file, blobs, err)
					first[foreign] = file.Body
				})
			}
			run := x.Run(s.ID)
			run.Next().Finish(wire.OutputRecord{Name: fmt.Sprintf("memories/%s/note-%d", ns, i), Data: x.threes("note")})
			run.Wait()
			look()
		}
		if len(first) < 4 {
			x.Stop("only %d versions of the namespace exist", len(first))
		}
		for _, key := range slices.Sorted(maps.Keys(first)) {
			now, there := x.Get(key)
			x.Clause("S1-9").Holds(there && bytes.Equal(now.Body, first[key]), "every version of a namespace stays as it was written, foreign ones too", "%s there: %t, %d bytes, first %d", key, there, len(now.Body), len(first[key]))
		}
	}, overBoth)

var _ = everyBucket("S1-9", func(x *Lab) {
	var deletions tally
	for _, r := range x.S3.Requests() {
		if r.Op == fakes3.OpDelete && r.Took == fakes3.Applied && strings.HasPrefix(Key(r), "memories/") {
			deletions.check(false, "%s", r.String())
		}
	}
	deletions.faults(x.Clause("S1-9"), "no memory file is deleted", "requests")
})

var _ = scenario("S1", "memory-belongs-to-nobody", "a session writes a memory object, an unrelated one reads and replaces it, the first reads what the second wrote",
	"S1-10",
	func(x *Lab) {
		a := x.Session(wire.SessionSpec{Agent: "agent-1"})
		b := x.Session(wire.SessionSpec{Agent: "agent-2"})
		ns := x.Word("shared")
		value := ""
		turn := func(s *wire.Session, who, next string) {
			run := x.Run(s.ID)
			inv := run.Next()
			if value != "" {
				res, err := inv.Get(inv.MemoryRoot() + ns + "/k")
				x.Clause("S1-10").Holds(err == nil && res.Status == 200 && string(res.Body) == value, "a session reads what an unrelated one wrote to the namespace last", "%s reads %s, written was %q", who, answer(res, err), value)
			}
			if value = next; next == "" {
				inv.Finish()
			} else {
				inv.Finish(wire.OutputRecord{Name: "memories/" + ns + "/k", Data: []byte(next)}, x.output("beside"))
			}
			run.Success()
		}
		turn(a, "the first", x.Word("one"))
		if len(x.New("memories/")) == 0 {
			x.Stop("no memory file was written")
		}
		turn(b, "the second", x.Word("two"))
		turn(a, "the first", "")
		for _, key := range x.New("memories/") {
			for _, s := range []*wire.Session{a, b} {
				x.Clause("S1-10").Holds(!strings.Contains(strings.ToLower(key), s.ID.String()[8:]), "the key of a memory file has no part of a session ID", "%s", key)
			}
		}
	}, overBoth)

var _ = scenario("S1", "no-session-without-manifest", "a fork that is materialised, a delivery, and a message to a session that does not exist: at no moment does a snapshot lie below a session without manifest",
	"S1-11",
	func(x *Lab) {
		t := x.newTour()
		t.make(x, func(id wire.SessionID) *Run { return x.Run(id) })
		_, child := x.Get(t.child.SnapshotKey(1))
		_, delivery := x.Get(t.target.ID.SnapshotKey(4))
		s, missing := x.shortLog(), x.NewID()
		message := x.output("message")
		message.Session = missing.String()
		x.commitTo(s, "", plainly(message))
		x.Evidence("note", fmt.Sprintf("child made: %t, delivered: %t", child, delivery))
		if !child {
			x.Clause("S1-11").NotExercised("the child was not materialised, so in which order is not judged")
		}
	}, overBoth)

// manifestElsewhere tells whether the subject wrote a session's manifest at a key
// that is not the session's.
func (x *Lab) manifestElsewhere(id wire.SessionID) bool {
	for _, r := range x.created("sessions/") {
		if strings.HasSuffix(Key(r), "manifest.json") && Key(r) != id.ManifestKey() && bytes.Contains(bytes.ToLower(r.Body), []byte(id.String())) {
			return true
		}
	}
	return false
}

var _ = everyBucket("S1-11", func(x *Lab) {
	manifests := map[string]fakes3.Request{}
	for _, r := range x.created("sessions/") {
		if wire.ParseKey(Key(r)).Kind == wire.KindManifest && r.Took == fakes3.Applied {
			if first, there := manifests[Key(r)]; !there || r.Applied.Before(first.Applied) { // a held write arrives long before it is applied
				manifests[Key(r)] = r
			}
		}
	}
	var rooms tally
	for _, r := range x.snapshotWrites() {
		key := wire.ParseKey(Key(r)).Session.ManifestKey()
		made, own := manifests[key]
		switch {
		case x.laidOut(key):
			rooms.check(true, "")
		case !own && x.manifestElsewhere(wire.ParseKey(Key(r)).Session):
			// S4.2 judges where it lies
		case !own:
			rooms.check(false, "%s, and there is no %s", r.String(), key)
		default:
			rooms.check(made.Applied.Before(r.Applied), "%s, before %s", r.String(), made.String())
		}
	}
	rooms.judge(x.Clause("S1-11"), "a session's manifest exists when a snapshot is stored below it", "snapshots")
})
