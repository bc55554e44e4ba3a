package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pugcheck/pugcheck/conformance"
	"github.com/pugcheck/pugcheck/harness/artifacts"
	"github.com/pugcheck/pugcheck/harness/page"
	"github.com/pugcheck/pugcheck/harness/report"
)

// retold is the page that tells how a scenario went this time.
type retold struct {
	*page.Page
	repeat *repeat
	out    conformance.Outcome
}

// besideLabels is where text beside a label begins.
const besideLabels = 16

func (t retold) field(label, text string) {
	if text != "" {
		t.Hanging(page.Label{Text: label, Indent: 2, Column: besideLabels, Ink: t.Faint, Filled: true}, page.Fold(text, t.Width()-besideLabels), page.Limit{Lines: 12}, t.Plain)
	}
}

func (t retold) head() {
	f := t.repeat.found
	t.Line(t.Strong(f.Scenario) + " " + f.Title)
	t.field("Artifacts of", fmt.Sprintf("%s, seed %d, %s", f.Started.Local().Format("2006-01-02 15:04:05"), f.Seed, f.Subject.Name))
	for _, n := range t.repeat.notes {
		t.field("Note", n)
	}
}

func (t retold) clause(c artifacts.Compared) {
	t.Blank()
	switch {
	case c.Likeness == artifacts.Gone && slices.Contains(t.repeat.undecided(t.out), c.Clause):
		t.Line("– " + t.ID(c.Clause) + " is not judged this time")
		t.field("Then", string(c.Then.Verdict)+": "+c.Then.Seen)
		t.field("Now", whyUndecided(t.out, c.Clause))
	case c.Likeness == artifacts.Same:
		t.Line(t.Bad("✗") + " " + t.ID(c.Clause) + " " + verb(c.Now.Verdict) + " in the same way")
		t.field("Acceptable", c.Now.Acceptable)
		t.field("Seen", c.Now.Seen)
	case c.Likeness == artifacts.Differs:
		t.Line(t.Bad("✗") + " " + t.ID(c.Clause) + " " + verb(c.Now.Verdict) + " in another way")
		t.field("Then", string(c.Then.Verdict)+": "+c.Then.Seen)
		t.field("Now", string(c.Now.Verdict)+": "+c.Now.Seen)
		t.field("Acceptable", c.Now.Acceptable)
	case c.Likeness == artifacts.Gone:
		t.Line(t.Good("✓") + " " + t.ID(c.Clause) + " does not fail now")
		t.field("Then", string(c.Then.Verdict)+": "+c.Then.Seen)
	case c.Likeness == artifacts.New:
		t.Line(t.Bad("✗") + " " + t.ID(c.Clause) + " " + verb(c.Now.Verdict) + ", and did not before")
		t.field("Acceptable", c.Now.Acceptable)
		t.field("Seen", c.Now.Seen)
	}
}

func verb(v report.Verdict) string {
	switch v {
	case report.Warn:
		return "warns"
	case report.Error:
		return "cannot be judged, since the suite breaks,"
	}
	return "fails"
}

// conclusion is the last line, and the exit status that goes with it.
func (t retold) conclusion(compared []artifacts.Compared) int {
	count := map[artifacts.Likeness]int{}
	against, broken := 0, 0
	for _, c := range compared {
		count[c.Likeness]++
		switch {
		case c.Likeness == artifacts.Gone:
		case c.Now.Verdict == report.Error && c.Likeness != artifacts.Same:
			broken++
		default:
			against++
		}
	}
	t.Blank()
	if t.out.Artifacts != "" {
		t.Line("  " + t.Faint("Kept in") + "       " + t.out.Artifacts) // not wrapped: it is there to be copied
	}
	same, recorded := count[artifacts.Same], count[artifacts.Same]+count[artifacts.Differs]+count[artifacts.Gone]
	switch undecided := t.repeat.undecided(t.out); {
	case recorded == 0 && t.out.Outcome == "error" && report.Stable(t.out.Reason) == report.Stable(t.repeat.found.Reason):
		t.Line("It breaks in the same way: " + t.out.Reason)
		return exitNotConforming
	case against == 0 && (broken > 0 || t.out.Outcome == "error"):
		t.Line("The suite or its environment broke, so nothing can be said: " + t.out.Reason)
		return exitTrouble
	case against > 0 && same == recorded && count[artifacts.New] == 0:
		t.Line("It fails in the same way.")
		return exitNotConforming
	case against > 0 && same == recorded && recorded > 0:
		t.Line("It fails in the same way, and in more.")
		return exitNotConforming
	case against > 0 && same > 0:
		t.Linef("It fails in the same way on %d of %d clauses; the rest differs.", same, recorded)
		return exitNotConforming
	case against > 0:
		t.Line("It fails, but differently.")
		return exitNotConforming
	case len(undecided) > 0:
		t.Linef("It came to no verdict on %s.", strings.Join(undecided, " "))
		return exitTrouble
	}
	t.Line("It does not fail now.")
	return exitConforming
}
