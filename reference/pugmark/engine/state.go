package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/stream"
)

// state is a session at one version: everything that decides whether its handler
// is due and which entries are new to it. The version is definite: nothing that
// lands later gets into it (P1-9).
type state struct {
	manifest session.Manifest
	version  uint32

	// The log is the ancestors' segments, then the session's own snapshots 1 to
	// older, then tail. Only the tail is in memory: it reaches back far enough to
	// hold the latest checkpoint and the latest control message, if there are any.
	ancestors []session.Segment
	older     uint32
	tail      []session.Snapshot

	checkpoint uint32          // version of the latest checkpoint, 0 where there is none
	control    session.Control // the latest control message, zero where there is none
	controlAt  position        // where it stands; version 0 where there is none
	unseen     *interval       // F-2: what a handler that just stopped did not see
}

// position is the place of a descriptor in a session's own snapshots.
type position struct {
	version uint32
	index   int
}

func (p position) after(q position) bool {
	return p.version > q.version || p.version == q.version && p.index > q.index
}

// interval is the versions between two commits, both of them excluded.
type interval struct{ after, before uint32 }

// tailStep is how many snapshots are fetched first, from the latest backwards,
// until enough is known; then four times as many, and so on. None of them is
// fetched in vain if the handler is invoked, since all are replayed.
const tailStep = 64

// load reads the session's state as it is now.
func (r *runner) load(ctx context.Context) (*state, error) {
	manifest, version, err := r.Repo.Open(ctx, r.id)
	if err != nil {
		return nil, err
	}
	st := &state{manifest: manifest, version: version}
	group, gctx := errgroup.WithContext(ctx)
	group.Go(func() error { return r.loadTail(gctx, st) })
	group.Go(func() error {
		chain, err := r.Repo.Chain(gctx, r.id, version)
		if err == nil {
			st.ancestors = chain[:len(chain)-1]
		}
		return err
	})
	// S9.1-3: on each invocation. S9.1-4: before anything is written.
	group.Go(func() error { return r.Repo.CheckRef(gctx, manifest) })
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return st, nil
}

func (r *runner) loadTail(ctx context.Context, st *state) error {
	st.older = st.version
	for step := uint32(tailStep); st.older > 0 && (st.checkpoint == 0 || st.controlAt.version == 0); step *= 4 {
		first := st.older - min(st.older, step) + 1
		var part []session.Snapshot
		for s, err := range r.Repo.Snapshots(ctx, r.id, first, st.older) {
			if err != nil {
				return err
			}
			part = append(part, s)
		}
		if err := r.examine(ctx, st, part); err != nil {
			return err
		}
		st.tail = append(part, st.tail...)
		st.older = first - 1
	}
	return nil
}

// examine looks for the latest checkpoint and control message in snapshots that
// lie before all those examined so far.
func (r *runner) examine(ctx context.Context, st *state, part []session.Snapshot) error {
	for _, s := range slices.Backward(part) {
		if st.checkpoint == 0 && s.Type.IsCheckpoint() {
			st.checkpoint = s.Version
		}
		if st.controlAt.version > 0 {
			continue
		}
		for i, d := range slices.Backward(s.Descriptors) {
			if !d.IsControl() {
				continue
			}
			st.controlAt = position{s.Version, i}
			body, err := r.Repo.ReadBody(ctx, d)
			if err != nil {
				return fmt.Errorf("session %s, version %d: control message: %w", r.id, s.Version, err)
			}
			if st.control, err = session.DecodeControl(body); err != nil {
				// It says nothing that could be acted on, like one that is empty (P9-3).
				r.Report(fmt.Sprintf("session %s, version %d: %v; taken for status unknown", r.id, s.Version, err))
				st.control = session.Control{Status: session.StatusUnknown}
			}
			break
		}
	}
	return nil
}

// due says what a session's state asks for: nothing (pause), or an invocation
// with that event, not before at.
type due struct {
	pause bool
	at    time.Time
	event string
}

