package report

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/pugcheck/pugcheck/harness/document"
	"github.com/pugcheck/pugcheck/harness/page"
)

// mostJudges is how many of the scenarios that judge a clause are linked beneath it.
// Where there are more, it is a clause that every scenario judges.
const mostJudges = 24

type htmlClause struct {
	Clause
	Anchor       template.URL
	Mark, Word   string
	Open         bool
	Summary      string
	Runs         string
	Readings     []string
	Observations []htmlObservation
	MoreEvidence string
	Judges       []htmlLink
	MoreJudges   string
	Verdict      string
	Kinds        string // by which it can be filtered, with blanks between
}

type htmlObservation struct {
	Scenario         string
	Anchor           template.URL
	Title, Note      string
	Verdict          string
	Mark, Word       string
	Acceptable, Seen template.HTML
	Readings         []string
	Repro, Artifacts string
	Record           *htmlRecord
	Elsewhere        *htmlLink // where the record stands
}

// sections are the clauses below their headings.
func (p *htmlMaker) sections() []htmlSection {
	titles := p.r.titles()
	var out []htmlSection
	at := map[string]int{}
	for _, c := range p.r.Clauses {
		i, ok := at[c.Section]
		if !ok {
			i = len(out)
			at[c.Section] = i
			out = append(out, htmlSection{Section: Section{c.Section, titles[c.Section]}, Anchor: "section-" + document.Anchor(c.Section)})
		}
		out[i].Clauses = append(out[i].Clauses, p.clause(c))
	}
	for i := range out {
		out[i].Ink, out[i].Mark, out[i].Tally = tallyOf(out[i].Clauses)
	}
	return out
}

// tallyOf is the gravest verdict of clauses, and how many of them have passed.
func tallyOf(clauses []htmlClause) (ink, mark, tally string) {
	worst, passed := NotJudged, 0
	for _, c := range clauses {
		if v := c.Clause.Verdict; v.Gravity() > worst.Gravity() {
			worst = v
		}
		if c.Clause.Verdict == Pass {
			passed++
		}
	}
	return worst.class(), marks[worst], fmt.Sprintf("%d/%d", passed, len(clauses))
}

// clause is the part of the page on one clause. Those that somebody has to look at
// are open.
func (p *htmlMaker) clause(c Clause) htmlClause {
	out := htmlClause{
		Clause: c, Anchor: document.Anchor(c.ID), Mark: marks[c.Verdict], Word: c.Verdict.Words(), Verdict: c.Verdict.class(), Kinds: c.Verdict.class(),
		Open: slices.Contains([]Verdict{Fail, Error, Unstable}, c.Verdict),
	}
	if c.Known != "" {
		out.Kinds += " known"
	}
	for _, id := range c.Readings {
		out.Readings = append(out.Readings, p.r.reading(id))
	}
	for i, v := range c.Runs {
		if i > 0 {
			out.Runs += ", "
		}
		out.Runs += fmt.Sprintf("run %d: %s", i+1, v.Words())
	}
	told := map[string]bool{}
	for _, e := range c.Evidence {
		o := p.observation(e, c)
		if told[e.Scenario] {
			o.Repro, o.Artifacts, o.Elsewhere = "", "", nil
		}
		told[e.Scenario] = true
		out.Observations = append(out.Observations, o)
	}
	if len(c.Evidence) > 0 {
		out.Summary = ", " + page.Count(len(c.Evidence)+c.MoreEvidence, "observation")
	}
	if c.MoreEvidence > 0 {
		out.MoreEvidence = page.Count(c.MoreEvidence, "further observation")
	}
	for _, id := range c.Scenarios {
		if told[id] {
			continue
		}
		if len(out.Judges) == mostJudges {
			out.MoreJudges = page.Count(len(c.Scenarios)-len(told)-mostJudges, "more")
			out.MoreJudges = strings.TrimSuffix(out.MoreJudges, "s")
			break
		}
		out.Judges = append(out.Judges, scenarioLink(id))
	}
	return out
}

