package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"go.opentelemetry.io/otel"

	"github.com/pugcheck/pugcheck/reference/pugmark/tracing/export"
)

// startTracing gives the pipeline for spans that the environment asks for, nil if it
// asks for none. Whatever is wrong with tracing is told and stops nothing: these
// variables are often set for a whole machine, and sessions matter more than spans.
func startTracing(cmd *cobra.Command) *export.Pipeline {
	say := func(message string) { fmt.Fprintln(cmd.ErrOrStderr(), "pugcheck:", message) }
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { say(fmt.Sprintf("tracing: %v", err)) }))
	pipeline, err := export.FromEnvironment(cmd.Context(), export.Options{Console: cmd.ErrOrStderr(), Report: say})
	if err != nil {
		say(fmt.Sprintf("tracing is off: %v", err))
		return nil
	}
	return pipeline
}
