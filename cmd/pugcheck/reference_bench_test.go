package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pugcheck/pugcheck/reference/pugmark/engine"
	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/s3"
	"github.com/pugcheck/pugcheck/reference/pugmark/transport"
)

// The benchmarks of the reference runtime stand here because they need the fake
// S3, which the reference may not know. docs/performance.md explains them.

// replaySession is the process that replays a session with as many requests in
// flight as those of getLoop.
func replaySession(text string) error {
	id, err := layout.ParseSessionID(text)
	if err != nil {
		return err
	}
	s, err := s3.Open(context.Background(), s3.Config{Bucket: benchBucketName})
	if err != nil {
		return err
	}
	_, err = engine.Run(context.Background(), engine.Config{
		Repo:     session.New(s, session.Options{Parallel: benchWorkers}),
		Handlers: engine.Handlers{Default: &transport.Process{Args: []string{"sh", "-c", "exec cat >/dev/null"}}},
	}, id)
	return err
}

// benchWorkers is how many requests are in flight where processes are compared.
const benchWorkers = 16

// BenchmarkReplay replays a session of 10,000 snapshots to a handler that reads
// and forgets it, beside processes that get the same objects with 16 workers
// and do nothing with them: once through the reference's S3 client, once by bare
// net/http.
func BenchmarkReplay(b *testing.B) {
	const snapshots = 10_000
	for _, paused := range []bool{false, true} {
		b.Run(map[bool]string{false: "never-paused", true: "paused-lately"}[paused], func(b *testing.B) {
			bucket := newBenchBucket(b)
			id := bucket.seedLog(snapshots, paused)
			var client, bare, replay time.Duration
			var peak int64
			for b.Loop() {
				d, _ := bucket.process("getloop", "client", id.String(), strconv.Itoa(snapshots))
				client += d
				d, rss := bucket.process("replay", id.String())
				replay, peak = replay+d, max(peak, rss)
				d, _ = bucket.process("getloop", "bare", id.String(), strconv.Itoa(snapshots))
				bare += d
			}
			b.ReportMetric(snapshots*float64(b.N)/replay.Seconds(), "snapshots/s")
			b.ReportMetric(100*client.Seconds()/replay.Seconds(), "%-of-client-loop")
			b.ReportMetric(100*bare.Seconds()/replay.Seconds(), "%-of-bare-loop")
			b.ReportMetric(float64(peak)/(1<<20), "peak-MiB")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// getLoop is the process that BenchmarkReplay compares with.
func getLoop(kind, session, snapshots string) error {
	n, err := strconv.Atoi(snapshots)
	if err != nil {
		return err
	}
	id, err := layout.ParseSessionID(session)
	if err != nil {
		return err
	}
	path, err := id.Path()
	if err != nil {
		return err
	}
	ctx := context.Background()
	get := func(key string) (io.ReadCloser, error) {
		resp, err := getLoopClient.Get(os.Getenv("AWS_ENDPOINT_URL") + "/" + benchBucketName + "/" + key)
		if err != nil {
			return nil, err
		}
		if resp.StatusCode != http.StatusOK {
			return nil, errors.New(resp.Status)
		}
		return resp.Body, nil
	}
	if kind == "client" {
		s, err := s3.Open(ctx, s3.Config{Bucket: benchBucketName})
		if err != nil {
			return err
		}
		get = func(key string) (io.ReadCloser, error) {
			body, _, err := s.Open(ctx, key)
			return body, err
		}
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	var failure atomic.Pointer[error]
	for range benchWorkers {
		wg.Go(func() {
			for v := next.Add(1); v <= int64(n); v = next.Add(1) {
				body, err := get(path.Snapshot(uint32(v)))
				if err == nil {
					_, err = io.Copy(io.Discard, body)
					body.Close()
				}
				if err != nil {
					failure.Store(&err)
				}
			}
		})
	}
	wg.Wait()
	if err := failure.Load(); err != nil {
		return *err
	}
	return nil
}

var getLoopClient = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: benchWorkers, DisableCompression: true}}

const benchDelay = 30 * time.Millisecond

// BenchmarkInvocation runs a session of 50 snapshots whose handler makes 20
// outputs, with 30 ms on every request, as a process of its own and as a further
// invocation of a process that knows the log.
func BenchmarkInvocation(b *testing.B) {
	var output strings.Builder
	for i := range 20 {
		output.WriteString(fmt.Sprintf(`{"name":"n%d","data":"b3V0cHV0%04d"}`+"\n", i, i))
	}
	file := filepath.Join(b.TempDir(), "outputs")
	if err := os.WriteFile(file, []byte(output.String()), 0o666); err != nil {
		b.Fatal(err)
	}
	handler := []string{"sh", "-c", "cat >/dev/null; cat " + file}

	b.Run("process", func(b *testing.B) {
		bucket := newBenchBucket(b)
		bucket.far(benchDelay)
		var took, alone time.Duration
		fewest := math.MaxInt
		for b.Loop() {
			id := bucket.seedLog(50, false)
			before := len(bucket.server.Requests())
			d, _ := bucket.run(id, handler...)
			took += d
			bucket.report(before, &fewest)
			alone += bucket.handlerAlone(handler)
		}
		b.ReportMetric(float64((took-alone).Milliseconds())/float64(b.N), "ms-beside-handler")
		b.ReportMetric(0, "ns/op")
	})
	b.Run("warm", func(b *testing.B) {
		bucket := newBenchBucket(b)
		bucket.far(benchDelay)
		var took, alone time.Duration
		fewest := math.MaxInt
		for b.Loop() {
			id := bucket.seedLog(50, false)
			s, err := s3.Open(b.Context(), s3.Config{Bucket: benchBucketName})
			if err != nil {
				b.Fatal(err)
			}
			config := engine.Config{
				Repo:     session.New(s, session.Options{Parallel: replayParallel}),
				Handlers: engine.Handlers{Default: &transport.Process{Args: handler}},
			}
			if _, err := engine.Run(b.Context(), config, id); err != nil {
				b.Fatal(err)
			}
			pushed := session.New(s, session.Options{})
			if _, err := pushed.Push(b.Context(), id, session.Provisional, session.Describe([]byte("x"))); err != nil {
				b.Fatal(err)
			}
			before := len(bucket.server.Requests())
			started := time.Now()
			if _, err := engine.Run(b.Context(), config, id); err != nil {
				b.Fatal(err)
			}
			took += time.Since(started)
			bucket.report(before, &fewest)
			alone += bucket.handlerAlone(handler)
		}
		b.ReportMetric(float64((took-alone).Milliseconds())/float64(b.N), "ms-beside-handler")
		b.ReportMetric(0, "ns/op")
	})
}

// handlerAlone is how long the handler takes without a runtime.
func (b *benchBucket) handlerAlone(handler []string) time.Duration {
	b.Helper()
	started := time.Now()
	if err := exec.Command(handler[0], handler[1:]...).Run(); err != nil {
		b.Fatal(err)
	}
	return time.Since(started)
}

// report counts the requests after the first n. A busy machine stretches the
// chain of those that waited for one another, so the shortest one counts; fewest
// is that of the runs before.
func (b *benchBucket) report(n int, fewest *int) {
	requests := b.since(n)
	if os.Getenv("BENCH_REQUESTS") != "" {
		for _, r := range requests {
			b.Logf("%s to %s: %s", r.Arrived.Format("05.000"), r.Answered.Format("05.000"), r)
		}
	}
	b.ReportMetric(float64(len(requests)), "requests")
	*fewest = min(*fewest, roundTrips(requests))
	b.ReportMetric(float64(*fewest), "round-trips")
}

// BenchmarkLargeBody takes a body of 1 GiB in by a uri, and serves it to the next
// handler.
func BenchmarkLargeBody(b *testing.B) {
	const size = 1 << 30
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(size))
		chunk := make([]byte, 1<<20)
		for i := range size / len(chunk) {
			copy(chunk, strconv.Itoa(i))
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}))
	defer source.Close()
	bucket := newBenchBucket(b)
	var in, out time.Duration
	var peakIn, peakOut int64
	for b.Loop() {
		id := bucket.seedLog(1, false)
		took, rss := bucket.run(id, "sh", "-c", `cat >/dev/null; echo '{"uri":"`+source.URL+`"}'`)
		in, peakIn = in+took, max(peakIn, rss)
		took, rss = bucket.run(id, "sh", "-c", `exec "`+bucket.role("fetchlast")+`"`)
		out, peakOut = out+took, max(peakOut, rss)
	}
	b.ReportMetric(float64(peakIn)/(1<<20), "peak-MiB-in")
	b.ReportMetric(float64(peakOut)/(1<<20), "peak-MiB-out")
	b.ReportMetric(size*float64(b.N)/in.Seconds()/(1<<20), "MiB/s-in")
	b.ReportMetric(size*float64(b.N)/out.Seconds()/(1<<20), "MiB/s-out")
	b.ReportMetric(0, "ns/op")
}

// fetchLast is a handler that fetches the last body that it is told of, and
// wants it to have the digest that its URL names.
func fetchLast(inputs io.Reader) error {
	var last string
	for d := json.NewDecoder(inputs); ; {
		var in struct{ Event, URL string }
		err := d.Decode(&in)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if in.URL != "" && in.Event != "memory" {
			last = in.URL
		}
	}
	resp, err := http.Get(last)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, resp.Body); err != nil {
		return err
	}
	if got := fmt.Sprintf("sha256:%x", hash.Sum(nil)); !strings.HasSuffix(last, got) {
		return fmt.Errorf("%s has digest %s", last, got)
	}
	return nil
}
