package page_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/pugcheck/pugcheck/harness/page"
)

func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		width      int
		want       []string
	}{
		{"no words", " \n ", 10, nil},
		{"at a blank", "one two three", 7, []string{"one two", "three"}},
		{"to the last character", "one two", 6, []string{"one", "two"}},
		{"a wide word stays whole", "x logs/year=2024/month=01 y", 10, []string{"x", "logs/year=2024/month=01", "y"}},
		{"characters, not bytes", "äöü ßßß x", 7, []string{"äöü ßßß", "x"}},
		{"lines and runs of blanks are one blank", "a  b\n c", 10, []string{"a b c"}},
		{"control characters are shown", "a \x1b[31mb", 10, []string{"a ␛[31mb"}},
		{"no width at all", "a b", -3, []string{"a", "b"}},
	} {
		if diff := cmp.Diff(tt.want, page.Wrap(tt.text, tt.width)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestFold(t *testing.T) {
	digits := strings.Repeat("0123456789", 5)
	for _, tt := range []struct {
		name, text string
		width      int
		want       []string
	}{
		{"nothing is one empty line", "", 30, []string{""}},
		{"lines stay, but not empty ones at the end", "a\n\nb\n\n", 30, []string{"a", "", "b"}},
		{"at a blank", "twelve chars and some more", 20, []string{"twelve chars and", "some more"}},
		{"blanks within a line stay", "a   b", 30, []string{"a   b"}},
		{"further rows have the line's indent", "    <string>: one two three", 20, []string{"    <string>: one", "    two three"}},
		{"what fits keeps an indent that is wide", "                   ^", 20, []string{"                   ^"}},
		{"unless it takes half of the room", strings.Repeat(" ", 11) + "one two three four five", 20, []string{"one two three four", "five"}},
		{"a wide word is broken where the line stands", "key " + digits, 20, []string{"key 0123456789012345", "67890123456789012345", "67890123456789"}},
		{"a wide word is broken between characters", strings.Repeat("ß", 25), 20, []string{strings.Repeat("ß", 20), "ßßßßß"}},
		{"less than 20 counts as 20", "twelve chars and some more", 5, []string{"twelve chars and", "some more"}},
		{"control characters are shown", "a\tb\r\n\x1b[31mc\u009b", 30, []string{"a b␍", "␛[31mc�"}},
	} {
		if diff := cmp.Diff(tt.want, page.Fold(tt.text, tt.width)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// FuzzFold: no row is too wide, and besides blanks and line ends nothing is lost.
func FuzzFold(f *testing.F) {
	for _, text := range []string{"", "a b", "    indented text that goes on", strings.Repeat("x", 70) + " y", "a\x00b\n\nc", "\xff\xfe", "ä ö"} {
		f.Add(text, 24)
	}
	bare := func(s string) string { return strings.NewReplacer(" ", "", "\n", "").Replace(s) }
	f.Fuzz(func(t *testing.T, text string, width int) {
		width = 20 + int(uint(width)%100)
		rows := page.Fold(text, width)
		for _, row := range rows {
			if n := utf8.RuneCountInString(row); n > width {
				t.Errorf("%d characters, more than %d: %q", n, width, row)
			}
		}
		if got, want := bare(strings.Join(rows, "")), bare(page.Printable(text)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestTruncate(t *testing.T) {
	for _, tt := range []struct {
		line  string
		width int
		want  string
	}{
		{"abc", 3, "abc"},
		{"abcd", 3, "ab…"},
		{"äöüß", 3, "äö…"},
		{"abcd", 1, "…"},
		{"abcd", 0, ""},
		{"", 0, ""},
	} {
		if got := page.Truncate(tt.line, tt.width); got != tt.want {
			t.Errorf("Truncate(%q, %d) = %q, want %q", tt.line, tt.width, got, tt.want)
		}
	}
}

func TestPad(t *testing.T) {
	for text, want := range map[string]string{"": "    ", "äö": "äö  ", "abcd": "abcd", "abcde": "abcde"} {
		if got := page.Pad(text, 4); got != want {
			t.Errorf("Pad(%q, 4) = %q, want %q", text, got, want)
		}
	}
}

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"plain ß\n": "plain ß\n",
		"a\tb":      "a b",
		"\x00\x1b":  "␀␛",
		"\x7f":      "�",
		"\u0085":    "�",
		"\u00a0":    "\u00a0",
	} {
		if got := page.Printable(text); got != want {
			t.Errorf("Printable(%q) = %q, want %q", text, got, want)
		}
	}
}
