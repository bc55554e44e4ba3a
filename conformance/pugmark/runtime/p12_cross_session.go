package runtime

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

var _ = scenario("P12", "allowed", "messages to another session, without fork and with fork false: both are carried out, and the other session has one entry more each",
	"P12-1 S12-1",
	func(x *Lab) {
		target := x.plainLog()
		for _, spelled := range []string{"without fork", "with fork false"} {
			s := x.shortLog()
			out := x.message("message", target.ID)
			text := plainly(out)
			if spelled == "with fork false" {
				text = strings.Replace(text, "{", `{"fork":false,`, 1)
			}
			got := x.commitTo(s, "", text)
			x.Clause("P12-1").Holds(got.exit.Success() && len(got.entries) > 0, "an Output with another session's ID, "+spelled+", is carried out and the run ends well", "%s; committed: %s%s", got.exit.Exit, got.list(), got.complaint())
			n := x.occurrences(target.ID, out.Data)
			x.Clause("S12-1").Holds(n == 1, "the other session has one more entry with the message's digest ("+spelled+")", "%d; new in it: %s", n, listDeliveries(x.deliveries(target.ID)))
		}
		fork := x.forkOutput("fork", target.ID)
		got := x.commitOf("", plainly(fork, x.output("beside")))
		for _, d := range x.deliveries(target.ID) {
			if source, sent := d.Source(); sent && source.Session == got.session.ID.String() {
				x.Clause("S12-1").Holds(false, "a fork Output with the ID of an existing session is no message to it", "%s", listDeliveries([]delivery{d}))
			}
		}
	}, overBoth)

var _ = scenario("P12", "missing-target", "an entry, a message to a session that does not exist, one to a session that does: no session comes about, the commit stays, and the run says whom it missed",
	"P12-2 S12-2",
	func(x *Lab) {
		s, target, nobody := x.plainLog(), x.plainLog(), x.NewID()
		entry, lost, fine := x.output("A"), x.message("lost", nobody), x.message("fine", target.ID)
		run := x.Run(s.ID)
		run.Next().Finish(entry, lost, fine)
		exit := run.Wait("P12-2", "S12-2")
		x.legible()
		keys := x.Keys(x.pathOf(nobody))
		committed := x.bodyCommitted(s.ID, 4, entry.Data)
		if !committed && exit.Success() {
			x.Stop("the entry beside the message was not committed, though the run ended well, so nothing is known about targets")
		}
		for _, clause := range fields("P12-2 S12-2") {
			check := x.Clause(clause).Assuming("R-30")
			if committed { // a run that does not go so far says nothing about targets
				check.Holds(len(keys) == 0, "nothing is written below the path of a session that does not exist", "%v", keys)
			}
			check.Holds(committed, "the writer's snapshot, with the entry beside the message, stays committed", "versions of the writer: %v; %s%s", x.Versions(s.ID), exit.Exit, run.said())
			check.Holds(!exit.Success() || strings.Contains(strings.ToLower(exit.Stderr), nobody.String()), "the run fails, or names the missing target "+nobody.String()+" on standard error", "%s%s", exit.Exit, run.said())
			check.Holds(x.occurrences(target.ID, fine.Data) == 1, "the messages to other sessions are delivered all the same", "new in the other session: %s", listDeliveries(x.deliveries(target.ID)))
		}
	}, overBoth)

