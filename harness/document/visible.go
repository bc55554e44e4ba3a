package document

import (
	"fmt"
	"html/template"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pugcheck/pugcheck/harness/page"
)

// Visible is text as HTML in which every character shows. What would not, or would
// act on its surroundings, stands as a name in an element of class "code": control
// characters but line feeds and tabs (␛), blanks other than the common one, marks of
// writing direction and of zero width (U+202E), and bytes that are no UTF-8 (\xff).
func Visible(text string) template.HTML {
	var b strings.Builder
	visible(&b, text)
	return template.HTML(b.String())
}

// Plain is the same without markup, for attributes and titles.
func Plain(text string) string {
	var b strings.Builder
	each(text, func(s string) { b.WriteString(s) }, func(name string) { b.WriteString(name) })
	return b.String()
}

func visible(b *strings.Builder, text string) {
	each(text, func(s string) { template.HTMLEscape(writer{b}, []byte(s)) }, func(name string) {
		b.WriteString(`<b class="code">` + name + `</b>`)
	})
}

// writer is a strings.Builder as the escaper wants it.
type writer struct{ *strings.Builder }

// The most marks that may stand on one letter; a tower of them covers other lines.
const mostMarks = 4

// each gives runs of ordinary text to plain and the names of all else to named.
func each(text string, plain, named func(string)) {
	from, marks := 0, 0
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		name := ""
		if r == utf8.RuneError && size == 1 {
			name = fmt.Sprintf(`\x%02x`, text[i])
		} else {
			name = nameOf(r)
		}
		if r > 0x7f && unicode.In(r, unicode.Mn, unicode.Me) {
			if marks++; marks > mostMarks && name == "" {
				name = fmt.Sprintf("U+%04X", r)
			}
		} else {
			marks = 0
		}
		if name != "" {
			plain(text[from:i])
			named(name)
			from = i + size
		}
		i += size
	}
	plain(text[from:])
}

// nameOf is what stands for a character that does not show by itself; "" for all others.
func nameOf(r rune) string {
	switch {
	case r == '\n' || r == '\t' || r >= 0x20 && r < 0x7f:
		return ""
	case r < 0x20:
		return string('␀' + r)
	case r == 0x7f:
		return "␡"
	case r < 0xa0, r == '\u2800', r&0xfffe == 0xfffe,
		unicode.In(r, unicode.Cf, unicode.Z, unicode.Co, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
		return fmt.Sprintf("U+%04X", r)
	}
	return ""
}

// The least that Excerpt shows of one line, in bytes.
const leastLine = 120

// Excerpt is as much of a text as goes into room bytes or a little more, as HTML
// like Visible's. A text that is longer shows its beginning and its end, since
// records of what happened are read from both; so does a line that would take half
// of the room by itself. What is left out stands there as a number, in an element of
// class "cut".
func Excerpt(text string, room int) template.HTML {
	text = strings.TrimRight(text, "\n")
	var b strings.Builder
	if len(text) <= room {
		visible(&b, text)
		return template.HTML(b.String())
	}
	lines := strings.Split(text, "\n")
	widest := max(room/2, leastLine)
	size := func(l string) int { return min(len(l), widest) + 1 }
	head, tail, left := 0, len(lines), room
	for head < tail && (head == 0 || left-size(lines[head]) >= room/3) {
		left -= size(lines[head])
		head++
	}
	for tail > head && left-size(lines[tail-1]) >= 0 {
		left -= size(lines[tail-1])
		tail--
	}
	for _, l := range lines[:head] {
		line(&b, l, widest)
	}
	if head < tail {
		cut(&b, page.Count(tail-head, "line"))
		b.WriteByte('\n')
	}
	for _, l := range lines[tail:] {
		line(&b, l, widest)
	}
	return template.HTML(strings.TrimSuffix(b.String(), "\n"))
}

// line writes one line, the middle left out if it is wider than widest bytes.
func line(b *strings.Builder, l string, widest int) {
	if len(l) <= widest {
		visible(b, l)
	} else {
		head, tail := boundary(l, widest*2/3), boundary(l, len(l)-widest/3)
		visible(b, l[:head])
		cut(b, page.Count(tail-head, "byte"))
		visible(b, l[tail:])
	}
	b.WriteByte('\n')
}

// boundary is the beginning of the character that byte i belongs to.
func boundary(s string, i int) int {
	for back := 0; back < utf8.UTFMax && i > 0 && !utf8.RuneStart(s[i]); back++ {
		i--
	}
	return i
}

func cut(b *strings.Builder, what string) {
	b.WriteString(`<i class="cut">… ` + what + ` left out …</i>`)
}

// Anchor is a name as an element's id and, behind "#", as a link to it: the name itself
// where it is made of letters, digits and . _ ~ / @ : -, as names of clauses and
// scenarios are; every other byte is written as "=XX".
func Anchor(name string) template.URL {
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("._~/@:-", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "=%02X", c)
		}
	}
	return template.URL(b.String())
}
