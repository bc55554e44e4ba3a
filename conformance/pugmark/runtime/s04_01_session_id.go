package runtime

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

// forkIDs runs a session whose handler forks n children without choosing their
// IDs, and returns the IDs that the runtime chose.
func (x *Lab) forkIDs(s *wire.Session, version uint32, n int, options ...RunOption) []string {
	run := x.Run(s.ID, options...)
	inv := run.Next()
	for i := range n {
		fork := x.output(fmt.Sprint("fork ", i))
		fork.Fork = true
		inv.Emit(fork)
	}
	inv.Finish(x.output("entry"))
	run.Success()
	snap, ok := x.Snapshot(s.ID, version)
	if !ok {
		x.Stop("the run with the forks did not commit version %d", version)
	}
	ids := []string{}
	for _, d := range snap.Descriptors {
		if d.IsFork() {
			ids = append(ids, d.TargetSession)
		}
	}
	if len(ids) != n {
		x.Stop("the snapshot holds %d fork records where %d were due", len(ids), n)
	}
	return ids
}

var _ = scenario("S4.1", "generated-ids", "forks without a chosen ID, under two zones with odd offsets: hour counter in front, random tail behind",
	"S4.1-1 S4.1-2",
	func(x *Lab) {
		s := x.plainLog()
		from := time.Now().Unix() / 3600
		ids := []string{}
		for i, zone := range []string{"Asia/Kathmandu", "America/St_Johns"} {
			ids = append(ids, x.forkIDs(s, uint32(4+i), 40, WithEnv("TZ", zone))...)
		}
		to := time.Now().Unix() / 3600
		hours := map[string]bool{}
		for h := from; h <= to; h++ {
			hours[fmt.Sprintf("%08x", h)] = true
		}
		tails := [][]byte{}
		for _, text := range ids {
			id, err := wire.ParseSessionID(text)
			if err != nil {
				x.Clause("S4.1-1").Holds(false, "a child ID of 16 bytes in hex", "target-session %q: %v", text, err)
				continue
			}
			x.Clause("S4.1-1").Resting("R-07").Holds(hours[id.String()[:8]], fmt.Sprintf("the first four bytes are the whole hours since 1970, big-endian: one of %v", keysOf(hours)), "generated ID %s", text)
			tails = append(tails, append([]byte(nil), id[4:]...))
		}
		why := poorTails(tails)
		x.Clause("S4.1-2").Assuming("R-07").Holds(why == "", "the last twelve bytes differ from ID to ID without a constant byte or a counter", "%d IDs: %s", len(tails), orNone(why))
	})

