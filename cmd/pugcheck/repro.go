package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pugcheck/pugcheck/conformance"
	runner "github.com/pugcheck/pugcheck/conformance/run"
	"github.com/pugcheck/pugcheck/harness/artifacts"
	"github.com/pugcheck/pugcheck/harness/report"
	"github.com/pugcheck/pugcheck/harness/subject"
)

func reproCommand() *cobra.Command {
	var keep bool
	cmd := &cobra.Command{
		Use:   "repro [flags] DIR [-- COMMAND [ARG...]]",
		Short: "Run a failed scenario again from its artifacts",
		Long: `Run one scenario again, with the seed, the profile and the subject of its artifacts
(pugcheck runtime --artifacts DIR, and pugcheck handler), and say whether it fails in
the same way.

DIR is the folder of a scenario, or one with a single such folder somewhere below it.
COMMAND (or a URL) behind "--" is judged in place of the recorded subject. Paths mean
what they meant in the recorded working directory; where that does not exist, they are
tried from here.

  pugcheck repro artifacts/runtime/S13.3/no-gaps
  pugcheck repro artifacts/runtime/S13.3/no-gaps -- ./impl-with-the-mend
  git bisect run pugcheck repro /tmp/artifacts/runtime/S13.3/no-gaps

Exit status: 0 nothing fails any more · 1 it fails, in the same way or in another · 2
the folder or the subject cannot be used · 3 the scenario came to no verdict.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			words := []string(nil)
			if dash := cmd.ArgsLenAtDash(); dash >= 0 {
				args, words = args[:dash], args[dash:]
				if len(words) == 0 {
					return usageError(errors.New("behind -- stands no command"))
				}
			}
			if len(args) != 1 {
				return usageError(errors.New("name one folder of artifacts; a command in place of the recorded one goes behind --"))
			}
			found, err := oneFolder(args[0])
			if err != nil {
				return usageError(err)
			}
			return reproduce(cmd.OutOrStdout(), found, words, keep)
		},
	}
	cmd.Flags().BoolVar(&keep, "keep", false, "keep new artifacts beside the old ones, in DIR.again")
	return cmd
}

// oneFolder finds the one folder of artifacts that a path means.
func oneFolder(path string) (artifacts.Found, error) {
	found, err := artifacts.Find(path)
	if err != nil {
		return artifacts.Found{}, fmt.Errorf("artifacts: %w", err)
	}
	switch len(found) {
	case 0:
		return artifacts.Found{}, fmt.Errorf("%s holds no artifacts; name a folder that --artifacts DIR has filled", path)
	case 1:
		return found[0], nil
	}
	var list strings.Builder
	for _, f := range found {
		fmt.Fprintf(&list, "\n  %s  (%s)", f.Path, strings.Join(f.ClauseIDs(), " "))
	}
	return artifacts.Found{}, fmt.Errorf("%s holds the artifacts of %d scenarios; name one of them:%s", path, len(found), list.String())
}

// reproduce runs the scenario of a folder again and tells on w how it compares.
func reproduce(w io.Writer, found artifacts.Found, words []string, keep bool) error {
	if folder, err := filepath.Abs(found.Path); err == nil {
		found.Path = folder
	}
	r, err := newRepeat(found, words)
	if err != nil {
		return usageError(err)
	}
	if r.program != "" {
		if err := subject.Check([]string{r.program}); err != nil {
			return usageError(fmt.Errorf("the %s cannot be started: %w; name another behind --", found.Suite, err))
		}
	}
	plan := runner.Plan{Worker: []string{r.self, "worker", found.Suite}, Job: r.config, Seed: found.Seed, Workers: 1, Scenarios: []conformance.Scenario{r.scenario}}
	if keep {
		if plan.Artifacts, err = r.keeper(); err != nil {
			return usageError(err)
		}
	}
	guard, err := subject.StartGuard(r.self, "guard")
	if err != nil {
		return &exitError{exitTrouble, err}
	}
	ctx, stop := interruptible()
	defer stop()
	fmt.Fprintf(os.Stderr, "running %s again: %s, seed %d\n", found.Scenario, r.subject, found.Seed)
	result, trouble := runner.Run(ctx, plan)
	trouble = errors.Join(trouble, guard.Close())
	if why := unstartable(result); why != "" {
		return usageError(errors.New(why))
	}
	if trouble == nil && len(result.Outcomes) == 0 {
		trouble = context.Cause(ctx)
	}
	if trouble != nil {
		return &exitError{exitTrouble, fmt.Errorf("the scenario came to no end: %w", trouble)}
	}
	return r.tell(w, result.Outcomes[0])
}

// tell compares what is found now to what was, and turns it into an exit status.
func (r *repeat) tell(w io.Writer, out conformance.Outcome) error {
	compared := artifacts.Compare(r.found.Findings, out.Against())
	p := layoutFor(os.Stdout).Page()
	t := retold{Page: p, repeat: r, out: out}
	t.head()
	for _, c := range compared {
		t.clause(c)
	}
	code := t.conclusion(compared)
	if _, err := p.WriteTo(w); err != nil {
		return &exitError{exitTrouble, err}
	}
	if out.Unkept != "" {
		return &exitError{exitTrouble, errors.New(out.Unkept)}
	}
	if code == exitConforming {
		return nil
	}
	return &exitError{code, nil}
}

// undecided are the clauses of the artifacts on which the scenario came to no verdict
// this time: one that it is there for, or any where it was not told to its end.
func (r *repeat) undecided(out conformance.Outcome) []string {
	var list []string
	for _, id := range r.found.ClauseIDs() {
		judged := slices.ContainsFunc(out.Findings, func(f conformance.Finding) bool {
			return f.Clause == id && f.Verdict != report.NotExercised
		})
		if !judged && (out.Outcome != "completed" || slices.Contains(r.scenario.Clauses, id)) {
			list = append(list, id)
		}
	}
	return list
}

// whyUndecided is the reason for that.
func whyUndecided(out conformance.Outcome, clause string) string {
	for _, f := range out.Findings {
		if f.Clause == clause && f.Verdict == report.NotExercised {
			return f.Seen
		}
	}
	return out.Reason
}
