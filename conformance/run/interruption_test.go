package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pugcheck/pugcheck/conformance"
)

// interrupter ends the context when a given scenario has started.
type interrupter struct {
	on     string
	cancel context.CancelFunc
	after  []string
}

func (i *interrupter) Started(id string) {
	if id == i.on {
		i.cancel()
	}
}
func (i *interrupter) Finished(o conformance.Outcome) { i.after = append(i.after, o.ID) }

func TestInterruption(t *testing.T) {
	t.Parallel()
	for _, act := range []string{"wait-1", "hang-1"} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		dir := t.TempDir()
		p := plan(t, act, "pass-1", "pass-2", "pass-3")
		p.Job = job{Names: []string{act, "pass-1", "pass-2", "pass-3"}, Dir: dir}
		p.Workers, p.Grace, p.Margin = 1, 100*time.Millisecond, time.Hour
		p.Observer = &interrupter{on: "X1/" + act, cancel: cancel}
		r, err := Run(ctx, p)
		if err != nil {
			t.Fatal(err)
		}
		if !r.Interrupted || len(r.NotRun) != 4-len(r.Outcomes) || r.NotRun["X1/"+act] != "the run was interrupted" {
			t.Errorf("%s: %+v", act, r)
		}
		for _, pid := range pids(t, dir) {
			if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
				t.Errorf("%s: worker %d still runs (%v)", act, pid, err)
			}
		}
	}
}

func pids(t *testing.T, dir string) []int {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []int
	for _, f := range files {
		var pid int
		_, ext, _ := strings.Cut(f.Name(), ".")
		if _, err := fmt.Sscan(ext, &pid); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(out, pid) {
			out = append(out, pid)
		}
	}
	if len(out) == 0 {
		t.Error("no scenario left a mark")
	}
	return out
}
