package runtime

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

var _ = scenario("P1", "no-hole-in-the-log", "one of three snapshots cannot be read, is cut short, or is missing: the handler is not run on the rest",
	"P1-9",
	func(x *Lab) {
		control := x.plainLog()
		run := x.Run(control.ID)
		inv := run.Next()
		if missing := without(fields("a b c d e"), inv.Names()); len(missing) > 0 {
			x.Stop("even of a whole log entries are missing: %v", missing)
		}
		inv.Finish()
		run.Wait()
		for _, c := range []struct {
			what  string
			spoil func(s *wire.Session)
		}{
			{"the server answers 500 for snapshot 2", func(s *wire.Session) {
				x.S3.Intercept(At(s.ID.SnapshotKey(2), fakes3.OpGet), func(context.Context, *fakes3.Request) fakes3.Decision {
					return fakes3.Fail(500, "InternalError")
				})
			}},
			{"snapshot 2 ends half way", func(s *wire.Session) {
				o, _ := x.Get(s.ID.SnapshotKey(2))
				o.Body = o.Body[:len(o.Body)/2]
				x.Must(x.Put(o))
			}},
			{"snapshot 1 is missing", func(s *wire.Session) {
				x.Must(x.S3.Delete(bucketName, bucketRoot+s.ID.SnapshotKey(1)))
			}},
		} {
			s := x.plainLog()
			c.spoil(s)
			out := x.unpadded("on a hole")
			run := x.Run(s.ID)
			check := x.Clause("P1-9")
			if c.what == "snapshot 1 is missing" {
				check = check.Warning() // the bucket itself is broken
			}
			inv, _ := run.await()
			whole := false
			if inv != nil {
				inv.Received()
				_, whole = inv.InputEnded()
				if s, ok := inv.complete(); whole && ok && len(s.Inputs) > 0 {
					last, _ := s.Last()
					whole = isLifecycle(last)
					inv.Finish(out)
				} else {
					whole = false
					_ = inv.Exit(0)
				}
			}
			exit := run.Wait("P1-9")
			seen := "the handler was not started"
			if inv != nil {
				seen = fmt.Sprintf("a stream that ends with a lifecycle record: %t; it began %q", whole, clip(inv.Input(), 300))
			}
			check.Holds(!whole, "no handler gets a whole stream of a log with a hole, the best is that it is not started ("+c.what+")", "%s", seen)
			check.Expect(x.newVersions(s.ID)).To(BeEmpty(), "nothing is committed on such a log (%s)", c.what)
			if !whole {
				check.Warning().Holds(!exit.Success(), "the run is reported as failed ("+c.what+")", "%s", exit.Exit)
			}
		}
	}, overBoth)

var _ = scenario("P1", "one-version", "a snapshot with two entries lands while the runtime reads the log: the handler sees both or neither",
	"P1-9",
	func(x *Lab) {
		s := x.plainLog()
		landed := false
		x.S3.Intercept(fakes3.Nth(1, At(s.ID.SnapshotKey(3), fakes3.OpGet)), func(context.Context, *fakes3.Request) fakes3.Decision {
			x.store(s.Build(wire.SnapshotSpec{Type: wire.Provisional, Entries: []wire.Entry{x.text("f"), x.text("g")}}))
			landed = true
			return fakes3.Pass()
		})
		run := x.Run(s.ID)
		inv := run.Next()
		got := inv.Names()
		inv.Finish()
		run.Wait()
		if !landed {
			x.Stop("snapshot 3 was never fetched, so nothing landed meanwhile")
		}
		if missing := without(fields("a b c d e"), got); len(missing) > 0 {
			x.Stop("entries of the log are missing anyway: %v", missing)
		}
		f, g := slices.Contains(got, "f"), slices.Contains(got, "g")
		x.Clause("P1-9").Holds(f == g, "the log that the handler gets is that of one version: with both entries of version 4 or with neither", "its entries: %v", got)
		if version, ok := inv.Announced(); ok && f == g {
			want := map[bool]string{true: "4", false: "3"}[f]
			x.Clause("P1-9").Assuming("R-01", "R-05").Holds(version == want, "the version that the invocation is told agrees with the entries: "+want, "%s", version)
		}
	}, overBoth)

