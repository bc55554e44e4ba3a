package runtime

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

// That a commit whose answer was lost is followed by its deliveries is judged with
// the lost answer (S13.2-3).
var _ = scenario("S12.2", "after-the-commit", "the writer's commit is held back, fails for good, or loses to a foreign checkpoint: nothing is delivered before it, or without it",
	"S12.2-1",
	func(x *Lab) {
		s, target := x.shortLog(), x.shortLog()
		x.slowDown(At(s.ID.SnapshotsPrefix(), fakes3.OpPut), lag)
		out := x.message("message", target.ID)
		x.write(s.ID, x.output("beside"), out)
		x.delivered(target.ID, out)
		commits := x.writesOf(s.ID)
		if len(commits) == 0 {
			x.Stop("the writer committed nothing")
		}
		for _, r := range x.Writes(x.pathOf(target.ID)) {
			x.Clause("S12.2-1").Holds(!r.Arrived.Before(commits[0].Applied), "nothing is written below the target's path before the writer's snapshot has been stored", "%s; the writer's: %s", r.String(), commits[0].String())
		}

		failing, spared := x.shortLog(), x.shortLog()
		remove := x.S3.Intercept(At(failing.ID.SnapshotsPrefix(), fakes3.OpPut), func(context.Context, *fakes3.Request) fakes3.Decision {
			return fakes3.Fail(403, "AccessDenied") // which no client takes for a passing trouble
		})
		x.write(failing.ID, x.output("beside"), x.message("message", spared.ID))
		remove()
		if len(x.Writes(failing.ID.SnapshotsPrefix())) > 0 {
			writes := x.Writes(x.pathOf(spared.ID))
			x.Clause("S12.2-1").Holds(len(writes) == 0, "a commit that fails for good is followed by no delivery", "%v", writes)
		}

		losing, other := x.shortLog(), x.shortLog()
		l := x.landAt(losing.ID.SnapshotKey(2), 1, func(int, *fakes3.Request) {
			x.store(losing.Build(wire.SnapshotSpec{Entries: []wire.Entry{x.text("foreign")}}))
		})
		lost := x.message("message", other.ID)
		x.write(losing.ID, x.output("beside"), lost)
		if l.Met() > 0 && x.refused(losing.ID.SnapshotKey(2)) > 0 && !slices.ContainsFunc(x.appended(losing.ID), func(d wire.Descriptor) bool { return d.Name == lost.Name }) {
			writes := x.Writes(x.pathOf(other.ID))
			x.Clause("S12.2-1").Holds(len(writes) == 0, "a commit that loses to a foreign checkpoint is followed by no delivery", "%v", writes)
		}
	}, overBoth)

var _ = scenario("S12.2", "one-snapshot-per-target", "messages to B, C, B and B: B gets one new snapshot with three entries in their order, C one with one",
	"S12.2-2",
	func(x *Lab) {
		s, b, c := x.shortLog(), x.shortLog(), x.shortLog()
		outs := []wire.OutputRecord{x.message("z1", b.ID), x.message("only", c.ID), x.message("m2", b.ID), x.message("a3", b.ID)}
		x.write(s.ID, outs...)
		if len(x.deliveries(b.ID))+len(x.deliveries(c.ID)) == 0 {
			x.Stop("nothing was delivered (P12-4, S12-1)")
		}
		for _, t := range []struct {
			who  string
			id   wire.SessionID
			want []string
		}{{"B", b.ID, fields("z1 m2 a3")}, {"C", c.ID, fields("only")}} {
			var got []string
			for _, d := range x.deliveries(t.id) {
				got = append(got, d.Name)
			}
			x.Clause("S12.2-2").Resting("R-33").Holds(slices.Equal(got, t.want) && len(x.newVersions(t.id)) == 1, fmt.Sprintf("%s gets one new snapshot with %v, in the order in which they were written", t.who, t.want), "new versions %v; %s", x.newVersions(t.id), listDeliveries(x.deliveries(t.id)))
		}
	}, overBoth)

