package report

import (
	"fmt"
	"sort"

	"github.com/pugcheck/pugcheck/harness/page"
)

// notExercised groups what nothing decided by the reason for it.
func (p *terminalPage) notExercised() {
	clauses := p.byVerdict(NotExercised)
	if len(clauses) == 0 {
		return
	}
	p.headline(NotExercised, clauses)
	for _, g := range byReason(clauses) {
		lines, more := p.limit(linesOfWarn).Cut(page.Fold(g.reason, p.Width()-4))
		if more > 0 {
			lines[len(lines)-1] += " …"
		}
		p.Lines(2, lines, p.Plain)
		if p.r.Blocked == "" || p.Verbose { // else it is nearly everything
			p.words(6, g.ids)
		}
	}
}

// untestable is a number for most readers; the reasons are long.
func (p *terminalPage) untestable() {
	clauses := p.byVerdict(Untestable)
	if len(clauses) == 0 || p.r.Blocked != "" && !p.Verbose {
		return
	}
	p.headline(Untestable, clauses)
	if !p.Verbose {
		p.words(4, ids(clauses))
		return
	}
	for _, c := range clauses {
		p.field(c.ID, c.Reason, all, p.Plain)
	}
}

func (p *terminalPage) notJudged() {
	clauses := p.byVerdict(NotJudged)
	if len(clauses) == 0 || p.r.Blocked != "" && !p.Verbose {
		return
	}
	p.headline(NotJudged, clauses)
	switch {
	case p.Verbose || p.Unjudged == "":
		p.words(4, ids(clauses))
	default:
		p.Line("    " + p.Unjudged + " " + p.Faint("lists them"))
	}
}

// beyondSet shows what was judged beside the requirement set: violations shortly, the
// rest as a list. None of it counts.
func (p *terminalPage) beyondSet() {
	if len(p.r.Beyond) == 0 {
		return
	}
	p.Headline("Not in requirements "+p.r.Requirements.Set+": "+page.Count(len(p.r.Beyond), "clause"), "judged too, and counted neither for nor against the subject")
	kept := []Clause{}
	for _, c := range p.r.Beyond {
		violations := ofVerdict(c.Evidence, c.Verdict)
		if (c.Verdict != Fail && c.Verdict != Warn && c.Verdict != Unstable) || len(violations) == 0 {
			kept = append(kept, c)
			continue
		}
		p.heading(c)
		p.field("Outside", c.Outside, all, p.Plain)
		p.field("Requirement", c.Requirement, p.limit(linesOfWarn), p.Plain)
		p.field("Acceptable", violations[0].Acceptable, p.limit(linesOfWarn), p.Plain)
		p.field("Seen", violations[0].Seen, p.limit(linesOfWarn), p.Caution)
		p.field("Scenario", p.place(violations[0]), p.limit(linesOfWarn), p.Plain)
		p.repeat(violations[0].Scenario)
	}
	if len(kept) > 0 {
		p.Blank()
		p.Line("  " + p.Faint("not violated"))
		p.words(4, ids(kept))
	}
}

func ids(clauses []Clause) []string {
	var out []string
	for _, c := range clauses {
		out = append(out, c.ID)
	}
	return out
}

// slowest is how many scenarios the timing shows.
const slowest = 10

// timing tells where the time went: the slowest scenarios, and what the suite
// itself costs beside the subject.
func (p *terminalPage) timing() {
	var ran []Scenario
	var harness, subject, processor float64
	for _, sc := range p.r.Scenarios {
		if sc.Outcome != "not-run" {
			ran = append(ran, sc)
			harness += sc.Timing.HarnessMS
			subject += sc.Timing.SubjectMS
			processor += sc.Timing.HarnessCPUMS
		}
	}
	if len(ran) == 0 {
		return
	}
	sort.SliceStable(ran, func(i, j int) bool { return ran[i].Timing.TotalMS > ran[j].Timing.TotalMS })
	p.Headline("Timing", "in milliseconds")
	p.Line(p.Faint(fmt.Sprintf("%10s %10s %10s %10s  %s", "total", "subject", "suite", "suite CPU", "scenario")))
	for _, sc := range ran[:min(slowest, len(ran))] {
		p.Linef("%10.1f %10.1f %10.1f %10.1f  %s", sc.Timing.TotalMS, sc.Timing.SubjectMS, sc.Timing.HarnessMS, sc.Timing.HarnessCPUMS, sc.ID)
	}
	n := float64(len(ran))
	p.Linef("%10.1f %10.1f %10.1f %10.1f  %s", (harness+subject)/n, subject/n, harness/n, processor/n, p.Strong("mean of "+page.Count(len(ran), "scenario")))
}
