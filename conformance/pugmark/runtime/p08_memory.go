package runtime

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

var _ = scenario("P8", "shared-by-all-sessions", "one session writes a memory object; a session of another agent, which has nothing to do with it, reads it",
	"P8-1",
	func(x *Lab) {
		a, b := x.Session(wire.SessionSpec{Agent: "agent-7"}), x.Session(wire.SessionSpec{Agent: "agent-8"})
		out := x.remember(x.Word("shared") + "/x")
		exit := x.invoked(a, out)
		if len(x.New("memories/")) == 0 {
			x.Stop("no memory file was written (%s)", exit.Exit)
		}
		for _, key := range x.New("memories/") {
			own := strings.Contains(strings.ToLower(key), a.ID.String()[8:])
			x.Clause("P8-1").Holds(!own, "no session's ID is part of a memory file's key", "%s", key)
		}
		key := strings.TrimPrefix(out.Name, "memories/")
		for _, s := range []*wire.Session{a, b} {
			run := x.Run(s.ID)
			inv := run.Next()
			res, err := inv.recall(key)
			inv.Finish()
			run.Wait()
			if s == a && !yields(res, err, out.Data) {
				x.Stop("not even the session that wrote the object gets it back (%s): P8.2-1", inShort(res, err))
			}
			if s == b {
				x.Clause("P8-1").Holds(yields(res, err, out.Data), "the other session gets the object that the first one wrote", "%s", inShort(res, err))
			}
		}
	}, overBoth)

var _ = scenario("P8", "versions-stay", "three runs write the same object: the namespace has three versions, and those before are as they were",
	"P8-2",
	func(x *Lab) {
		s, namespace := x.shortLog(), x.Word("ns")
		was := map[string][]byte{}
		for n := range 3 {
			exit := x.invoked(s, x.remember(namespace+"/x"))
			x.memoryLegible()
			keys := x.Keys("memories/" + namespace + "/")
			if len(keys) == 0 {
				x.Stop("no memory file was written (%s)", exit.Exit)
			}
			x.Clause("P8-2").Expect(keys).To(HaveLen(n+1), "each write makes a version of its own: write %d", n+1)
			for _, key := range keys {
				o, _ := x.Get(key)
				if before, ok := was[key]; ok {
					x.Clause("P8-2").Holds(bytes.Equal(before, o.Body), "an earlier version stays as it is", "%s changed with write %d: %t", key, n+1, !bytes.Equal(before, o.Body))
				}
				was[key] = o.Body
			}
		}
	})

var _ = scenario("P8.1", "announced-each-time", "invocations without any memory, with some, of a woken session and a fork child, after a failed one: each begins with memory's root",
	"P8.1-1 P8.1-2",
	func(x *Lab) {
		announced := func(inv *Invocation, what string) {
			in := inv.Inputs()
			x.Clause("P8.1-1").Holds(in[0].Event == "memory" && in[0].URL != "", "the first Input has event memory and a url ("+what+")", "%s", clip(in[0].Raw, 200))
			if root := memoryRecord(in).URL; root != "" {
				x.Clause("P8.1-2").Holds(strings.HasSuffix(root, "/"), "the announced root ends with a slash ("+what+")", "%q", root)
			}
		}
		fresh, plain := x.Session(wire.SessionSpec{}), x.plainLog()
		run := x.Run(fresh.ID)
		inv := run.Next()
		announced(inv, "a new session, in a bucket without memory")
		inv.Finish()
		run.Wait()
		x.Bucket.Memory("notes", keeps(plain, "x", x.Word("x")))
		status := 1
		if x.Over == HTTP {
			status = 500
		}
		_, run = x.failing(plain, nil, status)
		again := run.Again()
		announced(again, "after a failed invocation")
		again.Finish()
		x.settle()
		woken := x.Session(wire.SessionSpec{})
		woken.Commit(wire.Checkpoint, x.text("w"), stopped("waiting"))
		woken.Commit(wire.Provisional, x.text("news"))
		child := plain.Fork(wire.SessionSpec{ID: x.NewID()}, x.text("task"))
		for _, c := range []struct {
			what string
			s    *wire.Session
		}{{"a woken session", woken}, {"a fork child", child}} {
			run := x.Run(c.s.ID)
			inv := run.Next()
			announced(inv, c.what)
			inv.Finish()
			run.Wait()
		}
	}, overBoth)

var _ = scenario("P8.3", "like-the-object-server", "the same bodies, plain, gzip and zstd, as entries and as memory objects, and unknown keys: both servers answer alike",
	"P8.3-2",
	func(x *Lab) {
		s := x.Session(wire.SessionSpec{})
		var list []wire.Entry
		for _, e := range x.encodedEntries() {
			list = append(list, e)
			x.Bucket.Memory("same", wire.MemoryEntry{Entry: e, Session: s.ID, Version: 1})
		}
		s.Commit(wire.Checkpoint, list...)
		look := x.witness(s)
		run := x.Run(s.ID)
		inv := run.Next()
		look(inv)
		unknown := ""
		for _, e := range list {
			in, ok := inv.named(e.Name)
			if !ok || in.URL == "" {
				continue
			}
			unknown = in.URL
			object, err := inv.Get(in.URL)
			if err != nil || object.Status != 200 || leadsElsewhere(in.URL, list, e) {
				continue // P7-9, P7-3, P4.1-2
			}
			memory, err := inv.recall("same/" + e.Name)
			said := []string{}
			if err != nil || memory.Status != 200 {
				said = append(said, inShort(memory, err))
			} else {
				if !bytes.Equal(memory.Body, object.Body) {
					said = append(said, fmt.Sprintf("%d bytes % x… instead of %d bytes % x…", len(memory.Body), clip(memory.Body, 8), len(object.Body), clip(object.Body, 8)))
				}
				for _, name := range []string{"Content-Type", "Content-Encoding"} {
					if got, want := memory.Header.Values(name), object.Header.Values(name); !slices.Equal(got, want) {
						said = append(said, fmt.Sprintf("%s %q instead of %q", name, got, want))
					}
				}
			}
			x.Clause("P8.3-2").Holds(len(said) == 0, "the memory server answers for "+e.Name+" as the object server does: status 200, the stored bytes, the same Content-Type and Content-Encoding", "%s", orSame(said))
		}
		if at := strings.LastIndex(unknown, "sha256:"); at >= 0 {
			object, err := inv.Get(unknown[:at] + wire.Digest(x.Bytes(8)))
			if memory, failed := inv.recall("same/unknown"); err == nil && object.Status == 404 {
				x.Clause("P8.3-2").Holds(failed == nil && memory.Status == 404, "the memory server answers 404 for an unknown key, as the object server does", "%s", inShort(memory, failed))
			}
		}
		inv.Finish()
		run.Wait()
	}, overBoth)

func orSame(said []string) string {
	if len(said) == 0 {
		return "the same answer"
	}
	return strings.Join(said, "; ")
}
