package runtime

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

// staleness answers listings of a prefix as though the newest key were not there
// yet.
type staleness struct {
	mu     sync.Mutex
	served int
	since  time.Time
}

// stale hides a key from listings for as long as lagging says so, which is asked
// with the number of listings that lagged so far and the time of the first.
func (x *Lab) stale(key string, lagging func(served int, since time.Time) bool) *staleness {
	s := &staleness{}
	hidden := bucketRoot + key
	match := func(r *fakes3.Request) bool {
		return r.Op == fakes3.OpList && r.Bucket == bucketName && strings.HasPrefix(hidden, r.ListPrefix)
	}
	remove := x.S3.Intercept(match, func(_ context.Context, r *fakes3.Request) fakes3.Decision {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !lagging(s.served, s.since) {
			return fakes3.Pass()
		}
		if s.served++; s.served == 1 {
			s.since = time.Now()
		}
		return fakes3.Hide(func(key string) bool { return key == hidden })
	})
	x.Cleanup(remove)
	return s
}

func (s *staleness) Served() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.served
}

// until412 lags until a write at the key was refused.
func (x *Lab) until412(key string) func(int, time.Time) bool {
	return func(int, time.Time) bool { return x.refused(key) == 0 }
}

// remembering lays out a namespace of two versions, whose newest key it gives.
func (x *Lab) remembering(s *wire.Session) (ns, newest string) {
	ns = x.Word("ns")
	for i := range 2 {
		x.Bucket.Memory(ns, wire.MemoryEntry{Entry: x.text(fmt.Sprint("seed-", i)), Session: s.ID, Version: 1})
	}
	return ns, wire.MemoryKey(ns, 2)
}

var _ = scenario("S2.5", "lagging-listings", "the listings of a memory namespace, of a message's target and of the session itself lack the newest file: the write that meets it is refused, and goes on from the newer state",
	"S2.5-4",
	func(x *Lab) {
		const demand = "a write that a lagging listing led to an existing file is refused by If-None-Match: *, and lands at the next free version"
		check := x.Clause("S2.5-4").Resting("R-11")
		untouched := func(key string, was wire.Stored, what string) {
			now, _ := x.Get(key)
			check.Holds(bytes.Equal(now.Body, was.Body), "the file that the listing lacked stays as it is ("+what+")", "%s has %d bytes, before %d", key, len(now.Body), len(was.Body))
		}

		s := x.shortLog()
		ns, newest := x.remembering(s)
		was, _ := x.Get(newest)
		lag := x.stale(newest, x.until412(newest))
		note := wire.OutputRecord{Name: "memories/" + ns + "/mine", Data: x.threes("mine")}
		run := x.Run(s.ID)
		run.Next().Finish(note)
		exit := run.Wait("S2.5-4")
		if lag.Served() > 0 && x.met(newest) {
			what := "memory"
			landed, _ := x.Get(wire.MemoryKey(ns, 3))
			file, _ := wire.DecodeMemory(landed)
			names := memoryNames(file.Records)
			check.Holds(exit.Success() && strings.Contains(names, "mine"), demand+" ("+what+")", "%s; version 3 has %q%s", exit.Exit, names, run.said())
			untouched(newest, was, what)
		}

		writer, target := x.shortLog(), x.plainLog()
		newest = target.ID.SnapshotKey(3)
		was, _ = x.Get(newest)
		lag = x.stale(newest, x.until412(newest))
		message := x.unpadded("message")
		message.Session = target.ID.String()
		run = x.Run(writer.ID)
		run.Next().Finish(message)
		exit = run.Wait("S2.5-4")
		if lag.Served() > 0 && x.met(newest) {
			what := "a message's target"
			if exit.Success() && len(x.newVersions(target.ID)) == 0 {
				x.Clause("S2.5-4").Assuming("F-1").Holds(false, demand+"; taking the conflict for a delivery is what S12.2-10 asks for, and loses the message", "the run succeeds, and the message lies nowhere in the target")
			} else {
				check.Holds(exit.Success() && x.bodyCommitted(target.ID, 4, message.Data), demand+" ("+what+")", "%s; versions of the target: %v%s", exit.Exit, x.Versions(target.ID), run.said())
			}
			untouched(newest, was, what)
		}

		for _, t := range []wire.SnapshotType{wire.Provisional, wire.Checkpoint} {
			s := x.plainLog()
			s.Commit(t, x.text("unseen"))
			newest := s.ID.SnapshotKey(4)
			was, _ := x.Get(newest)
			lag := x.stale(newest, x.until412(newest))
			out := x.output("mine")
			run := x.Run(s.ID)
			inv := run.Next()
			sawIt := strings.Contains(string(inv.Received().Raw), "unseen")
			inv.Finish(out)
			exit := run.Wait("S2.5-4")
			if lag.Served() == 0 || sawIt || !x.met(newest) {
				continue // it did not rely on the listing, or looked again before it wrote
			}
			what := fmt.Sprintf("a %s of the session itself", t)
			if t == wire.Provisional {
				check.Holds(exit.Success() && x.bodyCommitted(s.ID, 5, out.Data), demand+" ("+what+")", "%s; versions: %v%s", exit.Exit, x.Versions(s.ID), run.said())
			} else {
				check.Resting("F-18").Holds(exit.Signal == 0 && !x.bodyCommitted(s.ID, 5, out.Data), "against a checkpoint the run ends with a conflict, or invokes its handler again; what was made without seeing it is not committed ("+what+")",
					"%s; versions: %v%s", exit.Exit, x.Versions(s.ID), run.said())
			}
			untouched(newest, was, what)
		}
	}, overBoth)

