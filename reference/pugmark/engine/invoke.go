package engine

import (
	"context"
	"errors"
	"fmt"
	"io"

	"go.opentelemetry.io/otel/trace"

	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/stream"
	"github.com/pugcheck/pugcheck/reference/pugmark/transport"
)

// outcome is what an invocation led to.
type outcome struct {
	done    bool      // the handler succeeded and what it asked for the session is committed
	version uint32    // the session's version afterwards
	stopped bool      // the commit stopped the session
	unseen  *interval // versions of others between those that the handler saw and its commit
}

// invoke runs the handler once on st and commits what it produced. Until the
// handler has succeeded nothing but blobs is written (P2.1-8, P16-9).
func (r *runner) invoke(ctx context.Context, st *state, event string) (outcome, error) {
	handler, err := r.Handlers.For(st.manifest)
	if err != nil {
		return outcome{}, err
	}
	span := r.startHandler(ctx, st)
	defer span.End() // where it does not come as far as the handler
	servers, err := r.Servers(r.servedFor(span, r.objects()), r.servedFor(span, r.memory()))
	if err != nil {
		return outcome{}, fmt.Errorf("serve bodies: %w", err)
	}
	defer servers.Close()

	given := r.contextFor(span)
	out := r.newOutputs(ctx)
	defer out.cancel()
	err = handler.Invoke(trace.ContextWithSpan(out.ctx, span), transport.Invocation{
		Identity: transport.Identity{
			Session:     r.id.String(),
			Agent:       st.manifest.Agent,
			Version:     st.version,
			Metadata:    st.manifest.Metadata,
			TraceParent: given.Parent,
			TraceState:  given.State,
		},
		Inputs: func(ctx context.Context, w io.Writer) error {
			return r.during(ctx, spanInputs, func(ctx context.Context) error { return r.inputs(ctx, st, event, servers, w) })
		},
		Outputs: out.read,
	})
	if err != nil {
		if cause := out.abandon(); cause != nil && errors.Is(err, context.Canceled) {
			err = cause // the handler was only ended because of it
		}
		note(span, err)
		return outcome{}, fmt.Errorf("session %s, version %d: invocation failed, nothing is committed: %w", r.id, st.version, err)
	}
	span.End()
	return r.commit(ctx, st, event, out)
}

// commit makes the invocation's outcome part of the session, in one write: entries,
// fork records (S11.1-3), records for other sessions (S12.1-2) and the control message
// (P9-5). P11.1-3, S11.1-4: the children are left to the next run.
func (r *runner) commit(ctx context.Context, st *state, event string, out *outputs) (outcome, error) {
	// Here the handler has ended: what is missing before the commit goes together
	// with the uploads that are still under way.
	control := out.control(event)
	var message session.Descriptor
	if control != nil {
		out.uploads.Go(func() (err error) {
			message, err = out.storeControl(*control)
			return err
		})
	}
	work := len(out.entries) > 0 || control != nil
	if work || len(out.memory) > 0 {
		// S9.1-4, S14.1-2: the name may have gone to another session while the
		// handler ran; then memory is not written either.
		out.uploads.Go(func() error { return r.Repo.CheckRef(out.ctx, st.manifest) })
	}
	// S7-3, P11.1-2, S11.1-1: every blob before the snapshot that names it.
	if err := out.uploads.Wait(); err != nil {
		return outcome{}, fmt.Errorf("session %s, version %d: nothing is committed: %w", r.id, st.version, err)
	}
	if err := ctx.Err(); err != nil {
		return outcome{}, fmt.Errorf("session %s, version %d: nothing is committed: %w", r.id, st.version, err)
	}
	// From here on an interruption would leave half of it.
	ctx = context.WithoutCancel(ctx)

	if !work {
		// P16-6: no output, no change. P8.4-8, P8.4-9, R-27: memory alone is no
		// session work.
		return outcome{done: true, version: st.version}, r.writeMemory(ctx, out, st.version, 0)
	}
	commit := session.Commit{Session: r.id, Base: st.version, Type: session.Checkpoint}
	for _, d := range out.entries {
		commit.Descriptors = append(commit.Descriptors, *d)
	}
	if control != nil {
		commit.Descriptors = append(commit.Descriptors, message) // P10-9, R-32: behind all else
	}
	committed, err := within(ctx, r, spanCommit, func(ctx context.Context) (session.Committed, error) {
		return r.Repo.Commit(ctx, commit)
	})
	if err != nil {
		return outcome{}, err // S14.2-5: of a run that lost nothing remains but blobs
	}
	result := outcome{
		done:    true,
		version: committed.Version,
		stopped: control != nil && control.Status == session.StatusStopped,
	}
	if len(committed.Merged) > 0 {
		result.unseen = &interval{after: st.version, before: committed.Version}
	}
	// memory follows the commit. S12.2-1: so do deliveries.
	return result, errors.Join(
		r.writeMemory(ctx, out, committed.Version, committed.Transaction),
		r.deliver(ctx, out, committed.Version, committed.Descriptors))
}

// control is the control message that the invocation ends with, or nil. P9-4: it is
// made here and nowhere else. P9-6, P10-21: stopped for a pause, or for forks that
// nothing stands beside. P10-22, P12-9, S12.3-4: a record for another session is
// enough to go on.
func (o *outputs) control(event string) *session.Control {
	switch {
	case o.pause != nil: // P10-8
		return &session.Control{Status: session.StatusStopped}
	case len(o.entries) == 0:
		return nil
	case o.forks == len(o.entries): // P10-20, R-39
		return &session.Control{Status: session.StatusStopped}
	case event == stream.EventWake: // the stop is over
		return &session.Control{Status: session.StatusRunning}
	}
	return nil
}

// storeControl completes the control message and stores it as the blob that it
// is like every other object of a log (S7-2).
func (o *outputs) storeControl(control session.Control) (session.Descriptor, error) {
	if o.pause != nil {
		reason, err := o.pause.reason(o.ctx)
		if err != nil {
			return session.Descriptor{}, err
		}
		control.Reason = reason // P9-9
		if o.pause.timed {
			// P9-7, P9-8, P10-10: a time of day, counted from the commit, not from the
			// signal.
			control.StartAt = o.Clock.Now().Add(o.pause.sleep).UTC()
		}
	}
	body, err := control.Encode()
	if err != nil {
		return session.Descriptor{}, err
	}
	return o.Repo.PutBlob(o.ctx, body, session.Media{ContentType: session.ControlType})
}
