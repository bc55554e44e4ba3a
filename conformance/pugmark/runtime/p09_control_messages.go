package runtime

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

// messageIn finds the descriptor of a control message in what a run appended, by
// the status in its body and not by its type.
func (x *Lab) messageIn(snap wire.Snapshot) (d wire.Descriptor, body []byte, ok bool) {
	for _, d := range snap.Descriptors {
		body := x.bodyOf(d)
		var object map[string]any
		if json.Unmarshal(body, &object) == nil && object["status"] == "stopped" {
			return d, body, true
		}
	}
	return wire.Descriptor{}, nil, false
}

// bodyOf is the body of a descriptor as it lies in the bucket.
func (x *Lab) bodyOf(d wire.Descriptor) []byte {
	if d.HasData {
		return d.Data
	}
	o, _ := x.Get(d.BlobKey())
	return o.Body
}

// afterPause runs a session whose handler ends with the given Outputs, and gives
// the new snapshot with the control message that they led to; a runtime that
// leaves none, or that goes on to sleep, does not keep the scenario.
func (x *Lab) afterPause(s *wire.Session, outs ...wire.OutputRecord) (snap wire.Snapshot, message wire.Descriptor, body []byte) {
	run := x.Run(s.ID)
	run.Next().Finish(outs...)
	key := s.ID.SnapshotKey(s.Version() + 1)
	if !x.awaitCommit(run, key) {
		x.Stop("the run committed nothing%s", run.said())
	}
	run.Kill()
	for _, v := range x.newVersions(s.ID) {
		snap, _ = x.Snapshot(s.ID, v)
		if d, body, ok := x.messageIn(snap); ok {
			return snap, d, body
		}
	}
	x.Stop("the run left no control message with status stopped (P10-8, P10-20), so its form is not judged")
	return
}

var _ = scenario("P9", "by-type-alone", "a control message under an odd name, and the body and the name of one under other types: the type alone decides",
	"P9-1",
	func(x *Lab) {
		lookalike := wire.ControlEntry("stopped", x.Word("reason"), "")
		for _, kind := range []string{"application/json", "application/vnd.pugmark.control", "text/plain"} {
			s := x.Session(wire.SessionSpec{})
			e := lookalike
			e.Name, e.ContentType = "control", kind
			s.Commit(wire.Checkpoint, x.text("a"), e)
			run := x.Run(s.ID)
			inv := run.Next("P9-1")
			x.Clause("P9-1").Expect(inv.Names()).To(ContainElements("a", "control"), "an entry with the body and the name of a control message and type %s is replayed, and does not stop the session", kind)
			inv.Finish()
			run.Wait()
		}
		s := x.Session(wire.SessionSpec{})
		odd := stopped("waiting")
		odd.Name = "lunch break"
		s.Commit(wire.Checkpoint, x.text("a"), odd)
		before := len(x.invocations())
		x.Run(s.ID).Wait("P9-1")
		x.Clause("P9-1").Expect(len(x.invocations())-before).To(Equal(0), "a message of the control type stops the session whatever its name is")
		s.Commit(wire.Provisional, x.text("b"))
		run := x.Run(s.ID)
		inv := run.Next()
		if missing := without(fields("a b"), inv.Names()); len(missing) > 0 {
			x.Stop("ordinary entries are missing from the replay: %v", missing)
		}
		x.Clause("P9-1").Expect(inv.Names()).NotTo(ContainElement("lunch break"), "a message of the control type is not replayed, whatever its name is")
		inv.Finish()
		run.Wait()

		_, d, _ := x.afterPause(x.shortLog(), x.output("A"), pause("enough"))
		x.Clause("P9-1").Expect(d.ContentType).To(Equal(wire.ControlType), "the descriptor of the control message that a pause leads to has exactly this content-type")
	}, overBoth)

