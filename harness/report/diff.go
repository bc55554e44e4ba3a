package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pugcheck/pugcheck/harness/page"
)

// Diff says what changed between two results.
type Diff struct {
	Old          Run      `json:"old"`
	New          Run      `json:"new"`
	Notes        []string `json:"notes"`        // differences between the runs that can change verdicts without the subject
	Regressions  []Change `json:"regressions"`  // worse than before, and the subject's doing
	Improvements []Change `json:"improvements"` // better than before
	Others       []Change `json:"others"`       // neither: the suite broke, or a failure is listed as known
	Added        []Change `json:"added"`        // clauses of the new result only
	Gone         []Change `json:"gone"`         // clauses of the old result only
	Still        []Change `json:"still"`        // failing or unstable before and after
	Unchanged    int      `json:"unchanged"`    // clauses with the same verdict as before
}

// Run names a result without its verdicts.
type Run struct {
	Suite    string    `json:"suite"`
	Subject  string    `json:"subject"`
	Started  time.Time `json:"started"`
	Complete bool      `json:"complete"`
	Summary  Summary   `json:"summary"`
}

// Change is what became of one clause.
type Change struct {
	Clause      string    `json:"clause"`
	Section     string    `json:"section"`
	Level       string    `json:"level"`
	Requirement string    `json:"requirement"`
	Old         Verdict   `json:"old,omitempty"`      // left out for an added clause
	New         Verdict   `json:"new,omitempty"`      // left out for a clause that is gone
	Reason      string    `json:"reason,omitempty"`   // of a new verdict that judges nothing
	Known       string    `json:"known,omitempty"`    // why the new failure is tolerated
	Evidence    *Evidence `json:"evidence,omitempty"` // the gravest for the new verdict
	Repro       string    `json:"repro,omitempty"`    // repeats the scenario of the evidence
}

// Compare tells what changed from one result to another, in the order of the new
// one. A verdict regresses when it gets worse in the order pass, warn, unstable, fail; when a
// clause fails of which nothing was known; and when one that was shown to be kept is not shown any
// more, unless it is a permission, which nobody has to use. It does not where that is not the subject's doing: the suite broke, the new
// run was cut short, the failure is listed as known. It improves only where the scenarios that spoke against it were run again.
func Compare(old, new *Result) *Diff {
	d := &Diff{
		Old: runOf(old), New: runOf(new), Notes: notes(old, new),
		Regressions: []Change{}, Improvements: []Change{}, Others: []Change{}, Added: []Change{}, Gone: []Change{}, Still: []Change{},
	}
	before := map[string]*Clause{}
	for i := range old.Clauses {
		before[old.Clauses[i].ID] = &old.Clauses[i]
	}
	repro, ran := map[string]string{}, map[string]bool{}
	for _, sc := range new.Scenarios {
		repro[sc.ID], ran[sc.ID] = sc.Repro, sc.Outcome != "not-run"
	}
	present := map[string]bool{}
	for i := range new.Clauses {
		now := &new.Clauses[i]
		present[now.ID] = true
		c := changeTo(now)
		if c.Evidence != nil {
			c.Repro = repro[c.Evidence.Scenario]
		}
		was := before[now.ID]
		if was == nil {
			d.Added = append(d.Added, c)
			continue
		}
		c.Old = was.Verdict
		if e := unrepeated(was, ran); e != nil && 0 < badness(now) && badness(now) < badness(was) {
			c.Evidence, c.Repro = nil, ""
			c.Reason = fmt.Sprintf("not shown to be mended: %s, which spoke against it, was not run", e.Scenario)
			d.Others = append(d.Others, c)
			continue
		}
		d.place(c, badness(was), badness(now), new.Complete)
	}
	for i := range old.Clauses {
		if was := &old.Clauses[i]; !present[was.ID] {
			d.Gone = append(d.Gone, Change{Clause: was.ID, Section: was.Section, Level: was.Level, Requirement: was.Requirement, Old: was.Verdict})
		}
	}
	return d
}

// unrepeated is what spoke against a clause in a scenario that did not run again; nil where
// all of them did.
func unrepeated(was *Clause, ran map[string]bool) *Evidence {
	for i, e := range was.Evidence {
		if (e.Verdict == Fail || e.Verdict == Warn) && !ran[e.Scenario] {
			return &was.Evidence[i]
		}
	}
	return nil
}

// badness orders what verdicts say against the subject; 0 judges nothing.
func badness(c *Clause) int {
	switch {
	case c.Verdict == Fail:
		return 4
	case c.Against():
		return failsAtTimes
	case c.Verdict == Warn, c.Verdict == Unstable:
		return 2
	case c.Verdict == Pass:
		return 1
	}
	return 0
}

// failsAtTimes is the badness of a clause that some of the repeated runs violate.
const failsAtTimes = 3

