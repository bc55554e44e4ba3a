package runtime

import (
	"bytes"
	"errors"
	"time"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/probe"
)

// Preflight is the scenario that is run before all others: a runtime that does
// not invoke a handler at all, or never ends, is not worth a hundred time limits.
// What its stream holds and what it then commits is for other scenarios to judge.
const Preflight = "P2.1/preflight"

var _ = scenario("P2.1", "preflight", "a session with three snapshots is run once: the handler is invoked, and the runtime ends after it",
	"P2.1-1 P16-3",
	func(x *Lab) {
		s := x.plainLog()
		run := x.Run(s.ID)
		inv := run.Next("P2.1-1")
		x.Clause("P2.1-1").Holds(true, "the handler is started as a process", "started as process %d", inv.Pid)
		inv.Received()
		if _, ended := inv.InputEnded(); ended {
			x.Clause(closesInput).Holds(true, "the input ends once all records are sent", "it ended after %d bytes", len(inv.Input()))
		}
		inv.Finish(x.output("first"))
		run.Wait("P2.1-1")
	})

var _ = scenario("P2.1", "descriptors", "one output on standard output, another on standard error, amid noise: input came on 0, and only the former counts",
	"P2.1-2 P2.1-3 P2.1-5",
	func(x *Lab) {
		s := x.plainLog()
		run := x.Run(s.ID)
		inv := run.Next()
		missing := without(fields("a b c d e"), inv.Names())
		x.Clause("P2.1-2").Holds(len(missing) == 0, "the input stream, with all entries of the log, arrives on file descriptor 0", "%d bytes, %d records, missing: %v", len(inv.Input()), len(inv.Inputs()), missing)
		one, two, stray := x.output("one"), x.output("two"), x.output("stray")
		noise := append(stray.Encode(), pause("stray").Encode()...)
		noise = append(noise, bytes.Repeat([]byte("diagnostics \xff\xfe\n"), 20_000)...)
		inv.Emit(one)
		x.Waiting(func() { _ = inv.WriteStderr(noise) })
		inv.Finish(two)
		exit := run.Wait("P2.1-5")
		if !x.holdsBody(one.Data) {
			x.Clause("P2.1-3").Holds(false, "what the handler writes to file descriptor 1 is taken as its output", "the bucket holds nothing of it; the run ended: %s%s", exit.Exit, run.said())
			return
		}
		x.Clause("P2.1-3").Holds(!x.holdsBody(stray.Data), "what the handler writes to file descriptor 1 is taken as its output, and what it writes to 2 is not", "body of fd 2 in the bucket: %v", x.holdsBody(stray.Data))
		x.Clause("P2.1-5").Expect(names(x.appended(s.ID))).To(ConsistOf(fields("one two")), "the two entries of file descriptor 1, whatever 300 KB on file descriptor 2 say")
		x.Clause("P2.1-5").Expect(x.stops(s.ID)).To(BeZero(), "a pause record on file descriptor 2 stops nothing")
	})

// holdsBody tells whether the subject stored a body anywhere: as an object, or
// inside a snapshot.
func (x *Lab) holdsBody(body []byte) bool {
	for _, key := range x.New("") {
		o, _ := x.Get(key)
		if plain, err := o.Decoded(); err == nil && (bytes.Equal(plain, body) || bytes.Contains(plain, []byte(wire.Digest(body)))) {
			return true
		}
	}
	return false
}

var _ = scenario("P2.1", "exit-ends-it", "the handler closes its output and lives on for a second, then exits: the commit waits for the exit",
	"P2.1-4",
	func(x *Lab) {
		s := x.plainLog()
		run := x.Run(s.ID)
		inv := run.Next()
		inv.Stream()
		out := x.output("early")
		inv.Emit(out)
		// A runtime that takes the end of the output for the end of the handler may have ended it already.
		if err := inv.CloseOutput(); err != nil && !errors.Is(err, probe.ErrGone) {
			x.Stop("the handler's output could not be closed: %v", err)
		}
		x.Waiting(func() { time.Sleep(time.Second) })
		early := x.newVersions(s.ID)
		inv.Finish()
		exit := run.Wait("P2.1-4")
		if !x.bodyCommitted(s.ID, 4, out.Data) && len(early) == 0 {
			x.Stop("the output was not committed at all (%s)%s", exit.Exit, run.said())
		}
		x.Clause("P2.1-4").Holds(len(early) == 0, "nothing is committed before the handler has exited, since its status belongs to the result",
			"snapshots in the second after the output ended, in which the handler did not exit by itself: %v", early)
	}, lasts(2*time.Second))
