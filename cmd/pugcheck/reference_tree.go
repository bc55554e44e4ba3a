package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pugcheck/pugcheck/reference/pugmark/engine"
	"github.com/pugcheck/pugcheck/reference/pugmark/overview"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
)

func referenceTreeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tree --bucket B [--session ID] [--json]",
		Short: "Show how sessions were forked, with their states",
		Long: `Show the sessions of a bucket, or those below one of them, each below the session
that it was forked from. @N is the version of the parent that it was forked at.
A fork that is recorded and that no run has carried out yet is pending.

With --json the nodes are printed in the same order; depth says how deep one
stands, parent what it was forked from.

` + statesHelp,
		Args:                  cobra.NoArgs,
		DisableFlagsInUseLine: true,
	}
	location, asJSON := bucketFlag(cmd), jsonFlag(cmd, "the nodes")
	top := new(sessionValue)
	cmd.Flags().Var(top, "session", "session ID, 32 hex digits; show only what is below it")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return withRepo(cmd, *location, func(ctx context.Context, repo *session.Repo) error {
			roots, err := overview.Tree(ctx, repo, time.Now(), top.ID())
			if err != nil {
				return err
			}
			out := bufio.NewWriter(cmd.OutOrStdout())
			t := treePrinter{out: out, json: *asJSON}
			for _, root := range roots {
				t.print(root, "", "", 0)
			}
			if err := out.Flush(); err != nil {
				return err
			}
			return unreadableError(t.unreadable)
		})
	}
	return cmd
}

// treePrinter prints nodes. Errors of the writer stay with it until it is flushed.
type treePrinter struct {
	out        io.Writer
	json       bool
	unreadable int
}

// print prints n behind first, and what is below it behind rest.
func (t *treePrinter) print(n *overview.Node, first, rest string, depth int) {
	if n.State == overview.Unreadable {
		t.unreadable++
	}
	if t.json {
		printJSON(t.out, struct {
			overview.Session
			Depth  int    `json:"depth"`
			Remark string `json:"remark,omitempty"`
		}{n.Session, depth, n.Remark})
	} else {
		fmt.Fprintf(t.out, "%s%s\n", first, describeNode(n))
	}
	for i, child := range n.Children {
		if i < len(n.Children)-1 {
			t.print(child, rest+"├── ", rest+"│   ", depth+1)
		} else {
			t.print(child, rest+"└── ", rest+"    ", depth+1)
		}
	}
}

func describeNode(n *overview.Node) string {
	parts := []string{n.Session.Session.String()}
	if !n.Parent.IsZero() {
		parts[0] = fmt.Sprintf("@%d %s", n.Parent.Version, parts[0])
	}
	if n.State != engine.Pending {
		parts = append(parts, fmt.Sprintf("version %d", n.Version))
	}
	parts = append(parts, stateOf(n.Session))
	s := n.Session
	s.Parent = session.Pointer{} // the branch says it, or the remark
	parts = append(parts, attributesOf(s)...)
	if n.Remark != "" {
		parts = append(parts, "("+n.Remark+")")
	}
	return strings.Join(parts, "  ")
}
