package runtime

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

var _ = scenario("S8.2", "stored-like-a-snapshot", "a first write, a second and one that meets a conflict: each file is a zstd-compressed JSON array with the headers of its class, created if absent",
	"S8.2-1 S8.2-8 S8.2-9 S8.2-10 S8.2-11",
	func(x *Lab) {
		// Judged by the invariants of these clauses, on these and all other files.
		s, namespace := x.shortLog(), x.Word("ns")
		x.invoked(s, x.remember(namespace+"/one"))
		x.landAt("memories/"+namespace+"/", 1, func(int, *fakes3.Request) {
			x.store(wire.BuildMemory(namespace, 2, keeps(s, "foreign", x.Word("foreign"))))
		})
		x.invoked(s, x.remember(namespace+"/two"))
		if len(x.memoryWrites()) == 0 {
			x.Stop("no memory file was written")
		}
	}, overBoth)

var _ = scenario("S8.2", "readable-encodings", "memory files in all forms that zstd encoders leave: the objects in them are served, and a write keeps them",
	"S8.2-10",
	func(x *Lab) {
		s := x.shortLog()
		look := x.witness(s)
		bodies := make([]string, len(zstdVariants()))
		outs := []wire.OutputRecord{}
		for i, v := range zstdVariants() {
			bodies[i] = x.Word("body")
			file, blobs, err := wire.BuildMemory(fmt.Sprintf("encoded-%d", i), 1, keeps(s, "x", bodies[i]))
			x.Must(err)
			plain, err := file.Decoded()
			x.Must(err)
			file.Body = v.encode(plain)
			x.store(file, blobs, nil)
			outs = append(outs, x.remember(fmt.Sprintf("encoded-%d/new", i)))
		}
		run := x.Run(s.ID)
		inv := run.Next()
		look(inv)
		for i, v := range zstdVariants() {
			res, err := inv.recall(fmt.Sprintf("encoded-%d/x", i))
			x.Clause("S8.2-10").Holds(yields(res, err, []byte(bodies[i])), "an object is read from a memory file that is "+v.what, "%s", inShort(res, err))
		}
		inv.Finish(outs...)
		run.Wait()
		x.memoryLegible()
		for i, v := range zstdVariants() {
			if _, written := x.object(fmt.Sprintf("encoded-%d", i), 2, "new"); written {
				_, kept := x.object(fmt.Sprintf("encoded-%d", i), 2, "x")
				x.Clause("S8.2-10").Holds(kept, "the next version keeps the object of a file that is "+v.what, "kept: %t", kept)
			}
		}
	})

var _ = scenario("S8.2", "records", "a memory object with every field an Output can have, short and long: its record has them all, and its blob exists",
	"S8.2-2",
	func(x *Lab) {
		s, namespace := x.shortLog(), x.Word("ns")
		for _, n := range []int{30, 3000} {
			out := wire.OutputRecord{
				Name: fmt.Sprintf("memories/%s/x%d", namespace, n), Data: x.longBody(n), ContentType: "text/x-note; a=b",
				SchemaURL: "https://example.com/schema", Metadata: map[string]string{"Key": "ü", "k": ""},
			}
			beside := wire.OutputRecord{Name: fmt.Sprint("entry-", n), Data: x.longBody(n)}
			x.invoked(s, out, beside)
			if _, ok := x.Get("objects/" + wire.Digest(beside.Data)); !ok {
				x.Stop("bodies of entries have no blob either (S3.1-3, S7-2)")
			}
			r := x.recorded(namespace, fmt.Sprintf("x%d", n))
			blob, stored := x.Get(r.BlobKey())
			if x.keyHolding(out.Data) != "" && !stored {
				x.Stop("the blob lies at a key of another form (S3-1, S3-2)")
			}
			x.Clause("S8.2-2").Holds(r.Digest == wire.Digest(out.Data) && r.Size == int64(n), "digest and size are those of the body", "digest %s, size %d: %s", r.Digest, r.Size, clip(r.Raw, 400))
			x.Clause("S8.2-2").Holds(stored && bytes.Equal(blob.Body, out.Data), "the blob that the record refers to exists", "%s: %t", r.BlobKey(), stored)
			x.Clause("S8.2-2").Expect([]any{r.ContentType, r.SchemaURL, r.Metadata}).To(Equal([]any{out.ContentType, out.SchemaURL, out.Metadata}), "type, schema and metadata are those of the Output")
			x.Clause("S8.2-2").Holds(r.HasCommit, "the record has a commit envelope", "%s", clip(r.Raw, 400))
		}
	})

