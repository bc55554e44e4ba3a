// Command faulty is the reference runtime with one fault, for proving that the
// suite catches it. The fault is put in from outside: the reference's parts are
// composed as `pugcheck reference` composes them, and one of the seams between
// them (store, handler, servers, clock, identifiers) is wrapped.
//
//	faulty --list                        names of all faults, as a JSON list
//	faulty NAME run --bucket B --session ID [--handler N=C]... -- COMMAND...
//	faulty NAME create|rename|push|delete|lookup …    the other commands of the contract
//	faulty none run …                    the reference unchanged
//
// Some compositions are no faults but variants: conforming runtimes that use a
// permission of the text which the reference makes no use of, for proving that the
// suite does not hold it against them.
//
//	faulty --variants                    names of all variants, as a JSON list
//	faulty VARIANT run …                 one of them
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/pugcheck/pugcheck/reference/pugmark/engine"
	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/bucket"
	"github.com/pugcheck/pugcheck/reference/pugmark/transport"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "faulty:", err)
		if len(os.Args) > 2 && os.Args[2] == "lookup" && errors.Is(err, session.ErrNameNotFound) {
			os.Exit(3)
		}
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 1 && args[0] == "--list" {
		return json.NewEncoder(os.Stdout).Encode(faultNames())
	}
	if len(args) == 1 && args[0] == "--variants" {
		return json.NewEncoder(os.Stdout).Encode(variantNames())
	}
	if len(args) < 2 {
		return errors.New("usage: faulty NAME run --bucket B --session ID [--handler NAME=COMMAND] -- COMMAND [ARG]")
	}
	fault, ok := composed(args[0])
	if !ok {
		return fmt.Errorf("no fault or variant is called %q", args[0])
	}
	if args[1] == "run" {
		return runSession(fault, args[2:])
	}
	return runCommand(fault, args[1], args[2:])
}

// running is the session that this process runs, "" for other commands; location is
// its bucket.
var running, location string

// repo opens the bucket with the fault's store and identifiers in place.
func repo(ctx context.Context, f Fault, where string) (*session.Repo, error) {
	location = where
	for name, value := range f.Environment {
		if err := os.Setenv(name, value); err != nil {
			return nil, err
		}
	}
	s, err := bucket.Open(ctx, where)
	if err != nil {
		return nil, err
	}
	if f.Store != nil {
		s = f.Store(s)
	}
	options := session.Options{Parallel: 64}
	if f.Identifiers != nil {
		f.Identifiers(&options)
	}
	return session.New(s, options), nil
}

func runSession(f Fault, args []string) error {
	flags := pflag.NewFlagSet("run", pflag.ContinueOnError)
	where := flags.String("bucket", "", "")
	text := flags.String("session", "", "")
	named := flags.StringArray("handler", nil, "")
	rpc := flags.Bool("rpc", false, "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if f.Argument != nil {
		*text = f.Argument(*text)
	}
	id, err := layout.ParseSessionID(*text)
	if err != nil {
		return err
	}
	running = id.String()
	handlers := engine.Handlers{Named: map[string]transport.Handler{}}
	wrap := func(h transport.Handler) transport.Handler {
		if *rpc {
			h = transport.Hosted(h)
		}
		if f.Handler != nil {
			return f.Handler(h)
		}
		return h
	}
	for _, flag := range *named {
		name, command, _ := strings.Cut(flag, "=")
		h, err := transport.ParseCommand(command)
		if err != nil {
			return err
		}
		handlers.Named[name] = wrap(h)
	}
	if flags.NArg() > 0 {
		h, err := transport.ParseArguments(flags.Args())
		if err != nil {
			return err
		}
		handlers.Default = wrap(h)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	r, err := repo(ctx, f, *where)
	if err != nil {
		return err
	}
	_, query, _ := strings.Cut(*where, "?")
	config := engine.Config{
		Repo: r, Handlers: handlers, Fetch: engine.NewFetcher(query),
		Trace:  engine.TraceContext{Parent: os.Getenv("TRACEPARENT"), State: os.Getenv("TRACESTATE")},
		Report: func(message string) { fmt.Fprintln(os.Stderr, "faulty:", message) },
	}
	if f.Engine != nil {
		f.Engine(&config)
	}
	if f.Run != nil {
		err = f.Run(ctx, config, id)
	} else {
		_, err = engine.Run(ctx, config, id)
	}
	if f.Ending != nil {
		err = f.Ending(err)
	}
	return err
}

func faultNames() []string {
	names := []string{}
	for name := range faults() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
