package runtime

import (
	"context"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

var _ = scenario("P5.2", "any-order", "a pause, an entry, a fork, a cross-session write and a memory write in six orders: the same comes of each",
	"P5.2-1",
	func(x *Lab) {
		run := func(order string) ([]string, Exit) {
			s, other, ns := x.shortLog(), x.shortLog(), x.Word("ns")
			reason := x.Word("enough") // each its own, as a control message of the same text has the same blob
			outs := map[byte]wire.OutputRecord{
				'n': x.unpadded("normal"), 'f': x.unpadded("fork"), 'c': x.unpadded("cross"), 'm': x.unpadded("memories/" + ns + "/kept"),
				'p': {ContentType: wire.PauseType, Data: []byte(reason)},
			}
			fork, cross := outs['f'], outs['c']
			fork.Fork, cross.Session = true, other.ID.String()
			outs['f'], outs['c'] = fork, cross
			var list []wire.OutputRecord
			for i := range len(order) {
				list = append(list, outs[order[i]])
			}
			got := x.commitTo(s, "", plainly(list...))
			kinds := x.kinds(s, other.ID, ns)
			for i := range kinds {
				kinds[i] = strings.Replace(kinds[i], reason, "enough", 1)
			}
			return kinds, got.exit
		}
		want, _ := run("nfcmp")
		if all := fields("cross-session delivery entry fork memory stopped"); len(without(all, fields(strings.Join(want, " ")))) > 0 {
			x.Stop("with the pause as last of five kinds of Output not all of them came about (%s), so nothing is known about other orders", strings.Join(want, ", "))
		}
		for _, order := range fields("pnfcm mcfnp npmfc fmpcn cnfpm pmcfn") {
			got, exit := run(order)
			x.Clause("P5.2-1").Expect(got).To(Equal(want), "the run succeeds and the same comes about in the order %s (n = entry, f = fork, c = cross-session write, m = memory write, p = pause) as with the pause last; %s", order, exit.Exit)
		}
	})

var _ = scenario("P5.2", "stream-order", "twenty Outputs, every other one with a blob that takes long to store, one fetched slowly from a uri: descriptors keep the order of the stream",
	"P5.2-2",
	func(x *Lab) {
		const count = 20
		var outs []wire.OutputRecord
		slow := map[string]bool{}
		for i := range count {
			out := x.unpadded(fmt.Sprintf("o%02d", i))
			if i%2 == 0 {
				out.Data = append(out.Data, x.Bytes(3000)...)
				slow["objects/"+wire.Digest(out.Data)] = true
			}
			outs = append(outs, out)
		}
		// The delay is the stimulus: who appends as uploads finish gets another order.
		x.S3.Intercept(At("objects/", fakes3.OpPut), func(ctx context.Context, r *fakes3.Request) fakes3.Decision {
			if slow[Key(*r)] {
				delay(ctx, 25*time.Millisecond)
			}
			return fakes3.Pass()
		})
		x.inOrder(outs, "twenty Outputs, the blob of every other one slow to store")

		body := x.threes("fetched")
		uri := x.elsewhere("slow", body)
		if _, ok := x.commitOf("", plainly(wire.OutputRecord{Name: "fetched", URI: uri})).by(body); !ok {
			return // P5.3-2 judges that a uri is fetched
		}
		x.S3.Intercept(func(r *fakes3.Request) bool { return r.Op == fakes3.OpGet && r.Key == "outside/slow" }, func(ctx context.Context, r *fakes3.Request) fakes3.Decision {
			delay(ctx, 150*time.Millisecond)
			return fakes3.Pass()
		})
		x.inOrder([]wire.OutputRecord{x.unpadded("before"), {Name: "fetched", URI: uri}, x.unpadded("after-1"), x.unpadded("after-2")}, "an Output whose body is slow to fetch between others")
	})

func delay(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// inOrder judges that Outputs, all committed, stand in the snapshot in the order
// in which they were written. That a replay keeps that order is P4.2-8.
func (x *Lab) inOrder(outs []wire.OutputRecord, how string) {
	var want []string
	for _, o := range outs {
		want = append(want, o.Name)
	}
	s := x.shortLog()
	run := x.Run(s.ID)
	run.Next().Finish(outs...)
	run.Wait()
	got := names(x.appended(s.ID))
	if lost := without(want, got); len(lost) > 0 {
		x.Stop("not all Outputs were committed (%s; missing: %v), so their order says nothing", how, lost)
	}
	x.Clause("P5.2-2").Calldepth(1).Resting("R-32").Expect(got).To(Equal(want), "descriptors stand in the order of the stream (%s)", how)
}

var _ = scenario("P5.2", "sequence-numbers", "twelve Outputs with a memory write and an empty record between them: sequence numbers rise in their order",
	"P5.2-3",
	func(x *Lab) {
		s := x.plainLog()
		ns := x.Word("ns")
		var b strings.Builder
		var want []string
		for i := range 12 {
			out := x.unpadded(fmt.Sprintf("o%02d", i))
			want = append(want, out.Name)
			b.WriteString(plainly(out))
			switch i {
			case 3:
				b.WriteString(plainly(x.welcome(x.unpadded("memories/" + ns + "/kept"))...))
			case 7:
				b.WriteString("{}\n")
			}
		}
		got := x.commitTo(s, "", b.String())
		if lost := without(want, names(got.entries)); len(lost) > 0 || len(got.entries) != len(want) {
			x.Stop("the Outputs were not committed as they are (%s; committed: %v), so their numbers say nothing", got.exit.Exit, names(got.entries))
		}
		numbers := map[string]int64{}
		for _, d := range got.entries {
			numbers[d.Name] = d.SequenceNumber
		}
		// Where numbers begin and that they leave no gaps is S7.3-3 and S7.3-8.
		for i, n := range want[1:] {
			x.Clause("P5.2-3").Holds(numbers[n] > numbers[want[i]], fmt.Sprintf("%s, which follows %s in the stream, has a greater sequence number", n, want[i]), "%s has %d, %s has %d", n, numbers[n], want[i], numbers[want[i]])
		}
	}, overBoth)
