package watch

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/pugcheck/pugcheck/reference/pugmark/engine"
	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/mem"
	"github.com/pugcheck/pugcheck/reference/pugmark/transport"
)

// stoppedClock stands still until the test moves it.
type stoppedClock struct {
	mu    sync.Mutex
	now   time.Time
	moved chan struct{} // closed when the clock moves
}

func (c *stoppedClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *stoppedClock) Wait(ctx context.Context, t time.Time) error {
	for {
		c.mu.Lock()
		now, moved := c.now, c.moved
		c.mu.Unlock()
		if !now.Before(t) {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (c *stoppedClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	close(c.moved)
	c.moved = make(chan struct{})
}

// countingStore counts requests by verb, and fails listings while told to.
type countingStore struct {
	store.Store
	mu     sync.Mutex
	counts map[string]int
	broken error
}

func (s *countingStore) List(ctx context.Context, prefix string, options store.ListOptions) (store.Page, error) {
	s.mu.Lock()
	s.counts["LIST"]++
	broken := s.broken
	s.mu.Unlock()
	if broken != nil {
		return store.Page{}, broken
	}
	return s.Store.List(ctx, prefix, options)
}

func (s *countingStore) Open(ctx context.Context, key string) (io.ReadCloser, store.Attributes, error) {
	s.mu.Lock()
	s.counts["GET"]++
	s.mu.Unlock()
	return s.Store.Open(ctx, key)
}

func (s *countingStore) breakListings(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = err
}

func (s *countingStore) take() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	counts := s.counts
	s.counts = map[string]int{}
	return counts
}

// rig is a bucket that is served, with handlers that the test writes.
type rig struct {
	*testing.T
	store   *countingStore
	repo    *session.Repo // of somebody outside
	clock   *stoppedClock
	config  Config
	rested  chan time.Time
	until   time.Time // nothing happens before it
	ended   chan error
	stop    context.CancelFunc
	mu      sync.Mutex
	letters map[layout.SessionID]string
	calls   []string // "letter event" of each invocation, in the order of their ends
	ran     []string
	failed  []string
	act     func(context.Context, *call) (string, error)
}

// call is an invocation.
type call struct {
	letter, event string
	version       uint32
	number        int // of the session's, from 1
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{
		T:       t,
		store:   &countingStore{Store: mem.New(), counts: map[string]int{}},
		clock:   &stoppedClock{now: time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC), moved: make(chan struct{})},
		rested:  make(chan time.Time),
		ended:   make(chan error, 1),
		letters: map[layout.SessionID]string{},
	}
	options := session.Options{Now: r.clock.Now}
	r.repo = session.New(r.store.Store, options)
	r.config = Config{
		Engine: engine.Config{
			Repo:     session.New(r.store, options),
			Clock:    r.clock,
			Handlers: engine.Handlers{Default: handler{r}},
			Report:   func(string) {},
		},
		Interval: time.Second,
		Backoff:  func() backoff.BackOff { return backoff.NewConstantBackOff(10 * time.Second) },
		Ran: func(result engine.Result) {
			r.ran = append(r.ran, fmt.Sprintf("%s %d %s", r.letters[result.Session], result.Version, result.State))
		},
		Failed: func(id layout.SessionID, err error, again time.Time) {
			when := "never"
			if !again.IsZero() {
				when = again.Sub(r.clock.Now()).String()
			}
			r.failed = append(r.failed, fmt.Sprintf("%s %s: %v", r.letters[id], when, err))
		},
	}
	return r
}

// serve starts the watcher and waits until it rests.
func (r *rig) serve() {
	r.Helper()
	ctx, stop := context.WithCancel(r.Context())
	r.stop = stop
	r.config.resting = func(until time.Time) {
		select {
		case r.rested <- until:
		case <-ctx.Done():
		}
	}
	go func() { r.ended <- Serve(ctx, r.config) }()
	r.Cleanup(func() {
		stop()
		if err := <-r.ended; err != nil {
			r.Error(err)
		}
	})
	r.rest()
}

// rest waits until nothing is left to do at this time.
func (r *rig) rest() {
	r.Helper()
	select {
	case r.until = <-r.rested:
	case err := <-r.ended:
		r.ended <- err
		r.Fatalf("the watcher has ended: %v", err)
	case <-time.After(time.Minute):
		r.Fatal("the watcher does not come to rest")
	}
}

// after moves the clock and waits until all is done that this has led to.
func (r *rig) after(d time.Duration) {
	r.Helper()
	r.clock.advance(d)
	if !r.clock.Now().Before(r.until) {
		r.rest()
	}
}

func (r *rig) create(letter string, m session.Manifest) layout.SessionID {
	r.Helper()
	m.Session = idOf(letter)
	if _, err := r.repo.Create(r.Context(), m); err != nil {
		r.Fatal(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.letters[m.Session] = letter
	return m.Session
}

func idOf(letter string) layout.SessionID {
	id := layout.SessionID{0, 7, 0x89, 0}
	id[15] = letter[0]
	return id
}

func (r *rig) push(id layout.SessionID, kind session.SnapshotType) {
	r.Helper()
	if _, err := r.repo.Push(r.Context(), id, kind, session.Describe([]byte("pushed"))); err != nil {
		r.Fatal(err)
	}
}

// took wants exactly these invocations since it was last called, in any order.
func (r *rig) took(want ...string) {
	r.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	got := r.calls
	r.calls = nil
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		r.Errorf("invocations %q, want %q", got, want)
	}
}

// failures wants failures that begin so since it was last called.
func (r *rig) failures(want ...string) {
	r.Helper()
	got := r.failed
	r.failed = nil
	if !slices.EqualFunc(got, want, strings.HasPrefix) {
		r.Errorf("failures %q, want %q", got, want)
	}
}

type handler struct{ rig *rig }

func (h handler) Invoke(ctx context.Context, inv transport.Invocation) error {
	var inputs bytes.Buffer
	if err := inv.Inputs(ctx, &inputs); err != nil {
		return err
	}
	var last struct{ Event string }
	for d := json.NewDecoder(&inputs); ; {
		last.Event = ""
		if err := d.Decode(&last); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		if !d.More() {
			break
		}
	}
	id, err := layout.ParseSessionID(inv.Session)
	if err != nil {
		return err
	}
	r := h.rig
	r.mu.Lock()
	letter := r.letters[id]
	if letter == "" {
		letter = string(rune(id[15]))
		r.letters[id] = letter
	}
	number := 1
	for _, c := range r.calls {
		if strings.HasPrefix(c, letter+" ") {
			number++
		}
	}
	r.mu.Unlock()
	out := ""
	if r.act != nil {
		out, err = r.act(ctx, &call{letter, last.Event, inv.Version, number})
	}
	r.mu.Lock()
	r.calls = append(r.calls, strings.TrimSpace(letter+" "+last.Event))
	r.mu.Unlock()
	if err != nil {
		return err
	}
	return inv.Outputs(ctx, strings.NewReader(out))
}

const entry = `{"name":"x","data":"eA=="}`

func pause(duration string) string {
	metadata := ""
	if duration != "" {
		metadata = fmt.Sprintf(`,"metadata":{"duration":%q}`, duration)
	}
	return fmt.Sprintf(`{"content-type":"application/vnd.pugmark.pause+text","data":%q%s}`,
		base64.StdEncoding.EncodeToString([]byte("enough")), metadata)
}

// emits makes every invocation produce this.
func (r *rig) emits(out string) {
	r.act = func(context.Context, *call) (string, error) { return out, nil }
}
