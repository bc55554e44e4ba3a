package page

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Wrap breaks running text at blanks into lines of at most width characters.
// Line feeds and runs of blanks count as one blank; text without words has no
// lines. A word that is wider has a line of its own, since names are there to be
// copied. Control characters are replaced as by Printable.
func Wrap(text string, width int) []string {
	words := strings.Fields(text)
	if len(words) == 0 {
		return nil
	}
	for i := range words {
		words[i] = Printable(words[i])
	}
	return fill(words, "", width, false)
}

// leastFold is the least width that Fold folds at.
const leastFold = 20

// Fold breaks each line of a text at blanks into lines of at most width
// characters, but at least 20. The text keeps its shape: its lines, empty ones
// too but not at the end, their indent, and the blanks within them. A word that is
// wider is broken, because evidence holds digests and URLs without end. Control
// characters are replaced as by Printable.
func Fold(text string, width int) []string {
	width = max(width, leastFold)
	var out []string
	for line := range strings.SplitSeq(strings.TrimRight(Printable(text), "\n"), "\n") {
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		words := strings.Split(line[len(indent):], " ")
		if len(indent) > width/2 && length(line) > width {
			indent = "" // a line that fits keeps it: a caret says nothing elsewhere
		}
		out = append(out, fill(words, indent, width, true)...)
	}
	return out
}

// fill puts words into as few lines as they take, each at the indent. Words that
// do not fit into a line by themselves are broken, or else stand out of it.
func fill(words []string, indent string, width int, broken bool) []string {
	var out []string
	line, taken, empty := indent, len(indent), true
	for _, word := range words {
		n := length(word)
		// A word that has to be broken anyway goes on where the line stands.
		here := broken && n > width-len(indent) && taken+1 < width
		if !empty && taken+1+n > width && !here {
			out = append(out, line)
			line, taken, empty = indent, len(indent), true
		}
		if !empty {
			line, taken = line+" ", taken+1
		}
		for broken && taken+n > width {
			cut := byteIndex(word, width-taken)
			out = append(out, line+word[:cut])
			word = word[cut:]
			n = length(word)
			line, taken = indent, len(indent)
		}
		line, taken, empty = line+word, taken+n, false
	}
	return append(out, line)
}

// Truncate cuts a line to at most width characters, with an ellipsis for what is
// missing.
func Truncate(line string, width int) string {
	switch {
	case length(line) <= width:
		return line
	case width < 1:
		return ""
	}
	return line[:byteIndex(line, width-1)] + "…"
}

// Middle cuts the middle out of a line that has more than n characters.
func Middle(line string, n int) string {
	all := length(line)
	if all <= n {
		return line
	}
	head, tail := n*2/3, n/3
	return line[:byteIndex(line, head)] + "…" + line[byteIndex(line, all-tail):]
}

// Pad puts blanks behind a text until it has width characters.
func Pad(text string, width int) string { return text + blanks(width-length(text)) }

// Printable replaces control characters, which would move the cursor or change
// colours, by their symbols. Line feeds stay; tabs become blanks.
func Printable(text string) string {
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
	}, text)
}

// length is how many characters a text has.
func length(text string) int { return utf8.RuneCountInString(text) }

// byteIndex is where the n-th character begins.
func byteIndex(s string, n int) int {
	i := 0
	for ; n > 0 && i < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[i:])
		i += size
	}
	return i
}

// OneLine is a text without line breaks, its words one blank apart.
func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Count is a number of things whose plural ends in s.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
