package subject

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// pipeGrace is how long the end of a process waits for the end of its outputs.
// They normally end with it; they do not where a process that it left behind
// holds them open.
const pipeGrace = 250 * time.Millisecond

// A process that writes more than floodAfter bytes is read at one buffer a
// millisecond from then on, lest it take the processor from everyone else.
const (
	floodAfter  = 16 << 20
	floodPace   = time.Millisecond
	drainBuffer = 64 << 10
)

// A Process is a subject that has been started. Its methods may be called from
// several goroutines. The owner calls Kill when done, also after the process
// has ended by itself, to end what it may have left behind.
type Process struct {
	name     string
	pid      int
	claim    claim
	proc     *os.Process
	started  time.Time
	out, err *Recorder
	ends     []*os.File // our ends of its pipes, closed by Kill
	drains   sync.WaitGroup
	outEnded atomic.Bool   // standard output has been read to its end
	gone     chan struct{} // closed when it has ended and been waited for
	done     chan struct{}

	killMu sync.Mutex

	mu      sync.Mutex
	reaped  bool // its pid may by now be that of another process
	killing bool
	exit    Exit
	held    bool // its standard output did not end with it
}

// Start starts the command. The error is ErrNotFound or ErrNotExecutable where
// the user has to change the command, and names the path and what to do.
func Start(c Command) (*Process, error) {
	program, err := c.program()
	if err != nil {
		return nil, err
	}
	p := &Process{
		name: program, gone: make(chan struct{}), done: make(chan struct{}),
		out: NewRecorder(c.StdoutLimit), err: NewRecorder(c.StderrLimit),
	}
	var theirs []*os.File // closed here once the process has them
	defer func() { closeAll(theirs) }()
	fail := func(err error) (*Process, error) {
		closeAll(p.ends)
		return nil, fmt.Errorf("starting %s: %w", program, err)
	}
	stdin, feed, err := openStdin(c.Stdin)
	if err != nil {
		return fail(err)
	}
	if stdin != c.Stdin {
		theirs = append(theirs, stdin)
	}
	if feed != nil {
		p.ends = append(p.ends, feed)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		return fail(err)
	}
	p.ends, theirs = append(p.ends, outR), append(theirs, outW)
	errR, errW, err := os.Pipe()
	if err != nil {
		return fail(err)
	}
	p.ends, theirs = append(p.ends, errR), append(theirs, errW)

	env := c.Env
	if env == nil {
		env = os.Environ()
	}
	p.claim.scope = newCookie()
	attr := &os.ProcAttr{
		Dir:   c.Dir,
		Env:   setVariable(env, CookieVariable, p.claim.scope),
		Files: []*os.File{stdin, outW, errW},
		Sys:   processAttributes(),
	}
	p.started = time.Now()
	if p.proc, err = launch(program, c.argv(program), attr); err != nil {
		closeAll(p.ends)
		return nil, explain(program, c.Dir, err)
	}
	p.pid = p.proc.Pid
	p.claim.of(p.pid)

	p.drains.Add(2)
	go func() {
		p.drain(outR, p.out, c.OnStdout)
		p.outEnded.Store(true)
		p.drains.Done()
	}()
	go func() {
		p.drain(errR, p.err, nil)
		p.drains.Done()
	}()
	if feed != nil {
		go func() {
			_, _ = io.Copy(feed, c.Stdin) // the process may end or close it at any time
			_ = feed.Close()
		}()
	}
	go p.await()
	return p, nil
}

