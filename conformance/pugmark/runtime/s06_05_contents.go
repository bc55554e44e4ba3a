package runtime

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

var _ = scenario("S6.5", "deltas", "three invocations with one output each: every snapshot holds only its own",
	"S6.5-1",
	func(x *Lab) {
		s := x.Session(wire.SessionSpec{})
		for v := uint32(1); v <= 3; v++ {
			out := x.output(fmt.Sprintf("output-%d", v))
			run := x.Run(s.ID)
			run.Next().Finish(out)
			run.Success()
			snap, ok := x.Snapshot(s.ID, v)
			if !ok || !x.bodyCommitted(s.ID, v, out.Data) {
				x.Stop("the output is not in version %d (versions: %v)", v, x.Versions(s.ID))
			}
			x.Clause("S6.5-1").Resting("R-20").Expect(names(entries(snap))).To(Equal([]string{out.Name}),
				"version %d holds the descriptor of output-%d and, beside control messages, no other", v, v)
		}
	}, overBoth)

var _ = scenario("S6.5", "full-state", "grandparent, parent and child with several entries each, in no order of name or time: the state is their concatenation",
	"S6.5-2",
	func(x *Lab) {
		old := func(e wire.Entry, year int) wire.Entry {
			e.CreatedAt = time.Date(year, 1, 2, 3, 4, 5, 0, time.UTC)
			return e
		}
		g := x.Session(wire.SessionSpec{})
		g.Commit(wire.Checkpoint, old(x.text("q"), 2025), x.text("c"))
		g.Commit(wire.Checkpoint, x.text("z"), x.text("a"))
		p := x.Session(wire.SessionSpec{Parent: g.Pointer(2)})
		p.Commit(wire.Checkpoint, old(x.text("y"), 2019), x.text("d"))
		p.Commit(wire.Checkpoint, x.text("b"))
		c := x.Session(wire.SessionSpec{Parent: p.Pointer(2)})
		c.Commit(wire.Checkpoint, old(x.text("x"), 2011), x.text("e"))
		c.Commit(wire.Checkpoint, x.text("w"))
		c.Commit(wire.Checkpoint, x.text("f"), old(x.text("v"), 2010))
		run := x.Run(c.ID)
		inv := run.Next("S6.5-2")
		if missing := without(fields("q c z a y d b x e w f v"), inv.Names()); len(missing) > 0 {
			x.Stop("the replay lacks %v (P1-3, S6.5-4), so the order of the whole is not judged", missing)
		}
		x.Clause("S6.5-2").Expect(inv.Names()).To(Equal(fields("q c z a y d b x e w f v")),
			"the grandparent's snapshots 1 and 2, the parent's 1 and 2, the session's 1 to 3, each in stored order")
		inv.Finish()
		run.Wait()
	}, overBoth)

var _ = scenario("S6.5", "bounded-ancestors", "ancestors that went on after the fork: what they added later stays invisible, at both levels",
	"S6.5-3",
	func(x *Lab) {
		g := x.Session(wire.SessionSpec{})
		g.Commit(wire.Checkpoint, x.text("g1"))
		p := x.Session(wire.SessionSpec{Parent: g.Pointer(1)})
		g.Commit(wire.Checkpoint, x.text("g2"))
		g.Commit(wire.Checkpoint, x.text("g3"))
		p.Commit(wire.Checkpoint, x.text("p1"))
		p.Commit(wire.Checkpoint, x.text("p2"))
		c := x.Session(wire.SessionSpec{Parent: p.Pointer(2)})
		p.Commit(wire.Checkpoint, x.text("p3"))
		p.Commit(wire.Provisional, x.text("p4"))
		c.Commit(wire.Checkpoint, x.text("c1"))
		run := x.Run(c.ID)
		inv := run.Next()
		got := inv.Names()
		if missing := without(fields("p1 c1"), got); len(missing) > 0 {
			x.Stop("the chain is not replayed at all (missing: %v)", missing)
		}
		x.Clause("S6.5-3").Expect(got).To(ContainElement("p2"), "entries of the parent up to and including the version of the pointer, 2, are visible")
		x.Clause("S6.5-3").Expect(got).NotTo(ContainElements("p3"), "entries of the parent behind the pointer's version are not visible")
		for _, later := range fields("g2 g3 p3 p4") {
			x.Clause("S6.5-3").Expect(got).NotTo(ContainElement(later), "entries behind a pointer's version (g2, g3, p3, p4) are not visible")
		}
		inv.Finish()
		run.Wait()
	}, overBoth)

