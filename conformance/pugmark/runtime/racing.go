package runtime

import (
	"github.com/pugcheck/pugcheck/harness/fakes3"
	"github.com/pugcheck/pugcheck/harness/subject"
)

// race lets several runs write at one key at the same moment: each write waits for
// the others before it takes effect.
type race struct {
	lab  *Lab
	gate *fakes3.Gate
	n    int
}

// race prepares for the first n writes below a prefix (root-relative).
func (x *Lab) race(prefix string, n int) *race {
	return &race{x, x.S3.Gate(At(prefix, fakes3.OpPut), n), n}
}

// start waits until a write of each is on its way, or the runs have come to their
// end without, and lets them all go. It tells how many were held.
func (r *race) start(runs ...*Run) (held int) {
	defer r.gate.Open()
	ctx, cancel := subject.Patience(r.lab.Ctx, r.lab.Config.Timeout)
	defer cancel()
	go func() {
		for _, run := range runs {
			select {
			case <-run.proc.Done():
			case <-ctx.Done():
				return
			}
		}
		cancel()
	}()
	r.lab.Waiting(func() {
		for held < r.n {
			if _, err := r.gate.Wait(ctx); err != nil {
				return
			}
			held++
		}
	})
	return held
}