// place puts the change of a clause that both results have where it belongs.
func (d *Diff) place(c Change, was, now int, complete bool) {
	against := now >= failsAtTimes
	worse := was > 0 && now > was || against && was < now
	switch {
	case c.Old == c.New:
		d.Unchanged++
		if against {
			d.Still = append(d.Still, c)
		}
	case worse && c.Known != "":
		d.Others = append(d.Others, c)
	case worse, c.Old == Pass && c.New == NotExercised && c.Level != "MAY" && complete:
		d.Regressions = append(d.Regressions, c)
	case c.New == Pass, now > 0 && now < was:
		d.Improvements = append(d.Improvements, c)
	default:
		d.Others = append(d.Others, c)
	}
}

// Regressed tells whether anything got worse.
func (d *Diff) Regressed() bool { return len(d.Regressions) > 0 }

// Sentence says in words what changed.
func (d *Diff) Sentence() string {
	said := []string{}
	say := func(list []Change, one, many string) {
		switch n := len(list); n {
		case 0:
		case 1:
			said = append(said, "1 "+one)
		default:
			said = append(said, fmt.Sprintf("%d %s", n, many))
		}
	}
	say(d.Regressions, "regression", "regressions")
	say(d.Improvements, "improvement", "improvements")
	say(d.Others, "other change", "other changes")
	note := ""
	if n := failing(d.Added); n > 0 {
		note = fmt.Sprintf(" (%d failing)", n)
	}
	say(d.Added, "clause added"+note, "clauses added"+note)
	say(d.Gone, "clause gone", "clauses gone")
	if len(said) == 0 {
		return fmt.Sprintf("Nothing changed in %s.", page.Count(d.Unchanged, "clause"))
	}
	text := strings.Join(said, ", ")
	if !d.Regressed() {
		text = "No regression; " + text
	}
	return fmt.Sprintf("%s; %s unchanged.", text, page.Count(d.Unchanged, "clause"))
}

// failing counts the new failures among changes.
func failing(list []Change) int {
	n := 0
	for _, c := range list {
		if c.New == Fail {
			n++
		}
	}
	return n
}

func runOf(r *Result) Run {
	return Run{Suite: r.Suite, Subject: r.Subject.Name, Started: r.Started, Complete: r.Complete, Summary: r.Summary}
}

// changeTo is a clause as it is in the new result.
func changeTo(c *Clause) Change {
	out := Change{Clause: c.ID, Section: c.Section, Level: c.Level, Requirement: c.Requirement, New: c.Verdict, Known: c.Known, Reason: c.Reason}
	for i := range c.Evidence {
		if e := c.Evidence[i]; e.Verdict == c.Verdict || c.Verdict == Unstable && e.Verdict != Pass {
			out.Evidence = &e
			break
		}
	}
	return out
}

// notes are the differences between two runs that verdicts can come of, beside the
// subject itself, and what else a reader has to know about them.
func notes(old, new *Result) []string {
	out := []string{}
	differ := func(what, a, b string) {
		if a != b {
			out = append(out, fmt.Sprintf("%s: %s before, %s now", what, a, b))
		}
	}
	differ("suite", old.Suite, new.Suite)
	differ("subject", old.Subject.Name, new.Subject.Name)
	differ("transports", orNone(old.Subject.Transports), orNone(new.Subject.Transports))
	differ("requirements", old.Requirements.name(), new.Requirements.name())
	if old.Requirements.name() == new.Requirements.name() && old.Requirements.Digest != new.Requirements.Digest {
		out = append(out, "the requirements are not the same under the same name")
	}
	differ("pugcheck", old.Versions["pugcheck"], new.Versions["pugcheck"])
	if old.Versions["catalogue"] != new.Versions["catalogue"] {
		out = append(out, "the catalogues of clauses differ")
	}
	differ("selected", orEverything(old.Selection), orEverything(new.Selection))
	differ("skipped", orNone(old.Skipped), orNone(new.Skipped))
	differ("capabilities declared missing", orNone(old.Profile.Without), orNone(new.Profile.Without))
	differ("warnings", strictly(old), strictly(new))
	for _, side := range []struct {
		which string
		r     *Result
	}{{"old", old}, {"new", new}} {
		if !side.r.Complete {
			why := side.r.Incomplete
			if why == "" {
				why = "the run did not come to its end"
			}
			out = append(out, fmt.Sprintf("the %s result is partial: %s", side.which, why))
		}
		if side.r.Blocked != "" {
			out = append(out, fmt.Sprintf("the %s run ended with the first scenario: %s", side.which, page.OneLine(side.r.Blocked)))
		}
	}
	return out
}

// name is what people call a set of requirements.
func (r Requirements) name() string {
	if r.Set == "" {
		return "all clauses of the version"
	}
	return r.Set
}

func strictly(r *Result) string {
	if r.Profile.Strict {
		return "failures (strict)"
	}
	return "warnings"
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	sorted := slices.Clone(list)
	slices.Sort(sorted)
	return strings.Join(sorted, ", ")
}

func orEverything(list []string) string {
	if len(list) == 0 {
		return "everything"
	}
	return orNone(list)
}
