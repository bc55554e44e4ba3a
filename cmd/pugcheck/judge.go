package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	runner "github.com/pugcheck/pugcheck/conformance/run"
	"github.com/pugcheck/pugcheck/harness/report"
	"github.com/pugcheck/pugcheck/harness/subject"
)

// judge is the whole of a command that runs a suite. Everything that can be wrong with
// the arguments is found before anything runs.
func judge(cmd *cobra.Command, f suiteFlags, prepare func() (*judgement, error)) error {
	targets, err := report.ParseTargets(f.reports)
	if err != nil {
		return usageError(err)
	}
	j, err := prepare()
	if err != nil {
		return usageError(err)
	}
	if err := j.knownFailures(); err != nil {
		return usageError(err)
	}
	if f.list {
		return j.list(cmd.OutOrStdout())
	}
	if err := j.startable(); err != nil {
		return err
	}
	ctx, stop := interruptible()
	defer stop()
	result, outcome, err := j.run(ctx, targets)
	if result == nil {
		return err
	}
	told := j.conclude(result, outcome, targets)
	if err != nil {
		return &exitError{exitTrouble, errors.Join(err, told)}
	}
	return told
}

// startable tells what keeps the program from being started at all.
func (j *judgement) startable() error {
	if j.program == "" {
		return nil
	}
	if err := subject.Check([]string{j.program}); err != nil {
		return usageError(fmt.Errorf("the %s cannot be started: %w", j.suite.Name, err))
	}
	return nil
}

// errChanged is the cause of the end of a run that another one takes the place of.
var errChanged = errors.New("files changed")

// run runs everything once, and leaves no process behind. kept are the reports that say
// what is known so far, while it goes on. Beside a result, the error is that something
// could not be kept for later.
func (j *judgement) run(ctx context.Context, kept []report.Target) (*report.Result, runner.Result, error) {
	began := time.Now()
	plan := j.plan()
	var err error
	if plan.Artifacts, err = j.keeper(plan.Scenarios); err != nil {
		return nil, runner.Result{}, usageError(err)
	}
	guard, err := subject.StartGuard(j.self, "guard")
	if err != nil {
		return nil, runner.Result{}, &exitError{exitTrouble, err}
	}
	progress := j.progress(len(plan.Scenarios) * j.flags.repeat)
	silent := context.AfterFunc(ctx, func() {
		if errors.Is(context.Cause(ctx), errChanged) {
			progress.Say(fmt.Sprintf("%v: ending what runs, to begin anew", context.Cause(ctx)))
			return
		}
		progress.Say("interrupted: ending what runs (interrupt again to end at once)")
	})
	plan.Observer = j.watch(progress)
	soFar := j.keepUnderway(&plan, kept, began)
	outcome, trouble := runner.Run(ctx, plan)
	silent()
	soFar.Close()
	progress.Close()
	// Whatever a crashed worker left behind is gone before the report says anything.
	trouble = errors.Join(trouble, guard.Close())
	return j.result(outcome, trouble, began), outcome, keepIndex(plan.Artifacts, outcome, began)
}

// conclude writes the reports and turns the standing into an exit status.
func (j *judgement) conclude(result *report.Result, outcome runner.Result, targets []report.Target) error {
	if err := j.tell(result, outcome, targets, report.Terminal.Write); err != nil {
		return err
	}
	return statusOf(result)
}

// tell writes the reports, and for people what show makes of the result.
func (j *judgement) tell(result *report.Result, outcome runner.Result, targets []report.Target, show func(report.Terminal, io.Writer, *report.Result) error) error {
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
	failed = errors.Join(failed, show(j.terminal(human), human, result))
	if failed != nil {
		return &exitError{exitTrouble, failed}
	}
	return nil
}

// statusOf is the exit status that a result leads to.
func statusOf(result *report.Result) error {
	switch result.Standing() {
	case report.Conforming, report.AsListed:
		return nil
	case report.NotConforming, report.Outdated:
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
