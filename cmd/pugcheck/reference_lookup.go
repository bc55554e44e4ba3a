package main

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/pugcheck/pugcheck/reference/pugmark/session"
)

// exitNoSuchName is lookup's status where no live descriptor has the name.
const exitNoSuchName = 3

func referenceLookupCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lookup --bucket B --session ID --name N [--json]",
		Short: "Print the object that has a name in a session",
		Long: `Print the body of the last object of that name in the session's log, parents
included, or with --json its descriptor, as log prints it. The exit status is 3
where there is none, or where it was deleted.`,
		Args:                  cobra.NoArgs,
		DisableFlagsInUseLine: true,
	}
	location, id := bucketFlag(cmd), sessionFlag(cmd)
	name := nameFlag(cmd, "name", "name of the object")
	asJSON := jsonFlag(cmd, "the object's descriptor in place of its body")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return withRepo(cmd, *location, func(ctx context.Context, repo *session.Repo) error {
			d, err := repo.Lookup(ctx, id.ID(), *name)
			if errors.Is(err, session.ErrNameNotFound) {
				return &exitError{code: exitNoSuchName, err: err}
			}
			if err != nil {
				return err
			}
			if *asJSON {
				return printJSON(cmd.OutOrStdout(), d)
			}
			if body, ok := d.Inline(); ok {
				_, err = cmd.OutOrStdout().Write(body)
				return err
			}
			body, _, err := repo.OpenBlob(ctx, d.Digest)
			if err != nil {
				return err
			}
			defer body.Close()
			_, err = io.Copy(cmd.OutOrStdout(), body)
			return err
		})
	}
	return cmd
}
