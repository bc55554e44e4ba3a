package runtime

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

// claimed reads the version that a memory file's name stands for, in whatever case
// its digits are; ok is false for names of another form, and for those that count
// upwards, which S8.1 judges.
func claimed(key string) (namespace string, version uint32, ok bool) {
	path := strings.TrimPrefix(key, "memories/")
	slash := strings.LastIndexByte(path, '/')
	digits, isFile := strings.CutSuffix(path[slash+1:], ".json")
	n, err := strconv.ParseUint(digits, 16, 32)
	if slash < 0 || !isFile || len(digits) != 8 || err != nil || n < 1<<31 {
		return "", 0, false
	}
	return path[:slash], uint32(4294967295-n) + 1, true
}

var _ = scenario("S8", "logs-of-their-own", "one invocation writes two objects to a namespace at version 3 and one to a new one, its session standing at 7: each namespace counts for itself",
	"S8-1",
	func(x *Lab) {
		s := x.Session(wire.SessionSpec{})
		for i := range 7 {
			s.Commit(wire.Checkpoint, x.text(fmt.Sprint("e", i)))
		}
		old, fresh := x.Word("old"), x.Word("new")
		x.namespace(old, 3, keeps(s, "kept", x.Word("kept")))
		outs := []wire.OutputRecord{x.remember(old + "/x"), x.remember(old + "/y"), x.remember(fresh + "/z"), x.unpadded("entry")}
		exit := x.invoked(s, outs...)
		got := []string{}
		for _, key := range x.New("memories/") {
			namespace, version, ok := claimed(key)
			if !ok {
				x.Stop("%s is no memory file's key (S8.1-1, S8.1-3)", key)
			}
			got = append(got, fmt.Sprintf("%s at version %d", namespace, version))
			hex := strings.ToLower(strings.TrimPrefix(key, "memories/"))
			x.Clause("S8-1").Holds(!strings.Contains(hex, s.ID.String()[8:]), "no session's ID is part of a memory file's key", "%s", key)
		}
		if len(got) == 0 {
			x.Stop("no memory file was written (%s)", exit.Exit)
		}
		want := []string{old + " at version 4", fresh + " at version 1"}
		slices.Sort(got)
		slices.Sort(want)
		x.Clause("S8-1").Expect(got).To(Equal(want), "one new version for each namespace, counted from its own last one, however many objects it gets and whatever the session's version is")
		if slices.Equal(got, want) {
			_, x1 := x.object(old, 4, "x")
			_, x2 := x.object(old, 4, "y")
			_, z := x.object(fresh, 1, "z")
			x.Clause("S8-1").Holds(x1 && x2 && z, "each version holds what was written to its namespace", "x: %t, y: %t, z: %t", x1, x2, z)
		}
	}, overBoth)

// object finds a record in a version of a namespace.
func (x *Lab) object(namespace string, version uint32, name string) (wire.MemoryRecord, bool) {
	file, _ := x.memoryFile(namespace, version)
	for _, r := range file.Records {
		if r.Name == name {
			return r, true
		}
	}
	return wire.MemoryRecord{}, false
}

