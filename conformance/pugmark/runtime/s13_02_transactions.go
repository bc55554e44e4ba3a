package runtime

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"sync"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

// transactionOf is the transaction ID of a snapshot write, as it was sent.
func transactionOf(r fakes3.Request) string {
	return r.Header.Get("X-Amz-Meta-" + wire.MetaTransaction)
}

// snapshotWrites are the subject's snapshot PUTs of all sessions that took effect.
func (x *Lab) snapshotWrites() []fakes3.Request {
	var out []fakes3.Request
	for _, r := range x.Writes("sessions/") {
		if wire.ParseKey(Key(r)).Kind == wire.KindSnapshot && r.Took == fakes3.Applied && r.Status == 200 {
			out = append(out, r)
		}
	}
	return out
}

var _ = scenario("S13.2", "distinct", "many commits by many processes, with children and deliveries: every snapshot has a random transaction ID of its own",
	"S13.2-1 S13.2-2 S13.2-6 S13.2-8",
	func(x *Lab) {
		s := x.plainLog()
		outs := []wire.OutputRecord{}
		for i := range 6 {
			fork := x.output(fmt.Sprint("fork ", i))
			fork.Fork = true
			message := x.output(fmt.Sprint("message ", i))
			target := x.Session(wire.SessionSpec{})
			target.Commit(wire.Checkpoint, x.text("t"))
			message.Session = target.ID.String()
			outs = append(outs, fork, message)
		}
		x.committed(s, 4, x.welcome(append(outs, x.output("entry"))...))
		for v := uint32(5); v <= 20; v++ {
			x.committed(s, v, []wire.OutputRecord{x.output(fmt.Sprint("entry ", v))})
		}
		writes := x.snapshotWrites()
		if len(writes) < 17 {
			x.Stop("only %d snapshots were written", len(writes))
		}
		first := map[uint64]string{}
		ids := []uint64{}
		for _, w := range writes {
			key, text := Key(w), transactionOf(w)
			n, ok := transactionNumber(text)
			x.Clause("S13.2-2").Resting("R-09").Holds(ok, "the snapshot's metadata "+wire.MetaTransaction+" holds an unsigned 64-bit number",
				"%s of %s: %q", wire.MetaTransaction, key, text)
			if !ok {
				continue
			}
			if !x.Clause("S13.2-8").Holds(n != 0, "a transaction ID other than zero", "%s of %s: %q", wire.MetaTransaction, key, text) {
				continue
			}
			if other, taken := first[n]; taken {
				check := x.Clause("S13.2-1")
				if wire.ParseKey(other).Session != wire.ParseKey(key).Session {
					check = check.Assuming("Q:S13.2-1")
				}
				check.Holds(false, "every snapshot commit has a transaction ID of its own", "%s and %s share the ID %q", other, key, text)
				continue
			}
			first[n] = key
			ids = append(ids, n)
		}
		if len(ids) < 2 {
			return
		}
		x.Clause("S13.2-1").Holds(true, "every snapshot commit has a transaction ID of its own", "%d distinct IDs on %d snapshots", len(ids), len(writes))
		why := patterned(ids)
		x.Clause("S13.2-6").Holds(why == "", "IDs without a pattern that a clock or counter leaves (their quality as random numbers cannot be seen)", "%d IDs: %s", len(ids), orNone(why))
	})

func orNone(s string) string {
	if s == "" {
		return "no pattern seen"
	}
	return s
}

// patterned tells what a clock, counter or short random number would leave in a
// list of IDs; limits are so wide that a fair source passes but once in 10^9.
func patterned(ids []uint64) string {
	if len(ids) < 8 {
		return ""
	}
	ones, high, step := 0, map[uint32]bool{}, map[uint64]bool{}
	for i, id := range ids {
		ones += bits.OnesCount64(id)
		high[uint32(id>>32)] = true
		if i > 0 {
			step[id-ids[i-1]] = true
		}
	}
	switch {
	case len(high) < len(ids)-1:
		return fmt.Sprintf("the upper 32 bits take only %d values", len(high))
	case len(step) == 1:
		return "they form an arithmetic sequence"
	}
	mean := float64(ones) / float64(len(ids))
	if limit := 6 * 4 / math.Sqrt(float64(len(ids))); mean < 32-limit || mean > 32+limit {
		return fmt.Sprintf("on average %.1f of 64 bits are set", mean)
	}
	return ""
}

