package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pugcheck/pugcheck/harness/document"
	"github.com/pugcheck/pugcheck/harness/page"
)

// extent is how much of a long text a form shows: lines, and characters of a line.
type extent struct{ lines, width int }

// How much goes into one file of a form that other programs read. The JSON form has
// all of it.
var (
	ofSeen  = extent{60, 1000}
	ofTrace = extent{200, 1000}
)

// excerpt is a text in which every character shows, as far as it goes into an extent.
// It begins and ends as the text does: records of what happened are read from both ends.
func (x extent) excerpt(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	more, head := len(lines)-x.lines, x.lines*2/3
	if more > 0 {
		lines = slices.Concat(lines[:head], lines[head+more:])
	}
	for i, l := range lines {
		lines[i] = page.Middle(document.Plain(strings.TrimSuffix(l, "\r")), x.width)
	}
	if more > 0 {
		lines = slices.Insert(lines, head, fmt.Sprintf("… %s left out …", page.Count(more, "line")))
	}
	return strings.Join(lines, "\n")
}

// phrase is a text as one line of at most width characters.
func phrase(text string, width int) string {
	// Of a very long text only the beginning is looked at, blanks and all.
	end := ""
	if enough := 16*width + 64; len(text) > enough {
		for enough > 0 && !utf8.RuneStart(text[enough]) {
			enough--
		}
		text, end = text[:enough], " …"
	}
	return page.Truncate(page.OneLine(document.Plain(text))+end, width)
}

// field is a named text about an observation.
type field struct{ name, text string }

// fields are what is known about an observation, without what is empty. Where and how
// often come last.
func (e Evidence) fields() []field {
	var out []field
	add := func(name, text string) {
		if text != "" {
			out = append(out, field{name, text})
		}
	}
	add("acceptable", e.Acceptable)
	add("seen", e.Seen)
	add("checked by", e.Where)
	if e.Times > 1 {
		add("times", fmt.Sprint(e.Times))
	}
	if len(e.Runs) > 0 {
		add("in runs", strings.Trim(fmt.Sprint(e.Runs), "[]"))
	}
	add("readings", strings.Join(e.Readings, " "))
	return out
}

// text is an observation for people, labels in front and long texts below them.
func (e Evidence) text(x extent) string {
	var b strings.Builder
	for _, f := range e.fields() {
		text := x.excerpt(f.text)
		if strings.Contains(text, "\n") {
			text = "\n    " + strings.ReplaceAll(text, "\n", "\n    ")
		} else {
			text = " " + text
		}
		fmt.Fprintf(&b, "%s:%s\n", f.name, text)
	}
	return b.String()
}

// record is what happened in a scenario, for people: its blocks, or else its timeline.
func (sc *Scenario) record(x extent) string {
	var b strings.Builder
	for _, block := range sc.Trace {
		fmt.Fprintf(&b, "--- %s\n%s\n", phrase(block.Title, x.width), x.excerpt(block.Text))
	}
	if len(sc.Trace) == 0 && len(sc.Timeline) > 0 {
		var lines []string
		for _, e := range sc.Timeline {
			lines = append(lines, fmt.Sprintf("%8.1f ms  %-8s %s", e.AtMS, e.Lane, phrase(e.Text, x.width)))
		}
		fmt.Fprintf(&b, "--- what happened\n%s\n", x.excerpt(strings.Join(lines, "\n")))
	}
	if sc.Artifacts != "" {
		fmt.Fprintf(&b, "--- kept in\n%s\n", phrase(sc.Artifacts, x.width))
	}
	return b.String()
}

// violations are the observations that a verdict rests on.
func (c *Clause) violations() []Evidence {
	var out []Evidence
	for _, e := range c.Evidence {
		if e.Verdict.isFault() {
			out = append(out, e)
		}
	}
	return out
}
