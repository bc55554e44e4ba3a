package report

import (
	"strings"

	"github.com/pugcheck/pugcheck/harness/page"
)

// of is the colour of a verdict.
func (p *terminalPage) of(v Verdict) page.Ink { return ink(p.Palette, v) }

// limit is n lines, or all of them.
func (p *terminalPage) limit(n int) page.Limit {
	if p.Verbose {
		return page.Limit{}
	}
	return page.Limit{Lines: n, Hint: "-v shows them"}
}

// all is no limit.
var all page.Limit

// labelColumn is where the text beside a label begins.
const labelColumn = 15

func (p *terminalPage) label(text string) page.Label {
	return page.Label{Text: text, Indent: 2, Column: labelColumn, Ink: p.Faint, Filled: true}
}

// field writes a label and beside it text, folded.
func (p *terminalPage) field(label, text string, limit page.Limit, ofText page.Ink) {
	p.Hanging(p.label(label), page.Fold(text, p.Width()-labelColumn), limit, ofText)
}

// headline stands above all clauses with a verdict.
func (p *terminalPage) headline(v Verdict, clauses []Clause) {
	h := headings[v]
	p.Headline(h.title+": "+page.Count(len(clauses), "clause"), h.note)
}

// heading is the first line on a clause that something is said against.
func (p *terminalPage) heading(c Clause) {
	p.Blank()
	p.Line(p.of(c.Verdict)(marks[c.Verdict]) + " " + p.ID(c.ID) + "  " + p.Faint(c.Level+" · "+c.Basis))
}

// words writes a list of short words, folded at an indent.
func (p *terminalPage) words(indent int, list []string) {
	p.Lines(indent, page.Fold(strings.Join(list, " "), p.Width()-indent), p.Plain)
}