var _ = scenario("S12.2", "looked-up-first", "targets without a snapshot, at version 1, at version 256, and one that an earlier delivery went to and that has moved on: each delivery lies at the next version",
	"S12.2-3",
	func(x *Lab) {
		s, moved := x.shortLog(), x.shortLog()
		first := x.message("first", moved.ID)
		x.write(s.ID, first)
		x.delivered(moved.ID, first)
		moved.Put(wire.SnapshotSpec{Version: slices.Max(x.Versions(moved.ID)) + 1, Entries: []wire.Entry{x.later(moved, "own work")}})
		empty, long := x.Session(wire.SessionSpec{}), x.Session(wire.SessionSpec{})
		for i := range 256 {
			long.Commit(wire.Checkpoint, wire.Text(fmt.Sprint(i), fmt.Sprintf("entry %d of %s", i, long.ID)))
		}
		targets := map[string]*wire.Session{"without a snapshot": empty, "at version 1": x.shortLog(), "at version 256": long, "which has moved on since the last delivery": moved}
		outs, next, asked := []wire.OutputRecord{}, map[string]uint32{}, len(x.S3.Requests())
		for what, t := range targets {
			next[what] = 1
			if versions := x.Versions(t.ID); len(versions) > 0 {
				next[what] = slices.Max(versions) + 1
			}
			outs = append(outs, x.message(what, t.ID))
		}
		x.write(s.ID, outs...)
		for _, o := range outs {
			t := targets[o.Name]
			d := x.delivered(t.ID, o)
			x.Clause("S12.2-3").Holds(d.version == next[o.Name], fmt.Sprintf("the delivery to a session %s is its version %d", o.Name, next[o.Name]), "version %d; versions of the target end with %v", d.version, x.Versions(t.ID)[max(0, len(x.Versions(t.ID))-3):])
			// A first attempt that only then leads to a look is the guess of a version.
			looked, written := false, false
			for _, r := range x.S3.Requests()[asked:] {
				switch r.Op {
				case fakes3.OpGet, fakes3.OpHead:
					looked = looked || strings.HasPrefix(Key(r), t.ID.SnapshotsPrefix()) && !written
				case fakes3.OpList:
					looked = looked || strings.HasPrefix(bucketRoot+t.ID.SnapshotsPrefix(), r.ListPrefix) && !written
				case fakes3.OpPut:
					written = written || strings.HasPrefix(Key(r), t.ID.SnapshotsPrefix())
				}
			}
			x.Clause("S12.2-3").Holds(looked, "the runtime looks for the target's latest snapshot before it writes there ("+o.Name+")", "no request of this run asked for a snapshot of the target before it wrote one")
		}
	})

var _ = scenario("S12.2", "a-copy", "messages with every field set, short and long: the target's descriptor repeats the writer's record, but for the target",
	"S12.2-5",
	func(x *Lab) {
		s, target := x.shortLog(), x.shortLog()
		for _, length := range []int{0, 3000} {
			out := x.message(fmt.Sprint("message of ", length), target.ID)
			out.Data = append(out.Data, []byte(strings.Repeat("x", length))...)
			out.ContentType, out.ContentEncoding, out.SchemaURL = "application/x-note; v=1", "x-none", "https://example.com/note"
			out.Metadata = map[string]string{"K": "v", "über": "grün"}
			x.write(s.ID, out)
			got := x.delivered(target.ID, out)
			records := x.appended(s.ID)
			i := slices.IndexFunc(records, func(d wire.Descriptor) bool { return d.Digest == got.Digest })
			if i < 0 {
				x.Stop("the writer did not record the message (S12.1-1), so of what the delivery is a copy is not judged")
			}
			record := records[i]
			var differs []string
			for _, f := range []struct {
				what string
				same bool
			}{
				{"size", got.Size == record.Size}, {"content-type", got.ContentType == record.ContentType}, {"content-encoding", got.ContentEncoding == record.ContentEncoding},
				{"schema-url", got.SchemaURL == record.SchemaURL}, {"name", got.Name == record.Name}, {"metadata", maps.Equal(got.Metadata, record.Metadata)},
				{"data", !got.HasData || !record.HasData || string(got.Data) == string(record.Data)},
			} {
				if !f.same {
					differs = append(differs, f.what)
				}
			}
			x.Clause("S12.2-5").Holds(len(differs) == 0, "the delivered descriptor has the record's digest, size, content-type, content-encoding, schema-url, name and metadata, and its data where it has any", "%s differ(s); the record: %s; delivered: %s", strings.Join(differs, ", "), record.Raw, got.Raw)
			x.Clause("S12.2-5").Holds(strings.Trim(got.TargetSession, "0") == "" && !got.IsFork(), "the delivered descriptor has neither target-session nor fork", "%s", got.Raw)
		}
	})

