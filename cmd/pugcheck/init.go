package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"charm.land/huh/v2"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/pugcheck/pugcheck/conformance/profile"
	"github.com/pugcheck/pugcheck/harness/subject"
)

// implementation is what pugcheck init has to know.
type implementation struct {
	Kind    string   // "runtime" or "handler"
	Command string   // as a shell would split it; empty where there is a URL
	URL     string   // of a handler that runs already
	Without []string // capabilities that a runtime lacks
	CI      string   // "github", "gitlab" or "none"
}

// The answers that are fixed.
var (
	kindsOfImplementation = []string{"runtime", "handler"}
	kindsOfCI             = []string{"github", "gitlab", "none"}
)

func initCommand() *cobra.Command {
	var given implementation
	var yes, force bool
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a profile and a CI workflow for an implementation",
		Long: `Write pugcheck.yaml, which says how the implementation in this directory is met, and a
workflow that judges it on every change. On a terminal, init asks for what no flag says;
elsewhere flags have to say it.

  pugcheck init
  pugcheck init --kind runtime --command ./other-impl --without names,rpc --ci github
  pugcheck init --kind handler --command 'python3 agent.py' --ci none
  pugcheck init --kind handler --url http://127.0.0.1:8080/agent --yes

Nothing is overwritten without --force. With ACCESSIBLE=1 in the environment, the
questions are plain lines of text.

Exit status: 0 the files were written · 2 an answer is missing or unusable, or a file is
there already.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := answers(given, cmd.Flags().Changed, yes)
			if err != nil {
				return usageError(err)
			}
			written, err := writeInit(a, force)
			if err != nil {
				return usageError(err)
			}
			return tellNext(cmd.OutOrStdout(), a, written)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&given.Kind, "kind", "", "what the implementation is, as `KIND`: "+strings.Join(kindsOfImplementation, " or "))
	flags.StringVar(&given.Command, "command", "", "`COMMAND` that starts it, split as a shell would split it")
	flags.StringVar(&given.URL, "url", "", "`URL` of a handler that runs already, in place of a command")
	flags.StringSliceVar(&given.Without, "without", nil, "capabilities that a runtime lacks, as a comma-separated `LIST`: "+strings.Join(profile.Capabilities, ", "))
	flags.StringVar(&given.CI, "ci", "", "where it is judged on every change, as `NAME`: "+strings.Join(kindsOfCI, ", "))
	flags.BoolVarP(&yes, "yes", "y", false, "ask nothing: what no flag says is as usual (no capability is missing; the CI is guessed from the files)")
	flags.BoolVar(&force, "force", false, "overwrite files that are there already")
	return cmd
}

// answers completes what flags say, by asking where that is possible, and checks it.
func answers(a implementation, changed func(string) bool, yes bool) (implementation, error) {
	if err := a.check(); err != nil {
		return a, err
	}
	asked := func(flag string) bool { return !changed(flag) && !yes }
	missing := a.missing()
	if asked("ci") && a.CI == "" {
		missing = append(missing, "--ci")
	}
	if len(missing) > 0 {
		if yes || !term.IsTerminal(int(os.Stdin.Fd())) {
			return a, unanswered(missing, yes)
		}
		if err := a.ask(changed); err != nil {
			return a, err
		}
	}
	a.CI = cmp.Or(a.CI, guessCI())
	return a, a.check()
}

func unanswered(missing []string, yes bool) error {
	list := strings.Join(missing, " and ")
	if yes {
		return fmt.Errorf("there is nothing usual about %s: say it", list)
	}
	return fmt.Errorf("init asks on a terminal only; here flags have to say %s (--yes leaves out what has a usual answer)", list)
}

// missing are the flags of what cannot be guessed.
func (a implementation) missing() []string {
	var out []string
	if a.Kind == "" {
		out = append(out, "--kind")
	}
	if a.Command == "" && a.URL == "" {
		if a.Kind == "runtime" {
			return append(out, "--command")
		}
		out = append(out, "--command or --url")
	}
	return out
}

// check says what is wrong with the answers that are there.
func (a implementation) check() error {
	if a.Kind != "" && !slices.Contains(kindsOfImplementation, a.Kind) {
		return fmt.Errorf("--kind: %q is none of %s", a.Kind, strings.Join(kindsOfImplementation, ", "))
	}
	if a.CI != "" && !slices.Contains(kindsOfCI, a.CI) {
		return fmt.Errorf("--ci: %q is none of %s", a.CI, strings.Join(kindsOfCI, ", "))
	}
	if a.Command != "" {
		if err := usableCommand(a.Command); err != nil {
			return fmt.Errorf("--command: %w", err)
		}
	}
	if a.URL != "" {
		if err := usableURL(a.URL); err != nil {
			return fmt.Errorf("--url: %w", err)
		}
	}
	switch {
	case a.URL != "" && a.Command != "":
		return errors.New("--command and --url: a handler is met by one of them")
	case a.URL != "" && a.Kind == "runtime":
		return errors.New("--url: only a handler is reached by a URL; a runtime is a command")
	case len(a.Without) > 0 && a.Kind == "handler":
		return errors.New("--without: only runtimes have capabilities")
	}
	for _, c := range a.Without {
		if !profile.IsCapability(c) {
			return fmt.Errorf("--without: unknown capability %q; known are %s", c, strings.Join(profile.Capabilities, ", "))
		}
	}
	return nil
}

func usableCommand(command string) error {
	if strings.TrimSpace(command) == "" {
		return errors.New("a command is needed")
	}
	words, err := subject.SplitCommand(command)
	if err == nil && (len(words) == 0 || words[0] == "") {
		err = errors.New("a command begins with a program")
	}
	return err
}

func usableURL(url string) error {
	if rest, ok := strings.CutPrefix(url, "http://"); !ok || rest == "" || strings.ContainsAny(url, " \t\n") {
		return fmt.Errorf("a handler is called by http://HOST:PORT/PATH, not %q", url)
	}
	return nil
}

// guessCI is where the repository in the working directory seems to live.
func guessCI() string {
	config, err := os.ReadFile(".git/config")
	if exists(".gitlab-ci.yml") || err == nil && strings.Contains(string(config), "gitlab") {
		return "gitlab"
	}
	return "github"
}

// question is one of those that init asks; hidden where an earlier answer makes it needless.
type question struct {
	field  huh.Field
	hidden func() bool
}

// ask asks for everything that no flag said. On an ordinary terminal all questions are one
// form: a form that follows another would lose what is typed while the first one ends.
func (a *implementation) ask(changed func(string) bool) error {
	plain, theme := os.Getenv("ACCESSIBLE") != "" || os.Getenv("TERM") == "dumb", huh.ThemeCharm
	if !coloured(os.Stdout) {
		theme = huh.ThemeBase
	}
	run := func(groups ...*huh.Group) error {
		f := huh.NewForm(groups...).WithAccessible(plain).WithTheme(huh.ThemeFunc(theme)).WithInput(os.Stdin).WithOutput(os.Stdout)
		if err := f.Run(); err != nil {
			return fmt.Errorf("nothing was written: %w", err)
		}
		return nil
	}
	by := "command"
	var groups []*huh.Group
	for _, q := range a.questions(changed, &by) {
		g := huh.NewGroup(q.field).WithHideFunc(q.hidden)
		if !plain {
			groups = append(groups, g)
		} else if !q.hidden() { // plain forms hide nothing
			if err := run(g); err != nil {
				return err
			}
		}
	}
	if len(groups) > 0 {
		if err := run(groups...); err != nil {
			return err
		}
	}
	// What was answered before somebody went back and chose otherwise.
	if a.Kind == "handler" {
		a.Without = nil
	}
	if a.URL != "" && a.Command != "" {
		if by == "url" && a.Kind == "handler" {
			a.Command = ""
		} else {
			a.URL = ""
		}
	}
	return nil
}

// questions are those that no flag has answered, in order. by becomes how a handler is met:
// by a "command" or a "url".
func (a *implementation) questions(changed func(string) bool, by *string) []question {
	var out []question
	add := func(field huh.Field, hidden func() bool) { out = append(out, question{field, hidden}) }
	never := func() bool { return false }
	byURL := func() bool { return a.Kind == "handler" && *by == "url" }
	known := a.Kind
	if known == "" {
		add(huh.NewSelect[string]().Title("What is to be judged?").Value(&a.Kind).Options(
			huh.NewOption("a runtime: it keeps sessions and invokes handlers", "runtime"),
			huh.NewOption("a handler: an agent that a runtime invokes", "handler")), never)
	}
	if a.Command == "" && a.URL == "" {
		if known != "runtime" {
			add(huh.NewSelect[string]().Title("How is the handler reached?").Value(by).Options(
				huh.NewOption("a command is started for each invocation", "command"),
				huh.NewOption("it runs already, and is called by a URL", "url")), func() bool { return a.Kind != "handler" })
			add(huh.NewInput().Title("Its URL").Placeholder("http://127.0.0.1:8080/agent").Validate(usableURL).Value(&a.URL), func() bool { return !byURL() })
		}
		add(huh.NewInput().Title("The command that starts it").Validate(usableCommand).Value(&a.Command).PlaceholderFunc(func() string {
			if a.Kind == "handler" {
				return "python3 agent.py"
			}
			return "./other-impl"
		}, &a.Kind), byURL)
	}
	if known != "handler" && !changed("without") {
		var options []huh.Option[string]
		for _, c := range profile.Capabilities {
			options = append(options, huh.NewOption(c, c))
		}
		add(huh.NewMultiSelect[string]().Title("Which optional abilities does it lack? None is a good answer.").Options(options...).
			Height(len(options)+1).Value(&a.Without), func() bool { return a.Kind != "runtime" })
	}
	if a.CI == "" {
		a.CI = guessCI()
		add(huh.NewSelect[string]().Title("Where is it to be judged on every change?").Value(&a.CI).Options(
			huh.NewOption("GitHub Actions", "github"), huh.NewOption("GitLab CI", "gitlab"), huh.NewOption("nowhere yet", "none")), never)
	}
	return out
}

// tellNext says what was written and what is left to do.
func tellNext(w io.Writer, a implementation, written []initFile) error {
	var b strings.Builder
	for _, f := range written {
		fmt.Fprintf(&b, "wrote %s: %s\n", f.path, f.about)
	}
	fmt.Fprintf(&b, "\nNext:\n  pugcheck %s\n      judges it here and now, as %s says\n", a.Kind, profile.DefaultFile)
	for _, f := range written {
		for _, todo := range f.todo {
			fmt.Fprintf(&b, "  %s\n      %s\n", f.path, todo)
		}
	}
	fmt.Fprintf(&b, "  pugcheck %s --report json=result.json; pugcheck report baseline result.json -o known-failures.yaml\n      where failures have to wait: a list of known ones, so that only new ones count\n", a.Kind)
	_, err := io.WriteString(w, b.String())
	return err
}
