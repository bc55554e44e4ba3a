package engine

import (
	"context"
	"slices"
	"time"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
)

// Phase is where a session stands between two invocations, as its bucket tells.
type Phase string

const (
	// Pending: a fork child without the snapshot 1 that it is born with. The parent's run, or its next one, completes it
	// (S11.2-9); run before, its handler would not see what it was forked for.
	Pending  Phase = "pending"
	New      Phase = "new"      // no handler has run on it yet; an invocation is due
	Due      Phase = "due"      // objects that ask for an invocation have arrived, or a sleep is over
	Resting  Phase = "idle"     // a handler has run, has not stopped the session, and nothing has arrived since
	Queued   Phase = "queued"   // objects wait for the next invocation, and none of them asks for one
	Sleeping Phase = "sleeping" // stopped until Status.StartAt, unless objects arrive
	Paused   Phase = "stopped"  // stopped until objects arrive
)

// Status is a session at its latest version, seen from outside.
type Status struct {
	Manifest session.Manifest
	Version  uint32    // 0 where nothing was committed
	Entries  int64     // how many the session's own snapshots hold; what it has from parents is not counted
	Modified time.Time // when the latest version was written; zero at version 0, and where repo wrote it itself

	Phase   Phase
	StartAt time.Time // when a sleep ends or has ended; zero where the session was not put to sleep
	Reason  string    // why it was stopped

	// Forks are the fork records from the latest checkpoint on: children that the next run makes, unless they exist
	// . Messages are the sessions that records from there on are meant for, and may still wait for delivery to (F-9).
	Forks    []PendingFork
	Messages []layout.SessionID
}

// Unsettled tells whether [Settle] may have something to do.
func (s Status) Unsettled() bool { return len(s.Forks) > 0 || len(s.Messages) > 0 }

// PendingFork is a fork record that has not been overtaken by a checkpoint.
type PendingFork struct {
	Child layout.SessionID
	At    session.Pointer // the snapshot that holds the record
}

// Due tells whether somebody who watches the bucket is to invoke the handler. [Run] does more: it also invokes that of a
// session which rests or has only queued objects, for whoever calls it has a reason.
func (s Status) Due() bool { return s.Phase == New || s.Phase == Due }

// Inspect reads how a session stands. It writes nothing, and reads back no further than to the latest checkpoint.
// now is the time by which a sleep is over. session.ErrSessionNotFound.
func Inspect(ctx context.Context, repo *session.Repo, now time.Time, id layout.SessionID) (Status, error) {
	manifest, version, err := repo.Open(ctx, id)
	if err != nil {
		return Status{}, err
	}
	return InspectAt(ctx, repo, now, manifest, version)
}

// InspectAt is Inspect for a caller who knows the latest version already, from a listing.
func InspectAt(ctx context.Context, repo *session.Repo, now time.Time, manifest session.Manifest, version uint32) (Status, error) {
	r := &runner{Config: Config{Repo: repo}.withDefaults(), id: manifest.Session}
	st := &state{manifest: manifest, version: version}
	status := Status{Manifest: manifest, Version: version}
	var arrived arrivals
	// A control message further back than the latest checkpoint was followed by a run that did not stop.
	for s, err := range repo.Backward(ctx, manifest.Session, version) {
		if err == nil {
			err = r.examine(ctx, st, s)
		}
		if err != nil {
			return Status{}, err
		}
		if s.Version == version {
			status.Modified = s.Modified
		}
		if n := len(s.Descriptors); n > 0 && status.Entries == 0 {
			status.Entries = s.Descriptors[n-1].SequenceNumber - manifest.FirstSequenceNumber + 1 // S7.3-8: without a gap
		}
		if st.checkpoint > 0 {
			break
		}
		arrived.asking = arrived.asking || s.Type == session.Provisional
		arrived.queued = arrived.queued || s.Type == session.Queueing
	}
	for _, s := range slices.Backward(st.pending) {
		for _, d := range s.Descriptors {
			switch {
			case d.TargetSession == manifest.Session: // has no effect
			case d.Fork:
				status.Forks = append(status.Forks, PendingFork{d.TargetSession, session.Pointer{Session: s.Session, Version: s.Version}})
			default:
				status.Messages = append(status.Messages, d.TargetSession)
			}
		}
	}
	if st.stopped() {
		status.StartAt, status.Reason = st.control.StartAt, st.control.Reason
	}
	status.Phase = st.phase(now, arrived)
	return status, nil
}

// arrivals is what has come since the latest checkpoint: objects that ask for an invocation, and objects that do not
//
type arrivals struct{ asking, queued bool }

// phase sorts what a run would do by whether anything asks for it.
func (st *state) phase(now time.Time, arrived arrivals) Phase {
	slept := st.stopped() && !st.control.StartAt.IsZero()
	switch {
	case st.version == 0 && !st.manifest.Parent.IsZero():
		return Pending
	case !st.ran:
		return New
	case arrived.asking:
		return Due
	case slept && now.Before(st.control.StartAt): // P10-13
		return Sleeping
	case slept:
		return Due
	case arrived.queued:
		return Queued
	case st.stopped(): // P10-11
		return Paused
	}
	return Resting
}

// Settle completes what earlier runs of a session recorded and have not done, as [Run] does before anything else: it
// makes the children of pending forks and redelivers records for other sessions. It invokes no handler.
func Settle(ctx context.Context, config Config, id layout.SessionID) error {
	r := &runner{Config: config.withDefaults(), id: id}
	st, err := r.load(ctx)
	if err != nil {
		return err
	}
	return r.settle(ctx, st)
}
