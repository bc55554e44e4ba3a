package runtime

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/pugcheck/pugcheck/conformance"
	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

var _ = scenario("S6.1", "file-names", "sessions at versions 0, 1, 15, 16, 255, 256: the name of the file that the next commit makes",
	"S6.1-3 S6.1-4",
	func(x *Lab) {
		for _, v := range []struct {
			version int
			name    string
		}{
			{0, "FFFFFFFF.json"}, {1, "FFFFFFFE.json"}, {15, "FFFFFFF0.json"}, {16, "FFFFFFEF.json"}, {255, "FFFFFF00.json"}, {256, "FFFFFEFF.json"},
		} {
			s := x.Session(wire.SessionSpec{})
			for i := 1; i <= v.version; i++ {
				s.Commit(wire.Checkpoint, wire.Text(fmt.Sprint("entry-", i), "the same body"))
			}
			run := x.Run(s.ID)
			run.Next().Finish(x.output("next"))
			exit := run.Wait()
			created := x.New(s.ID.SnapshotsPrefix())
			if len(created) != 1 {
				x.Stop("a run of a session at version %d made %d snapshots: %v (%s)%s", v.version, len(created), created, exit.Exit, run.said())
			}
			name := path.Base(created[0])
			if !keyShapes().snapshot.MatchString(name) {
				continue // of another form: S6.1-3
			}
			x.Clause("S6.1-4").Resting("R-08").Holds(name == v.name, fmt.Sprintf("the commit of version %d lies at %s, which is 4294967295 - %d", v.version+1, v.name, v.version), "it lies at %s", name)
		}
	})

// lookup is how a runtime found the latest snapshot of a session.
type lookup struct {
	lists   []fakes3.Request // the LISTs that may have shown it snapshots of the session
	reached bool             // it came to read one, or to invoke the handler
	said    string
}

// lookedUp runs a session until the runtime has the latest version of another one
// (or of the same): until it reads a snapshot of that, or until the handler's
// invocation where it reads none. With outs, the handler is invoked first and
// these lead there. The snapshot is not handed out and the runtime is ended there,
// so that thousands of snapshots cost nothing.
func (x *Lab) lookedUp(session, target wire.SessionID, outs ...wire.OutputRecord) lookup {
	prefix := bucketRoot + target.SnapshotsPrefix()
	from := len(x.S3.Requests())
	read, over, ended := make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
	remove := x.S3.Intercept(At(target.SnapshotsPrefix(), fakes3.OpGet, fakes3.OpHead), func(ctx context.Context, _ *fakes3.Request) fakes3.Decision {
		select {
		case read <- struct{}{}:
		default:
		}
		<-ctx.Done()
		return fakes3.Drop()
	})
	defer remove()
	run := x.Run(session)
	if len(outs) > 0 {
		run.Next().Finish(outs...)
	}
	go func() {
		defer close(ended)
		select {
		case <-read:
			run.Kill()
		case <-over:
		}
	}()
	inv, _ := run.await() // ends with the process, too
	close(over)
	<-ended
	found := lookup{reached: inv != nil || run.killed, said: run.said()}
	run.Kill()
	for _, r := range x.S3.Requests()[from:] {
		if (r.Op == fakes3.OpGet || r.Op == fakes3.OpHead) && strings.HasPrefix(r.Key, prefix) {
			break
		}
		if r.Op == fakes3.OpList && (strings.HasPrefix(r.ListPrefix, prefix) || strings.HasPrefix(prefix, r.ListPrefix)) {
			found.lists = append(found.lists, r)
		}
	}
	return found
}

// many lays out n snapshots that share one small body.
func (x *Lab) many(spec wire.SessionSpec, n int) *wire.Session {
	s := x.Session(spec)
	for range n {
		s.Commit(wire.Checkpoint, wire.Text("entry", "one body for all"))
	}
	return s
}

var _ = scenario("S6.1", "no-full-listing", "3,500 snapshots and a twin with 3, as the session that is run, as a fork child that exists and as the target of a message: how many listings it takes to find the latest",
	"S6.1-6",
	func(x *Lab) {
		judge := func(what string, check conformance.Assertion, find func(n int) lookup) {
			few, all := find(3), find(3500)
			if !few.reached || !all.reached {
				check.NotExercised("the runtime ended without reading a snapshot or invoking the handler (%s)%s", what, all.said)
				return
			}
			ok := len(all.lists) == len(few.lists)
			for i := range all.lists {
				ok = ok && all.lists[i].MaxKeys == few.lists[i].MaxKeys
			}
			ok = ok || len(all.lists) > 0 && all.lists[0].MaxKeys == 1
			check.Calldepth(1).Holds(ok, "the listing begins with max-keys=1, or is the same for 3 and for 3,500 snapshots ("+what+")",
				"%d listings for 3 snapshots (%s), %d for 3,500 (%s)", len(few.lists), listing(few.lists), len(all.lists), listing(all.lists))
		}
		judge("the session that is run", x.Clause("S6.1-6"), func(n int) lookup {
			s := x.many(wire.SessionSpec{}, n)
			return x.lookedUp(s.ID, s.ID)
		})
		judge("a child that exists, in materialisation", x.Clause("S6.1-6"), func(n int) lookup {
			parent, id := x.Session(wire.SessionSpec{}), x.NewID()
			parent.Commit(wire.Checkpoint, x.text("a"), wire.ForkEntry(x.Word("task"), id))
			x.many(wire.SessionSpec{ID: id, Parent: parent.Pointer(1)}, n)
			return x.lookedUp(parent.ID, id)
		})
		judge("the target of a message", x.Clause("S6.1-6").Warning(), func(n int) lookup {
			s, target := x.shortLog(), x.many(wire.SessionSpec{}, n)
			message := x.output("message")
			message.Session = target.ID.String()
			return x.lookedUp(s.ID, target.ID, message)
		})
	})
