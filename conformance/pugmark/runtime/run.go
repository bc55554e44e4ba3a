package runtime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/pugcheck/pugcheck/conformance/profile"
	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/probe"
	"github.com/pugcheck/pugcheck/harness/report"
	"github.com/pugcheck/pugcheck/harness/subject"
)

// Run is one process of the runtime under test, running one session.
type Run struct {
	lab    *Lab
	again  func() *Run // starts the same once more
	argv   []string
	env    map[string]string // what the suite added to the environment
	began  time.Time
	deeds  []deed // what the scenario did to it
	proc   *subject.Process
	ended  bool // end has been called
	killed bool // by the scenario or because it hung
	strays []string
}

// RunOption adjusts how the runtime is started.
type RunOption func(*runSpec)

type runSpec struct {
	session  string
	handlers map[string]string // name -> probe label
	bare     bool              // no default handler
	env      map[string]string
}

// As gives the session ID on the command line in another spelling.
func As(session string) RunOption { return func(s *runSpec) { s.session = session } }

// WithHandler registers a named handler; its invocations carry the name as label.
func WithHandler(name string) RunOption { return func(s *runSpec) { s.handlers[name] = name } }

// WithoutDefault leaves the default handler out.
func WithoutDefault() RunOption { return func(s *runSpec) { s.bare = true } }

// WithEnv sets variables in the runtime's own environment.
func WithEnv(kv ...string) RunOption {
	return func(s *runSpec) {
		for i := 0; i+1 < len(kv); i += 2 {
			s.env[kv[i]] = kv[i+1]
		}
	}
}

// Run starts the runtime on a session. The process is ended with the scenario
// at the latest.
func (x *Lab) Run(id wire.SessionID, options ...RunOption) *Run {
	spec := runSpec{session: id.String(), handlers: map[string]string{}, env: map[string]string{}}
	for _, o := range options {
		o(&spec)
	}
	v := x.values()
	v.Session = spec.session
	if !spec.bare {
		v.Handler = x.command("default")
	}
	for _, name := range slices.Sorted(maps.Keys(spec.handlers)) {
		v.Handlers = append(v.Handlers, profile.NamedHandler{Name: name, Command: x.command(spec.handlers[name])})
	}
	r := x.start(x.Config.Profile.Run, v, spec.env)
	r.again = func() *Run { return x.Run(id, options...) }
	return r
}

// command is the handler command for a label over the scenario's transport.
func (x *Lab) command(label string) []string {
	if x.Over == HTTP {
		return []string{x.Hub.URL(label)}
	}
	return x.Hub.Argv(x.Config.Pugcheck, label)
}

func (x *Lab) values() profile.Values {
	return profile.Values{
		Bucket: "s3://" + bucketName + "/" + strings.TrimSuffix(bucketRoot, "/"), Endpoint: x.S3.Endpoint(),
		Region: "us-east-1", AccessKey: "pugcheck", SecretKey: "pugcheck-secret",
	}
}

// start starts the subject by a command line of the contract.
func (x *Lab) start(t profile.Template, v profile.Values, env map[string]string) *Run {
	argv, err := x.Config.Profile.Expand(t, v)
	x.Must(err)
	set, err := x.Config.Profile.Environment(v)
	x.Must(err)
	maps.Copy(set, env)
	r := &Run{lab: x, argv: argv, env: set, began: time.Now()}
	r.proc, err = subject.Start(subject.Command{Argv: argv, Env: subject.Environment(os.Environ(), set)})
	if err != nil {
		x.Trouble(fmt.Errorf("the runtime could not be started: %w", err))
	}
	x.mu.Lock()
	x.runs = append(x.runs, r)
	x.mu.Unlock()
	return r
}

// Command starts one of the contract's other commands (create, rename, push…).
// The bucket and the S3 server are filled in.
func (x *Lab) Command(t profile.Template, v profile.Values) *Run {
	base := x.values()
	v.Bucket, v.Endpoint, v.Region, v.AccessKey, v.SecretKey = base.Bucket, base.Endpoint, base.Region, base.AccessKey, base.SecretKey
	return x.start(t, v, nil)
}

