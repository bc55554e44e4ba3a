package main

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pugcheck/pugcheck/harness/report"
	"github.com/pugcheck/pugcheck/harness/report/compare"
)

// compareFlags are the flags of the commands that compare results, as given.
type compareFlags struct {
	reports []string
	verbose bool
}

func (f *compareFlags) register(flags *pflag.FlagSet, formats []string) {
	reportFlag(flags, &f.reports, formats)
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "show everything in full")
}

func reportDiffCommand() *cobra.Command {
	var f compareFlags
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Say which verdicts changed from one result to another",
		Long: `Say which verdicts changed from one result to another, clause by clause.

A verdict regresses when it gets worse (pass, warn, unstable, fail), when a clause
fails of which nothing was known, and when a clause that passed is not exercised any
more, unless it only permits something. It does not where the suite broke, where the
new run was cut short, or where the new failure is listed as known; these are other
changes. Clauses that only one of the results has are listed as added or gone.

  pugcheck report diff main.json branch.json
  pugcheck report diff main.json branch.json --report markdown=comment.md

Exit status: 0 no regression · 1 a regression · 2 arguments, or a file that is no
result · 3 a report could not be written.`,
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			targets, err := report.ParseTargetsIn(f.reports, compare.DiffFormats)
			if err != nil {
				return usageError(err)
			}
			results, err := readResults(args, targets)
			if err != nil {
				return usageError(err)
			}
			d := report.Compare(results[0], results[1])
			terminal := compare.Terminal{Layout: layoutFor(os.Stdout), Verbose: f.verbose}
			err = writeForms(targets,
				func(format string) ([]byte, error) { return compare.RenderDiff(d, format) },
				func(human *os.File) error { return terminal.WriteDiff(human, d) })
			if err == nil && d.Regressed() {
				return &exitError{exitNotConforming, nil}
			}
			return err
		},
	}
	f.register(cmd.Flags(), compare.DiffFormats)
	return cmd
}

func reportMatrixCommand() *cobra.Command {
	var f compareFlags
	cmd := &cobra.Command{
		Use:   "matrix RESULT...",
		Short: "Show implementations beside each other, section by section",
		Long: `Show implementations beside each other: for each section how many of its clauses
passed and the worst verdict, then the clauses on which they differ. The forms in
files unfold every section into its clauses.

  pugcheck report matrix a.json b.json c.json
  pugcheck report matrix a.json b.json c.json --report html=matrix.html

Exit status: 0 the matrix was made, whatever it says · 2 arguments, or a file that is no
result · 3 a report could not be written.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			targets, err := report.ParseTargetsIn(f.reports, compare.MatrixFormats)
			if err != nil {
				return usageError(err)
			}
			results, err := readResults(args, targets)
			if err != nil {
				return usageError(err)
			}
			var sources []compare.Source
			for i, r := range results {
				sources = append(sources, compare.Source{File: args[i], Result: r})
			}
			m := compare.NewMatrix(sources)
			terminal := compare.Terminal{Layout: layoutFor(os.Stdout), Verbose: f.verbose}
			return writeForms(targets,
				func(format string) ([]byte, error) { return compare.RenderMatrix(m, format) },
				func(human *os.File) error { return terminal.WriteMatrix(human, m) })
		},
	}
	f.register(cmd.Flags(), compare.MatrixFormats)
	return cmd
}

// readResults reads stored results, "-" from standard input. None of them may be the place
// that a report is to go to.
func readResults(paths []string, targets []report.Target) ([]*report.Result, error) {
	if i := slices.Index(paths, "-"); i >= 0 && slices.Contains(paths[i+1:], "-") {
		return nil, errors.New("standard input holds one result; name the others by their files")
	}
	var out []*report.Result
	for _, path := range paths {
		if path == "-" {
			r, err := report.Read(os.Stdin)
			if err != nil {
				return nil, fmt.Errorf("result on standard input: %w", err)
			}
			out = append(out, r)
			continue
		}
		r, err := report.ReadFile(path)
		if err != nil {
			return nil, err
		}
		for _, t := range targets {
			if sameFile(path, t.Path) {
				return nil, fmt.Errorf("--report %s=%s would replace the result that it is made from", t.Format, path)
			}
		}
		out = append(out, r)
	}
	return out, nil
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil || !one.Mode().IsRegular() {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// writeForms writes the reports that were asked for, and the text for people to standard
// output, or to standard error where a report goes there.
func writeForms(targets []report.Target, render func(format string) ([]byte, error), text func(*os.File) error) error {
	human := os.Stdout
	for _, t := range targets {
		data, err := render(t.Format)
		if err == nil {
			err = t.Put(data, os.Stdout)
		}
		if err != nil {
			return &exitError{exitTrouble, err}
		}
		if t.Path == "-" {
			human = os.Stderr
		}
	}
	if err := text(human); err != nil {
		return &exitError{exitTrouble, fmt.Errorf("the text for people: %w", err)}
	}
	return nil
}