var _ = scenario("P9", "body", "a pause, a sleep of 90 s and a run of forks alone: what their control messages say, and that start-at is an instant",
	"P9-2 P9-7 P9-8",
	func(x *Lab) {
		fork := x.output("fork")
		fork.Fork = true
		for _, c := range []struct {
			what  string
			outs  []wire.OutputRecord
			sleep bool
		}{
			{"a pause without duration", []wire.OutputRecord{pause("resting")}, false},
			{"a pause with duration 90s", []wire.OutputRecord{sleepFor("napping", "90s")}, true},
			{"forks alone", []wire.OutputRecord{fork}, false},
		} {
			_, _, body := x.afterPause(x.shortLog(), c.outs...)
			var object map[string]json.RawMessage
			if json.Unmarshal(body, &object) != nil {
				continue // P9-2, by the invariant
			}
			raw, there := object["start-at"]
			var text string
			isText := json.Unmarshal(raw, &text) == nil
			at, err := time.Parse(time.RFC3339Nano, text)
			if c.sleep {
				const demand = "the control message of a sleep has a start-at, an RFC 3339 time in the future"
				if !x.Clause("P9-7").Holds(there && text != "" || there && !isText, "the control message of a pause with duration has a start-at", "%s leads to %s", c.what, body) {
					continue
				}
				x.Clause("P9-8").Holds(err == nil && at.After(time.Now()), demand, "%s leads to %s", c.what, body)
				continue
			}
			const demand = "the control message of a run that asked for no sleep has no start-at"
			switch {
			case there && isText && text == "":
				x.Clause("P9-7").Warning().Holds(false, demand+`; "" or null for the zero value is a warning`, "%s leads to %s", c.what, body)
			default:
				x.Clause("P9-7").Holds(!there, demand, "%s leads to %s", c.what, body)
			}
		}
	}, overBoth)

var _ = everyBucket("P9-2", func(x *Lab) {
	var bodies tally
	for _, d := range x.allDescriptors() {
		if !d.IsControl() || d.copied || !d.refers() {
			continue
		}
		body := x.bodyOf(d.Descriptor)
		if wire.Digest(body) != d.Digest {
			continue // S3-3, S7-2
		}
		_, problems := wire.DecodeControl(body)
		why := []string{}
		for _, p := range problems {
			why = append(why, p.Error())
		}
		bodies.check(len(problems) == 0, "%s: %q: %s", d.place, clip(body, 200), strings.Join(why, "; "))
	}
	bodies.judge(x.Clause("P9-2"), "a control message's body is one JSON object whose status is running, stopped or unknown, whose reason is a string and whose start-at is an RFC 3339 time, where they are there", "control messages")
})

var _ = scenario("P9", "missing-fields", "control messages without reason, without start-at, without status: each missing field has its zero value",
	"P9-3",
	func(x *Lab) {
		past := time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
		message := func(status, reason, at string) wire.Entry { return wire.ControlEntry(status, reason, at) }

		s := x.Session(wire.SessionSpec{})
		s.Commit(wire.Checkpoint, x.text("a"), message("stopped", "", ""))
		before := len(x.invocations())
		run := x.Run(s.ID)
		exit := run.Wait("P9-3")
		idle := len(x.invocations()) == before
		x.Clause("P9-3").Holds(idle && exit.Success(), `{"status":"stopped"} is a pure pause: no invocation, and the run ends well`, "%d invocations; %s%s", len(x.invocations())-before, exit.Exit, run.said())

		s = x.Session(wire.SessionSpec{})
		s.Commit(wire.Checkpoint, x.text("a"), message("stopped", "", past))
		run = x.Run(s.ID)
		inv := run.Next("P9-3")
		x.Clause("P9-3").Expect(inv.Lifecycle()).To(Equal("wake"), "a stop whose start-at is over and which has no reason wakes the handler")
		inv.Finish()
		run.Success("P9-3")

		for _, reason := range []string{"", "r"} {
			spelled := string(message("", reason, "").Body)
			s = x.Session(wire.SessionSpec{})
			s.Commit(wire.Checkpoint, x.text("a"), message("", reason, ""))
			before = len(x.invocations())
			exit = x.Run(s.ID).Wait("P9-3")
			x.Clause("P9-3").Warning().Holds(exit.Success() && len(x.invocations()) > before, "a control message without status does not stop the session: "+spelled, "%d invocations; %s", len(x.invocations())-before, exit.Exit)
			s = x.Session(wire.SessionSpec{})
			s.Commit(wire.Checkpoint, x.text("a"), message("", reason, ""))
			s.Commit(wire.Provisional, x.text("b"))
			run = x.Run(s.ID)
			inv = run.Next("P9-3")
			x.Clause("P9-3").Expect(inv.Names()).To(ContainElements("a", "b"), "the handler is invoked for an object behind %s", spelled)
			inv.Finish()
			run.Success("P9-3")
		}
	}, overBoth)

