package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pugcheck/pugcheck/conformance/catalogue"
	"github.com/pugcheck/pugcheck/conformance/catalogue/manual"
	"github.com/pugcheck/pugcheck/conformance/pugmark"
	"github.com/pugcheck/pugcheck/conformance/pugmark/handler"
	"github.com/pugcheck/pugcheck/conformance/pugmark/runtime"
	"github.com/pugcheck/pugcheck/conformance/selection"
)

// judges tells which scenarios of which suites judge each clause.
func judges() catalogue.Index {
	index := runtime.Index()
	for id, more := range handler.Index() {
		index[id] = append(index[id], more...)
	}
	return index
}

type clauseFilter struct {
	levels   []string
	suite    string
	unjudged bool
	require  string
}

func clausesCommand() *cobra.Command {
	var filter clauseFilter
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "clauses [SELECTOR...]",
		Short: "List the clauses and what judges them",
		Long: `List the clauses of the specifications, in the order of the text: what each
demands, and whether scenarios judge it, nothing can, or none does yet.

A SELECTOR is a clause (S6.3-1), a section with its subsections (S6), a glob
(S6.*-1, P4.2/*), or a scenario (P4.2/parents-first).`,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, index := pugmark.Catalogue(), judges()
			clauses, err := filter.choose(c, index, args)
			if err != nil {
				return usageError(err)
			}
			if asJSON {
				enc := json.NewEncoder(cmd.OutOrStdout())
				enc.SetEscapeHTML(false)
				enc.SetIndent("", "  ")
				return enc.Encode(manual.Entries(c, clauses, index))
			}
			if err := manual.List(cmd.OutOrStdout(), layoutFor(os.Stdout), c, clauses, index); err != nil || filter.require == "" {
				return err
			}
			return filter.named(cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print an array of objects instead of text")
	cmd.Flags().StringArrayVar(&filter.levels, "level", nil, "only clauses of this level (must, must-not, should, should-not, may); repeatable")
	cmd.Flags().StringVar(&filter.suite, "suite", "", "only clauses that this suite can judge (runtime, handler, backend, audit)")
	cmd.Flags().StringVar(&filter.require, "requirements", "", "only clauses of the released set `NAME`, at the level that they have in it")
	cmd.Flags().BoolVar(&filter.unjudged, "unjudged", false, "only clauses that could be judged and are not yet")
	return cmd
}

// choose returns the clauses that the selectors name and the filter lets
// through, in the order of the text.
func (f clauseFilter) choose(c *catalogue.Catalogue, index catalogue.Index, words []string) ([]*catalogue.Clause, error) {
	levels, err := f.wantedLevels()
	if err != nil {
		return nil, err
	}
	if f.suite != "" && c.Meaning("suites", f.suite) == "" {
		var known []string
		for _, t := range c.Vocabulary("suites") {
			known = append(known, t.Term)
		}
		return nil, fmt.Errorf("there is no suite %q; the suites are %s", f.suite, strings.Join(known, ", "))
	}
	wanted, err := demandsOf(f.require, "")
	if err != nil {
		return nil, err
	}
	selectors, err := selection.Parse(words)
	if err != nil {
		return nil, err
	}
	selected, err := selectors.Resolve(c.ClauseIDs(), scenarioRefs(c, index))
	if err != nil {
		return nil, err
	}
	var chosen []*catalogue.Clause
	for _, clause := range c.Clauses() {
		clause, ok := wanted.asReleased(clause)
		switch {
		case !ok:
			continue
		case !selected.Clauses[clause.ID],
			len(levels) > 0 && !slices.Contains(levels, clause.Level),
			f.suite != "" && !slices.Contains(clause.Suites, f.suite),
			f.unjudged && index.State(clause) != catalogue.NotJudged:
		default:
			chosen = append(chosen, clause)
		}
	}
	return chosen, nil
}

// wantedLevels reads levels in any spelling: "must-not", "MUST NOT".
func (f clauseFilter) wantedLevels() ([]catalogue.Level, error) {
	var wanted []catalogue.Level
	for _, word := range f.levels {
		level := catalogue.Level(strings.ToUpper(strings.NewReplacer("-", " ", "_", " ").Replace(word)))
		if !slices.Contains(catalogue.Levels(), level) {
			return nil, fmt.Errorf("there is no level %q; the levels are must, must-not, should, should-not and may", word)
		}
		wanted = append(wanted, level)
	}
	return wanted, nil
}

// scenarioRefs turns the index round: the scenarios, in the order of the first
// clause that each judges, with all their clauses.
func scenarioRefs(c *catalogue.Catalogue, index catalogue.Index) []selection.ScenarioRef {
	var refs []selection.ScenarioRef
	at := map[string]int{}
	for _, id := range c.ClauseIDs() {
		for _, j := range index[id] {
			i, ok := at[j.Scenario]
			if !ok {
				i = len(refs)
				at[j.Scenario] = i
				refs = append(refs, selection.ScenarioRef{ID: j.Scenario})
			}
			refs[i].Clauses = append(refs[i].Clauses, id)
		}
	}
	return refs
}
