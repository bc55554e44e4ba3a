package compare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pugcheck/pugcheck/harness/document"
	"github.com/pugcheck/pugcheck/harness/report"
)

// DiffFormats are the forms that a comparison of two results can be written in.
var DiffFormats = []string{"json", "markdown"}

// RenderDiff is a comparison in one of the DiffFormats.
func RenderDiff(d *report.Diff, format string) ([]byte, error) {
	switch format {
	case "json":
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(d); err != nil {
			return nil, fmt.Errorf("comparison as JSON: %w", err)
		}
		return b.Bytes(), nil
	case "markdown":
		return []byte(diffMarkdown(d)), nil
	}
	return nil, fmt.Errorf("unknown format %q; known are %s", format, strings.Join(DiffFormats, ", "))
}

// diffMarkdown fits a comment on a pull request: the sentence first, then a table for each
// kind of change, the evidence of regressions folded away.
func diffMarkdown(d *report.Diff) string {
	var b strings.Builder
	sign := "✅"
	if d.Regressed() {
		sign = "❌"
	}
	fmt.Fprintf(&b, "### %s %s: %s\n\n%s\n\n", sign, document.MarkdownText(d.New.Suite), document.MarkdownText(d.New.Subject), document.MarkdownText(d.Sentence()))
	fmt.Fprintf(&b, "- before: %s\n- now: %s\n", document.MarkdownText(describe(d.Old)), document.MarkdownText(describe(d.New)))
	for _, n := range d.Notes {
		fmt.Fprintf(&b, "- note: %s\n", document.MarkdownText(n))
	}
	for _, part := range []struct {
		title string
		list  []report.Change
	}{{"Regressions", d.Regressions}, {"Improvements", d.Improvements}, {"Other changes", d.Others}} {
		if len(part.list) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n#### %s\n\n| clause | level | before | now | what is demanded |\n| --- | --- | --- | --- | --- |\n", part.title)
		for _, c := range part.list {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", document.MarkdownText(c.Clause), c.Level, marked(c.Old), marked(c.New), document.MarkdownText(c.Requirement))
		}
	}
	for _, c := range d.Regressions {
		writeEvidence(&b, c)
	}
	for _, part := range []struct {
		title string
		list  []report.Change
	}{{"Added", d.Added}, {"Gone", d.Gone}, {"Failing or unstable as before", d.Still}} {
		if len(part.list) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n#### %s\n\n", part.title)
		for _, g := range grouped(part.list, func(c report.Change) string { return string(shown(c)) }) {
			fmt.Fprintf(&b, "- %s: %s\n", marked(shown(g.first)), document.MarkdownText(strings.Join(g.ids, ", ")))
		}
	}
	return b.String()
}

func marked(v report.Verdict) string { return signs[v] + " " + v.Words() }

// writeEvidence writes why a clause regressed.
func writeEvidence(b *strings.Builder, c report.Change) {
	e := c.Evidence
	if e == nil && c.Reason == "" {
		return
	}
	fmt.Fprintf(b, "\n<details><summary>%s: %s</summary>\n\n", document.MarkdownHTML(c.Clause), becoming(c))
	if e == nil {
		fmt.Fprintf(b, "%s\n", document.MarkdownText(c.Reason))
	} else {
		if e.Acceptable != "" {
			fmt.Fprintf(b, "Acceptable:\n\n%s\n", document.MarkdownFence("text", e.Acceptable))
		}
		if e.Seen != "" {
			fmt.Fprintf(b, "Seen in %s:\n\n%s\n", document.MarkdownText(place(e)), document.MarkdownFence("text", e.Seen))
		}
		if c.Repro != "" {
			fmt.Fprintf(b, "Repeat with:\n\n%s\n", document.MarkdownFence("text", c.Repro))
		}
	}
	b.WriteString("</details>\n")
}
