package runtime

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
	"github.com/pugcheck/pugcheck/harness/probe"
	"github.com/pugcheck/pugcheck/harness/subject"
)

// crowd is a number of sessions that write into one, and what their handlers said.
type crowd struct {
	mu   sync.Mutex
	said map[string][]wire.OutputRecord // by handler label
}

// saying makes the act of a handler that writes new Outputs in each invocation, up
// to a number for each label: a runtime which goes on until a session is idle has to
// come to its end.
func (c *crowd) saying(most map[string]int, outputs func(label string) []wire.OutputRecord) func(*probe.Invocation) {
	return func(p *probe.Invocation) {
		var outs []wire.OutputRecord
		c.mu.Lock()
		if len(c.said[p.Label]) < most[p.Label] {
			outs = outputs(p.Label)
		}
		c.said[p.Label] = append(c.said[p.Label], outs...)
		c.mu.Unlock()
		_ = p.Write([]byte(plainly(outs...))) // a runtime that has gone away is judged by what it left
		_ = p.Exit(0)
	}
}

var _ = scenario("S14.2", "a-crowd", "three processes on one session, two others that send it messages and one that writes memory, three times over a store that answers in no order: nothing is lost, nothing twice",
	"S14.2-1",
	func(x *Lab) {
		s, namespace := x.shortLog(), x.Word("ns")
		senders := []*wire.Session{x.Session(wire.SessionSpec{Handler: "sender"}), x.Session(wire.SessionSpec{Handler: "sender"})}
		keeper := x.Session(wire.SessionSpec{Handler: "keeper"})
		for _, w := range append(senders, keeper) {
			w.Commit(wire.Checkpoint, x.text("seed"))
		}
		c := &crowd{said: map[string][]wire.OutputRecord{}}
		speak := func(label string) []wire.OutputRecord {
			name := x.Word(label)
			switch label {
			case "sender":
				return []wire.OutputRecord{x.message(name, s.ID)}
			case "keeper":
				return []wire.OutputRecord{{Name: "memories/" + namespace + "/" + name, Data: []byte(name)}}
			}
			return []wire.OutputRecord{x.output(name)}
		}
		x.Cleanup(x.S3.Intercept(fakes3.Any(), func(ctx context.Context, _ *fakes3.Request) fakes3.Decision {
			select {
			case <-time.After(time.Duration(x.Rand.IntN(8)) * time.Millisecond):
			case <-ctx.Done():
			}
			return fakes3.Pass()
		}))
		handlers := []RunOption{WithHandler("sender"), WithHandler("keeper")}
		for round := 1; round <= 3; round++ {
			before := len(x.Versions(s.ID))
			x.Hub.Auto(c.saying(map[string]int{"default": 3 * round, "sender": 2 * round, "keeper": round}, speak))
			runs := []*Run{x.Run(s.ID), x.Run(s.ID), x.Run(s.ID), x.Run(senders[0].ID, handlers...), x.Run(senders[1].ID, handlers...), x.Run(keeper.ID, handlers...)}
			for _, run := range runs {
				x.end(run)
			}
			if !runs[5].proc.Exit().Success() && len(c.said["keeper"]) > 0 {
				c.said["keeper"] = c.said["keeper"][:len(c.said["keeper"])-1] // reported, and so not lost
			}
			x.legible()
			if len(x.Versions(s.ID)) == before {
				x.Stop("none of the processes of round %d committed to the session", round)
			}
		}
		check := x.Clause("S14.2-1").Resting("F-1")
		for _, id := range []wire.SessionID{s.ID, senders[0].ID, senders[1].ID} {
			log, err := wire.Log(x, id, 0)
			last, seen := int64(0), map[string]bool{}
			for _, e := range log {
				if seen[stamp(e.Descriptor)] {
					continue // a merged checkpoint's copy of what it went above
				}
				seen[stamp(e.Descriptor)] = true
				if e.Descriptor.SequenceNumber <= last && err == nil {
					err = fmt.Errorf("version %d: sequence number %d behind %d", e.Version, e.Descriptor.SequenceNumber, last)
				}
				last = e.Descriptor.SequenceNumber
			}
			check.Holds(err == nil, "afterwards every session has a whole log: versions without gaps, readable snapshots, rising numbers", "session %s: %v", id, err)
		}
		var twice, lost, unsent []string
		kept := 0
		for _, o := range c.said["default"] {
			switch n := x.occurrences(s.ID, o.Data); {
			case n > 1:
				twice = append(twice, o.Name)
			case n == 1:
				kept++
			}
		}
		for _, o := range c.said["sender"] {
			sent := x.occurrences(senders[0].ID, o.Data) + x.occurrences(senders[1].ID, o.Data)
			switch n := x.occurrences(s.ID, o.Data); {
			case n > 1 || sent > 1:
				twice = append(twice, o.Name)
			case sent == 1 && n == 0:
				unsent = append(unsent, o.Name)
			case sent == 0 && n == 1:
				lost = append(lost, o.Name+", of which the target has a copy and the sender no record")
			}
		}
		for _, o := range c.said["keeper"] {
			if name := o.Name[strings.LastIndex(o.Name, "/")+1:]; !x.recalls(namespace, name, o.Data) {
				lost = append(lost, o.Name)
			}
		}
		check.Holds(len(twice) == 0, "no output is committed or delivered twice", "%v", twice)
		check.Holds(len(lost) == 0, "no record and no memory is lost", "%v; records of %s: %s", lost, namespace, memoryNames(x.remembered(namespace)))
		check.Holds(kept >= 3, "of three processes on the session one commits in every round", "%d outputs are in it after three rounds", kept)
		x.Clause("S14.2-1").Assuming("F-1").Holds(len(unsent) == 0, "no message that its sender has recorded is lost", "%v", unsent)
	}, overBoth)

