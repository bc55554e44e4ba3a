package runtime

import (
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

// controls are the decoded control messages with status stopped of a snapshot,
// in stored order.
func (x *Lab) controls(s wire.Snapshot) []wire.Control {
	out := []wire.Control{}
	for _, d := range s.Descriptors {
		if !d.IsControl() {
			continue
		}
		body := d.Data
		if !d.HasData {
			o, ok := x.Get(d.BlobKey())
			if !ok {
				continue
			}
			body = o.Body
		}
		c, _ := wire.DecodeControl(body)
		if c.Status == "stopped" {
			out = append(out, c)
		}
	}
	return out
}

func sleepFor(reason, duration string) wire.OutputRecord {
	o := pause(reason)
	o.Metadata = map[string]string{"duration": duration}
	return o
}

var _ = scenario("P10", "pause-and-more", "an entry, a pause, then an entry, a memory write, a fork and a cross-session write: all of it counts, and the stop comes last",
	"P10-1 P10-5 P10-7 P10-8 P10-9",
	func(x *Lab) {
		s, target := x.plainLog(), x.plainLog()
		fork, message := x.output("fork"), x.output("message")
		fork.Fork = true
		message.Session = target.ID.String()
		memory := wire.OutputRecord{Name: "memories/pause/note", Data: []byte(x.Word("note"))}
		run := x.Run(s.ID)
		inv := run.Next()
		inv.Emit(x.output("A"), pause("reason one"))
		behind := x.welcome(x.output("B"), memory, fork, message)
		inv.Finish(behind...)
		run.Success()
		snap, ok := x.Snapshot(s.ID, 4)
		if !ok {
			x.Stop("the run did not commit version 4")
		}
		want, kept := []string{}, false
		for _, o := range behind {
			if strings.HasPrefix(o.Name, "memories/") {
				kept = true
				continue
			}
			want = append(want, o.Name)
		}
		x.Clause("P10-7").Expect(names(entries(snap))).To(ContainElements(append(want, "A")), "what follows the pause is in the snapshot like what precedes it")
		x.Clause("P10-7").Holds((!kept || len(x.New("memories/pause/")) == 1) && x.bodyCommitted(target.ID, 4, message.Data),
			"the memory write and the delivery that follow the pause take place", "memory files: %v, versions of the target: %v", x.New("memories/"), x.Versions(target.ID))
		stops := x.controls(snap)
		if len(stops) == 1 && stops[0].Reason == "reason one" {
			for _, clause := range fields("P10-1 P10-5 P10-8") {
				x.Clause(clause).Holds(true, "a control message with status stopped and the reason of the pause is committed, whatever followed the pause", "%+v", stops[0])
			}
		} else {
			// What a pause that nothing follows leads to tells whether this is about what follows.
			alone := x.shortLog()
			x.commitTo(alone, "", plainly(x.unpadded("before"), pause("reason alone")))
			controls := x.newControls(alone.ID)
			switch {
			case len(controls) == 1 && controls[0].Reason == "reason alone":
				x.Clause("P10-5").Holds(false, "a control message with status stopped and the reason of the pause is committed, whatever followed the pause", "%d of them: %+v; a pause as last Output leads to %+v", len(stops), stops, controls)
			case len(stops) != 1:
				for _, clause := range fields("P10-1 P10-8") {
					x.Clause(clause).Expect(stops).To(HaveLen(1), "one control message with status stopped is committed")
				}
			default:
				x.Clause("P10-8").Expect(stops[0].Reason).To(Equal("reason one"), "the control message carries the reason of the pause")
			}
		}
		if len(stops) != 1 {
			return
		}
		last := snap.Descriptors[len(snap.Descriptors)-1]
		x.Clause("P10-9").Resting("R-32").Holds(last.IsControl(), "the control message is the last descriptor of the snapshot", "last descriptor: %q of type %s", last.Name, last.ContentType)
	}, overBoth)

var _ = scenario("P10", "pause-alone", "a pause is the only output, then a run that ends without any: only the first stops the session",
	"P10-1 P10-8",
	func(x *Lab) {
		s := x.plainLog()
		snap := x.committed(s, 4, []wire.OutputRecord{pause("nothing to do")}, "P10-8")
		x.Clause("P10-8").Expect(x.controls(snap)).To(ConsistOf(HaveField("Reason", "nothing to do")), "a version with the stopped control message and its reason")
		x.Clause("P10-8").Expect(entries(snap)).To(BeEmpty(), "the pause itself is no entry")

		quiet := x.plainLog()
		run := x.Run(quiet.ID)
		near := pause("not quite")
		near.ContentType = "application/vnd.pugmark.pause"
		inv := run.Next()
		inv.Finish(near, wire.OutputRecord{Name: "pause", ContentType: "text/plain", Data: []byte(x.Word("pause"))})
		run.Success()
		snap, ok := x.Snapshot(quiet.ID, 4)
		if !ok {
			x.Stop("outputs of other types were not committed")
		}
		x.Clause("P10-1").Expect(x.controls(snap)).To(BeEmpty(), "no other content type and no name stops the session")
	}, overBoth)

var _ = scenario("P10", "stays-paused", "a pure pause is the last entry, its body in the snapshot or in a blob alone: nothing is invoked until an object arrives, pushed or queued",
	"P10-11 P10-12 P10-15 S6.4-3 S6.4-4",
	func(x *Lab) {
		short, long := stopped(x.Word("short")), stopped(x.Word("long")+strings.Repeat(" and waiting", 200))
		short.NoInline, long.NoInline = true, true
		for _, c := range []struct {
			kind wire.SnapshotType
			stop wire.Entry
			how  string
		}{
			{wire.Provisional, stopped("waiting"), "its body in the snapshot"}, {wire.Queueing, stopped("waiting"), "its body in the snapshot"},
			{wire.Provisional, short, "its body in a blob alone"}, {wire.Provisional, long, "its body of more than 2 KB in a blob alone"},
		} {
			kind, s := c.kind, x.Session(wire.SessionSpec{})
			s.Commit(wire.Checkpoint, x.text("a"), c.stop)
			before := len(x.invocations())
			run := x.Run(s.ID)
			exit := run.Wait("P10-11")
			idle := len(x.invocations()) == before
			if idle {
				x.Clause("P10-11").Warning().Holds(exit.Success(), "a run with nothing due ends with status 0", "%s%s", exit.Exit, run.said())
			}
			s.Commit(kind, x.text("b"))
			type4 := map[wire.SnapshotType]string{wire.Provisional: "S6.4-3", wire.Queueing: "S6.4-4"}[kind]
			run = x.Run(s.ID)
			inv := run.Next("P10-12", "P10-15", type4)
			// The invocation now proves that the session could have been run before.
			x.Clause("P10-11").Holds(idle, "a paused session with nothing new is not run (the stop has "+c.how+")", "invocations before anything arrived: %d", len(x.invocations())-before-1)
			if !idle && c.stop.NoInline { // a stop that went unseen cannot be ended
				inv.Finish()
				run.Wait()
				continue
			}
			if idle {
				x.Clause("P10-12").Holds(true, "an object behind the stop makes the session due", "invoked after a %s snapshot landed", kind)
			}
			x.Clause("P10-15").Resting("R-10").Expect(inv.Lifecycle()).To(Equal("wake"), "the lifecycle event is wake after a %s snapshot landed behind the stop", kind)
			x.Clause(type4).Resting("R-10").Expect(inv.Names()).To(ContainElement("b"), "the object of the %s snapshot is replayed", kind)
			inv.Finish()
			run.Wait()
		}
	}, overBoth)

var _ = scenario("P10", "sleep", "start-at two seconds ahead, written with offsets, and a start-at in the past: the handler is invoked at the instant, with wake",
	"P10-13 P10-14",
	func(x *Lab) {
		// Three sessions sleep at once, so that waiting costs the time of one.
		type sleeper struct {
			s    *wire.Session
			zone string
			run  *Run
		}
		at := time.Now().Add(2500 * time.Millisecond).Truncate(time.Millisecond)
		sleepers := []*sleeper{}
		for _, zone := range []string{"Z", "-05:30", "+05:30"} {
			spelled := at.UTC().Format("2006-01-02T15:04:05.000Z")
			if zone != "Z" {
				offset := 19800
				if zone[0] == '-' {
					offset = -offset
				}
				spelled = at.In(time.FixedZone("", offset)).Format("2006-01-02T15:04:05.000-07:00")
			}
			s := x.Session(wire.SessionSpec{})
			s.Commit(wire.Checkpoint, x.text("a"), wire.ControlEntry("stopped", "nap until "+spelled, spelled))
			sleepers = append(sleepers, &sleeper{s: s, zone: zone})
		}
		for _, sl := range sleepers {
			sl.run = x.Run(sl.s.ID)
		}
		runs := []*Run{}
		for _, sl := range sleepers {
			runs = append(runs, sl.run)
		}
		for range sleepers {
			inv, why := x.awaitOf(runs...)
			if inv == nil {
				runs[0].blameNoInvocation([]string{"P10-14"}, why)
			}
			x.Clause("P10-13").Holds(!inv.Arrived.Before(at), "no invocation before start-at "+at.UTC().Format(time.RFC3339Nano)+", however its offset is written",
				"invoked %s after it", inv.Arrived.Sub(at).Round(time.Millisecond))
			x.Clause("P10-14").Warning().Holds(inv.Arrived.Before(at.Add(5*time.Second)), "the invocation comes within 5 s of start-at", "%s after it", inv.Arrived.Sub(at).Round(time.Millisecond))
			x.Clause("P10-14").Expect(inv.Lifecycle()).To(Equal("wake"), "the lifecycle event is wake once a sleep is over")
			inv.Finish()
		}
		for _, sl := range sleepers {
			sl.run.Wait("P10-14")
		}
		past := x.Session(wire.SessionSpec{})
		past.Commit(wire.Checkpoint, x.text("a"), wire.ControlEntry("stopped", "nap", time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)))
		run := x.Run(past.ID)
		inv := run.Next("P10-14")
		x.Clause("P10-14").Expect(inv.Lifecycle()).To(Equal("wake"), "a start-at in the past is due at once, with wake")
		inv.Finish()
		run.Wait()
	}, lasts(3*time.Second))

