package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/pugcheck/pugcheck/harness/page"
)

// Terminal renders a result for people.
type Terminal struct {
	page.Layout
	Verbose bool // everything in full: traces, reasons, lists
	Timing  bool // where the time went
	// Commands that lead on from here, shown where they help; "" = none.
	Explain  string // prefix of the command that explains a clause
	Unjudged string // the command that lists what no scenario judges
}

// How much of a long text is shown unless Verbose.
const (
	linesOfSeen  = 12
	linesOfTrace = 36
	linesOfWarn  = 3
)

// Write writes the report: what was judged, an outline by section, each
// violation with its evidence, what was not decided and why, and how it stands.
// The error is that of w.
func (t Terminal) Write(w io.Writer, r *Result) error {
	p := t.open(r)
	p.header()
	if r.Blocked == "" {
		p.outline()
	} else {
		p.blocked()
	}
	p.failures()
	p.unstable()
	p.warnings()
	p.errors()
	p.known()
	p.stale()
	p.notExercised()
	p.untestable()
	p.notJudged()
	p.beyondSet()
	if t.Timing {
		p.timing()
	}
	p.summary()
	_, err := p.WriteTo(w)
	return err
}

// open is an empty page on a result.
func (t Terminal) open(r *Result) *terminalPage {
	return &terminalPage{Page: t.Page(), Terminal: t, r: r, shown: map[string]string{}, scenarios: r.byID()}
}

// terminalPage is a report in the making.
type terminalPage struct {
	*page.Page
	Terminal
	r         *Result
	scenarios map[string]*Scenario
	shown     map[string]string // scenario → clause below which its trace stands
}

func (p *terminalPage) header() {
	what := p.r.Subject.Name
	if p.r.Subject.BuiltIn {
		what += " (built in)"
	}
	p.Line(p.Strong(p.r.Suite + ": " + what))
	var notes []string
	if p.r.Profile.File != "" {
		notes = append(notes, "profile "+p.r.Profile.File)
	}
	if p.r.Profile.Strict {
		notes = append(notes, "strict: warnings fail")
	}
	if len(p.r.Profile.Without) > 0 {
		notes = append(notes, "without "+strings.Join(p.r.Profile.Without, ", "))
	}
	if len(p.r.Selection) > 0 {
		notes = append(notes, "only "+strings.Join(p.r.Selection, ", "))
	}
	if len(p.r.Skipped) > 0 {
		notes = append(notes, "skipping "+strings.Join(p.r.Skipped, ", "))
	}
	if set := p.r.Requirements; set.Set != "" {
		notes = append(notes, fmt.Sprintf("requirements %s (%.12s)", set.Set, set.Digest))
	}
	if p.r.Known != nil {
		notes = append(notes, "known failures in "+p.r.Known.File)
	}
	if len(notes) > 0 {
		p.Line(p.Faint(strings.Join(notes, " · ")))
	}
}

func (p *terminalPage) blocked() {
	first := ""
	for _, sc := range p.r.Scenarios {
		if sc.Outcome != "not-run" {
			first = sc.ID
			break
		}
	}
	p.Blank()
	p.Line(p.Bad("Nothing else was started: the subject did not get through " + first + "."))
	p.field("Seen", p.r.Blocked, p.limit(linesOfSeen), p.Plain)
}

// byVerdict are the clauses with a verdict, in order, without failures that are known.
func (p *terminalPage) byVerdict(v Verdict) []Clause {
	var out []Clause
	for _, c := range p.r.Clauses {
		if c.Verdict == v && c.Known == "" {
			out = append(out, c)
		}
	}
	return out
}

// tally is a column of the outline and a term of the summary.
type tally struct {
	verdict Verdict
	short   string
	long    string
	n       int
}

func (s Summary) tallies() []tally {
	return []tally{
		{Pass, "pass", "pass", s.Pass}, {Fail, "fail", "fail", s.Fail}, {Unstable, "unstable", "unstable", s.Unstable}, {Warn, "warn", "warn", s.Warn},
		{NotExercised, "not ex.", "not exercised", s.NotExercised}, {Untestable, "untest.", "untestable", s.Untestable},
		{Error, "error", "error", s.Error}, {NotJudged, "not judged", "not judged", s.NotJudged},
	}
}

