package runtime

import (
	"fmt"
	"strings"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

var _ = scenario("S8.4", "all-namespaces", "forty namespaces of several depths, two thousand files in all: the latest object of each is served, and what it replaced or dropped is not",
	"S8.4-1",
	func(x *Lab) {
		s := x.shortLog()
		look := x.witness(s)
		latest := map[string]string{}
		var order []string
		for i := range 40 {
			namespace := fmt.Sprintf("n%02d", i) + strings.Repeat(fmt.Sprintf("/deeper-%d", i), i%4)
			latest[namespace] = x.Word("latest")
			order = append(order, namespace)
			x.namespace(namespace, uint32(i%4*33+2), keeps(s, "x", latest[namespace]))
		}
		run := x.Run(s.ID)
		inv := run.Next()
		look(inv)
		lost, stale := []string{}, []string{}
		for _, namespace := range order {
			if res, err := inv.recall(namespace + "/x"); !yields(res, err, []byte(latest[namespace])) {
				lost = append(lost, namespace+"/x: "+inShort(res, err))
			}
			if res, err := inv.recall(namespace + "/old"); err == nil && res.Status == 200 {
				stale = append(stale, namespace+"/old")
			}
		}
		x.Clause("S8.4-1").Holds(len(lost) == 0, fmt.Sprintf("an object of the latest version of each of %d namespaces is served", len(order)), "%d are not: %s", len(lost), clip([]byte(strings.Join(lost, "; ")), 600))
		x.Clause("S8.4-1").Holds(len(stale) == 0, "an object that only earlier versions have is not served", "served: %v", stale)
		inv.Finish()
		run.Wait()
	})

var _ = scenario("S8.4", "version-257", "a namespace with 257 versions, uploaded in no order: that of version 257 is served, and a write makes version 258",
	"S8.4-2",
	func(x *Lab) {
		s, namespace := x.shortLog(), x.Word("ns")
		look := x.witness(s)
		file, blobs, err := wire.BuildMemory(namespace, 1, keeps(s, "x", x.Word("earlier")))
		x.store(file, blobs, err)
		body := x.Word("latest")
		newest, blobs, err := wire.BuildMemory(namespace, 257, keeps(s, "x", body))
		for _, i := range x.Rand.Perm(257) {
			if version := uint32(i) + 1; version == 257 {
				x.store(newest, blobs, err)
			} else {
				file.Key = wire.MemoryKey(namespace, version)
				x.Must(x.Put(file))
			}
		}
		run := x.Run(s.ID)
		inv := run.Next()
		look(inv)
		res, err := inv.recall(namespace + "/x")
		x.Clause("S8.4-2").Resting("R-08").Holds(yields(res, err, []byte(body)), "the object is that of version 257", "%s", inShort(res, err))
		inv.Finish(x.remember(namespace + "/y"))
		exit := run.Wait()
		keys := x.New("memories/")
		if len(keys) == 0 {
			x.Stop("no memory file was written (%s)", exit.Exit)
		}
		_, version, ok := claimed(keys[0])
		x.Clause("S8.4-2").Resting("R-08").Holds(ok && len(keys) == 1 && version == 258, "the write makes version 258, FFFFFEFE", "written: %v", keys)
	}, overBoth)

var _ = scenario("S8.4", "nested-namespaces", "namespaces user, user/123, user/A and user/zed, of which two sort before the files of user: a write to user goes on from its own version 2, and all four are served",
	"S8.4-3",
	func(x *Lab) {
		s := x.shortLog()
		look := x.witness(s)
		bodies := map[string]string{}
		for name, n := range map[string]uint32{"user": 2, "user/123": 1, "user/A": 3, "user/zed": 1} {
			bodies[name] = x.Word("body of " + name)
			x.namespace(name, n, keeps(s, "x", bodies[name]))
		}
		out := x.remember("user/k")
		x.invoked(s, out)
		if len(x.memoryWrites()) == 0 {
			x.Stop("no memory file was written")
		}
		file, ok := x.memoryFile("user", 3)
		x.Clause("S8.4-3").Assuming("R-28", "F-5").Holds(ok && memoryNames(file.Records) == "x, k" && file.Records[0].Digest == wire.Digest([]byte(bodies["user"])),
			"version 3 of user holds the object of its version 2 and the new one, and nothing of a nested namespace", "version 3 is there: %t, records: %s; written: %v", ok, orNoNames(memoryNames(file.Records)), x.New("memories/"))
		run := x.Run(s.ID)
		inv := run.Next()
		look(inv)
		for name, body := range bodies {
			res, err := inv.recall(name + "/x")
			x.Clause("S8.4-3").Assuming("R-28", "F-5").Holds(yields(res, err, []byte(body)), "the object of "+name+" is served", "%s", inShort(res, err))
		}
		inv.Finish()
		run.Wait()
	}, overBoth)

var _ = scenario("S8.4", "short-listing", "a write to a namespace with 2,500 versions: its latest one is found without listing all of them",
	"S8.4-4",
	func(x *Lab) {
		s, namespace := x.shortLog(), x.Word("ns")
		x.namespace(namespace, 2500, keeps(s, "x", x.Word("latest")))
		x.invoked(s, x.remember(namespace+"/y"))
		if _, ok := x.object(namespace, 2501, "y"); !ok {
			x.Stop("version 2501 was not written; written: %v", x.New("memories/"))
		}
		var lists []fakes3.Request
		short := false
		for _, r := range x.S3.Requests() {
			if r.Op == fakes3.OpList && r.ListPrefix == bucketRoot+"memories/"+namespace+"/" {
				lists = append(lists, r)
				short = short || r.MaxKeys == 1
			}
		}
		// Listing all of memories/ at the start is how S8.4-1 has namespaces found.
		x.Clause("S8.4-4").Warning().Holds(short || len(lists) < 3, "the latest version is found by a listing of memories/<namespace>/ with max-keys=1, or at least without paging through all versions", "%d listings: %s", len(lists), requestLines(lists))
	})