// met tells whether a conditional write at a key was refused because of what lies
// there.
func (x *Lab) met(key string) bool {
	for _, w := range x.Writes(key) {
		if w.Status == 412 && w.IfNoneMatch == "*" {
			return true
		}
	}
	return false
}

var _ = scenario("S2.5", "attempts-are-bounded", "listings of a memory namespace lag for five attempts, and for three seconds: a few attempts more than that, and the write lands",
	"S2.5-5",
	func(x *Lab) {
		for _, v := range []struct {
			what    string
			allowed int
			lagging func(newest string) func(int, time.Time) bool
		}{
			{"the listing lags until five writes were refused", 8, func(newest string) func(int, time.Time) bool {
				return func(int, time.Time) bool { return x.refused(newest) < 5 }
			}},
			{"the listing lags for three seconds", -1, func(string) func(int, time.Time) bool {
				return func(_ int, since time.Time) bool { return since.IsZero() || time.Since(since) < 3*time.Second }
			}},
		} {
			s := x.shortLog()
			ns, newest := x.remembering(s)
			lag := x.stale(newest, v.lagging(newest))
			note := wire.OutputRecord{Name: "memories/" + ns + "/mine", Data: x.threes("mine")}
			run := x.Run(s.ID)
			run.Next().Finish(note)
			exit := run.Wait("S2.5-5")
			doomed := x.refused("memories/" + ns + "/")
			if lag.Served() == 0 || doomed == 0 {
				continue
			}
			landed := x.recalls(ns, "mine", note.Data)
			seen := fmt.Sprintf("%d refused writes after %d lagging listings; written: %t; %s%s", doomed, lag.Served(), landed, exit.Exit, run.said())
			const lands = "the write lands once the listing is up to date, or sooner"
			check := x.Clause("S2.5-5")
			switch {
			case v.allowed < 0, !landed && !exit.Success():
				check.Warning().Holds(landed, lands+"; giving up by a limit of one's own is permitted ("+v.what+")", "%s", seen)
			default:
				check.Holds(landed, lands+" ("+v.what+")", "%s", seen)
			}
			if v.allowed >= 0 {
				check.Holds(doomed <= v.allowed, fmt.Sprintf("at most %d writes are refused (%s)", v.allowed, v.what), "%s", seen)
			}
		}
	})