func keysOf(m map[string]bool) []string {
	out := []string{}
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// poorTails tells what is not random about a list of ID tails, in the order in
// which they were made.
func poorTails(tails [][]byte) string {
	seen := map[string]bool{}
	steps := 0
	for i, t := range tails {
		if seen[string(t)] {
			return fmt.Sprintf("%x occurs twice", t)
		}
		seen[string(t)] = true
		if i > 0 && bytes.Equal(t[:10], tails[i-1][:10]) {
			steps++
		}
	}
	if steps > 0 {
		return fmt.Sprintf("%d of them differ from the one before in the last two bytes only, like a counter", steps)
	}
	for at := range 12 {
		if len(tails) >= 8 && !slices.ContainsFunc(tails, func(t []byte) bool { return t[at] != tails[0][at] }) {
			return fmt.Sprintf("byte %d of the ID is %02x in all of them", 4+at, tails[0][at])
		}
	}
	return ""
}

var lowerHex = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{32}$`) })

var _ = scenario("S4.1", "lowercase-out", "IDs with letters everywhere, some given in upper case: what the runtime writes is lower case",
	"S4.1-3",
	func(x *Lab) {
		target := x.plainLog()
		s := x.plainLog()
		chosen := x.NewID()
		fork, generated, message := x.output("chosen"), x.output("generated"), x.output("message")
		fork.Fork, fork.Session = true, strings.ToUpper(chosen.String())
		generated.Fork = true
		message.Session = strings.ToUpper(target.ID.String())
		memory := wire.OutputRecord{Name: "memories/notes/n", Data: []byte(x.Word("n"))}
		run := x.Run(s.ID)
		inv := run.Next()
		check := func(place, text string) {
			x.Clause("S4.1-3").Calldepth(1).Holds(lowerHex().MatchString(text), "32 lowercase hex digits", "%s: %q", place, text)
		}
		inv.Finish( // what the handler is told is P13-2 and P2.2-9
			x.welcome(fork, generated, message, memory)...)
		exit := run.Wait()
		snap, ok := x.Snapshot(s.ID, 4)
		if !ok {
			x.Stop("the run did not commit version 4 (%s; whether upper case is accepted is for S4.1-4)%s", exit.Exit, run.said())
		}
		for _, d := range snap.Descriptors {
			if d.TargetSession != "" {
				check("target-session of "+d.Name, d.TargetSession)
			}
		}
		if delivered, ok := x.Snapshot(target.ID, 4); ok {
			for _, d := range delivered.Descriptors {
				if d.SourceSession != "" {
					check("source-session in the target", d.SourceSession)
				}
			}
			if v := delivered.Metadata[wire.MetaSession]; v != "" {
				check(wire.MetaSession+" of the delivery", v)
			}
		}
		for _, key := range x.New("memories/") {
			o, _ := x.Get(key)
			file, _ := wire.DecodeMemory(o)
			for _, r := range file.Records {
				check("commit.session of a memory record", r.Commit.Session)
			}
		}
		run = x.Run(s.ID) // materialises the children
		run.Next().Finish()
		run.Wait()
		for _, key := range x.New("sessions/") {
			if wire.ParseKey(key).Kind != wire.KindManifest {
				continue
			}
			o, _ := x.Get(key)
			m, _ := wire.DecodeManifest(o)
			check("session in the manifest of a child", m.Session)
			if m.Parent != nil {
				check("parent.session in the manifest of a child", m.Parent.Session)
			}
		}
	}, overBoth)

var _ = scenario("S4.1", "uppercase-in", "the same stories with IDs in upper case: on the command line, in outputs, in a manifest, in a pending fork, in an earlier delivery",
	"S4.1-4",
	func(x *Lab) {
		accepts := func(ok bool, what, acceptable, seen string, args ...any) {
			x.Clause("S4.1-4").Calldepth(1).Holds(ok, acceptable+" ("+what+")", seen, args...)
		}
		// Each place first in lower case: a runtime that cannot do the twin's story has nothing to show here.
		for _, spell := range []func(string) string{strings.ToLower, strings.ToUpper} {
			upper := spell("a") == "A"
			twin := func(what string, ok bool, acceptable, seen string, args ...any) {
				switch {
				case upper:
					accepts(ok, what, acceptable, seen, args...)
				case !ok:
					x.Stop("the twin in lower case does not work either (%s): %s", what, fmt.Sprintf(seen, args...))
				}
			}
			s := x.plainLog()
			run := x.Run(s.ID, As(spell(s.ID.String())))
			inv, why := run.await()
			twin("ID on the command line", inv != nil, "the session is run", "%s", why)
			if inv == nil {
				continue
			}
			target, chosen := x.plainLog(), x.NewID()
			fork, message := x.output("fork"), x.output("message")
			fork.Fork, fork.Session = true, spell(chosen.String())
			message.Session = spell(target.ID.String())
			inv.Finish(x.welcome(fork, message, x.output("entry"))...)
			exit := run.Wait("S4.1-4")
			twin("session of fork and cross-session outputs", exit.Success(), "the run succeeds", "%s%s", exit.Exit, run.said())
			if !exit.Success() {
				continue
			}
			twin("session of a cross-session output", x.bodyCommitted(target.ID, 4, message.Data), "the message is delivered to the target's version 4", "versions of the target: %v", x.Versions(target.ID))
			run = x.Run(s.ID)
			if inv, _ := run.await(); inv != nil {
				inv.Finish()
			}
			run.Wait("S4.1-4")
			forks := x.refuses("fork", forkTrial) == ""
			if forks {
				twin("session of a fork output", x.bodyCommitted(chosen, 1, fork.Data), "the child lies at the path of the same ID", "keys of the child: %v", x.childKeys(chosen))
			}

			x.uppercaseAtRest(upper, forks, twin)
		}
	})

// uppercaseAtRest tells the stories whose IDs lie in the bucket beforehand.
func (x *Lab) uppercaseAtRest(upper, forks bool, twin func(what string, ok bool, acceptable, seen string, args ...any)) {
	parent := x.plainLog()
	child := x.Session(wire.SessionSpec{Parent: parent.Pointer(2), UpperCase: upper})
	child.Commit(wire.Checkpoint, x.text("own"))
	run := x.Run(child.ID)
	inv, why := run.await()
	twin("session and parent.session of a manifest", inv != nil, "the session is run", "%s", why)
	if inv != nil {
		twin("parent.session of a manifest", slices.Equal(inv.Names(), fields("a b c own")), "the parent's entries a, b and c are replayed, then own", "replayed: %v", inv.Names())
		inv.Finish()
	}
	run.Wait("S4.1-4")

	forker := x.Session(wire.SessionSpec{UpperCase: upper})
	pending, task := x.NewID(), x.Word("task")
	forker.Commit(wire.Checkpoint, x.text("a"), wire.ForkEntry(task, pending))
	run = x.Run(forker.ID)
	if inv, _ := run.await(); inv != nil {
		inv.Finish()
	}
	run.Wait("S4.1-4")
	if forks {
		twin("target-session of a pending fork", x.bodyCommitted(pending, 1, []byte(task)), "the child is materialised", "keys of the child: %v", x.childKeys(pending))
	}

	// The writer's latest snapshot holds a cross-session record; its batch lies in
	// the target already. What a runtime that redelivers must see is its own mark.
	// The writer must emit at the very version of the mark, so the mark says 4.
	writer := x.plainLog()
	target := x.Session(wire.SessionSpec{UpperCase: upper})
	earlier := x.Word("earlier")
	target.Commit(wire.Checkpoint, x.text("t"))
	target.Commit(wire.Provisional, wire.DeliveredEntry("message", earlier, writer.ID, 4))
	message := wire.OutputRecord{Name: "message", Data: []byte(earlier), Session: target.ID.String()}
	run = x.Run(writer.ID)
	if inv, _ := run.await(); inv != nil {
		inv.Finish(message)
	}
	run.Wait("S4.1-4")
	if _, ok := x.Snapshot(writer.ID, 4); ok {
		twin("source-session of an earlier delivery", len(x.newVersions(target.ID)) == 0, "the delivery is recognised as made already and not repeated", "new versions of the target: %v", x.newVersions(target.ID))
	}
}

var _ = scenario("S4.1", "trace-id", "two invocations of one session and one of another, with a foreign trace in the runtime's own environment: the trace ID is the session's",
	"S4.1-5 S4.1-6",
	func(x *Lab) {
		const foreign = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
		one, two := x.plainLog(), x.plainLog()
		for _, s := range []*wire.Session{one, one, two} {
			run := x.Run(s.ID, WithEnv("TRACEPARENT", foreign))
			inv := run.Next()
			text, where := "", "TRACEPARENT"
			if x.Over == HTTP {
				text, where = inv.Request.Header.Get("Traceparent"), "the traceparent header"
			} else {
				text, _ = inv.Getenv("TRACEPARENT")
			}
			inv.Finish()
			run.Wait()
			parts := strings.Split(text, "-")
			if len(parts) < 4 || len(parts[1]) != 32 || len(parts[2]) != 16 {
				x.Clause("S4.1-6").Holds(false, "a W3C trace context with the session ID as trace ID", "%s of the handler: %q", where, text)
				continue
			}
			x.Clause("S4.1-6").Holds(parts[1] == s.ID.String() && parts[2] != "0000000000000000",
				"trace-id is the session's ID "+s.ID.String()+" and parent-id is not zero, whatever trace the runtime itself runs in", "%s of the handler: %q", where, text)
			if parts[1] == s.ID.String() {
				x.Clause("S4.1-5").Holds(true, "the 16 bytes of the session ID serve as trace ID in the same order", "%s: %q", where, text)
			}
		}
	}, overBoth)
