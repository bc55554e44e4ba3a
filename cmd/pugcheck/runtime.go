package main

import (
	"fmt"
	goruntime "runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pugcheck/pugcheck/conformance"
	"github.com/pugcheck/pugcheck/conformance/profile"
	"github.com/pugcheck/pugcheck/conformance/pugmark/runtime"
	"github.com/pugcheck/pugcheck/harness/report"
)

func runtimeCommand() *cobra.Command {
	var f suiteFlags
	var without []string
	cmd := &cobra.Command{
		Use:   "runtime [flags] [COMMAND [ARG...]]",
		Short: "Judge a runtime, clause by clause",
		Long: `Judge a runtime: run every scenario against it and say, clause by clause,
whether it keeps the specifications, and how that is known.

COMMAND starts the runtime. It is given the arguments of docs/contract.md (run
--bucket … --session …), or those of the profile. Without COMMAND the built-in
reference runtime is judged. One COMMAND with spaces is split as a shell would
split it, without a shell. Flags of pugcheck may stand before and after COMMAND;
arguments that begin with a dash and belong to the runtime go into the quotes, or
behind "--":

  pugcheck runtime ./other-impl --report json=out.json
  pugcheck runtime './other-impl --fast'
  pugcheck runtime --seed 42 -- ./other-impl --fast

Exit status: 0 the runtime conforms, or all that fails is listed as known · 1 it does
not, or did nothing that could be judged, or the list of known failures is out of
date · 2 arguments, profile, list, selection or a program that cannot be used · 3 the
run was interrupted, or the suite itself broke and nothing else was found.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return judge(cmd, f, func() (*judgement, error) { return newRuntimeJudgement(cmd, f, without, args) })
		},
	}
	f.register(cmd, "runtime")
	flags := cmd.Flags()
	flags.StringSliceVar(&without, "without", nil, "capabilities the runtime lacks, as a comma-separated `LIST`: "+strings.Join(profile.Capabilities, ", "))
	flags.IntVar(&f.workers, "workers", 0, "scenarios run side by side, at most `N` (default three times the cores)")
	flags.DurationVar(&f.timeout, "timeout", 0, "how long the runtime may take for one step, as `DURATION` (default 20s)")
	return cmd
}

func newRuntimeJudgement(cmd *cobra.Command, f suiteFlags, without, args []string) (*judgement, error) {
	j, err := newJudgement(cmd, f)
	if err != nil {
		return nil, err
	}
	r := &j.profile.Runtime
	lacks := slices.Clone(r.Without)
	for _, c := range without {
		if !profile.IsCapability(c) {
			return nil, fmt.Errorf("--without: unknown capability %q; known are %s", c, strings.Join(profile.Capabilities, ", "))
		}
		if !r.Lacks(c) {
			r.Without = append(r.Without, c)
		}
	}
	if j.changed("timeout") {
		r.Timeout = f.timeout
	}
	if err := j.runtimeSubject(args, cmd.ArgsLenAtDash()); err != nil {
		return nil, err
	}
	if len(without) > 0 {
		j.again = []string{"--without", strings.Join(without, ",")}
	}
	config := runtime.Config{Profile: *r, Pugcheck: j.self, Timeout: r.Timeout}
	j.suite, j.job = runtimeSuite(config), config
	j.first, j.atOnce, j.without, j.program = runtime.Preflight, 3*goruntime.NumCPU(), r.Without, r.Program()
	j.asked = func(sc conformance.Scenario) bool {
		return !slices.ContainsFunc(sc.Needs, func(c string) bool { return slices.Contains(lacks, c) })
	}
	j.lacking = func(sc conformance.Scenario) string {
		for _, c := range sc.Needs {
			if r.Lacks(c) {
				return fmt.Sprintf("the runtime was declared to lack %s (--without %s, or the profile)", c, c)
			}
		}
		return ""
	}
	return j, j.choose()
}

// runtimeSubject finds out what starts the runtime: the arguments (those behind "--"
// word by word), else the profile, else the reference.
func (j *judgement) runtimeSubject(args []string, dash int) error {
	r := &j.profile.Runtime
	if len(args) == 0 {
		switch {
		case !r.NeedsCommand():
			j.subject = report.Subject{Name: r.Program(), Command: []string{}}
		case len(r.Command) > 0:
			j.subject = report.Subject{Name: profile.Quote(r.Command), Command: r.Command}
		default:
			r.Command = []string{j.self, "reference"}
			j.subject = report.Subject{Name: "pugcheck reference", Command: []string{"pugcheck", "reference"}, BuiltIn: true}
		}
		return nil
	}
	if !r.NeedsCommand() {
		return fmt.Errorf("%s: run names its own program, so %s would have no place; begin run with \"{runtime}\", or leave COMMAND out", j.profile.File, profile.Quote(args))
	}
	words, typed, err := splitCommand(args, dash)
	if err != nil {
		return err
	}
	r.Command, j.typed = words, typed
	j.subject = report.Subject{Name: profile.Quote(words), Command: words}
	return nil
}

// runtimeSuite makes the suite for a configuration, in the parent and in each worker.
// A runtime that may take longer for each step needs longer for a scenario.
func runtimeSuite(c runtime.Config) *conformance.Suite {
	s := runtime.Suite(c)
	if c.Timeout > runtime.DefaultTimeout {
		factor := float64(c.Timeout) / float64(runtime.DefaultTimeout)
		for i := range s.Scenarios {
			s.Scenarios[i].Limit = time.Duration(factor * float64(s.Scenarios[i].Bound()))
		}
	}
	return s
}