// lossy applies the first snapshot write of a session and withholds its answer.
func (x *Lab) lossy(s *wire.Session, version uint32, d fakes3.Decision) (lost func() bool) {
	var mu sync.Mutex
	done := false
	key := s.ID.SnapshotKey(version)
	remove := x.S3.Intercept(At(key, fakes3.OpPut), func(_ context.Context, r *fakes3.Request) fakes3.Decision {
		mu.Lock()
		defer mu.Unlock()
		if done {
			return fakes3.Pass()
		}
		done = true
		return d
	})
	x.Cleanup(remove)
	return func() bool { mu.Lock(); defer mu.Unlock(); return done }
}

var _ = scenario("S13.2", "lost-response", "the snapshot is stored, but the answer never arrives or is an error: the repeated write meets the runtime's own snapshot",
	"S13.2-3 S13.2-5",
	func(x *Lab) {
		for _, c := range []struct {
			what   string
			answer fakes3.Decision
		}{
			{"connection closed without an answer", fakes3.Lose()},
			{"answered 500 although stored", fakes3.LoseAs(500, "InternalError")},
			{"answered 503 although stored", fakes3.LoseAs(503, "SlowDown")},
		} {
			s, target := x.plainLog(), x.plainLog()
			lost := x.lossy(s, 4, c.answer)
			x.ownAttempt(s, target, 4, c.what, lost)
		}
	}, overBoth)

var _ = scenario("S13.2", "lost-response-after-merge", "a provisional snapshot is in the way, and the answer to the merged attempt is lost",
	"S13.2-3 S13.2-5",
	func(x *Lab) {
		s, target := x.plainLog(), x.plainLog()
		x.landAt(s.ID.SnapshotKey(4), 1, func(int, *fakes3.Request) {
			x.store(s.Build(wire.SnapshotSpec{Type: wire.Provisional, Entries: []wire.Entry{x.text("pushed")}}))
		})
		lost := x.lossy(s, 5, fakes3.Lose())
		x.ownAttempt(s, target, 5, "the merged attempt at version 5 was stored and its answer lost", lost)
	})

// ownAttempt runs a session whose commit at the given version loses its answer,
// and judges that the runtime recognises its own snapshot.
func (x *Lab) ownAttempt(s, target *wire.Session, version uint32, what string, lost func() bool) {
	out, message := x.output("entry"), x.output("message")
	message.Session = target.ID.String()
	memory := wire.OutputRecord{Name: "memories/ns-" + s.ID.String()[8:] + "/note", Data: []byte(x.Word("note"))}
	run := x.Run(s.ID)
	outs := x.welcome(out, memory, message)
	run.Next().Finish(outs...)
	exit := run.Wait()
	x.legible()
	key := s.ID.SnapshotKey(version)
	if !lost() {
		x.Clause("S13.2-3").Resting("F-4").NotExercised("the runtime wrote no snapshot at version %d (%s)", version, what)
		return
	}
	attempts, met := []string{}, false
	for _, w := range x.Writes(key) {
		attempts = append(attempts, transactionOf(w))
		met = met || w.Status == 412
	}
	if len(attempts) > 1 && !x.Clause("S13.2-5").Resting("F-4").Expect(attempts).To(HaveEach(attempts[0]), "every attempt of one commit at one key carries the same transaction ID (%s)", what) {
		x.Clause("S13.2-3").NotExercised("the repeated write had another transaction ID, so what it met was not the runtime's own (%s)", what)
		return
	}
	if n, ok := transactionNumber(attempts[0]); !ok || n == 0 {
		x.Clause("S13.2-3").NotExercised("the writes carry no transaction ID (%q), by which the runtime could know its own (%s)", attempts[0], what)
		return
	}
	x.Snapshot(s.ID, version) // ends the scenario where nobody can read what was stored
	if !met {
		x.Clause("S13.2-3").NotExercised("the runtime did not repeat its write, so it never met its own snapshot (%s)", what)
		return
	}
	check := x.Clause("S13.2-3").Resting("R-11", "F-4")
	check.Holds(exit.Success(), "the run succeeds, since its own snapshot stands ("+what+")", "%s%s", exit.Exit, run.said())
	count := 0
	for _, v := range x.Versions(s.ID) {
		if x.bodyCommitted(s.ID, v, out.Data) {
			count++
		}
	}
	check.Holds(count == 1, "the output is in the session once ("+what+")", "it is in %d snapshots; versions: %v", count, x.Versions(s.ID))
	check.Holds(x.bodyCommitted(target.ID, 4, message.Data), "the cross-session write that follows the commit is delivered ("+what+")", "versions of the target: %v", x.Versions(target.ID))
	if len(outs) < 3 {
		return
	}
	check.Holds(len(x.New("memories/ns-"+s.ID.String()[8:])) == 1, "the memory write that follows the commit takes place ("+what+")", "memory files: %v", x.New("memories/"))
}

