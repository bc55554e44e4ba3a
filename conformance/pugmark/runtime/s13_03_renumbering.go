package runtime

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync/atomic"
	"time"

	"github.com/pugcheck/pugcheck/conformance/profile"
	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
	"github.com/pugcheck/pugcheck/harness/subject"
)

var everyType = []wire.SnapshotType{wire.Provisional, wire.Queueing, wire.Checkpoint}

// Of a run's own writes only deliveries are provisional, and for those another
// section has the conflict count as success (F-1): then the message is lost, which
// is a warning.
var _ = scenario("S13.3", "delivery-meets-others", "a delivery on its way meets a snapshot of each type: it is committed at the next free version",
	"S13.3-8",
	func(x *Lab) {
		for _, t := range everyType {
			writer, target, message := x.shortLog(), x.plainLog(), x.output("message")
			message.Session = target.ID.String()
			l, last := x.obstacle(target, t)
			run := x.Run(writer.ID)
			run.Next().Finish(message)
			exit := run.Wait("S13.3-8")
			if l.Met() == 0 || x.refused(target.ID.SnapshotKey(4)) == 0 {
				continue
			}
			what := fmt.Sprintf("a delivery meets a %s snapshot", t)
			check := x.Clause("S13.3-8").Resting("R-11")
			now, _ := x.Snapshot(target.ID, 4)
			check.Holds(slices.Contains(names(now.Descriptors), "foreign-1"), "the snapshot that it meets stays as it was ("+what+")", "version 4 holds %q", names(now.Descriptors))
			arrived := x.bodyCommitted(target.ID, last+1, message.Data)
			if !arrived && exit.Success() {
				check = x.Clause("S13.3-8").Assuming("F-1")
			}
			check.Holds(arrived, fmt.Sprintf("the entries are renumbered and committed at the next free version, %d (%s)", last+1, what), "versions of the target: %v; %s%s", x.Versions(target.ID), exit.Exit, run.said())
		}
	})

var _ = scenario("S13.3", "push-meets-others", "objects pushed by command, provisional and queueing, meet snapshots of each type: they are committed at the next free version",
	"S13.3-8",
	func(x *Lab) {
		dir, err := os.MkdirTemp("", "pugcheck-push-")
		x.Must(err)
		x.Cleanup(func() { _ = os.RemoveAll(dir) })
		file := filepath.Join(dir, "pushed.txt")
		for _, own := range []wire.SnapshotType{wire.Provisional, wire.Queueing} {
			for _, t := range everyType {
				body := []byte(x.Word("pushed"))
				x.Must(os.WriteFile(file, body, 0o600))
				s := x.plainLog()
				l, last := x.obstacle(s, t, t)
				push := x.Command(x.Config.Profile.Push, profile.Values{Session: s.ID.String(), Type: string(own), Name: "pushed", ContentType: "text/plain", Files: []string{file}})
				exit := push.Wait("S13.3-8")
				if l.Met() == 0 || x.refused(s.ID.SnapshotKey(4)) == 0 {
					continue
				}
				what := fmt.Sprintf("%s meets two %s snapshots", own, t)
				check := x.Clause("S13.3-8").Resting("R-11")
				snap, _ := x.Snapshot(s.ID, last+1)
				check.Holds(exit.Success() && x.bodyCommitted(s.ID, last+1, body), fmt.Sprintf("the object is committed at the next free version, %d (%s)", last+1, what), "versions: %v; %s%s", x.Versions(s.ID), exit.Exit, push.said())
				if n := sequence(snap.Descriptors); len(n) > 0 {
					check.Holds(n[0] == s.NextSequence(), fmt.Sprintf("it is renumbered to follow them, %d (%s)", s.NextSequence(), what), "number %d", n[0])
				}
			}
		}
	}, needing("push"))

// ends waits for the runtime's end as Wait does, one time limit after the other while
// busy says that it gets on, and blames nobody where the end does not come: the process
// is killed then.
func (r *Run) ends(busy func() bool) (exit Exit, ok bool) {
	x := r.lab
	r.release()
	defer x.Hub.Auto(nil)
	x.Waiting(func() {
		for again := true; again && !ok; again = !ok && x.Ctx.Err() == nil && busy() {
			ctx, cancel := subject.Patience(x.Ctx, x.Config.Timeout)
			var err error
			exit.Exit, err = r.proc.Wait(ctx)
			ok = err == nil
			cancel()
		}
	})
	if !ok {
		r.Kill()
	}
	exit.Stderr = r.proc.Stderr().String()
	return exit, ok
}

