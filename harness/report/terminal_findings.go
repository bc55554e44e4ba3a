package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pugcheck/pugcheck/harness/page"
)

// failures shows each failing clause with everything that a reader needs to see
// the fault, and the command that repeats it.
func (p *terminalPage) failures() {
	failed := p.byVerdict(Fail)
	if len(failed) == 0 {
		return
	}
	p.headline(Fail, failed)
	for _, c := range failed {
		p.heading(c)
		p.field("Requirement", c.Requirement, all, p.Plain)
		violations := ofVerdict(c.Evidence, Fail)
		for i, e := range violations {
			if i > 0 && !p.Verbose {
				break
			}
			if i > 0 {
				p.Line("  " + p.Faint("and"))
			}
			p.violation(e)
			p.readings(e, c)
			p.traceOnce(e.Scenario, c.ID)
			p.repeat(e.Scenario)
		}
		p.others(violations, c.MoreEvidence)
		if p.Explain != "" {
			p.field("Explained by", p.Explain+" "+c.ID, all, p.Faint)
		}
	}
}

// violation is one observation in full.
func (p *terminalPage) violation(e Evidence) {
	p.field("Acceptable", e.Acceptable, p.limit(linesOfSeen), p.Good)
	p.field("Seen", e.Seen, p.limit(linesOfSeen), p.Bad)
	p.field("Scenario", p.place(e), all, p.Plain)
}

// place names the scenario, the check and how often it was violated there.
func (p *terminalPage) place(e Evidence) string {
	s := e.Scenario
	if sc := p.scenarios[e.Scenario]; sc != nil && sc.Title != "" {
		s += ": " + sc.Title
	}
	if e.Where != "" {
		s += " (" + e.Where + ")"
	}
	if e.Times > 1 {
		s += fmt.Sprintf(", %d times", e.Times)
	}
	if len(e.Runs) > 0 {
		s += ", in " + RunList(e.Runs)
	}
	return s
}

// others names the further violations of a clause, shortly.
func (p *terminalPage) others(violations []Evidence, more int) {
	if p.Verbose {
		if more > 0 {
			p.field("And", page.Count(more, "further observation")+", not kept", all, p.Faint)
		}
		return
	}
	if len(violations) < 2 && more == 0 {
		return
	}
	var names []string
	here := 0
	for _, e := range violations[1:] {
		switch {
		case e.Scenario == violations[0].Scenario:
			here++
		case !slices.Contains(names, e.Scenario):
			names = append(names, e.Scenario)
		}
	}
	var parts []string
	if here > 0 {
		parts = append(parts, fmt.Sprintf("%d more in the same scenario", here))
	}
	parts = append(parts, names...)
	text := strings.Join(parts, ", ")
	if text != "" {
		text += " (-v shows them)"
	}
	if more > 0 {
		text = strings.TrimPrefix(fmt.Sprintf("%s, and %d much like these, not kept", text, more), ", and ")
	}
	p.field("And", text, all, p.Faint)
}

// readings are those that the check leaned on, or else those of the clause.
func (p *terminalPage) readings(e Evidence, c Clause) {
	ids := e.Readings
	if len(ids) == 0 {
		ids = c.Readings
	}
	for _, id := range ids {
		p.field("Reading", p.r.reading(id), all, p.Plain)
	}
}

// traceOnce shows the requests and bytes of a scenario, the first time that a
// clause needs them; afterwards it points there.
func (p *terminalPage) traceOnce(scenario, below string) {
	sc := p.scenarios[scenario]
	if sc == nil || len(sc.Trace) == 0 {
		return
	}
	if at, ok := p.shown[scenario]; ok {
		p.field("Trace", "stands above, under "+at, all, p.Faint)
		return
	}
	p.shown[scenario] = below
	for _, b := range sc.Trace {
		p.Line("  " + p.Faint(b.Title))
		p.Excerpt(6, cmp.Or(strings.TrimRight(b.Text, "\n"), "none"), p.limit(linesOfTrace))
	}
}

func (p *terminalPage) repeat(scenario string) {
	sc := p.scenarios[scenario]
	if sc == nil {
		return
	}
	// Not wrapped: they are there to be copied.
	if sc.Repro != "" {
		p.Hanging(p.label("Repeat with"), []string{sc.Repro}, all, p.Plain)
	}
	if sc.Artifacts != "" {
		p.Hanging(p.label("Kept in"), []string{seenFrom(".", sc.Artifacts)}, all, p.Plain)
	}
}

// warnings are shorter: what was seen, where, and on what it rests.
func (p *terminalPage) warnings() {
	warned := p.byVerdict(Warn)
	if len(warned) == 0 {
		return
	}
	p.headline(Warn, warned)
	for _, c := range warned {
		p.heading(c)
		p.field("Requirement", c.Requirement, p.limit(linesOfWarn), p.Plain)
		violations := ofVerdict(c.Evidence, Warn)
		for i, e := range violations {
			if i > 0 && !p.Verbose {
				break
			}
			p.field("Acceptable", e.Acceptable, p.limit(linesOfWarn), p.Plain)
			p.field("Seen", e.Seen, p.limit(linesOfWarn), p.Caution)
			p.field("Scenario", p.place(e), p.limit(linesOfWarn), p.Plain)
			p.readings(e, c)
			if p.Verbose {
				p.traceOnce(e.Scenario, c.ID)
				p.repeat(e.Scenario)
			}
		}
		p.others(violations, c.MoreEvidence)
	}
}

// errors shows what broke, by scenario: one fault takes many clauses along.
func (p *terminalPage) errors() {
	type fault struct {
		scenario, what string
		clauses        []string
	}
	var faults []*fault
	find := func(scenario, what string) *fault {
		for _, f := range faults {
			if f.scenario == scenario && f.what == what {
				return f
			}
		}
		faults = append(faults, &fault{scenario: scenario, what: what})
		return faults[len(faults)-1]
	}
	for _, sc := range p.r.Scenarios {
		if sc.Outcome == "error" {
			find(sc.ID, sc.Reason)
		}
	}
	for _, c := range p.r.Clauses {
		for _, e := range ofVerdict(c.Evidence, Error) {
			f := find(e.Scenario, e.Seen)
			f.clauses = append(f.clauses, c.ID)
		}
	}
	if len(faults) == 0 {
		return
	}
	p.Headline(headings[Error].title, headings[Error].note)
	for _, f := range faults {
		p.Blank()
		p.Line(p.Bad(marks[Error]) + " " + p.Strong(f.scenario))
		p.field("What broke", f.what, p.limit(linesOfSeen), p.Bad)
		if len(f.clauses) > 0 {
			p.field("Clauses", strings.Join(f.clauses, " "), p.limit(linesOfWarn), p.Plain)
		}
		p.traceOnce(f.scenario, f.scenario)
		p.repeat(f.scenario)
	}
}

func ofVerdict(list []Evidence, v Verdict) []Evidence {
	var out []Evidence
	for _, e := range list {
		if e.Verdict == v {
			out = append(out, e)
		}
	}
	return out
}
