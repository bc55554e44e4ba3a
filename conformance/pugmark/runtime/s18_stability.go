package runtime

import (
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

// Some demands of this section are made before, at the part of the layout that
// they fix; the rules on all writes judge both.
var _ = everyBucket("S18-1 S18-2 S18-7 S18-8", func(x *Lab) {
	var rooms, below, files, types tally
	for _, r := range x.S3.Requests() {
		key, ok := strings.CutPrefix(r.Key, bucketRoot)
		if !creates(r.Op) || r.Bucket != bucketName || !ok {
			continue
		}
		rooms.check(ownedPrefix(key) != "", "%s /%s/%s", r.Method, r.Bucket, r.Key)
		clause, why := keyFault(key)
		switch prefix := ownedPrefix(key); {
		case prefix == "sessions/":
			below.check(clause != "S1-5", "%s: %s", key, why)
			files.check(clause != "S6.1-3", "%s: %s", key, why)
		case prefix == "memories/" && clause == "":
			files.check(keyShapes().snapshot.MatchString(key[strings.LastIndexByte(key, '/')+1:]), "%s", key)
		}
	}
	for _, r := range x.snapshotWrites() {
		if list, named := r.Header["X-Amz-Meta-"+canonicalType]; named {
			switch value := strings.Join(list, ","); wire.SnapshotType(value) {
			case wire.Checkpoint, wire.Provisional, wire.Queueing:
				types.check(true, "")
			default:
				types.check(false, "%s: %q", Key(r), value)
			}
		}
	}
	rooms.judge(x.Clause("S18-1"), "nothing is written at a fifth place beside objects/, sessions/, memories/ and refs/", "writes")
	below.judge(x.Clause("S18-2"), "below a session's path nothing is written but manifest.json and files of snapshots/", "writes")
	files.judge(x.Clause("S18-7").Resting("R-08"), "files of snapshots and memory are called by eight uppercase hex digits and .json", "writes")
	types.judge(x.Clause("S18-8").Resting("R-10"), wire.MetaType+" is one of checkpoint, provisional, queueing", "snapshots that name their type")
})

var _ = scenario("S18", "closed-layout", "entries, a body taken in, memory, a fork and its child, a message, a conflict, a lost answer, a pause: where things lie and how they are called",
	"S18-1 S18-2 S18-7 S18-8",
	func(x *Lab) {
		t := x.newTour()
		x.landAt(t.s.ID.SnapshotKey(2), 1, func(int, *fakes3.Request) { t.s.Commit(wire.Queueing, x.text("pushed")) })
		x.lossy(t.s, 3, fakes3.Lose())
		t.make(x, func(id wire.SessionID) *Run { return x.Run(id) })
		run := x.Run(t.s.ID)
		run.Next().Finish(x.welcome(x.output("entry"), wire.OutputRecord{Name: "memories/" + t.namespace + "/more", Data: x.threes("more")}, pause("enough"))...)
		run.Wait()
		for _, id := range []wire.SessionID{t.s.ID, t.child, t.target.ID} {
			if len(x.newVersions(id)) == 0 {
				x.Evidence("note", "no snapshot was written of session "+id.String()+", so where it would lie is not judged")
			}
		}
	}, overBoth)

// unknownFields are fields of all JSON types that no version knows.
func unknownFields() map[string]any {
	return map[string]any{"x-null": nil, "x-list": []any{1, "two"}, "x-labels": map[string]any{"a": 1}, "x-number": 1.5, "x-text": "✓", "x-bool": true}
}

// stranger lays out a session with a parent, a pending fork, a message's target and
// memory, all with the given further fields, and tells in lines what came of a run.
func (x *Lab) stranger(manifests, descriptors map[string]any) []string {
	with := func(e wire.Entry) wire.Entry {
		e.Extra = descriptors
		return e
	}
	parent := x.Session(wire.SessionSpec{Extra: manifests})
	parent.Commit(wire.Checkpoint, with(x.text("from-parent")))
	s := x.Session(wire.SessionSpec{Parent: parent.Pointer(1), Agent: "agent-7", Metadata: map[string]string{"k": "v"}, Extra: manifests})
	target := x.Session(wire.SessionSpec{Extra: manifests})
	target.Commit(wire.Checkpoint, with(x.text("t")))
	fork, child := x.pendingFork("fork")
	other, existing := x.pendingFork("existing")
	s.Commit(wire.Checkpoint, with(x.text("own")), with(fork), with(other))
	s.Commit(wire.Provisional, with(x.text("pushed")))
	x.Session(wire.SessionSpec{ID: existing, Parent: s.Pointer(1), Extra: manifests})
	ns := x.Word("ns")
	x.Bucket.Memory(ns, wire.MemoryEntry{Entry: with(wire.Text("k", "remembered")), Session: s.ID, Version: 1})

	lines := []string{}
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	run := x.Run(s.ID)
	inv, why := run.await()
	if inv == nil {
		for _, id := range []wire.SessionID{s.ID, parent.ID, target.ID, child, existing} {
			why = strings.ReplaceAll(why, id.String(), "…")
		}
		return append(lines, "no invocation: "+why)
	}
	say("replayed: %s", strings.Join(inv.Names(), ", "))
	res, err := inv.Get(inv.MemoryRoot() + ns + "/k")
	say("memory read: %t", err == nil && res.Status == 200 && string(res.Body) == "remembered")
	message, out := x.output("message"), x.output("entry")
	message.Session = target.ID.String()
	inv.Finish(x.welcome(out, message, wire.OutputRecord{Name: "memories/" + ns + "/mine", Data: x.threes("mine")})...)
	exit := run.Wait()
	say("run succeeds: %t", exit.Success())
	say("entry committed: %t", x.bodyCommitted(s.ID, 3, out.Data))
	say("message delivered: %t", x.bodyCommitted(target.ID, 2, message.Data))
	say("child made: %t", x.bodyCommitted(child, 1, fork.Body))
	say("existing child completed: %t", x.bodyCommitted(existing, 1, other.Body))
	kept := []string{}
	for _, r := range x.remembered(ns) {
		kept = append(kept, r.Name)
	}
	say("memory now has: %s", strings.Join(kept, ", "))
	return lines
}

var _ = scenario("S18", "further-fields", "manifests, descriptors and memory records with fields of all JSON types that nobody knows: the run comes out as without them",
	"S18-3 S18-5",
	func(x *Lab) {
		plain := x.stranger(nil, nil)
		if slices.ContainsFunc(plain, func(line string) bool { return strings.HasPrefix(line, "no invocation") }) {
			x.Stop("without further fields there is no invocation either: %s", strings.Join(plain, "; "))
		}
		x.Clause("S18-3").Expect(x.stranger(unknownFields(), nil)).To(Equal(plain), "manifests of the session, its parent, the target and an existing child, with further fields, lead to the same as without")
		x.Clause("S18-5").Expect(x.stranger(nil, unknownFields())).To(Equal(plain), "descriptors of the session, its parent, fork records, the target and memory, with further fields, lead to the same as without")
	}, overBoth)

var _ = scenario("S18", "older-forks-for-ever", "a pending fork in the older form beside one in the present form: both children are made",
	"S18-6",
	func(x *Lab) {
		s, current, older := x.Session(wire.SessionSpec{}), x.NewID(), x.NewID()
		tasks := []string{x.Word("task"), x.Word("task")}
		s.Commit(wire.Checkpoint, x.text("a"), wire.ForkEntry(tasks[0], current), wire.LegacyForkEntry(tasks[1], older))
		x.rest(s.ID)
		if !x.bodyCommitted(current, 1, []byte(tasks[0])) {
			x.Stop("the fork in the present form is not carried out either")
		}
		x.Clause("S18-6").Holds(x.bodyCommitted(older, 1, []byte(tasks[1])), "a descriptor with fork-session-id is read as a fork of that child, which is made", "keys of the child: %v", x.childKeys(older))
	}, overBoth)

var _ = scenario("S18", "reserved-keys", "Outputs whose metadata uses the reserved keys, and a memory object and a fork of the kind: they are plain metadata of the descriptors, and change nothing about the files",
	"S18-9",
	func(x *Lab) {
		s, ns, child := x.shortLog(), x.Word("ns"), x.NewID()
		reserved := map[string]string{wire.MetaType: "queueing", wire.MetaTransaction: "0", wire.MetaSession: strings.Repeat("0", 32), wire.MetaVersion: "99", wire.MetaSchema: "x"}
		as := func(o wire.OutputRecord) wire.OutputRecord { o.Metadata = reserved; return o }
		entry, fork := as(x.unpadded("entry")), as(x.forkOutput("fork", child))
		got := x.commitTo(s, "", plainly(x.welcome(entry, fork, as(wire.OutputRecord{Name: "memories/" + ns + "/k", Data: x.threes("k")}))...))
		d, ok := got.of(entry)
		if !ok {
			x.Stop("the Output was not committed (%s; committed: %s)%s", got.exit.Exit, got.list(), got.complaint())
		}
		x.rest(s.ID)
		x.Clause("S18-9").Expect(d.Metadata).To(Equal(reserved), "the descriptor has the handler's metadata as it is")
		for _, r := range append(x.snapshotWrites(), x.Writes("memories/")...) {
			if r.Took != fakes3.Applied {
				continue
			}
			meta, taken := metadataOf(&r), []string{}
			key := wire.ParseKey(Key(r))
			for name, value := range reserved {
				own := name == wire.MetaVersion && fmt.Sprint(key.Version) == value
				if meta[name] == value && !own {
					taken = append(taken, name+"="+value)
				}
			}
			slices.Sort(taken)
			x.Clause("S18-9").Resting("R-09").Holds(len(taken) == 0, "the metadata of snapshots and memory files is the runtime's own, whatever a handler's metadata says", "%s: %v", Key(r), taken)
		}
		for _, w := range x.created("objects/" + wire.Digest(entry.Data)) {
			for name := range reserved {
				value := w.Header.Get("X-Amz-Meta-" + name)
				x.Clause("S18-9").Warning().Holds(value == "", "a handler's metadata does not appear as reserved metadata of the blob", "%s: %s %q", Key(w), name, value)
			}
		}
	}, overBoth)
