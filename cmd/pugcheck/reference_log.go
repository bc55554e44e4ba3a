package main

import (
	"bufio"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pugcheck/pugcheck/reference/pugmark/session"
)

func referenceLogCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "log --bucket B --session ID [--version V] [--json]",
		Short: "Print a session's log, one descriptor as JSON per line",
		Long: `Print a session's full log, one descriptor as JSON per line: what it has from its
parents first, then its own. Its fork records, control messages and tombstones
are printed as well; fork records of its parents are not.`,
		Args:                  cobra.NoArgs,
		DisableFlagsInUseLine: true,
	}
	location, id := bucketFlag(cmd), sessionFlag(cmd)
	at := cmd.Flags().Uint32("version", 0, "print the log as it was at this version; default: the latest")
	jsonFlag(cmd, "the log (which it always is)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return withRepo(cmd, *location, func(ctx context.Context, repo *session.Repo) error {
			_, version, err := repo.Open(ctx, id.ID())
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("version") {
				if *at > version {
					return usageError(fmt.Errorf("--version %d: session %s is at version %d", *at, id, version))
				}
				version = *at
			}
			out := bufio.NewWriter(cmd.OutOrStdout())
			for e, err := range repo.Log(ctx, id.ID(), version) {
				if err != nil {
					out.Flush()
					return err
				}
				if !session.NoAncestorForks(id.ID(), e) { // S11.3-2, R-23
					continue
				}
				if err := printJSON(out, e.Descriptor); err != nil {
					return err
				}
			}
			return out.Flush()
		})
	}
	return cmd
}
