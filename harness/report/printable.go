package report

import (
	"encoding/base64"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable shows at most limit of the bytes as text, and says how many more there
// are. Control characters are spelled as in \x1b. Bytes that are no text in UTF-8 are
// shown in base64, behind a line that says so.
func Printable(b []byte, limit int) string {
	shown := b
	if len(shown) > limit {
		shown = shown[:limit]
		for cut := 0; cut < utf8.UTFMax && len(shown) > 0; cut++ { // a cut character is no character
			if r, size := utf8.DecodeLastRune(shown); r != utf8.RuneError || size != 1 {
				break
			}
			shown = shown[:len(shown)-1]
		}
		if !isText(shown) {
			shown = b[:limit]
		}
	}
	var text string
	if isText(shown) {
		text = escaped(string(shown))
	} else {
		text = fmt.Sprintf("binary, %d bytes in base64:\n%s", len(shown), wrapped(base64.StdEncoding.EncodeToString(shown), 76))
	}
	if more := len(b) - len(shown); more > 0 {
		text += fmt.Sprintf("\n… %d bytes more", more)
	}
	return text
}

// isText tells whether bytes are UTF-8 with few control characters.
func isText(b []byte) bool {
	if !utf8.Valid(b) {
		return false
	}
	strange := 0
	for _, r := range string(b) {
		if r == 0 {
			return false
		}
		if hides(r) {
			strange++
		}
	}
	return strange*8 <= len(b)
}

// hides tells whether a character does not show as itself.
func hides(r rune) bool {
	return r != '\n' && r != '\t' && !unicode.IsGraphic(r)
}

func escaped(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	if strings.IndexFunc(s, hides) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !hides(r):
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
	}
	return b.String()
}

func wrapped(s string, width int) string {
	var lines []string
	for ; len(s) > width; s = s[width:] {
		lines = append(lines, s[:width])
	}
	return strings.Join(append(lines, s), "\n")
}
