// Package compare shows results beside each other: what changed from one to another, and how
// several implementations stand in each section.
package compare

import (
	"fmt"
	"strings"

	"github.com/pugcheck/pugcheck/harness/report"
)

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// oneLine is a text without line breaks.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// escapes is what Markdown and the HTML within it would take for markup.
var escapes = strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "~", `\~`, "#", `\#`)

// inline is a text as a piece of one line of Markdown, also within a table.
func inline(text string) string { return escapes.Replace(oneLine(text)) }

// fenced is a text as a block of code, whatever backticks it holds.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "text\n" + strings.TrimRight(text, "\n") + "\n" + fence + "\n"
}

// signs are verdicts in Markdown and HTML, where there is room for a sign that is seen from afar.
var signs = map[report.Verdict]string{
	report.Pass: "✅", report.Fail: "❌", report.Warn: "⚠️", report.Unstable: "🔀", report.Error: "💥",
	report.NotExercised: "➖", report.NotJudged: "➖", report.Untestable: "➖",
}
