package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/pugcheck/pugcheck/conformance/profile"
	"github.com/pugcheck/pugcheck/conformance/pugmark/runtime"
	runner "github.com/pugcheck/pugcheck/conformance/run"
	"github.com/pugcheck/pugcheck/harness/report"
	"github.com/pugcheck/pugcheck/harness/subject"
)

// runtimeFlags are the flags of pugcheck runtime, as given.
type runtimeFlags struct {
	profile string
	without []string
	strict  bool
	seed    uint64
	workers int
	only    []string
	skip    []string
	timeout time.Duration
	reports []string
	timing  bool
	verbose bool
	list    bool
}

func runtimeCommand() *cobra.Command {
	var f runtimeFlags
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

Exit status: 0 the runtime conforms · 1 it does not, or did nothing that could be
judged · 2 arguments, profile, selection or a program that cannot be used · 3 the
run was interrupted, or the suite itself broke and nothing else was found.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.timeout = max(f.timeout, 0)
			return judgeRuntime(cmd, f, args)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.profile, "profile", "", "profile `FILE` (default ./"+profile.DefaultFile+" where it exists)")
	flags.StringSliceVar(&f.without, "without", nil, "capabilities the runtime lacks, as a comma-separated `LIST`: "+strings.Join(profile.Capabilities, ", "))
	flags.BoolVar(&f.strict, "strict", false, "warnings fail, except on what is only permitted")
	flags.Uint64Var(&f.seed, "seed", 0, "seed `N` of everything random (default: drawn, and printed)")
	flags.IntVar(&f.workers, "workers", 0, "scenarios run side by side, at most `N` (default three times the cores)")
	flags.StringArrayVar(&f.only, "only", nil, "only what `SELECTOR` names: clause, section, glob or scenario; repeatable, or comma-separated")
	flags.StringArrayVar(&f.skip, "skip", nil, "leave out what `SELECTOR` names")
	flags.DurationVar(&f.timeout, "timeout", 0, "how long the runtime may take for one step, as `DURATION` (default 20s)")
	flags.StringArrayVar(&f.reports, "report", nil, "also write the result as `FORMAT=FILE`; known: "+strings.Join(report.Formats, ", ")+"; FILE - is standard output")
	flags.BoolVar(&f.timing, "timing", false, "show where the time went")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "show everything in full")
	flags.BoolVar(&f.list, "list", false, "list the scenarios that would be run, and run none")
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		if strings.HasPrefix(err.Error(), "unknown") {
			return usageError(fmt.Errorf("%w; if it is meant for the runtime, quote the command (pugcheck runtime './impl --flag') or put -- before it", err))
		}
		return usageError(err)
	})
	return cmd
}

// judgeRuntime is the whole of pugcheck runtime. Everything that can be wrong with
// the arguments is found before anything runs.
func judgeRuntime(cmd *cobra.Command, f runtimeFlags, args []string) error {
	targets, err := report.ParseTargets(f.reports)
	if err != nil {
		return usageError(err)
	}
	j, err := newRuntimeJudgement(cmd, f, args)
	if err != nil {
		return usageError(err)
	}
	if f.list {
		return j.list(cmd.OutOrStdout())
	}
	if program := j.config.Profile.Program(); program != "" {
		if err := subject.Check([]string{program}); err != nil {
			return usageError(fmt.Errorf("the runtime cannot be started: %w", err))
		}
	}
	guard, err := subject.StartGuard(j.self, "guard")
	if err != nil {
		return &exitError{exitTrouble, err}
	}

	ctx, stop := interruptible()
	defer stop()
	began := time.Now()
	plan := j.plan()
	progress := j.progress(len(plan.Scenarios))
	silent := context.AfterFunc(ctx, func() { progress.Say("interrupted: ending what runs (interrupt again to end at once)") })
	plan.Observer = &watcher{progress: progress, clauses: j.clauses, strict: f.strict}
	outcome, trouble := runner.Run(ctx, plan)
	silent()
	progress.Close()
	// Whatever a crashed worker left behind is gone before the report says anything.
	trouble = errors.Join(trouble, guard.Close())
	result := j.result(outcome, trouble, began)
	return j.conclude(result, outcome, targets)
}

// conclude writes the reports and turns the standing into an exit status.
func (j *runtimeJudgement) conclude(result *report.Result, outcome runner.Result, targets []report.Target) error {
	human := os.Stdout
	for _, t := range targets {
		if t.Path == "-" {
			human = os.Stderr
		}
	}
	var failed error
	for _, t := range targets {
		failed = errors.Join(failed, t.Write(result, os.Stdout))
	}
	if why := unstartable(outcome); why != "" {
		return usageError(errors.Join(errors.New(why), failed))
	}
	failed = errors.Join(failed, j.terminal(human).Write(human, result))
	if failed != nil {
		return &exitError{exitTrouble, failed}
	}
	switch result.Standing() {
	case report.Conforming:
		return nil
	case report.NotConforming:
		return &exitError{exitNotConforming, nil}
	default:
		return &exitError{exitTrouble, nil}
	}
}

// unstartable is why the program could not be executed; "" if it could.
func unstartable(r runner.Result) string {
	for _, o := range r.Outcomes {
		if o.Unstartable {
			return o.Reason
		}
	}
	return ""
}

// interruptible is a context that ends with the first interrupt. The second one
// ends the process at once; the guard cleans up behind it.
func interruptible() (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	release := context.AfterFunc(ctx, stop)
	return ctx, func() { release(); stop() }
}

// suiteFor makes the suite for a configuration, in the parent and in each worker.
// A runtime that may take longer for each step needs longer for a scenario.
func suiteFor(c runtime.Config) *runtimeSuite {
	s := runtime.Suite(c)
	if c.Timeout > runtime.DefaultTimeout {
		factor := float64(c.Timeout) / float64(runtime.DefaultTimeout)
		for i := range s.Scenarios {
			s.Scenarios[i].Limit = time.Duration(factor * float64(s.Scenarios[i].Bound()))
		}
	}
	return s
}
