package main

import (
	"context"
	"errors"
	"fmt"
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
	if j.program != "" {
		if err := subject.Check([]string{j.program}); err != nil {
			return usageError(fmt.Errorf("the %s cannot be started: %w", j.suite.Name, err))
		}
	}
	began := time.Now()
	plan := j.plan()
	if plan.Artifacts, err = j.keeper(plan.Scenarios); err != nil {
		return usageError(err)
	}
	guard, err := subject.StartGuard(j.self, "guard")
	if err != nil {
		return &exitError{exitTrouble, err}
	}

	ctx, stop := interruptible()
	defer stop()
	progress := j.progress(len(plan.Scenarios) * f.repeat)
	silent := context.AfterFunc(ctx, func() { progress.Say("interrupted: ending what runs (interrupt again to end at once)") })
	plan.Observer = &watcher{progress: progress, clauses: j.counting, strict: f.strict}
	kept := j.keepUnderway(&plan, targets, began)
	outcome, trouble := runner.Run(ctx, plan)
	silent()
	kept.Close()
	progress.Close()
	// Whatever a crashed worker left behind is gone before the report says anything.
	trouble = errors.Join(trouble, guard.Close())
	result := j.result(outcome, trouble, began)
	lost := keepIndex(plan.Artifacts, outcome, began)
	err = j.conclude(result, outcome, targets)
	if lost != nil {
		return &exitError{exitTrouble, errors.Join(lost, err)}
	}
	return err
}

// conclude writes the reports and turns the standing into an exit status.
func (j *judgement) conclude(result *report.Result, outcome runner.Result, targets []report.Target) error {
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
	return statusOf(result)
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
