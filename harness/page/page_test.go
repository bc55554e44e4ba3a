package page_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pugcheck/pugcheck/harness/page"
)

// written is what a page of a layout holds after it was filled.
func written(t *testing.T, l page.Layout, fill func(*page.Page)) string {
	t.Helper()
	p := l.Page()
	fill(p)
	var b strings.Builder
	if n, err := p.WriteTo(&b); err != nil || n != int64(b.Len()) {
		t.Fatalf("%d of %d bytes, %v", n, b.Len(), err)
	}
	return b.String()
}

func numbered(n int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprint("line ", i+1)
	}
	return lines
}

// parts are the pieces that pages are made of, on lines of 40 characters, with
// every ink but those of the page itself left out.
var parts = map[string]struct {
	fill func(*page.Page)
	want string
}{
	"lines lose the blanks at their end": {
		func(p *page.Page) {
			p.Line("a  ")
			p.Blank()
			p.Linef("%d%%  ", 7)
			p.Lines(2, []string{"b", ""}, p.Plain)
		},
		"a\n\n7%\n  b\n\n",
	},
	"a line is no format": {
		func(p *page.Page) { p.Line("100%d") },
		"100%d\n",
	},
	"prose is wrapped at its indent": {
		func(p *page.Page) { p.Prose(4, "as many words as fit into what is left of it") },
		"    as many words as fit into what is\n    left of it\n",
	},
	"a headline": {
		func(p *page.Page) { p.Headline("Part", "") },
		"\nPart\n",
	},
	"its note beside it": {
		func(p *page.Page) { p.Headline("Part", "a note of thirty-four characters..") },
		"\nPart  a note of thirty-four characters..\n",
	},
	"its note below it": {
		func(p *page.Page) { p.Headline("Part", "a note of thirty-five characters...") },
		"\nPart\na note of thirty-five characters...\n",
	},
	"lines beside a label": {
		func(p *page.Page) {
			p.Hanging(page.Label{Text: "Seen", Indent: 2, Column: 8, Ink: p.Faint}, numbered(2), page.Limit{}, p.Plain)
		},
		"  Seen  line 1\n        line 2\n",
	},
	"a label that is too long": {
		func(p *page.Page) {
			p.Hanging(page.Label{Text: "Expected", Indent: 2, Column: 8, Ink: p.Faint}, numbered(2), page.Limit{}, p.Plain)
		},
		"  Expected line 1\n        line 2\n",
	},
	"a filled label": {
		func(p *page.Page) {
			p.Hanging(page.Label{Text: "Seen", Indent: 2, Column: 8, Ink: p.Faint, Filled: true}, numbered(2), page.Limit{}, p.Plain)
		},
		"  Seen  line 1\n        line 2\n",
	},
	"no label": {
		func(p *page.Page) {
			p.Hanging(page.Label{Indent: 2, Column: 8, Ink: p.Faint}, numbered(1), page.Limit{}, p.Plain)
		},
		"        line 1\n",
	},
	"nothing beside a label": {
		func(p *page.Page) {
			p.Hanging(page.Label{Text: "Seen", Indent: 2, Column: 8, Ink: p.Faint}, nil, page.Limit{Lines: 1}, p.Plain)
		},
		"",
	},
	"a limit that is reached": {
		func(p *page.Page) {
			p.Hanging(page.Label{Text: "Seen", Column: 6, Ink: p.Faint}, numbered(2), page.Limit{Lines: 2, Hint: "--all"}, p.Plain)
		},
		"Seen  line 1\n      line 2\n",
	},
	"a limit that is exceeded": {
		func(p *page.Page) {
			p.Hanging(page.Label{Text: "Seen", Column: 6, Ink: p.Faint}, numbered(4), page.Limit{Lines: 2, Hint: "--all"}, p.Plain)
		},
		"Seen  line 1\n      line 2\n      … 2 more lines (--all)\n",
	},
	"an excerpt in full": {
		func(p *page.Page) {
			p.Excerpt(2, "GET /a\n  \x1b[1m"+strings.Repeat("0123456789", 6)+"\n\n", page.Limit{})
		},
		"  GET /a\n    ␛[1m012345678901234567890123456789\n      012345678901234567890123456789\n",
	},
	"both ends of an excerpt": {
		func(p *page.Page) { p.Excerpt(2, strings.Join(numbered(9), "\n"), page.Limit{Lines: 4}) },
		"  line 1\n  line 2\n  … 5 more lines\n  line 8\n  line 9\n",
	},
	"both ends of a line of an excerpt": {
		func(p *page.Page) { p.Excerpt(0, "("+strings.Repeat("0123456789", 20)+")", page.Limit{Lines: 4}) },
		"(0123456789012345678901234567890123456\n  7890123456789012345678901234567…789012\n  345678901234567890123456789)\n",
	},
	"a table": {
		func(p *page.Page) {
			p.Table(2, []string{"verb", "effect"}, [][]string{{"write", "yes, in every case that one can think of"}, {"", "none"}})
		},
		"  verb   effect\n  write  yes, in every case that one can\n         think of\n         none\n",
	},
	"a table that takes from the widest columns first": {
		func(p *page.Page) {
			p.Table(0, []string{"a", "b", "c"}, [][]string{{"one two three four", "five six seven eight", "nine"}})
		},
		"a                 b                 c\none two three     five six seven    nine\nfour              eight\n",
	},
	"the column beside labels": {
		func(p *page.Page) { p.Linef("%d %d", page.ColumnBeside(2, "a", "äöü", "bc"), page.ColumnBeside(2)) },
		"7 4\n",
	},
}