var _ = scenario("S6.5", "five-generations", "a chain of five sessions run like any other: all ancestors are there",
	"S6.5-4 S6.5-7",
	func(x *Lab) {
		var s *wire.Session
		for i := 1; i <= 5; i++ {
			spec := wire.SessionSpec{}
			if s != nil {
				spec.Parent = s.Pointer(1)
			}
			s = x.Session(spec)
			s.Commit(wire.Checkpoint, x.text(fmt.Sprintf("generation-%d", i)))
		}
		run := x.Run(s.ID)
		inv := run.Next("S6.5-4")
		want := fields("generation-1 generation-2 generation-3 generation-4 generation-5")
		x.Clause("S6.5-4").Expect(inv.Names()).To(ConsistOf(want), "one entry of each of the five generations")
		x.Clause("S6.5-7").Expect(inv.Names()).To(ContainElements("generation-4", "generation-5"), "the parent's entries are there without any option on the command line")
		inv.Finish()
		run.Wait()
	}, overBoth)

var _ = scenario("S6.5", "mixed-types", "snapshots of all types stored in shuffled order and answered with delays: replay goes by version",
	"S6.5-5",
	func(x *Lab) {
		s := x.Session(wire.SessionSpec{})
		for i, t := range []wire.SnapshotType{wire.Checkpoint, wire.Provisional, wire.Queueing, wire.Checkpoint, wire.Provisional} {
			s.Commit(t, x.text(fmt.Sprint("v", i+1)))
		}
		for _, v := range []uint32{5, 3, 1, 4, 2} {
			o, _ := x.Get(s.ID.SnapshotKey(v))
			x.Must(x.Put(o))
		}
		// Later versions answer sooner, so that order of arrival is the wrong one.
		remove := x.S3.Intercept(At(s.ID.SnapshotsPrefix(), fakes3.OpGet), func(ctx context.Context, r *fakes3.Request) fakes3.Decision {
			v, _ := wire.ParseReverseVersion(r.Key[len(r.Key)-len("FFFFFFFF.json") : len(r.Key)-len(".json")])
			select {
			case <-time.After(time.Duration(6-v) * 8 * time.Millisecond):
			case <-ctx.Done():
			}
			return fakes3.Pass()
		})
		defer remove()
		run := x.Run(s.ID)
		inv := run.Next()
		x.Clause("S6.5-5").Expect(inv.Names()).To(Equal(fields("v1 v2 v3 v4 v5")), "versions 1 to 5 in order, whatever their types and however late their answers come")
		inv.Finish()
		run.Wait()
	}, overBoth)

var _ = scenario("S6.5", "stored-order", "a snapshot whose ten descriptors are sorted by nothing: replay keeps the stored order",
	"S6.5-6",
	func(x *Lab) {
		s := x.Session(wire.SessionSpec{})
		want := fields("m c k a t e r b z d")
		list := []wire.Entry{}
		for i, n := range want {
			e := wire.Text(n, string(x.Bytes(1+(i*7)%10)))
			e.CreatedAt = time.Date(2020, time.Month(1+(i*5)%12), 1+(i*11)%28, 0, 0, 0, 0, time.UTC)
			list = append(list, e)
		}
		s.Commit(wire.Checkpoint, list...)
		run := x.Run(s.ID)
		inv := run.Next()
		x.Clause("S6.5-6").Expect(inv.Names()).To(Equal(want), "the descriptors in the order of the file, not by name, digest, size or time")
		inv.Finish()
		run.Wait()
	}, overBoth)
