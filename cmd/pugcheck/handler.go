package main

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	goruntime "runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pugcheck/pugcheck/conformance"
	"github.com/pugcheck/pugcheck/conformance/profile"
	"github.com/pugcheck/pugcheck/conformance/pugmark/handler"
	"github.com/pugcheck/pugcheck/harness/report"
)

// handlerFlags are the flags that only pugcheck handler has, as given.
type handlerFlags struct {
	logs     []string
	memory   string
	metadata []string
	agent    string
	rpc      bool
	watch    rerunFlags
}

func handlerCommand() *cobra.Command {
	var f suiteFlags
	var own handlerFlags
	cmd := &cobra.Command{
		Use:   "handler [flags] COMMAND [ARG...] | URL",
		Short: "Judge a handler, clause by clause",
		Long: `Judge a handler: play the runtime for it, and say, clause by clause, whether it
keeps the protocol, and how that is known.

COMMAND is started once for every invocation, with the log on its standard input. A
URL (http://…) is that of a handler which runs already and gets a POST for every
invocation; with --rpc, COMMAND is started to host such a service. One COMMAND with
spaces is split as a shell would split it, without a shell.

What a handler does not do on the built-in logs is not exercised. --log names a log of
your own that makes it fork, pause, remember or fetch: Input records, one JSON object a
line, with "data" in base64 or "text" in its place.

  pugcheck handler 'python3 agent.py'
  pugcheck handler http://127.0.0.1:8080/agent
  pugcheck handler --log logs/forks.ndjson --memory ./memory ./agent
  pugcheck handler --watch --watch-file 'lib/**/*.py' python3 agent.py

With --watch the handler is judged again whenever a file changes that the command names,
or the profile, a log or the memory. A change during a run ends it, and the next one
begins. The first run is told in full, each later one by what it changed. Hidden files,
__pycache__ and node_modules are left out of directories. Ctrl-C ends it all, with the
exit status of the last run that came to its end.

Exit status: 0 the handler conforms, or all that fails is listed as known · 1 it does
not, or did nothing that could be judged, or the list of known failures is out of
date · 2 arguments, profile, list, log, selection or a program that cannot be used · 3
the run was interrupted, or the suite itself broke and nothing else was found.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			prepare := func() (*judgement, error) { return newHandlerJudgement(cmd, f, own, args) }
			if !f.list && (own.watch.on || len(own.watch.files) > 0) {
				return judgeWatching(f, own.watch, prepare, handlerFiles)
			}
			return judge(cmd, f, prepare)
		},
	}
	f.register(cmd, "handler")
	flags := cmd.Flags()
	flags.StringArrayVar(&own.logs, "log", nil, "also judge on the log in `FILE`, before the built-in ones; repeatable")
	flags.StringVar(&own.memory, "memory", "", "serve the files in `DIR` as memory: DIR/NAMESPACE/NAME")
	flags.StringArrayVar(&own.metadata, "metadata", nil, "session metadata `KEY=VALUE`; repeatable")
	flags.StringVar(&own.agent, "agent", "", "the agent's `ID`")
	flags.BoolVar(&own.rpc, "rpc", false, "COMMAND hosts an HTTP service at PUGMARK_RPC_ADDRESS")
	own.watch.register(flags)
	flags.IntVar(&f.workers, "workers", 0, "scenarios run side by side, at most `N` (default the cores and one more; 1 for a URL)")
	flags.DurationVar(&f.timeout, "timeout", 0, "how long the handler may take for one invocation, as `DURATION` (default 10s)")
	return cmd
}

func newHandlerJudgement(cmd *cobra.Command, f suiteFlags, own handlerFlags, args []string) (*judgement, error) {
	j, err := newJudgement(cmd, f)
	if err != nil {
		return nil, err
	}
	h := &j.profile.Handler
	if err := j.adjustHandler(own); err != nil {
		return nil, err
	}
	if err := j.handlerSubject(args, cmd.ArgsLenAtDash()); err != nil {
		return nil, err
	}
	config := handler.Config{
		Command: h.Command, URL: h.URL, RPC: h.RPC, Memory: h.Memory, Metadata: h.Metadata, Agent: h.Agent,
		Timeout: h.Timeout, Assumed: j.profile.Runtime.Assumed,
	}
	for _, l := range h.Logs {
		config.Logs = append(config.Logs, handler.LogFile{Name: l.Name, Path: l.Path})
	}
	if _, err := handler.LoadLogs(config.Logs); err != nil {
		return nil, err
	}
	j.suite, j.job, j.first = handler.Suite(config), config, handler.Preflight
	j.over = "subprocess"
	if h.URL != "" || h.RPC {
		j.over = "http"
	}
	j.atOnce = goruntime.NumCPU() + 1 // a handler computes more than it waits
	if h.URL != "" {
		j.atOnce = 1 // a service may take one request at a time
		if err := reachable(h.URL); err != nil {
			return nil, err
		}
	} else {
		j.program = h.Command[0]
	}
	j.lacking = func(sc conformance.Scenario) string {
		for _, transport := range sc.Needs {
			if why := config.Misses(transport); why != "" {
				return why
			}
		}
		return ""
	}
	j.asked = func(sc conformance.Scenario) bool { return j.lacking(sc) == "" }
	return j, j.choose()
}

// adjustHandler applies the flags that stand for entries of the profile, and notes them
// for the command that repeats a scenario.
func (j *judgement) adjustHandler(own handlerFlags) error {
	h := &j.profile.Handler
	for _, path := range own.logs {
		named := handler.NamedByPath(path)
		for _, l := range h.Logs {
			if l.Name == named.Name {
				named.Name = path // two logs of one name could not be told apart
			}
		}
		h.Logs = append(h.Logs, profile.NamedFile{Name: named.Name, Path: path})
		j.again = append(j.again, "--log", path)
	}
	for _, kv := range own.metadata {
		k, v, ok := strings.Cut(kv, "=")
		if !ok || k == "" {
			return fmt.Errorf("--metadata: %q is not KEY=VALUE", kv)
		}
		if h.Metadata == nil {
			h.Metadata = map[string]string{}
		}
		h.Metadata[k] = v
		j.again = append(j.again, "--metadata", kv)
	}
	if own.memory != "" {
		h.Memory = own.memory
		j.again = append(j.again, "--memory", own.memory)
	}
	if own.agent != "" {
		h.Agent = own.agent
		j.again = append(j.again, "--agent", own.agent)
	}
	if own.rpc {
		h.RPC = true
		j.again = append(j.again, "--rpc")
	}
	if j.changed("timeout") {
		h.Timeout = j.flags.timeout
	}
	if h.Memory != "" {
		if fi, err := os.Stat(h.Memory); err != nil {
			return fmt.Errorf("memory: %w", err)
		} else if !fi.IsDir() {
			return fmt.Errorf("memory: %s is not a directory; namespaces are directories below it", h.Memory)
		}
	}
	return nil
}

// handlerSubject finds out how the handler is reached: by the arguments, else by the
// profile.
func (j *judgement) handlerSubject(args []string, dash int) error {
	h := &j.profile.Handler
	if len(args) > 0 {
		words, typed, err := splitCommand(args, dash)
		if err != nil {
			return err
		}
		h.Command, h.URL, j.typed = words, "", typed
		scheme, _, hasScheme := strings.Cut(words[0], "://")
		switch {
		case hasScheme && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")):
			if len(words) > 1 {
				return fmt.Errorf("a handler is one URL or one command; behind %s stands %s", words[0], profile.Quote(words[1:]))
			}
			h.Command, h.URL = nil, words[0]
		case len(words) == 1 && !exists(words[0]) && hostAndPort(words[0]):
			return fmt.Errorf("%[1]s is no program; if it is the address of a handler, write http://%[1]s", words[0])
		}
	}
	switch {
	case h.URL == "" && len(h.Command) > 0 && h.Command[0] == "":
		return errors.New("handler.command is empty; name a program")
	case h.URL == "" && len(h.Command) == 0:
		return fmt.Errorf("which handler? Name its command (pugcheck handler 'python3 agent.py'), its URL, or handler.command in %s", profile.DefaultFile)
	case h.URL != "" && h.RPC:
		return fmt.Errorf("--rpc is for a command that hosts the service; %s runs already, so leave it out", h.URL)
	case h.URL != "":
		j.subject = report.Subject{Name: h.URL, Command: []string{}}
	default:
		j.subject = report.Subject{Name: profile.Quote(h.Command), Command: h.Command}
	}
	return nil
}

// hostAndPort tells whether a word reads like a URL that lacks its scheme.
func hostAndPort(word string) bool {
	address, _, _ := strings.Cut(word, "/")
	host, port, err := net.SplitHostPort(address)
	if err != nil || host == "" {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}

// handlerFiles are the files that what is judged depends on: those that the command
// names, the profile, the logs and the memory.
func handlerFiles(j *judgement) []string {
	var out []string
	h := j.profile.Handler
	for _, word := range h.Command {
		_, value, _ := strings.Cut(word, "=") // --config=FILE
		for _, path := range []string{word, value} {
			if fi, err := os.Stat(path); err == nil && fi.Mode().IsRegular() {
				out = append(out, path)
			}
		}
	}
	for _, l := range h.Logs {
		out = append(out, l.Path)
	}
	for _, path := range []string{j.profile.File, h.Memory} {
		if path != "" {
			out = append(out, path)
		}
	}
	return out
}

// errUnreachable says that nothing listens at a handler's URL.
var errUnreachable = errors.New("the handler cannot be reached")

// reachable tells whether anything listens at a handler's URL.
func reachable(target string) error {
	u, err := url.Parse(target)
	if err != nil {
		return fmt.Errorf("the handler's URL: %w", err)
	}
	if u.Scheme != "http" || u.Host == "" {
		return fmt.Errorf("the handler's URL %s: a runtime calls handlers by http://HOST:PORT/PATH", target)
	}
	if _, err := strconv.ParseUint(u.Port(), 10, 16); err != nil && u.Port() != "" {
		return fmt.Errorf("the handler's URL %s: there is no port %s", target, u.Port())
	}
	address := u.Host
	if u.Port() == "" {
		address = net.JoinHostPort(u.Hostname(), "80")
	}
	conn, err := net.DialTimeout("tcp", address, 5*time.Second)
	if err != nil {
		return fmt.Errorf("%w at %s: %w; start it first, or let pugcheck start it (--rpc COMMAND)", errUnreachable, target, err)
	}
	return conn.Close()
}