func TestParts(t *testing.T) {
	for name, tt := range parts {
		if diff := cmp.Diff(tt.want, written(t, page.Layout{Width: 40}, tt.fill)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestColourTakesNoRoom: widths are counted before colour comes in.
func TestColourTakesNoRoom(t *testing.T) {
	t.Setenv("NO_COLOR", "1") // what the caller says counts, not the environment
	coloured := 0
	for name, tt := range parts {
		text := written(t, page.Layout{Width: 40, Colour: true}, tt.fill)
		if strings.Contains(text, "\x1b") {
			coloured++
		}
		if diff := cmp.Diff(tt.want, withoutColours(text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if coloured < 10 {
		t.Errorf("only %d parts have colours", coloured)
	}
}

// withoutColours leaves out all that stands between an escape and an m.
func withoutColours(s string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, "\x1b[")
		b.WriteString(before)
		if !found {
			break
		}
		_, s, _ = strings.Cut(after, "m")
	}
	return b.String()
}

func TestInks(t *testing.T) {
	coloured, bare := page.Layout{Colour: true}.Palette(), page.Layout{}.Palette()
	for _, tt := range []struct {
		name            string
		coloured, plain page.Ink
		want            string
	}{
		{"plain", coloured.Plain, bare.Plain, "x%d"},
		{"id", coloured.ID, bare.ID, "\x1b[36;1mx%d\x1b["},
		{"strong", coloured.Strong, bare.Strong, "\x1b[1mx%d\x1b["},
		{"good", coloured.Good, bare.Good, "\x1b[32mx%d\x1b["},
		{"bad", coloured.Bad, bare.Bad, "\x1b[31;1mx%d\x1b["},
		{"caution", coloured.Caution, bare.Caution, "\x1b[33mx%d\x1b["},
		{"faint", coloured.Faint, bare.Faint, "\x1b[2mx%d\x1b["},
	} {
		if got := tt.coloured("x%d"); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if got := tt.plain("x%d"); got != "x%d" {
			t.Errorf("%s without colour: %q", tt.name, got)
		}
	}
}

// TestFilledLabel: the ink of a filled label goes from its indent to one blank
// before the text, on each line; that of another label ends with it.
func TestFilledLabel(t *testing.T) {
	bracket := func(s string) string { return "[" + s + "]" }
	for filled, want := range map[bool]string{
		true:  " [ab  ] line 1\n [    ] line 2\n",
		false: " [ab]   line 1\n      line 2\n",
	} {
		label := page.Label{Text: "ab", Indent: 1, Column: 6, Ink: bracket, Filled: filled}
		got := written(t, page.Layout{}, func(p *page.Page) { p.Hanging(label, numbered(2), page.Limit{}, p.Plain) })
		if got != want {
			t.Errorf("filled %v: %q, want %q", filled, got, want)
		}
	}
}

func TestLimitCut(t *testing.T) {
	for _, tt := range []struct{ limit, lines, shown, more int }{{0, 3, 3, 0}, {3, 3, 3, 0}, {2, 3, 2, 1}, {2, 0, 0, 0}} {
		shown, more := page.Limit{Lines: tt.limit}.Cut(numbered(tt.lines))
		if len(shown) != tt.shown || more != tt.more {
			t.Errorf("%d of %d lines: %d shown, %d more", tt.limit, tt.lines, len(shown), more)
		}
	}
}

func TestNoPageIsNarrowerThan40(t *testing.T) {
	for width, want := range map[int]int{-1: 40, 0: 40, 39: 40, 40: 40, 41: 41} {
		if got := (page.Layout{Width: width}).Page().Width(); got != want {
			t.Errorf("width %d: %d, want %d", width, got, want)
		}
	}
}

type full struct{}

var errFull = errors.New("full")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWriteToPassesTheErrorOn(t *testing.T) {
	p := page.Layout{}.Page()
	p.Line("x")
	if _, err := p.WriteTo(full{}); !errors.Is(err, errFull) {
		t.Errorf("got %v", err)
	}
}
