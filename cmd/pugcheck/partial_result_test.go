package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"testing"

	"github.com/pugcheck/pugcheck/harness/report"
	"github.com/pugcheck/pugcheck/harness/report/reporttest"
)

// stoppingSubject is a program that works a few times and then, having said so, hangs.
// works is the command that it stands for.
func stoppingSubject(t *testing.T, works string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "subject")
	script := "#!/bin/sh\necho >>" + path + ".starts\n" +
		"test $(wc -l <" + path + ".starts) -gt 3 || exec " + works + "\n" +
		">$" + markVariable + "\nexec sleep 1000\n"
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// cutShort starts a run whose subject hangs after a while, waits until the partial result says
// that scenarios have finished, and returns both.
func cutShort(t *testing.T, suite, works string) (p *process, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "result.json")
	if err := os.WriteFile(file, []byte("of an older run"), 0o644); err != nil {
		t.Fatal(err)
	}
	p = startProcess(t, nil, suite, "--only", "P2,P4", "--workers", "1", "--timeout", "10m", "--seed", "1", "--report", "json="+file, stoppingSubject(t, works))
	p.awaitHandler()
	await(t, "the partial result tells of a finished scenario", func() bool {
		r, err := report.ReadFile(file) // each state of the file is a result
		if err != nil {
			t.Fatal(err)
		}
		return finishedIn(t, r) > 0
	})
	return p, file
}

var finishedOf = regexp.MustCompile(`(?:with|after) (\d+) of (\d+) scenarios`)

// finishedIn is how many scenarios a partial result says have finished, which has to be what
// it holds.
func finishedIn(t *testing.T, r *report.Result) int {
	t.Helper()
	m := finishedOf.FindStringSubmatch(r.Incomplete)
	if r.Complete || m == nil {
		t.Fatalf("complete: %v, incomplete: %q", r.Complete, r.Incomplete)
	}
	n, _ := strconv.Atoi(m[1])
	all, _ := strconv.Atoi(m[2])
	ran := 0
	for _, sc := range r.Scenarios {
		if sc.Outcome != "not-run" {
			ran++
		} else if sc.Reason == "" {
			t.Errorf("%s did not run, and nothing says why", sc.ID)
		}
	}
	if ran != n || n >= all {
		t.Errorf("%q, and it holds %d that ran", r.Incomplete, ran)
	}
	return n
}

// TestRunsThatAreCutShort: whatever ends a run, its result is valid, says that it is partial
// and how far the run had come, and nothing is left running.
func TestRunsThatAreCutShort(t *testing.T) {
	for suite, works := range map[string]string{"runtime": `pugcheck reference "$@"`, "handler": "agent"} {
		for name, s := range map[string]syscall.Signal{"INT": syscall.SIGINT, "KILL": syscall.SIGKILL} {
			t.Run(suite+"-"+name, func(t *testing.T) {
				t.Parallel()
				p, file := cutShort(t, suite, works)
				if err := p.cmd.Process.Signal(s); err != nil {
					t.Fatal(err)
				}
				status, said := p.end()
				why := "^the run was under way, with "
				if s == syscall.SIGINT {
					why = "^it was interrupted after "
					if status.ExitStatus() != exitTrouble {
						t.Errorf("exit status %d; it said %s", status.ExitStatus(), said)
					}
				} else if status.Signal() != syscall.SIGKILL {
					t.Errorf("it ended by %v", status)
				}
				p.wantNoStrays()
				data, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				reporttest.Valid(t, "the partial result", data)
				r, err := report.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if n := finishedIn(t, r); n < 1 || !regexp.MustCompile(why).MatchString(r.Incomplete) {
					t.Errorf("%d finished: %q", n, r.Incomplete)
				}
				if r.Standing() != report.Incomplete || r.Summary.Pass == 0 {
					t.Errorf("it stands %s with %d passes", r.Standing(), r.Summary.Pass)
				}
			})
		}
	}
}
