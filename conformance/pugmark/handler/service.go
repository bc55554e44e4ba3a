package handler

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/pugcheck/pugcheck/conformance/profile"
	"github.com/pugcheck/pugcheck/harness/subject"
)

// A service is a handler in RPC mode: a process that hosts an HTTP service (P13-5).
type service struct {
	httpDriver
	proc *subject.Process
}

// errNoService says that the process never listened.
var errNoService = errors.New("the service did not come up")

// startService starts the process with the address to listen on, and waits until a
// connection is accepted there. errNoService is the handler's fault, any other error
// is the bench's.
func startService(ctx context.Context, argv []string, env map[string]string, names profile.Environment, patience time.Duration) (*service, error) {
	free, err := subject.FreePort()
	if err != nil {
		return nil, fmt.Errorf("the service: %w", err)
	}
	port := strconv.Itoa(free)
	where := net.JoinHostPort("127.0.0.1", port)
	env[names.RPCAddress], env[names.RPCPort] = where, port
	proc, err := subject.Start(subject.Command{Argv: argv, Env: subject.Environment(os.Environ(), env), StdoutLimit: 4 << 10, StderrLimit: keptStderr})
	if err != nil {
		return nil, fmt.Errorf("the service could not be started: %w", err)
	}
	s := &service{httpDriver: httpDriver{&url.URL{Scheme: "http", Host: where, Path: "/"}}, proc: proc}
	limit := time.NewTimer(patience)
	defer limit.Stop()
	again := time.NewTicker(4 * time.Millisecond)
	defer again.Stop()
	for {
		conn, err := net.DialTimeout("tcp", where, time.Second)
		if err == nil {
			_ = conn.Close()
			return s, nil
		}
		why := ""
		select {
		case <-again.C:
			continue
		case <-proc.Done():
			why = "it ended (" + proc.Exit().String() + ")"
		case <-limit.C:
			why = fmt.Sprintf("nothing accepted connections at %s within %s", where, patience)
		case <-ctx.Done():
			s.stop()
			return nil, fmt.Errorf("interrupted while the service started: %w", ctx.Err())
		}
		said := strings.TrimSpace(s.proc.Stderr().String())
		s.stop()
		return nil, fmt.Errorf("%w: %s%s", errNoService, why, quoted(said))
	}
}

// stop ends the process and all that it started.
func (s *service) stop() { s.proc.Kill() }

// quoted is what a process said on standard error, for a message.
func quoted(said string) string {
	if said == "" {
		return "; it wrote nothing to stderr"
	}
	if len(said) > 400 {
		said = said[len(said)-400:]
		if _, lines, several := strings.Cut(said, "\n"); several && len(lines) >= 100 {
			said = lines // from the beginning of a line on, unless little is left then
		}
		said = "… " + strings.ToValidUTF8(said, "")
	}
	return "; stderr: " + said
}
