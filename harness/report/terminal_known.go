package report

import (
	"cmp"
	"fmt"

	"github.com/pugcheck/pugcheck/harness/page"
)

// unstable shows the clauses that repeated runs disagree on: how they differ, a run
// that violates the clause in full, and where it was kept.
func (p *terminalPage) unstable() {
	clauses := p.byVerdict(Unstable)
	if len(clauses) == 0 {
		return
	}
	p.headline(Unstable, clauses)
	for _, c := range clauses {
		p.heading(c)
		p.field("Requirement", c.Requirement, all, p.Plain)
		p.field("Varies", c.Reason, all, p.Bad)
		violations := append(ofVerdict(c.Evidence, Fail), ofVerdict(c.Evidence, Warn)...)
		for i, e := range violations {
			if i > 0 && !p.Verbose {
				break
			}
			p.violation(e)
			p.readings(e, c)
			p.traceOnce(e.Scenario, c.ID)
			p.repeat(e.Scenario)
		}
		p.others(violations, c.MoreEvidence)
		if kept := keptWhere(c, violations); kept != nil {
			p.field("Good run", kept.Seen, p.limit(linesOfWarn), p.Good)
			p.field("", p.place(*kept), all, p.Plain)
		}
		if p.Explain != "" {
			p.field("Explained by", p.Explain+" "+c.ID, all, p.Faint)
		}
	}
}

// keptWhere is a pass of the clause, of the scenario that violates it where there is one.
func keptWhere(c Clause, violations []Evidence) *Evidence {
	passes := ofVerdict(c.Evidence, Pass)
	for i := range passes {
		if len(violations) > 0 && passes[i].Scenario == violations[0].Scenario {
			return &passes[i]
		}
	}
	if len(passes) > 0 {
		return &passes[0]
	}
	return nil
}

// known names the failures that do not count, and why.
func (p *terminalPage) known() {
	var clauses []Clause
	for _, c := range p.r.Clauses {
		if c.Known != "" {
			clauses = append(clauses, c)
		}
	}
	if len(clauses) == 0 {
		return
	}
	p.Headline("Known: "+page.Count(len(clauses), "clause"), "as listed in "+p.r.listName()+", so they do not count")
	for _, c := range clauses {
		if p.Verbose {
			p.heading(c)
			p.field("Requirement", c.Requirement, all, p.Plain)
			p.field("Known", c.Known, all, p.Plain)
			for _, e := range c.Evidence {
				if e.Verdict == Fail || e.Verdict == Warn {
					p.violation(e)
					p.repeat(e.Scenario)
				}
			}
			continue
		}
		p.field(c.ID, fmt.Sprintf("%s: %s", c.Verdict, c.Known), p.limit(linesOfWarn), p.Plain)
	}
}

// stale says what has to be changed in the list of known failures, and hints at what
// could be.
func (p *terminalPage) stale() {
	if p.r.Known == nil {
		return
	}
	if list := p.r.stale(); len(list) > 0 {
		p.Headline("To change in "+p.r.Known.File+": "+entries(len(list)), "until then the run does not succeed")
		for _, k := range list {
			p.field(k.Name(), k.Advice, all, p.Bad)
		}
	}
	var hints []KnownFailure
	for _, k := range p.r.Known.Entries {
		if !k.Stale() && k.Advice != "" && (k.State == KnownHolds || p.Verbose) {
			hints = append(hints, k)
		}
	}
	if len(hints) > 0 {
		p.Headline("About "+p.r.Known.File, "")
		for _, k := range hints {
			p.field(k.Name(), k.Advice, all, p.Faint)
		}
	}
}

// Name is the clause or capability that an entry is about.
func (k KnownFailure) Name() string { return cmp.Or(k.Clause, k.Capability) }