// end waits for a process whose handlers are played elsewhere.
func (x *Lab) end(run *Run) {
	ctx, cancel := subject.Patience(x.Ctx, x.Config.Timeout)
	defer cancel()
	var err error
	x.Waiting(func() { _, err = run.proc.Wait(ctx) })
	if err != nil {
		seen := fmt.Sprintf("a process still ran after %s%s", x.Config.Timeout, run.said())
		run.Kill()
		x.Stop("%s", seen)
	}
}

var _ = scenario("S14.2", "two-senders", "two sessions send to the same one, and both deliveries are due at its next version: each gets a provisional snapshot of its own",
	"S14.2-3 S14.2-4",
	func(x *Lab) {
		target := x.shortLog()
		senders := []*wire.Session{x.shortLog(), x.shortLog()}
		meeting := x.rendezvous(At(target.ID.SnapshotKey(2), fakes3.OpPut))
		var runs []*Run
		var outs []wire.OutputRecord
		for i, s := range senders {
			run := x.Run(s.ID)
			a, b := x.message(fmt.Sprintf("sender %d, a", i+1), target.ID), x.message(fmt.Sprintf("sender %d, b", i+1), target.ID)
			run.Next().Finish(a, b)
			runs, outs = append(runs, run), append(outs, a, b)
		}
		exits := []Exit{runs[0].Wait("S14.2-3"), runs[1].Wait("S14.2-3")}
		if len(meeting.Met()) == 0 || x.refused(target.ID.SnapshotKey(2)) == 0 {
			x.Stop("the two deliveries never met")
		}
		for i, exit := range exits {
			x.Clause("S14.2-3").Resting("R-11", "F-1").Holds(exit.Success(), "both senders succeed", "sender %d: %s%s", i+1, exit.Exit, runs[i].said())
		}
		list := x.deliveries(target.ID)
		if len(list) == 0 {
			x.Stop("nothing was delivered (P12-4, S12-1)")
		}
		var missing []string
		for _, o := range outs {
			n := x.occurrences(target.ID, o.Data)
			if n == 0 {
				missing = append(missing, o.Name)
			}
			x.Clause("S14.2-3").Resting("R-11", "F-1").Holds(n <= 1, "no message is delivered twice", "%q: %d times", o.Name, n)
		}
		x.Clause("S14.2-3").Assuming("F-1").Holds(len(missing) == 0, "both deliveries are there, at different versions", "missing: %q; delivered: %s", missing, listDeliveries(list))
		senderOf := map[uint32]string{}
		for _, d := range list {
			from, _, _ := strings.Cut(d.Name, ",")
			other, taken := senderOf[d.version]
			senderOf[d.version] = from
			x.Clause("S14.2-4").Resting("R-11", "F-1").Holds(!taken || other == from, "a snapshot holds the messages of one sender only", "%s", listDeliveries(list))
		}
	}, overBoth)

var _ = scenario("S14.2", "loser-leaves-nothing", "an invocation with an entry, a memory write, a fork and a message meets a foreign checkpoint: nothing of it is referred to anywhere",
	"S14.2-5",
	func(x *Lab) {
		s, target, child, namespace := x.plainLog(), x.shortLog(), x.NewID(), x.Word("ns")
		memory := wire.OutputRecord{Name: "memories/" + namespace + "/note", Data: []byte(x.Word("note"))}
		outs := []wire.OutputRecord{x.output("entry"), x.forkOutput("fork", child), x.message("message", target.ID)}
		l := x.landAt(s.ID.SnapshotKey(4), 1, func(int, *fakes3.Request) {
			x.store(s.Build(wire.SnapshotSpec{Entries: []wire.Entry{x.text("foreign")}}))
		})
		x.write(s.ID, x.welcome(append(slices.Clone(outs), memory)...)...)
		if l.Met() == 0 || x.refused(s.ID.SnapshotKey(4)) == 0 {
			x.Stop("no commit met the foreign checkpoint")
		}
		x.rest(s.ID) // a child would be made now
		for _, o := range outs {
			n := x.occurrences(s.ID, o.Data) + x.occurrences(target.ID, o.Data)
			x.Clause("S14.2-5").Holds(n == 0, "no snapshot refers to what the losing invocation wrote", "%s: in %d", o.Name, n)
		}
		x.Clause("S14.2-5").Holds(len(x.Keys(x.pathOf(child))) == 0, "no child comes of its fork", "%v", x.Keys(x.pathOf(child)))
		x.Clause("S14.2-5").Assuming("R-27").Holds(!x.recalls(namespace, "note", memory.Data), "its memory write is discarded too", "records of %s: %s", namespace, memoryNames(x.remembered(namespace)))
	}, overBoth)
