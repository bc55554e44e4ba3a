package wire

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// caretReach is how many bytes before and behind the place Caret shows, at most.
const caretReach = 36

// Caret shows the place of a byte in a stream: an excerpt of the line that holds
// it, and below that a line with a caret under the byte. What cannot be printed
// stands as a middle dot, one for each character or broken byte, so that the caret
// stays in its column.
func Caret(b []byte, offset int64) string {
	at := int(min(max(offset, 0), int64(len(b))))
	from := max(0, at-caretReach)
	if i := bytes.LastIndexByte(b[from:at], '\n'); i >= 0 {
		from += i + 1
	}
	to := min(len(b), at+caretReach)
	if i := bytes.IndexByte(b[at:to], '\n'); i > 0 {
		to = at + i
	}
	for from < at && from > 0 && !utf8.RuneStart(b[from]) {
		from++
	}
	var text strings.Builder
	column, head := 0, ""
	if from > 0 && b[from-1] != '\n' {
		head = "…"
	}
	for i := from; i < to; {
		r, n := utf8.DecodeRune(b[i:to])
		if i < at {
			column++
		}
		if r == utf8.RuneError && n <= 1 || !unicode.IsPrint(r) {
			r = '·'
		}
		text.WriteRune(r)
		i += max(n, 1)
	}
	return head + text.String() + "\n" + strings.Repeat(" ", column+utf8.RuneCountInString(head)) + "^"
}
