package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
)

func referenceCreateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "create --bucket B [--session ID] [--agent A] [--handler H] [--metadata K=V]... [--name N] [--json]",
		Short: "Create a session and print its ID",
		Long: `Create a session and print its ID. A session that exists already is left as it
is; so is the session that has the name already, whose ID is then printed. With
--json the session's manifest is printed.`,
		Args:                  cobra.NoArgs,
		DisableFlagsInUseLine: true,
	}
	location := bucketFlag(cmd)
	id := new(sessionValue)
	var m session.Manifest
	flags := cmd.Flags()
	flags.Var(id, "session", "session ID, 32 hex digits; one is drawn if it is missing")
	flags.StringVar(&m.Agent, "agent", "", "agent ID")
	flags.StringVar(&m.Handler, "handler", "", "name of the handler that runs the session")
	flags.StringVar(&m.Name, "name", "", "name of the session")
	metadata := flags.StringArray("metadata", nil, "metadata, as KEY=VALUE")
	asJSON := jsonFlag(cmd, "the session's manifest")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		var err error
		if m.Metadata, err = parseMetadata(*metadata); err != nil {
			return usageError(err)
		}
		if m.Name != "" {
			if _, err := layout.SessionRefKey(m.Name); err != nil {
				return usageError(err)
			}
		}
		m.Session = id.ID()
		return withWritableRepo(cmd, *location, func(ctx context.Context, repo *session.Repo) error {
			created, err := repo.Create(ctx, m)
			if err != nil {
				return err
			}
			if *asJSON {
				return printJSON(cmd.OutOrStdout(), created)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), created.Session)
			return err
		})
	}
	return cmd
}

func parseMetadata(flags []string) (map[string]string, error) {
	var metadata map[string]string
	for _, flag := range flags {
		key, value, ok := strings.Cut(flag, "=")
		if !ok {
			return nil, fmt.Errorf("--metadata %q: want KEY=VALUE", flag)
		}
		if metadata == nil {
			metadata = map[string]string{}
		}
		metadata[key] = value
	}
	return metadata, nil
}