var _ = scenario("S8.1", "a-file-per-namespace", "objects in namespaces of one and of four segments: their files lie at the namespace's place, and the next run finds the objects",
	"S8.1-1 S8.1-2 P8.2-1 P8.2-2",
	func(x *Lab) {
		s, flat := x.shortLog(), x.Word("ns")
		look := x.witness(s)
		deep := "user/123/" + x.Word("alice")
		outs := []wire.OutputRecord{x.remember(flat + "/key"), x.remember(deep + "/note")}
		exit := x.invoked(s, outs...)
		keys := x.New("memories/")
		if len(keys) == 0 {
			x.Stop("no memory file was written (%s)", exit.Exit)
		}
		for _, c := range []struct{ clause, other, namespace, name string }{{"S8.1-1", "P8.2-1", flat, "key"}, {"S8.1-2", "P8.2-2", deep, "note"}} {
			var files []string
			first := strings.SplitN(c.namespace, "/", 2)[0]
			for _, key := range keys {
				if strings.HasPrefix(key, "memories/"+first+"/") {
					files = append(files, key)
				}
			}
			placed := len(files) == 1
			if placed {
				namespace, _, ok := claimed(files[0])
				if placed = ok && namespace == c.namespace; !ok && namespaceOf(files[0]) == c.namespace {
					x.Stop("%s is named as no memory file is (S8.1-3)", files[0])
				}
			}
			x.Clause(c.clause).Resting("R-28").Holds(placed, fmt.Sprintf("an Output named memories/%s/%s leads to one file, memories/%s/<version>.json", c.namespace, c.name, c.namespace), "files: %v", files)
			if !placed {
				continue
			}
			records := x.remembered(c.namespace)
			x.Clause(c.other).Resting("R-28").Holds(memoryNames(records) == c.name, fmt.Sprintf("namespace %s holds one object, %s", c.namespace, c.name), "records: %s", orNoNames(memoryNames(records)))
		}
		run := x.Run(s.ID)
		inv := run.Next()
		look(inv)
		for i, clause := range []string{"P8.2-1", "P8.2-2"} {
			key := strings.TrimPrefix(outs[i].Name, "memories/")
			res, err := inv.recall(key)
			x.Clause(clause).Holds(yields(res, err, outs[i].Data), "the memory root followed by "+key+" serves the object", "%s", inShort(res, err))
		}
		inv.Finish()
		run.Wait()
	}, overBoth)

func namespaceOf(key string) string {
	path := strings.TrimPrefix(key, "memories/")
	return path[:max(0, strings.LastIndexByte(path, '/'))]
}

var _ = scenario("S8.1", "file-names", "namespaces at versions 0, 1, 15, 16, 255 and 256 get one object each: the next file's name is the complement in uppercase hex",
	"S8.1-3",
	func(x *Lab) {
		s := x.shortLog()
		var outs []wire.OutputRecord
		want := map[string]string{}
		for n, name := range map[uint32]string{0: "FFFFFFFF", 1: "FFFFFFFE", 15: "FFFFFFF0", 16: "FFFFFFEF", 255: "FFFFFF00", 256: "FFFFFEFF"} {
			namespace := fmt.Sprintf("at-%d", n)
			if n > 0 {
				x.namespace(namespace, n, keeps(s, "kept", x.Word("kept")))
			}
			outs = append(outs, x.remember(namespace+"/x"))
			want[namespace] = "memories/" + namespace + "/" + name + ".json"
		}
		exit := x.invoked(s, outs...)
		got := map[string][]string{}
		for _, key := range x.New("memories/") {
			got[namespaceOf(key)] = append(got[namespaceOf(key)], key)
		}
		if len(got) == 0 {
			x.Stop("no memory file was written (%s)", exit.Exit)
		}
		for namespace, key := range want {
			if len(got[namespace]) > 0 { // a namespace that gets nothing is P8.4-2
				x.Clause("S8.1-3").Resting("R-08").Expect(got[namespace]).To(Equal([]string{key}), "the next version of namespace %s", namespace)
			}
		}
	})

var _ = scenario("S8.1", "reading-writes-nothing", "handlers ask for objects of known and unknown namespaces: no memory file comes of it",
	"S8.1-4",
	func(x *Lab) {
		s, known := x.shortLog(), x.Word("ns")
		body := x.Word("kept")
		x.namespace(known, 1, keeps(s, "x", body))
		run := x.Run(s.ID)
		inv := run.Next()
		for _, key := range []string{"unknown/x", known + "/deeper/y", "a/b/c/d"} {
			_, _ = inv.recall(key) // what is answered is P7-15
		}
		res, err := inv.recall(known + "/x")
		if !yields(res, err, []byte(body)) {
			x.Stop("the known object was not served (%s), so reading is not what happened", inShort(res, err))
		}
		inv.Finish(x.unpadded("entry"))
		run.Success()
		x.Clause("S8.1-4").Expect(x.New("memories/")).To(BeEmpty(), "a namespace that nobody wrote to has no file, whoever asks for its objects")
	}, overBoth)
