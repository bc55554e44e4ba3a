package runtime

import (
	"fmt"
	"maps"
	"slices"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

var _ = scenario("S8.5", "longest-namespace", "namespaces a, a/b, ab, user and user1 hold objects of the same names: each key leads to its own",
	"S8.5-1 P8.2-4 P17-8",
	func(x *Lab) {
		s := x.shortLog()
		bodies := map[string]string{}
		for namespace, names := range map[string]string{"a": "x b", "a/b": "x y c", "ab": "x", "user": "x 1", "user1": "x"} {
			var list []wire.MemoryEntry
			for _, name := range fields(names) {
				bodies[namespace+"/"+name] = x.Word(namespace + "/" + name)
				list = append(list, keeps(s, name, bodies[namespace+"/"+name]))
			}
			x.Bucket.Memory(namespace, list...)
		}
		run := x.Run(s.ID)
		inv := run.Next()
		found := 0
		for key, body := range bodies {
			if res, err := inv.recall(key); yields(res, err, []byte(body)) {
				found++
			}
		}
		x.Clause("P17-8").Holds(found > 0, "objects of memory are at <root>/<namespace>/<name>", "%d of %d are, below %s", found, len(bodies), inv.memoryRoot())
		if found == 0 {
			x.Stop("at these addresses there is nothing, so how a key is resolved is not judged")
		}
		for _, key := range slices.Sorted(maps.Keys(bodies)) {
			res, err := inv.recall(key)
			ok := yields(res, err, []byte(bodies[key]))
			for _, clause := range []string{"S8.5-1", "P8.2-4"} {
				x.Clause(clause).Holds(ok, key+" is the object of the longest namespace that the key begins with: "+bodies[key], "%s", inShort(res, err))
			}
		}
		for _, key := range []string{"a/bc/x", "user12/x", "a/b/b"} {
			res, err := inv.recall(key)
			x.Clause("S8.5-1").Holds(err == nil && res.Status == 404, key+" is no object: no namespace is meant by a part of a segment, nor a shorter one in its place", "%s", inShort(res, err))
		}
		inv.Finish()
		run.Wait()
	}, overBoth)

var _ = scenario("S8.5", "exact-names", "objects note.txt, Note.txt, note, a b, ä and 100%: each address leads to its own, and none to one of another case",
	"S8.5-2 P8.2-5",
	func(x *Lab) {
		s := x.shortLog()
		plain := map[string]string{}
		odd := map[string]string{}
		for _, name := range []string{"note", "note.txt", "Note.txt"} {
			plain[name] = x.Word("body of " + name)
		}
		for _, name := range []string{"a b", "ä", "100%", "a+b", "q?x=1", "h#1"} {
			odd[name] = x.Word("body of an odd name")
		}
		for _, set := range []map[string]string{plain, odd} {
			var list []wire.MemoryEntry
			for _, name := range slices.Sorted(maps.Keys(set)) {
				list = append(list, keeps(s, name, set[name]))
			}
			x.Bucket.Memory("deep/names", list...)
		}
		x.Bucket.Memory("deep", keeps(s, "names", x.Word("names")))
		run := x.Run(s.ID)
		inv := run.Next()
		if res, err := inv.recall("deep/names"); err != nil || res.Status != 200 {
			x.Stop("an object in a plain namespace is not served (%s)", inShort(res, err))
		}
		for _, clause := range []string{"S8.5-2", "P8.2-5"} {
			for _, name := range slices.Sorted(maps.Keys(plain)) {
				res, err := inv.recall("deep/names/" + name)
				x.Clause(clause).Holds(yields(res, err, []byte(plain[name])), fmt.Sprintf("all that follows the namespace and its slash is the name: %s is %q", name, plain[name]), "%s", inShort(res, err))
			}
			for _, name := range []string{"NOTE", "note.TXT", "not", "txt"} {
				res, err := inv.recall("deep/names/" + name)
				x.Clause(clause).Holds(err == nil && res.Status == 404, "names are compared exactly: there is no object "+name, "%s", inShort(res, err))
			}
		}
		// Whether a handler has to encode such names is not said.
		for _, name := range slices.Sorted(maps.Keys(odd)) {
			res, err := inv.recall("deep/names/" + name)
			x.Clause("S8.5-2").Warning().Holds(yields(res, err, []byte(odd[name])), fmt.Sprintf("a percent-encoded name is decoded and then compared exactly: %q is %q", name, odd[name]), "%s", inShort(res, err))
		}
		res, err := inv.ask(inv.memoryRoot() + "deep/names/")
		x.Clause("P8.2-5").Warning().Holds(err == nil && res.Status == 404, "there is no object without a name", "%s", inShort(res, err))
		inv.Finish()
		run.Wait()
	}, overBoth)
