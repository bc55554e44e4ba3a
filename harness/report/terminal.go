package report

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Terminal renders a result for people.
type Terminal struct {
	Layout
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
	p := &terminalPage{page: t.page(), Terminal: t, r: r, shown: map[string]string{}, scenarios: map[string]*Scenario{}}
	for i := range r.Scenarios {
		p.scenarios[r.Scenarios[i].ID] = &r.Scenarios[i]
	}
	p.header()
	if r.Blocked == "" {
		p.outline()
	} else {
		p.blocked()
	}
	p.failures()
	p.warnings()
	p.errors()
	p.notExercised()
	p.untestable()
	p.notJudged()
	if t.Timing {
		p.timing()
	}
	p.summary()
	_, err := io.WriteString(w, p.String())
	return err
}

// terminalPage is a report in the making.
type terminalPage struct {
	*page
	Terminal
	r         *Result
	scenarios map[string]*Scenario
	shown     map[string]string // scenario → clause below which its trace stands
}

// Width and Colour are those of the page, which has set bounds to them.
func (p *terminalPage) width() int { return p.page.Width }

// limit is n lines, or all of them.
func (p *terminalPage) limit(n int) int {
	if p.Verbose {
		return 0
	}
	return n
}

func (p *terminalPage) header() {
	what := p.r.Subject.Name
	if p.r.Subject.BuiltIn {
		what += " (built in)"
	}
	p.line("%s", p.strong(p.r.Suite+": "+what))
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
	if len(notes) > 0 {
		p.line("%s", p.faint(strings.Join(notes, " · ")))
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
	p.blank()
	p.line("%s", p.bad("Nothing else was started: the subject did not get through "+first+"."))
	p.field("Seen", p.r.Blocked, p.limit(linesOfSeen), fmt.Sprint)
}

// byVerdict are the clauses with a verdict, in order.
func (p *terminalPage) byVerdict(v Verdict) []Clause {
	var out []Clause
	for _, c := range p.r.Clauses {
		if c.Verdict == v {
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
		{Pass, "pass", "pass", s.Pass}, {Fail, "fail", "fail", s.Fail}, {Warn, "warn", "warn", s.Warn},
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
	ids, counts := p.sections()
	idWidth, room := 0, 0
	for _, s := range ids {
		idWidth = max(idWidth, len(s.ID))
		room = max(room, len([]rune(s.Title)))
	}
	taken := 2 + idWidth + 2
	for _, c := range columns {
		taken += max(len(c.short), 4) + 2
	}
	room = max(min(room, p.width()-taken), 10)
	p.blank()
	head := fmt.Sprintf("%*s", 2+idWidth+2+room, "")
	for _, c := range columns {
		head += fmt.Sprintf("  %*s", max(len(c.short), 4), c.short)
	}
	p.line("%s", p.faint(head))
	for _, s := range ids {
		line := p.sectionMark(counts[s.ID]) + " " + p.id(fmt.Sprintf("%-*s", idWidth, s.ID)) + "  " + pad(truncate(s.Title, room), room)
		for _, c := range columns {
			n, width := counts[s.ID][c.verdict], max(len(c.short), 4)
			if n == 0 {
				line += p.faint(fmt.Sprintf("  %*s", width, "·"))
			} else {
				line += p.of(c.verdict)(fmt.Sprintf("  %*d", width, n))
			}
		}
		p.line("%s", line)
	}
}

// sectionMark shows the gravest of what stands in a section.
func (p *terminalPage) sectionMark(counts map[Verdict]int) string {
	for _, v := range []Verdict{Fail, Error, Warn, Pass} {
		if counts[v] > 0 {
			return p.of(v)(marks[v])
		}
	}
	return p.faint(marks[NotJudged])
}

// sections are those that the clauses stand in, with the counts per verdict.
func (p *terminalPage) sections() ([]Section, map[string]map[Verdict]int) {
	titles := map[string]string{}
	for _, s := range p.r.Sections {
		titles[s.ID] = s.Title
	}
	var ids []Section
	counts := map[string]map[Verdict]int{}
	for _, c := range p.r.Clauses {
		if counts[c.Section] == nil {
			counts[c.Section] = map[Verdict]int{}
			ids = append(ids, Section{ID: c.Section, Title: titles[c.Section]})
		}
		counts[c.Section][c.Verdict]++
	}
	return ids, counts
}

func (p *terminalPage) summary() {
	s := p.r.Summary
	p.blank()
	var terms []string
	for _, t := range s.tallies() {
		text := fmt.Sprintf("%d %s", t.n, t.long)
		if t.n > 0 {
			text = p.of(t.verdict)(text)
		}
		terms = append(terms, text)
	}
	p.line("%s %s", p.strong(count(s.Clauses, "clause")+":"), strings.Join(terms, p.faint(" · ")))
	ran := 0
	for _, sc := range p.r.Scenarios {
		if sc.Outcome != "not-run" {
			ran++
		}
	}
	scenarios := count(s.Scenarios, "scenario")
	if ran < s.Scenarios {
		scenarios = fmt.Sprintf("%d of %s", ran, scenarios)
	}
	p.line("%s", p.faint(fmt.Sprintf("%s in %s, seed %d", scenarios, seconds(p.r.DurationMS), p.r.Seed)))
	p.blank()
	paint := p.bad
	switch p.r.Standing() {
	case Conforming:
		paint = p.good
	case Incomplete, Troubled:
		paint = p.caution
	}
	for _, l := range wrapLines(p.r.Sentence(), p.width()) {
		p.line("%s", paint(l))
	}
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

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-len([]rune(s))))
}
