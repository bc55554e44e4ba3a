package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
)

// writeMemory writes the invocation's memory outputs, one version per namespace.
// version is the snapshot that was committed, or run against where there was
// nothing to commit; transaction is that commit's, or 0 (S8.2-4, S8.2-5).
func (r *runner) writeMemory(ctx context.Context, out *outputs, version uint32, transaction uint64) error {
	if len(out.memory) == 0 {
		return nil
	}
	if transaction == 0 {
		var err error
		if transaction, err = r.Repo.NewTransaction(); err != nil {
			return err
		}
	}
	writer := session.Envelope{Session: r.id, Version: version, Transaction: transaction}
	return eachOf(out.memory, func(namespace string, placed []*session.Descriptor) error {
		objects := make([]session.Descriptor, len(placed))
		for i, d := range placed {
			objects[i] = *d
		}
		_, err := within(ctx, r, spanMemory, func(ctx context.Context) (uint32, error) {
			return r.Repo.WriteMemory(ctx, namespace, objects, writer)
		}, keyNamespace.String(namespace))
		return err
	})
}

// deliver sends the cross-session records of the snapshot just committed, one
// batch per target (S12.2-2). R-30: the commit stays when a target is missing, and
// the other targets get theirs.
func (r *runner) deliver(ctx context.Context, out *outputs, version uint32, committed []session.Descriptor) error {
	return eachOf(crossSession(r.id, committed), func(target layout.SessionID, batch []session.Descriptor) error {
		_, err := r.send(ctx, session.Delivery{
			Writer: r.id, Version: version, Target: target, Descriptors: batch, Seen: out.seen(target),
		})
		if err != nil {
			return fmt.Errorf("session %s, version %d is committed, but: %w", r.id, version, err)
		}
		return nil
	})
}

// redeliver makes up for a delivery that a crash prevented. The run that should
// have made it has reported a missing target already.
func (r *runner) redeliver(ctx context.Context, version uint32, target layout.SessionID, batch []session.Descriptor) error {
	delivered, err := r.send(ctx, session.Delivery{Writer: r.id, Version: version, Target: target, Descriptors: batch})
	switch {
	case errors.Is(err, session.ErrSessionNotFound), errors.Is(err, layout.ErrUnplaceable):
		r.Report(fmt.Sprintf("session %s, version %d: %v", r.id, version, err))
		return nil
	case delivered:
		r.Report(fmt.Sprintf("session %s: delivered to session %s what version %d had left undelivered", r.id, target, version))
	}
	return err
}

// send is Repo.Deliver within a span.
func (r *runner) send(ctx context.Context, d session.Delivery) (delivered bool, err error) {
	return within(ctx, r, spanDeliver, func(ctx context.Context) (bool, error) {
		return r.Repo.Deliver(ctx, d)
	}, keyVersion.Int64(int64(d.Version)), keyTarget.String(d.Target.String()))
}

// eachOf calls do for every key, all at the same time, and joins the errors.
func eachOf[K comparable, V any](values map[K]V, do func(K, V) error) error {
	var (
		calls sync.WaitGroup
		mu    sync.Mutex
		errs  []error
	)
	for key, value := range values {
		calls.Go(func() {
			if err := do(key, value); err != nil {
				mu.Lock()
				defer mu.Unlock()
				errs = append(errs, err)
			}
		})
	}
	calls.Wait()
	return errors.Join(errs...)
}