var _ = scenario("P12", "delivered", "messages to a session that has a log: a new provisional snapshot there, with a copy of the message, and the session's handler gets it",
	"P12-4 P12-5 S12.2-6 S12.2-9",
	func(x *Lab) {
		s, target := x.plainLog(), x.shortLog()
		before := map[uint32]wire.Stored{}
		for _, v := range x.Versions(target.ID) {
			before[v], _ = x.Get(target.ID.SnapshotKey(v))
		}
		out := x.message("message", target.ID)
		out.Metadata = map[string]string{"k": "v", "Ü": "1"}
		exit := x.write(s.ID, out)
		x.Clause("P12-4").Holds(x.occurrences(target.ID, out.Data) > 0, "a new snapshot of the other session has a descriptor of the message's body", "new in it: %s; the run: %s", listDeliveries(x.deliveries(target.ID)), exit.Exit)
		d := x.delivered(target.ID, out)
		x.Clause("P12-4").Holds(d.kind == wire.Provisional, "the message lies in a provisional snapshot of the other session", "%s", listDeliveries([]delivery{d}))
		x.Clause("S12.2-9").Resting("R-10").Holds(d.kind == wire.Provisional, "the delivery is committed as a provisional snapshot", "%s", listDeliveries([]delivery{d}))
		x.Clause("P12-4").Holds(d.ContentType == out.ContentType && d.Name == out.Name && maps.Equal(d.Metadata, out.Metadata), "it has the message's digest, content-type, name and metadata", "%s", d.Raw)
		for _, r := range x.Writes(target.ID.SnapshotsPrefix()) {
			x.Clause("S12.2-9").Holds(r.IfNoneMatch == "*", "the delivery is written with If-None-Match: *", "%s", r.String())
		}
		for v, was := range before {
			now, _ := x.Get(target.ID.SnapshotKey(v))
			x.Clause("P12-4").Holds(string(now.Body) == string(was.Body), "the other session's earlier snapshots stay as they are", "version %d", v)
		}
		source, sent := d.Source()
		x.Clause("P12-5").Holds(sent && source.Session == s.ID.String(), "the entry names the writing session, "+s.ID.String()+", in source-session", "%s", d.Raw)
		x.Clause("S12.2-6").Resting("R-37").Holds(sent && source.Session == s.ID.String(), "source-session is the writer's ID, "+s.ID.String(), "%s", d.Raw)
		x.Clause("P12-5").Holds(strings.Trim(d.TargetSession, "0") == "", "the entry in the other session has no target-session", "%s", d.Raw)
		run := x.Run(target.ID)
		inv := run.Next("P12-4")
		in, ok := inv.carrying(out.Data)
		x.Clause("P12-4").Holds(ok && in.Name == "message", "the other session's handler gets the message in its next invocation", "replayed: %v", inv.Names())
		inv.Finish()
		run.Wait()
	}, overBoth)

var _ = scenario("P12", "source-version", "two messages in one run, another in the next, and one whose commit has to merge: each names the writer's version that records it",
	"P12-6 S12.2-7",
	func(x *Lab) {
		s, target := x.plainLog(), x.shortLog()
		one, two, three, four := x.message("one", target.ID), x.message("two", target.ID), x.message("three", target.ID), x.message("four", target.ID)
		x.write(s.ID, one, two)
		x.write(s.ID, three)
		if !slices.Equal(x.Versions(s.ID), []uint32{1, 2, 3, 4, 5}) {
			x.Stop("the two runs did not commit versions 4 and 5; versions: %v", x.Versions(s.ID))
		}
		judge := func(o wire.OutputRecord, ranOn, recorded uint32) {
			d := x.delivered(target.ID, o)
			acceptable := fmt.Sprintf("source-version of the message %s is %d, the version of the writer that records it", o.Name, recorded)
			check := x.Clause("P12-6").Resting("R-33", "R-37")
			if d.SourceVersion == ranOn {
				check = check.Assuming("R-37")
				acceptable += fmt.Sprintf("; %d, which the handler ran on, is a warning", ranOn)
			}
			check.Holds(d.SourceVersion == recorded, acceptable, "%s", d.Raw)
			x.Clause("S12.2-7").Assuming("R-37").Holds(d.SourceVersion == recorded, acceptable, "%s", d.Raw)
		}
		judge(one, 3, 4)
		judge(two, 3, 4)
		judge(three, 4, 5)
		merged := x.plainLog()
		l := x.landAt(merged.ID.SnapshotKey(4), 1, func(int, *fakes3.Request) {
			x.store(merged.Build(wire.SnapshotSpec{Type: wire.Provisional, Entries: []wire.Entry{x.text("news")}}))
		})
		x.write(merged.ID, four)
		if l.Met() == 0 || !x.bodyCommitted(merged.ID, 5, four.Data) {
			return // S13.3
		}
		judge(four, 3, 5)
	}, overBoth)

