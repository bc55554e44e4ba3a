package compare

import (
	"fmt"
	"io"
	"strings"

	"github.com/pugcheck/pugcheck/harness/document"
	"github.com/pugcheck/pugcheck/harness/page"
	"github.com/pugcheck/pugcheck/harness/report"
)

// longestName bounds the name of a column on the terminal, in characters.
const longestName = 24

// WriteMatrix writes a table of sections and implementations, and the clauses on which these
// differ; with Verbose every clause that not all of them pass. The error is that of w.
func (t Terminal) WriteMatrix(w io.Writer, m *Matrix) error {
	p := t.Page()
	names := make([]string, len(m.Columns))
	for i, c := range m.Columns {
		names[i] = page.Middle(c.Label, longestName)
	}
	var rows [][]string
	for _, s := range m.Sections {
		rows = append(rows, append([]string{s.ID + "  " + s.Title}, texts(s.Cells)...))
	}
	rows = append(rows, append([]string{"all"}, texts(m.Total)...))
	p.Line(p.Strong("passed of the clauses of each section, and the worst verdict"))
	for _, n := range m.Notes {
		p.Lines(0, page.Fold("note: "+n, p.Width()), p.Caution)
	}
	p.Blank()
	p.Table(0, append([]string{""}, names...), rows)
	wanted, title := func(c *Clause) bool { return !c.Agree() }, "Where they differ"
	if t.Verbose {
		wanted, title = func(c *Clause) bool { return !allPass(c) }, "What not all of them pass"
	}
	t.clauses(p, m, title, names, wanted)
	p.Blank()
	for _, c := range m.Columns {
		p.Lines(0, page.Fold(c.Conclusion, p.Width()), p.Plain)
	}
	_, err := p.WriteTo(w)
	return err
}

func texts(cells []Cell) []string {
	out := make([]string, len(cells))
	for i, c := range cells {
		if out[i] = "·"; c.Clauses > 0 {
			out[i] = fmt.Sprintf("%s %d/%d", c.Worst.Mark(), c.Pass, c.Clauses)
		}
	}
	return out
}

func allPass(c *Clause) bool {
	for _, f := range c.Cells {
		if f.Verdict != report.Pass && f.Verdict != "" {
			return false
		}
	}
	return true
}

// clauses writes a table of single clauses, and with Verbose what speaks against each.
func (t Terminal) clauses(p *page.Page, m *Matrix, title string, names []string, wanted func(*Clause) bool) {
	var rows [][]string
	var listed []*Clause
	for i := range m.Sections {
		for k := range m.Sections[i].Clauses {
			c := &m.Sections[i].Clauses[k]
			if !wanted(c) {
				continue
			}
			listed = append(listed, c)
			row := []string{c.ID}
			for _, f := range c.Cells {
				if f.Verdict == "" {
					row = append(row, "·")
				} else {
					row = append(row, f.Verdict.Mark()+" "+f.Verdict.Words())
				}
			}
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		return
	}
	p.Headline(title+": "+page.Count(len(rows), "clause"), "")
	p.Table(0, append([]string{""}, names...), rows)
	if !t.Verbose {
		return
	}
	for _, c := range listed {
		p.Blank()
		p.Line(p.ID(c.ID) + "  " + p.Faint(c.Level))
		p.Prose(2, c.Requirement)
		for i, f := range c.Cells {
			if f.Verdict != "" && f.Verdict != report.Pass {
				p.Line("  " + f.Verdict.Ink(p.Palette)(f.Verdict.Mark()+" "+names[i]))
				p.Lines(6, page.Fold(f.Why, p.Width()-6), p.Plain)
			}
		}
	}
}

// MatrixFormats are the forms that a matrix can be written in.
var MatrixFormats = []string{"html", "markdown"}

// RenderMatrix is a matrix in one of the MatrixFormats.
func RenderMatrix(m *Matrix, format string) ([]byte, error) {
	switch format {
	case "html":
		return matrixHTML(m)
	case "markdown":
		return []byte(matrixMarkdown(m)), nil
	}
	return nil, fmt.Errorf("unknown format %q; known are %s", format, strings.Join(MatrixFormats, ", "))
}

// matrixMarkdown is the table, and below it a foldable table of clauses for each section.
func matrixMarkdown(m *Matrix) string {
	var b strings.Builder
	head := func(first string) {
		b.WriteString("| " + first + " |")
		for _, c := range m.Columns {
			b.WriteString(" " + document.MarkdownText(c.Label) + " |")
		}
		b.WriteString("\n| --- |" + strings.Repeat(" --- |", len(m.Columns)) + "\n")
	}
	row := func(first string, cells []Cell) {
		b.WriteString("| " + first + " |")
		for _, c := range cells {
			if c.Clauses == 0 {
				b.WriteString(" |")
			} else {
				fmt.Fprintf(&b, " %s %d/%d |", signs[c.Worst], c.Pass, c.Clauses)
			}
		}
		b.WriteString("\n")
	}
	b.WriteString("Passed of the clauses of each section, and the worst verdict.\n\n")
	for _, n := range m.Notes {
		fmt.Fprintf(&b, "- note: %s\n", document.MarkdownText(n))
	}
	if len(m.Notes) > 0 {
		b.WriteString("\n")
	}
	head("section")
	for _, s := range m.Sections {
		row(document.MarkdownText(s.ID+" "+s.Title), s.Cells)
	}
	row("**all**", m.Total)
	b.WriteString("\n")
	for _, c := range m.Columns {
		fmt.Fprintf(&b, "- %s\n", document.MarkdownText(c.Conclusion))
	}
	for _, s := range m.Sections {
		fmt.Fprintf(&b, "\n<details><summary>%s %s</summary>\n\n", document.MarkdownHTML(s.ID), document.MarkdownHTML(s.Title))
		head("clause")
		for _, c := range s.Clauses {
			b.WriteString("| " + document.MarkdownText(c.ID) + ": " + document.MarkdownText(c.Requirement) + " |")
			for _, f := range c.Cells {
				b.WriteString(" " + findingMarkdown(f) + " |")
			}
			b.WriteString("\n")
		}
		b.WriteString("\n</details>\n")
	}
	return b.String()
}

// longestWhy bounds what a cell of a table says, in characters.
const longestWhy = 160

func findingMarkdown(f Finding) string {
	if f.Verdict == "" {
		return ""
	}
	text := marked(f.Verdict)
	if f.Known != "" {
		text += " (known: " + document.MarkdownText(page.Truncate(f.Known, longestWhy)) + ")"
	}
	if f.Why != "" {
		text += ": " + document.MarkdownText(page.Truncate(f.Why, longestWhy))
	}
	return text
}
