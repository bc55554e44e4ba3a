package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/pugcheck/pugcheck/reference/pugmark/engine"
	"github.com/pugcheck/pugcheck/reference/pugmark/overview"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
)

// statesHelp explains the states that sessions and tree print.
const statesHelp = `States:
  pending     a fork that no run of the parent has carried out, or not wholly
  new         no handler has run on it yet; an invocation is due
  due         objects that ask for an invocation arrived, or a sleep is over
  idle        a handler has run and nothing has arrived since
  queued      queueing objects wait for the next invocation, which nothing asks for
  sleeping    stopped until a time, unless objects arrive
  stopped     stopped until objects arrive
  unreadable  its manifest or a snapshot cannot be read`

func referenceSessionsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sessions --bucket B [--json]",
		Short: "List the sessions of a bucket, with their states",
		Long: `List the sessions of a bucket, in the order of their IDs, each as soon as it is
known: its latest version, how many entries it has of its own, when it changed
last, and its state. Names are those of the refs that point at it.

` + statesHelp,
		Args:                  cobra.NoArgs,
		DisableFlagsInUseLine: true,
	}
	location, asJSON := bucketFlag(cmd), jsonFlag(cmd, "the sessions")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return withRepo(cmd, *location, func(ctx context.Context, repo *session.Repo) error {
			out := cmd.OutOrStdout()
			unreadable := 0
			printed := false
			for s, err := range overview.Sessions(ctx, repo, time.Now()) {
				if err != nil {
					return err
				}
				if s.State == overview.Unreadable {
					unreadable++
				}
				if *asJSON {
					err = printJSON(out, s)
				} else {
					if !printed {
						fmt.Fprintf(out, "%-32s %8s %8s  %-20s  %s\n", "SESSION", "VERSION", "ENTRIES", "MODIFIED", "STATE")
					}
					_, err = fmt.Fprintf(out, "%s %8d %8d  %-20s  %s\n", s.Session, s.Version, s.Entries, timestamp(s.Modified),
						strings.Join(append([]string{stateOf(s)}, attributesOf(s)...), "  "))
				}
				if err != nil {
					return err
				}
				printed = true
			}
			return unreadableError(unreadable)
		})
	}
	return cmd
}

// unreadableError is the failure of a look that met sessions which it could not
// read, or nil.
func unreadableError(n int) error {
	if n == 0 {
		return nil
	}
	return &exitError{code: exitNotConforming, err: fmt.Errorf("sessions that cannot be read: %d", n)}
}

func stateOf(s overview.Session) string {
	switch s.State {
	case engine.Sleeping:
		return "sleeping until " + timestamp(s.StartAt)
	case overview.Unreadable:
		return "unreadable: " + printable(s.Error)
	}
	return string(s.State)
}

// attributesOf gives what else there is to say about a session, but for its parent's
// version, as NAME=VALUE.
func attributesOf(s overview.Session) []string {
	var all []string
	add := func(name, value string) {
		if value != "" {
			all = append(all, name+"="+printable(value))
		}
	}
	for _, name := range s.Names {
		add("name", name)
	}
	add("agent", s.Agent)
	add("handler", s.Handler)
	if !s.Parent.IsZero() {
		add("parent", s.Parent.Session.String()+"@"+strconv.FormatUint(uint64(s.Parent.Version), 10))
	}
	add("reason", s.Reason)
	return all
}

func timestamp(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}

// printable quotes what would not stand as one word on a terminal, and shortens it.
func printable(text string) string {
	const longest = 100 // characters
	if short := []rune(text); len(short) > longest {
		text = string(short[:longest]) + "…"
	}
	odd := func(c rune) bool { return c == '"' || !unicode.IsPrint(c) || c == ' ' }
	if strings.ContainsFunc(text, odd) || strings.ToValidUTF8(text, "") != text {
		return strconv.Quote(text)
	}
	return text
}
