package manual

import (
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pugcheck/pugcheck/conformance/catalogue"
)

// Reading writes the page of a reading or finding: what it says, what becomes
// of a verdict that rests on it, and the clauses that do.
func (l Layout) Reading(w io.Writer, c *catalogue.Catalogue, r *catalogue.Reading) error {
	p := l.newPage()
	p.line(p.id(r.ID) + "  " + p.strict(r.Title))
	p.blank()
	p.body(r, 2)
	p.blank()
	p.fact("Kind", []string{map[string]string{
		catalogue.KindReading: "reading: the text leaves this open; this is what we take it to say",
		catalogue.KindFinding: "finding: a defect of the specification, not of an implementation",
	}[r.Kind]})
	if r.Kind == catalogue.KindReading {
		p.fact("Basis", []string{map[catalogue.Basis]string{
			catalogue.Stated:  "stated: the text says it, in another place than where one looks; a violation can fail",
			catalogue.Derived: "derived: it follows from what the text says; a violation can fail",
			catalogue.Assumed: "assumed: the text is silent; a violation of it is a warning, under --strict a failure",
			catalogue.Mixed:   "mixed: parts are stated or derived and can fail, parts are assumed and only warn",
		}[r.Basis]})
	}
	var arises []string
	for _, id := range r.Sections {
		section, _ := c.Section(id)
		arises = append(arises, id+" "+section.Title)
	}
	p.fact("Arises in", arises)

	var resting []string
	for _, clause := range c.Clauses() {
		if slices.Contains(clause.Readings, r.ID) {
			resting = append(resting, clause.ID)
		}
	}
	if len(resting) > 0 {
		p.blank()
		p.line(p.heading("Clauses that rest on it"))
		p.references(c, resting)
	}
	_, err := io.WriteString(w, p.String())
	return err
}

// table writes aligned columns; a cell that is wider than its column wraps
// within it.
func (p *page) table(t *catalogue.Table, indent int) {
	widths := columnWidths(t, p.Width-indent)
	row := func(cells []string, paint func(...any) string) {
		wrapped := make([][]string, len(cells))
		height := 0
		for i, cell := range cells {
			wrapped[i] = wrap(cell, widths[i])
			height = max(height, len(wrapped[i]))
		}
		for y := range height {
			var line strings.Builder
			line.WriteString(strings.Repeat(" ", indent))
			for i := range cells {
				text := ""
				if y < len(wrapped[i]) {
					text = wrapped[i][y]
				}
				pad := strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(text))+2)
				if i == len(cells)-1 {
					pad = ""
				}
				line.WriteString(paint(text) + pad)
			}
			p.line(line.String())
		}
	}
	row(t.Columns, p.faint)
	for _, cells := range t.Rows {
		row(cells, p.plain)
	}
}

// columnWidths gives every column what its widest cell needs, and where that
// is more than there is, takes from the widest columns first.
func columnWidths(t *catalogue.Table, width int) []int {
	widths := make([]int, len(t.Columns))
	for _, cells := range append([][]string{t.Columns}, t.Rows...) {
		for i, cell := range cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	left := width - 2*(len(widths)-1)
	for {
		sum, widest := 0, 0
		for i, w := range widths {
			sum += w
			if w > widths[widest] {
				widest = i
			}
		}
		if sum <= left || widths[widest] <= 8 {
			return widths
		}
		widths[widest]--
	}
}
