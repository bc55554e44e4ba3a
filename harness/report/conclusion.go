package report

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/pugcheck/pugcheck/harness/page"
)

// Conclusion is what may be said of the subject after a run, in words. Every
// rendering takes it from here, so that none says more than another.
type Conclusion struct {
	Standing  Standing `json:"standing"`
	Whole     bool     `json:"whole"`     // every testable MUST of the set was judged, and nothing went against the subject
	Statement string   `json:"statement"` // one or two sentences
	Details   []string `json:"details"`   // what is missing for more, or qualifies it: a sentence each
	Short     string   `json:"short"`     // a few words, as for a badge
}

// Sentence is the statement alone.
func (r *Result) Sentence() string { return r.Conclude().Statement }

// Conclude says what the verdicts allow to say, and never more: conformance as a whole
// takes a complete and unfiltered run in which every testable MUST of the requirement
// set was judged. Count comes first.
func (r *Result) Conclude() Conclusion {
	m := r.musts()
	c := Conclusion{Standing: r.Standing(), Details: []string{}}
	name, scope := r.Subject.Name, r.scope()
	unlisted, listed := r.against()
	switch c.Standing {
	case Incomplete:
		c.Short, c.Statement = "no statement", fmt.Sprintf("No statement on %s: %s.", name, or(r.Incomplete, "the run did not come to its end"))
		if unlisted+listed > 0 {
			c.Statement += fmt.Sprintf(" So far it violates %s%s.", page.Count(unlisted+listed, "clause"), r.ofThese(unlisted, listed))
		}
		return c
	case Troubled:
		c.Short, c.Statement = "no statement", fmt.Sprintf("No statement on %s: %s.", name, r.broke(listed))
	case NotConforming:
		c.Short, c.Statement = "not conforming", r.opposed(name, scope, unlisted, listed)
		if r.Blocked != "" {
			return c
		}
	case Outdated:
		c.Short, c.Statement = "known failures outdated", fmt.Sprintf("Nothing new was found against %s, but %s in %s no longer describe%s it and %s to be changed.",
			name, entries(len(r.stale())), r.listName(), verbEnd(len(r.stale())), map[bool]string{true: "has", false: "have"}[len(r.stale()) == 1])
	case AsListed:
		c.Short = page.Count(listed, "known failure")
		c.Statement = fmt.Sprintf("%s does not conform to %s, and nothing new was found against it: it violates %d of the %s that were judged, as %s lists.",
			name, scope, listed, page.Count(r.Summary.Judged, "clause"), r.listName())
	default:
		c.Whole = m.judged == m.total && m.total > 0 && !r.filtered()
		c.Short, c.Statement = r.inFavour(name, scope, m)
	}
	if c.Standing != Conforming {
		c.Details = append(c.Details, r.extent(m)...)
	}
	c.Details = append(c.Details, r.missing(m)...)
	c.Details = append(c.Details, r.qualified(m)...)
	return c
}

// mustCount are the MUST and MUST NOT clauses by what became of them.
type mustCount struct {
	total      int // testable ones of the whole set, selected or not
	judged     int
	untestable int
	reasons    map[string]int // why others were not exercised
	broken     int            // the suite broke on them
	uncovered  int            // no scenario judges them
	elsewhere  map[string]int // by transport: about one that this subject is not met over
}

func (r *Result) musts() mustCount {
	m := mustCount{reasons: map[string]int{}, elsewhere: map[string]int{}}
	for _, c := range r.Clauses {
		if !strings.HasPrefix(c.Level, "MUST") {
			continue
		}
		if c.Over != "" {
			m.elsewhere[c.Over]++
			continue
		}
		m.total++
		switch c.Verdict {
		case Pass, Fail, Warn, Unstable:
			m.judged++
		case Untestable:
			m.untestable++
			m.total--
		case NotJudged:
			m.uncovered++
		case Error:
			m.broken++
		default:
			m.reasons[or(c.Reason, "nothing decided them")]++
		}
	}
	if r.Requirements.Musts > 0 {
		m.total = r.Requirements.Musts
	}
	return m
}

// said is how many of the MUSTs were judged, as "410 of 412 MUSTs".
func (m mustCount) said() string {
	if m.total == 1 {
		return fmt.Sprintf("%d of 1 MUST", m.judged)
	}
	return fmt.Sprintf("%d of %d MUSTs", m.judged, m.total)
}

// scope is what the statement is about: specification, kind of subject, transports, set.
func (r *Result) scope() string {
	about := r.Suite
	if len(r.Subject.Transports) > 0 {
		about += ", " + strings.Join(r.Subject.Transports, " + ")
	}
	spec := or(r.Specification, "the specification")
	if r.Requirements.Set != "" {
		spec += " as of requirements " + r.Requirements.Set
	}
	return fmt.Sprintf("%s (%s)", spec, about)
}

func (r *Result) filtered() bool { return len(r.Selection)+len(r.Skipped) > 0 }

func (r *Result) broke(listed int) string {
	found := "Nothing"
	if listed > 0 {
		found = "Nothing new"
	}
	if r.Summary.Error == 0 {
		return fmt.Sprintf("%s broke. %s was found against it", page.Count(r.broken(), "scenario"), found)
	}
	return fmt.Sprintf("the suite or its environment broke in %s. %s else was found against it", page.Count(r.Summary.Error, "clause"), found)
}

