package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/bucket"
)

func referenceCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "reference",
		Short: "The reference runtime: run, create and look at sessions",
		Long: `The reference runtime for pugmark sessions. It is what pugcheck judges when no
other runtime is named, and an example to compare another one with.

--bucket takes s3://BUCKET/PREFIX or a directory. S3 is reached by the standard
environment: AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID and
AWS_SECRET_ACCESS_KEY. Commands that only look at sessions also take the
http:// or https:// URL of a public bucket.

Exit status: 0 done, 1 failed, 2 unusable arguments, 3 (lookup) no such name.`,
	}
	cmd.AddCommand(
		referenceRunCommand(),
		referenceCreateCommand(),
		referencePushCommand(),
		referenceDeleteCommand(),
		referenceLookupCommand(),
		referenceRenameCommand(),
		referenceLogCommand(),
		referenceSessionsCommand(),
		referenceTreeCommand(),
	)
	return cmd
}

// bucketFlag adds --bucket and returns where its value will be.
func bucketFlag(cmd *cobra.Command) *string {
	location := cmd.Flags().String("bucket", "", "s3://BUCKET/PREFIX, a directory, or http(s):// to read only (required)")
	must(cmd.MarkFlagRequired("bucket"))
	return location
}

// sessionFlag adds --session and returns where its value will be.
func sessionFlag(cmd *cobra.Command) *sessionValue {
	id := new(sessionValue)
	cmd.Flags().Var(id, "session", "session ID, 32 hex digits (required)")
	must(cmd.MarkFlagRequired("session"))
	return id
}

// must is for calls that fail only if this program is wrong.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// sessionValue is a session ID as a flag. S4.1-4: in either case.
type sessionValue layout.SessionID

func (v *sessionValue) Set(text string) error {
	id, err := layout.ParseSessionID(text)
	if err != nil {
		return err
	}
	if id.IsZero() {
		return errors.New("the zero ID is no session")
	}
	if _, err := id.Path(); err != nil {
		return err
	}
	*v = sessionValue(id)
	return nil
}

func (v *sessionValue) String() string {
	if v.ID().IsZero() {
		return ""
	}
	return v.ID().String()
}

func (v *sessionValue) Type() string         { return "ID" }
func (v *sessionValue) ID() layout.SessionID { return layout.SessionID(*v) }

// replayParallel is how many snapshots are fetched at once. Their number, not
// their size, is what replaying a log costs.
const replayParallel = 64

func openRepo(ctx context.Context, location string, wrap ...func(store.Store) store.Store) (*session.Repo, error) {
	s, err := bucket.Open(ctx, location)
	if err != nil {
		return nil, usageError(err)
	}
	for _, w := range wrap {
		s = w(s)
	}
	return session.New(s, session.Options{Parallel: replayParallel}), nil
}

// withWritableRepo is withRepo for a command that writes.
func withWritableRepo(cmd *cobra.Command, location string, do func(context.Context, *session.Repo) error,
	wrap ...func(store.Store) store.Store,
) error {
	return withRepo(cmd, location, func(ctx context.Context, repo *session.Repo) error {
		if err := store.CheckWritable(repo.Store()); err != nil {
			return usageError(fmt.Errorf("--bucket: %w", err))
		}
		return do(ctx, repo)
	}, wrap...)
}

// withRepo opens the bucket, with what wrap puts around it, calls do, and classifies
// its error.
func withRepo(cmd *cobra.Command, location string, do func(context.Context, *session.Repo) error,
	wrap ...func(store.Store) store.Store,
) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second signal has its usual effect.
	context.AfterFunc(ctx, stop)
	repo, err := openRepo(ctx, location, wrap...)
	if err != nil {
		return err
	}
	return classified(do(ctx, repo))
}

// classified gives an error of the reference runtime its exit status.
func classified(err error) error {
	var e *exitError
	switch {
	case err == nil, errors.As(err, &e):
		return err
	case errors.Is(err, store.ErrNoBucket):
		return usageError(err)
	case errors.Is(err, context.Canceled):
		err = fmt.Errorf("interrupted: %w", err)
	}
	return &exitError{code: exitNotConforming, err: err}
}
