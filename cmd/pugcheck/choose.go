package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pugcheck/pugcheck/conformance"
	"github.com/pugcheck/pugcheck/conformance/pugmark"
	"github.com/pugcheck/pugcheck/conformance/selection"
)

// choose applies --only and --skip, and takes out what needs a capability that
// the runtime lacks. It fails where nothing is left to run.
func (j *judgement) choose() error {
	only, err := selection.Parse(j.flags.only)
	if err != nil {
		return fmt.Errorf("--only: %w", err)
	}
	skip, err := selection.Parse(j.flags.skip)
	if err != nil {
		return fmt.Errorf("--skip: %w", err)
	}
	var ids []string
	for _, c := range pugmark.Catalogue().Clauses() {
		if slices.Contains(c.Suites, j.suite.Name) {
			ids = append(ids, c.ID)
		}
	}
	var judging, bare []selection.ScenarioRef
	for _, sc := range j.suite.Scenarios {
		judging = append(judging, selection.ScenarioRef{ID: sc.ID, Clauses: sc.Clauses})
		bare = append(bare, selection.ScenarioRef{ID: sc.ID})
	}
	chosen, err := only.Resolve(ids, judging)
	if err != nil {
		return fmt.Errorf("--only: %w%s", err, elsewhere(only.Words(), j.suite.Name))
	}
	j.invariants(only, &chosen, ids, bare)
	dropped := selection.Selected{}
	if !skip.Empty() {
		if dropped, err = skip.Resolve(ids, bare); err != nil {
			return fmt.Errorf("--skip: %w%s", err, elsewhere(skip.Words(), j.suite.Name))
		}
	}
	j.clauses = map[string]bool{}
	for id := range chosen.Clauses {
		j.clauses[id] = !dropped.Clauses[id]
	}
	if err := j.counted(); err != nil {
		return err
	}
	selected := 0
	for _, sc := range j.suite.Scenarios {
		if !chosen.Scenarios[sc.ID] {
			continue
		}
		selected++
		if why := j.excluded(sc, dropped); why != "" {
			j.left[sc.ID] = why
		} else {
			j.chosen = append(j.chosen, sc)
		}
	}
	if len(j.chosen) == 0 {
		return fmt.Errorf("nothing is left to run: %s", j.whyNothing(selected))
	}
	return nil
}

// invariants completes a selection by the clauses that every scenario can judge.
// A scenario that is named brings them along, so that repeating it shows all that
// it showed before. As clauses they select scenarios only where nothing else
// does: one of them in a section would select everything.
func (j *judgement) invariants(only selection.Selectors, chosen *selection.Selected, ids []string, bare []selection.ScenarioRef) {
	if only.Empty() {
		return
	}
	named, err := only.Resolve(ids, bare)
	if err == nil && len(named.Scenarios) > 0 {
		for _, id := range j.suite.Always {
			if !chosen.Clauses[id] {
				chosen.Clauses[id] = true
				j.implied[id] = true
			}
		}
	}
	if len(chosen.Scenarios) == 0 && slices.ContainsFunc(j.suite.Always, func(id string) bool { return chosen.Clauses[id] }) {
		for _, sc := range bare {
			chosen.Scenarios[sc.ID] = true
		}
	}
}

// excluded is why a selected scenario is not run; "" if it is.
func (j *judgement) excluded(sc conformance.Scenario, dropped selection.Selected) string {
	if dropped.Scenarios[sc.ID] {
		return "its scenario was left out (--skip)"
	}
	if why := j.lacking(sc); why != "" {
		return why
	}
	if len(dropped.Clauses) > 0 && !slices.ContainsFunc(sc.Clauses, func(id string) bool { return j.clauses[id] }) {
		return "all of its clauses were left out (--skip)"
	}
	return ""
}

func (j *judgement) whyNothing(selected int) string {
	if selected == 0 {
		return fmt.Sprintf("no scenario judges %s yet", strings.Join(j.flags.only, ", "))
	}
	var reasons []string
	for _, sc := range j.suite.Scenarios {
		if why := j.left[sc.ID]; why != "" && !slices.Contains(reasons, why) {
			reasons = append(reasons, why)
		}
	}
	return strings.Join(reasons, "; ")
}

// elsewhere says that a selector names clauses which only other suites judge.
func elsewhere(words []string, suite string) string {
	var out string
	for _, w := range words {
		if c, ok := pugmark.Catalogue().Clause(strings.ToUpper(w)); ok && !slices.Contains(c.Suites, suite) {
			out += "\n" + notOf(suite, c.ID)
		}
	}
	return out
}

func (j *judgement) list(w io.Writer) error {
	for _, sc := range j.suite.Scenarios {
		note := ""
		if why := j.left[sc.ID]; why != "" {
			note = "  (not run: " + why + ")"
		} else if !slices.ContainsFunc(j.chosen, func(c conformance.Scenario) bool { return c.ID == sc.ID }) {
			continue
		}
		if _, err := fmt.Fprintf(w, "%-40s %s%s\n", sc.ID, sc.Title, note); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%d scenarios\n", len(j.chosen))
	return err
}
