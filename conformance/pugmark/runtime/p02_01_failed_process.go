package runtime

import (
	"fmt"
	"strings"
	"syscall"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

// failure is a way in which a handler process fails.
type failure struct {
	how string
	end func(inv *Invocation)
}

func failures() []failure {
	var list []failure
	for _, status := range []int{1, 2, 127, 255} {
		list = append(list, failure{fmt.Sprint("exit status ", status), func(inv *Invocation) { _ = inv.Exit(status) }})
	}
	for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGSEGV} {
		list = append(list, failure{"death by " + map[syscall.Signal]string{syscall.SIGKILL: "SIGKILL", syscall.SIGSEGV: "SIGSEGV"}[sig], func(inv *Invocation) { _ = inv.Die(sig) }})
	}
	return list
}

var _ = scenario("P2.1", "failing-ends", "handlers with two valid Outputs end with status 1, 2, 127, 255, or die by a signal: each time the invocation has failed, while with status 0 it commits",
	"P2.1-7",
	func(x *Lab) {
		outs := []wire.OutputRecord{x.unpadded("a"), x.unpadded("b")}
		x.control(outs...)
		for _, f := range failures() {
			s := x.shortLog()
			run := x.Run(s.ID)
			inv := run.Next()
			inv.Received()
			inv.Emit(outs...)
			f.end(inv)
			exit := run.Wait("P2.1-7")
			got := commit{session: s, entries: x.appended(s.ID)}
			x.Clause("P2.1-7").Holds(len(got.entries) == 0, "with "+f.how+" the invocation has failed, and nothing is committed", "committed: %s", got.list())
			if len(got.entries) == 0 {
				x.Clause("P2.1-7").Warning().Holds(!exit.Success() || strings.TrimSpace(exit.Stderr) != "", "the failure is reported ("+f.how+")", "%s without a word on stderr", exit.Exit)
			}
		}
	})

var _ = scenario("P2.1", "nothing-of-a-failed-run", "a handler emits an entry, a fork, a pause, a message and a memory object, and then fails: the session stays at its version, and the next run sees the same",
	"P2.1-8",
	func(x *Lab) {
		for _, f := range []failure{failures()[0], failures()[4]} {
			s, other, namespace := x.plainLog(), x.shortLog(), x.Word("ns")
			child := x.NewID()
			fork, message := x.unpadded("fork"), x.unpadded("message")
			fork.Fork, fork.Session, message.Session = true, child.String(), other.ID.String()
			run := x.Run(s.ID)
			inv := run.Next()
			before := view(inv, inv.Stream())
			inv.Emit(x.unpadded("entry"), fork, pause("enough"), message, x.remember(namespace+"/x"))
			f.end(inv)
			// What it left is looked at when the runtime has turned to something else.
			again, _ := run.await()
			check := x.Clause("P2.1-8").Resting("R-29")
			unmoved := check.Expect(x.newVersions(s.ID)).To(BeEmpty(), "after %s the session's latest snapshot is still version 3", f.how)
			if again == nil && unmoved {
				again = x.Run(s.ID).Next()
			}
			if again != nil {
				check.Expect(view(again, again.Stream())).To(Equal(before), "the invocation after %s gets the entries, tags and version that the failed one got", f.how)
				again.Finish()
			}
			x.settle()
			strays := append(x.New("memories/"+namespace), x.childKeys(child)...)
			for _, v := range x.newVersions(other.ID) {
				strays = append(strays, other.ID.SnapshotKey(v))
			}
			x.Clause("P2.1-8").Assuming("Q:P2.1-8").Expect(strays).To(BeEmpty(), "after %s there is nothing of it in memory, in another session or in a child either", f.how)
		}
	})