// Printed is what the process wrote to standard output, without the line end.
func (r *Run) Printed() string { return strings.TrimRight(r.proc.Stdout().String(), "\r\n") }

// Next waits for the next handler invocation. When the runtime ends or takes too
// long without one, that is held against the clauses in because, and the
// scenario ends. A scenario that names none only needs the invocation for its
// story: why it does not come is for others to judge.
func (r *Run) Next(because ...string) *Invocation {
	inv, why := r.await()
	if inv == nil {
		r.blameNoInvocation(because, why)
	}
	return inv
}

// Again waits for the session's next invocation: in this process where the
// runtime goes on by itself, else in a new one. Both are conforming.
func (r *Run) Again(because ...string) *Invocation {
	inv, _ := r.await()
	if inv == nil {
		return r.again().Next(because...)
	}
	return inv
}

func (r *Run) blameNoInvocation(because []string, why string) {
	for _, id := range because {
		r.lab.Clause(id).Calldepth(2).Holds(false, "the runtime invokes the handler", why)
	}
	r.lab.Stop("%s", why)
}

// await waits for an invocation, the runtime's end, or the time limit.
func (r *Run) await() (inv *Invocation, why string) { return r.lab.awaitOf(r) }

// awaitOf is await for several processes at once: whichever invokes its handler
// first. It gives up when all of them have ended.
func (x *Lab) awaitOf(runs ...*Run) (inv *Invocation, why string) {
	ctx, cancel := subject.Patience(x.Ctx, x.Config.Timeout)
	defer cancel()
	nextCtx, stop := context.WithCancel(ctx)
	defer stop()
	got := make(chan *probe.Invocation, 1)
	ended := make(chan struct{})
	x.Waiting(func() {
		go func() {
			p, _ := x.Hub.Next(nextCtx)
			got <- p
		}()
		go func() {
			defer close(ended)
			for _, r := range runs {
				select {
				case <-r.proc.Done():
				case <-nextCtx.Done():
					return
				}
			}
		}()
		select {
		case p := <-got:
			inv = x.wrap(p)
		case <-ended:
			// An invocation may have come and not been picked up yet.
			stop()
			inv = x.wrap(<-got)
		}
	})
	if inv != nil {
		return inv, ""
	}
	for _, r := range runs {
		if r.Alive() {
			if x.Ctx.Err() != nil {
				x.Stop("interrupted while waiting for the handler's invocation")
			}
			return nil, fmt.Sprintf("after %s the runtime had neither invoked the handler nor ended%s", x.Config.Timeout, r.said())
		}
	}
	last := runs[len(runs)-1]
	return nil, fmt.Sprintf("the runtime ended (%s) without invoking the handler%s", last.proc.Exit(), last.said())
}

// said quotes what the subject wrote, for messages.
func (r *Run) said() string {
	text := strings.TrimSpace(r.proc.Stderr().String())
	if text == "" {
		if out := r.proc.Stdout(); out.Total > 0 {
			return fmt.Sprintf("; it wrote %d bytes to stdout, beginning %q", out.Total, clip(out.Head, 80))
		}
		return "; it wrote nothing to stderr"
	}
	if len(text) > 400 {
		text = "… " + text[len(text)-400:]
	}
	return "; stderr: " + text
}

func clip(b []byte, n int) []byte {
	if len(b) > n {
		return b[:n]
	}
	return b
}

// Exit is how a runtime process ended.
type Exit struct {
	subject.Exit
	Stderr string
}

