package runtime

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

var _ = scenario("S8.3", "no-name", "Outputs named memories/ns/ and memories/a/b/: no record without a name comes of them",
	"S8.3-1",
	func(x *Lab) {
		s, namespace := x.shortLog(), x.Word("ns")
		x.invoked(s, x.remember(namespace+"/named"))
		x.recorded(namespace, "named") // the control: memory writes do arrive
		for _, name := range []string{"memories/" + namespace + "/", "memories/" + namespace + "/deeper/"} {
			out := x.remember("")
			out.Name = name
			exit := x.invoked(s, out)
			for _, key := range x.New("memories/") {
				o, _ := x.Get(key)
				file, _ := wire.DecodeMemory(o)
				for _, r := range file.Records {
					x.Clause("S8.3-1").Resting("R-28").Holds(r.Name != "", fmt.Sprintf("an Output named %q leaves no record without a name; a failed invocation is as good as an ordinary entry", name), "%s: %s; %s", key, clip(r.Raw, 200), exit.Exit)
				}
			}
		}
	})

var _ = scenario("S8.3", "the-last-slash-divides", "a namespace a is there and a/b is not; a handler writes a/b, a/b/c and a/b/c/d: three namespaces with one object each",
	"S8.3-2 P8.2-3",
	func(x *Lab) {
		s, a := x.shortLog(), x.Word("a")
		x.namespace(a, 1, keeps(s, "kept", x.Word("kept")))
		x.invoked(s, x.remember(a+"/b"), x.remember(a+"/b/c"), x.remember(a+"/b/c/d"))
		if len(x.memoryWrites()) == 0 {
			x.Stop("no memory file was written")
		}
		x.memoryLegible()
		for _, clause := range []string{"S8.3-2", "P8.2-3"} {
			for _, w := range x.writtenMemory() {
				for _, r := range w.file.Records {
					x.Clause(clause).Resting("R-28").Holds(!strings.Contains(r.Name, "/"), "no memory object's name has a slash", "%s holds %q", w.key, r.Name)
				}
			}
			for namespace, name := range map[string]string{a: "b", a + "/b": "c", a + "/b/c": "d"} {
				found := memoryNames(x.remembered(namespace))
				x.Clause(clause).Resting("R-28").Holds(slices.Contains(strings.Split(found, ", "), name), fmt.Sprintf("the object %s lies in namespace %s, whichever namespaces exist already", name, strings.Replace(namespace, a, "a", 1)), "its records: %s; files: %v", orNoNames(found), x.New("memories/"))
			}
		}
	})

var _ = scenario("S8.3", "merge", "a namespace at version 2 holds a, b and c; a handler writes b and d: version 3 has a and c as they were, and then the new ones",
	"S8.3-3",
	func(x *Lab) {
		s, namespace := x.plainLog(), x.Word("ns")
		look := x.witness(s)
		bodies := map[string]string{}
		var entries []wire.MemoryEntry
		for _, name := range fields("a b c") {
			bodies[name] = x.Word("body of " + name)
			e := keeps(s, name, bodies[name])
			e.Metadata, e.SchemaURL = map[string]string{"k": name}, "https://example.com/"+name
			e.Extra = map[string]any{"x-later": map[string]any{"n": 1}}
			entries = append(entries, e)
		}
		x.namespace(namespace, 2, entries...)
		before, _ := x.memoryFile(namespace, 2)
		old, _ := x.Get(wire.MemoryKey(namespace, 2))
		b, d := x.remember(namespace+"/b"), x.remember(namespace+"/d")
		bodies["b"], bodies["d"] = string(b.Data), string(d.Data)
		exit := x.invoked(s, b, d)
		x.memoryLegible()
		file, ok := x.memoryFile(namespace, 3)
		if !ok {
			x.Stop("there is no version 3 of the namespace (%s); files written: %v", exit.Exit, x.New("memories/"))
		}
		found := memoryNames(file.Records)
		x.Clause("S8.3-3").Holds(found == "a, c, b, d" || found == "a, c, d, b", "version 3 holds the kept records a and c in their order, then the written ones", "%s", found)
		for _, r := range file.Records {
			for _, was := range before.Records {
				if r.Name == was.Name && r.Name != "b" {
					x.Clause("S8.3-3").Holds(sameRecord(r, was), "the record that is kept is unchanged, its envelope included: "+string(was.Raw), "%s", clip(r.Raw, 600))
				}
			}
		}
		now, _ := x.Get(wire.MemoryKey(namespace, 2))
		x.Clause("S8.3-3").Holds(slices.Equal(now.Body, old.Body), "version 2 stays as it is", "changed: %t", !slices.Equal(now.Body, old.Body))
		run := x.Run(s.ID)
		inv := run.Next()
		look(inv)
		for _, name := range slices.Sorted(maps.Keys(bodies)) {
			res, err := inv.recall(namespace + "/" + name)
			x.Clause("S8.3-3").Holds(yields(res, err, []byte(bodies[name])), "the next invocation gets the latest body of "+name, "%s", inShort(res, err))
		}
		inv.Finish()
		run.Wait()
	}, overBoth)

var _ = scenario("S8.3", "one-record-per-name", "one invocation writes an object three times: the last one counts, and the file has one record",
	"S8.3-4",
	func(x *Lab) {
		s, namespace := x.shortLog(), x.Word("ns")
		look := x.witness(s)
		outs := []wire.OutputRecord{}
		for range 3 {
			outs = append(outs, x.remember(namespace+"/k"))
		}
		outs = append(outs[:2:2], x.remember(namespace+"/other"), outs[2])
		x.invoked(s, outs...)
		x.recorded(namespace, "k")
		records := x.remembered(namespace)
		found := strings.Split(memoryNames(records), ", ")
		slices.Sort(found)
		x.Clause("S8.3-4").Expect(found).To(Equal(fields("k other")), "one record for each name")
		for _, r := range records {
			if r.Name == "k" && len(records) == 2 {
				x.Clause("S8.3-4").Holds(r.Digest == wire.Digest(outs[3].Data), "the record of k is that of the last write", "digest %s; the three writes: %s, %s, %s", r.Digest, wire.Digest(outs[0].Data), wire.Digest(outs[1].Data), wire.Digest(outs[3].Data))
			}
		}
		run := x.Run(s.ID)
		inv := run.Next()
		look(inv)
		res, err := inv.recall(namespace + "/k")
		x.Clause("S8.3-4").Holds(yields(res, err, outs[3].Data), "the memory server gives the last one, "+string(outs[3].Data), "%s", inShort(res, err))
		inv.Finish()
		run.Wait()
	})
