package runtime

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

var _ = scenario("P16", "input-ends", "a handler reads its input to the end before it writes a byte: the end comes",
	"P16-3",
	func(x *Lab) {
		for _, s := range []*wire.Session{x.plainLog(), x.Session(wire.SessionSpec{})} {
			run := x.Run(s.ID)
			inv := run.Next()
			st := inv.Received() // holds it against P16-3 when no end comes
			if at, ended := inv.InputEnded(); ended {
				x.Clause("P16-3").Holds(!inv.Gone(), "the input ends once all records are sent, while the handler's output is still open",
					"it ended after %s and %d records, before the handler wrote anything", at.Sub(inv.Arrived).Round(time.Millisecond), len(st.Inputs))
			}
			inv.Finish(x.output("after the end"))
			run.Wait()
		}
	}, overBoth)

var _ = scenario("P16", "own-schedule", "handlers that end before they have read all, long after it, or with their input closed at once: what they wrote is committed",
	"P16-4",
	func(x *Lab) {
		out := x.unpadded("early")
		early := x.shortLog()
		run := x.Run(early.ID)
		run.Next().Finish(out) // without a look at its input
		exit := run.Wait("P16-4")
		got := commit{early, exit, x.appended(early.ID)}
		x.Clause("P16-4").Holds(len(got.lacks(out)) == 0, "the Output of a handler that does not wait for the end of its input is committed", "%s; committed: %s%s", exit.Exit, got.list(), got.complaint())

		// Much longer work is given at P7-6.
		late := x.shortLog()
		run = x.Run(late.ID)
		inv := run.Next()
		inv.Received()
		x.pause(1500 * time.Millisecond)
		out = x.unpadded("late")
		inv.Finish(out)
		exit = run.Wait("P16-4")
		got = commit{late, exit, x.appended(late.ID)}
		x.Clause("P16-4").Holds(len(got.lacks(out)) == 0, "the Output of a handler that works on after the end of its input is committed", "%s; committed: %s%s", exit.Exit, got.list(), got.complaint())

		var list []wire.Entry
		for i := range 4000 {
			list = append(list, wire.Text(fmt.Sprintf("n%d", i), strings.Repeat("x", 600)))
		}
		long := x.Session(wire.SessionSpec{})
		long.Commit(wire.Checkpoint, list...)
		run = x.Run(long.ID)
		inv = run.Next()
		_ = inv.CloseInput()
		out = x.unpadded("unread")
		inv.Finish(out)
		exit = run.Wait("P16-4")
		got = commit{long, exit, x.appended(long.ID)}
		x.Clause("P16-4").Warning().Holds(len(got.lacks(out)) == 0, "the Output of a handler that leaves four megabytes of input unread is committed", "%s; committed: %s%s", exit.Exit, got.list(), got.complaint())
	}, overBoth, lasts(1500*time.Millisecond))

var _ = scenario("P16", "no-output", "the handler succeeds without a byte, or with whitespace only: a success, and the session is as it was",
	"P16-6",
	func(x *Lab) {
		type variant struct {
			how string
			act func(inv *Invocation)
		}
		list := []variant{
			{"no byte of output", func(inv *Invocation) { inv.Finish() }},
			{"whitespace as output", func(inv *Invocation) { inv.Say(" \n\n\t\n"); inv.Finish() }},
		}
		if x.Over == HTTP {
			list = append(list, variant{"status 200 with Content-Length 0", func(inv *Invocation) {
				inv.SetStatus(http.StatusOK, http.Header{"Content-Length": {"0"}})
				inv.Finish()
			}})
		}
		for _, v := range list {
			s := x.plainLog()
			run := x.Run(s.ID)
			inv := run.Next()
			inv.Received()
			before := len(x.Writes("sessions/")) + len(x.Writes("memories/"))
			v.act(inv)
			exit := run.Wait("P16-6")
			x.Clause("P16-6").Holds(exit.Success(), "with "+v.how+" the run is a success", "%s%s", exit.Exit, commit{exit: exit}.complaint())
			writes := append(x.Writes("sessions/"), x.Writes("memories/")...)
			x.Clause("P16-6").Holds(len(writes) == before && len(x.newVersions(s.ID)) == 0, "with "+v.how+" nothing is written below sessions/ and memories/, and the latest version stays 3",
				"%d writes; versions %v", len(writes)-before, x.Versions(s.ID))
		}
	}, overBoth)