var _ = scenario("P12", "source-pair", "the writer is put back to before its commit and runs again: whoever has its message already does not get it twice, and look-alikes do not count",
	"P12-7 S12.2-4",
	func(x *Lab) {
		s, other, plain, covered := x.Session(wire.SessionSpec{}), x.plainLog(), x.shortLog(), x.shortLog()
		message := wire.OutputRecord{Name: "message", ContentType: "text/plain", Data: []byte(x.Word("the message"))}
		earlier, foreign, same := x.shortLog(), x.shortLog(), x.shortLog()
		before, elsewhere := x.Word("before"), x.Word("elsewhere")
		s.Commit(wire.Checkpoint, x.text("a"))
		s.Commit(wire.Checkpoint, wire.CrossEntry("earlier", before, earlier.ID))
		s.Commit(wire.Checkpoint, x.text("b"))
		other.Commit(wire.Checkpoint, wire.CrossEntry("foreign", elsewhere, foreign.ID))
		earlier.Commit(wire.Provisional, wire.DeliveredEntry("earlier", before, s.ID, 2))
		foreign.Commit(wire.Provisional, wire.DeliveredEntry("foreign", elsewhere, other.ID, 4))
		same.Commit(wire.Provisional, wire.Text("message", string(message.Data)))
		controls := map[string]*wire.Session{
			"an earlier message of this writer, from version 2":  earlier,
			"a message of another writer, from the same version": foreign,
			"the same body, which nobody sent":                   same,
		}
		var outs []wire.OutputRecord
		to := func(target *wire.Session) {
			o := message
			o.Session = target.ID.String()
			outs = append(outs, o)
		}
		to(plain)
		to(covered)
		for _, what := range slices.Sorted(maps.Keys(controls)) {
			to(controls[what])
		}
		x.write(s.ID, outs...)
		x.delivered(plain.ID, message)
		x.delivered(covered.ID, message)
		for what, target := range controls {
			n := len(x.deliveries(target.ID))
			for _, clause := range fields("P12-7 S12.2-4") {
				x.Clause(clause).Resting("R-33", "R-37").Holds(n == 1, "the message is delivered to a session which holds "+what, "%d new entries", n)
			}
		}
		base := covered.Version() + 1
		for i := range uint32(3) {
			covered.Put(wire.SnapshotSpec{Version: base + 1 + i, Type: wire.Provisional, Entries: []wire.Entry{x.later(covered, fmt.Sprint("later ", i))}})
		}
		x.setBack(s.ID)
		x.write(s.ID, outs...)
		if !x.bodyCommitted(s.ID, 4, message.Data) {
			x.Stop("put back to version 3, the writer did not commit version 4 again; versions: %v", x.Versions(s.ID))
		}
		for _, clause := range fields("P12-7 S12.2-4") {
			list := x.deliveries(plain.ID)
			x.Clause(clause).Resting("R-33", "R-37").Holds(len(list) == 1, "a run that commits the same version with the same message again writes nothing to a session that has the message", "new in it: %s", listDeliveries(list))
			list = x.deliveries(covered.ID)
			x.Clause(clause).Assuming("Q:"+clause).Holds(len(list) == 1, "nor does it where three later snapshots lie above the message", "new in it: %s", listDeliveries(list))
		}
	}, overBoth)

