package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

var errDead = errors.New("the process is dead")

// mortalStore counts requests, and is dead from one of them on: before it takes
// effect, or after it did but before its answer.
type mortalStore struct {
	store.Store
	mu      sync.Mutex
	n, last int // requests so far, and the one to die at; 0 for none
	applied bool
}

// call makes one request.
func (m *mortalStore) call(request func() error) error {
	m.mu.Lock()
	m.n++
	dying, dead := m.last > 0 && m.n == m.last, m.last > 0 && m.n >= m.last
	m.mu.Unlock()
	if dead && !(dying && m.applied) {
		return errDead
	}
	err := request()
	if dying {
		return errDead
	}
	return err
}

func (m *mortalStore) Open(ctx context.Context, key string) (body io.ReadCloser, attrs store.Attributes, err error) {
	err = m.call(func() (err error) { body, attrs, err = m.Store.Open(ctx, key); return err })
	return body, attrs, err
}

func (m *mortalStore) Head(ctx context.Context, key string) (attrs store.Attributes, err error) {
	err = m.call(func() (err error) { attrs, err = m.Store.Head(ctx, key); return err })
	return attrs, err
}

func (m *mortalStore) Put(ctx context.Context, key string, body io.ReadSeeker, o store.PutOptions) (etag string, err error) {
	err = m.call(func() (err error) { etag, err = m.Store.Put(ctx, key, body, o); return err })
	return etag, err
}

func (m *mortalStore) Delete(ctx context.Context, key string, o store.DeleteOptions) error {
	return m.call(func() error { return m.Store.Delete(ctx, key, o) })
}

func (m *mortalStore) List(ctx context.Context, prefix string, o store.ListOptions) (page store.Page, err error) {
	err = m.call(func() (err error) { page, err = m.Store.List(ctx, prefix, o); return err })
	return page, err
}

// crashScenario is a session whose handler works once, with outputs of all kinds,
// and the sessions that this touches.
type crashScenario struct {
	*rig
	child, target layout.SessionID
}

func newCrashScenario(t *testing.T) *crashScenario {
	r := newRig(t)
	r.commit(r.id, session.Checkpoint, "a")
	s := &crashScenario{rig: r, child: r.newID(), target: r.create(session.Manifest{})}
	r.commit(s.target, session.Checkpoint, "t")
	r.handler.act = func(c *call) (string, error) {
		if strings.Contains(c.told(), "done") {
			return "", nil
		}
		return out("1", named("done")) + out("2", named("f"), `"fork":true,"session":"`+s.child.String()+`"`) +
			out("3", named("x"), `"session":"`+s.target.String()+`"`) + out("4", named("memories/ns/k")), nil
	}
	return s
}

// live runs the session as often as it takes, each time in a new process, over a
// store that dies at its last-th request. It returns how many requests there were.
func (s *crashScenario) live(last int, applied bool) int {
	mortal := &mortalStore{Store: s.store.Store, last: last, applied: applied}
	for range 3 {
		config := s.config
		config.Repo = session.New(mortal, session.Options{Now: s.clock.Now})
		if _, err := Run(s.Context(), config, s.id); err != nil {
			if last == 0 || !errors.Is(err, errDead) {
				s.Error(err)
			}
			break
		}
	}
	mortal.mu.Lock() // fetches that were given up may still end
	defer mortal.mu.Unlock()
	return mortal.n
}

// state is the log of each session, without memory: that a crash behind the
// commit loses memory writes is a gap of the text (F-14).
func (s *crashScenario) state() string {
	repo := session.New(s.store.Store, session.Options{})
	var b strings.Builder
	for _, id := range []layout.SessionID{s.id, s.child, s.target} {
		m, v, err := repo.Open(s.Context(), id)
		if err != nil {
			fmt.Fprintln(&b, err)
			continue
		}
		fmt.Fprintf(&b, "%d from %d:", m.FirstSequenceNumber, m.Parent.Version)
		for e, err := range repo.Log(s.Context(), id, v) {
			if err != nil {
				s.Fatal(err)
			}
			fmt.Fprintf(&b, " %s=%d", e.Descriptor.Name, e.Descriptor.SequenceNumber)
		}
		fmt.Fprintln(&b)
	}
	return b.String()
}

// P11.1-16, S11.2-15, S12.3-2, S13.2-3, F-9: killed at any request, before or after
// it took effect, a session comes to the same state as without. Twice in a row too.
func TestCrashAtAnyRequest(t *testing.T) {
	undisturbed := newCrashScenario(t)
	requests := undisturbed.live(0, false)
	want := undisturbed.state()
	if got := "1 from 0: a=1 done=2 f=3 x=4\n5 from 2: a=1 done=2 f=3 x=4 f=5\n1 from 0: t=1 x=2\n"; want != got {
		t.Fatalf("undisturbed: %s", want)
	}
	t.Logf("%d requests", requests)
	for k := 1; k <= requests; k++ {
		for _, applied := range []bool{false, true} {
			for _, second := range []int{0, 5} {
				s := newCrashScenario(t)
				s.live(k, applied)
				if second > 0 {
					s.live(second, !applied)
				}
				s.live(0, false)
				if got := s.state(); got != want {
					t.Errorf("killed at request %d (applied: %v), then at %d: got\n%swant\n%s", k, applied, second, got, want)
				}
			}
		}
	}
}

// Two runs at the same time, over and over: nothing is lost and nothing is twice.
func TestConcurrentRuns(t *testing.T) {
	for range 20 {
		s := newCrashScenario(t)
		var runs sync.WaitGroup
		for range 4 {
			runs.Go(func() { s.live(0, false) })
		}
		for i := range 3 {
			runs.Go(func() {
				d := session.Describe([]byte("pushed"))
				d.Name = fmt.Sprint("p", i)
				repo := session.New(s.store.Store, session.Options{})
				if _, err := repo.Push(t.Context(), s.id, session.Provisional, d); err != nil {
					t.Error(err)
				}
			})
		}
		runs.Wait()
		s.live(0, false)
		state := s.state()
		own, _, _ := strings.Cut(state, "\n")
		for _, name := range []string{" done=", " f=", " x=", " p0=", " p1=", " p2="} {
			if strings.Count(own, name) != 1 {
				t.Errorf("%q is not there once:\n%s", name, state)
			}
		}
		if !strings.HasSuffix(state, ": t=1 x=2\n") {
			t.Errorf("not delivered once:\n%s", state)
		}
	}
}
