package document

import (
	"fmt"
	"html"
	"strings"

	"github.com/pugcheck/pugcheck/harness/page"
)

// markdownEscapes is what means something within a line of GitHub's Markdown, table cells
// included: also links that are made of bare addresses, and formulas.
var markdownEscapes = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", `*`, `\*`, `_`, `\_`, `[`, `\[`, `]`, `\]`, `<`, `\<`, `>`, `\>`, `#`, `\#`,
	`|`, `\|`, `~`, `\~`, `&`, `\&`, `$`, `\$`, `://`, `\://`, `www.`, `www\.`, `@`, `\@`,
)

// MarkdownText is a text as one line of Markdown that says what the text says.
func MarkdownText(text string) string {
	return markdownEscapes.Replace(page.OneLine(Plain(text)))
}

// MarkdownHTML is a text as one line within an element of HTML.
func MarkdownHTML(text string) string {
	return html.EscapeString(page.OneLine(Plain(text)))
}

// MarkdownCode is a text as a code span.
func MarkdownCode(text string) string {
	text = page.OneLine(Plain(text))
	if text == "" {
		return ""
	}
	ticks := strings.Repeat("`", longestRun(text, '`')+1)
	pad := ""
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		pad = " "
	}
	return ticks + pad + text + pad + ticks
}

// MarkdownCell is a text as a code span in a table, where a bar ends the cell even in
// code.
func MarkdownCell(text string) string {
	return strings.ReplaceAll(MarkdownCode(text), "|", `\|`)
}

// MarkdownFence is a text as a block of code, fenced by more backticks than stand
// anywhere in it.
func MarkdownFence(language, text string) string {
	text = Plain(text)
	fence := strings.Repeat("`", max(3, longestRun(text, '`')+1))
	return fmt.Sprintf("%s%s\n%s\n%s\n", fence, language, text, fence)
}

// longestRun is how often a character follows itself, at most.
func longestRun(text string, of rune) int {
	longest, n := 0, 0
	for _, r := range text {
		if r != of {
			n = 0
			continue
		}
		n++
		longest = max(longest, n)
	}
	return longest
}
