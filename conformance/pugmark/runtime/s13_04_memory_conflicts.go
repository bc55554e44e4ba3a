package runtime

import (
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

var _ = scenario("S13.4", "foreign-version-in-the-way", "while the runtime's write of a version is on its way another one lands there, once and three times in a row: the merge is made again from what is there now",
	"S13.4-2 S8.3-5 P8.4-7",
	func(x *Lab) {
		s := x.shortLog()
		for _, conflicts := range []int{1, 3} {
			namespace := x.Word("ns")
			first := []wire.MemoryEntry{keeps(s, "a", x.Word("a")), keeps(s, "b", x.Word("earlier b"))}
			x.namespace(namespace, 1, first...)
			landed := map[string][]byte{}
			foreign := slices.Clone(first)
			l := x.landAt("memories/"+namespace+"/", conflicts, func(i int, r *fakes3.Request) {
				if conflicts == 1 {
					foreign[1] = keeps(s, "b", x.Word("foreign b"))
				}
				foreign = append(foreign, keeps(s, fmt.Sprintf("z%d", i), x.Word("z")))
				file, blobs, err := wire.BuildMemory(namespace, uint32(i)+2, foreign...)
				x.store(file, blobs, err)
				landed[file.Key] = file.Body
			})
			out := x.remember(namespace + "/b")
			exit := x.invoked(s, out, x.remember(namespace+"/mine"))
			refused := x.refused("memories/" + namespace + "/")
			how := map[int]string{1: "after one conflict", 3: "after three conflicts in a row"}[conflicts]
			for key, body := range landed {
				now, _ := x.Get(key)
				if !slices.Equal(now.Body, body) {
					x.Stop("the foreign version was written over (S8.2-11), so nothing had to be merged again")
				}
			}
			if l.Met() == 0 || refused == 0 {
				x.Stop("no write of the runtime met the foreign version (%s)", exit.Exit)
			}
			x.memoryLegible()
			version := uint32(conflicts) + 2
			file, ok := x.memoryFile(namespace, version)
			names := strings.Split(memoryNames(file.Records), ", ")
			slices.Sort(names)
			want := fields("a b mine z0 z1 z2")[:conflicts+3]
			kept, _ := x.object(namespace, version, "b")
			for _, clause := range []string{"S13.4-2", "S8.3-5", "P8.4-7"} {
				if conflicts == 3 && refused < 3 && !ok {
					x.Clause(clause).Warning().Holds(false, "three conflicts are within what a writer copes with", "it gave up after %d (%s)", refused, exit.Exit)
					continue
				}
				x.Clause(clause).Holds(ok && exit.Success(), fmt.Sprintf("%s the runtime commits version %d and succeeds", how, version), "versions of the namespace: %s; %s%s", listedVersions(x.memoryVersions(namespace)), exit.Exit, commit{exit: exit}.complaint())
				if !ok {
					continue
				}
				x.Clause(clause).Expect(names).To(Equal(want), "%s the new version holds the earlier objects, the foreign ones and the runtime's own", how)
				x.Clause(clause).Holds(kept.Digest == wire.Digest(out.Data), how+" the object that both wrote is the runtime's, which came last", "its digest is %s, that of the runtime's is %s", kept.Digest, wire.Digest(out.Data))
			}
		}
	}, overBoth)

var _ = scenario("S13.4", "base-of-the-merge", "the namespace gets a new version while the handler runs: the write goes on from that one, which was read before",
	"S13.4-1",
	func(x *Lab) {
		s, namespace := x.shortLog(), x.Word("ns")
		x.Bucket.Memory(namespace, keeps(s, "a", x.Word("a")))
		run := x.Run(s.ID)
		inv := run.Next()
		_, _ = inv.recall(namespace + "/a") // whoever keeps what it read has it from here
		x.Bucket.Memory(namespace, keeps(s, "late", x.Word("late")))
		inv.Finish(x.remember(namespace + "/mine")) // that its write is conditional is for S8.2-11 to say
		run.Wait()
		x.recorded(namespace, "mine")
		x.Clause("S13.4-1").Expect(strings.Split(memoryNames(x.remembered(namespace)), ", ")).To(ConsistOf("a", "late", "mine"), "the new version holds what had landed while the handler ran")
		writes := x.memoryWrites()
		last := writes[len(writes)-1]
		version := wire.ParseKey(Key(last)).Version
		read := false
		for _, r := range x.S3.Requests() {
			base := Key(r) == wire.MemoryKey(namespace, version-1)
			read = read || base && r.Op == fakes3.OpGet && r.Status == 200 && r.Arrived.Before(last.Arrived)
		}
		x.Clause("S13.4-1").Holds(read, fmt.Sprintf("version %d was read before version %d was written", version-1, version), "a GET of it before: %t", read)
	}, overBoth)

var _ = scenario("S13.4", "no-types", "memory files without user metadata and with the type of a provisional snapshot: both are read and written over like any other",
	"S13.4-3",
	func(x *Lab) {
		s := x.shortLog()
		look := x.witness(s)
		for _, kind := range []string{"", "provisional", "queueing"} {
			namespace, body := x.Word("ns"), x.Word("latest")
			x.namespace(namespace, 1, keeps(s, "x", x.Word("earlier")))
			file, blobs, err := wire.BuildMemory(namespace, 2, keeps(s, "x", body))
			what := "no user metadata"
			if kind != "" {
				what = "metadata that says " + kind
				file.Metadata = map[string]string{wire.MetaType: kind}
			}
			x.store(file, blobs, err)
			run := x.Run(s.ID)
			inv := run.Next()
			look(inv)
			res, err := inv.recall(namespace + "/x")
			x.Clause("S13.4-3").Holds(yields(res, err, []byte(body)), "the latest version counts, one with "+what, "%s", inShort(res, err))
			inv.Finish(x.remember(namespace + "/mine"))
			run.Wait()
			x.recorded(namespace, "mine")
			got, ok := x.object(namespace, 3, "x")
			x.Clause("S13.4-3").Holds(ok && got.Digest == wire.Digest([]byte(body)), "version 3 goes on from version 2, one with "+what, "versions: %s; x in version 3: %t", listedVersions(x.memoryVersions(namespace)), ok)
			written, _ := x.Get(wire.MemoryKey(namespace, 3))
			x.Clause("S13.4-3").Expect(written.Metadata[wire.MetaType]).To(BeElementOf("", "checkpoint"), "a memory file is of no type, or a checkpoint")
		}
	})
