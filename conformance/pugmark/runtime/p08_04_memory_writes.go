package runtime

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/probe"
)

var _ = scenario("P8.4", "memory-beside-an-entry", "an entry and a memory object with type and metadata: the object is in its namespace with all of it, and nowhere in the session's log",
	"P8.4-2 P8.4-3",
	func(x *Lab) {
		s, namespace := x.plainLog(), x.Word("ns")
		look := x.witness(s)
		entry := x.unpadded("entry")
		out := x.remember(namespace + "/x")
		out.ContentType, out.Metadata = "text/x-a", map[string]string{"k": "v"}
		exit := x.invoked(s, entry, out)
		if !x.bodyCommitted(s.ID, 4, entry.Data) {
			x.knowsMemory("P8.4-2")
			x.Stop("the entry was not committed (%s), so what becomes of an Output is not judged", exit.Exit)
		}
		x.memoryLegible()
		records := x.remembered(namespace)
		kept := len(records) == 1 && records[0].Name == "x" && records[0].Digest == wire.Digest(out.Data)
		x.Clause("P8.4-2").Holds(kept, "the namespace holds one object called x, with the Output's body", "records: %s; memory files: %v; %s%s", orNoNames(memoryNames(records)), x.New("memories/"), exit.Exit, commit{exit: exit}.complaint())
		if kept {
			x.Clause("P8.4-2").Expect([]any{records[0].ContentType, records[0].Metadata}).To(Equal([]any{out.ContentType, out.Metadata}), "the record has the Output's type and metadata")
		}
		list := x.appended(s.ID)
		x.Clause("P8.4-3").Holds(len(list) == 1, "the snapshot holds the entry alone", "it holds %v", names(list))
		run := x.Run(s.ID)
		inv := run.Next()
		for _, in := range inv.Replay() {
			x.Clause("P8.4-3").Holds(!strings.HasPrefix(in.Name, "memories/") && in.Name != "x", "no later invocation has a memory object among its entries", "%s", clip(in.Raw, 200))
		}
		look(inv)
		res, err := inv.recall(namespace + "/x")
		x.Clause("P8.4-2").Holds(yields(res, err, out.Data), "the next invocation gets the object from the memory server", "%s", inShort(res, err))
		inv.Finish()
		run.Wait()
	}, overBoth)

var _ = scenario("P8.4", "bodies-are-shared", "one body as two memory objects and an entry, and one of ten bytes: a blob each, under its digest",
	"P8.4-4",
	func(x *Lab) {
		s, n1, n2 := x.shortLog(), x.Word("one"), x.Word("two")
		body, small, short := x.longBody(2000), x.Bytes(9), x.Bytes(9)
		exit := x.invoked(s,
			wire.OutputRecord{Name: "memories/" + n1 + "/a", Data: body}, wire.OutputRecord{Name: "memories/" + n2 + "/b", Data: body},
			wire.OutputRecord{Name: "entry", Data: body}, wire.OutputRecord{Name: "short", Data: short}, wire.OutputRecord{Name: "memories/" + n1 + "/small", Data: small})
		if len(x.New("memories/")) == 0 {
			x.Stop("no memory file was written (%s)", exit.Exit)
		}
		var holders []string
		for _, key := range x.New("") {
			if o, _ := x.Get(key); bytes.Equal(o.Body, body) || bytes.Equal(o.Body, small) {
				holders = append(holders, key)
			}
		}
		slices.Sort(holders)
		if slices.ContainsFunc(holders, func(key string) bool {
			return strings.HasPrefix(key, "objects/") && wire.ParseKey(key).Kind != wire.KindBlob
		}) {
			x.Stop("blobs lie at keys of another form (S3-1, S3-2)")
		}
		want := []string{"objects/" + wire.Digest(body), "objects/" + wire.Digest(small)}
		if _, ok := x.Get("objects/" + wire.Digest(short)); !ok {
			want = want[:1] // short bodies of entries have no blob either: S3.1-3
		}
		slices.Sort(want)
		x.Clause("P8.4-4").Expect(holders).To(Equal(want), "bodies of memory objects lie under objects/ by their digest like all others, once each")
		x.memoryLegible()
		for _, r := range append(x.remembered(n1), x.remembered(n2)...) {
			if r.Name != "small" {
				x.Clause("P8.4-4").Expect(r.Digest).To(Equal(wire.Digest(body)), "the record of %s refers to the one blob of the body", r.Name)
			}
		}
	})

var _ = scenario("P8.4", "replaced-by-name", "a namespace holds x and y; a handler writes x twice: x is what was written last, y is what it was",
	"P8.4-5",
	func(x *Lab) {
		s, namespace, y := x.shortLog(), x.Word("ns"), x.Word("y")
		x.namespace(namespace, 1, keeps(s, "x", x.Word("x")), keeps(s, "y", y))
		look := x.witness(s)
		first, second := x.remember(namespace+"/x"), x.remember(namespace+"/x")
		exit := x.invoked(s, first, second)
		if len(x.New("memories/"+namespace+"/")) == 0 {
			x.Stop("no memory file was written (%s), so nothing was to be replaced%s", exit.Exit, commit{exit: exit}.complaint())
		}
		x.recorded(namespace, "x")
		found := strings.Split(memoryNames(x.remembered(namespace)), ", ")
		slices.Sort(found)
		x.Clause("P8.4-5").Holds(slices.Equal(slices.Compact(found), fields("x y")), "the namespace goes on to hold x and y", "its records: %v", found)
		run := x.Run(s.ID)
		inv := run.Next()
		look(inv)
		for name, body := range map[string][]byte{"x": second.Data, "y": []byte(y)} {
			res, err := inv.recall(namespace + "/" + name)
			x.Clause("P8.4-5").Holds(yields(res, err, body), fmt.Sprintf("the memory server gives %q for %s", body, name), "%s", inShort(res, err))
		}
		inv.Finish()
		run.Wait()
	}, overBoth)