var _ = scenario("P10", "sleep-ended-early", "an object lies behind a stop whose start-at is two minutes away: the handler is invoked at once",
	"P10-16",
	func(x *Lab) {
		s := x.Session(wire.SessionSpec{})
		at := time.Now().Add(2 * time.Minute)
		s.Commit(wire.Checkpoint, x.text("a"), wire.ControlEntry("stopped", "nap", at.UTC().Format(time.RFC3339)))
		s.Commit(wire.Provisional, x.text("b"))
		run := x.Run(s.ID)
		inv := run.Next("P10-16")
		x.Clause("P10-16").Holds(inv.Arrived.Before(at), "an object behind the stop ends the sleep before start-at", "invoked %s before it", at.Sub(inv.Arrived).Round(time.Second))
		inv.Finish()
		run.Wait()
	}, overBoth)

var _ = scenario("P10", "several-pauses", "two pauses in one stream, with and without durations: the last one alone is recorded",
	"P10-17 P10-19",
	func(x *Lab) {
		for _, c := range []struct {
			what  string
			outs  []wire.OutputRecord
			sleep bool
		}{
			{"(first, 300s) then (second, no duration)", []wire.OutputRecord{sleepFor("first", "300s"), pause("second")}, false},
			{"(first, no duration) then (second, 20s)", []wire.OutputRecord{pause("first"), sleepFor("second", "20s")}, true},
		} {
			s := x.plainLog()
			run := x.Run(s.ID)
			run.Next().Finish(c.outs...)
			ok := x.awaitCommit(run, s.ID.SnapshotKey(4))
			run.Kill()
			x.legible()
			x.Clause("P10-17").Holds(ok, "a stream with two pauses is accepted and committed: "+c.what, "versions: %v%s", x.Versions(s.ID), run.said())
			if !ok {
				continue
			}
			snap, _ := x.Snapshot(s.ID, 4)
			stops := x.controls(snap)
			acceptable := "one control message with the reason of the last pause and a start-at only if that has a duration: " + c.what
			x.Clause("P10-19").Holds(len(stops) == 1 && stops[0].Reason == "second" && (stops[0].StartAt != "") == c.sleep, acceptable, "%+v", stops)
		}
	})