// reading is a reading in words.
func (r *Result) reading(id string) string {
	for _, known := range r.Readings {
		if known.ID == id {
			return fmt.Sprintf("%s %s (%s)", id, known.Title, known.Basis)
		}
	}
	return id
}

func (p *htmlMaker) observation(e Evidence, c Clause) htmlObservation {
	link := scenarioLink(e.Scenario)
	o := htmlObservation{
		Scenario: e.Scenario, Anchor: link.Anchor, Note: noteOn(e), Verdict: e.Verdict.class(), Mark: marks[e.Verdict], Word: e.Verdict.Words(),
		Acceptable: document.Excerpt(e.Acceptable, p.seen), Seen: document.Excerpt(e.Seen, p.seen),
	}
	for _, id := range e.Readings {
		if !slices.Contains(c.Readings, id) {
			o.Readings = append(o.Readings, p.r.reading(id))
		}
	}
	sc := p.scenarios[e.Scenario]
	if sc == nil {
		return o
	}
	o.Title = sc.Title
	if e.Verdict == Pass || e.Verdict == NotExercised {
		return o
	}
	o.Repro, o.Artifacts = sc.Repro, sc.Artifacts
	if at, ok := p.recorded[sc.ID]; ok {
		if at.ID != c.ID {
			o.Elsewhere = &at
		}
	} else if o.Record = p.recordOf(sc, len(p.recorded) < openRecords); o.Record != nil {
		p.recorded[sc.ID] = clauseLink(c.ID)
	}
	return o
}

// openRecords is how many of the records are open from the start.
const openRecords = 12

// noteOn names the check, and how often it saw the same.
func noteOn(e Evidence) string {
	var parts []string
	if e.Where != "" {
		parts = append(parts, e.Where)
	}
	if e.Times > 1 {
		parts = append(parts, fmt.Sprintf("%d times", e.Times))
	}
	if len(e.Runs) > 0 {
		runs := strings.Trim(strings.ReplaceAll(fmt.Sprint(e.Runs), " ", ", "), "[]")
		parts = append(parts, "in run "+runs)
	}
	if len(parts) == 0 {
		return ""
	}
	return "(" + strings.Join(parts, "; ") + ")"
}

type htmlScenario struct {
	ID, Title        string
	Anchor           template.URL
	Ink, Mark        string
	Outcome          *htmlOutcome // of one that was not completed
	Judges           []htmlLink
	Took, Timing     string
	Repro, Artifacts string
	Record           *htmlRecord
	Elsewhere        *htmlLink
}

type htmlOutcome struct{ Word, Reason string }

func (p *htmlMaker) scenarioParts() []htmlScenario {
	var out []htmlScenario
	for i := range p.r.Scenarios {
		sc := &p.r.Scenarios[i]
		worst := p.worst[sc.ID]
		if sc.Outcome == "error" && worst != Fail {
			worst = Error
		}
		s := htmlScenario{
			ID: sc.ID, Title: sc.Title, Anchor: scenarioLink(sc.ID).Anchor, Ink: worst.class(), Mark: marks[worst],
			Took: "not run", Repro: sc.Repro, Artifacts: sc.Artifacts,
		}
		if s.Mark == "" {
			s.Mark = marks[NotExercised]
		}
		if sc.Outcome != "completed" {
			s.Outcome = &htmlOutcome{strings.ReplaceAll(sc.Outcome, "-", " "), sc.Reason}
		}
		if sc.Outcome != "not-run" {
			t := sc.Timing
			s.Took = seconds(t.TotalMS)
			s.Timing = fmt.Sprintf("%s, of that %s waiting for the subject; the suite took %s of processor time", seconds(t.TotalMS), seconds(t.SubjectMS), seconds(t.HarnessCPUMS))
			if sc.Run > 0 {
				s.Timing += fmt.Sprintf("; run %d", sc.Run)
			}
		}
		for _, id := range sc.Clauses {
			s.Judges = append(s.Judges, clauseLink(id))
		}
		if at, ok := p.recorded[sc.ID]; ok {
			s.Elsewhere = &at
		} else {
			s.Record = p.recordOf(sc, sc.Outcome == "error")
		}
		out = append(out, s)
	}
	return out
}
