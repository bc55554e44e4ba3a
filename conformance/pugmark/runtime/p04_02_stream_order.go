package runtime

import (
	"fmt"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

var _ = scenario("P4.2", "memory-announcement", "buckets with no, one and several memory namespaces: one memory record leads the stream, and its url serves them",
	"P4.2-1 P4.2-2 P4.2-3 P4.2-4",
	func(x *Lab) {
		s := x.plainLog()
		judge := func(inv *Invocation, what string) {
			in := inv.Inputs()
			count := 0
			for _, r := range in {
				if r.Event == "memory" {
					count++
				}
			}
			x.Clause("P4.2-1").Expect(count).To(Equal(1), "exactly one record with event memory (%s)", what)
			if len(in) == 0 {
				x.Stop("the stream of the invocation held no record (%s)", what)
			}
			x.Clause("P4.2-4").Expect(in[0].Event).To(Equal("memory"), "the first record has event memory (%s)", what)
		}
		run := x.Run(s.ID)
		inv := run.Next()
		judge(inv, "no namespace in the bucket")
		inv.Finish()
		run.Wait()

		bodies := map[string]string{"notes/x": x.Word("x"), "deep/notes/y": x.Word("y")}
		x.Bucket.Memory("notes", wire.MemoryEntry{Entry: wire.Text("x", bodies["notes/x"]), Session: s.ID, Version: 1})
		for round, what := range []string{"one namespace", "two namespaces"} {
			run = x.Run(s.ID)
			inv = run.Next()
			judge(inv, what)
			root := memoryRecord(inv.Inputs()).URL
			base := strings.TrimSuffix(root, "/") + "/" // a missing slash is P4.2-3
			x.Clause("P4.2-3").Expect(root).To(MatchRegexp(`^[^?#]*/$`), "the url ends with a slash and has neither query nor fragment")
			for _, key := range []string{"notes/x", "deep/notes/y"}[:round+1] {
				x.served("P4.2-2", inv, base+key, []byte(bodies[key]), what)
			}
			inv.Finish()
			run.Wait()
			if round == 0 {
				x.Bucket.Memory("deep/notes", wire.MemoryEntry{Entry: wire.Text("y", bodies["deep/notes/y"]), Session: s.ID, Version: 1})
			}
		}
	}, overBoth)

// memoryRecord is the first record with event memory, wherever it stands.
func memoryRecord(in []wire.Input) wire.Input {
	for _, r := range in {
		if r.Event == "memory" {
			return r
		}
	}
	return wire.Input{}
}

// served judges that a GET answers 200 with the given bytes.
func (x *Lab) served(clause string, inv *Invocation, url string, want []byte, what string) {
	res, err := inv.Get(url)
	acceptable := fmt.Sprintf("GET %s answers 200 with the %d seeded bytes (%s)", url, len(want), what)
	switch {
	case err != nil:
		x.Clause(clause).Calldepth(1).Holds(false, acceptable, "the request failed: %v", err)
	case res.Status != 200:
		x.Clause(clause).Calldepth(1).Holds(false, acceptable, "status %d", res.Status)
	default:
		x.Clause(clause).Calldepth(1).Holds(slices.Equal(res.Body, want), acceptable, "status 200 with %d bytes %q", len(res.Body), clip(res.Body, 60))
	}
}

var _ = scenario("P4.2", "whole-log", "a log with a repeated object, a provisional and a queueing snapshot on top, and memory beside it: every object once",
	"P4.2-5",
	func(x *Lab) {
		s := x.plainLog()
		twin := x.text("twin")
		s.Commit(wire.Checkpoint, twin, x.text("between"), twin)
		s.Commit(wire.Provisional, x.text("f"))
		s.Commit(wire.Queueing, x.text("g"), x.text("h"))
		x.Bucket.Memory("notes", wire.MemoryEntry{Entry: x.text("remembered"), Session: s.ID, Version: 1})
		run := x.Run(s.ID)
		inv := run.Next()
		// In which order is for P4.2-6 to P4.2-8 to say.
		x.Clause("P4.2-5").Expect(inv.Names()).To(ConsistOf(fields("a b c d e twin between twin f g h")),
			"one record for each object of the log: those of provisional and queueing snapshots too, equal objects once for each time they were committed, memory objects never")
		inv.Finish()
		run.Wait()
	}, overBoth)

var _ = scenario("P4.2", "parents-first", "three generations whose times contradict their order: grandparent, then parent, then own entries",
	"P4.2-6 P1-3",
	func(x *Lab) {
		at := func(year int, e wire.Entry) wire.Entry {
			e.CreatedAt = time.Date(year, 5, 4, 3, 2, 1, 0, time.UTC)
			return e
		}
		g := x.Session(wire.SessionSpec{})
		g.Commit(wire.Checkpoint, at(2024, x.text("m-grandparent-1")))
		g.Commit(wire.Checkpoint, at(2024, x.text("m-grandparent-2")))
		p := x.Session(wire.SessionSpec{Parent: g.Pointer(1)})
		p.Commit(wire.Checkpoint, at(2023, x.text("z-parent-1")))
		p.Commit(wire.Checkpoint, at(2022, x.text("b-parent-2")))
		c := x.Session(wire.SessionSpec{Parent: p.Pointer(2)})
		want := fields("m-grandparent-1 z-parent-1 b-parent-2")
		for i := 1; i <= 18; i++ {
			name := fmt.Sprintf("child-%d", i)
			c.Commit(wire.Checkpoint, at(2021-i, x.text(name)))
			want = append(want, name)
		}
		run := x.Run(c.ID)
		inv := run.Next("P1-3")
		var present []string // a generation that is missing is P1-3
		for _, g := range fields("grandparent parent child") {
			if slices.Contains(byGeneration(inv.Names()), g) {
				present = append(present, g)
			}
		}
		if len(present) > 1 {
			x.Clause("P4.2-6").Expect(byGeneration(inv.Names())).To(Equal(present), "entries of the oldest ancestor, then of the parent, then the session's own")
		}
		x.Clause("P1-3").Expect(without(want, inv.Names())).To(BeEmpty(), "none is missing of the whole chain up to each pointer and of snapshots 1 to 18")
		inv.Finish()
		again := run.Again("P1-3")
		x.Clause("P1-3").Expect(without(want, again.Names())).To(BeEmpty(), "none is missing when the next invocation gets the whole log again")
		again.Finish()
		run.Wait()
	}, overBoth)

// byGeneration reduces names like "z-parent-1" to the order in which the
// generations follow each other, without repetition.
func byGeneration(names []string) []string {
	out := []string{}
	for _, n := range names {
		for _, g := range []string{"grandparent", "parent", "child"} {
			if containsWord(n, g) {
				if len(out) == 0 || out[len(out)-1] != g {
					out = append(out, g)
				}
				break
			}
		}
	}
	return out
}

func containsWord(name, word string) bool { return slices.Contains(splitDash(name), word) }

var _ = scenario("P4.2", "rising-versions", "three hundred snapshots, listed newest first: replay goes from 1 to 300",
	"P4.2-7",
	func(x *Lab) {
		s := x.Session(wire.SessionSpec{})
		want := []string{}
		for i := 1; i <= 300; i++ {
			s.Commit(wire.Checkpoint, wire.Text(fmt.Sprint(i), fmt.Sprintf("body %d of %s", i, s.ID)))
			want = append(want, fmt.Sprint(i))
		}
		run := x.Run(s.ID)
		inv := run.Next()
		x.Clause("P4.2-7").Expect(inv.Names()).To(Equal(want), "the entries of versions 1 to 300 by rising version number, none left out")
		inv.Finish()
		run.Wait()
	}, overBoth)

var _ = scenario("P4.2", "descriptor-order", "one snapshot whose twenty names and digests are in no order: replay follows the file",
	"P4.2-8",
	func(x *Lab) {
		s := x.Session(wire.SessionSpec{})
		want := fields("z b y a x c w d v e u f t g s h r i q j")
		list := []wire.Entry{}
		for _, n := range want {
			list = append(list, x.text(n))
		}
		s.Commit(wire.Checkpoint, list...)
		run := x.Run(s.ID)
		inv := run.Next()
		x.Clause("P4.2-8").Expect(inv.Names()).To(Equal(want), "the snapshot's descriptors in the order of its file")
		inv.Finish()
		run.Wait()
	}, overBoth)

var _ = scenario("P4.2", "control-messages", "control messages of every status, own and inherited, amid ordinary entries: the handler sees only the entries",
	"P4.2-9",
	func(x *Lab) {
		hidden := map[string]bool{} // digests of the control messages' bodies
		control := func(status string, inline bool) wire.Entry {
			e := wire.ControlEntry(status, x.Word("reason"), "")
			e.NoInline = !inline
			hidden[wire.Digest(e.Body)] = true
			return e
		}
		p := x.Session(wire.SessionSpec{})
		p.Commit(wire.Checkpoint, x.text("p1"), control("stopped", true), x.text("p2"))
		p.Commit(wire.Checkpoint, x.text("p3"), control("running", false))
		s := x.Session(wire.SessionSpec{Parent: p.Pointer(2)})
		s.Commit(wire.Checkpoint, x.text("a"), control("unknown", true), x.text("b"), control("stopped", false))
		s.Commit(wire.Checkpoint, x.text("c"), control("running", true))
		s.Commit(wire.Checkpoint, x.text("d"))
		run := x.Run(s.ID)
		inv := run.Next()
		if missing := without(fields("p1 p2 p3 a b c d"), inv.Names()); len(missing) > 0 {
			x.Stop("ordinary entries are missing from the replay (%v), so the absence of control messages says nothing", missing)
		}
		seen := []string{}
		for _, in := range inv.Replay() {
			body, _, _ := inv.Body(in)
			if in.ContentType == wire.ControlType || hidden[wire.Digest(body)] {
				seen = append(seen, string(clip(in.Raw, 200)))
			}
		}
		x.Clause("P4.2-9").Expect(seen).To(BeEmpty(), "no record carries a control message, whatever its status and place")
		inv.Finish()
		run.Wait()
	}, overBoth)

// without lists the elements of want that seen lacks.
func without(want, seen []string) []string {
	var out []string
	for _, w := range want {
		if !slices.Contains(seen, w) {
			out = append(out, w)
		}
	}
	return out
}

var _ = scenario("P4.2", "pending-forks", "the latest checkpoint holds two pending forks: the parent's handler sees neither, before and after they are materialised, in the present form and the legacy one",
	"P4.2-10",
	func(x *Lab) {
		for _, legacy := range []bool{false, true} {
			what := "fork records with fork and target-session"
			if legacy {
				what = "fork records in the legacy form, fork-session-id"
			}
			s := x.Session(wire.SessionSpec{})
			s.Commit(wire.Checkpoint, x.text("a"))
			fork := func(name string) wire.Entry {
				e := wire.ForkEntry(x.Word("do "+name), x.NewID())
				e.Name, e.Legacy = name, legacy
				return e
			}
			s.Commit(wire.Checkpoint, x.text("x"), fork("fork-1"), x.text("y"), fork("fork-2"))
			run := x.Run(s.ID)
			x.noForks("P4.2-10", run.Next(), what+", children not yet there", fields("a x y")).Finish()
			run.Wait()
			run = x.Run(s.ID)
			x.noForks("P4.2-10", run.Next(), what+", children materialised", fields("a x y")).Finish()
			run.Wait()
		}
	}, overBoth)

var _ = scenario("P4.2", "pending-forks-below-pushes", "a provisional, in another run a queueing snapshot lies on top of the checkpoint with the forks: they stay out of the stream",
	"P4.2-17",
	func(x *Lab) {
		for _, kind := range []wire.SnapshotType{wire.Provisional, wire.Queueing} {
			s := x.Session(wire.SessionSpec{})
			fork := func(name string) wire.Entry {
				e := wire.ForkEntry(x.Word("do "+name), x.NewID())
				e.Name = name
				return e
			}
			s.Commit(wire.Checkpoint, x.text("x"), fork("fork-1"), x.text("y"), fork("fork-2"))
			s.Commit(kind, x.text("p"))
			run := x.Run(s.ID)
			x.noForks("P4.2-17", run.Next(), fmt.Sprintf("a %s snapshot on top", kind), fields("x y p")).Finish()
			run.Wait()
		}
	}, overBoth)

// noForks judges that the replay holds no entry named fork-…, once the ordinary
// entries have been seen.
func (x *Lab) noForks(clause string, inv *Invocation, what string, ordinary []string) *Invocation {
	names := inv.Names()
	if missing := without(ordinary, names); len(missing) > 0 {
		x.Stop("ordinary entries are missing from the replay (%v), so the absence of fork records says nothing (%s)", missing, what)
	}
	x.Clause(clause).Calldepth(1).Expect(names).NotTo(ContainElement(HavePrefix("fork-")), "the replay holds x and y and none of the fork records (%s)", what)
	return inv
}

var _ = scenario("P4.2", "lifecycle-record", "first run, fork child, woken session and plain run: one lifecycle record each, last, with nothing but its event",
	"P4.2-11 P4.2-12 P4.2-13",
	func(x *Lab) {
		fresh := x.Session(wire.SessionSpec{})
		parent := x.plainLog()
		child := x.Session(wire.SessionSpec{Parent: parent.Pointer(3), FirstSequence: 6})
		child.Commit(wire.Checkpoint, x.text("task"))
		woken := x.Session(wire.SessionSpec{})
		woken.Commit(wire.Checkpoint, x.text("w"), stopped("done"))
		woken.Commit(wire.Provisional, x.text("news"))
		for _, c := range []struct {
			what string
			s    *wire.Session
		}{{"a session without snapshots", fresh}, {"a fork child's first run", child}, {"a stopped session with a new object", woken}, {"a session with three checkpoints", parent}} {
			run := x.Run(c.s.ID)
			inv := run.Next()
			x.judgeLifecycle(inv.Stream(), c.what)
			inv.Finish()
			run.Wait()
		}
	}, overBoth)

func (x *Lab) judgeLifecycle(s Stream, what string) {
	if len(s.Inputs) < 2 {
		x.Clause("P4.2-11").Calldepth(1).Holds(false, "a memory record first and a lifecycle record last", "%d records in all (%s)", len(s.Inputs), what)
		return
	}
	last := s.Inputs[len(s.Inputs)-1]
	if endsInBareText(last) {
		return // an empty event with other fields: the invariant of P4.2-12 says so
	}
	count := 0
	for _, in := range s.Inputs[1:] {
		if isLifecycle(in) {
			count++
		}
	}
	x.Clause("P4.2-11").Calldepth(1).Holds(count == 1, "exactly one record whose event is wake, fork, start or empty and which describes no object", "%d such records (%s)", count, what)
	if count != 1 {
		return
	}
	x.Clause("P4.2-13").Calldepth(1).Holds(isLifecycle(last), "the lifecycle record is the last one", "last record: %s (%s)", clip(last.Raw, 200), what)
	if isLifecycle(last) {
		x.Clause("P4.2-12").Calldepth(1).Expect(filled(last)).To(BeEmpty(), "no field but event is filled in the lifecycle record (%s)", what)
	}
}

// isLifecycle tells whether a record is a lifecycle record by its event, or by
// being empty altogether.
func isLifecycle(in wire.Input) bool {
	switch in.Event {
	case "wake", "fork", "start":
		return true
	case "":
		return len(filled(in)) == 0
	}
	return false
}

// filled names the known fields other than event that are not empty.
func filled(in wire.Input) []string {
	out := []string{}
	add := func(name string, is bool) {
		if is {
			out = append(out, name)
		}
	}
	add("url", in.URL != "")
	add("size", in.Size != 0)
	add("content-type", in.ContentType != "")
	add("content-encoding", in.ContentEncoding != "")
	add("schema-url", in.SchemaURL != "")
	add("name", in.Name != "")
	add("metadata", len(in.Metadata) > 0)
	add("data", in.RawData != "")
	return out
}

var _ = scenario("P4.2", "late-objects", "an object lands while the handler runs: it does not join the stream",
	"P4.2-13",
	func(x *Lab) {
		s := x.plainLog()
		run := x.Run(s.ID)
		inv := run.Next()
		s.Commit(wire.Provisional, x.text("late"))
		st := inv.Stream()
		if len(st.Inputs) < 2 || !slices.Contains(inv.Names(), "e") {
			x.Stop("the log was not replayed, so the absence of the late object says nothing")
		}
		at := slices.IndexFunc(st.Inputs, func(in wire.Input) bool { return isLifecycle(in) && len(filled(in)) == 0 })
		if at < 0 {
			x.Stop("the stream has no lifecycle record by itself (P4.2-11, P4.2-12), so what follows it is not judged")
		}
		if at < len(st.Inputs)-1 && isLifecycle(st.Inputs[at+1]) {
			x.Stop("several lifecycle records stand at the end (P4.2-11)")
		}
		last, _ := st.Last()
		x.Clause("P4.2-13").Holds(at == len(st.Inputs)-1, "nothing follows the lifecycle record, also when objects arrive meanwhile", "last record: %s", clip(last.Raw, 200))
		inv.Finish(x.output("mine"))
		run.Wait()
	}, overBoth)
