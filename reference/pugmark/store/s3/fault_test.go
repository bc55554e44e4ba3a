package s3_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// fault answers one request in place of the server; it may apply the request first, by calling next.
type fault func(w http.ResponseWriter, r *http.Request, next http.Handler)

// answer refuses a request without applying it.
func answer(status int, code string) fault {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		io.WriteString(w, "<Error><Code>"+code+"</Code><Message>fault</Message></Error>")
	}
}

// lose applies a request and then breaks the connection.
func lose(w http.ResponseWriter, r *http.Request, next http.Handler) {
	next.ServeHTTP(httptest.NewRecorder(), r)
	panic(http.ErrAbortHandler)
}

// drop breaks the connection without applying the request.
func drop(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }

// faulty is a server that meets its first requests with faults; it counts the requests of each method.
type faulty struct {
	mu     sync.Mutex
	faults []fault
	seen   map[string]int
	next   http.Handler
}

func (f *faulty) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.seen[r.Method]++
	var now fault
	if len(f.faults) > 0 {
		now, f.faults = f.faults[0], f.faults[1:]
	}
	f.mu.Unlock()
	if now != nil {
		now(w, r, f.next)
		return
	}
	f.next.ServeHTTP(w, r)
}

func (f *faulty) meet(faults ...fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = faults
}

func (f *faulty) count(method string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seen[method]
}

func startFaulty(t *testing.T) (*faulty, store.Store) {
	t.Helper()
	setCredentials(t)
	backend := s3mem.New()
	if err := backend.CreateBucket("bucket"); err != nil {
		t.Fatal(err)
	}
	f := &faulty{seen: map[string]int{}, next: gofakes3.New(backend).Server()}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return f, open(t, server.URL, "bucket")
}

// What passes is waited out, for every kind of request.
func TestPassingFaults(t *testing.T) {
	ctx := context.Background()
	passing := []fault{answer(500, "InternalError"), answer(503, "SlowDown"), drop}
	f, s := startFaulty(t)
	f.meet(passing...)
	if _, err := store.PutBytes(ctx, s, "refs/x", []byte("body"), store.PutOptions{IfAbsent: true}); err != nil {
		t.Fatalf("put: %v", err)
	}
	f.meet(passing...)
	if body, _, err := store.Get(ctx, s, "refs/x"); err != nil || string(body) != "body" {
		t.Fatalf("get: %q, %v", body, err)
	}
	f.meet(passing...)
	if page, err := s.List(ctx, "refs/", store.ListOptions{}); err != nil || !slices.Equal(page.Keys, []string{"refs/x"}) {
		t.Fatalf("list: %q, %v", page.Keys, err)
	}
	f.meet(passing...)
	if err := s.Delete(ctx, "refs/x", store.DeleteOptions{}); err != nil {
		t.Fatalf("delete: %v", err)
	}
}

// S3 asks for another try of a conditional write that raced with another one; it says nothing about the key.
func TestConditionalRequestConflictIsRepeated(t *testing.T) {
	f, s := startFaulty(t)
	f.meet(answer(409, "ConditionalRequestConflict"), answer(409, "ConditionalRequestConflict"))
	if _, err := store.PutBytes(context.Background(), s, "sessions/x", nil, store.PutOptions{IfAbsent: true}); err != nil {
		t.Fatal(err)
	}
	if n := f.count("PUT"); n != 3 {
		t.Errorf("%d PUTs were sent, want 3", n)
	}
}

// S13.2-3: whether ErrExists is one's own lost success is for the caller to find out, from what is stored.
func TestLostAnswerOfCreate(t *testing.T) {
	ctx := context.Background()
	f, s := startFaulty(t)
	f.meet(lose)
	options := store.PutOptions{IfAbsent: true}
	options.Metadata = map[string]string{"pugmark-transaction-id": "7"}
	if _, err := store.PutBytes(ctx, s, "sessions/x", []byte("mine"), options); !errors.Is(err, store.ErrExists) {
		t.Fatalf("error %v, want %v", err, store.ErrExists)
	}
	if body, attrs, err := store.Get(ctx, s, "sessions/x"); err != nil || string(body) != "mine" || attrs.Metadata["pugmark-transaction-id"] != "7" {
		t.Fatalf("get: %q, %+v, %v", body, attrs, err)
	}
}

// What does not pass ends at once or after a bounded number of tries, and says why.
func TestLastingFaults(t *testing.T) {
	ctx := context.Background()
	f, s := startFaulty(t)
	f.meet(answer(403, "AccessDenied"))
	_, err := store.PutBytes(ctx, s, "refs/x", nil, store.PutOptions{IfAbsent: true})
	if err == nil || errors.Is(err, store.ErrExists) || !strings.Contains(err.Error(), "AccessDenied") || !strings.Contains(err.Error(), "s3://bucket/refs/x") {
		t.Errorf("put without access: error %v", err)
	}
	if n := f.count("PUT"); n != 1 {
		t.Errorf("%d PUTs were sent, want 1", n)
	}
	f.meet(answer(400, "BadDigest"))
	var sum [32]byte
	if _, err := store.PutBytes(ctx, s, "objects/x", nil, store.PutOptions{SHA256: &sum}); !errors.Is(err, store.ErrChecksum) {
		t.Errorf("put with a wrong checksum: error %v, want %v", err, store.ErrChecksum)
	}
	cancelled, cancel := context.WithCancel(ctx)
	f.meet(slices.Repeat([]fault{func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		cancel()
		answer(503, "SlowDown")(w, r, next)
	}}, 3)...)
	if _, err := s.Head(cancelled, "refs/x"); !errors.Is(err, context.Canceled) {
		t.Errorf("head, cancelled while waiting: error %v, want %v", err, context.Canceled)
	}
}

// AWS_MAX_ATTEMPTS bounds the tries, as in other programs that use S3.
func TestTriesAreBoundedByTheEnvironment(t *testing.T) {
	t.Setenv("AWS_MAX_ATTEMPTS", "2")
	f, s := startFaulty(t)
	f.meet(slices.Repeat([]fault{answer(503, "SlowDown")}, 3)...)
	if _, err := s.Head(context.Background(), "refs/x"); err == nil || errors.Is(err, store.ErrNotFound) {
		t.Errorf("error %v, want that of the server", err)
	}
	if n := f.count("HEAD"); n != 2 {
		t.Errorf("%d requests were sent, want 2", n)
	}
}

// A missing bucket is told apart from a missing object.
func TestNoBucket(t *testing.T) {
	ctx := context.Background()
	f, _ := startFaulty(t)
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	s := open(t, server.URL, "absent")
	if _, err := s.List(ctx, "sessions/", store.ListOptions{Max: 1}); !errors.Is(err, store.ErrNoBucket) {
		t.Errorf("list: error %v, want %v", err, store.ErrNoBucket)
	}
	if _, _, err := s.Open(ctx, "sessions/x"); !errors.Is(err, store.ErrNoBucket) || errors.Is(err, store.ErrNotFound) {
		t.Errorf("open: error %v, want %v", err, store.ErrNoBucket)
	}
	if _, err := store.PutBytes(ctx, s, "sessions/x", nil, store.PutOptions{IfAbsent: true}); !errors.Is(err, store.ErrNoBucket) {
		t.Errorf("put: error %v, want %v", err, store.ErrNoBucket)
	}
}