// failing ends an invocation with two valid Outputs in its output and a failure.
func (x *Lab) failing(s *wire.Session, outs []wire.OutputRecord, status int) (inv *Invocation, run *Run) {
	run = x.Run(s.ID)
	inv = run.Next()
	inv.Received()
	if x.Over == HTTP {
		inv.SetStatus(status, nil)
		inv.Finish(outs...)
		return inv, run
	}
	inv.Emit(outs...)
	_ = inv.Exit(status)
	return inv, run
}

var _ = scenario("P16", "exit-status", "handlers with two valid Outputs that exit with 1, 3 and 255: none of it is committed; with 0 it is",
	"P16-7",
	func(x *Lab) { x.uncommitted("P16-7", "exit status", 1, 3, 255) })

var _ = scenario("P16", "response-status", "handlers that answer two valid Outputs with 201, 404, 500 and 503: none of it is committed; with 200 it is",
	"P16-8",
	func(x *Lab) { x.uncommitted("P16-8", "response status", 201, 404, 500, 503) }, overHTTP)

// uncommitted judges that Outputs which a control run commits are not committed
// when the handler ends with any of the statuses.
func (x *Lab) uncommitted(clause, what string, statuses ...int) {
	outs := []wire.OutputRecord{x.unpadded("a"), x.unpadded("b")}
	x.control(outs...)
	for _, status := range statuses {
		s := x.shortLog()
		_, run := x.failing(s, outs, status)
		run.Wait(clause)
		got := commit{session: s, entries: x.appended(s.ID)}
		x.Clause(clause).Calldepth(1).Holds(len(got.lacks(outs...)) == len(outs), fmt.Sprintf("with %s %d the invocation has failed, and its Outputs are not committed", what, status), "committed: %s", got.list())
	}
}

var _ = scenario("P16", "failed-run-leaves-no-trace", "a failed invocation and the one after it: no new snapshot, the same input again, and then success",
	"P16-9",
	func(x *Lab) {
		statuses := []int{1, 7}
		if x.Over == HTTP {
			statuses = []int{500, 201}
		}
		for _, status := range statuses {
			out, next := x.unpadded("a"), x.unpadded("b")
			s := x.plainLog()
			failed, run := x.failing(s, []wire.OutputRecord{out}, status)
			again := run.Again()
			st := again.Stream()
			if got := (commit{entries: x.appended(s.ID)}); len(got.lacks(out)) == 0 {
				x.Stop("the failed invocation's Output was committed, which is judged elsewhere")
			}
			how := fmt.Sprintf("after a handler's end with status %d", status)
			x.Clause("P16-9").Expect(x.newVersions(s.ID)).To(BeEmpty(), "%s the session has no new snapshot; descriptors found: %s", how, commit{entries: x.appended(s.ID)}.list())
			x.Clause("P16-9").Expect(view(again, st)).To(Equal(view(failed, failed.Stream())), "%s the next invocation gets the same entries with the same tags at the same version", how)
			again.Finish(next)
			x.settle("P16-9")
			got := commit{entries: x.appended(s.ID)}
			x.Clause("P16-9").Holds(len(got.lacks(next)) == 0, how+" the next invocation can succeed, and its Output is committed", "committed: %s; versions: %v", got.list(), x.Versions(s.ID))
		}
	}, overBoth)

// view is what an invocation sees of the log: names, tags and the version.
func view(inv *Invocation, s Stream) []string {
	var out []string
	for _, in := range s.Replay() {
		out = append(out, in.Name+" "+in.Event)
	}
	version, _ := inv.Announced()
	return append(out, "version "+version)
}
