package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
)

func referenceRenameCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rename --bucket B --from N --to M [--json]",
		Short: "Give a named session another name and print its ID",
		Long: `Give the session that is named N the name M and print its ID. Neither a name that
belongs to another session is taken, nor one that changes hands meanwhile.`,
		Args:                  cobra.NoArgs,
		DisableFlagsInUseLine: true,
	}
	location := bucketFlag(cmd)
	from := nameFlag(cmd, "from", "name that the session has")
	to := nameFlag(cmd, "to", "name that it is to have")
	asJSON := jsonFlag(cmd, "session and name")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		for _, name := range []string{*from, *to} {
			if _, err := layout.SessionRefKey(name); err != nil {
				return usageError(err)
			}
		}
		return withWritableRepo(cmd, *location, func(ctx context.Context, repo *session.Repo) error {
			id, err := repo.Rename(ctx, *from, *to)
			if err != nil {
				return err
			}
			if *asJSON {
				return printJSON(cmd.OutOrStdout(), struct {
					Session layout.SessionID `json:"session"`
					Name    string           `json:"name"`
				}{id, *to})
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), id)
			return err
		})
	}
	return cmd
}
