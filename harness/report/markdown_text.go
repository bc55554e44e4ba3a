package report

import (
	"fmt"
	"html"
	"strings"

	"github.com/pugcheck/pugcheck/harness/document"
)

// markdownEscapes is what means something within a line of GitHub's Markdown, table cells
// included: also links that are made of bare addresses, and formulas.
var markdownEscapes = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", `*`, `\*`, `_`, `\_`, `[`, `\[`, `]`, `\]`, `<`, `\<`, `>`, `\>`, `#`, `\#`,
	`|`, `\|`, `~`, `\~`, `&`, `\&`, `$`, `\$`, `://`, `\://`, `www.`, `www\.`, `@`, `\@`,
)

// markdownText is a text as one line of Markdown that says what the text says.
func markdownText(text string) string {
	return markdownEscapes.Replace(strings.Join(strings.Fields(document.Plain(text)), " "))
}

// markdownHTML is a text as one line within an element of HTML.
func markdownHTML(text string) string {
	return html.EscapeString(strings.Join(strings.Fields(document.Plain(text)), " "))
}

// markdownCode is a text as a code span.
func markdownCode(text string) string {
	text = strings.Join(strings.Fields(document.Plain(text)), " ")
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

// markdownCell is a text as a code span in a table, where a bar ends the cell even in
// code.
func markdownCell(text string) string {
	return strings.ReplaceAll(markdownCode(text), "|", `\|`)
}

// markdownFence is a text as a block of code, fenced by more backticks than stand
// anywhere in it.
func markdownFence(language, text string) string {
	text = document.Plain(text)
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