var _ = scenario("S8.2", "envelopes", "two sessions write to one namespace, with and without an entry of their own: each record says who wrote it, and goes on saying so",
	"S8.2-3 S8.2-4 S8.2-5",
	func(x *Lab) {
		namespace := x.Word("ns")
		seeded := x.shortLog()
		large := keeps(seeded, "seeded", x.Word("seeded"))
		large.Transaction = math.MaxUint64
		x.namespace(namespace, 1, large)
		a, b := x.plainLog(), x.plainLog()
		x.invoked(a, x.remember(namespace+"/of-a"))
		ofA, kept := x.recorded(namespace, "of-a"), x.recorded(namespace, "seeded")
		x.Clause("S8.2-5").Expect(string(envelopeOf(kept)["transaction"])).To(Equal(strconv.FormatUint(math.MaxUint64, 10)), "a transaction ID of 64 bits is kept to the last digit")
		x.invoked(b, x.remember(namespace+"/of-b"), x.unpadded("entry"))
		ofB, still := x.recorded(namespace, "of-b"), x.recorded(namespace, "of-a")
		x.invoked(a, x.remember(namespace+"/again"))
		again := x.recorded(namespace, "again")

		x.Clause("S8.2-3").Expect([]string{ofA.Commit.Session, ofB.Commit.Session}).To(Equal([]string{a.ID.String(), b.ID.String()}), "commit.session is the writer's ID")
		x.Clause("S8.2-3").Expect(still.Commit.Session).To(Equal(a.ID.String()), "a record that another session's write keeps goes on naming its own writer")
		x.Clause("S8.2-4").Assuming("R-27").Expect(ofA.Commit.Version).To(Equal(uint32(3)), "an invocation that writes memory only names the version it ran against")
		x.Clause("S8.2-4").Assuming("R-27").Expect(ofB.Commit.Version).To(BeElementOf(uint32(3), uint32(4)), "an invocation with an entry beside it names the version being committed, 4, or the one it ran against")

		snap, ok := x.Snapshot(b.ID, 4)
		if number, isNumber := transactionNumber(snap.Transaction); ok && isNumber {
			x.Clause("S8.2-5").Resting("R-27").Holds(ofB.Commit.Transaction == number, "commit.transaction is the transaction ID of the snapshot that the same invocation committed, "+snap.Transaction, "%s", envelopeOf(ofB)["transaction"])
		}
		x.Clause("S8.2-5").Resting("R-27").Holds(ofA.Commit.Transaction != again.Commit.Transaction, "two invocations that write memory only have transaction IDs of their own", "%d and %d", ofA.Commit.Transaction, again.Commit.Transaction)
	}, overBoth)

var _ = scenario("S8.2", "envelope-of-a-merged-commit", "a provisional snapshot moves the writer's commit from version 4 to 5: the memory record names a version that exists",
	"S8.2-4",
	func(x *Lab) {
		s, namespace := x.plainLog(), x.Word("ns")
		l := x.landAt(s.ID.SnapshotKey(4), 1, func(int, *fakes3.Request) {
			x.store(s.Build(wire.SnapshotSpec{Type: wire.Provisional, Entries: []wire.Entry{x.text("pushed")}}))
		})
		out := x.unpadded("entry")
		x.invoked(s, x.remember(namespace+"/x"), out)
		if l.Met() == 0 || !x.bodyCommitted(s.ID, 5, out.Data) {
			x.Stop("the commit did not move to version 5 (S13.3)")
		}
		r := x.recorded(namespace, "x")
		x.Clause("S8.2-4").Assuming("R-27").Expect(r.Commit.Version).To(BeElementOf(uint32(3), uint32(5)), "the version at which the invocation was committed, 5, or the one it ran against")
	})

// sameRecord tells whether a record was kept as it is, whatever its spelling.
func sameRecord(a, b wire.MemoryRecord) bool {
	var x, y any
	decode := func(raw []byte, v *any) bool {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		return d.Decode(v) == nil
	}
	if !decode(a.Raw, &x) || !decode(b.Raw, &y) {
		return false
	}
	left, _ := json.Marshal(x)
	right, _ := json.Marshal(y)
	return bytes.Equal(left, right)
}
