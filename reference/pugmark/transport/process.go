package transport

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// terminationGrace is how long a handler has after SIGTERM before SIGKILL.
	terminationGrace = 2 * time.Second
	// drainGrace is how long an output pipe may stay silent after the handler's
	// exit. What the handler wrote is in the pipe by then; only a descendant that
	// inherited the pipe can keep it open.
	drainGrace = time.Second
)

// Process is a handler that is started as a child process for each invocation
// (P2.1-1). Inputs go to its standard input, outputs come from its standard
// output, and its exit ends the invocation.
type Process struct {
	Args   []string // program and arguments; the program is looked up in PATH
	Env    []string // environment to extend; nil means that of this process
	Stderr *os.File // where its standard error goes; nil means that of this process
}

// Invoke implements Handler. The child leads a process group of its own, which
// is terminated as a whole when the invocation fails.
func (p *Process) Invoke(ctx context.Context, inv Invocation) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	child, err := p.start(inv.Identity)
	if err != nil {
		return fmt.Errorf("start handler %s: %w", p.Args[0], err)
	}
	defer context.AfterFunc(ctx, child.terminate)()

	// Both streams run at once, so that neither side waits for the other with
	// a full pipe. The first failure cancels, and cancelling ends the handler.
	var streams sync.WaitGroup
	var inErr, outErr error
	streams.Go(func() {
		if inErr = child.feed(ctx, inv.Inputs); inErr != nil {
			cancel(inErr)
		}
	})
	streams.Go(func() {
		if outErr = inv.Outputs(ctx, &child.stdout); outErr != nil {
			cancel(outErr)
		}
	})

	// P2.1-4: the exit ends the invocation, whenever standard output was closed.
	exit := child.wait()
	// P2.1-7, P16-7: a status other than zero, or a signal, is a failure.
	if exit != nil {
		cancel(exit)
	}
	streams.Wait()
	child.stdout.file.Close()

	why := context.Cause(ctx) // nil, or the first failure
	var status *exec.ExitError
	if !errors.As(exit, &status) || child.terminated.Load() && !status.Exited() {
		return why
	}
	// The status comes first, with what else went wrong beside it.
	failure := fmt.Errorf("handler %s: %w", p.Args[0], exit)
	for _, err := range []error{outErr, inErr, why} {
		if err != nil && err != exit && (err == why || !errors.Is(err, context.Canceled)) {
			return fmt.Errorf("%w; %w", failure, err)
		}
	}
	return failure
}

// child is a running handler.
type child struct {
	cmd        *exec.Cmd
	stdin      *os.File
	stdout     drainedPipe
	terminated atomic.Bool // terminate was called before it exited
}

func (p *Process) start(id Identity) (*child, error) {
	cmd := exec.Command(p.Args[0], p.Args[1:]...)
	base := p.Env
	if base == nil {
		base = os.Environ()
	}
	cmd.Env = environment(base, id)
	cmd.Stderr = p.Stderr // P2.1-5: standard error is passed through and means nothing
	if p.Stderr == nil {
		cmd.Stderr = os.Stderr
	}
	cmd.SysProcAttr = processAttributes()

	inR, inW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		inR.Close()
		inW.Close()
		return nil, err
	}
	cmd.Stdin, cmd.Stdout = inR, outW
	err = cmd.Start()
	// P16-3: no copy of the pipes' far ends stays open here.
	inR.Close()
	outW.Close()
	if err != nil {
		inW.Close()
		outR.Close()
		return nil, err
	}
	return &child{cmd: cmd, stdin: inW, stdout: drainedPipe{file: outR, exited: make(chan struct{})}}, nil
}

// feed writes the input stream and closes standard input behind it.
func (c *child) feed(ctx context.Context, inputs func(context.Context, io.Writer) error) error {
	defer c.stdin.Close()
	w := bufio.NewWriterSize(&sink{w: c.stdin}, bufferSize)
	if err := inputs(ctx, w); err != nil {
		return err
	}
	return w.Flush()
}

// wait returns once the process has exited, and lets go of its pipes then.
func (c *child) wait() error {
	err := c.cmd.Wait()
	close(c.stdout.exited)
	_ = c.stdout.file.SetReadDeadline(time.Now().Add(drainGrace))
	// P16-4: nobody reads the rest of the inputs; a write that waits fails now.
	c.stdin.Close()
	return err
}

// terminate ends the process group, the hard way if it has to be. After the
// handler's exit it ends what the handler left behind.
func (c *child) terminate() {
	group := -c.cmd.Process.Pid
	select {
	case <-c.stdout.exited:
	default:
		c.terminated.Store(true)
		_ = syscall.Kill(group, syscall.SIGTERM)
		select {
		case <-c.stdout.exited:
		case <-time.After(terminationGrace):
		}
	}
	_ = syscall.Kill(group, syscall.SIGKILL)
}

// drainedPipe reads a pipe to its end, or, once the process behind it has
// exited, until nothing has come for drainGrace.
type drainedPipe struct {
	file   *os.File
	exited chan struct{}
}

func (d *drainedPipe) Read(p []byte) (int, error) {
	select {
	case <-d.exited:
		// The reader may have been busy past the last deadline.
		_ = d.file.SetReadDeadline(time.Now().Add(drainGrace))
	default:
	}
	n, err := d.file.Read(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = io.EOF
	}
	return n, err
}

// Variables of the handler's environment. R-05.
const (
	envAgent       = "PUGMARK_AGENT_ID"
	envSession     = "PUGMARK_SESSION_ID"
	envMetadata    = "PUGMARK_SESSION_METADATA"
	envVersion     = "PUGMARK_SNAPSHOT_VERSION"
	envTraceParent = "TRACEPARENT"
	envTraceState  = "TRACESTATE"
)

// environment is base with the identity in it. Values that this process
// inherited for itself are never passed on (P13-1, P14.1-2).
func environment(base []string, id Identity) []string {
	own := map[string]bool{envAgent: true, envSession: true, envMetadata: true, envVersion: true,
		envTraceParent: true, envTraceState: true}
	env := make([]string, 0, len(base)+len(own))
	for _, v := range base {
		if name, _, _ := strings.Cut(v, "="); !own[name] {
			env = append(env, v)
		}
	}
	env = append(env,
		envAgent+"="+id.Agent,
		envSession+"="+id.Session,
		envMetadata+"="+metadataJSON(id.Metadata),
		envVersion+"="+strconv.FormatUint(uint64(id.Version), 10),
		envTraceParent+"="+id.TraceParent)
	if id.TraceState != "" {
		env = append(env, envTraceState+"="+id.TraceState) // P14-2
	}
	return env
}

// metadataJSON is a JSON object of strings (P13-3), {} where there is none.
func metadataJSON(metadata map[string]string) string {
	if len(metadata) == 0 {
		return "{}"
	}
	text, _ := json.Marshal(metadata) // a map of strings always encodes
	return string(text)
}
