// Command pugcheck judges implementations of the pugmark agent-session
// protocol clause by clause, and carries the reference runtime along.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

func main() { os.Exit(run(os.Args[1:])) }

// run executes one command line and returns its exit status. The roles that
// pugcheck plays for itself are found before cobra is set up, since a probe is
// started for every handler invocation and has to be there in milliseconds.
func run(args []string) int {
	if len(args) > 0 {
		if role, ok := roles[args[0]]; ok {
			return role(args[1:])
		}
	}
	collectLate()
	root := rootCommand()
	root.SetArgs(args)
	err := root.Execute()
	var e *exitError
	if err != nil && !(errors.As(err, &e) && e.err == nil) {
		fmt.Fprintf(os.Stderr, "pugcheck: %v\n", err)
	}
	return exitStatus(err)
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "pugcheck",
		Short: "Judge pugmark runtimes and handlers, clause by clause",
		Long: `pugcheck judges an implementation of the pugmark agent-session protocol
against every normative clause of its two specifications, with evidence.

  pugcheck runtime                     judge the built-in reference runtime
  pugcheck runtime ./other-impl        judge another runtime
  pugcheck handler 'python3 agent.py'  judge a handler
  pugcheck explain S6.3-1              what a clause demands and how it is judged`,
		SilenceUsage:      true,
		SilenceErrors:     true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
	}
	root.AddCommand(
		runtimeCommand(),
		handlerCommand(),
		reportCommand(),
		reproCommand(),
		initCommand(),
		clausesCommand(),
		explainCommand(),
		referenceCommand(),
	)
	return root
}