// openStdin returns the file that the process reads, and the one to copy to.
func openStdin(r io.Reader) (stdin, feed *os.File, err error) {
	if r == nil {
		stdin, err = os.Open(os.DevNull)
		return stdin, nil, err
	}
	if f, ok := r.(*os.File); ok {
		return f, nil, nil
	}
	return os.Pipe()
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// launchPatience bounds the wait for a program file that a child just being
// forked elsewhere in this process still holds open for writing.
const launchPatience = 200 * time.Millisecond

func launch(program string, argv []string, attr *os.ProcAttr) (proc *os.Process, err error) {
	for begin := time.Now(); ; time.Sleep(time.Millisecond) {
		onLauncher(func() {
			err = born(func() (int, error) {
				if proc, err = os.StartProcess(program, argv, attr); err != nil {
					return 0, err
				}
				return proc.Pid, nil
			})
		})
		if !errors.Is(err, syscall.ETXTBSY) || time.Since(begin) > launchPatience {
			return proc, err
		}
	}
}

func (p *Process) drain(f *os.File, to *Recorder, on func([]byte)) {
	buf := make([]byte, drainBuffer)
	total := 0
	for {
		n, err := f.Read(buf)
		_, _ = to.Write(buf[:n])
		if on != nil && n > 0 {
			on(buf[:n])
		}
		if err != nil {
			return
		}
		if total += n; total > floodAfter {
			time.Sleep(floodPace)
		}
	}
}

// await notes the end of the process.
func (p *Process) await() {
	var state *os.ProcessState
	held := blockUntilExit(p.pid)
	if !held {
		state, _ = p.proc.Wait()
	}
	duration := time.Since(p.started)
	p.mu.Lock()
	if held {
		state, _ = p.proc.Wait()
	}
	p.reaped = true
	p.exit = exitOf(state, duration, p.killing)
	p.mu.Unlock()
	reaped(p.pid)
	close(p.gone)

	drained := make(chan struct{})
	go func() { p.drains.Wait(); close(drained) }()
	grace := time.NewTimer(pipeGrace)
	defer grace.Stop()
	select {
	case <-drained:
	case <-grace.C:
		p.mu.Lock()
		p.held = !p.outEnded.Load()
		p.mu.Unlock()
	}
	close(p.done)
}

// Held tells whether a process that this one left behind held its standard output open
// after its end; only to be called after Done.
func (p *Process) Held() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.held
}

// Wait returns how the process ended. If ctx ends before, the process goes on and
// the error is that of ctx.
func (p *Process) Wait(ctx context.Context) (Exit, error) {
	select {
	case <-p.done:
		return p.Exit(), nil
	default:
	}
	select {
	case <-p.done:
		return p.Exit(), nil
	case <-ctx.Done():
		return Exit{}, fmt.Errorf("waiting for %s (pid %d) to end: %w", p.name, p.pid, ctx.Err())
	}
}

// Done is closed when the process has ended and its output has been read.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit is how the process ended; only to be called after Done.
func (p *Process) Exit() Exit {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.exit
}

// Pid is the process ID, which is also that of its group and Unix session.
func (p *Process) Pid() int { return p.pid }

// Stdout is what was kept of standard output so far; Stderr, of standard error.
func (p *Process) Stdout() Capture { return p.out.Capture() }

// Stderr is what was kept of standard error so far.
func (p *Process) Stderr() Capture { return p.err.Capture() }

// Signal sends sig to the process group. After the main process has ended it
// goes to those it left in the group; os.ErrProcessDone means that there are none.
func (p *Process) Signal(sig syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		return syscall.Kill(-p.pid, sig)
	}
	return p.claim.signalGroup(sig)
}

// Kill ends the process and everything that descends from it, and returns when
// they are gone and Done is closed. For each process besides the main one that
// had to be killed it returns a line "PID COMMAND LINE". To call it again is
// harmless.
func (p *Process) Kill() (strays []string) {
	p.killMu.Lock()
	defer p.killMu.Unlock()
	strays = p.claim.kill(p.killMain, p.gone)
	<-p.done
	closeAll(p.ends)
	return strays
}

// killMain kills the process group, unless the main process has ended.
func (p *Process) killMain() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		p.killing = true
		_ = syscall.Kill(-p.pid, syscall.SIGKILL)
	}
}