// patienceWithConflicts is how often a writer may find its version taken and still
// count as one with a finite limit.
const patienceWithConflicts = 1000

var _ = scenario("S13.3", "always-in-the-way", "whatever version the runtime tries has just been taken, of the session and of a memory namespace: it gives up some time, says so, and leaves nothing of the write",
	"S13.3-9 S13.3-10",
	func(x *Lab) {
		names := regexp.MustCompile(`(?i)conflict|precondition|412|gave up|giv(e|ing) up|retr(y|ies)|attempt|tries|taken|exist|concurren`)
		giveUp := func(what, prefix string, landNext func(), outs []wire.OutputRecord, s *wire.Session, left func() []string) {
			var conflicts atomic.Int64
			remove := x.S3.Intercept(At(prefix, fakes3.OpPut), func(_ context.Context, r *fakes3.Request) fakes3.Decision {
				if _, taken := x.Get(Key(*r)); !taken && conflicts.Load() <= patienceWithConflicts {
					landNext()
				}
				conflicts.Add(1)
				return fakes3.Pass()
			})
			defer remove()
			run := x.Run(s.ID)
			run.Next().Finish(outs...)
			// It is waited for longer while it tries so often that its tries will soon tell.
			began, seen := time.Now(), int64(0)
			exit, ended := run.ends(func() bool {
				before := seen
				seen = conflicts.Load()
				return seen-before >= patienceWithConflicts/5
			})
			n := conflicts.Load()
			if !ended { // by long rests between its tries it may have a limit all the same
				x.Clause("S13.3-9").NotExercised("after %s and %d tries the runtime was still trying (%s)", time.Since(began).Round(time.Second), n, what)
				return
			}
			if n < 2 { // a runtime that gave up at once did not try again at all: S13.3-4, S8.3-5
				x.Stop("the runtime tried only %d times to write (%s; %s)%s", n, what, exit.Exit, run.said())
			}
			if !x.Clause("S13.3-9").Resting("R-11").Holds(n <= patienceWithConflicts, fmt.Sprintf("the number of tries is finite: after %d conflicts the writer has given up (%s)", patienceWithConflicts, what), "%d tries", n) {
				x.Clause("S13.3-10").NotExercised("the writer never gave up (%s)", what)
				return
			}
			check := x.Clause("S13.3-10").Resting("R-11")
			check.Holds(!exit.Success(), "a writer that gave up ends with a non-zero exit status ("+what+")", "%s after %d tries%s", exit.Exit, n, run.said())
			if !exit.Success() {
				check.Holds(names.MatchString(exit.Stderr), "its message names the conflict ("+what+")", "stderr: %s", clip([]byte(exit.Stderr), 500))
			}
			check.Holds(len(left()) == 0, "the write that it gave up on is nowhere in the bucket ("+what+")", "%v", left())
		}

		s, out := x.plainLog(), x.output("mine")
		giveUp("the session's own commit", s.ID.SnapshotsPrefix(), func() { s.Commit(wire.Provisional, x.text("foreign")) }, []wire.OutputRecord{out}, s, func() []string {
			var at []string
			for _, v := range x.newVersions(s.ID) {
				if x.bodyCommitted(s.ID, v, out.Data) {
					at = append(at, fmt.Sprint("version ", v))
				}
			}
			return at
		})

		s, ns := x.shortLog(), x.Word("ns")
		version := x.Bucket.Memory(ns, wire.MemoryEntry{Entry: x.text("seed"), Session: s.ID, Version: 1})
		next := func() {
			version++
			x.store(wire.BuildMemory(ns, version, wire.MemoryEntry{Entry: wire.Text("foreign", fmt.Sprint("foreign ", version)), Session: s.ID, Version: 1}))
		}
		giveUp("a memory write", "memories/"+ns+"/", next, []wire.OutputRecord{{Name: "memories/" + ns + "/mine", Data: x.threes("mine")}}, s, func() []string { return x.New("memories/" + ns + "/") })
	}, limit(5*time.Minute))
