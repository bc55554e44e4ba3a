package runtime

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/profile"
	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

// buried lays out a session whose entry "doc" a tombstone deletes, with other
// entries around.
func (x *Lab) buried() (s *wire.Session, doc wire.Entry) {
	s, doc = x.Session(wire.SessionSpec{}), x.text("doc")
	s.Commit(wire.Checkpoint, x.text("before"), doc)
	s.Commit(wire.Checkpoint, wire.Tombstone("doc"))
	return s, doc
}

var _ = scenario("S10", "blob-stays", "an entry that a tombstone deletes, whose body another session and a memory object have too: two runs later everything of it is still there",
	"S10-1",
	func(x *Lab) {
		s, doc := x.buried()
		other := x.Session(wire.SessionSpec{})
		other.Commit(wire.Checkpoint, wire.Entry{Name: "same", Body: doc.Body, NoBlob: true})
		x.Bucket.Memory(x.Word("ns"), wire.MemoryEntry{Entry: wire.Entry{Name: "same", Body: doc.Body, NoBlob: true}, Session: other.ID, Version: 1})
		was, _ := x.Get(s.ID.SnapshotKey(1))
		out := x.output("after")
		for range 2 {
			run := x.Run(s.ID)
			run.Next().Finish(out)
			run.Success()
		}
		if !x.bodyCommitted(s.ID, 3, out.Data) {
			x.Stop("the runs did not commit")
		}
		key := "objects/" + wire.Digest(doc.Body)
		blob, there := x.Get(key)
		x.Clause("S10-1").Holds(there && bytes.Equal(blob.Body, doc.Body), "the blob of a deleted entry is still there", "%s there: %t", key, there)
		x.unchanged(x.Clause("S10-1"), was, "the descriptor of a deleted entry is still in its snapshot")
		for _, r := range x.S3.Requests() {
			if r.Op == fakes3.OpDelete || r.Op == fakes3.OpDeleteMany {
				x.Clause("S10-1").Holds(false, "nothing is deleted from the store because of a tombstone", "%s", r.String())
			}
		}
	}, overBoth)

var _ = scenario("S10", "zero-digests", "tombstones without a digest, with an empty one, with zeros, and with that of the body: the run does without their blobs",
	"S10-3",
	func(x *Lab) {
		forms := []struct {
			what string
			edit func(*wire.Entry)
		}{
			{"no digest", func(e *wire.Entry) { e.Omit = append(e.Omit, "digest") }},
			{`digest ""`, func(e *wire.Entry) { e.Extra = map[string]any{"digest": ""} }},
			{"a digest of 64 zeros", func(e *wire.Entry) { e.Extra = map[string]any{"digest": "sha256:" + strings.Repeat("0", 64)} }},
			{"the digest of the body that it deletes", nil},
		}
		stumbled := []string{}
		seen := ""
		for _, f := range forms {
			s, doc := x.Session(wire.SessionSpec{}), x.text("doc")
			tomb := wire.Tombstone("doc")
			if f.edit != nil {
				f.edit(&tomb)
			} else {
				tomb.Extra = map[string]any{"digest": wire.Digest(doc.Body), "size": len(doc.Body)}
			}
			s.Commit(wire.Checkpoint, x.text("before"), doc)
			s.Commit(wire.Checkpoint, tomb, x.text("after"))
			out := x.output("next")
			run := x.Run(s.ID)
			inv, why := run.await()
			if inv != nil {
				for _, in := range inv.Replay() {
					if in.Name == "before" || in.Name == "after" {
						if _, ok, w := inv.Body(in); !ok {
							why = w
						}
					}
				}
				inv.Finish(out)
				if exit := run.Wait(); !exit.Success() {
					why = fmt.Sprintf("%s%s", exit.Exit, run.said())
				}
			}
			if !x.bodyCommitted(s.ID, 3, out.Data) {
				stumbled = append(stumbled, f.what)
				seen = why
			}
		}
		if len(stumbled) == len(forms) {
			x.Clause("S10-3").Holds(false, "a session with a tombstone runs, whichever way that says it has no blob", "it runs with none of %v: %s", stumbled, seen)
			return
		}
		x.Clause("S10-3").Warning().Expect(stumbled).To(BeEmpty(), "a session with a tombstone runs, whichever way that says it has no blob; %s", seen)
	}, overBoth)

var _ = scenario("S10", "numbering-goes-on", "a session whose last descriptor is a tombstone: what comes next is numbered after it",
	"S10-5",
	func(x *Lab) {
		plain := x.plainLog()
		if n := sequence(x.committed(plain, 4, []wire.OutputRecord{x.output("next")}).Descriptors); len(n) == 0 || n[0] != plain.NextSequence() {
			x.Stop("without a tombstone the numbers do not go on either: %v, where %d was due (S7.3-8)", n, plain.NextSequence())
		}
		s, _ := x.buried()
		last := s.NextSequence() - 1
		snap := x.committed(s, 3, []wire.OutputRecord{x.output("next")})
		x.Clause("S10-5").Expect(sequence(snap.Descriptors)[:1]).To(Equal([]int64{last + 1}), "the first number after a tombstone numbered %d is %d: it counts like any other descriptor", last, last+1)
	})