var _ = scenario("P8.4", "writers-in-sequence", "five processes on five sessions write to one namespace, all of them from the same version on: none of the objects is lost",
	"P8.4-6",
	func(x *Lab) {
		// The text's own check has ten; what decides is that no write is let through
		// before everybody has read.
		const writers = 5
		namespace := x.Word("ns")
		writes := x.race("memories/"+namespace+"/", writers)
		x.Cleanup(writes.gate.Open)
		var runs []*Run
		for i := range writers {
			run := x.Run(x.shortLog().ID)
			runs = append(runs, run)
			run.Next().Finish(x.remember(fmt.Sprintf("%s/own-%d", namespace, i)), x.remember(namespace+"/common"))
		}
		if held := writes.start(runs...); held < writers {
			x.Stop("only %d of %d writers came to write to the namespace", held, writers)
		}
		ended := []string{}
		for _, run := range runs {
			if exit := run.Wait("P8.4-6"); !exit.Success() {
				ended = append(ended, fmt.Sprintf("%s%s", exit.Exit, commit{exit: exit}.complaint()))
			}
		}
		x.memoryLegible()
		x.Clause("P8.4-6").Holds(len(ended) == 0, "all writers succeed", "%d do not: %s", len(ended), strings.Join(ended, "; "))
		found := strings.Split(memoryNames(x.remembered(namespace)), ", ")
		slices.Sort(found)
		x.Clause("P8.4-6").Expect(found).To(Equal(fields("common own-0 own-1 own-2 own-3 own-4")), "the latest version holds what each of them wrote, and the common object once")
		x.Clause("P8.4-6").Expect(x.memoryVersions(namespace)).To(Equal([]uint32{1, 2, 3, 4, 5}), "the writes are one version each, in a sequence without gap")
	})

var _ = scenario("P8.4", "version-of-the-session", "memory objects beside an entry, and memory objects alone, in up to twenty invocations: the session moves by the entry only",
	"P8.4-8 P8.4-9",
	func(x *Lab) {
		beside, n1, n2 := x.plainLog(), x.Word("one"), x.Word("two")
		entry := x.unpadded("entry")
		outs := []wire.OutputRecord{entry}
		for i := range 5 {
			outs = append(outs, x.remember(fmt.Sprintf("%s/x%d", []string{n1, n2}[i%2], i)))
		}
		if exit := x.invoked(beside, outs...); !x.bodyCommitted(beside.ID, 4, entry.Data) {
			x.Clause("P8.4-8").NotExercised("the entry beside the memory objects was not committed (%s)%s", exit.Exit, commit{exit: exit}.complaint())
		}
		if got := x.newVersions(beside.ID); x.bodyCommitted(beside.ID, 4, entry.Data) {
			x.Clause("P8.4-8").Expect(got).To(Equal([]uint32{4}), "one entry and five memory objects make one new version of the session")
		}

		alone, namespace := x.plainLog(), x.Word("ns")
		run := x.Run(alone.ID)
		inv := run.Next()
		before := len(x.Writes("sessions/"))
		inv.Finish(x.remember(namespace + "/x"))
		// Whoever takes it for work invokes again, and gets the same kind of answer.
		x.Hub.Auto(func(p *probe.Invocation) {
			if again := x.wrap(p); x.invocationsOf(alone.ID) < 20 {
				again.Finish(x.remember(namespace + "/x"))
			} else {
				probe.ExitQuietly(p)
			}
		})
		ended := run.rests()
		count := x.invocationsOf(alone.ID)
		exit := run.Wait("P8.4-9")
		x.Clause("P8.4-9").Resting("R-27").Holds(ended && count < 20, "an invocation that only writes memory lets the runtime come to rest", "%d invocations; ended by itself: %t", count, ended)
		if ended && count < 20 {
			x.Clause("P8.4-9").Warning().Holds(count == 1, "memory alone asks for no further invocation", "%d invocations", count)
		}
		x.memoryLegible()
		x.Clause("P8.4-9").Holds(len(x.remembered(namespace)) == 1 && exit.Success(), "the memory object is committed, and the run succeeds", "records: %s; %s%s", orNoNames(memoryNames(x.remembered(namespace))), exit.Exit, commit{exit: exit}.complaint())
		if len(x.remembered(namespace)) > 0 {
			writes := x.Writes("sessions/")[before:]
			x.Clause("P8.4-9").Holds(len(writes) == 0, "no session snapshot is written for memory alone", "%s", requestLines(writes))
			x.Clause("P8.4-8").Expect(x.newVersions(alone.ID)).To(BeEmpty(), "memory objects alone leave the session's version as it was")
		}
	}, overBoth)
