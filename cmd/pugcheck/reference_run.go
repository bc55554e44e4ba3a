package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pugcheck/pugcheck/reference/pugmark/engine"
	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/serve"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/transport"
)

func referenceRunCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "run [--watch [--interval D] [--parallel N]] [--rpc] [--json] --bucket B --session ID " +
			"[--handler NAME=COMMAND]... [-- COMMAND ARG...]",
		Short: "Make the invocation of a session that is due",
		Long: `Make the invocation of a session that is due, if there is one, and commit what
the handler produces. A session that sleeps is waited for; one that is paused is
left alone.

The command behind -- is the default handler; --handler registers one for
sessions whose manifest names it. A command that is an http:// URL is a handler
that is reached there. With --rpc a command hosts an HTTP service, at the address
in PUGMARK_RPC_ADDRESS, which is called once and ended then. Handlers on other
machines need --serve-on; who can reach that address can read the bucket's bodies.

With --watch the command goes on until it is interrupted, and serves all sessions
of the bucket, or the one that --session names. It lists the bucket every
--interval and runs a session when it is new, when provisional objects have
arrived in it, and when its sleep is over; not for what its own handler appends. A
session that fails is tried again, later and later.`,
		DisableFlagsInUseLine: true,
	}
	location, id := bucketFlag(cmd), new(sessionValue)
	cmd.Flags().Var(id, "session", "session ID, 32 hex digits (required without --watch)")
	watch := watchFlags(cmd)
	named := cmd.Flags().StringArray("handler", nil, "register a handler, as NAME=COMMAND")
	rpc := cmd.Flags().Bool("rpc", false, "commands host an HTTP service")
	limit := cmd.Flags().Int64("uri-limit", 0, "longest body in bytes that is fetched for a uri, 0 for any")
	host := cmd.Flags().String("serve-on", "127.0.0.1", "`HOST` of this machine at which handlers reach bodies and memory")
	asJSON := jsonFlag(cmd, "how the run ended")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if n := cmd.ArgsLenAtDash(); n > 0 || n < 0 && len(args) > 0 {
			return usageError(fmt.Errorf("unexpected argument %q; the default handler goes behind --", args[0]))
		}
		handlers, err := parseHandlers(*named, args, *rpc)
		if err != nil {
			return usageError(err)
		}
		if err := watch.check(cmd); err != nil {
			return usageError(err)
		}
		if err := serve.CheckHost(*host); err != nil {
			return usageError(fmt.Errorf("--serve-on: %w", err))
		}
		_, s3Query, _ := strings.Cut(*location, "?")
		spans := startTracing(cmd)
		defer spans.Close()
		return withWritableRepo(cmd, *location, func(ctx context.Context, repo *session.Repo) error {
			config := engine.Config{
				Repo:     repo,
				Handlers: handlers,
				Servers: func(objects, memory http.Handler) (engine.Servers, error) {
					return serve.StartOn(*host, objects, memory)
				},
				Fetch:    engine.NewFetcher(s3Query),
				MaxFetch: *limit,
				Trace:    engine.TraceContext{Parent: os.Getenv("TRACEPARENT"), State: os.Getenv("TRACESTATE")},
				Report:   func(message string) { fmt.Fprintln(cmd.ErrOrStderr(), "pugcheck:", message) },

				TracerProvider: spans.TracerProvider(),
			}
			if watch.on {
				return watch.serve(ctx, cmd, config, id.ID(), *asJSON)
			}
			result, err := engine.Run(ctx, config, id.ID())
			if err == nil && *asJSON {
				err = printJSON(cmd.OutOrStdout(), resultOf(result))
			}
			return err
		}, spans.Store)
	}
	return cmd
}

// runResult is engine.Result as JSON.
type runResult struct {
	Session     layout.SessionID `json:"session"`
	Version     uint32           `json:"version"`
	Invocations int              `json:"invocations"`
	State       engine.State     `json:"state"`
}

func resultOf(r engine.Result) runResult {
	return runResult{r.Session, r.Version, r.Invocations, r.State}
}

// parseHandlers reads the --handler flags and the default handler's command, which
// host services if rpc is set.
func parseHandlers(named, command []string, rpc bool) (engine.Handlers, error) {
	hosted := func(h transport.Handler) transport.Handler {
		if rpc {
			return transport.Hosted(h)
		}
		return h
	}
	handlers := engine.Handlers{Named: map[string]transport.Handler{}}
	for _, flag := range named {
		name, text, ok := strings.Cut(flag, "=")
		if !ok || name == "" {
			return handlers, fmt.Errorf("--handler %q: want NAME=COMMAND", flag)
		}
		if handlers.Named[name] != nil {
			return handlers, fmt.Errorf("--handler %q: %s is registered twice", flag, name)
		}
		h, err := transport.ParseCommand(text)
		if err != nil {
			return handlers, fmt.Errorf("--handler %s: %w", name, err)
		}
		handlers.Named[name] = hosted(h)
	}
	if len(command) > 0 {
		h, err := transport.ParseArguments(command)
		if err != nil {
			return handlers, err
		}
		handlers.Default = hosted(h)
	}
	if len(named) == 0 && len(command) == 0 {
		return handlers, errors.New("no handler: give its command behind --, or --handler NAME=COMMAND")
	}
	return handlers, nil
}
