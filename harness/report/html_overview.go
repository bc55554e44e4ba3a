package report

import (
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"

	"github.com/pugcheck/pugcheck/harness/document"
	"github.com/pugcheck/pugcheck/harness/page"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// strip is a picture of the whole run: a bar for each clause in the order of the
// text, with a gap where a new part begins. What is not a pass stands out of the line.
func (p *htmlMaker) strip() template.HTML {
	if len(p.r.Clauses) < 2 {
		return ""
	}
	paths := map[Verdict]*strings.Builder{}
	width, x, part := float64(len(p.r.Clauses)), 0.0, ""
	gap := width / 150
	for i, c := range p.r.Clauses {
		whole, _, _ := strings.Cut(c.Section, ".")
		if i > 0 && whole != part {
			x += gap
		}
		part = whole
		if paths[c.Verdict] == nil {
			paths[c.Verdict] = &strings.Builder{}
		}
		// A finding has to be seen on a narrow screen as well.
		top, bottom, w := 7.0, 17.0, 0.8
		switch c.Verdict {
		case Fail, Error, Unstable:
			top, bottom, w = 0, 24, max(w, width/240)
		case Warn:
			top, bottom, w = 3.5, 20.5, max(w, width/240)
		case Pass:
		default:
			top, bottom = 11, 13
		}
		fmt.Fprintf(paths[c.Verdict], "M%.4g %gh%.3gV%gh-%.3gz", x, top, w, bottom, w)
		x++
	}
	var b strings.Builder
	var words []string
	fmt.Fprintf(&b, `<svg class="strip" viewBox="0 0 %.5g 24" preserveAspectRatio="none" role="img" aria-label="`, x)
	for _, t := range p.r.Summary.tallies() {
		if t.n > 0 {
			words = append(words, fmt.Sprintf("%d %s", t.n, t.long))
		}
	}
	b.WriteString("The clauses in their order: " + strings.Join(words, ", ") + `">`)
	for _, v := range []Verdict{Untestable, NotJudged, NotExercised, Pass, Warn, Unstable, Error, Fail} {
		if d := paths[v]; d != nil {
			fmt.Fprintf(&b, `<path class="%s" d="%s"/>`, v, d)
		}
	}
	b.WriteString("</svg>\n")
	return template.HTML(b.String())
}

// htmlFindings is a list of clauses that somebody has to look at.
type htmlFindings struct {
	Title, Note string
	Clauses     []htmlFinding
	More        string
	Groups      []htmlGroup
}

type htmlFinding struct {
	ID, Requirement, Known string
	Anchor                 template.URL
	Verdict, Mark          string
	Glimpse                template.HTML
}

// htmlGroup is a reason with the clauses that it holds for.
type htmlGroup struct {
	Reason  string
	Clauses []htmlLink
}

// mostFindings is how many clauses one list names.
const mostFindings = 60

func (p *htmlMaker) findings() []htmlFindings {
	var out []htmlFindings
	for _, v := range []Verdict{Fail, Unstable, Error, Warn, NotExercised, Untestable, NotJudged} {
		clauses := p.byVerdict(v)
		if len(clauses) == 0 {
			continue
		}
		f := htmlFindings{Title: headings[v].title + ": " + page.Count(len(clauses), "clause"), Note: headings[v].note}
		if v.undecided() {
			for _, g := range byReason(clauses) {
				group := htmlGroup{Reason: g.reason}
				for _, id := range g.ids {
					group.Clauses = append(group.Clauses, clauseLink(id))
				}
				f.Groups = append(f.Groups, group)
			}
		} else {
			for i, c := range clauses {
				if i == mostFindings {
					f.More = page.Count(len(clauses)-i, "more clause")
					break
				}
				f.Clauses = append(f.Clauses, p.finding(c))
			}
		}
		out = append(out, f)
	}
	return out
}

func (p *htmlMaker) finding(c Clause) htmlFinding {
	f := htmlFinding{ID: c.ID, Requirement: c.Requirement, Known: c.Known, Anchor: document.Anchor(c.ID), Verdict: c.Verdict.class(), Mark: marks[c.Verdict]}
	if len(c.Evidence) > 0 {
		seen := page.OneLine(c.Evidence[0].Seen)
		if len(seen) > 200 {
			seen = strings.ToValidUTF8(seen[:200], "") + "…"
		}
		f.Glimpse = document.Visible(seen)
	} else if c.Reason != "" {
		f.Glimpse = document.Excerpt(c.Reason, 300)
	}
	return f
}

func (p *htmlMaker) byVerdict(v Verdict) []Clause {
	var out []Clause
	for _, c := range p.r.Clauses {
		if c.Verdict == v {
			out = append(out, c)
		}
	}
	return out
}

type htmlKnown struct {
	File    string
	Entries []htmlKnownEntry
}

type htmlKnownEntry struct {
	Name, State, Ink, Reason, Advice string
	Line                             int
	Anchor                           template.URL
}

// known is what became of the list of known failures; what has to be changed in it
// stands first.
func (p *htmlMaker) known() *htmlKnown {
	if p.r.Known == nil {
		return nil
	}
	out := &htmlKnown{File: p.r.Known.File}
	for _, k := range p.r.Known.Entries {
		e := htmlKnownEntry{Name: k.Clause, State: stateWords[k.State], Reason: k.Reason, Advice: k.Advice, Line: k.Line}
		if k.Clause != "" {
			e.Anchor = document.Anchor(k.Clause)
		} else {
			e.Name = "capability " + k.Capability
		}
		if k.Stale() {
			e.Ink = Fail.class()
			e.State = marks[Fail] + " " + e.State
		}
		out.Entries = append(out.Entries, e)
	}
	slices.SortStableFunc(out.Entries, func(a, b htmlKnownEntry) int { return len(b.Ink) - len(a.Ink) })
	return out
}

var stateWords = map[KnownState]string{
	KnownHolds: "fails as listed", KnownPasses: "does not fail any more", KnownDiffers: "fails in another way",
	KnownNothing: "nothing was decided", KnownOutside: "outside of this run",
}
