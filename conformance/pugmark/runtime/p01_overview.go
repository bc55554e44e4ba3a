package runtime

import (
	"bytes"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

var _ = scenario("P1", "nothing-committed-changes", "handlers that append, pause, fork, write memory and fail, one after the other: no snapshot or manifest that was there is touched",
	"P1-1",
	func(x *Lab) {
		type object struct {
			body []byte
			meta map[string]string
		}
		s, was := x.plainLog(), map[string]object{}
		remember := func() {
			for _, key := range x.Keys("sessions/") {
				o, _ := x.Get(key)
				was[key] = object{o.Body, o.Metadata}
			}
		}
		fork := x.unpadded("fork")
		fork.Fork = true
		appended := 0
		for _, act := range []struct {
			what string
			outs []wire.OutputRecord
		}{
			{"appends", []wire.OutputRecord{x.unpadded("one"), x.unpadded("two")}}, {"forks", []wire.OutputRecord{fork, x.unpadded("beside")}},
			{"writes memory", []wire.OutputRecord{x.remember("ns/x")}}, {"fails", nil}, {"pauses", []wire.OutputRecord{pause("enough")}},
		} {
			remember()
			run := x.Run(s.ID)
			inv := run.Next()
			inv.Received()
			if act.what == "fails" {
				inv.Emit(x.unpadded("lost"))
				_ = inv.Exit(1)
			} else {
				inv.Finish(act.outs...)
			}
			run.Wait()
			for _, key := range slices.Sorted(maps.Keys(was)) {
				now, there := x.Get(key)
				same := there && bytes.Equal(now.Body, was[key].body) && maps.Equal(now.Metadata, was[key].meta)
				x.Clause("P1-1").Holds(same, "what is committed stays as it is when a handler "+act.what, "%s: still there: %t, the same: %t", key, there, same)
			}
			appended = max(appended, len(x.newVersions(s.ID)))
		}
		if appended == 0 {
			x.Stop("no run committed anything, so it says nothing that all was left alone")
		}
		for _, r := range x.S3.Requests() {
			removes := r.Op == fakes3.OpDelete && strings.HasPrefix(Key(r), "sessions/") || r.Op == fakes3.OpDeleteMany && strings.Contains(string(r.Body), "sessions/")
			if removes { // that writes carry a condition, also where it makes no difference, is S6.2-8
				x.Clause("P1-1").Holds(false, "nothing below sessions/ is deleted", "%s", r.String())
			}
		}
	})

var _ = scenario("P1", "next-version", "sessions at versions 0, 3 and 16 get two entries: they lie at versions 1, 4 and 17",
	"P1-2",
	func(x *Lab) {
		for _, v := range []int{0, 3, 16} {
			s := x.Session(wire.SessionSpec{})
			for i := range v {
				s.Commit(wire.Checkpoint, x.text(fmt.Sprint("e", i)))
			}
			one, two := x.unpadded("one"), x.unpadded("two")
			exit := x.invoked(s, one, two)
			path, err := s.ID.Path()
			x.Must(err)
			keys := x.New(path + "/snapshots/")
			if len(keys) == 0 {
				x.Stop("nothing was committed below %s/snapshots/ (%s)", path, exit.Exit)
			}
			want := s.ID.SnapshotKey(uint32(v) + 1)
			for _, key := range keys {
				o, _ := x.Get(key)
				if key != want && o.Metadata[wire.MetaVersion] == fmt.Sprint(v+1) {
					x.Stop("%s says itself that it is version %d: its name is S6.1-4", key, v+1)
				}
			}
			x.Clause("P1-2").Expect(keys).To(Equal([]string{want}), "what a handler produces from version %d is committed at version %d, nobody else writing", v, v+1)
			if slices.Equal(keys, []string{want}) {
				x.Clause("P1-2").Holds(x.bodyCommitted(s.ID, uint32(v)+1, one.Data) && x.bodyCommitted(s.ID, uint32(v)+1, two.Data), "both entries lie there", "descriptors of version %d: %s", v+1, commit{entries: x.appended(s.ID)}.list())
			}
		}
	})

var _ = scenario("P1", "two-services", "a long entry and a memory object, in two invocations: each is told by absolute URLs in its own input where both are",
	"P1-4 P1-5",
	func(x *Lab) {
		s := x.Session(wire.SessionSpec{})
		s.Commit(wire.Checkpoint, wire.Entry{Name: "long", Body: x.fill(3000)}, wire.Entry{Name: "longer", Body: x.fill(5000)})
		x.Bucket.Memory("notes", keeps(s, "x", x.Word("x")))
		for _, which := range []string{"first", "second"} {
			run := x.Run(s.ID)
			inv := run.Next()
			long, _ := inv.named("long")
			for what, address := range map[string]string{"the memory record": memoryRecord(inv.Inputs()).URL, "the entry": long.URL} {
				u, err := url.Parse(address)
				absolute := err == nil && strings.HasPrefix(u.Scheme, "http") && u.Hostname() != "" && u.Port() != ""
				x.Clause("P1-5").Holds(absolute, "the url of "+what+" has scheme, host and port, so that nothing else is needed to use it", "%q", address)
			}
			memory, err := inv.recall("notes/x")
			x.Clause("P1-4").Holds(err == nil && memory.Status == 200, "the "+which+" invocation is served the memory object", "%s", inShort(memory, err))
			object, err := inv.Get(long.URL)
			x.Clause("P1-4").Holds(err == nil && object.Status == 200, "the "+which+" invocation is served the entry", "%s", inShort(object, err))
			inv.Finish()
			run.Wait()
		}
	}, overBoth)

var _ = scenario("P1", "one-input-per-entry", "a log of seven entries of which two are equal: seven records lie between the memory record and the one lifecycle record",
	"P1-6",
	func(x *Lab) {
		s := x.plainLog()
		s.Commit(wire.Checkpoint, wire.Text("twin", "twin"), wire.Text("twin", "twin"))
		run := x.Run(s.ID)
		inv := run.Next()
		x.Clause("P1-6").Expect(inv.Replay()).To(HaveLen(7), "one Input for each of the seven log entries")
		if replay := inv.Replay(); len(replay) == 7 {
			x.Clause("P1-6").Expect(inv.Inputs()).To(HaveLen(9), "beside them stand the memory record and exactly one lifecycle record")
		}
		inv.Finish()
		run.Wait()
	}, overBoth)

var _ = scenario("P1", "reads-to-the-end", "an Output, three seconds of silence, another Output, three seconds of silence, the end: both are committed, and not before the end",
	"P1-7",
	func(x *Lab) {
		silence := 3 * time.Second
		if x.Over == HTTP {
			silence = time.Second // what differs is how the end is told
		}
		s := x.plainLog()
		run := x.Run(s.ID)
		inv := run.Next()
		inv.Received()
		one, two := x.unpadded("one"), x.unpadded("two")
		inv.Emit(one)
		x.pause(silence)
		inv.Emit(two)
		x.pause(silence)
		early := x.newVersions(s.ID)
		inv.Finish()
		exit := run.Wait("P1-7")
		got := commit{entries: x.appended(s.ID)}
		x.Clause("P1-7").Holds(len(got.lacks(one, two)) == 0, fmt.Sprintf("both Outputs are committed, however long (%s) the handler is silent between and after them", silence), "committed: %s; %s%s", got.list(), exit.Exit, commit{exit: exit}.complaint())
		x.Clause("P1-7").Holds(len(early) == 0, "nothing is committed before the handler closes its output", "versions by then: %v", early)
	}, overBoth, lasts(6*time.Second))

var _ = scenario("P1", "one-snapshot-for-all", "thirty Outputs spread over a second: one snapshot holds them all, and it is a checkpoint",
	"P1-8",
	func(x *Lab) {
		s := x.plainLog()
		run := x.Run(s.ID)
		inv := run.Next()
		for i := range 30 {
			inv.Emit(x.unpadded(fmt.Sprintf("o%02d", i)))
			if i%3 == 2 {
				x.pause(100 * time.Millisecond)
			}
		}
		inv.Finish()
		exit := run.Wait()
		versions := x.newVersions(s.ID)
		x.legible()
		if len(versions) == 0 || x.repeated(s.ID, versions[0]) > 0 {
			x.Stop("nothing was committed, or it repeats what was there (%s)", exit.Exit)
		}
		x.Clause("P1-8").Expect(versions).To(Equal([]uint32{4}), "one new snapshot at the next version")
		snap, _ := x.Snapshot(s.ID, versions[0])
		x.Clause("P1-8").Expect(entries(snap)).To(HaveLen(30), "it holds all thirty entries")
		x.Clause("P1-8").Resting("R-10").Expect(snap.Type).To(Equal(wire.Checkpoint), "without interference it is a checkpoint")
	}, overBoth, lasts(time.Second))