// due decides. The three cases of a stopped session are told by what follows its
// control message (P10-11, P10-13 to P10-16).
func (st *state) due() due {
	switch {
	case st.unseen != nil: // F-2
		return due{event: stream.EventWake}
	case st.stopped() && st.anythingAfterControl():
		return due{event: stream.EventWake}
	case st.stopped() && st.control.StartAt.IsZero():
		return due{pause: true}
	case st.stopped():
		return due{event: stream.EventWake, at: st.control.StartAt}
	}
	return due{event: st.lifecycle()}
}

// stopped tells whether the latest control message says so. P4.3-6: only
// messages in the session's own snapshots count, which are all there are here.
func (st *state) stopped() bool { return st.control.Status == session.StatusStopped }

func (st *state) anythingAfterControl() bool {
	for _, s := range slices.Backward(st.tail) {
		if n := len(s.Descriptors); n > 0 {
			return position{s.Version, n - 1}.after(st.controlAt)
		}
	}
	return false
}

// lifecycle is the event of a session that is not stopped. R-04: a session that
// no handler has run on gets start, or fork if it is a fork child.
func (st *state) lifecycle() string {
	child := !st.manifest.Parent.IsZero()
	if st.controlAt.version > 0 {
		return stream.EventNone // only a run leaves control messages
	}
	// Without a control message the tail is the whole session. A checkpoint is a
	// handler's work, unless it is the snapshot 1 that a child is born with.
	for _, s := range st.tail {
		if s.Type.IsCheckpoint() && !(child && s.Version == 1) {
			return stream.EventNone
		}
	}
	if child {
		return stream.EventFork // P11.2-1
	}
	return stream.EventStart // P6-3
}

// pushed tells whether an entry of the session's own is newly arrived.
func (st *state) pushed(at position) bool {
	switch {
	case st.unseen != nil: // F-2: what the handler has not seen yet
		return st.unseen.after < at.version && at.version < st.unseen.before
	case st.stopped(): // P4.3-1, P4.3-2
		return at.after(st.controlAt)
	case st.checkpoint == st.version: // P4.3-3: the last delta
		return at.version == st.version
	}
	return at.version > st.checkpoint // all that came after the last run
}

// pending is the session's most recent snapshot in the sense of R-21: from the
// latest back to and including the latest checkpoint.
func (st *state) pending() []session.Snapshot {
	for i, s := range st.tail {
		if s.Version >= st.checkpoint {
			return st.tail[i:]
		}
	}
	return nil
}

// settle completes what earlier runs recorded and may not have done. It comes
// before the pause is looked at: a parent that its own fork-only run has stopped
// has to make its children all the same.
func (r *runner) settle(ctx context.Context, st *state) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelWrites)
	for _, s := range st.pending() {
		for _, d := range s.Descriptors {
			if !d.Fork || d.TargetSession.IsZero() {
				continue
			}
			// P11.1-4, P11.1-5: every pending fork, before any Input is sent.
			group.Go(func() error {
				_, err := r.Repo.Materialise(ctx, st.manifest, s.Version, d)
				if errors.Is(err, layout.ErrUnplaceable) {
					// F-16: whoever wrote this record, no run can ever carry it out.
					r.Report(fmt.Sprintf("session %s, version %d: %v", r.id, s.Version, err))
					return nil
				}
				return err
			})
		}
		// F-9: a crash may have come between the commit and its deliveries.
		for target, batch := range crossSession(r.id, s.Descriptors) {
			group.Go(func() error { return r.redeliver(ctx, s.Version, target, batch) })
		}
	}
	return group.Wait()
}

// crossSession groups the cross-session records among the descriptors by their
// target, in their order (S12.2-2, R-33).
func crossSession(writer layout.SessionID, descriptors []session.Descriptor) map[layout.SessionID][]session.Descriptor {
	var batches map[layout.SessionID][]session.Descriptor
	for _, d := range descriptors {
		if d.IsCrossSession() && d.TargetSession != writer {
			if batches == nil {
				batches = map[layout.SessionID][]session.Descriptor{}
			}
			batches[d.TargetSession] = append(batches[d.TargetSession], d)
		}
	}
	return batches
}
