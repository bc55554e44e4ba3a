package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pugcheck/pugcheck/conformance/catalogue"
	"github.com/pugcheck/pugcheck/conformance/catalogue/manual"
	"github.com/pugcheck/pugcheck/conformance/pugmark"
	"github.com/pugcheck/pugcheck/conformance/selection"
)

func explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "explain ID...",
		Short: "Explain a clause, a reading or a finding in full",
		Long: `Explain a clause (S6.3-1): what it demands, what a violation leads to, how it
is judged and by which scenarios, the usual bug, and the readings of unclear
text that the verdict rests on. Readings (R-20) and findings (F-1) have pages of
their own.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, index := pugmark.Catalogue(), judges()
			pages := make([]func() error, len(args))
			for i, id := range args {
				page, err := explained(cmd.OutOrStdout(), c, index, id)
				if err != nil {
					return usageError(err)
				}
				pages[i] = page
			}
			for i, page := range pages {
				if i > 0 {
					fmt.Fprintln(cmd.OutOrStdout())
				}
				if err := page(); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// explained finds what an ID names and returns the function that writes its
// page to w.
func explained(w io.Writer, c *catalogue.Catalogue, index catalogue.Index, id string) (func() error, error) {
	// a report cites a clause's own question as Q: and the clause.
	upper := strings.TrimPrefix(strings.ToUpper(strings.TrimSpace(id)), "Q:")
	if clause, ok := c.Clause(upper); ok {
		return func() error { return manual.Clause(w, layoutFor(os.Stdout), c, clause, index, alone) }, nil
	}
	if r, ok := c.Reading(upper); ok {
		return func() error { return manual.Reading(w, layoutFor(os.Stdout), c, r) }, nil
	}
	if section, ok := c.Section(upper); ok {
		return nil, fmt.Errorf("%s is a section (%s); pugcheck clauses %s lists its clauses", upper, section.Title, upper)
	}
	candidates := c.ClauseIDs()
	for _, r := range c.Readings() {
		candidates = append(candidates, r.ID)
	}
	return nil, fmt.Errorf("there is no clause or reading %q%s", id, selection.DidYouMean(selection.Nearest(id, candidates, 5)))
}

// alone is the command that judges one clause only.
func alone(suite, clause string) string {
	subject := map[string]string{"runtime": "./your-runtime", "handler": "./your-handler", "backend": "s3://your-bucket", "audit": "your-bucket"}[suite]
	return fmt.Sprintf("pugcheck %s --only %s %s", suite, clause, subject)
}
