package report

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// clock is a time that tests move.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func TestPlainProgress(t *testing.T) {
	var b strings.Builder
	c := &clock{time.Unix(0, 0)}
	p := NewProgress(&b, ProgressOptions{Total: 40, Now: c.Now})
	for i := range 40 {
		id := fmt.Sprintf("A/%d", i)
		p.Started(id)
		s := Step{ID: id, Outcome: "completed"}
		switch i {
		case 1, 2: // the second time is no news
			s.Findings = []Found{{"A-1", Fail, "first line\nsecond line", false}}
		case 3:
			s.Findings = []Found{{"A-2", Warn, "soft", false}, {"A-3", Error, "it broke\x1b[31m", false}, {"A-4", Pass, "good", false}}
		case 5:
			s.Findings = []Found{{"A-2", Fail, "hard", false}}
			c.now = c.now.Add(6 * time.Second)
		}
		p.Finished(s)
	}
	p.Close()
	p.Close()
	want := `✗ A-1 fail  A/1: first line second line
‼ A-3 error A/3: it broke␛[31m
4 of 40 scenarios · 1 clause failed · 1 clause warned · 1 clause broke · 0 s
✗ A-2 fail  A/5: hard
6 of 40 scenarios · 2 clauses failed · 1 clause broke · 6 s
10 of 40 scenarios · 2 clauses failed · 1 clause broke · 6 s
`
	if !strings.HasPrefix(b.String(), want) || !strings.HasSuffix(b.String(), "40 of 40 scenarios · 2 clauses failed · 1 clause broke · 6 s\n") {
		t.Errorf("got\n%s", b.String())
	}
	if n := strings.Count(b.String(), "\n"); n > 20 {
		t.Errorf("a flood of %d lines", n)
	}
}

func TestLiveProgress(t *testing.T) {
	var b strings.Builder
	c := &clock{time.Unix(0, 0)}
	p := NewProgress(&b, ProgressOptions{Total: 4, Live: true, Now: c.Now, Width: func() int { return 50 }, Refresh: time.Hour})
	p.Started("A/one")
	p.Started("A/two-with-a-name-that-is-longer-than-the-terminal-is-wide")
	p.Finished(Step{ID: "A/one", Outcome: "completed", Findings: []Found{{"A-1", Fail, "seen", false}}})
	p.Close()
	p.Started("A/late")
	const erase = "\r\x1b[2K"
	lines := strings.Split(b.String(), erase)
	for _, l := range lines {
		if n := len([]rune(strings.TrimSuffix(l, "\n"))); n >= 50 {
			t.Errorf("%d characters would wrap: %q", n, l)
		}
	}
	if !strings.Contains(b.String(), erase+"✗ A-1 fail  A/one: seen\n") {
		t.Errorf("no line for the failure: %q", b.String())
	}
	if !strings.HasSuffix(b.String(), erase) {
		t.Errorf("the line was not cleared: %q", b.String())
	}
	if !strings.Contains(b.String(), "━━━━━───────────────") {
		t.Errorf("no bar of a quarter: %q", b.String())
	}
}

func TestVerboseProgress(t *testing.T) {
	var b strings.Builder
	c := &clock{time.Unix(0, 0)}
	p := NewProgress(&b, ProgressOptions{Total: 2, Verbose: true, Now: c.Now})
	p.Finished(Step{ID: "A/one", Outcome: "stopped", Took: 1500 * time.Millisecond, Findings: []Found{{"A-1", Warn, "soft", false}}})
	p.Say("by the way")
	p.Close()
	want := "  1.5 s A/one (stopped)\n! A-1 warn  A/one: soft\n1 of 2 scenarios · 1 clause warned · 0 s\nby the way\n"
	if b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

// What is listed is told apart from what is new, and gives way to it.
func TestKnownProgress(t *testing.T) {
	var b strings.Builder
	c := &clock{time.Unix(0, 0)}
	p := NewProgress(&b, ProgressOptions{Total: 3, Now: c.Now})
	known := func(clause string) Found { return Found{Clause: clause, Verdict: Fail, Seen: "as ever", Known: true} }
	p.Finished(Step{ID: "A/one", Outcome: "completed", Findings: []Found{known("A-1"), known("A-2"), {Clause: "A-3", Verdict: Pass, Known: true}}})
	p.Finished(Step{ID: "A/two", Outcome: "completed", Findings: []Found{{Clause: "A-1", Verdict: Fail, Seen: "otherwise"}}})
	p.Finished(Step{ID: "A/three", Outcome: "completed", Findings: []Found{known("A-1")}})
	p.Close()
	want := `✗ A-1 known A/one: as ever
✗ A-2 known A/one: as ever
1 of 3 scenarios · 2 clauses failed as known · 0 s
✗ A-1 fail  A/two: otherwise
2 of 3 scenarios · 1 clause failed · 1 clause failed as known · 0 s
3 of 3 scenarios · 1 clause failed · 1 clause failed as known · 0 s
`
	if b.String() != want {
		t.Errorf("got\n%s", b.String())
	}
}
