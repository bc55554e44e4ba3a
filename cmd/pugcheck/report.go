package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/pugcheck/pugcheck/harness/report"
)

// renderFlags are the flags of pugcheck report, as given.
type renderFlags struct {
	reports []string
	verbose bool
	timing  bool
	gate    bool
}

func reportCommand() *cobra.Command {
	var f renderFlags
	cmd := &cobra.Command{
		Use:   "report RESULT [--report FORMAT=FILE]...",
		Short: "Render a stored result again, or compare results",
		Long: `Render a stored result (--report json=FILE) in any other form, or as the text that
followed the run. RESULT - is standard input. The commands below it compare results.

  pugcheck report result.json                       the text for people
  pugcheck report result.json --report json=again.json

Exit status: 0 the result was rendered, whatever it says · 2 arguments, or a file that
is no result · 3 a report could not be written. With --gate, the status that the run had.`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return renderAgain(args[0], f) },
	}
	flags := cmd.Flags()
	reportFlag(flags, &f.reports, report.Formats)
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "show everything in full")
	flags.BoolVar(&f.timing, "timing", false, "show where the time went")
	flags.BoolVar(&f.gate, "gate", false, "exit with the status that the run had")
	cmd.AddCommand(reportDiffCommand(), reportMatrixCommand(), baselineCommand())
	return cmd
}

// renderAgain writes a stored result in the forms that were asked for; without any,
// as text for people.
func renderAgain(path string, f renderFlags) error {
	targets, err := report.ParseTargets(f.reports)
	if err != nil {
		return usageError(err)
	}
	results, err := readResults([]string{path}, targets)
	if err != nil {
		return usageError(err)
	}
	result := results[0]
	for _, t := range targets {
		if err := t.Write(result, os.Stdout); err != nil {
			return &exitError{exitTrouble, err}
		}
	}
	if len(targets) == 0 {
		if err := terminalFor(os.Stdout, invocation(), result.Suite, f.verbose, f.timing).Write(os.Stdout, result); err != nil {
			return &exitError{exitTrouble, fmt.Errorf("standard output: %w", err)}
		}
	}
	if f.gate {
		return statusOf(result)
	}
	return nil
}
