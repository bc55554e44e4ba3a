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
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pugcheck/pugcheck/harness/fakes3"
	"github.com/pugcheck/pugcheck/reference/pugmark/engine"
	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/mem"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/s3"
	"github.com/pugcheck/pugcheck/reference/pugmark/transport"
)

// The benchmarks of the reference runtime stand here because they need the fake
// S3, which the reference may not know. docs/performance.md explains them.

// benchBucket is a bucket on a fake S3, and processes that work on it.
type benchBucket struct {
	*testing.B
	server *fakes3.Server
}

const benchBucketName = "bench"

func newBenchBucket(b *testing.B) *benchBucket {
	b.Helper()
	b.Setenv("AWS_ACCESS_KEY_ID", "bench")
	b.Setenv("AWS_SECRET_ACCESS_KEY", "bench")
	b.Setenv("AWS_REGION", "us-east-1")
	server, err := fakes3.Start()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = server.Close() })
	b.Setenv("AWS_ENDPOINT_URL", server.Endpoint())
	if err := server.CreateBucket(benchBucketName); err != nil {
		b.Fatal(err)
	}
	return &benchBucket{B: b, server: server}
}

// seedLog lays out a session of n checkpoints with three entries each, two of
// them inlined. With paused the last of them ends with a control message.
func (b *benchBucket) seedLog(n int, paused bool) layout.SessionID {
	b.Helper()
	s := mem.New()
	repo := session.New(s, session.Options{})
	m, err := repo.Create(b.Context(), session.Manifest{})
	if err != nil {
		b.Fatal(err)
	}
	for i := range n {
		c := session.Commit{Session: m.Session, Base: uint32(i), Type: session.Checkpoint}
		for j, size := range []int{80, 5000, 240} {
			body := []byte(strings.Repeat(fmt.Sprintf("%d %d, ", i, j), size)[:size])
			d, err := repo.PutBlob(b.Context(), body, session.Media{ContentType: "text/plain; charset=utf-8"})
			if err != nil {
				b.Fatal(err)
			}
			d.Name = fmt.Sprintf("entry-%d-%d", i, j)
			c.Descriptors = append(c.Descriptors, d)
		}
		if paused && i == n-1 {
			c.Descriptors = append(c.Descriptors, b.control(repo, session.StatusRunning))
		}
		if _, err := repo.Commit(b.Context(), c); err != nil {
			b.Fatal(err)
		}
	}
	b.copy(s)
	return m.Session
}

func (b *benchBucket) control(repo *session.Repo, status string) session.Descriptor {
	b.Helper()
	body, err := session.Control{Status: status}.Encode()
	if err != nil {
		b.Fatal(err)
	}
	d, err := repo.PutBlob(b.Context(), body, session.Media{ContentType: session.ControlType})
	if err != nil {
		b.Fatal(err)
	}
	return d
}

// copy puts everything that from holds into the bucket.
func (b *benchBucket) copy(from store.Store) {
	b.Helper()
	for key, err := range store.Keys(b.Context(), from, "") {
		if err != nil {
			b.Fatal(err)
		}
		body, attrs, err := store.Get(b.Context(), from, key)
		if err != nil {
			b.Fatal(err)
		}
		err = b.server.Put(benchBucketName, key, fakes3.Object{
			Body: body, ContentType: attrs.ContentType, ContentEncoding: attrs.ContentEncoding,
			CacheControl: attrs.CacheControl, Metadata: attrs.Metadata,
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// process runs this binary under another name, and says how long it took and how
// much memory it had at most, in bytes.
func (b *benchBucket) process(name string, args ...string) (time.Duration, int64) {
	b.Helper()
	cmd := exec.Command(b.role(name), args...)
	cmd.Stderr = os.Stderr
	started := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	// The kernel's own high-water mark is asked for while the process lives: what
	// wait4 reports afterwards counts this process in, which it was started from.
	var peak int64
	for {
		select {
		case err := <-ended:
			if err != nil {
				b.Fatalf("%s %q: %v", name, args, err)
			}
			return time.Since(started), peak
		case <-time.After(5 * time.Millisecond):
			peak = max(peak, highWater(cmd.Process.Pid))
		}
	}
}

// highWater is the most memory that a process has had so far, in bytes.
func highWater(pid int) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if text, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "kB")), 10, 64)
			return kib << 10
		}
	}
	return 0
}

// run runs a session by the real command.
func (b *benchBucket) run(id layout.SessionID, handler ...string) (time.Duration, int64) {
	b.Helper()
	args := []string{"reference", "run", "--bucket", "s3://" + benchBucketName, "--session", id.String(), "--"}
	return b.process("pugcheck", append(args, handler...)...)
}

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

// roundTrips gives the longest chain of requests each of which began after the
// one before it had been answered.
func roundTrips(requests []fakes3.Request) int {
	slices.SortFunc(requests, func(a, b fakes3.Request) int { return a.Arrived.Compare(b.Arrived) })
	depth := make([]int, len(requests))
	longest := 0
	for i, r := range requests {
		for j, before := range requests[:i] {
			if !before.Answered.IsZero() && before.Answered.Before(r.Arrived) {
				depth[i] = max(depth[i], depth[j])
			}
		}
		depth[i]++
		longest = max(longest, depth[i])
	}
	return longest
}

// far makes every request to the bucket take a while.
func (b *benchBucket) far(delay time.Duration) {
	b.server.Intercept(fakes3.Any(), func(ctx context.Context, _ *fakes3.Request) fakes3.Decision {
		select {
		case <-time.After(delay):
		case <-ctx.Done():
		}
		return fakes3.Pass()
	})
}

// since gives the requests after the first n.
func (b *benchBucket) since(n int) []fakes3.Request { return b.server.Requests()[n:] }

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

// role gives a path under which this binary plays one of the roles of TestMain.
func (b *benchBucket) role(name string) string {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	as := filepath.Join(b.TempDir(), name)
	if err := os.Symlink(self, as); err != nil {
		b.Fatal(err)
	}
	return as
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
