package runtime

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
	"github.com/pugcheck/pugcheck/harness/subject"
)

// lag is how long a request is kept back, or a handler is silent, where something
// must not happen meanwhile: many times what a runtime needs to get ahead of
// itself, and it costs no more than that where nothing happens. Seconds, as the
// catalogue has them, would show no more: what the moments of requests say counts.
const lag = 300 * time.Millisecond

// pendingFork is a fork record that names a child which is not there yet. Its
// body occurs nowhere else.
func (x *Lab) pendingFork(name string) (record wire.Entry, child wire.SessionID) {
	child = x.NewID()
	record = wire.ForkEntry(x.Word("do "+name), child)
	record.Name = name
	return record, child
}

// forkOutput is an Output that forks; a zero child leaves the ID to the runtime.
func (x *Lab) forkOutput(name string, child wire.SessionID) wire.OutputRecord {
	o := x.output(name)
	o.Fork = true
	if !child.IsZero() {
		o.Session = child.String()
	}
	return o
}

// born are the sessions that the subject made, by the manifests it stored.
func (x *Lab) born() []wire.SessionID {
	var out []wire.SessionID
	for _, key := range x.New("sessions/") {
		if parsed := wire.ParseKey(key); parsed.Kind == wire.KindManifest {
			out = append(out, parsed.Session)
		}
	}
	return out
}

// manifest reads a session's manifest.
func (x *Lab) manifest(id wire.SessionID) (wire.Manifest, bool) {
	o, ok := x.Get(id.ManifestKey())
	if !ok {
		return wire.Manifest{}, false
	}
	m, _ := wire.DecodeManifest(o)
	return m, true
}

// complete tells whether a child has its manifest and its snapshot 1.
func (x *Lab) complete(children ...wire.SessionID) bool { return x.lacking(children...) == "nothing" }