var _ = scenario("S12.2", "numbering", "targets whose log ends at 40, that are empty and begin at 7, and that are fork children without a snapshot: the entries are numbered on from there",
	"S12.2-8",
	func(x *Lab) {
		s := x.plainLog()
		forty := x.Session(wire.SessionSpec{})
		forty.Commit(wire.Checkpoint, x.texts("t", 1, 40)...)
		seven := x.Session(wire.SessionSpec{FirstSequence: 7})
		child := x.Session(wire.SessionSpec{Parent: forty.Pointer(1), FirstSequence: 41})
		var outs []wire.OutputRecord
		targets := map[*wire.Session]int64{forty: 41, seven: 7, child: 41}
		for t := range targets {
			for i := range 3 {
				outs = append(outs, x.message(fmt.Sprint("message ", i), t.ID))
			}
		}
		x.write(s.ID, outs...)
		for t, first := range targets {
			var got []int64
			for _, d := range x.deliveries(t.ID) {
				got = append(got, d.SequenceNumber)
			}
			if len(got) != 3 {
				x.Stop("three messages were due at each target, %d arrived (P12-4, S12.2-2)", len(got))
			}
			x.Clause("S12.2-8").Resting("R-26").Expect(got).To(Equal([]int64{first, first + 1, first + 2}), "delivered entries go on from the target's last number, or begin with its first-sequence-number")
		}
	})

var _ = scenario("S12.2", "refused", "somebody else's snapshot, or the same delivery by another run, takes the target's next version between the runtime's look and its write: the run ends well, and nothing is delivered twice",
	"S12.2-10",
	func(x *Lab) {
		for _, same := range []bool{false, true} {
			s, target := x.shortLog(), x.shortLog()
			out := x.message("message", target.ID)
			what := "somebody else's snapshot"
			l := x.landAt(target.ID.SnapshotKey(2), 1, func(_ int, r *fakes3.Request) {
				if !same {
					x.store(target.Build(wire.SnapshotSpec{Type: wire.Provisional, Entries: []wire.Entry{x.text("foreign")}}))
					return
				}
				meta := metadataOf(r)
				meta[wire.MetaTransaction] = "1234567890123456789"
				x.Must(x.Put(wire.Stored{Key: target.ID.SnapshotKey(2), Body: r.Body, ContentType: "application/json", ContentEncoding: "zstd", CacheControl: wire.Immutable, Metadata: meta}))
			})
			if same {
				what = "the same delivery by another run"
			}
			run := x.Run(s.ID)
			run.Next().Finish(out, x.output("beside"))
			exit := run.Wait("S12.2-10")
			if l.Met() == 0 || x.refused(target.ID.SnapshotKey(2)) == 0 {
				x.Stop("no delivery was refused, so what follows is not judged")
			}
			n := x.occurrences(target.ID, out.Data)
			check := x.Clause("S12.2-10").Resting("R-11", "F-1")
			check.Holds(exit.Success(), "the run ends well although its delivery met "+what, "%s%s", exit.Exit, run.said())
			check.Holds(n <= 1, "the message is not delivered twice, whether or not the runtime tries the next version ("+what+")", "%d times; versions of the target: %v", n, x.Versions(target.ID))
			x.Clause("S12.2-10").Assuming("F-1").Holds(n > 0, "the message is not lost ("+what+")", "no snapshot of the target has it; versions: %v", x.Versions(target.ID))
		}
	}, overBoth)
