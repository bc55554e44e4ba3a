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
//
// It holds no entries, whose number has no bound. They are read for the handler
// when their turn comes, from the repository's memory as a rule.
type state struct {
	manifest session.Manifest
	version  uint32
	parents  []session.Segment // the ancestors' parts of the log, the oldest first

	last       position        // of the session's own last entry; version 0 where there is none
	checkpoint uint32          // version of the latest checkpoint, 0 where there is none
	ran        bool            // whether a handler has run, as far as its own snapshots tell
	control    session.Control // the latest control message, zero where there is none
	controlAt  position        // where it stands; version 0 where there is none
	pending    []session.Snapshot
	unseen     *interval // F-2: what a handler that just stopped did not see
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

// load reads the session's state as it is now.
func (r *runner) load(ctx context.Context) (*state, error) {
	manifest, version, err := r.Repo.Open(ctx, r.id)
	if err != nil {
		return nil, err
	}
	st := &state{manifest: manifest, version: version}
	group, gctx := errgroup.WithContext(ctx)
	group.Go(func() error { return r.search(gctx, st) })
	group.Go(func() error {
		chain, err := r.Repo.Chain(gctx, r.id, version)
		if err == nil {
			st.parents = chain[:len(chain)-1]
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

// search goes back from the latest snapshot to the latest checkpoint and the
// latest control message, which decides for every entry behind it (P4.3-1). Where
// there has never been one, it takes the whole log to know. What is fetched
// here is not fetched again for the replay.
func (r *runner) search(ctx context.Context, st *state) error {
	for s, err := range r.Repo.BackwardAhead(ctx, r.id, st.version) {
		if err != nil {
			return err
		}
		if err := r.examine(ctx, st, s); err != nil {
			return err
		}
		if st.checkpoint > 0 && st.controlAt.version > 0 {
			break
		}
	}
	slices.Reverse(st.pending)
	return nil
}

// examine takes in a snapshot that lies before all those examined so far.
func (r *runner) examine(ctx context.Context, st *state, s session.Snapshot) error {
	if n := len(s.Descriptors); n > 0 && st.last.version == 0 {
		st.last = position{s.Version, n - 1}
	}
	// R-21, P11.1-19, S11.2-2: back to and including the latest checkpoint,
	// whatever lies on top of it.
	if st.checkpoint == 0 {
		if left := leftUndone(r.id, s); len(left.Descriptors) > 0 {
			st.pending = append(st.pending, left)
		}
	}
	if s.Type.IsCheckpoint() {
		st.checkpoint = max(st.checkpoint, s.Version)
		// A checkpoint is a handler's work, unless a child was born with it.
		st.ran = st.ran || s.Version > 1 || st.manifest.Parent.IsZero()
	}
	if st.controlAt.version > 0 {
		return nil
	}
	for i, d := range slices.Backward(s.Descriptors) {
		if !d.IsControl() {
			continue
		}
		// P4.3-5: the latest decides, whatever it says. Only a run leaves one.
		st.controlAt, st.ran = position{s.Version, i}, true
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
	return nil
}

// leftUndone is s with nothing but the records that ask for more than being in
// the log: forks, and what is meant for other sessions.
func leftUndone(id layout.SessionID, s session.Snapshot) session.Snapshot {
	s.Descriptors = slices.DeleteFunc(slices.Clone(s.Descriptors), func(d session.Descriptor) bool {
		fork := d.Fork && !d.TargetSession.IsZero()
		return !fork && !(d.IsCrossSession() && d.TargetSession != id)
	})
	return s
}

// due says what a session's state asks for: nothing (pause), or an invocation
// with that event, not before at.
type due struct {
	pause bool
	at    time.Time
	event string
}

// due decides. The three cases of a stopped session are told by what follows its
// control message (P6-5, P10-11 to P10-16): objects of any kind of snapshot end a
// stop, delivered ones among them (S6.4-3, S6.4-4, S12.3-3).
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

func (st *state) anythingAfterControl() bool { return st.last.after(st.controlAt) }

// lifecycle is the event of a session that is not stopped. R-04: a session that
// no handler has run on gets start, or fork if it is a fork child (P6-4). P6-6,
// P11.2-5: neither ever comes again.
func (st *state) lifecycle() string {
	switch {
	case st.ran:
		return stream.EventNone
	case st.manifest.Parent.IsZero():
		return stream.EventStart // P6-3
	}
	return stream.EventFork // P11.2-1
}

// pushed tells whether an entry of the session's own is newly arrived.
func (st *state) pushed(at position) bool {
	switch {
	case st.unseen != nil: // F-2, P4.3-1: all that the handler has not seen yet, which is not what it committed
		return at.version > st.unseen.after && at.version != st.unseen.before
	case st.stopped(): // P4.3-1, P4.3-2
		return at.after(st.controlAt)
	case st.lifecycle() == stream.EventFork:
		return true // P11.2-2: the body that a child was made with, whatever landed on it since
	case st.checkpoint == st.version: // P4.3-3: the last delta
		return at.version == st.version
	}
	return at.version > st.checkpoint // all that came after the last run
}

// settle completes what earlier runs recorded and may not have done. It comes
// before the pause is looked at: a parent that its own fork-only run has stopped
// has to make its children all the same (P11.1-18, S11.2-3, R-22). Deliveries come
// second, since they may go to those very children.
func (r *runner) settle(ctx context.Context, st *state) error {
	if err := r.makeChildren(ctx, st); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelWrites)
	for _, s := range st.pending {
		// F-9: a crash may have come between the commit and its deliveries.
		for target, batch := range crossSession(r.id, s.Descriptors) {
			group.Go(func() error { return r.redeliver(ctx, s.Version, target, batch) })
		}
	}
	return group.Wait()
}

// makeChildren carries out the pending forks.
func (r *runner) makeChildren(ctx context.Context, st *state) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelWrites)
	for _, s := range st.pending {
		for _, d := range s.Descriptors {
			if !d.Fork {
				continue
			}
			// P11.1-4, P11.1-5, S11.2-1: every pending fork, before any Input is sent.
			group.Go(func() error {
				err := r.Repo.Materialise(ctx, st.manifest, s.Version, d)
				if errors.Is(err, layout.ErrUnplaceable) {
					// F-16: whoever wrote this record, no run can ever carry it out.
					r.Report(fmt.Sprintf("session %s, version %d: %v", r.id, s.Version, err))
					return nil
				}
				return err
			})
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
