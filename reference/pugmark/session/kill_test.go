package session_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/dir"
)

// pusherVariable makes this test program a writer: it holds the directory, the session and the writer's name.
const pusherVariable = "PUGMARK_TEST_PUSHER"

func TestMain(m *testing.M) {
	if job := os.Getenv(pusherVariable); job != "" {
		if err := pushForever(strings.Split(job, "|")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// pushForever pushes one body after another, and prints each one that is in.
func pushForever(job []string) error {
	s, err := dir.Open(job[0])
	if err != nil {
		return err
	}
	id, err := layout.ParseSessionID(job[1])
	if err != nil {
		return err
	}
	repo := session.New(s, session.Options{})
	for i := 0; ; i++ {
		body := fmt.Sprint(job[2], ".", i)
		if _, err := repo.PutBlob(ctx, []byte(body), session.Media{}); err != nil {
			return err
		}
		if _, err := repo.Push(ctx, id, session.Provisional, entries(body)...); err != nil {
			return err
		}
		fmt.Println(body)
	}
}

// Several processes write into one directory and are killed in the middle of it. What they reported is there, nothing
// is there twice, nothing is half there, and others go on.
func TestKilledWriters(t *testing.T) {
	root := t.TempDir()
	repo := session.New(must(dir.Open(root))(t), session.Options{})
	id := must(repo.Create(ctx, session.Manifest{}))(t).Session
	var mu sync.Mutex
	var reported []string
	var wg sync.WaitGroup
	for writer := range 6 {
		wg.Go(func() {
			lines, err := killAfter(3+writer, root, id, fmt.Sprint("w", writer))
			if err != nil {
				t.Errorf("writer %d: %v", writer, err)
			}
			mu.Lock()
			reported = append(reported, lines...)
			mu.Unlock()
		})
	}
	wg.Wait()
	must(repo.Push(ctx, id, session.Provisional, entries("last")...))(t)
	reported = append(reported, "last")

	seen := map[string]int{}
	number := int64(1)
	for e, err := range repo.Log(ctx, id, must(repo.Latest(ctx, id))(t)) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Descriptor.SequenceNumber != number {
			t.Errorf("version %d has number %d, want %d", e.Version, e.Descriptor.SequenceNumber, number)
		}
		number++
		seen[string(e.Descriptor.Data)]++
	}
	for body, n := range seen {
		if n != 1 {
			t.Errorf("%s is in the log %d times", body, n)
		}
	}
	for _, body := range reported {
		if seen[body] == 0 {
			t.Errorf("%s was reported, and is not in the log", body)
		}
		if body == "last" {
			continue
		}
		if got := must(repo.ReadBody(ctx, session.Descriptor{Digest: layout.DigestOf([]byte(body)), Size: 1}))(t); string(got) != body {
			t.Errorf("blob of %s: %q", body, got)
		}
	}
}

// killAfter starts a writer, kills it after n reports, and gives all that it reported.
func killAfter(n int, root string, id layout.SessionID, name string) ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), pusherVariable+"="+strings.Join([]string{root, id.String(), name}, "|"))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	reader := bufio.NewReader(out)
	var lines []string
	for range n {
		line, err := reader.ReadString('\n')
		if err != nil {
			cmd.Process.Kill()
			cmd.Wait()
			return lines, fmt.Errorf("after %d reports: %w: %s", len(lines), err, stderr.String())
		}
		lines = append(lines, strings.TrimSpace(line))
	}
	if err := cmd.Process.Kill(); err != nil {
		return lines, err
	}
	rest, err := io.ReadAll(reader)
	cmd.Wait()
	more := strings.Split(string(rest), "\n")
	return append(lines, slices.DeleteFunc(more[:len(more)-1], func(s string) bool { return s == "" })...), err
}
