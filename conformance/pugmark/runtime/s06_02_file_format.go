package runtime

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

// The rules on all that a runtime stores judge each snapshot here; the story sees
// to it that every kind of snapshot is written at least once.
var _ = scenario("S6.2", "every-kind-of-snapshot", "a child's first snapshot, a commit that loses its answer, one that meets a pushed snapshot and is merged above it, a delivery into another session, memory and a body taken in: how each is written",
	"S1-2 S1-5 S1-8 S6.2-1 S6.2-2 S6.2-3 S6.2-8 S6.2-9 S6.2-10 S6.2-11 S6.2-12",
	func(x *Lab) {
		s, target, child := x.plainLog(), x.plainLog(), x.NewID()
		s.Commit(wire.Checkpoint, x.text("f"), wire.ForkEntry(x.Word("task"), child)) // version 4
		pushed, blobs, err := s.Build(wire.SnapshotSpec{Type: wire.Provisional, Entries: []wire.Entry{x.text("pushed")}})
		landing := x.landAt(s.ID.SnapshotKey(5), 1, func(int, *fakes3.Request) { x.store(pushed, blobs, err) })
		lost := x.lossy(s, 6, fakes3.Lose())
		message, fork := x.output("message"), x.output("fork")
		message.Session, fork.Fork = target.ID.String(), true
		run := x.Run(s.ID)
		run.Next().Finish(x.welcome(x.output("entry"), message, fork,
			wire.OutputRecord{Name: "memories/notes/n", Data: []byte(x.Word("note"))},
			wire.OutputRecord{Name: "taken", URI: x.elsewhere("source", x.threes("source"))}, pause("enough"))...)
		run.Wait()

		took := func(key string) bool {
			return slices.ContainsFunc(x.snapshotRequests(), func(r fakes3.Request) bool { return Key(r) == key && r.Took == fakes3.Applied })
		}
		delivery, firstOfChild := took(target.ID.SnapshotKey(4)), took(child.SnapshotKey(1))
		met := landing.Met() > 0 && x.refused(s.ID.SnapshotKey(5)) > 0
		merged := met && took(s.ID.SnapshotKey(6))
		missing := []string{}
		for what, ok := range map[string]bool{"the child's snapshot 1": firstOfChild, "a delivery": delivery, "a commit that met another and was merged above it": merged} {
			if !ok {
				missing = append(missing, what)
			}
		}
		slices.Sort(missing)
		if len(missing) > 0 {
			x.Clause("S6.2-8").NotExercised("not every kind of snapshot write took place; missing: %v", missing)
		} else {
			wrong := 0
			for _, r := range x.snapshotRequests() {
				if r.IfNoneMatch != "*" {
					wrong++
				}
			}
			if wrong == 0 { // a violation is described by the rule on all snapshot writes
				x.Clause("S6.2-8").Holds(true, "every snapshot write carries If-None-Match: *", "%d writes: of the session's own, a child's first, a delivery, a merge; answer lost: %t", len(x.snapshotRequests()), lost())
			}
		}
		if merged {
			now, _ := x.Get(pushed.Key)
			x.Clause("S1-8").Holds(bytes.Equal(now.Body, pushed.Body) && now.Metadata[wire.MetaTransaction] == pushed.Metadata[wire.MetaTransaction] && now.Metadata[wire.MetaType] == pushed.Metadata[wire.MetaType],
				"the snapshot that landed in between stays as it was", "%s: %d bytes, metadata %v; landed: %d bytes, metadata %v", pushed.Key, len(now.Body), now.Metadata, len(pushed.Body), pushed.Metadata)
			if o, ok := x.Get(s.ID.SnapshotKey(6)); ok {
				text := o.Metadata[wire.MetaVersion]
				x.Clause("S6.2-10").Assuming("R-09").Holds(text == "6", wire.MetaVersion+" of the merged snapshot is 6, its own version, not that of the first attempt", "%q", text)
			}
		}
		if delivery {
			o, _ := x.Get(target.ID.SnapshotKey(4))
			x.Clause("S6.2-12").Resting("R-09").Holds(o.Metadata[wire.MetaType] != "", "a delivery names its type in the metadata "+wire.MetaType, "metadata %v", o.Metadata)
		}
	}, overBoth)