var _ = scenario("S10", "scan", "a log of an entry, its tombstone and another entry: the handler gets all three",
	"S10-6",
	func(x *Lab) {
		for _, apart := range []bool{false, true} {
			s := x.Session(wire.SessionSpec{})
			list := []wire.Entry{x.text("doc"), wire.Tombstone("doc"), x.text("other")}
			if apart {
				for _, e := range list {
					s.Commit(wire.Checkpoint, e)
				}
			} else {
				s.Commit(wire.Checkpoint, list...)
			}
			run := x.Run(s.ID)
			inv := run.Next()
			got := inv.Names()
			if !slices.Contains(got, "other") {
				x.Stop("the entry beside the tombstone is not replayed either: %q", got)
			}
			x.Clause("S10-6").Assuming("Q:S10-6").Expect(got).To(Equal(fields("doc doc other")), "the entry, the tombstone as an Input of its name, and the other entry (in snapshots of their own: %t)", apart)
			if replay := inv.Replay(); slices.Equal(got, fields("doc doc other")) {
				x.Clause("S10-6").Assuming("Q:S10-6").Holds(!replay[1].HasData, "the tombstone's Input carries no data", "%s", replay[1].Raw)
			}
			inv.Finish()
			run.Wait()
		}
	}, overBoth)

var _ = scenario("S10", "deleting", "a name deleted by command: one new snapshot with a tombstone, and the rest as it was",
	"S10-2 S10-4 S10-5 S10-1",
	func(x *Lab) {
		s := x.Session(wire.SessionSpec{})
		doc := x.text("doc")
		s.Commit(wire.Checkpoint, x.text("before"), doc)
		was, _ := x.Get(s.ID.SnapshotKey(1))
		run := x.Command(x.Config.Profile.Delete, profile.Values{Session: s.ID.String(), Name: "doc"})
		exit := run.Wait("S10-5")
		snap, ok := x.Snapshot(s.ID, 2)
		if !x.Clause("S10-5").Holds(exit.Success() && ok && len(snap.Descriptors) == 1 && snap.Descriptors[0].Deleted, "deleting a name adds a snapshot with one descriptor, which is a tombstone",
			"%s; version 2 there: %t, %d descriptors, %s%s", exit.Exit, ok, len(snap.Descriptors), clip(snap.JSON, 300), run.said()) {
			return
		}
		tomb := snap.Descriptors[0]
		x.Clause("S10-2").Holds(tomb.Name == "doc", "the tombstone has the name that it deletes, doc", "%s", tomb.Raw)
		x.Clause("S10-4").Holds(!tomb.Present["data"] || len(tomb.Data) == 0 && !tomb.HasData, "the tombstone carries no data", "%s", tomb.Raw)
		x.Clause("S10-5").Expect(tomb.SequenceNumber).To(Equal(s.NextSequence()), "the tombstone's number goes on from the session's last")
		x.unchanged(x.Clause("S10-5"), was, "the snapshot with the entry that is deleted stays as it was")
		_, blob := x.Get("objects/" + wire.Digest(doc.Body))
		x.Clause("S10-1").Holds(blob, "the blob of the deleted entry stays", "objects/%s there: %t", wire.Digest(doc.Body), blob)
	}, needing("delete"))

// notFound is the exit status of lookup where no live descriptor has the name.
const notFound = 3

var _ = scenario("S10", "named-slots", "names looked up in logs of entries and tombstones, in one snapshot, over several, and over a parent: the last one decides",
	"S10-8 S10-9",
	func(x *Lab) {
		one, two, three := x.Word("one"), x.Word("two"), x.Word("three")
		doc := func(body string) wire.Entry { return wire.Text("doc", body) }
		tomb, other := wire.Tombstone("doc"), x.text("other")
		logs := []struct {
			clause, what string
			log          []wire.Entry
			want         string // "" for not found
		}{
			{"", "one entry", []wire.Entry{doc(one)}, one},
			{"S10-8", "two entries", []wire.Entry{doc(one), doc(two)}, two},
			{"S10-8", "two entries and another name", []wire.Entry{doc(one), doc(two), other}, two},
			{"S10-8", "an entry, its tombstone, an entry", []wire.Entry{doc(one), tomb, doc(three)}, three},
			{"S10-9", "an entry and its tombstone", []wire.Entry{doc(one), tomb}, ""},
			{"S10-9", "an entry, its tombstone and another name", []wire.Entry{doc(one), tomb, other}, ""},
		}
		for i, l := range logs {
			for _, shape := range fields("together apart inherited") {
				s := x.Session(wire.SessionSpec{})
				switch shape {
				case "together":
					s.Commit(wire.Checkpoint, l.log...)
				default:
					for k, e := range l.log {
						if shape == "inherited" && k == len(l.log)-1 && k > 0 {
							s = x.Session(wire.SessionSpec{Parent: s.Pointer(0)})
						}
						s.Commit(wire.Checkpoint, e)
					}
				}
				run := x.Command(x.Config.Profile.Lookup, profile.Values{Session: s.ID.String(), Name: "doc"})
				exit := run.Wait(fields(l.clause)...)
				got := run.proc.Stdout().String()
				if i == 0 {
					if !exit.Success() || strings.TrimRight(got, "\r\n") != one {
						x.Stop("a name that occurs once is not found either (%s): printed %q%s", exit.Exit, got, run.said())
					}
					break // its shapes are all the same
				}
				seen := fmt.Sprintf("%s, printed %q%s", exit.Exit, got, run.said())
				what := fmt.Sprintf(" (%s, %s)", l.what, map[string]string{"together": "in one snapshot", "apart": "in a snapshot each", "inherited": "the last of them in a child"}[shape])
				if l.want == "" {
					x.Clause(l.clause).Holds(exit.Code == notFound, fmt.Sprintf("no live entry has the name: exit status %d%s", notFound, what), "%s", seen)
				} else {
					x.Clause(l.clause).Holds(exit.Success() && strings.TrimRight(got, "\r\n") == l.want, "the body of the last entry of that name, "+l.want+what, "%s", seen)
				}
			}
		}
	}, needing("lookup"))
