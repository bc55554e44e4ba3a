package wire

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// How many bytes Caret shows at most before the place and behind it: in columns it is
// never more, so that the excerpt fits beside a label on a terminal of 80.
const (
	caretBefore = 34
	caretBehind = 26
)

// Caret shows the place of a byte in a stream: an excerpt of the line that holds
// it, and below that a line with a caret under the byte. What cannot be printed
// stands as a middle dot, one for each character or broken byte. The caret stands in
// the column that terminals give the character: wide ones take two, and a mark that
// combines with the character before it has none of its own.
func Caret(b []byte, offset int64) string {
	at := int(min(max(offset, 0), int64(len(b))))
	from := max(0, at-caretBefore)
	if i := bytes.LastIndexByte(b[from:at], '\n'); i >= 0 {
		from += i + 1
	}
	to := min(len(b), at+caretBehind)
	if i := bytes.IndexByte(b[at:to], '\n'); i > 0 {
		to = at + i
	}
	for from < at && from > 0 && !utf8.RuneStart(b[from]) {
		from++
	}
	for to > at+utf8.UTFMax && to < len(b) && !utf8.RuneStart(b[to]) {
		to--
	}
	var shown strings.Builder
	if from > 0 && b[from-1] != '\n' {
		shown.WriteString("…")
	}
	place := -1 // in what is shown
	for i := from; i < to; {
		r, n := utf8.DecodeRune(b[i:to])
		if place < 0 && i+n > at {
			place = shown.Len()
		}
		if r == utf8.RuneError && n <= 1 || !unicode.IsPrint(r) {
			r = '·'
		}
		shown.WriteRune(r)
		i += n
	}
	if place < 0 {
		place = shown.Len()
	}
	return shown.String() + "\n" + strings.Repeat(" ", columnOf(shown.String(), place)) + "^"
}

// columnOf is the column of the character that the byte belongs to.
func columnOf(text string, place int) int {
	column, state := 0, -1
	for at := 0; at < len(text); {
		cluster, _, width, next := uniseg.FirstGraphemeClusterInString(text[at:], state)
		if at+len(cluster) > place {
			break
		}
		column, state, at = column+width, next, at+len(cluster)
	}
	return column
}