var _ = scenario("S6.2", "small-and-large", "a snapshot of one descriptor and one of more than a megabyte: both are zstd, whole and by header",
	"S6.2-3 S6.2-4 S6.2-7",
	func(x *Lab) {
		s := x.shortLog()
		x.committed(s, 2, []wire.OutputRecord{x.output("single")})
		var outs []wire.OutputRecord
		for i := range 24 {
			o := x.output(fmt.Sprint("large-", i))
			o.Metadata = map[string]string{"bulk": hex.EncodeToString(x.Bytes(24_000))}
			outs = append(outs, o)
		}
		snap := x.committed(s, 3, outs)
		if len(snap.JSON) < 1<<20 {
			x.Evidence("note", fmt.Sprintf("the large snapshot has %d bytes only, so one of a megabyte is not judged", len(snap.JSON)))
		}
		// An encoder that knows the size beforehand may have buffered the document, or
		// not; so only the absence of the size says something.
		for _, r := range x.snapshotWrites() {
			if len(r.Body) < 5 || !bytes.HasPrefix(r.Body, []byte{0x28, 0xB5, 0x2F, 0xFD}) {
				continue
			}
			if sized := r.Body[4]>>6 != 0 || r.Body[4]>>5&1 == 1; !sized {
				x.Clause("S6.2-7").Holds(true, "a frame without its content size suggests an encoder that streams; one with it proves nothing", "the first frame of %s has none", Key(r))
				return
			}
		}
		x.Clause("S6.2-7").NotExercised("the frames hold their content size, which a streaming encoder may write or leave out")
	})

var _ = scenario("S6.2", "zstd-variants", "snapshots in every form that a zstd encoder may choose: levels, sizes left out, several frames, skippable ones, a wide window, raw and repeated blocks",
	"S6.2-6",
	func(x *Lab) {
		plain := func(encode func([]byte) []byte) ([]string, string) {
			s := x.Session(wire.SessionSpec{})
			s.Put(wire.SnapshotSpec{Entries: []wire.Entry{x.text("a"), x.text("b"), x.text("c")}, Encode: encode})
			run := x.Run(s.ID)
			inv, why := run.await()
			if inv == nil {
				return nil, why
			}
			got := inv.Names()
			inv.Finish()
			run.Wait()
			return got, fmt.Sprintf("%q replayed", got)
		}
		want := fields("a b c")
		if got, seen := plain(nil); !slices.Equal(got, want) {
			x.Stop("a snapshot in the usual single frame is not replayed either: %s", seen)
		}
		for _, v := range zstdVariants() {
			got, seen := plain(v.encode)
			x.Clause("S6.2-6").Holds(slices.Equal(got, want), "a snapshot encoded as "+v.what+" is read like any other", "%s", seen)
		}
	})