// lacking says which of the children lack their manifest or their snapshot 1.
func (x *Lab) lacking(children ...wire.SessionID) string {
	var out []string
	for i, id := range children {
		for what, key := range map[string]string{"manifest": id.ManifestKey(), "snapshot 1": id.SnapshotKey(1)} {
			if _, ok := x.Get(key); !ok {
				out = append(out, fmt.Sprintf("the %s of child %d", what, i+1))
			}
		}
	}
	if len(out) == 0 {
		return "nothing"
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// childOf gives the manifest and snapshot 1 of a child. Without them the scenario
// ends: that children are made is for P11.1-4 and S11.2-1 to judge.
func (x *Lab) childOf(id wire.SessionID) (wire.Manifest, wire.Snapshot) {
	m, made := x.manifest(id)
	snap, ok := x.Snapshot(id, 1)
	if !made || !ok || len(snap.Descriptors) == 0 {
		x.Stop("the fork was not carried out, so nothing is known about its child; missing: %s", x.lacking(id))
	}
	return m, snap
}

// rest runs a session until the runtime comes to rest; handlers say nothing.
func (x *Lab) rest(id wire.SessionID, options ...RunOption) Exit { return x.Run(id, options...).Wait() }

// writesOf are the subject's writes below a session's path that took effect.
func (x *Lab) writesOf(id wire.SessionID) []fakes3.Request {
	path, err := id.Path()
	x.Must(err)
	return slices.DeleteFunc(x.Writes(path+"/"), func(r fakes3.Request) bool { return r.Took != fakes3.Applied || r.Status != 200 })
}

// pathOf is the prefix of all keys of a session.
func (x *Lab) pathOf(id wire.SessionID) string {
	path, err := id.Path()
	x.Must(err)
	return path + "/"
}

// slowDown keeps every request that matches back for a while, before it takes
// effect.
func (x *Lab) slowDown(m fakes3.Match, d time.Duration) {
	x.Cleanup(x.S3.Intercept(m, func(ctx context.Context, _ *fakes3.Request) fakes3.Decision {
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
		return fakes3.Pass()
	}))
}

// reached is when the runtime first turned to the handler: the request over HTTP,
// the first byte of input to a process. ok is false where neither has come.
func (i *Invocation) reached() (at time.Time, ok bool) {
	if i.Request != nil {
		return i.Arrived, true
	}
	if chunks := i.Chunks(); len(chunks) > 0 {
		return chunks[0].At, true
	}
	return time.Time{}, false
}

// crash runs a session, kills the runtime at the first request that matches, and
// tells whether one came. The request has then taken its effect, or not, and was
// not answered. Handlers are answered with the Outputs.
func (x *Lab) crash(id wire.SessionID, m fakes3.Match, after bool, outs ...wire.OutputRecord) bool {
	gate := x.S3.Gate(m, 1)
	run := x.Run(id)
	if len(outs) > 0 {
		run.Next().Finish(outs...)
	}
	run.release()
	defer x.Hub.Auto(nil)
	return x.killAt(run, gate, after)
}

// killAt kills the runtime at the next request that the gate holds.
func (x *Lab) killAt(run *Run, gate *fakes3.Gate, after bool) bool {
	held, ok := x.held(gate, run)
	if !ok {
		gate.Open()
		return false
	}
	if !after {
		run.Kill()
		gate.Release(held, fakes3.Drop())
		return true
	}
	took := make(chan struct{})
	gate.Release(held, fakes3.Pass().Then(func(ctx context.Context, _ *fakes3.Request) {
		close(took)
		<-ctx.Done() // the answer is never sent: its reader is killed
	}))
	x.Waiting(func() {
		select {
		case <-took:
		case <-run.proc.Done():
		}
	})
	run.Kill()
	return true
}

// held waits for the next request that a gate holds; false where the runs end, or
// the time limit of a step is over, before there is one.
func (x *Lab) held(gate *fakes3.Gate, runs ...*Run) (*fakes3.Request, bool) {
	ctx, cancel := subject.Patience(x.Ctx, x.Config.Timeout)
	defer cancel()
	go func() {
		for _, r := range runs {
			select {
			case <-r.proc.Done():
			case <-ctx.Done():
				return
			}
		}
		cancel()
	}()
	var r *fakes3.Request
	var err error
	x.Waiting(func() { r, err = gate.Wait(ctx) })
	return r, err == nil
}

// rendezvous brings the writes of two runs to each key together: the first one to
// a key waits for the second, and then one goes after the other, on every other
// key in the order of arrival.
type rendezvous struct {
	mu    sync.Mutex
	pairs map[string]*pair
	met   []string // keys at which two writes met
}

type pair struct {
	swap          bool
	second, first chan struct{} // closed when the second has come, when the first to go has gone
	n             int
}

func (x *Lab) rendezvous(m fakes3.Match) *rendezvous {
	v := &rendezvous{pairs: map[string]*pair{}}
	x.Cleanup(x.S3.Intercept(m, func(ctx context.Context, r *fakes3.Request) fakes3.Decision {
		v.mu.Lock()
		p := v.pairs[r.Key]
		if p == nil {
			p = &pair{swap: len(v.pairs)%2 == 1, second: make(chan struct{}), first: make(chan struct{})}
			v.pairs[r.Key] = p
		}
		p.n++
		n := p.n
		if n == 2 {
			v.met = append(v.met, r.Key)
			close(p.second)
		}
		v.mu.Unlock()
		leads := n == 1 && !p.swap || n == 2 && p.swap
		if n == 1 && !waitFor(ctx, p.second) {
			return fakes3.Pass() // the other run does not come here
		}
		if n > 2 {
			return fakes3.Pass()
		}
		if leads {
			return fakes3.Pass().Then(func(context.Context, *fakes3.Request) { close(p.first) })
		}
		waitFor(ctx, p.first)
		return fakes3.Pass()
	}))
	return v
}

// waitFor waits for an event of another request, and not for ever: a runtime may
// have none of it to send.
func waitFor(ctx context.Context, event chan struct{}) bool {
	select {
	case <-event:
		return true
	case <-ctx.Done():
	case <-time.After(3 * time.Second):
	}
	return false
}

// Met are the keys at which two writes met.
func (v *rendezvous) Met() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.met)
}

// setBack takes what the subject wrote below a session's path out of the bucket,
// as if it had never run.
func (x *Lab) setBack(id wire.SessionID) {
	for _, key := range x.New(x.pathOf(id)) {
		x.Must(x.S3.Delete(bucketName, bucketRoot+key))
	}
}

// closes makes a step of a Decision that tells when the request took its effect.
func closes(done chan struct{}) func(context.Context, *fakes3.Request) {
	return func(context.Context, *fakes3.Request) { close(done) }
}
