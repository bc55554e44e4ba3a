package runtime

import (
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/subject"
)

var _ = scenario("P10", "sleep-from-the-commit", "a sleep is asked for 2.5 s before the handler ends: start-at counts from the commit",
	"P10-10",
	func(x *Lab) { x.startAt("P10-10", "30s", 30*time.Second, 2500*time.Millisecond) }, overBoth, lasts(3*time.Second))

var _ = scenario("P10", "start-at", "durations in every unit, capped and uncapped: start-at is the time of the commit plus the duration",
	"P10-3 P10-4 P10-6",
	func(x *Lab) {
		x.committed(x.plainLog(), 4, []wire.OutputRecord{x.output("control")})
		for _, c := range []struct {
			clause, duration string
			want             time.Duration
		}{
			{"P10-4", "1.5s", 1500 * time.Millisecond}, {"P10-4", "0h2m30s", 150 * time.Second}, {"P10-4", "1m1.5s", 61500 * time.Millisecond},
			{"P10-4", "20000000000ns", 20 * time.Second}, {"P10-4", "20000000us", 20 * time.Second}, {"P10-4", "20000000µs", 20 * time.Second},
			{"P10-4", "9000ms", 9 * time.Second}, {"P10-4", "0.05h", 180 * time.Second}, {"P10-3", "90s", 90 * time.Second},
			{"P10-6", "9m59s", 599 * time.Second}, {"P10-6", "10m", 10 * time.Minute}, {"P10-6", "10m1s", 10 * time.Minute},
			{"P10-6", "2h30m", 10 * time.Minute}, {"P10-6", "87600h", 10 * time.Minute},
		} {
			x.startAt(c.clause, c.duration, c.want, 0)
		}
		s := x.plainLog()
		other := pause("no duration")
		other.Metadata = map[string]string{"other": "5s"}
		snap := x.committed(s, 4, []wire.OutputRecord{other})
		if stops := x.controls(snap); len(stops) == 1 {
			x.Clause("P10-3").Expect(stops[0].StartAt).To(BeEmpty(), "no start-at where the pause has no metadata.duration")
		}
	})

var _ = scenario("P10", "malformed-durations", "pauses with a malformed duration: the invocation fails, as with other faulty Outputs",
	"P10-4",
	func(x *Lab) {
		x.committed(x.plainLog(), 4, []wire.OutputRecord{x.output("control"), pause("control")})
		for _, duration := range []string{"soon", "300", "300 s", " 300s", "300s ", "-300s", "+300s", "1.2.3s", "5d", "1m30", "5M", "PT5M"} {
			s, beside := x.plainLog(), x.output("beside")
			run := x.Run(s.ID)
			run.Next().Finish(beside, sleepFor("nap", duration))
			committed := x.awaitCommit(run, s.ID.SnapshotKey(4))
			undecided := !committed && run.Alive()
			run.Kill()
			if undecided { // it may still have committed, and the next one would take as long
				x.Clause("P10-4").NotExercised("with duration %q the runtime neither committed nor ended within its time limit", duration)
				return
			}
			var seen []string
			if x.bodyCommitted(s.ID, 4, beside.Data) {
				seen = append(seen, "the Output beside it is committed")
			}
			if snap, ok := x.Snapshot(s.ID, 4); ok {
				for _, stop := range x.controls(snap) {
					seen = append(seen, fmt.Sprintf("a stop is committed, with start-at %q", stop.StartAt))
				}
			}
			x.Clause("P10-4").Assuming("R-29").Holds(len(seen) == 0, fmt.Sprintf("a pause with the malformed duration %q fails the invocation, and nothing of it is committed", duration),
				"%s", strings.Join(seen, "; "))
		}
	})

// startAt runs a session whose handler asks for a sleep and stays on for a while
// before it exits, and judges the recorded instant.
func (x *Lab) startAt(clause, duration string, want, linger time.Duration) {
	s := x.plainLog()
	run := x.Run(s.ID)
	inv := run.Next()
	inv.Emit(sleepFor("nap", duration))
	if linger > 0 {
		x.Waiting(func() { time.Sleep(linger) })
	}
	from := time.Now()
	inv.Finish()
	// The run ends once the commit is made; a runtime that goes on to wait for
	// start-at in the same process is ended by the scenario.
	committed := x.awaitCommit(run, s.ID.SnapshotKey(4))
	to := time.Now()
	run.Kill()
	if !committed {
		x.legible()
		x.Clause(clause).Calldepth(1).Holds(false, fmt.Sprintf("a pause with duration %s is committed", duration), "no version 4; versions: %v%s", x.Versions(s.ID), run.said())
		return
	}
	snap, _ := x.Snapshot(s.ID, 4)
	stops := x.controls(snap)
	if len(stops) != 1 {
		x.Clause(clause).NotExercised("the pause left %d stopped control messages (P10-8 judges that)", len(stops))
		return
	}
	acceptable := fmt.Sprintf("for duration %s start-at is the time of the commit plus %s, give or take a second", duration, want)
	at, err := time.Parse(time.RFC3339Nano, stops[0].StartAt)
	ok := err == nil && !at.Before(from.Add(want-time.Second)) && !at.After(to.Add(want+time.Second))
	seen := fmt.Sprintf("start-at %q", stops[0].StartAt)
	if err == nil {
		seen += fmt.Sprintf(", %s after the handler's exit", at.Sub(from).Round(time.Millisecond))
	}
	x.Clause(clause).Calldepth(1).Holds(ok, acceptable, "%s", seen)
}

// awaitCommit waits until a run has stored a key, until it has ended, or for the
// step's time limit.
func (x *Lab) awaitCommit(run *Run, key string) bool {
	found := false
	x.Waiting(func() {
		ctx, cancel := subject.Patience(x.Ctx, x.Config.Timeout)
		defer cancel()
		for alive := true; !found && alive && ctx.Err() == nil; {
			alive = run.Alive() // asked before the key, which its last act may have been
			if _, found = x.Get(key); !found && alive {
				time.Sleep(2 * time.Millisecond)
			}
		}
	})
	return found
}
