package session_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/mem"
)

var ctx = context.Background()

// tampered is a store under the test's control: it notes each request, and asks hook before it applies one.
type tampered struct {
	store.Store
	mu       sync.Mutex
	requests []string
	hook     func(request string) verdict
}

// verdict says what becomes of a request.
type verdict int

const (
	pass verdict = iota
	fail         // not applied, and reported as an error of unknown outcome
	lose         // applied, and reported as an error of unknown outcome
	loseThenRetry
)

var errOutcomeUnknown = errors.New("connection reset")

func (s *tampered) note(verb, key string) verdict {
	request := verb + " " + key
	s.mu.Lock()
	s.requests = append(s.requests, request)
	hook := s.hook
	s.mu.Unlock()
	if hook == nil {
		return pass
	}
	return hook(request)
}

// since gives the requests after the first n, with the session's path shortened.
func (s *tampered) since(n int) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests[n:])
}

func (s *tampered) Open(ctx context.Context, key string) (io.ReadCloser, store.Attributes, error) {
	if s.note("GET", key) != pass {
		return nil, store.Attributes{}, errOutcomeUnknown
	}
	return s.Store.Open(ctx, key)
}

func (s *tampered) Head(ctx context.Context, key string) (store.Attributes, error) {
	if s.note("HEAD", key) != pass {
		return store.Attributes{}, errOutcomeUnknown
	}
	return s.Store.Head(ctx, key)
}

func (s *tampered) Put(ctx context.Context, key string, body io.ReadSeeker, options store.PutOptions) (string, error) {
	switch s.note("PUT", key) {
	case fail:
		return "", errOutcomeUnknown
	case lose:
		s.Store.Put(ctx, key, body, options)
		return "", errOutcomeUnknown
	case loseThenRetry:
		s.Store.Put(ctx, key, body, options)
	}
	return s.Store.Put(ctx, key, body, options)
}

func (s *tampered) Delete(ctx context.Context, key string, options store.DeleteOptions) error {
	if s.note("DELETE", key) != pass {
		return errOutcomeUnknown
	}
	return s.Store.Delete(ctx, key, options)
}

func (s *tampered) List(ctx context.Context, prefix string, options store.ListOptions) (store.Page, error) {
	if s.note("LIST", prefix) != pass {
		return store.Page{}, errOutcomeUnknown
	}
	return s.Store.List(ctx, prefix, options)
}

// bench is a bucket with a Repo over it, and a second one that stands for another process.
type bench struct {
	t     *testing.T
	store *tampered
	repo  *session.Repo
}

func setUp(t *testing.T) *bench {
	s := &tampered{Store: mem.New()}
	return &bench{t: t, store: s, repo: session.New(s, session.Options{})}
}

// other gives a Repo that remembers nothing and whose requests are neither noted nor tampered with.
func (b *bench) other() *session.Repo { return session.New(b.store.Store, session.Options{}) }

// fresh gives a Repo that remembers nothing and whose requests are noted.
func (b *bench) fresh() *session.Repo { return session.New(b.store, session.Options{}) }

func (b *bench) before(request string, act func()) {
	var once sync.Once
	b.store.hook = func(r string) verdict {
		if strings.HasPrefix(r, request) {
			once.Do(act)
		}
		return pass
	}
}

// meet decides the fate of the first request that starts with the text.
func (b *bench) meet(request string, v verdict) {
	var done atomic.Bool
	b.store.hook = func(r string) verdict {
		if strings.HasPrefix(r, request) && !done.Swap(true) {
			return v
		}
		return pass
	}
}

func (b *bench) create(m session.Manifest) session.Manifest {
	b.t.Helper()
	return must(b.other().Create(ctx, m))(b.t)
}

// commit adds a snapshot by another process: one entry for each body.
func (b *bench) commit(id layout.SessionID, t session.SnapshotType, bodies ...string) session.Snapshot {
	b.t.Helper()
	repo := b.other()
	latest := must(repo.Latest(ctx, id))(b.t)
	return must(repo.Commit(ctx, session.Commit{Session: id, Base: latest, Type: t, Descriptors: entries(bodies...)}))(b.t).Snapshot
}

func entries(bodies ...string) []session.Descriptor {
	var out []session.Descriptor
	for _, body := range bodies {
		out = append(out, session.Describe([]byte(body)))
	}
	return out
}

// log gives a session's whole log as another process reads it: number, colon, body.
func (b *bench) log(id layout.SessionID) []string {
	b.t.Helper()
	repo := b.other()
	latest := must(repo.Latest(ctx, id))(b.t)
	var out []string
	for e, err := range repo.Log(ctx, id, latest) {
		if err != nil {
			b.t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%d:%s", e.Descriptor.SequenceNumber, e.Descriptor.Data))
	}
	return out
}

func (b *bench) wantLog(id layout.SessionID, want ...string) {
	b.t.Helper()
	if got := b.log(id); !slices.Equal(got, want) {
		b.t.Errorf("log of session %s: %q, want %q", id, got, want)
	}
}

func (b *bench) path(id layout.SessionID) layout.SessionPath {
	b.t.Helper()
	return must(id.Path())(b.t)
}

func (b *bench) exists(key string) bool {
	b.t.Helper()
	_, err := b.store.Store.Head(ctx, key)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		b.t.Fatal(err)
	}
	return err == nil
}

// write stores an object by hand.
func (b *bench) write(key string, body []byte, attrs store.Attributes) {
	b.t.Helper()
	must(store.PutBytes(ctx, b.store.Store, key, body, store.PutOptions{Attributes: attrs}))(b.t)
}

func (b *bench) newID() layout.SessionID {
	b.t.Helper()
	return must(b.repo.NewSessionID())(b.t)
}

// must ends the test on an error: must(f())(t).
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func wantError(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error %v, want %v", err, want)
	}
}

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
