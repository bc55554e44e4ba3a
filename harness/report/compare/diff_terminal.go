package compare

import (
	"fmt"
	"io"
	"strings"

	"github.com/pugcheck/pugcheck/harness/page"
	"github.com/pugcheck/pugcheck/harness/report"
)

// Terminal renders comparisons for people.
type Terminal struct {
	page.Layout
	Verbose bool // everything in full
}

// How much of a long text is shown unless Verbose.
const (
	linesOfSeen = 8
	linesOfRest = 2
)

// labelColumn is where the text beside a label begins.
const labelColumn = 15

// WriteDiff writes what changed: the two runs, regressions with their evidence, the other
// changes, and how many of which there were. The error is that of w.
func (t Terminal) WriteDiff(w io.Writer, d *report.Diff) error {
	p := &diffPage{Page: t.Page(), verbose: t.Verbose}
	p.head(d)
	lost, worse := split(d.Regressions, func(c report.Change) bool { return c.New == report.NotExercised })
	p.inFull("Regressions", worse)
	p.byReason("Not shown any more", "regressions, too: these passed before", lost)
	p.lines("Improvements", d.Improvements)
	p.inFull("Other changes", d.Others)
	p.lines("Added", d.Added)
	p.lines("Gone", d.Gone)
	p.still(d.Still)
	p.Blank()
	ofSentence := p.Good
	if d.Regressed() {
		ofSentence = p.Bad
	}
	p.Lines(0, page.Fold(d.Sentence(), p.Width()), ofSentence)
	_, err := p.WriteTo(w)
	return err
}

// split divides changes into those that it is true of and the others.
func split(list []report.Change, is func(report.Change) bool) (yes, no []report.Change) {
	for _, c := range list {
		if is(c) {
			yes = append(yes, c)
		} else {
			no = append(no, c)
		}
	}
	return yes, no
}

type diffPage struct {
	*page.Page
	verbose bool
}

func (p *diffPage) field(label, text string, lines int, ink page.Ink) {
	limit := page.Limit{Lines: lines, Hint: "-v shows them"}
	if p.verbose {
		limit = page.Limit{}
	}
	p.Hanging(page.Label{Text: label, Indent: 2, Column: labelColumn, Ink: p.Faint, Filled: true}, page.Fold(text, p.Width()-labelColumn), limit, ink)
}

func (p *diffPage) head(d *report.Diff) {
	p.Line(p.Strong(d.New.Suite + ": " + d.New.Subject))
	p.field("Before", describe(d.Old), 0, p.Plain)
	p.field("Now", describe(d.New), 0, p.Plain)
	for i, n := range d.Notes {
		label := ""
		if i == 0 {
			label = "Note"
		}
		p.field(label, n, linesOfRest, p.Caution)
	}
}

// describe is a run in one line.
func describe(r report.Run) string {
	s := r.Summary
	text := fmt.Sprintf("%s: %d pass · %d fail · %d warn", page.Count(s.Clauses, "clause"), s.Pass, s.Fail, s.Warn)
	for _, more := range []struct {
		n    int
		what string
	}{{s.Unstable, "unstable"}, {s.Error, "error"}, {s.NotExercised, "not exercised"}} {
		if more.n > 0 {
			text += fmt.Sprintf(" · %d %s", more.n, more.what)
		}
	}
	if !r.Started.IsZero() {
		text += r.Started.UTC().Format(", 2006-01-02 15:04 UTC")
	}
	return text
}

// becoming is a verdict before and after.
func becoming(c report.Change) string {
	switch {
	case c.Old == "":
		return c.New.Words()
	case c.New == "":
		return "was " + c.Old.Words()
	}
	return c.Old.Words() + " → " + c.New.Words()
}

func shown(c report.Change) report.Verdict {
	if c.New == "" {
		return c.Old
	}
	return c.New
}

// inFull shows each change with the demand and the new evidence.
func (p *diffPage) inFull(title string, list []report.Change) {
	if len(list) == 0 {
		return
	}
	p.Headline(title+": "+page.Count(len(list), "clause"), "")
	for _, c := range list {
		v := shown(c)
		p.Blank()
		p.Line(v.Ink(p.Palette)(v.Mark()) + " " + p.ID(c.Clause) + "  " + p.Strong(becoming(c)) + "  " + p.Faint(c.Level))
		p.field("Requirement", c.Requirement, 0, p.Plain)
		if c.Known != "" {
			p.field("Known", c.Known, 0, p.Caution)
		}
		if e := c.Evidence; e != nil {
			p.field("Acceptable", e.Acceptable, linesOfSeen, p.Good)
			p.field("Seen", e.Seen, linesOfSeen, v.Ink(p.Palette))
			p.field("Scenario", place(e), 0, p.Plain)
		} else {
			p.field("Reason", c.Reason, linesOfSeen, p.Plain)
		}
		if c.Repro != "" && v != report.Pass {
			p.Hanging(page.Label{Text: "Repeat with", Indent: 2, Column: labelColumn, Ink: p.Faint, Filled: true}, []string{c.Repro}, page.Limit{}, p.Plain)
		}
	}
}

func place(e *report.Evidence) string {
	if e.Where == "" {
		return e.Scenario
	}
	return e.Scenario + " (" + e.Where + ")"
}

// byReason lists clauses below what they have in common.
func (p *diffPage) byReason(title, note string, list []report.Change) {
	if len(list) == 0 {
		return
	}
	p.Headline(title+": "+page.Count(len(list), "clause"), note)
	for _, g := range grouped(list, func(c report.Change) string { return page.OneLine(c.Reason) }) {
		p.Lines(2, page.Fold(g.key, p.Width()-2), p.Plain)
		p.Lines(6, page.Fold(strings.Join(g.ids, " "), p.Width()-6), p.ID)
	}
}

// lines shows a line for each change, or, where nothing changed to something, the clauses by verdict.
func (p *diffPage) lines(title string, list []report.Change) {
	if len(list) == 0 {
		return
	}
	p.Headline(title+": "+page.Count(len(list), "clause"), "")
	for _, g := range grouped(list, becoming) {
		v := shown(g.first)
		p.Line("  " + v.Ink(p.Palette)(v.Mark()) + " " + g.key)
		p.Lines(6, page.Fold(strings.Join(g.ids, " "), p.Width()-6), p.ID)
	}
}

func (p *diffPage) still(list []report.Change) {
	if len(list) == 0 {
		return
	}
	p.Headline("As before", "failing or unstable in both")
	p.Lines(6, page.Fold(strings.Join(names(list), " "), p.Width()-6), p.ID)
}

func names(list []report.Change) []string {
	var out []string
	for _, c := range list {
		out = append(out, c.Clause)
	}
	return out
}

// group is the changes that share a key, in the order in which the keys come.
type group struct {
	key   string
	first report.Change
	ids   []string
}

func grouped(list []report.Change, key func(report.Change) string) []*group {
	var out []*group
	at := map[string]*group{}
	for _, c := range list {
		k := key(c)
		if at[k] == nil {
			at[k] = &group{key: k, first: c}
			out = append(out, at[k])
		}
		at[k].ids = append(at[k].ids, c.Clause)
	}
	return out
}
