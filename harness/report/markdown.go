package report

import (
	"cmp"
	"fmt"
	"strings"
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
	p.violations("Failed", func(c *Clause) bool { return c.Against() && c.Known == "" })
	p.limit = markdownLimit - markdownNotes
	p.troubles()
	p.known()
	p.violations("The suite or its environment broke", func(c *Clause) bool { return c.Verdict == Error })
	p.violations("Warned", func(c *Clause) bool { return c.Verdict == Warn || c.Verdict == Unstable && !c.Against() })
	p.undecided(NotExercised, "Not exercised")
	p.undecided(Untestable, "Untestable")
	p.undecided(NotJudged, "Not judged")
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
	p.add(fmt.Sprintf("## pugcheck %s: %s\n\n", markdownText(p.r.Suite), markdownCode(phrase(p.r.Subject.Name, 200))))
	mark := standingMarks[c.Standing]
	if c.Standing == Conforming && !c.Whole {
		mark = "🟡" // not shown as a whole
	}
	p.add(fmt.Sprintf("%s **%s**\n\n", mark, markdownText(phrase(c.Statement, 2000))))
	var details strings.Builder
	for _, d := range c.Details {
		fmt.Fprintf(&details, "- %s\n", markdownText(phrase(d, 1000)))
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
	counts := map[string]map[Verdict]int{}
	var order []string
	for _, c := range p.r.Clauses {
		if counts[c.Section] == nil {
			counts[c.Section] = map[Verdict]int{}
			order = append(order, c.Section)
		}
		counts[c.Section][c.Verdict]++
	}
	if len(order) == 0 {
		return
	}
	titles := map[string]string{}
	for _, s := range p.r.Sections {
		titles[s.ID] = s.Title
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
	for _, id := range order {
		row(strings.TrimSpace(markdownText(phrase(id+" "+titles[id], 200))), func(v Verdict) int { return counts[id][v] })
	}
	row("**all**", func(v Verdict) int {
		n := 0
		for _, id := range order {
			n += counts[id][v]
		}
		return n
	})
	p.add(b.String() + "\n")
}

// violations show the clauses of a kind, each folded away. Those that do not fit are
// named at least.
func (p *markdownPage) violations(title string, of func(*Clause) bool) {
	var clauses []*Clause
	for i := range p.r.Clauses {
		if of(&p.r.Clauses[i]) {
			clauses = append(clauses, &p.r.Clauses[i])
		}
	}
	if len(clauses) == 0 || !p.add(fmt.Sprintf("### %s: %s\n\n", title, count(len(clauses), "clause"))) {
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
		p.add(fmt.Sprintf("%s of %s are shown with their evidence. The others: %s\n\n", fmt.Sprint(i), count(len(clauses), "clause"), markdownText(phrase(strings.Join(rest, " "), markdownNotes/8))))
		p.limit = limit
		return
	}
}

// violation is one clause with its observations, what happened, and the command that
// shows it again.
func (p *markdownPage) violation(c *Clause) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<details><summary>%s <b>%s</b> %s: %s</summary>\n\n", marks[c.Verdict], markdownHTML(c.ID), markdownHTML(c.Level), markdownHTML(phrase(c.Requirement, 300)))
	if len([]rune(c.Requirement)) > 300 {
		fmt.Fprintf(&b, "%s\n\n", markdownText(phrase(c.Requirement, 2000)))
	}
	if c.Reason != "" {
		fmt.Fprintf(&b, "%s\n\n", markdownText(phrase(c.Reason, 1000)))
	}
	first := ""
	for _, e := range c.violations() {
		first = cmp.Or(first, e.Scenario)
		for _, f := range e.fields() {
			text := markdownSeen.excerpt(f.text)
			if f.name == "acceptable" || f.name == "seen" || strings.Contains(text, "\n") {
				fmt.Fprintf(&b, "%s:\n\n%s\n", f.name, markdownFence("", text))
			} else {
				fmt.Fprintf(&b, "- %s: %s\n", f.name, markdownCode(text))
			}
		}
		fmt.Fprintf(&b, "- scenario: %s\n", markdownCode(phrase(e.Scenario, 200)))
		if sc := p.scenarios[e.Scenario]; sc != nil && e.Scenario != first && sc.Repro != "" {
			fmt.Fprintf(&b, "- repeat with: %s\n", markdownCode(phrase(sc.Repro, 1000)))
		}
		b.WriteString("\n")
	}
	if c.MoreEvidence > 0 {
		fmt.Fprintf(&b, "And %s.\n\n", count(c.MoreEvidence, "further observation"))
	}
	for _, e := range c.violations() {
		sc := p.scenarios[e.Scenario]
		if sc == nil {
			continue
		}
		if sc.Repro != "" {
			fmt.Fprintf(&b, "Repeat with:\n\n%s\n", markdownFence("sh", sc.Repro))
		}
		if record := sc.record(markdownTrace); record != "" {
			if at, shown := p.traced[sc.ID]; shown {
				fmt.Fprintf(&b, "What happened stands at %s.\n\n", markdownText(at))
			} else {
				p.traced[sc.ID] = c.ID
				fmt.Fprintf(&b, "What happened:\n\n%s\n", markdownFence("", strings.TrimRight(record, "\n")))
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
		fmt.Fprintf(&b, "- **%s**: %s\n", markdownText(t.what), markdownText(phrase(t.text, 1000)))
		if t.repro != "" {
			fmt.Fprintf(&b, "  Repeat with %s\n", markdownCode(phrase(t.repro, 1000)))
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
		fmt.Fprintf(&b, "| %s | %s | %s |\n", markdownText(c.ID), markdownText(phrase(c.Known, 300)), markdownCell(phrase(seen, 300)))
	}
	if n > 0 {
		p.add(fmt.Sprintf("### Known failures: %s\n\n| clause | tolerated, because | seen |\n| --- | --- | --- |\n%s\n", count(n, "clause"), b.String()))
	}
}

// undecided lists what nothing decided, by reason.
func (p *markdownPage) undecided(v Verdict, title string) {
	byReason := map[string][]string{}
	var reasons []string
	n := 0
	for _, c := range p.r.Clauses {
		if c.Verdict != v {
			continue
		}
		if byReason[c.Reason] == nil {
			reasons = append(reasons, c.Reason)
		}
		byReason[c.Reason] = append(byReason[c.Reason], c.ID)
		n++
	}
	if n == 0 {
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<details><summary>%s: %s</summary>\n\n", title, count(n, "clause"))
	for _, reason := range reasons {
		fmt.Fprintf(&b, "- %s: %s\n", markdownText(phrase(cmp.Or(reason, "no reason was given"), 400)), markdownText(phrase(strings.Join(byReason[reason], " "), 2000)))
	}
	b.WriteString("\n</details>\n\n")
	p.add(b.String())
}

// end says under which circumstances the result came about, and what was left out.
func (p *markdownPage) end() {
	var parts []string
	for _, f := range p.r.circumstances() {
		if f.name != "conclusion" && f.name != "details" {
			parts = append(parts, markdownText(f.name)+" "+markdownCode(phrase(f.text, 100)))
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
	return count(n, noun) + " were"
}