var _ = scenario("S6.2", "without-a-type", "a foreign snapshot that names no type lands in the commit's way, and a pending fork lies in one: it counts as a checkpoint",
	"S6.2-13",
	func(x *Lab) {
		// How the runtime meets a foreign snapshot of a known type is judged elsewhere;
		// here it has to be right for the comparison to say something.
		foreign := func(spec wire.SnapshotSpec) (versions []uint32, out wire.OutputRecord, s *wire.Session) {
			s, out = x.plainLog(), x.output("entry")
			spec.Entries = []wire.Entry{x.text("foreign")}
			l := x.landAt(s.ID.SnapshotKey(4), 1, func(int, *fakes3.Request) { x.store(s.Build(spec)) })
			run := x.Run(s.ID)
			run.Next().Finish(out)
			run.Wait()
			if l.Met() == 0 || x.refused(s.ID.SnapshotKey(4)) == 0 {
				x.Stop("no commit of the runtime met the foreign snapshot")
			}
			for _, v := range x.newVersions(s.ID) {
				if x.bodyCommitted(s.ID, v, out.Data) {
					versions = append(versions, v)
				}
			}
			return versions, out, s
		}
		if v, _, _ := foreign(wire.SnapshotSpec{Type: wire.Checkpoint}); len(v) > 0 {
			x.Stop("above a foreign checkpoint that names its type the outputs are committed as versions %v, so the missing type is not judged", v)
		}
		if v, _, _ := foreign(wire.SnapshotSpec{Type: wire.Provisional}); len(v) == 0 {
			x.Stop("above a foreign provisional snapshot the outputs are not committed, so the missing type is not judged")
		}
		v, _, _ := foreign(wire.SnapshotSpec{NoType: true})
		x.Clause("S6.2-13").Resting("R-11").Holds(len(v) == 0, "the run loses against the snapshot without a type as against a checkpoint: nothing of it is committed later", "its outputs are in versions %v", v)

		pending := func(spec wire.SnapshotSpec) (made bool, seen string) {
			s, child, task := x.plainLog(), x.NewID(), x.Word("task")
			spec.Entries = []wire.Entry{x.text("f"), wire.ForkEntry(task, child)}
			s.Put(spec)
			run := x.Run(s.ID)
			run.Next().Finish()
			run.Wait()
			return x.bodyCommitted(child, 1, []byte(task)), fmt.Sprintf("keys of the child: %v", x.childKeys(child))
		}
		made, seen := pending(wire.SnapshotSpec{NoType: true})
		if !made {
			if control, _ := pending(wire.SnapshotSpec{Type: wire.Checkpoint}); !control {
				return // it makes no child from any snapshot, which says nothing about types
			}
		}
		x.Clause("S6.2-13").Resting("R-21").Holds(made, "a pending fork in the latest snapshot, which names no type, is materialised as from a checkpoint", "%s", seen)
	}, overBoth)

var _ = scenario("S6.2", "unknown-schema", "a snapshot and a memory file whose schema metadata nobody knows: both are read like any other",
	"S6.2-14",
	func(x *Lab) {
		for _, schema := range []string{"", "urn:example:descriptor:v99"} {
			what := "with a schema that nobody knows"
			if schema == "" {
				what = "without a schema"
			}
			s := x.Session(wire.SessionSpec{})
			s.Put(wire.SnapshotSpec{Metadata: map[string]string{wire.MetaSchema: schema}, Entries: []wire.Entry{x.text("a")}})
			ns, note := x.Word("ns"), x.Word("note")
			file, blobs, err := wire.BuildMemory(ns, 1, wire.MemoryEntry{Entry: wire.Text("k", note), Session: s.ID, Version: 1})
			if schema != "" {
				file.Metadata = map[string]string{wire.MetaSchema: schema}
			}
			x.store(file, blobs, err)
			run := x.Run(s.ID)
			inv, why := run.await()
			if inv == nil {
				x.Clause("S6.2-14").Holds(false, "a session whose snapshot is stored "+what+" runs", "%s", why)
				return
			}
			replayed := slices.Equal(inv.Names(), fields("a"))
			res, err := inv.Get(inv.MemoryRoot() + ns + "/k")
			served := err == nil && res.Status == 200 && string(res.Body) == note
			if schema == "" && !(replayed && served) {
				x.Stop("without a schema the entry is replayed: %t, the memory object served: %t", replayed, served)
			}
			x.Clause("S6.2-14").Holds(replayed && served, "the entry is replayed and the memory object served, whatever the files' schema metadata says ("+what+")",
				"replayed: %q; memory: %s", inv.Names(), answer(res, err))
			inv.Finish()
			run.Wait()
		}
	}, overBoth)