var _ = scenario("P9", "made-by-the-runtime", "a handler writes an entry and a pause: the runtime makes the control message, in the commit of that run, with the pause's text",
	"P9-4 P9-5 P9-9",
	func(x *Lab) {
		s := x.shortLog()
		out := x.output("A")
		const text = "waiting for 日本 \"x\"\nline 2"
		run := x.Run(s.ID)
		inv := run.Next()
		inv.Finish(out, pause(text))
		run.Success()
		x.legible()
		var holds []uint32 // versions with a stopped message
		for _, v := range x.newVersions(s.ID) {
			snap, _ := x.Snapshot(s.ID, v)
			if _, body, ok := x.messageIn(snap); ok {
				holds = append(holds, v)
				c, _ := wire.DecodeControl(body)
				x.Clause("P9-9").Expect(c.Reason).To(Equal(text), "the control message's reason is the text of the pause, once JSON's escapes are undone")
			}
		}
		if !x.Clause("P9-4").Holds(len(holds) > 0, "a pause Output, and nothing else that the handler wrote, leads to a control message with status stopped", "new versions: %v, control messages: %+v", x.newVersions(s.ID), x.newControls(s.ID)) {
			x.Stop("no control message came of the pause")
		}
		x.Clause("P9-5").Resting("R-32").Holds(len(holds) == 1 && x.bodyCommitted(s.ID, holds[0], out.Data), "one snapshot holds both the run's entry and its control message", "the control message is in version(s) %v; new versions: %v", holds, x.newVersions(s.ID))
		for _, r := range x.Writes(s.ID.SnapshotsPrefix()) {
			x.Clause("P9-5").Holds(!r.Arrived.Before(inv.ended()), "no snapshot is written before the handler's end", "%s, %s before it", r.String(), inv.ended().Sub(r.Arrived))
		}
	}, overBoth)

var _ = scenario("P9", "reasons", "a reason that is given by uri, and none at all",
	"P9-9",
	func(x *Lab) {
		x.control(x.output("control"))
		text := x.Word("fetched reason")
		far := wire.OutputRecord{URI: x.remote("reason", []byte(text)), ContentType: wire.PauseType}
		s := x.shortLog()
		x.commitTo(s, "", plainly(far))
		var reasons []string
		for _, c := range x.newControls(s.ID) {
			if c.Status == "stopped" {
				reasons = append(reasons, c.Reason)
			}
		}
		x.Clause("P9-9").Warning().Expect(reasons).To(Equal([]string{text}), "a pause whose text is given by uri has the fetched text as reason")
		_, _, body := x.afterPause(x.shortLog(), pause(""))
		c, _ := wire.DecodeControl(body)
		x.Clause("P9-9").Expect(c.Reason).To(BeEmpty(), "a pause without text has no reason, or an empty one")
	})