var _ = scenario("P10", "implicit-pause", "runs with forks alone, and with forks beside other work: only the former stop by themselves",
	"P10-20 P10-21 P10-22",
	func(x *Lab) {
		forks := func(n int) []wire.OutputRecord {
			out := []wire.OutputRecord{}
			for i := range n {
				o := x.output(fmt.Sprint("fork ", i))
				o.Fork = true
				out = append(out, o)
			}
			return out
		}
		for _, n := range []int{1, 3} {
			s := x.plainLog()
			snap := x.committed(s, 4, forks(n))
			stops := x.controls(snap)
			x.Clause("P10-20").Holds(len(stops) == 1 && stops[0].StartAt == "", fmt.Sprintf("%d fork(s) and nothing else: a control message with status stopped and no start-at is committed", n), "%d stopped control messages: %+v", len(stops), stops)
			if len(stops) != 1 {
				continue
			}
			before := x.invocationsOf(s.ID)
			x.Run(s.ID).Wait("P10-20")
			x.Clause("P10-20").Expect(x.invocationsOf(s.ID)-before).To(Equal(0), "the next run does not invoke the parent")
		}
		target := x.plainLog()
		for _, c := range []struct {
			what  string
			other wire.OutputRecord
			stops int
		}{
			{"a fork and a normal entry", x.output("entry"), 0},
			{"a fork and a cross-session write", wire.OutputRecord{Name: "message", Data: []byte(x.Word("m")), Session: target.ID.String()}, 0},
			{"a fork and a pause", pause("mine"), 1},
		} {
			for _, first := range []bool{true, false} {
				s := x.plainLog()
				outs := append(forks(1), c.other)
				if !first {
					outs[0], outs[1] = outs[1], outs[0]
				}
				stops := x.controls(x.committed(s, 4, outs))
				x.Clause("P10-21").Holds(len(stops) == c.stops, fmt.Sprintf("%s leave %d stopped control message(s)", c.what, c.stops), "%d: %+v (fork first: %v)", len(stops), stops, first)
			}
		}
		s := x.plainLog()
		snap := x.committed(s, 4, []wire.OutputRecord{{Name: "message", Data: []byte(x.Word("m")), Session: target.ID.String()}})
		x.Clause("P10-22").Expect(x.controls(snap)).To(BeEmpty(), "a cross-session write alone does not stop the writer")
		run := x.Run(s.ID)
		inv := run.Next("P10-22")
		x.Clause("P10-22").Holds(true, "the next run invokes the writer again", "invoked with event %q", inv.Lifecycle())
		inv.Finish()
		run.Wait()
	}, overBoth)

// invocationsOf counts the invocations on one session so far; a process that ran
// it may have run its children as well.
func (x *Lab) invocationsOf(id wire.SessionID) int {
	n := 0
	for _, inv := range x.invocations() {
		got, _ := inv.Getenv("PUGMARK_SESSION_ID")
		if inv.Request != nil {
			if v := inv.Query()[x.Config.Profile.Assumed.Query.Session]; len(v) > 0 {
				got = v[0]
			}
		}
		if got == "" || got == id.String() {
			n++
		}
	}
	return n
}
