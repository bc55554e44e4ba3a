package known

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pugcheck/pugcheck/conformance"
	"github.com/pugcheck/pugcheck/harness/page"
	"github.com/pugcheck/pugcheck/harness/report"
)

// Apply holds the result of a run against the list: it marks the clauses whose failure
// is known, and adds to the result what became of each entry. Count has to be called
// again.
//
// A failure is known if each violation that makes it one is as listed: by the entry of
// the clause, or by that of a capability that the scenario needs. An entry counts as out
// of date only where everything was run that can judge its clause: all scenarios that the
// subject as such can be asked, which is what asked tells (nil = every one).
func (l *List) Apply(r *report.Result, suite *conformance.Suite, asked func(conformance.Scenario) bool) {
	c := newComparison(l, r, suite, asked)
	for i := range r.Clauses {
		c.explain(&r.Clauses[i])
	}
	known := &report.KnownFailures{File: l.File, Entries: []report.KnownFailure{}}
	for i, e := range l.Entries {
		k := report.KnownFailure{
			Clause: e.Clause, Capability: e.Capability, Verdict: report.Fail, Reason: e.Reason, Messages: e.Messages,
			Line: e.Line, LastLine: e.LastLine, Covers: c.covers[i],
		}
		if e.Unstable {
			k.Verdict = report.Unstable
		}
		if e.Clause != "" {
			k.State, k.Advice = c.clauseState(i)
		} else {
			k.State, k.Advice = c.capabilityState(i)
		}
		known.Entries = append(known.Entries, k)
	}
	r.Known = known
}

// comparison is a list held against a result.
type comparison struct {
	*List
	r         *report.Result
	needs     map[string][]string // capabilities, by scenario
	judges    map[string][]string // scenarios, by clause
	ran       map[string]bool     // scenarios
	missing   map[string]bool     // scenarios that were not run and could have been
	clauses   map[string]*report.Clause
	byClause  map[string]int // entries
	covers    [][]string     // clauses, by entry
	explained []int          // violations, by entry
	others    map[string][]violation
}

// violation is a piece of evidence that makes a clause fail.
type violation struct {
	report.Evidence
	clause string
}

func newComparison(l *List, r *report.Result, suite *conformance.Suite, asked func(conformance.Scenario) bool) *comparison {
	c := &comparison{
		List: l, r: r, needs: map[string][]string{}, judges: map[string][]string{}, ran: map[string]bool{}, missing: map[string]bool{}, clauses: map[string]*report.Clause{},
		byClause: map[string]int{}, covers: make([][]string, len(l.Entries)), explained: make([]int, len(l.Entries)), others: map[string][]violation{},
	}
	for _, sc := range r.Scenarios {
		c.ran[sc.ID] = sc.Outcome != "not-run"
	}
	for _, sc := range suite.Scenarios {
		c.needs[sc.ID] = sc.Needs
		c.missing[sc.ID] = !c.ran[sc.ID] && (asked == nil || asked(sc))
		for _, id := range slices.Concat(sc.Clauses, suite.Always) {
			c.judges[id] = append(c.judges[id], sc.ID)
		}
	}
	for i := range r.Clauses {
		c.clauses[r.Clauses[i].ID] = &r.Clauses[i]
	}
	for i, e := range l.Entries {
		if e.Clause != "" {
			c.byClause[e.Clause] = i
		}
	}
	return c
}

