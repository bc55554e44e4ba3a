package report

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/fatih/color"
)

// Layout says how wide text may become, in characters, and whether it has colours.
type Layout struct {
	Width  int // below 40 counts as 40
	Colour bool
}

// paint are the colours of a layout. Without colour they return the text as is.
type paint struct {
	id, strong, good, bad, caution, faint func(...any) string
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
		strong:  with(color.Bold),
		good:    with(color.FgGreen),
		bad:     with(color.FgRed, color.Bold),
		caution: with(color.FgYellow),
		faint:   with(color.Faint),
	}
}

// of is the colour of a verdict.
func (p paint) of(v Verdict) func(...any) string {
	switch v {
	case Pass:
		return p.good
	case Fail, Error:
		return p.bad
	case Warn:
		return p.caution
	}
	return p.faint
}

// marks stand for verdicts at the beginning of a line, so that colour is never
// the only sign.
var marks = map[Verdict]string{Pass: "✓", Fail: "✗", Warn: "!", Error: "‼", NotExercised: "–", Untestable: "–", NotJudged: "–"}

// page collects lines below each other.
type page struct {
	Layout
	paint
	strings.Builder
}

func (l Layout) page() *page {
	l.Width = max(l.Width, 40)
	return &page{Layout: l, paint: l.paint()}
}

func (p *page) line(format string, args ...any) {
	text := format
	if len(args) > 0 {
		text = fmt.Sprintf(format, args...)
	}
	p.WriteString(strings.TrimRight(text, " "))
	p.WriteByte('\n')
}

func (p *page) blank() { p.WriteByte('\n') }

// headline begins a part of the report. The note stands beside it where there is
// room, else below.
func (p *page) headline(text string, note string) {
	p.blank()
	if note == "" {
		p.line("%s", p.strong(text))
		return
	}
	if utf8.RuneCountInString(text+note)+2 <= p.Width {
		p.line("%s  %s", p.strong(text), p.faint(note))
		return
	}
	p.line("%s", p.strong(text))
	for _, l := range wrapLines(note, p.Width) {
		p.line("%s", p.faint(l))
	}
}

// labelColumn is where the text beside a label begins.
const labelColumn = 15

// field writes a label and beside it text, wrapped. Lines that the text already
// has are kept; limit bounds their number (0 = all).
func (p *page) field(label, text string, limit int, ofText func(...any) string) {
	lines, more := clip(wrapLines(text, p.Width-labelColumn), limit)
	for i, l := range lines {
		if i > 0 {
			label = ""
		}
		p.line("  %s %s", p.faint(fmt.Sprintf("%-*s", labelColumn-3, label)), ofText(l))
	}
	if more > 0 {
		p.line("%*s%s", labelColumn, "", p.faint(fmt.Sprintf("… %d more lines (-v shows them)", more)))
	}
}

// words writes a list of short words, wrapped at an indent.
func (p *page) words(indent int, list []string) {
	for _, l := range wrapLines(strings.Join(list, " "), p.Width-indent) {
		p.line("%*s%s", indent, "", l)
	}
}

// block writes a trace: its lines folded at the width, limit rows at most (0 =
// all), the first ones and the last ones, since a trace is read from both ends.
// With a limit, the middle of a very long line is left out too.
func (p *page) block(indent int, text string, limit int) {
	if text = strings.TrimRight(text, "\n"); text == "" {
		text = "none"
	}
	width := p.Width - indent
	var rows []string
	for _, l := range strings.Split(printable(text), "\n") {
		if limit > 0 {
			l = middle(l, rowsOfLine*(width-2)-10) // folding at blanks wastes a little
		}
		for i, row := range wrapLines(l, width-2) {
			if i > 0 {
				row = "  " + row
			}
			rows = append(rows, row)
		}
	}
	cut, more := -1, 0
	if limit > 0 && len(rows) > limit {
		more = len(rows) - limit
		cut = limit * 2 / 3
		rows = append(rows[:cut:cut], rows[len(rows)-(limit-cut):]...)
	}
	for i, row := range rows {
		if i == cut {
			p.line("%*s%s", indent, "", p.faint(fmt.Sprintf("… %d more lines (-v shows them)", more)))
		}
		p.line("%*s%s", indent, "", row)
	}
}

// rowsOfLine is how many rows one line of a trace may take, unless verbose.
const rowsOfLine = 3

// middle cuts the middle out of a line that has more than n characters.
func middle(s string, n int) string {
	length := utf8.RuneCountInString(s)
	if length <= n {
		return s
	}
	head, tail := n*2/3, n/3
	return s[:byteIndex(s, head)] + "…" + s[byteIndex(s, length-tail):]
}

func clip(lines []string, limit int) ([]string, int) {
	if limit == 0 || len(lines) <= limit {
		return lines, 0
	}
	return lines[:limit], len(lines) - limit
}

// wrapLines wraps each line of text at spaces. A word that is too wide is broken,
// because evidence holds digests and URLs without end. Leading spaces of a line
// and spaces within it are kept.
func wrapLines(text string, width int) []string {
	width = max(width, 20)
	var out []string
	for _, line := range strings.Split(strings.TrimRight(printable(text), "\n"), "\n") {
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		words := strings.Split(line[len(indent):], " ")
		if len(indent) > width/2 {
			indent = ""
		}
		out = append(out, wrap(words, indent, width)...)
	}
	return out
}

func wrap(words []string, indent string, width int) []string {
	var out []string
	line, length := indent, len(indent)
	empty := true
	for _, word := range words {
		n := utf8.RuneCountInString(word)
		// A word that has to be broken anyway goes on where the line stands.
		broken := n > width-len(indent) && length+1 < width
		if !empty && length+1+n > width && !broken {
			out = append(out, line)
			line, length, empty = indent, len(indent), true
		}
		if !empty {
			line, length = line+" ", length+1
		}
		for length+n > width {
			cut := byteIndex(word, width-length)
			out = append(out, line+word[:cut])
			word = word[cut:]
			n = utf8.RuneCountInString(word)
			line, length = indent, len(indent)
		}
		line, length, empty = line+word, length+n, false
	}
	return append(out, line)
}

// truncate cuts a line to at most width characters.
func truncate(s string, width int) string {
	if utf8.RuneCountInString(s) <= width {
		return s
	}
	return s[:byteIndex(s, max(width-1, 0))] + "…"
}

// byteIndex is where the n-th character begins.
func byteIndex(s string, n int) int {
	i := 0
	for ; n > 0 && i < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[i:])
		i += size
	}
	return i
}

// printable replaces control characters, which would move the cursor or change
// colours, by their symbols. Line feeds stay; tabs become spaces.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r == '\t':
			return ' '
		case r < 0x20:
			return '␀' + r
		case r == 0x7f || r >= 0x80 && r < 0xa0:
			return '�'
		}
		return r
	}, s)
}
