package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pugcheck/pugcheck/harness/fakes3"
	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/mem"
)

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