// opposed is the statement on a subject that does not conform.
func (r *Result) opposed(name, scope string, unlisted, listed int) string {
	switch {
	case r.Blocked != "" && unlisted == 0:
		return fmt.Sprintf("%s does not conform: it did not get through the first scenario, so the others were not started.", name)
	case r.Blocked != "":
		return fmt.Sprintf("%s does not conform: it did not get through the first scenario, so the others were not started; it violates %s%s.", name, page.Count(unlisted+listed, "clause"), r.ofThese(unlisted, listed))
	case unlisted > 0:
		return fmt.Sprintf("%s does not conform to %s: it violates %d of the %s that were judged%s.", name, scope, unlisted+listed, page.Count(r.Summary.Judged, "clause"), r.ofThese(unlisted, listed))
	}
	return fmt.Sprintf("%s was not shown to conform: nothing that it did decided any clause.", name)
}

// inFavour is the statement on a subject that nothing was found against.
func (r *Result) inFavour(name, scope string, m mustCount) (short, statement string) {
	switch {
	case r.filtered():
		return "judged in part", fmt.Sprintf("No statement about conformance as a whole: %s (%s). Nothing there speaks against %s.", r.part(), m.said(), name)
	case m.judged == m.total && m.total > 0:
		return "conforming", fmt.Sprintf("%s: conforming to %s: %s judged.", name, scope, m.said())
	}
	return fmt.Sprintf("%d of %d MUSTs kept", m.judged, m.total), fmt.Sprintf("%s: not shown to conform as a whole to %s, and nothing found against it: %s judged.", name, scope, m.said())
}

// extent says how much was judged, for statements that do not say it themselves.
func (r *Result) extent(m mustCount) []string {
	if m.total == 0 {
		return nil
	}
	if r.filtered() {
		return []string{fmt.Sprintf("%s judged: %s.", m.said(), r.part())}
	}
	return []string{m.said() + " judged."}
}

// part says what was selected.
func (r *Result) part() string {
	was := func(given []string) string {
		words := strings.FieldsFunc(strings.Join(given, ","), func(r rune) bool { return r == ',' || r == ' ' })
		if len(words) == 1 {
			return words[0] + " was"
		}
		return strings.Join(words, ", ") + " were"
	}
	switch {
	case len(r.Selection) == 0:
		return was(r.Skipped) + " left out"
	case len(r.Skipped) == 0:
		return "only " + was(r.Selection) + " judged"
	}
	return fmt.Sprintf("only %s judged, and %s left out", was(r.Selection), was(r.Skipped))
}

// keptReasons is how many reasons for missing verdicts are told.
const keptReasons = 4

// missing says which of the selected MUSTs have no verdict, and why.
func (r *Result) missing(m mustCount) []string {
	var out []string
	var reasons []string
	for reason := range m.reasons {
		reasons = append(reasons, reason)
	}
	sort.Slice(reasons, func(i, j int) bool {
		if m.reasons[reasons[i]] != m.reasons[reasons[j]] {
			return m.reasons[reasons[i]] > m.reasons[reasons[j]]
		}
		return reasons[i] < reasons[j]
	})
	rest := 0
	for i, reason := range reasons {
		if i < keptReasons || len(reasons) == keptReasons+1 {
			out = append(out, fmt.Sprintf("%s not exercised: %s.", page.Count(m.reasons[reason], "MUST"), strings.TrimSuffix(reason, ".")))
		} else {
			rest += m.reasons[reason]
		}
	}
	if rest > 0 {
		out = append(out, fmt.Sprintf("%s not exercised for other reasons.", page.Count(rest, "MUST")))
	}
	if m.broken > 0 {
		out = append(out, fmt.Sprintf("%s not decided, because the suite or its environment broke.", page.Count(m.broken, "MUST")))
	}
	if m.uncovered > 0 {
		out = append(out, fmt.Sprintf("%s not judged: no scenario covers %s yet.", page.Count(m.uncovered, "MUST"), itThem(m.uncovered)))
	}
	return out
}

// qualified says what else a reader has to know to weigh the statement.
func (r *Result) qualified(m mustCount) []string {
	var out []string
	warnings := 0
	for _, c := range r.Clauses {
		if c.Verdict == Warn || c.Verdict == Unstable && !c.Against() {
			warnings++
		}
	}
	if warnings > 0 {
		out = append(out, fmt.Sprintf("%s: recommended, or our reading of an unclear place; not counted against it.", page.Count(warnings, "warning")))
	}
	if !r.filtered() {
		for _, over := range slices.Sorted(maps.Keys(m.elsewhere)) {
			out = append(out, fmt.Sprintf("%s about %s, over which it was not met.", page.Count(m.elsewhere[over], "further MUST"), over))
		}
		if m.untestable > 0 {
			out = append(out, fmt.Sprintf("%s untestable: nothing that shows outside decides %s.", page.Count(m.untestable, "further MUST"), itThem(m.untestable)))
		}
	}
	if len(r.Beyond) > 0 {
		out = append(out, r.beyond())
	}
	return out
}

// beyond tells how it stands with the clauses that are not in the requirement set.
func (r *Result) beyond() string {
	var violated []string
	for _, c := range r.Beyond {
		if slices.Contains([]Verdict{Fail, Warn, Unstable}, c.Verdict) {
			violated = append(violated, c.ID)
		}
	}
	text := fmt.Sprintf("Not in requirements %s, and not counted: %s", r.Requirements.Set, page.Count(len(r.Beyond), "clause"))
	if len(violated) == 0 {
		return text + ", none of them violated."
	}
	return fmt.Sprintf("%s, of which %d would be violated: %s.", text, len(violated), strings.Join(violated, ", "))
}

func or(text, otherwise string) string {
	if text != "" {
		return text
	}
	return otherwise
}

func itThem(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}
