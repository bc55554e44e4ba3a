package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/pugcheck/pugcheck/harness/page"
)

// headings say in every form what a verdict on a list of clauses means.
var headings = map[Verdict]struct{ title, note string }{
	Fail:         {"Failed", ""},
	Unstable:     {"Unstable", "kept in some runs of the same scenarios and violated in others"},
	Error:        {"The suite or its environment broke", "this counts neither for nor against the subject"},
	Warn:         {"Warned", "recommended, or not said by the text; --strict makes them fail"},
	NotExercised: {"Not exercised", "nothing decisive happened"},
	Untestable:   {"Untestable", "no observation from outside can decide them"},
	NotJudged:    {"Not judged", "no scenario covers them yet"},
}

// titles are the headings of the sections, by their IDs.
func (r *Result) titles() map[string]string {
	out := map[string]string{}
	for _, s := range r.Sections {
		out[s.ID] = s.Title
	}
	return out
}

// outlined are the sections that the clauses stand in, in their order, with the counts per
// verdict.
func (r *Result) outlined() ([]Section, map[string]map[Verdict]int) {
	titles := r.titles()
	var sections []Section
	counts := map[string]map[Verdict]int{}
	for _, c := range r.Clauses {
		if counts[c.Section] == nil {
			counts[c.Section] = map[Verdict]int{}
			sections = append(sections, Section{ID: c.Section, Title: titles[c.Section]})
		}
		counts[c.Section][c.Verdict]++
	}
	return sections, counts
}

// reasonGroup is a reason with the clauses that it holds for.
type reasonGroup struct {
	reason string
	ids    []string
}

// byReason puts clauses with the same reason together, the most common reason first.
func byReason(clauses []Clause) []reasonGroup {
	var out []reasonGroup
	at := map[string]int{}
	for _, c := range clauses {
		i, ok := at[c.Reason]
		if !ok {
			i = len(out)
			at[c.Reason] = i
			out = append(out, reasonGroup{reason: c.Reason})
		}
		out[i].ids = append(out[i].ids, c.ID)
	}
	slices.SortStableFunc(out, func(a, b reasonGroup) int { return cmp.Compare(len(b.ids), len(a.ids)) })
	return out
}

// whatRan counts the scenarios that were run, as "3 of 5 scenarios".
func (r *Result) whatRan() string {
	ran := 0
	for _, sc := range r.Scenarios {
		if sc.Outcome != "not-run" {
			ran++
		}
	}
	text := page.Count(len(r.Scenarios), "scenario")
	if ran < len(r.Scenarios) {
		text = fmt.Sprintf("%d of %s", ran, text)
	}
	return text
}
