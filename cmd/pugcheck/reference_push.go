package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/pugcheck/pugcheck/reference/pugmark/session"
)

func referencePushCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "push --bucket B --session ID --type provisional|queueing [--name N] [--content-type T] [--json] FILE...",
		Short: "Add objects to a session from outside and print the new version",
		Long: `Add the files to a session, as one snapshot, and print its version. The file -
is the standard input. A provisional snapshot asks for an invocation of the
session, a queueing one waits for the next.`,
		Args:                  cobra.MinimumNArgs(1),
		DisableFlagsInUseLine: true,
	}
	location, id := bucketFlag(cmd), sessionFlag(cmd)
	kind := cmd.Flags().String("type", string(session.Provisional), "provisional or queueing")
	name := cmd.Flags().String("name", "", "name of the objects")
	contentType := cmd.Flags().String("content-type", "", "MIME type of the objects")
	asJSON := jsonFlag(cmd, "session and new version")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		t := session.SnapshotType(*kind)
		if t != session.Provisional && t != session.Queueing {
			return usageError(fmt.Errorf("--type %q: want %s or %s", *kind, session.Provisional, session.Queueing))
		}
		files := make([]*os.File, len(args))
		for i, path := range args {
			files[i] = os.Stdin
			if path != "-" {
				f, err := os.Open(path)
				if err != nil {
					return usageError(err)
				}
				defer f.Close()
				files[i] = f
			}
		}
		return withWritableRepo(cmd, *location, func(ctx context.Context, repo *session.Repo) error {
			// Before anything is stored: a session that does not exist leaves no blobs.
			if _, err := repo.Latest(ctx, id.ID()); err != nil {
				return err
			}
			var objects []session.Descriptor
			for _, f := range files {
				d, err := repo.PutBlobFrom(ctx, f, 0, session.Media{ContentType: *contentType})
				if err != nil {
					return fmt.Errorf("%s: %w", f.Name(), err)
				}
				d.Name = *name
				objects = append(objects, d)
			}
			return printVersion(cmd, *asJSON)(repo.Push(ctx, id.ID(), t, objects...))
		})
	}
	return cmd
}

func referenceDeleteCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "delete --bucket B --session ID --name N [--json]",
		Short: "Delete a name from a session and print the new version",
		Long: `Delete a name from a session: add a tombstone, which hides the objects of that
name, and print the new version. What the session's log holds stays in it.`,
		Args:                  cobra.NoArgs,
		DisableFlagsInUseLine: true,
	}
	location, id := bucketFlag(cmd), sessionFlag(cmd)
	name := nameFlag(cmd, "name", "name to delete")
	asJSON := jsonFlag(cmd, "session and new version")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return withWritableRepo(cmd, *location, func(ctx context.Context, repo *session.Repo) error {
			return printVersion(cmd, *asJSON)(repo.Delete(ctx, id.ID(), *name))
		})
	}
	return cmd
}

// nameFlag adds a required flag that holds a name.
func nameFlag(cmd *cobra.Command, flag, usage string) *string {
	name := cmd.Flags().String(flag, "", usage+" (required)")
	must(cmd.MarkFlagRequired(flag))
	return name
}

// printVersion prints the version of what was committed.
func printVersion(cmd *cobra.Command, asJSON bool) func(session.Committed, error) error {
	return func(c session.Committed, err error) error {
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(cmd.OutOrStdout(), session.Pointer{Session: c.Session, Version: c.Version})
		}
		_, err = fmt.Fprintln(cmd.OutOrStdout(), c.Version)
		return err
	}
}
