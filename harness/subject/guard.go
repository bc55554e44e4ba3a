package subject

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
)

// A Guard is a small process that outlives this one, in whatever way it ends, for as
// long as it takes to kill all that carries the run's cookie.
type Guard struct {
	close func() error
}

// StartGuard starts the guard process: exe with args, which has to pass to
// GuardMain the one argument that is appended to them. Where this process
// has inherited its cookie, the guard of its ancestor serves it and none is started.
func StartGuard(exe string, args ...string) (*Guard, error) {
	run := theRun()
	if run.inherited {
		return &Guard{close: func() error { return nil }}, nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("starting the guard: %w", err)
	}
	defer func() { _ = r.Close() }()
	cmd := exec.Command(exe, append(args[:len(args):len(args)], run.value)...)
	cmd.Stdin = r
	cmd.Env = []string{} // without the cookie, lest the guard kill itself
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, CookieVariable+"=") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		_ = w.Close()
		return nil, fmt.Errorf("starting the guard: %w", err)
	}
	return &Guard{close: sync.OnceValue(func() error {
		_ = w.Close()
		if err := cmd.Wait(); err != nil {
			return fmt.Errorf("guard: %w", err)
		}
		return nil
	})}, nil
}

// Close has the guard kill what is left of the run and waits for its end.
func (g *Guard) Close() error { return g.close() }

// GuardMain is the guard process: it waits for the end of in, which the death of
// the process that holds the other end brings about, and then kills every
// process that carries the cookie args[0]. It returns the exit status.
func GuardMain(in io.Reader, args []string) int {
	if len(args) != 1 || args[0] == "" {
		return 2
	}
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	_, _ = io.Copy(io.Discard, in)
	(&claim{scope: args[0]}).kill(nil, nil)
	return 0
}
