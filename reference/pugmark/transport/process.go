package transport

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
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
// (P2.1-1). Inputs go to its standard input (P2.1-2), outputs come from its
// standard output (P2.1-3), and its exit ends the invocation.
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
	cmd := p.command(id)
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

// command is the handler's process without its streams, but for standard error,
// which is passed through and means nothing (P2.1-5).
func (p *Process) command(id Identity) *exec.Cmd {
	cmd := exec.Command(p.Args[0], p.Args[1:]...)
	cmd.Env = p.Env
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = environment(cmd.Env, id)
	cmd.Stderr = p.Stderr
	if p.Stderr == nil {
		cmd.Stderr = os.Stderr
	}
	cmd.SysProcAttr = processAttributes()
	return cmd
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

// terminate ends the process group. After the handler's exit it ends what the
// handler left behind.
func (c *child) terminate() {
	select {
	case <-c.stdout.exited:
	default:
		c.terminated.Store(true)
	}
	endGroup(c.cmd.Process.Pid, c.stdout.exited)
}

// endGroup ends a process group, the hard way if its leader is slow to go.
func endGroup(leader int, exited <-chan struct{}) {
	select {
	case <-exited:
	default:
		_ = syscall.Kill(-leader, syscall.SIGTERM)
		select {
		case <-exited:
		case <-time.After(terminationGrace):
		}
	}
	_ = syscall.Kill(-leader, syscall.SIGKILL)
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
