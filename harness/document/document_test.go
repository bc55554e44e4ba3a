package document

import (
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func TestEveryCharacterShows(t *testing.T) {
	for text, want := range map[string]string{
		"plain, ünïcode, 語, 🐕\n\tand lines":      "plain, ünïcode, 語, 🐕\n\tand lines",
		"<script>alert('x')</script>&amp;":       "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;amp;",
		"\x1b[31mred\x00\x7f":                    "[␛][31mred[␀][␡]",
		"a\r\nb":                                 "a[␍]\nb",
		"\u0085\u009b31m":                        "[U+0085][U+009B]31m",
		"safe\u202egnp.exe":                      "safe[U+202E]gnp.exe",
		"\u2066x\u2069\u200b\ufeff\u200d":        "[U+2066]x[U+2069][U+200B][U+FEFF][U+200D]",
		"\u2028\u00a0\u3000|\u3164|\ufe0f":       "[U+2028][U+00A0][U+3000]|[U+3164]|[U+FE0F]",
		"\xff\xc3(":                              `[\xff][\xc3](`,
		"\ufffd is a character like others":      "\ufffd is a character like others",
		"\U000e0041\ue000\ufffe":                 "[U+E0041][U+E000][U+FFFE]",
		"e\u0301e" + strings.Repeat("\u0301", 6): "e\u0301e" + strings.Repeat("\u0301", 4) + "[U+0301][U+0301]",
		"":                                       "",
	} {
		marked := strings.NewReplacer("[", `<b class="code">`, "]", "</b>").Replace(strings.ReplaceAll(want, "[31m", "\x00"))
		if got := string(Visible(text)); got != strings.ReplaceAll(marked, "\x00", "[31m") {
			t.Errorf("%q:\n got %s\nwant %s", text, got, marked)
		}
	}
	if got := Plain("a\x00\u202e<\xff"); got != `a␀U+202E<\xff` {
		t.Errorf("plain: %s", got)
	}
}

func TestExcerptsShowBothEnds(t *testing.T) {
	var lines []string
	for i := range 100 {
		lines = append(lines, "line "+strconv.Itoa(i))
	}
	text := strings.Join(lines, "\n")
	if got := Excerpt(text+"\n\n", 4000); got != template.HTML(text) {
		t.Errorf("a short text is cut: %s", got)
	}
	got := string(Excerpt(text, 200))
	if !strings.HasPrefix(got, "line 0\nline 1\n") || !strings.HasSuffix(got, "\nline 98\nline 99") || len(got) > 300 {
		t.Errorf("%s", got)
	}
	shown := strings.Count(got, "line ")
	if m := regexp.MustCompile(`>… (\d+) lines left out …<`).FindStringSubmatch(got); m == nil || m[1] != strconv.Itoa(100-shown) {
		t.Errorf("%d lines shown, and %v", shown, m)
	}
	wide := string(Excerpt(strings.Repeat("語", 40_000), 900))
	if len(wide) > 600 || !strings.HasPrefix(wide, "語") || !strings.HasSuffix(wide, "語") || strings.Contains(wide, `\x`) {
		t.Errorf("a wide line, %d bytes: %s", len(wide), wide)
	}
	if kept := strings.Count(wide, "語") * len("語"); !strings.Contains(wide, "… "+strconv.Itoa(120_000-kept)+" bytes left out …") {
		t.Errorf("%d bytes kept: %s", kept, wide)
	}
	for _, room := range []int{0, 1, 50, 119, 1000} {
		for _, text := range []string{"", "\n\n\n", strings.Repeat("\n", 500) + "x", strings.Repeat("\xff", 3000), strings.Repeat("ab\n", 3000)} {
			if n := len(Excerpt(text, room)); n > 40*(room+leastLine) {
				t.Errorf("room %d: %d bytes of HTML", room, n)
			}
		}
	}
}

func TestAnchors(t *testing.T) {
	for name, want := range map[string]string{
		"P4.2-3": "P4.2-3", "P4.2/first@http": "P4.2/first@http", "a b\"><": "a=20b=22=3E=3C", "é=%+": "=C3=A9=3D=25=2B",
	} {
		if got := Anchor(name); string(got) != want {
			t.Errorf("%q: %s; want %s", name, got, want)
		}
	}
}

func TestPolicyAllowsOnlyWhatIsThere(t *testing.T) {
	data, err := Document{Title: "<T>\u202e", Icon: "✗", Styles: []string{"p > b {}"}, Script: "1 < 2 && 'x';", Body: "<p>body</p>"}.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for _, tag := range []string{"style", "script"} {
		_, rest, _ := strings.Cut(text, "<"+tag+">")
		inline, _, _ := strings.Cut(rest, "</"+tag+">")
		sum := sha256.Sum256([]byte(inline))
		// In an attribute, + is written as a character reference.
		want := strings.ReplaceAll(tag+"-src &#39;sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"&#39;", "+", "&#43;")
		if inline == "" || !strings.Contains(text, want) {
			t.Errorf("%s: the policy does not name %s:\n%.900s", tag, want, text)
		}
	}
	for _, want := range []string{"<title>&lt;T&gt;U&#43;202E</title>", "default-src &#39;none&#39;", "<p>body</p>", "base-uri &#39;none&#39;"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing:\n%.900s", want, text)
		}
	}
	bare, err := Document{Title: "t"}.Bytes()
	if err != nil || strings.Contains(string(bare), "script") {
		t.Errorf("without a script: %v\n%s", err, bare)
	}
}

// The pairs of colours that text is set in, each to be told apart by people who see
// contrast badly: WCAG 2 asks for 4.5 to 1.
func TestContrast(t *testing.T) {
	light, rest, _ := strings.Cut(Sheet, "@media (prefers-color-scheme: dark)")
	dark, print, _ := strings.Cut(rest, "@media print")
	colours := map[string]string{}
	for _, scheme := range []struct{ name, css string }{{"light", light}, {"dark", dark}, {"print", print}} {
		for _, m := range regexp.MustCompile(`--([a-z-]+): (#[0-9a-f]{3,6});`).FindAllStringSubmatch(scheme.css, -1) {
			colours[m[1]] = m[2]
		}
		pairs := 0
		check := func(ink, ground string, least float64) {
			pairs++
			if c := contrast(t, colours[ink], colours[ground]); c < least {
				t.Errorf("%s: %s on %s has a contrast of %.2f, below %.1f", scheme.name, ink, ground, c, least)
			}
		}
		for _, ground := range []string{"paper", "sunk", "raised", "fail-tint", "warn-tint", "error-tint", "unstable-tint"} {
			for _, ink := range []string{"ink", "muted", "link", "pass", "fail", "warn", "error", "unstable", "quiet"} {
				check(ink, ground, 4.5)
			}
		}
		for _, ground := range []string{"paper", "sunk", "raised"} {
			check("edge", ground, 3) // of controls
			check("focus", ground, 3)
		}
		if pairs < 60 {
			t.Errorf("only %d pairs", pairs)
		}
	}
}

func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	hex := strings.TrimPrefix(colour, "#")
	if len(hex) == 3 {
		hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
	}
	n, err := strconv.ParseUint(hex, 16, 32)
	if err != nil || len(hex) != 6 {
		t.Fatalf("colour %q: %v", colour, err)
	}
	linear := func(byte uint64) float64 {
		c := float64(byte&0xff) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(n>>16) + 0.7152*linear(n>>8) + 0.0722*linear(n)
}
