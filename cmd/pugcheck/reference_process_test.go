package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience is how long a test waits for what has to happen. Nothing takes nearly as long.
const patience = 60 * time.Second

// await waits until it is true.
func await(t *testing.T, what string, it func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !it(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not after %s", what, patience)
		}
	}
}

func thereIs(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// process is a pugcheck that a test has started. Whatever it starts in turn can be told by a mark in its environment.
type process struct {
	*testing.T
	cmd    *exec.Cmd
	stderr string // the file that it goes to
	ended  chan struct{}
}

// markVariable holds the mark: the path of a file that no other process has in its environment. Handlers create it to say
// that they are up.
const markVariable = "PUGCHECK_TEST_MARK"

func startProcess(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	p := &process{T: t, cmd: exec.Command("pugcheck", args...), ended: make(chan struct{})}
	scratch := t.TempDir()
	p.stderr = filepath.Join(scratch, "stderr")
	file, err := os.Create(p.stderr)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	p.cmd.Env = append(append(os.Environ(), "GORACE=atexit_sleep_ms=0", markVariable+"="+filepath.Join(scratch, "up")), env...)
	p.cmd.Stdout, p.cmd.Stderr = file, file
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		p.cmd.Process.Kill()
		<-p.ended
	})
	return p
}

func (p *process) mark() string { return p.cmd.Env[len(os.Environ())+1][len(markVariable)+1:] }

// awaitHandler waits until the handler has said that it is up.
func (p *process) awaitHandler() {
	p.Helper()
	await(p.T, "the handler comes up", func() bool { return thereIs(p.mark()) })
}

// signal sends a signal, unless the program has ended, and waits until it has
// reached it.
func (p *process) signal(s syscall.Signal) {
	p.Helper()
	err := p.cmd.Process.Signal(s)
	if errors.Is(err, os.ErrProcessDone) {
		return
	}
	if err != nil {
		p.Fatal(err)
	}
	await(p.T, "the signal arrives", func() bool {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
		return err != nil || bytes.Contains(status, []byte("ShdPnd:\t0000000000000000\n"))
	})
}

// end waits for the process, and gives how it ended and what it said.
func (p *process) end() (syscall.WaitStatus, string) {
	p.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.Fatalf("it still runs after %s", patience)
	}
	text, err := os.ReadFile(p.stderr)
	if err != nil {
		p.Fatal(err)
	}
	return p.cmd.ProcessState.Sys().(syscall.WaitStatus), string(text)
}

// wantExit waits for the process and wants that exit status, with these parts in what it said.
func (p *process) wantExit(status int, parts ...string) {
	p.Helper()
	got, text := p.end()
	if !got.Exited() || got.ExitStatus() != status {
		p.Errorf("got %v, exit status %d, want %d; it said %q", got, got.ExitStatus(), status, text)
	}
	for _, part := range parts {
		if !strings.Contains(text, part) {
			p.Errorf("it said %q, want %q in it", text, part)
		}
	}
	if len(parts) == 0 && text != "" {
		p.Errorf("it said %q", text)
	}
}

// wantNoStrays wants nothing that the process has started to be left.
func (p *process) wantNoStrays() {
	p.Helper()
	mark := []byte(markVariable + "=" + p.mark() + "\x00")
	strays := func() (pids []string) {
		files, err := filepath.Glob("/proc/[0-9]*/environ")
		if err != nil || len(files) == 0 {
			p.Fatalf("there is no /proc to look into: %v", err)
		}
		for _, file := range files {
			if env, err := os.ReadFile(file); err == nil && bytes.Contains(env, mark) {
				pids = append(pids, strings.Split(file, "/")[2])
			}
		}
		return pids
	}
	// What was killed takes a moment to go.
	await(p.T, "nothing is left behind", func() bool { return len(strays()) == 0 })
}

// answerVariable makes the service that this program plays answer with its value.
const answerVariable = "PUGCHECK_TEST_ANSWER"

// hostService is a handler in RPC mode: it says that it is up when it is called, and then answers, or never does.
func hostService() error {
	listener, err := net.Listen("tcp", os.Getenv("PUGMARK_RPC_ADDRESS"))
	if err != nil {
		return err
	}
	return http.Serve(listener, serviceHandler(os.Getenv(markVariable), os.Getenv(answerVariable)))
}

// serviceHandler creates the file up when it is called, and then answers, or, where it has no answer, waits for its client
// to go away.
func serviceHandler(up, answer string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if err := os.WriteFile(up, nil, 0o666); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		if answer == "" {
			<-r.Context().Done()
			_ = os.WriteFile(up+".gone", nil, 0o666)
			return
		}
		_, _ = io.WriteString(w, answer)
	})
}

// within is a context that ends when a test has no patience any more.
func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// bySignal runs the test once for each of the signals that interrupt.
func bySignal(t *testing.T, test func(*testing.T, syscall.Signal)) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(strconv.Itoa(int(s)), func(t *testing.T) {
			t.Parallel()
			test(t, s)
		})
	}
}
