// Package compare shows results beside each other: what changed from one to another, and how
// several implementations stand in each section.
package compare

import "github.com/pugcheck/pugcheck/harness/report"

// signs are verdicts in Markdown and HTML, where there is room for a sign that is seen from afar.
var signs = map[report.Verdict]string{
	report.Pass: "✅", report.Fail: "❌", report.Warn: "⚠️", report.Unstable: "🔀", report.Error: "💥",
	report.NotExercised: "➖", report.NotJudged: "➖", report.Untestable: "➖",
}
