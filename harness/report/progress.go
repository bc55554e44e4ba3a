package report

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/morikuni/aec"

	"github.com/pugcheck/pugcheck/harness/page"
)

// Progress shows how far a run has come: one live line on a terminal, plain lines
// elsewhere. What goes against the subject is shown at once, each clause once.
//
// Methods are safe for concurrent use. Errors of the writer are ignored: progress
// is no result.
type Progress struct {
	w       io.Writer
	o       ProgressOptions
	palette page.Palette
	began   time.Time
	mu      sync.Mutex
	running []string
	done    int
	clauses map[string]Verdict
	counts  map[Verdict]int
	said    time.Time // when a plain line was last written
	saidAt  int       // and at how many scenarios
	closed  bool
	stop    chan struct{}
	stopped sync.WaitGroup
}

// ProgressOptions say what is shown and how.
type ProgressOptions struct {
	Total    int              // scenarios, or runs of them
	Repeated bool             // scenarios are run more than once
	Live     bool             // w is a terminal: keep one line up to date
	Verbose  bool             // a line per scenario
	Colour   bool             //
	Width    func() int       // of the terminal, asked for again each time; nil = 80
	Now      func() time.Time // nil = time.Now
	Refresh  time.Duration    // of the live line, beside events; 0 = 250 ms
}

// Step is a finished scenario, as far as progress is concerned.
type Step struct {
	ID       string
	Outcome  string // as Scenario.Outcome
	Took     time.Duration
	Findings []Found
}

// Found is a verdict on a clause with what was seen.
type Found struct {
	Clause  string
	Verdict Verdict
	Seen    string
	Known   bool // a list of known failures has it, so that it does not count
}

// listed is a failure that is known, in place of its verdict.
const listed Verdict = "known"

// How often plain progress speaks: after so much time, or so much of the work,
// whichever comes first.
const (
	plainEvery   = 5 * time.Second
	plainPercent = 10
)

// NewProgress begins to show progress on w. Close ends it.
func NewProgress(w io.Writer, o ProgressOptions) *Progress {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Width == nil {
		o.Width = func() int { return 80 }
	}
	if o.Refresh == 0 {
		o.Refresh = 250 * time.Millisecond
	}
	p := &Progress{
		w: w, o: o, palette: page.Layout{Colour: o.Colour}.Palette(), began: o.Now(), said: o.Now(),
		clauses: map[string]Verdict{}, counts: map[Verdict]int{}, stop: make(chan struct{}),
	}
	if o.Live {
		p.stopped.Go(p.refresh)
	}
	return p
}

// refresh keeps the clock of the live line going.
func (p *Progress) refresh() {
	tick := time.NewTicker(p.o.Refresh)
	defer tick.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-tick.C:
			p.mu.Lock()
			p.draw()
			p.mu.Unlock()
		}
	}
}

// Started notes a scenario that runs now.
func (p *Progress) Started(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running = append(p.running, id)
	p.draw()
}

// Finished notes a scenario's end and shows what is new in it.
func (p *Progress) Finished(s Step) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, id := range p.running {
		if id == s.ID {
			p.running = append(p.running[:i:i], p.running[i+1:]...)
			break
		}
	}
	p.done++
	p.erase()
	if p.o.Verbose {
		p.print("%s %s", p.palette.Faint(fmt.Sprintf("%7s", seconds(float64(s.Took.Microseconds())/1000))), s.ID+outcomeNote(s.Outcome))
	}
	for _, f := range s.Findings {
		p.note(s.ID, f)
	}
	p.plain()
	p.draw()
}

// Say shows a line that stays.
func (p *Progress) Say(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	p.print("%s", text)
	p.draw()
}

func outcomeNote(outcome string) string {
	if outcome == "completed" {
		return ""
	}
	return " (" + outcome + ")"
}

// note counts the clause under its gravest verdict so far, and shows it when that
// speaks against the subject or the suite for the first time.
func (p *Progress) note(scenario string, f Found) {
	mark := marks[f.Verdict]
	if f.Known && f.Verdict == Fail {
		f.Verdict = listed
	}
	before := p.clauses[f.Clause]
	rank := func(v Verdict) int {
		if v == listed { // next to a failure that is news
			return 2*Fail.Gravity() - 1
		}
		return 2 * v.Gravity()
	}
	if rank(f.Verdict) <= max(rank(before), rank(Pass)) {
		return
	}
	p.clauses[f.Clause] = f.Verdict
	p.counts[before]--
	p.counts[f.Verdict]++
	if f.Verdict == Warn && !p.o.Verbose {
		return
	}
	seen := page.OneLine(page.Printable(f.Seen))
	text := page.Truncate(fmt.Sprintf("%s %-5s %s: %s", f.Clause, f.Verdict, scenario, seen), max(p.o.Width(), 40)-3)
	tint := ink(p.palette, f.Verdict)
	if f.Verdict == listed {
		tint = p.palette.Faint
	}
	p.print("%s %s", tint(mark), text)
}

func (p *Progress) print(format string, args ...any) {
	fmt.Fprintln(p.w, strings.TrimRight(fmt.Sprintf(format, args...), " "))
}

// plain writes a line of progress where there is no live line.
func (p *Progress) plain() {
	if p.o.Live || p.o.Total == 0 {
		return
	}
	enough := (p.done-p.saidAt)*100 >= plainPercent*p.o.Total
	if p.done < p.o.Total && !enough && p.o.Now().Sub(p.said) < plainEvery {
		return
	}
	p.said, p.saidAt = p.o.Now(), p.done
	p.print("%s", p.state())
}

// state is how far it has come, in words.
func (p *Progress) state() string {
	s := fmt.Sprintf("%d of %s", p.done, page.Count(p.o.Total, "scenario"))
	if p.o.Repeated {
		s = fmt.Sprintf("%d of %d runs of scenarios", p.done, p.o.Total)
	}
	for _, v := range []struct {
		verdict Verdict
		word    string
	}{{Fail, "failed"}, {listed, "failed as known"}, {Warn, "warned"}, {Error, "broke"}} {
		if n := p.counts[v.verdict]; n > 0 {
			s += fmt.Sprintf(" · %s %s", page.Count(n, "clause"), v.word)
		}
	}
	return s + fmt.Sprintf(" · %d s", int(p.o.Now().Sub(p.began).Seconds()))
}

// draw writes the live line over itself, cut at the terminal's width: a line that
// wrapped could not be erased.
func (p *Progress) draw() {
	if !p.o.Live || p.closed {
		return
	}
	text := p.bar(20) + " " + p.state()
	if len(p.running) > 0 {
		text += " · " + strings.Join(p.running, ", ")
	}
	p.erase()
	fmt.Fprint(p.w, page.Truncate(text, max(p.o.Width()-1, 10)))
}

func (p *Progress) bar(width int) string {
	full := 0
	if p.o.Total > 0 {
		full = min(width, width*p.done/p.o.Total)
	}
	return strings.Repeat("━", full) + strings.Repeat("─", width-full)
}

func (p *Progress) erase() {
	if p.o.Live {
		fmt.Fprint(p.w, "\r"+aec.EraseLine(aec.EraseModes.All).String())
	}
}

// Close clears the live line. Nothing is shown afterwards.
func (p *Progress) Close() {
	p.mu.Lock()
	already := p.closed
	p.closed = true
	p.mu.Unlock()
	if already {
		return
	}
	close(p.stop)
	p.stopped.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
}