// violations are the evidence that makes the verdict of a clause what it is.
func violations(c *report.Clause) []violation {
	if c.Verdict != report.Fail && c.Verdict != report.Warn && c.Verdict != report.Unstable {
		return nil
	}
	for _, v := range []report.Verdict{report.Fail, report.Warn} {
		var out []violation
		for _, e := range c.Evidence {
			if e.Verdict == v {
				out = append(out, violation{e, c.ID})
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

// explain finds the entries that the violations of a clause are listed by, and marks the
// clause as known where none is left.
func (c *comparison) explain(clause *report.Clause) {
	var reasons []string
	by := map[int]bool{}
	for _, v := range violations(clause) {
		i := c.entryFor(v, clause.Verdict == report.Unstable)
		if i < 0 {
			c.others[clause.ID] = append(c.others[clause.ID], v)
			continue
		}
		c.explained[i]++
		by[i] = true
		if reason := c.Entries[i].Reason; !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	if len(by) == 0 || len(c.others[clause.ID]) > 0 {
		return
	}
	clause.Known = strings.Join(reasons, "; ")
	for i := range by {
		c.covers[i] = append(c.covers[i], clause.ID)
	}
}

// entryFor is the entry that a violation is listed by; -1 if there is none.
func (c *comparison) entryFor(v violation, varies bool) int {
	as := func(e Entry) bool { return (!varies || e.Unstable) && e.matches(v) }
	if i, ok := c.byClause[v.clause]; ok && as(c.Entries[i]) {
		return i
	}
	return slices.IndexFunc(c.Entries, func(e Entry) bool {
		return e.Capability != "" && slices.Contains(c.needs[v.Scenario], e.Capability) && as(e)
	})
}

// Lists tells whether an entry describes a violation that a scenario with these needs has
// found, before the run has ended: whether the clause then varies is not known yet.
func (l *List) Lists(f conformance.Finding, needs []string) bool {
	v := violation{report.Evidence{Seen: f.Seen, Acceptable: f.Acceptable}, f.Clause}
	return slices.ContainsFunc(l.Entries, func(e Entry) bool {
		return (e.Clause == f.Clause || e.Capability != "" && slices.Contains(needs, e.Capability)) && e.matches(v)
	})
}

// matches tells whether what is seen, or what would have been acceptable, holds one of
// the pieces, apart from what differs from run to run.
func (e Entry) matches(v violation) bool {
	for _, text := range []string{v.Seen, v.Acceptable} {
		line, stable := page.OneLine(text), report.Stable(text)
		for _, m := range e.Messages {
			if strings.Contains(line, page.OneLine(m)) || strings.Contains(stable, report.Stable(m)) {
				return true
			}
		}
	}
	return false
}

func (c *comparison) clauseState(i int) (report.KnownState, string) {
	e := c.Entries[i]
	clause := c.clauses[e.Clause]
	if clause == nil {
		return report.KnownOutside, "this run did not judge it"
	}
	others := c.others[e.Clause]
	switch {
	case clause.Verdict == report.Error:
		return report.KnownOutside, "the suite or its environment broke on it"
	case clause.Verdict == report.Unstable && !e.Unstable && len(others) > 0:
		return report.KnownDiffers, fmt.Sprintf("it %s: add \"verdict: unstable\" to %s if that is known", clause.Reason, c.where(e))
	case len(others) > 0 && c.explained[i] > 0:
		return report.KnownDiffers, fmt.Sprintf("it fails in another way as well: %s; mend that, or add a piece of it to the message in %s", told(others[0]), c.where(e))
	case len(others) > 0:
		return report.KnownDiffers, fmt.Sprintf("it fails in another way than %s lists: %s; mend that, or change the message", c.where(e), told(others[0]))
	case c.explained[i] > 0:
		return report.KnownHolds, c.hint(e, clause)
	case !c.whole(c.judges[e.Clause]):
		return report.KnownOutside, "not everything that judges it was run"
	case len(violations(clause)) > 0:
		return report.KnownNothing, fmt.Sprintf("remove %s: what it lists is covered by other entries", c.where(e))
	case clause.Verdict == report.Pass && e.Unstable:
		return report.KnownHolds, c.hint(e, clause)
	case clause.Verdict == report.Pass:
		return report.KnownPasses, fmt.Sprintf("remove %s: %s passes now", c.where(e), e.Clause)
	}
	return report.KnownNothing, fmt.Sprintf("remove %s: nothing decided %s: %s", c.where(e), e.Clause, clause.Reason)
}

func (c *comparison) capabilityState(i int) (report.KnownState, string) {
	e := c.Entries[i]
	var within []string
	for id, needs := range c.needs {
		if slices.Contains(needs, e.Capability) {
			within = append(within, id)
		}
	}
	var other *violation
	failing := 0
	for _, clause := range c.r.Clauses {
		for _, v := range violations(&clause) {
			if slices.Contains(within, v.Scenario) {
				failing++
			}
		}
		for _, v := range c.others[clause.ID] {
			if other == nil && slices.Contains(within, v.Scenario) {
				other = &v
			}
		}
	}
	switch {
	case c.explained[i] > 0 && len(c.covers[i]) > 0:
		return report.KnownHolds, ""
	case other != nil:
		return report.KnownDiffers, fmt.Sprintf("what needs %s fails in another way than %s lists: %s, %s; mend that, or change the message", e.Capability, c.where(e), other.clause, told(*other))
	case c.explained[i] > 0:
		return report.KnownHolds, "" // of clauses that fail elsewhere too
	case !c.whole(within):
		return report.KnownOutside, "not everything that needs it was run"
	case failing > 0:
		return report.KnownNothing, fmt.Sprintf("remove %s: what it lists is covered by other entries", c.where(e))
	case e.Unstable:
		return report.KnownHolds, ""
	}
	return report.KnownPasses, fmt.Sprintf("remove %s: nothing fails now in the %d scenarios that need %s", c.where(e), len(within), e.Capability)
}

// hint is what could be changed where an entry is not wrong: no number of runs shows
// that something varies no more, so that is left to the reader.
func (c *comparison) hint(e Entry, clause *report.Clause) string {
	if !e.Unstable || c.r.Repeats < 2 || clause.Verdict == report.Unstable {
		return ""
	}
	if clause.Verdict == report.Pass {
		return fmt.Sprintf("it passed in all of %d runs; if it is mended, remove %s", c.r.Repeats, c.where(e))
	}
	return fmt.Sprintf("it failed in all of %d runs; if it always does, take \"verdict: unstable\" out of %s", c.r.Repeats, c.where(e))
}

// whole tells whether all of the scenarios were run that could be.
func (c *comparison) whole(scenarios []string) bool {
	return slices.ContainsFunc(scenarios, func(id string) bool { return c.ran[id] }) &&
		!slices.ContainsFunc(scenarios, func(id string) bool { return c.missing[id] })
}

// where names the lines of an entry.
func (c *comparison) where(e Entry) string {
	if e.Line == e.LastLine {
		return fmt.Sprintf("line %d of %s", e.Line, c.File)
	}
	return fmt.Sprintf("lines %d to %d of %s", e.Line, e.LastLine, c.File)
}

// told is a violation on one line.
func told(v violation) string {
	text := []rune(cmp.Or(page.OneLine(v.Seen), page.OneLine(v.Acceptable)))
	if len(text) > 160 {
		text = append(text[:160], '…')
	}
	return fmt.Sprintf("%s saw %q", v.Scenario, string(text))
}
