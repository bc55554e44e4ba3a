package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/pugcheck/pugcheck/harness/document"
	"github.com/pugcheck/pugcheck/harness/page"
)

// markdown is the result for the step summary of a CI job, or a comment: the conclusion
// first, then what is wrong with the evidence for it, folded away.
//
// It is always smaller than what a step summary may be, with room left for what else a
// step writes. What does not fit is left out whole, and a note says so.
func markdown(r *Result, _ string) ([]byte, error) {
	p := &markdownPage{r: r, scenarios: r.byID(), traced: map[string]string{}}
	p.limit = markdownLimit - markdownNotes
	p.head()
	p.outline()
	p.limit = (markdownLimit - markdownNotes) * 3 / 4
	p.violations(Fail, func(c *Clause) bool { return c.Against() && c.Known == "" })
	p.limit = markdownLimit - markdownNotes
	p.troubles()
	p.known()
	p.violations(Error, func(c *Clause) bool { return c.Verdict == Error })
	p.violations(Warn, func(c *Clause) bool {
		return c.Known == "" && (c.Verdict == Warn || c.Verdict == Unstable && !c.Against())
	})
	p.undecided(NotExercised)
	p.undecided(Untestable)
	p.undecided(NotJudged)
	p.limit = markdownLimit
	p.end()
	return []byte(p.b.String()), nil
}

// GitHub refuses a step's summary of more than 1 MiB as a whole. The notes are what is
// said of what did not fit.
const (
	markdownLimit = 960 << 10
	markdownNotes = 2 << 10
)

// How much of a text is shown here; the JSON form has all of it.
var (
	markdownSeen  = extent{40, 500}
	markdownTrace = extent{60, 300}
)

type markdownPage struct {
	r         *Result
	b         strings.Builder
	limit     int
	left      int // parts that did not fit
	scenarios map[string]*Scenario
	traced    map[string]string // scenario → clause that shows what happened in it
}

// add writes a part, or leaves it out where it doesn't fit.
func (p *markdownPage) add(part string) bool {
	if p.b.Len()+len(part) > p.limit {
		p.left++
		return false
	}
	p.b.WriteString(part)
	return true
}

func (p *markdownPage) head() {
	c := p.r.Conclude()
	p.add(fmt.Sprintf("## pugcheck %s: %s\n\n", document.MarkdownText(p.r.Suite), document.MarkdownCode(phrase(p.r.Subject.Name, 200))))
	mark := standingMarks[c.Standing]
	if c.Standing == Conforming && !c.Whole {
		mark = "🟡" // not shown as a whole
	}
	p.add(fmt.Sprintf("%s **%s**\n\n", mark, document.MarkdownText(phrase(c.Statement, 2000))))
	var details strings.Builder
	for _, d := range c.Details {
		fmt.Fprintf(&details, "- %s\n", document.MarkdownText(phrase(d, 1000)))
	}
	if details.Len() > 0 {
		p.add(details.String() + "\n")
	}
}

// standingMarks stand in front of the conclusion; the words say the same.
var standingMarks = map[Standing]string{Conforming: "✅", AsListed: "🟠", NotConforming: "❌", Outdated: "❌", Incomplete: "⚠️", Troubled: "⚠️"}

// columns are the counts of a section, for the verdicts that occur.
func (s Summary) columns() []tally {
	var out []tally
	for _, t := range s.tallies() {
		if t.n > 0 || t.verdict == Pass || t.verdict == Fail {
			out = append(out, t)
		}
	}
	return out
}

// outline counts the clauses by section.
func (p *markdownPage) outline() {
	columns := p.r.Summary.columns()
	sections, counts := p.r.outlined()
	if len(sections) == 0 {
		return
	}
	var b strings.Builder
	b.WriteString("| section |")
	rule := "| --- |"
	for _, t := range columns {
		fmt.Fprintf(&b, " %s |", t.long)
		rule += " ---: |"
	}
	b.WriteString("\n" + rule + "\n")
	row := func(name string, n func(Verdict) int) {
		b.WriteString("| " + name + " |")
		for _, t := range columns {
			if k := n(t.verdict); k > 0 {
				fmt.Fprintf(&b, " %d |", k)
			} else {
				b.WriteString(" |")
			}
		}
		b.WriteString("\n")
	}
	for _, sec := range sections {
		row(strings.TrimSpace(document.MarkdownText(phrase(sec.ID+" "+sec.Title, 200))), func(v Verdict) int { return counts[sec.ID][v] })
	}
	row("**all**", func(v Verdict) int {
		n := 0
		for _, sec := range sections {
			n += counts[sec.ID][v]
		}
		return n
	})
	p.add(b.String() + "\n")
}

// violations show the clauses that count as of a kind, each folded away. Those that do not fit are
// named at least.
func (p *markdownPage) violations(kind Verdict, of func(*Clause) bool) {
	var clauses []*Clause
	for i := range p.r.Clauses {
		if of(&p.r.Clauses[i]) {
			clauses = append(clauses, &p.r.Clauses[i])
		}
	}
	if len(clauses) == 0 || !p.add(fmt.Sprintf("### %s: %s\n\n", headings[kind].title, page.Count(len(clauses), "clause"))) {
		return
	}
	for i, c := range clauses {
		if p.add(p.violation(c)) {
			continue
		}
		var rest []string
		for _, c := range clauses[i:] {
			rest = append(rest, c.ID)
		}
		p.left += len(rest) - 1
		limit := p.limit
		p.limit += markdownNotes / 4
		p.add(fmt.Sprintf("%s of %s are shown with their evidence. The others: %s\n\n", fmt.Sprint(i), page.Count(len(clauses), "clause"), document.MarkdownText(phrase(strings.Join(rest, " "), markdownNotes/8))))
		p.limit = limit
		return
	}
}