// outline is a line per section with the number of clauses per verdict; columns
// that are empty in all sections are left out.
func (p *terminalPage) outline() {
	var columns []tally
	for _, t := range p.r.Summary.tallies() {
		if t.n > 0 || t.verdict == Pass || t.verdict == Fail {
			columns = append(columns, t)
		}
	}
	ids, counts := p.r.outlined()
	idWidth, room := 0, 0
	for _, s := range ids {
		idWidth = max(idWidth, len(s.ID))
		room = max(room, len([]rune(s.Title)))
	}
	taken := 2 + idWidth + 2
	for _, c := range columns {
		taken += max(len(c.short), 4) + 2
	}
	room = max(min(room, p.Width()-taken), 10)
	p.Blank()
	head := fmt.Sprintf("%*s", 2+idWidth+2+room, "")
	for _, c := range columns {
		head += fmt.Sprintf("  %*s", max(len(c.short), 4), c.short)
	}
	p.Line(p.Faint(head))
	for _, s := range ids {
		line := p.sectionMark(counts[s.ID]) + " " + p.ID(fmt.Sprintf("%-*s", idWidth, s.ID)) + "  " + page.Pad(page.Truncate(s.Title, room), room)
		for _, c := range columns {
			n, width := counts[s.ID][c.verdict], max(len(c.short), 4)
			if n == 0 {
				line += p.Faint(fmt.Sprintf("  %*s", width, "·"))
			} else {
				line += p.of(c.verdict)(fmt.Sprintf("  %*d", width, n))
			}
		}
		p.Line(line)
	}
}

// sectionMark shows the gravest of what stands in a section.
func (p *terminalPage) sectionMark(counts map[Verdict]int) string {
	for _, v := range []Verdict{Fail, Unstable, Error, Warn, Pass} {
		if counts[v] > 0 {
			return p.of(v)(marks[v])
		}
	}
	return p.Faint(marks[NotJudged])
}

func (p *terminalPage) summary() {
	p.Blank()
	p.counts()
	p.Blank()
	p.conclusion()
}

// counts are the clauses by verdict, and what was run.
func (p *terminalPage) counts() {
	s := p.r.Summary
	var terms []string
	for _, t := range s.tallies() {
		if t.verdict == Unstable && t.n == 0 && p.r.Repeats < 2 {
			continue
		}
		text := fmt.Sprintf("%d %s", t.n, t.long)
		if t.n > 0 {
			text = p.of(t.verdict)(text)
		}
		terms = append(terms, text)
	}
	p.Line(p.Strong(page.Count(s.Clauses, "clause")+":") + " " + strings.Join(terms, p.Faint(" · ")))
	if p.r.Known != nil && s.Known > 0 {
		p.Line(p.Faint(fmt.Sprintf("%d of these as listed in %s", s.Known, p.r.Known.File)))
	}
	scenarios := p.r.whatRan()
	if p.r.Repeats > 1 {
		scenarios += fmt.Sprintf(", %d times each,", p.r.Repeats)
	}
	p.Line(p.Faint(fmt.Sprintf("%s in %s, seed %d", scenarios, seconds(p.r.DurationMS), p.r.Seed)))
}

// conclusion is what may be said, and below it what is missing for more.
func (p *terminalPage) conclusion() {
	c := p.statement()
	for _, d := range c.Details {
		for i, line := range page.Fold(d, p.Width()-4) {
			p.Line([]string{"  - ", "    "}[min(i, 1)] + line)
		}
	}
}

// statement is how the subject stands, in one sentence.
func (p *terminalPage) statement() Conclusion {
	c := p.r.Conclude()
	ofStatement := p.Bad
	switch c.Standing {
	case Conforming:
		ofStatement = p.Good
	case Incomplete, Troubled, AsListed:
		ofStatement = p.Caution
	}
	p.Lines(0, page.Fold(c.Statement, p.Width()), ofStatement)
	return c
}

// seconds shows milliseconds as people read them.
func seconds(ms float64) string {
	d := time.Duration(ms * float64(time.Millisecond))
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}