var _ = scenario("S13.2", "foreign-twin", "a foreign checkpoint with the very same body but another transaction ID stands at the version: it is not the runtime's own",
	"S13.2-4",
	func(x *Lab) {
		s, target := x.plainLog(), x.plainLog()
		x.meetsForeign("S13.2-4", s, target, "a foreign checkpoint with the same body and another transaction ID", func(r *fakes3.Request) wire.Stored {
			meta := metadataOf(r)
			meta[wire.MetaTransaction] = "1234567890123456789"
			return wire.Stored{Key: s.ID.SnapshotKey(4), Body: r.Body, ContentType: "application/json", ContentEncoding: "zstd", CacheControl: wire.Immutable, Metadata: meta}
		})
	}, overBoth)

// metadataOf is the user metadata of a write, under lower-case keys.
func metadataOf(r *fakes3.Request) map[string]string {
	meta := map[string]string{}
	for _, k := range []string{wire.MetaSession, wire.MetaVersion, wire.MetaTransaction, wire.MetaType, wire.MetaSchema} {
		if v := r.Header.Get("X-Amz-Meta-" + k); v != "" {
			meta[k] = v
		}
	}
	return meta
}

// meetsForeign lands a foreign snapshot at version 4 while the run's own commit
// is on its way, and judges that the run ends as the loser: nothing of it is
// committed later and nothing is delivered.
func (x *Lab) meetsForeign(clause string, s, target *wire.Session, what string, foreign func(*fakes3.Request) wire.Stored) {
	out, message := x.output("entry"), x.output("message")
	message.Session = target.ID.String()
	var landed wire.Stored
	l := x.landAt(s.ID.SnapshotKey(4), 1, func(_ int, r *fakes3.Request) {
		landed = foreign(r)
		x.Must(x.Put(landed))
	})
	run := x.Run(s.ID)
	inv := run.Next()
	inv.Finish(out, message)
	exit := run.Wait(clause)
	if l.Met() == 0 || x.refused(s.ID.SnapshotKey(4)) == 0 {
		x.Stop("no commit of the runtime met the foreign snapshot")
	}
	check := x.Clause(clause).Calldepth(1).Resting("R-11")
	again := []uint32{}
	for _, v := range x.Versions(s.ID) {
		if v > 4 && x.bodyCommitted(s.ID, v, out.Data) {
			again = append(again, v)
		}
	}
	check.Holds(len(again) == 0, "the outputs of the losing run are committed at no later version ("+what+")", "they are in versions %v", again)
	// A run that goes on from the foreign snapshot (P1-11) may deliver what that asks
	// for, which can be the same.
	wentOn := len(x.invocationsSince(inv)) > 0
	check.Holds(wentOn || !x.bodyCommitted(target.ID, 4, message.Data), "none of the losing run's cross-session writes is delivered ("+what+")", "versions of the target: %v", x.Versions(target.ID))
	now, _ := x.Get(landed.Key)
	check.Expect(now.Body).To(Equal(landed.Body), "the foreign snapshot stays as it was (%s)", what)
	check.Holds(exit.Signal == 0, "the process ends by itself, with a conflict message or invoking the handler anew on the foreign snapshot", "%s%s", exit.Exit, run.said())
}

var _ = scenario("S13.2", "no-transaction", "a foreign checkpoint without a transaction ID, another with 0: neither is taken for the runtime's own",
	"S13.2-9",
	func(x *Lab) {
		for _, number := range []string{"-", "0"} {
			what := "a foreign checkpoint without a transaction ID"
			if number == "0" {
				what = `a foreign checkpoint with the transaction ID "0"`
			}
			s, target := x.plainLog(), x.plainLog()
			x.meetsForeign("S13.2-9", s, target, what, func(*fakes3.Request) wire.Stored {
				file, blobs, err := s.Build(wire.SnapshotSpec{Type: wire.Checkpoint, Transaction: number, Entries: []wire.Entry{x.text("foreign")}})
				x.Must(err)
				for _, b := range blobs {
					x.Must(x.Put(b))
				}
				return file
			})
		}
	}, overBoth)
