package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/pugcheck/pugcheck/reference/pugmark/engine"
	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/watch"
)

// watchOptions are the flags of run that make it go on.
type watchOptions struct {
	on       bool
	interval time.Duration
	parallel int
}

func watchFlags(cmd *cobra.Command) *watchOptions {
	w := new(watchOptions)
	flags := cmd.Flags()
	flags.BoolVar(&w.on, "watch", false, "go on, and serve the bucket's sessions as objects arrive")
	flags.DurationVar(&w.interval, "interval", watch.DefaultInterval, "time from one look at the bucket to the next, with --watch")
	flags.IntVar(&w.parallel, "parallel", watch.DefaultParallel, "how many sessions are run at once, with --watch")
	return w
}

// check tells what is wrong with the flags.
func (w *watchOptions) check(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	switch {
	case !w.on && !given("session"):
		return errors.New(`required flag(s) "session" not set; with --watch all sessions are served`)
	case !w.on && given("interval"):
		return errors.New("--interval: goes with --watch")
	case !w.on && given("parallel"):
		return errors.New("--parallel: goes with --watch")
	case w.interval <= 0:
		return fmt.Errorf("--interval %s: want more than nothing, such as 2s", w.interval)
	case w.parallel <= 0:
		return fmt.Errorf("--parallel %d: want at least 1", w.parallel)
	}
	return nil
}

// serve serves the bucket until ctx ends, and prints a line for each run.
func (w *watchOptions) serve(ctx context.Context, cmd *cobra.Command, config engine.Config, id layout.SessionID, asJSON bool) error {
	return watch.Serve(ctx, watch.Config{
		Engine:   config,
		Session:  id,
		Interval: w.interval,
		Parallel: w.parallel,
		Ran: func(r engine.Result) {
			if asJSON {
				_ = printJSON(cmd.OutOrStdout(), resultOf(r)) // whoever stops reading does not stop the sessions
				return
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s  version %d  %s\n", r.Session, r.Version, r.State)
		},
		Failed: func(_ layout.SessionID, err error, again time.Time) {
			when := "nothing is done before something arrives in it"
			if !again.IsZero() {
				when = "tried again at " + timestamp(again)
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "pugcheck: %v; %s\n", err, when)
		},
	})
}
