package page

import (
	"fmt"
	"io"
	"strings"
)

// Page collects lines below each other. Layout.Page makes one.
type Page struct {
	Palette
	width int
	text  strings.Builder
}

// Width is how many characters a line may have.
func (p *Page) Width() int { return p.width }

// WriteTo writes the lines so far. The page keeps them.
func (p *Page) WriteTo(w io.Writer) (int64, error) {
	n, err := io.WriteString(w, p.text.String())
	return int64(n), err
}

// Line adds one line as it is, without the blanks at its end.
func (p *Page) Line(text string) {
	p.text.WriteString(strings.TrimRight(text, " "))
	p.text.WriteByte('\n')
}

// Linef adds one line, formatted.
func (p *Page) Linef(format string, args ...any) { p.Line(fmt.Sprintf(format, args...)) }

// Blank adds an empty line.
func (p *Page) Blank() { p.text.WriteByte('\n') }

// Lines adds lines that already have their width, at an indent.
func (p *Page) Lines(indent int, lines []string, ink Ink) {
	for _, l := range lines {
		p.Line(blanks(indent) + ink(l))
	}
}

// Prose adds running text at an indent, wrapped as Wrap does.
func (p *Page) Prose(indent int, text string) {
	p.Lines(indent, Wrap(text, p.width-indent), p.Plain)
}

// Headline begins a part of the page, after an empty line. A note stands beside
// it where there is room, else below.
func (p *Page) Headline(text, note string) {
	p.Blank()
	switch {
	case note == "":
		p.Line(p.Strong(text))
	case length(text+note)+2 <= p.width:
		p.Line(p.Strong(text) + "  " + p.Faint(note))
	default:
		p.Line(p.Strong(text))
		p.Lines(0, Fold(note, p.width), p.Faint)
	}
}

// Label stands beside the first line of a text.
type Label struct {
	Text   string
	Indent int // where the label begins
	Column int // where the text begins; further right if the label is too long
	Ink    Ink
	Filled bool // the ink also covers the gap beside the label and below it
}

// Hanging adds lines that already have their width, in a column beside a label.
// Without lines the label is not shown either.
func (p *Page) Hanging(label Label, lines []string, limit Limit, ink Ink) {
	lines, more := limit.Cut(lines)
	for i, l := range lines {
		if i > 0 {
			label.Text = ""
		}
		p.Line(label.cell() + ink(l))
	}
	if more > 0 {
		p.Line(blanks(label.Column) + p.Faint(limit.rest(more)))
	}
}

// cell is the label with all that stands left of the text.
func (l Label) cell() string {
	switch {
	case l.Filled:
		return blanks(l.Indent) + l.Ink(Pad(l.Text, l.Column-l.Indent-1)) + " "
	case l.Text == "":
		return blanks(l.Column)
	}
	return blanks(l.Indent) + l.Ink(l.Text) + blanks(max(1, l.Column-l.Indent-length(l.Text)))
}

// Limit is how much of a long text is shown.
type Limit struct {
	Lines int    // 0 = all
	Hint  string // how to see the rest
}

// Cut returns the lines within the limit and the number of the others.
func (l Limit) Cut(lines []string) (shown []string, more int) {
	if l.Lines == 0 || len(lines) <= l.Lines {
		return lines, 0
	}
	return lines[:l.Lines], len(lines) - l.Lines
}

// rest stands for lines that are not shown.
func (l Limit) rest(more int) string {
	s := fmt.Sprintf("… %d more lines", more)
	if l.Hint != "" {
		s += " (" + l.Hint + ")"
	}
	return s
}

// rowsOfLine is how many rows one line of an excerpt may take.
const rowsOfLine = 3

// Excerpt adds a record of what happened, at an indent, folded as Fold does with
// further rows of a line set off. Within a limit it shows the first rows and the
// last ones, since such a record is read from both ends, and leaves the middle of
// a very long line out too.
func (p *Page) Excerpt(indent int, text string, limit Limit) {
	width := p.width - indent - 2
	var rows []string
	for l := range strings.SplitSeq(strings.TrimRight(Printable(text), "\n"), "\n") {
		if limit.Lines > 0 {
			l = Middle(l, rowsOfLine*width-10) // folding at blanks wastes a little
		}
		for i, row := range Fold(l, width) {
			if i > 0 {
				row = "  " + row
			}
			rows = append(rows, row)
		}
	}
	if limit.Lines == 0 || len(rows) <= limit.Lines {
		p.Lines(indent, rows, p.Plain)
		return
	}
	head := limit.Lines * 2 / 3
	tail := limit.Lines - head
	p.Lines(indent, rows[:head], p.Plain)
	p.Line(blanks(indent) + p.Faint(limit.rest(len(rows)-limit.Lines)))
	p.Lines(indent, rows[len(rows)-tail:], p.Plain)
}

func blanks(n int) string { return strings.Repeat(" ", max(0, n)) }
