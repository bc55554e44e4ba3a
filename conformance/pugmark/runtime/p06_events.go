package runtime

import (
	"time"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

// closing is the event that a stream ends with: the one of its lifecycle record,
// or a word of the runtime's own on a last record that has nothing else.
func (i *Invocation) closing() string {
	if last, ok := i.Stream().Last(); ok && last.Event != "" && !isLifecycle(last) && last.Event != "memory" && last.Event != "push" && len(filled(last)) == 0 {
		return last.Event
	}
	return i.Lifecycle()
}

// observe runs a session once, with a handler that emits outs, and gives the event
// that its stream ended with.
func (x *Lab) observe(s *wire.Session, outs ...wire.OutputRecord) string {
	run := x.Run(s.ID)
	inv := run.Next()
	event := inv.closing()
	inv.Finish(outs...)
	run.Wait()
	return event
}

// woken is a stopped session behind whose stop an object landed, and slept one
// whose sleep is over.
func (x *Lab) woken() (woken, slept *wire.Session) {
	woken, slept = x.Session(wire.SessionSpec{}), x.Session(wire.SessionSpec{})
	woken.Commit(wire.Checkpoint, x.text("w"), stopped("waiting"))
	woken.Commit(wire.Provisional, x.text("news"))
	slept.Commit(wire.Checkpoint, x.text("s"), wire.ControlEntry("stopped", "nap", time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)))
	return woken, slept
}

var _ = scenario("P6", "told-by-the-stream-alone", "a fork child, a woken session and a plain one: whoever sees the event fields only can tell the three apart",
	"P6-1",
	func(x *Lab) {
		plain := x.plainLog()
		child := plain.Fork(wire.SessionSpec{ID: x.NewID()}, x.text("task"))
		woken, _ := x.woken()
		got := []string{x.observe(child), x.observe(woken), x.observe(plain)}
		different := got[0] != got[1] && got[1] != got[2] && got[0] != got[2]
		x.Clause("P6-1").Holds(different, "the event field of the lifecycle record tells a fork child's first run, a woken session and a plain run apart", "the events are %q, %q and %q", got[0], got[1], got[2])
	}, overBoth)

var _ = scenario("P6", "one-per-invocation", "three invocations of one session, in however many processes: each has one lifecycle record",
	"P6-2",
	func(x *Lab) {
		s := x.plainLog()
		run := x.Run(s.ID)
		for i := range 3 {
			var inv *Invocation
			if i == 0 {
				inv = run.Next()
			} else {
				inv = run.Again()
			}
			count := 0
			list := inv.Inputs()
			for k, in := range list {
				if last := k == len(list)-1; isLifecycle(in) && (last || len(filled(in)) == 0) || last && endsInBareText(in) {
					count++
				}
			}
			x.Clause("P6-2").Holds(count == 1, "beside memory and replay the stream has one record, the lifecycle record", "invocation %d of the session has %d; its events: %s", i+1, count, eventsInShort(Stream{Inputs: list}))
			inv.Finish(x.unpadded("more"))
		}
		x.settle()
	}, overBoth)

var _ = scenario("P6", "start", "a session without snapshots, and one that was pushed to before any handler ran: the event is start, and for a session with history it is not",
	"P6-3",
	func(x *Lab) {
		fresh, pushed, old := x.Session(wire.SessionSpec{}), x.Session(wire.SessionSpec{}), x.plainLog()
		pushed.Commit(wire.Provisional, x.text("pushed"))
		first, second, third := x.observe(fresh), x.observe(pushed), x.observe(old)
		x.Clause("P6-3").Assuming("R-04").Expect(first).To(Equal("start"), "the event is start for a session without snapshots")
		x.Clause("P6-3").Assuming("R-04").Expect(second).To(Equal("start"), "the event is start for a session that holds a provisional snapshot only")
		x.Clause("P6-3").Assuming("R-04").Expect(third).NotTo(Equal("start"), "the event is another one for a session with three checkpoints")
	}, overBoth)

var _ = scenario("P6", "fork", "two fork children, one of which was pushed to already: the event of the first run is fork",
	"P6-4",
	func(x *Lab) {
		parent := x.plainLog()
		for _, what := range []string{"", ", and a push on top of it"} {
			child := parent.Fork(wire.SessionSpec{ID: x.NewID()}, x.text("task"))
			if what != "" {
				child.Commit(wire.Provisional, x.text("pushed"))
			}
			x.Clause("P6-4").Resting("R-04").Expect(x.observe(child)).To(Equal("fork"), "the event is fork for a child with the fork's body as snapshot 1%s", what)
		}
	}, overBoth)

var _ = scenario("P6", "wake", "a stopped session with news, and one whose sleep is over: the event is wake",
	"P6-5",
	func(x *Lab) {
		woken, slept := x.woken()
		x.Clause("P6-5").Resting("R-04").Expect(x.observe(woken)).To(Equal("wake"), "the event is wake when an object has landed behind a stop")
		x.Clause("P6-5").Resting("R-04").Expect(x.observe(slept)).To(Equal("wake"), "the event is wake when a sleep is over")
	}, overBoth)

var _ = scenario("P6", "none", "a new session and a fork child, each run twice: the second run has an empty event, never start or fork again",
	"P6-6",
	func(x *Lab) {
		fresh, parent := x.Session(wire.SessionSpec{}), x.plainLog()
		child := parent.Fork(wire.SessionSpec{ID: x.NewID()}, x.text("task"))
		for _, c := range []struct {
			what string
			s    *wire.Session
		}{{"a session", fresh}, {"a fork child", child}} {
			run := x.Run(c.s.ID)
			inv := run.Next()
			out := x.unpadded("entry")
			inv.Finish(out)
			again := run.Again()
			if got := (commit{entries: x.appended(c.s.ID)}); len(got.lacks(out)) > 0 {
				x.Stop("the first invocation's Output was not committed, so the second one is no later one")
			}
			if first, ok := x.Snapshot(c.s.ID, c.s.Version()+1); ok && first.Type != wire.Checkpoint {
				x.Stop("the first invocation's Output was committed as somebody else's (S6.4-2)")
			}
			event := again.closing()
			again.Finish()
			x.settle()
			const demand = "the lifecycle record of the second invocation of %s has an empty event, or none"
			check := x.Clause("P6-6").Resting("R-04")
			if event == "wake" {
				check = x.Clause("P6-6").Assuming("R-04")
			}
			check.Expect(event).To(BeEmpty(), demand, c.what)
		}
		x.Clause("P6-6").Warning().Expect(x.observe(parent)).NotTo(Equal("start"), "the event of a session with three checkpoints, whoever wrote them, is not start")
	}, overBoth)
