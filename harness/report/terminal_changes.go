package report

import (
	"fmt"
	"io"
	"slices"

	"github.com/pugcheck/pugcheck/harness/page"
)

// WriteChanges writes what differs from an earlier result of the same suite: each clause
// whose verdict changed or that fails in another way, with the evidence of now; scenarios
// that are new or gone; and how it stands now. because is a note on what led to
// the new run, "" for none. The error is that of w.
func (t Terminal) WriteChanges(w io.Writer, old, new *Result, because string) error {
	d := Compare(old, new)
	lines := append(d.changed(), otherwise(old, new)...)
	p := t.open(new.only(lines))
	p.Blank()
	p.Line(p.Strong(new.Suite+": "+new.Subject.Name) + p.Faint(because))
	for _, note := range d.Notes {
		p.Lines(2, page.Fold(note, p.Width()-2), p.Caution)
	}
	appeared, gone := scenariosApart(old, new)
	lines, apart := reached(lines, old, new)
	if (old.Blocked == "") != (new.Blocked == "") {
		appeared, gone = nil, nil // all but the first, for the same reason
	}
	switch {
	case len(lines)+len(appeared)+len(gone)+apart == 0:
		p.Line("Nothing changed: " + page.Count(len(new.Clauses), "clause") + " as before.")
	default:
		p.changes(lines)
		switch {
		case apart > 0 && new.Blocked != "":
			p.Line("Not reached this time: " + page.Count(apart, "other clause") + ".")
		case apart > 0:
			p.Line("Not reached before, and nothing wrong now: " + page.Count(apart, "other clause") + ".")
		}
		p.scenarioList("Scenarios that are new", appeared)
		p.scenarioList("Scenarios that are gone", gone)
		if new.Blocked != "" && new.Blocked != old.Blocked {
			p.blocked()
		}
		p.failures()
		p.unstable()
		p.warnings()
		p.errors()
	}
	p.r = new
	p.still(d.Still, lines)
	p.Blank()
	p.counts()
	p.statement() // what the first report explained at length stays as it is
	_, err := p.WriteTo(w)
	return err
}

// reached leaves out the clauses that differ only because one of the runs ended with its
// first scenario, and counts them. What is violated now is never left out.
func reached(list []Change, old, new *Result) (kept []Change, apart int) {
	blocked := func(v Verdict) bool { return v == "" || v == NotExercised || v == NotJudged }
	for _, c := range list {
		switch {
		case old.Blocked == "" && new.Blocked != "" && blocked(c.New),
			old.Blocked != "" && new.Blocked == "" && blocked(c.Old) && (blocked(c.New) || c.New == Pass || c.New == Untestable):
			apart++
		default:
			kept = append(kept, c)
		}
	}
	return kept, apart
}

// changed are all changes of verdicts, in an order of their own: what got worse first.
func (d *Diff) changed() []Change {
	return slices.Concat(d.Regressions, d.Others, d.Improvements, d.Added, d.Gone)
}

// otherwise are the clauses that are violated as before, but in another way: what was
// seen is something else, beside what differs from run to run.
func otherwise(old, new *Result) []Change {
	seen := map[string]string{}
	for _, c := range old.Clauses {
		seen[c.ID] = gravestSeen(c)
	}
	verdicts := map[string]Verdict{}
	for _, c := range old.Clauses {
		verdicts[c.ID] = c.Verdict
	}
	var out []Change
	for _, c := range new.Clauses {
		if now := gravestSeen(c); now != "" && verdicts[c.ID] == c.Verdict && now != seen[c.ID] {
			out = append(out, Change{Clause: c.ID, Old: c.Verdict, New: c.Verdict})
		}
	}
	return out
}

// gravestSeen is what is said against the subject first; "" where nothing is.
func gravestSeen(c Clause) string {
	if !c.Verdict.isFault() {
		return ""
	}
	for _, e := range c.Evidence {
		if e.Verdict != Pass {
			return Stable(e.Seen)
		}
	}
	return ""
}

// only is the result with those clauses alone that changed.
func (r *Result) only(changes []Change) *Result {
	keep := map[string]bool{}
	for _, c := range changes {
		keep[c.Clause] = true
	}
	out := *r
	out.Clauses = slices.DeleteFunc(slices.Clone(r.Clauses), func(c Clause) bool { return !keep[c.ID] })
	return &out
}

// changes is a line for each clause that changed.
func (p *terminalPage) changes(list []Change) {
	if len(list) == 0 {
		return
	}
	p.Headline("Changed: "+page.Count(len(list), "clause"), "")
	width := 0
	for _, c := range list {
		width = max(width, len(c.Clause))
	}
	for _, c := range list {
		now, was := c.New, string(c.Old)
		if now == "" {
			now, was = NotJudged, was+" before; it is not judged any more"
		} else if was == "" {
			was = string(now) + "; it was not judged before"
		} else if c.Old == c.New {
			was += ", in another way"
		} else {
			was += " → " + string(now)
		}
		text := was
		if c.Reason != "" && c.New != "" {
			text += ": " + page.OneLine(c.Reason)
		}
		label := page.Label{Text: marks[now] + " " + fmt.Sprintf("%-*s", width, c.Clause), Indent: 2, Column: 2 + 2 + width + 2, Ink: p.of(now)}
		p.Hanging(label, page.Fold(text, p.Width()-label.Column), page.Limit{Lines: 2}, p.Plain)
	}
}

// still names the clauses that are violated as before.
func (p *terminalPage) still(list, told []Change) {
	var names []string
	for _, c := range list {
		if !slices.ContainsFunc(told, func(t Change) bool { return t.Clause == c.Clause }) {
			names = append(names, c.Clause)
		}
	}
	if len(names) > 0 {
		p.Headline("Still violated", "")
		p.words(2, names)
	}
}

func (p *terminalPage) scenarioList(title string, names []string) {
	if len(names) > 0 {
		p.Headline(title, "")
		p.words(2, names)
	}
}

// scenariosApart are those that only the new result has, or ran, and those that only the
// old one did.
func scenariosApart(old, new *Result) (appeared, gone []string) {
	ran := func(r *Result) []string {
		var out []string
		for _, sc := range r.Scenarios {
			if sc.Outcome != "not-run" {
				out = append(out, sc.ID)
			}
		}
		return out
	}
	before, now := ran(old), ran(new)
	for _, id := range now {
		if !slices.Contains(before, id) {
			appeared = append(appeared, id)
		}
	}
	for _, id := range before {
		if !slices.Contains(now, id) {
			gone = append(gone, id)
		}
	}
	return appeared, gone
}