// violation is one clause with its observations, what happened, and the command that
// shows it again.
func (p *markdownPage) violation(c *Clause) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<details><summary>%s <b>%s</b> %s: %s</summary>\n\n", marks[c.Verdict], document.MarkdownHTML(c.ID), document.MarkdownHTML(c.Level), document.MarkdownHTML(phrase(c.Requirement, 300)))
	if len([]rune(c.Requirement)) > 300 {
		fmt.Fprintf(&b, "%s\n\n", document.MarkdownText(phrase(c.Requirement, 2000)))
	}
	if c.Reason != "" {
		fmt.Fprintf(&b, "%s\n\n", document.MarkdownText(phrase(c.Reason, 1000)))
	}
	first := ""
	for _, e := range c.violations() {
		first = cmp.Or(first, e.Scenario)
		for _, f := range e.fields() {
			text := markdownSeen.excerpt(f.text)
			if f.name == "acceptable" || f.name == "seen" || strings.Contains(text, "\n") {
				fmt.Fprintf(&b, "%s:\n\n%s\n", f.name, document.MarkdownFence("", text))
			} else {
				fmt.Fprintf(&b, "- %s: %s\n", f.name, document.MarkdownCode(text))
			}
		}
		fmt.Fprintf(&b, "- scenario: %s\n", document.MarkdownCode(phrase(e.Scenario, 200)))
		if sc := p.scenarios[e.Scenario]; sc != nil && e.Scenario != first && sc.Repro != "" {
			fmt.Fprintf(&b, "- repeat with: %s\n", document.MarkdownCode(phrase(sc.Repro, 1000)))
		}
		b.WriteString("\n")
	}
	if c.MoreEvidence > 0 {
		fmt.Fprintf(&b, "And %s.\n\n", page.Count(c.MoreEvidence, "further observation"))
	}
	for _, e := range c.violations() {
		sc := p.scenarios[e.Scenario]
		if sc == nil {
			continue
		}
		if sc.Repro != "" {
			fmt.Fprintf(&b, "Repeat with:\n\n%s\n", document.MarkdownFence("sh", sc.Repro))
		}
		if record := sc.record(markdownTrace); record != "" {
			if at, shown := p.traced[sc.ID]; shown {
				fmt.Fprintf(&b, "What happened stands at %s.\n\n", document.MarkdownText(at))
			} else {
				p.traced[sc.ID] = c.ID
				fmt.Fprintf(&b, "What happened:\n\n%s\n", document.MarkdownFence("", strings.TrimRight(record, "\n")))
			}
		}
		break // the others are variations of the gravest
	}
	b.WriteString("</details>\n\n")
	return b.String()
}

// troubles are what went wrong beside the clauses. How the run ended is in the
// conclusion already.
func (p *markdownPage) troubles() {
	var b strings.Builder
	for _, t := range p.r.troubles() {
		if t.what == theRun {
			continue
		}
		fmt.Fprintf(&b, "- **%s**: %s\n", document.MarkdownText(t.what), document.MarkdownText(phrase(t.text, 1000)))
		if t.repro != "" {
			fmt.Fprintf(&b, "  Repeat with %s\n", document.MarkdownCode(phrase(t.repro, 1000)))
		}
	}
	if b.Len() > 0 {
		p.add("### Beside the clauses\n\n" + b.String() + "\n")
	}
}

// known are the failures that are tolerated, with the reason.
func (p *markdownPage) known() {
	var b strings.Builder
	n := 0
	for _, c := range p.r.Clauses {
		if c.Known == "" {
			continue
		}
		seen := ""
		for _, e := range c.violations() {
			seen = cmp.Or(seen, e.Seen)
		}
		n++
		fmt.Fprintf(&b, "| %s | %s | %s |\n", document.MarkdownText(c.ID), document.MarkdownText(phrase(c.Known, 300)), document.MarkdownCell(phrase(seen, 300)))
	}
	if n > 0 {
		p.add(fmt.Sprintf("### Known failures: %s\n\n| clause | tolerated, because | seen |\n| --- | --- | --- |\n%s\n", page.Count(n, "clause"), b.String()))
	}
}

// undecided lists what nothing decided, by reason.
func (p *markdownPage) undecided(v Verdict) {
	var clauses []Clause
	for _, c := range p.r.Clauses {
		if c.Verdict == v {
			clauses = append(clauses, c)
		}
	}
	if len(clauses) == 0 {
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<details><summary>%s: %s</summary>\n\n", headings[v].title, page.Count(len(clauses), "clause"))
	for _, g := range byReason(clauses) {
		fmt.Fprintf(&b, "- %s: %s\n", document.MarkdownText(phrase(cmp.Or(g.reason, "no reason was given"), 400)), document.MarkdownText(phrase(strings.Join(g.ids, " "), 2000)))
	}
	b.WriteString("\n</details>\n\n")
	p.add(b.String())
}

// end says under which circumstances the result came about, and what was left out.
func (p *markdownPage) end() {
	var parts []string
	for _, f := range p.r.circumstances() {
		if f.name != "conclusion" && f.name != "details" {
			parts = append(parts, document.MarkdownText(f.name)+" "+document.MarkdownCode(phrase(f.text, 100)))
		}
	}
	if !p.add(strings.Join(parts, " · ") + "\n") {
		p.left++
	}
	if p.left > 0 {
		p.b.WriteString(fmt.Sprintf("\n> **Cut to fit into a step summary**: %s left out above. `--report json=FILE` has everything.\n", wasWere(p.left, "part")))
	}
}

func wasWere(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " was"
	}
	return page.Count(n, noun) + " were"
}
