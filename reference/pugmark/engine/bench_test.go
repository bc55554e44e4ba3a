package engine

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/mem"
	"github.com/pugcheck/pugcheck/reference/pugmark/stream"
	"github.com/pugcheck/pugcheck/reference/pugmark/transport"
)

// distantStore answers each request after a delay, and counts them.
type distantStore struct {
	store.Store
	delay    time.Duration
	requests atomic.Int64
}

func (d *distantStore) travel() {
	d.requests.Add(1)
	if d.delay > 0 {
		time.Sleep(d.delay)
	}
}

func (d *distantStore) Open(ctx context.Context, key string) (io.ReadCloser, store.Attributes, error) {
	d.travel()
	return d.Store.Open(ctx, key)
}

func (d *distantStore) Put(ctx context.Context, key string, body io.ReadSeeker, o store.PutOptions) (string, error) {
	d.travel()
	return d.Store.Put(ctx, key, body, o)
}

func (d *distantStore) List(ctx context.Context, prefix string, o store.ListOptions) (store.Page, error) {
	d.travel()
	return d.Store.List(ctx, prefix, o)
}

// drain is a handler that reads everything and says what it is told to.
type drain struct{ output string }

func (d drain) Invoke(ctx context.Context, inv transport.Invocation) error {
	if err := inv.Inputs(ctx, io.Discard); err != nil {
		return err
	}
	return inv.Outputs(ctx, strings.NewReader(d.output))
}

// seed lays out a session of n snapshots with three entries each, every second
// one of which is inlined.
func seed(b *testing.B, s store.Store, n int) session.Manifest {
	b.Helper()
	repo := session.New(s, session.Options{})
	m, err := repo.Create(b.Context(), session.Manifest{})
	if err != nil {
		b.Fatal(err)
	}
	small := session.Describe([]byte(strings.Repeat("s", 200)))
	large := session.Describe([]byte(strings.Repeat("l", stream.InlineLimit+1)))
	for i := range n {
		c := session.Commit{Session: m.Session, Base: uint32(i), Type: session.Checkpoint, Descriptors: []session.Descriptor{small, large, small}}
		for j := range c.Descriptors {
			c.Descriptors[j].Name, c.Descriptors[j].ContentType = fmt.Sprintf("entry-%d-%d", i, j), "text/plain"
		}
		if _, err := repo.Commit(b.Context(), c); err != nil {
			b.Fatal(err)
		}
	}
	return m
}

// BenchmarkInvocation runs a session of 50 snapshots whose handler makes 20
// outputs, with 30 ms on every request. Round trips is the time of the run in
// units of that delay: how many requests had to wait for one another.
func BenchmarkInvocation(b *testing.B) {
	var output strings.Builder
	for i := range 20 {
		output.WriteString(out(fmt.Sprint("output ", i), named("n")))
	}
	for b.Loop() {
		b.StopTimer()
		s := &distantStore{Store: mem.New()}
		m := seed(b, s, 50)
		s.requests.Store(0)
		s.delay = 30 * time.Millisecond
		repo := session.New(s, session.Options{Parallel: 64})
		b.StartTimer()
		started := time.Now()
		_, err := Run(b.Context(), Config{Repo: repo, Handlers: Handlers{Default: drain{output.String()}}}, m.Session)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(time.Since(started))/float64(s.delay), "round-trips")
		b.ReportMetric(float64(s.requests.Load()), "requests")
	}
}

// BenchmarkReplay compares replaying a log of 10,000 snapshots, 16 at a time, with
// a bare loop that gets the same objects with 16 workers.
func BenchmarkReplay(b *testing.B) {
	const snapshots, parallel = 10_000, 16
	s := &distantStore{Store: mem.New()}
	m := seed(b, s, snapshots)
	path, err := m.Session.Path()
	if err != nil {
		b.Fatal(err)
	}
	s.delay = time.Millisecond
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			var next atomic.Uint32
			var workers sync.WaitGroup
			for range parallel {
				workers.Go(func() {
					for v := next.Add(1); v <= snapshots; v = next.Add(1) {
						if _, _, err := store.Get(b.Context(), s, path.Snapshot(v)); err != nil {
							b.Error(err)
						}
					}
				})
			}
			workers.Wait()
		}
		b.ReportMetric(snapshots*float64(b.N)/b.Elapsed().Seconds(), "snapshots/s")
	})
	replay := func(b *testing.B) {
		for b.Loop() {
			peak := watchHeap()
			repo := session.New(s, session.Options{Parallel: parallel})
			if _, err := Run(b.Context(), Config{Repo: repo, Handlers: Handlers{Default: drain{}}}, m.Session); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(peak())/(1<<20), "peak-MiB")
		}
		b.ReportMetric(snapshots*float64(b.N)/b.Elapsed().Seconds(), "snapshots/s")
	}
	b.Run("never paused", replay)
	body, err := session.Control{Status: session.StatusRunning}.Encode()
	if err != nil {
		b.Fatal(err)
	}
	control := session.Describe(body)
	control.ContentType = session.ControlType
	commit := session.Commit{Session: m.Session, Base: snapshots, Type: session.Checkpoint, Descriptors: []session.Descriptor{control}}
	if _, err := session.New(s, session.Options{}).Commit(b.Context(), commit); err != nil {
		b.Fatal(err)
	}
	b.Run("paused lately", replay)
}

// watchHeap samples the heap until the returned function is called, which gives
// how far it grew.
func watchHeap() (peak func() uint64) {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	base, top := m.HeapAlloc, m.HeapAlloc
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		var m runtime.MemStats
		for {
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
				runtime.ReadMemStats(&m)
				top = max(top, m.HeapAlloc)
			}
		}
	}()
	return func() uint64 {
		close(done)
		<-stopped
		return top - base
	}
}