var _ = scenario("P12", "lost-answers", "the store takes a delivery and its answer is lost: after the runtime's own retries, and after another run, the message is there once",
	"P12-8 S12.3-2",
	func(x *Lab) {
		for what, d := range map[string]fakes3.Decision{"an error 500": fakes3.LoseAs(500, "InternalError"), "a closed connection": fakes3.Lose()} {
			s, target := x.shortLog(), x.shortLog()
			out := x.message("message", target.ID)
			lost := x.lossy(target, 2, d)
			run := x.Run(s.ID)
			run.Next().Finish(out, x.output("beside"))
			run.Wait("P12-8", "S12.3-2")
			if !lost() {
				x.Stop("the delivery was not written where it was due, so no answer was lost")
			}
			for _, turn := range []string{"after that run", "after another one"} {
				n := x.occurrences(target.ID, out.Data)
				for _, clause := range fields("P12-8 S12.3-2") {
					x.Clause(clause).Holds(n == 1, fmt.Sprintf("the message is in the other session once, although %s took the place of the answer to its delivery (%s)", what, turn), "%d times: %s", n, listDeliveries(x.deliveries(target.ID)))
				}
				if turn == "after that run" {
					x.rest(s.ID)
				}
			}
		}
	})

var _ = scenario("P12", "writer-goes-on", "messages do not stop the writer: not alone, and not beside a fork; forks alone do",
	"P12-9 S12.3-4",
	func(x *Lab) {
		if s := x.commitOf("", plainly(x.forkOutput("fork", wire.SessionID{}))).session; x.stops(s.ID) != 1 {
			x.Stop("forks alone do not stop the session (P10-20), so nothing is known about what prevents that")
		}
		target := x.shortLog()
		for what, outs := range map[string][]wire.OutputRecord{
			"messages alone":       {x.message("one", target.ID), x.message("two", target.ID)},
			"a message and a fork": {x.message("three", target.ID), x.forkOutput("fork", wire.SessionID{})},
		} {
			s := x.shortLog()
			got := x.commitTo(s, "", plainly(outs...))
			x.delivered(target.ID, outs[0])
			for _, clause := range fields("P12-9 S12.3-4") {
				x.Clause(clause).Expect(x.stops(s.ID)).To(Equal(0), "a run with %s leaves no control message with status stopped; committed: %s", what, got.list())
			}
			run := x.Run(s.ID)
			inv := run.Next("P12-9", "S12.3-4")
			for _, clause := range fields("P12-9 S12.3-4") {
				x.Clause(clause).Holds(true, "the writer's next run invokes its handler ("+what+")", "invoked")
			}
			inv.Finish()
			run.Wait()
		}
	}, overBoth)

var _ = scenario("P12", "goes-on-writing", "a message, a silence, an entry, a message to a third session, an entry: all four are carried out",
	"P12-10",
	func(x *Lab) {
		s, b, c := x.shortLog(), x.shortLog(), x.shortLog()
		first, second := x.message("to b", b.ID), x.message("to c", c.ID)
		run := x.Run(s.ID)
		inv := run.Next()
		inv.Emit(first)
		x.Waiting(func() { time.Sleep(lag) })
		inv.Finish(x.output("A"), second, x.output("D"))
		exit := run.Wait()
		var local []string
		for _, d := range x.appended(s.ID) {
			if _, cross := d.CrossTarget(); !cross {
				local = append(local, d.Name)
			}
		}
		x.Clause("P12-10").Holds(slices.Equal(local, fields("A D")), "what follows a message is committed, in its order", "%v; %s%s", local, exit.Exit, run.said())
		x.Clause("P12-10").Holds(x.occurrences(b.ID, first.Data) == 1 && x.occurrences(c.ID, second.Data) == 1, "both messages are delivered", "new in b: %s; new in c: %s", listDeliveries(x.deliveries(b.ID)), listDeliveries(x.deliveries(c.ID)))
	}, overBoth)

