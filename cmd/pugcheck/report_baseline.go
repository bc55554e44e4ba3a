package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pugcheck/pugcheck/conformance/known"
	"github.com/pugcheck/pugcheck/harness/report"
)

// baselineFlags are the flags of pugcheck report baseline, as given.
type baselineFlags struct {
	output string
	update string
	reason string
}

func baselineCommand() *cobra.Command {
	var f baselineFlags
	cmd := &cobra.Command{
		Use:   "baseline RESULT [-o FILE] [--update FILE]",
		Short: "List what fails in a result as known failures",
		Long: `List what fails in a result (--report json=FILE) as known failures, for
--known-failing. Beside each clause stand what it demands and a piece of what was seen
that is likely to be seen again.

  pugcheck runtime ./impl --report json=result.json
  pugcheck report baseline result.json -o known.yaml --reason 'since the rewrite, #123'
  pugcheck runtime ./impl --known-failing known.yaml

--update FILE brings a list up to date: entries that hold, or that the result says
nothing about, stay as they are, with their reasons and comments; what passes now is
taken out, and what fails newly is added.

Exit status: 0 the list was written · 2 a result that no list can be made of: partial,
blocked, filtered, or with errors of the suite; an unusable file · 3 the list could not
be written.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return writeBaseline(cmd.OutOrStdout(), args[0], f) },
	}
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "write to `FILE` (default: the file that is updated, else standard output)")
	cmd.Flags().StringVar(&f.update, "update", "", "bring the list in `FILE` up to date")
	cmd.Flags().StringVar(&f.reason, "reason", "", "why the new entries are tolerated, as `TEXT` (default: when and in which run they failed)")
	return cmd
}

func writeBaseline(stdout io.Writer, path string, f baselineFlags) error {
	result, err := report.ReadFile(path)
	if err != nil {
		return usageError(err)
	}
	suite := suiteNamed(result.Suite)
	if suite == nil {
		return usageError(fmt.Errorf("result %s: this version has no %s suite", path, result.Suite))
	}
	b := known.Baseline{Result: result, Suite: suite, Source: path, Reason: strings.TrimSpace(f.reason)}
	if f.update != "" {
		if b.Old, err = known.Load(f.update, vocabulary(suite)); err != nil {
			return usageError(err)
		}
		if f.output == "" {
			f.output = f.update
		}
	}
	if err := b.Usable(); err != nil {
		return usageError(fmt.Errorf("no list can be made of %s: %w", path, err))
	}
	text, changes, err := b.Write()
	if err != nil {
		return &exitError{exitTrouble, err}
	}
	if f.output == "" || f.output == "-" {
		_, err = io.WriteString(stdout, text)
	} else if err = report.Replace(f.output, []byte(text)); err == nil {
		fmt.Fprintf(os.Stderr, "%s: %s\n", f.output, told(changes))
	}
	if err != nil {
		return &exitError{exitTrouble, err}
	}
	return nil
}

// told is what became of the entries of a list.
func told(c known.Changes) string {
	var parts []string
	for _, p := range []struct {
		names []string
		what  string
	}{{c.Added, "added"}, {c.Changed, "changed"}, {c.Removed, "removed"}, {c.Kept, "kept"}} {
		if n := len(p.names); n > 0 {
			part := fmt.Sprintf("%d %s", n, p.what)
			if p.what != "kept" && n <= 10 {
				part += " (" + strings.Join(p.names, ", ") + ")"
			}
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return "nothing fails, so nothing is listed"
	}
	return strings.Join(parts, ", ")
}
