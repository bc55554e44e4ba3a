// Package manual shows a catalogue to people: the list of clauses with their
// state, and the page that explains one clause or reading in full. It also
// holds the list's JSON form.
package manual

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/fatih/color"
)

// Layout says how wide the text may become and whether it has colours. Names
// that are wider than a line are not broken.
type Layout struct {
	Width  int // in characters; below 40 counts as 40
	Colour bool
}

// paint are the colours of a layout. Without colour they return the text as is.
type paint struct {
	id, heading, strict, plain, good, open, faint func(...any) string
}

func (l Layout) paint() paint {
	with := func(attributes ...color.Attribute) func(...any) string {
		c := color.New(attributes...)
		if l.Colour {
			c.EnableColor()
		} else {
			c.DisableColor()
		}
		return c.SprintFunc()
	}
	return paint{
		id:      with(color.FgCyan, color.Bold),
		heading: with(color.Bold),
		strict:  with(color.Bold),
		plain:   fmt.Sprint,
		good:    with(color.FgGreen),
		open:    with(color.FgYellow),
		faint:   with(color.Faint),
	}
}

// page collects lines below each other.
type page struct {
	Layout
	paint
	strings.Builder
}

func (l Layout) newPage() *page {
	l.Width = max(l.Width, 40)
	return &page{Layout: l, paint: l.paint()}
}

func (p *page) line(text string) {
	p.WriteString(strings.TrimRight(text, " "))
	p.WriteByte('\n')
}

func (p *page) blank() { p.WriteByte('\n') }

// hanging writes a label and, beside it, text that is wrapped in a column of
// its own. Colour comes in through the two functions, after the widths are
// known. Without a label the text stands in its column all the same.
func (p *page) hanging(indent int, label string, column int, text string, ofLabel, ofText func(...any) string) {
	margin := strings.Repeat(" ", column)
	for i, line := range wrap(text, p.Width-column) {
		if i > 0 || label == "" {
			p.line(margin + ofText(line))
			continue
		}
		pad := strings.Repeat(" ", max(1, column-indent-utf8.RuneCountInString(label)))
		p.line(strings.Repeat(" ", indent) + ofLabel(label) + pad + ofText(line))
	}
}

// prose writes wrapped text at an indent.
func (p *page) prose(indent int, text string) {
	for _, line := range wrap(text, p.Width-indent) {
		p.line(strings.Repeat(" ", indent) + line)
	}
}

// wrap breaks text at spaces into lines of at most width characters. A word
// that is wider has a line of its own.
func wrap(text string, width int) []string {
	var lines []string
	var line strings.Builder
	length := 0
	for _, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		if length > 0 && length+1+n > width {
			lines = append(lines, line.String())
			line.Reset()
			length = 0
		}
		if length > 0 {
			line.WriteByte(' ')
			length++
		}
		line.WriteString(word)
		length += n
	}
	if length > 0 {
		lines = append(lines, line.String())
	}
	return lines
}