var _ = scenario("P9", "no-other-stop", "entries, messages to others, a fork beside an entry, memory alone, a handler that fails: none of them leaves a stopped message, and a pause does",
	"P9-6",
	func(x *Lab) {
		other := x.shortLog()
		message, fork := x.output("message"), x.output("fork")
		message.Session, fork.Fork = other.ID.String(), true
		memory := wire.OutputRecord{Name: "memories/" + x.Word("ns") + "/note", Data: []byte(x.Word("note"))}
		for _, c := range []struct {
			what string
			outs []wire.OutputRecord
			stop int
		}{
			{"a pause", []wire.OutputRecord{pause("enough")}, 1},
			{"an entry", []wire.OutputRecord{x.output("entry")}, 0},
			{"a message to another session", []wire.OutputRecord{message}, 0},
			{"an entry and a fork", []wire.OutputRecord{x.output("entry"), fork}, 0},
			{"a memory write", []wire.OutputRecord{memory}, 0},
			{"an entry and a memory write", []wire.OutputRecord{x.output("entry"), memory}, 0},
		} {
			got := x.commitOf("", plainly(c.outs...))
			if stops := x.stops(got.session.ID); c.stop > 0 && stops != c.stop {
				x.Stop("a pause leads to %d stopped messages, so nothing is known about runs without one", stops)
			}
			if c.stop == 0 && got.exit.Success() {
				x.Clause("P9-6").Expect(x.stops(got.session.ID)).To(Equal(0), "no control message with status stopped after a run with %s", c.what)
			}
		}
		s := x.shortLog()
		run := x.Run(s.ID)
		inv := run.Next()
		inv.Emit(x.output("discarded"))
		_ = inv.Exit(3)
		run.Wait()
		x.Clause("P9-6").Expect(x.stops(s.ID)).To(Equal(0), "no control message with status stopped after a run that failed")
	}, overBoth)

var _ = scenario("P9", "never-replayed", "a run that the runtime itself has paused, woken again, and the child of a parent that paused in the fork's snapshot: neither handler sees the control message",
	"P9-10",
	func(x *Lab) {
		s := x.shortLog()
		_, d, _ := x.afterPause(s, x.output("mine"), pause(x.Word("reason")))
		version := x.Versions(s.ID)[len(x.Versions(s.ID))-1]
		s.Put(wire.SnapshotSpec{Version: version + 1, Type: wire.Provisional, Entries: []wire.Entry{x.later(s, "news")}})
		run := x.Run(s.ID)
		x.noControl(run.Next(), fields("seed mine news"), map[string]bool{d.Digest: true}, "after the runtime's own pause").Finish()
		run.Wait()

		parent := x.Session(wire.SessionSpec{})
		message, id := stopped(x.Word("forking")), x.NewID()
		parent.Commit(wire.Checkpoint, x.text("a"), wire.ForkEntry(x.Word("task"), id), message)
		child := parent.Fork(wire.SessionSpec{ID: id}, x.text("task"))
		run = x.Run(child.ID)
		x.noControl(run.Next(), fields("a task"), map[string]bool{wire.Digest(message.Body): true}, "in a child whose parent paused").Finish()
		run.Wait()
	}, overBoth)

// noControl judges that no replayed entry is a control message, once the ordinary
// entries have been seen.
func (x *Lab) noControl(inv *Invocation, ordinary []string, hidden map[string]bool, what string) *Invocation {
	if missing := without(ordinary, inv.Names()); len(missing) > 0 {
		x.Stop("ordinary entries are missing from the replay (%v), so the absence of control messages says nothing (%s)", missing, what)
	}
	seen := []string{}
	for _, in := range inv.Replay() {
		body, _, _ := inv.Body(in)
		if in.ContentType == wire.ControlType || hidden[wire.Digest(body)] {
			seen = append(seen, string(clip(in.Raw, 200)))
		}
	}
	x.Clause("P9-10").Calldepth(1).Expect(seen).To(BeEmpty(), "%s", fmt.Sprintf("no record carries a control message (%s)", what))
	return inv
}