var _ = scenario("P12", "to-itself", "a handler writes to its own session, in lower and in upper case, and beside a fork: an ordinary entry, once",
	"P12-11 P12-12 S12.3-5",
	func(x *Lab) {
		for _, c := range []struct {
			how  string
			fork bool
		}{{"in lower case", false}, {"in upper case", false}, {"beside a fork", true}} {
			s := x.shortLog()
			out := x.message("note", s.ID)
			if c.how == "in upper case" {
				out.Session = strings.ToUpper(out.Session)
			}
			outs := []wire.OutputRecord{out, x.output("beside")}
			if c.fork {
				outs[1] = x.forkOutput("fork", wire.SessionID{})
			}
			got := x.commitTo(s, "", plainly(outs...))
			if c.fork && !got.exit.Success() && len(x.newVersions(s.ID)) == 0 {
				continue // it does not get along with the fork, which others judge
			}
			if !c.fork && len(got.lacks(outs[1])) > 0 && got.exit.Success() {
				x.Stop("the entry beside it was not committed either; committed: %s", got.list())
			}
			found := slices.DeleteFunc(x.deliveries(s.ID), func(d delivery) bool { return d.Digest != wire.Digest(out.Data) })
			ordinary := len(found) == 1 && found[0].kind == wire.Checkpoint && slices.Equal(x.newVersions(s.ID), []uint32{2})
			const demand = "an Output with the writer's own ID gives one entry of its next checkpoint, and no further snapshot"
			x.Clause("P12-11").Holds(ordinary, demand+" ("+c.how+")", "%s; new versions %v; %s%s", listDeliveries(found), x.newVersions(s.ID), got.exit.Exit, got.complaint())
			x.Clause("S12.3-5").Holds(ordinary, demand+" ("+c.how+")", "%s; new versions %v; %s%s", listDeliveries(found), x.newVersions(s.ID), got.exit.Exit, got.complaint())
			if len(found) == 0 {
				continue
			}
			x.Clause("P12-11").Expect(x.stops(s.ID)).To(Equal(0), "it is local work: there is no implicit pause (%s)", c.how)
			for _, d := range found {
				_, sent := d.Source()
				if sent { // a delivery to itself, which is judged above
					continue
				}
				plain := strings.Trim(d.TargetSession, "0") == "" && d.SourceVersion == 0 && !d.IsFork()
				const bare = "the entry has neither target-session nor source fields"
				x.Clause("P12-12").Holds(plain, bare+" ("+c.how+")", "%s", d.Raw)
				x.Clause("S12.3-5").Holds(plain, bare+" ("+c.how+")", "%s", d.Raw)
			}
			run := x.Run(s.ID)
			inv := run.Next()
			n := len(slices.DeleteFunc(inv.Names(), func(name string) bool { return name != "note" }))
			inv.Finish()
			run.Wait()
			x.Clause("S12.3-5").Holds(n == 1, "the next invocation gets the entry once ("+c.how+")", "%d times", n)
		}
	}, overBoth)

var _ = scenario("P12", "one-blob", "one body of 5000 bytes goes to two sessions: it is stored once, and writer and targets refer to it by its digest",
	"P12-3 S12.3-1",
	func(x *Lab) {
		s, b, c := x.shortLog(), x.shortLog(), x.shortLog()
		body := []byte(strings.Repeat("0123456789", 499) + x.Word("z"))
		one, two := x.message("one", b.ID), x.message("two", c.ID)
		one.Data, two.Data = body, body
		x.write(s.ID, one, two)
		x.delivered(b.ID, one)
		x.delivered(c.ID, two)
		var holds []string
		for _, key := range x.New("") {
			if o, _ := x.Get(key); string(o.Body) == string(body) {
				holds = append(holds, key)
			}
		}
		for _, clause := range fields("P12-3 S12.3-1") {
			x.Clause(clause).Expect(holds).To(Equal([]string{"objects/" + wire.Digest(body)}), "the body lies at its content-addressed key and nowhere else")
			x.Clause(clause).Holds(x.occurrences(s.ID, body) == 2, "the writer's records have its digest", "%d of 2", x.occurrences(s.ID, body))
		}
	}, overBoth)
