package report

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pugcheck/pugcheck/harness/report/reporttest"
)

// TestPartialResults: nothing before the first change, then at once, then at most about once a
// second, and every time a whole result.
func TestPartialResults(t *testing.T) {
	dir := t.TempDir()
	file, badge := filepath.Join(dir, "r.json"), filepath.Join(dir, "other")
	for _, path := range []string{file, badge} {
		if err := os.WriteFile(path, []byte("of an older run"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	read := func(path string) string {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	synctest.Test(t, func(t *testing.T) {
		var made atomic.Int64
		p := KeepPartial([]Target{{"json", file}, {"json", "-"}, {"json", "/dev/null"}, {"text", badge}}, func() *Result {
			r := everyKind()
			r.Complete, r.Incomplete, r.Seed = false, "it goes on", uint64(made.Add(1))
			return r
		})
		synctest.Wait()
		if read(file) != "of an older run" || made.Load() != 0 {
			t.Error("written before anything happened")
		}
		began := time.Now()
		for range 500 {
			p.Changed()
			time.Sleep(10 * time.Millisecond)
		}
		p.Close()
		p.Close()
		if n := made.Load(); n < 4 || n > 7 {
			t.Errorf("written %d times in %s", n, time.Since(began))
		}
		p.Changed()
		synctest.Wait()
	})
	data := read(file)
	reporttest.Valid(t, "a partial result", []byte(data))
	r, err := ReadFile(file)
	if err != nil || r.Complete || r.Incomplete != "it goes on" {
		t.Errorf("it reads %v, %v", r, err)
	}
	if read(badge) != "of an older run" {
		t.Error("a form that cannot be read back was kept")
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if left, _ := filepath.Glob(dir + "/.*"); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestPartialResultsAreCheap: what takes long to write is written seldom.
func TestPartialResultsAreCheap(t *testing.T) {
	for took, want := range map[time.Duration]time.Duration{
		0: time.Second, 10 * time.Millisecond: time.Second, 100 * time.Millisecond: 5 * time.Second,
	} {
		if got := pause(took); got != want {
			t.Errorf("after %s: %s, want %s", took, got, want)
		}
	}
}