// Wait lets the runtime come to rest and returns how it ended. Invocations
// beyond the scenario's script are answered with no output. A runtime that does
// not end in time is held against the clauses in because (or the clause on the
// end of an invocation), and the scenario ends.
func (r *Run) Wait(because ...string) Exit {
	x := r.lab
	r.release()
	ctx, cancel := subject.Patience(x.Ctx, x.Config.Timeout)
	defer cancel()
	var exit subject.Exit
	var err error
	x.Waiting(func() { exit, err = r.proc.Wait(ctx) })
	if err != nil {
		if x.Ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
			x.Stop("interrupted while waiting for the runtime's end")
		}
		if len(because) == 0 {
			because = []string{endsWithExit}
			if x.Over == HTTP {
				because = []string{endsWithBody}
			}
		}
		seen := fmt.Sprintf("the runtime still ran %s after its handlers had ended%s", x.Config.Timeout, r.said())
		r.Kill()
		x.Blame(because, "the runtime ends by itself when the session is idle or stopped", seen)
		x.Stop("%s", seen)
	}
	x.Hub.Auto(nil)
	return Exit{exit, r.proc.Stderr().String()}
}

// Success is Wait for a run that has to succeed; another exit status is held
// against the clauses in because, and the scenario ends.
func (r *Run) Success(because ...string) Exit {
	exit := r.Wait()
	if !exit.Success() {
		seen := fmt.Sprintf("the run failed (%s)%s", exit.Exit, r.said())
		for _, id := range because {
			r.lab.Clause(id).Calldepth(1).Holds(false, "the run succeeds (exit status 0)", seen)
		}
		r.lab.Stop("%s", seen)
	}
	return exit
}

// release answers further invocations quietly, so that a runtime which loops
// comes to rest.
func (r *Run) release() { r.lab.Hub.Auto(probe.ExitQuietly) }

// Kill ends the process and everything it started, at once. What its streams
// held is no longer judged by the invariants that need a whole stream.
func (r *Run) Kill() {
	for _, inv := range r.lab.invocations() {
		inv.cutIfOpen()
	}
	r.killed = true
	r.did("kills")
	r.strays = append(r.strays, r.proc.Kill()...)
}

// Signal sends a signal to the runtime's process group.
func (r *Run) Signal(sig syscall.Signal) {
	r.did("sends signal " + sig.String() + " to")
	_ = r.proc.Signal(sig)
}

func (r *Run) did(what string) {
	r.lab.mu.Lock()
	defer r.lab.mu.Unlock()
	r.deeds = append(r.deeds, deed{time.Now(), what})
}

// Alive tells whether the process still runs.
func (r *Run) Alive() bool {
	select {
	case <-r.proc.Done():
		return false
	default:
		return true
	}
}

func (r *Run) end() {
	if r.ended {
		return
	}
	r.ended = true
	if r.Alive() {
		r.release()
		grace, cancel := context.WithTimeout(r.lab.Ctx, 100*time.Millisecond)
		defer cancel()
		r.lab.Waiting(func() { _, _ = r.proc.Wait(grace) })
	}
	if r.Alive() {
		r.did("ends, with the scenario,")
	}
	for _, inv := range r.lab.invocations() {
		inv.cutIfOpen()
	}
	r.strays = append(r.strays, r.proc.Kill()...)
}

func (r *Run) trace(n int) []report.Block {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", strings.Join(r.argv, " "))
	if r.Alive() {
		b.WriteString("still running\n")
	} else {
		fmt.Fprintf(&b, "%s after %s\n", r.proc.Exit(), r.proc.Exit().Duration.Round(time.Millisecond))
	}
	r.leavings(&b, " ")
	return []report.Block{{Title: fmt.Sprintf("run %d of the runtime", n), Text: b.String()}}
}

// leavings writes what the process said and left running; between stands between a
// stream's name and its text.
func (r *Run) leavings(w io.Writer, between string) {
	for _, stream := range []struct {
		name string
		subject.Capture
	}{{"stdout", r.proc.Stdout()}, {"stderr", r.proc.Stderr()}} {
		if stream.Total > 0 {
			fmt.Fprintf(w, "%s:%s%s\n", stream.name, between, stream.Capture)
		}
	}
	for _, s := range r.strays {
		fmt.Fprintf(w, "left running: %s\n", s)
	}
}