var _ = scenario("P1", "after-a-lost-race", "a foreign checkpoint lands at the next version while the handler runs: however often it is invoked after that, each time it gets the whole log, and no Output is committed twice",
	"P1-11",
	func(x *Lab) {
		s := x.plainLog()
		l := x.landAt(s.ID.SnapshotKey(4), 1, func(int, *fakes3.Request) {
			x.store(s.Build(wire.SnapshotSpec{Entries: []wire.Entry{x.text("foreign")}}))
		})
		out := x.unpadded("mine")
		run := x.Run(s.ID)
		inv := run.Next()
		inv.Received()
		inv.Finish(out)
		run.Wait("P1-11")
		if l.Met() == 0 {
			x.Stop("no commit of the runtime met the foreign snapshot")
		}
		for _, again := range x.invocationsSince(inv) {
			whole, ok := again.complete()
			x.Clause("P1-11").Holds(ok && len(without(fields("a b c d e"), again.Names())) == 0, "an invocation after a lost commit gets a whole stream", "it got %s", eventsInShort(whole))
		}
		x.Clause("P1-11").Holds(x.times(s.ID, out.Data) <= 1, "the Output of the invocation that lost is committed once at the most", "%d times", x.times(s.ID, out.Data))
	}, overBoth)

// times counts the descriptors of a body in all snapshots of a session.
func (x *Lab) times(id wire.SessionID, body []byte) int {
	n := 0
	for _, v := range x.Versions(id) {
		snap, _ := x.Snapshot(id, v)
		for _, d := range snap.Descriptors {
			if d.Digest == wire.Digest(body) {
				n++
			}
		}
	}
	return n
}

var _ = scenario("P1", "notified-twice", "two processes are started on one session and come to commit at the same time: one checkpoint is made, no Output lies in the log twice, and both processes end",
	"P1-12",
	func(x *Lab) {
		s := x.plainLog()
		commits := x.race(s.ID.SnapshotKey(4), 2)
		x.Cleanup(commits.gate.Open)
		runs := []*Run{x.Run(s.ID), x.Run(s.ID)}
		var outs []wire.OutputRecord
		for range runs {
			inv, _ := x.awaitOf(runs...)
			if inv == nil {
				break // one process that finds the other at work is conforming as well
			}
			outs = append(outs, x.unpadded(fmt.Sprint("of process ", len(outs)+1)))
			inv.Received()
			inv.Finish(outs[len(outs)-1])
		}
		commits.n = len(outs)
		held := commits.start(runs...)
		for _, run := range runs {
			run.Wait("P1-12")
		}
		if held < 2 {
			x.Stop("only %d of the two processes came to commit", held)
		}
		for _, v := range x.newVersions(s.ID) {
			if snap, _ := x.Snapshot(s.ID, v); snap.Type != wire.Checkpoint {
				x.Stop("version %d is no checkpoint (S6.4-2), and of other snapshots each may stay", v)
			}
		}
		committed := []string{}
		for _, out := range outs {
			n := x.times(s.ID, out.Data)
			x.Clause("P1-12").Holds(n <= 1, "no Output lies in the log twice", "%s: %d times", out.Name, n)
			if n > 0 {
				committed = append(committed, out.Name)
			}
		}
		x.Clause("P1-12").Holds(len(committed) == 1, "of two checkpoints at the same version one is committed, and the other is not moved to a later one", "committed: %s; versions: %v", strings.Join(committed, ", "), x.Versions(s.ID))
	}, overBoth)

var _ = scenario("P1", "replayed-as-committed", "an Output of 64 random bytes with every field: the next runs replay it as it was emitted, and ask nobody for it again",
	"P1-14",
	func(x *Lab) {
		s := x.plainLog()
		out := wire.OutputRecord{
			Name: "made", Data: x.Bytes(64), ContentType: "application/x.made", SchemaURL: "https://example.com/made",
			Metadata: map[string]string{"k": x.Word("v")},
		}
		run := x.Run(s.ID)
		inv := run.Next()
		inv.Finish(out)
		again := run.Again()
		if !x.bodyCommitted(s.ID, 4, out.Data) {
			x.Stop("the Output was not committed")
		}
		for round := range 2 {
			if round == 1 {
				again = x.Run(s.ID).Next()
			}
			in, ok := again.named(out.Name)
			if !ok {
				x.Stop("the committed entry is not replayed (P4.2-5)")
			}
			body, fetched, why := again.Body(in)
			if !fetched {
				x.Stop("the committed entry's body cannot be had: %s", why)
			}
			x.Clause("P1-14").Holds(bytes.Equal(body, out.Data), "what was committed is replayed to the byte: "+fmt.Sprintf("% x…", clip(out.Data, 8)), "% x…", clip(body, 8))
			replayed := again.Replay()
			x.Clause("P1-14").Holds(len(replayed) >= 6, "each invocation is one of the present version with the whole log, none is made for an earlier version", "%d entries: %v", len(replayed), again.Names())
			again.Finish()
		}
		x.settle()
	}, overBoth)
