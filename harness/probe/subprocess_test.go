package probe

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestWhatTheProbeReports(t *testing.T) {
	h := newHub(t)
	label := "named handler/é %&'"
	argv := append(h.Argv(os.Args[0], label), "more", "a b", "")
	if argv[0] != os.Args[0] || argv[1] != "probe" || strings.ContainsAny(argv[3], " '\"&/$*") {
		t.Errorf("argv %q", argv)
	}
	before := time.Now()
	r := runProbe(t, argv)
	i := next(t, h)
	if i.N != 1 || i.Transport != Subprocess || i.Label != label || i.Pid != r.Process.Pid || i.Request != nil || i.Arrived.Before(before) {
		t.Errorf("%+v", i)
	}
	if !slices.Equal(i.Args, []string{"more", "a b", ""}) {
		t.Errorf("args %q", i.Args)
	}
	dir, err := filepath.EvalSymlinks(r.Dir)
	must(t, err)
	if i.Dir != dir {
		t.Errorf("directory %q, want %q", i.Dir, dir)
	}
	if !slices.Equal(i.Env, r.Environ()) {
		t.Errorf("environment %q\nwant %q", i.Env, r.Environ())
	}
	if v, ok := i.Getenv("BYTES"); v != "\xff\xfe" || !ok {
		t.Errorf("BYTES %q", v)
	}
	if v, ok := i.Getenv("PROBE_TES"); v != "" || ok {
		t.Errorf("PROBE_TES %q", v)
	}
	if i.Gone() {
		t.Error("gone")
	}
}

func TestEnvironmentWithANameTwice(t *testing.T) {
	h := newHub(t)
	argv := h.Argv(os.Args[0], "")
	p, err := os.StartProcess(argv[0], argv, &os.ProcAttr{Env: []string{"A=1", "odd", "A=2", "E="}, Files: []*os.File{nil, nil, os.Stderr}})
	must(t, err)
	defer func() { _ = p.Kill(); _, _ = p.Wait() }()
	i := next(t, h)
	if want := []string{"A=1", "odd", "A=2", "E="}; !slices.Equal(i.Env, want) {
		t.Errorf("%q", i.Env)
	}
}

func TestInputAsItComes(t *testing.T) {
	r, i := runOne(t)
	reader, second := i.Reader(), i.Reader()
	for n, s := range []string{"one\n", "\x00\xff", "three"} {
		begin := time.Now()
		_, err := io.WriteString(r.in, s)
		must(t, err)
		got := make([]byte, len(s))
		_, err = io.ReadFull(reader, got)
		must(t, err)
		if string(got) != s {
			t.Errorf("%q, want %q", got, s)
		}
		c := i.Chunks()
		if len(c) != n+1 || string(c[n].Bytes) != s || c[n].At.Before(begin.Add(-time.Millisecond)) || c[n].At.After(time.Now().Add(time.Millisecond)) {
			t.Errorf("chunks %+v", c)
		}
	}
	if at, ok := i.InputEnded(); ok {
		t.Errorf("ended at %v", at)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := i.WaitEOF(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	_ = r.in.Close()
	must(t, i.WaitEOF(within(t)))
	if at, ok := i.InputEnded(); !ok || at.Before(i.Chunks()[2].At) {
		t.Errorf("ended %v at %v", ok, at)
	}
	all, err := io.ReadAll(second)
	must(t, err)
	if want := "one\n\x00\xffthree"; string(all) != want || string(i.Input()) != want {
		t.Errorf("%q and %q", all, i.Input())
	}
	if i.Gone() {
		t.Error("the end of its input ended the probe")
	}
	must(t, i.Exit(0))
}

func TestBigInputAndOutput(t *testing.T) {
	r, i := runOne(t)
	big := pattern(8<<20 + 3)
	go func() {
		_, _ = r.in.Write(big)
		_ = r.in.Close()
	}()
	must(t, i.WaitEOF(within(t)))
	if !bytes.Equal(i.Input(), big) || i.InputLost() != 0 {
		t.Errorf("%d bytes of input differ", len(i.Input()))
	}
	written := make(chan error, 1)
	go func() { written <- i.Write(big); _ = i.Exit(0) }()
	got, err := io.ReadAll(r.out)
	must(t, err)
	must(t, <-written)
	if !bytes.Equal(got, big) {
		t.Errorf("%d bytes of output differ", len(got))
	}
}

func TestInputBeyondTheLimitIsCounted(t *testing.T) {
	in := input{limit: 10}
	in.add(time.Now(), []byte("abcdefgh"))
	in.add(time.Now(), []byte("ijkl"))
	in.add(time.Now(), []byte("mnopq"))
	in.end(time.Now(), io.EOF)
	if string(in.bytes()) != "abcdefghij" || in.lost != 7 || len(in.chunks()) != 2 {
		t.Errorf("%q kept, %d lost, %+v", in.buf, in.lost, in.chunks())
	}
	if b, err := io.ReadAll(&inputReader{in: &in}); string(b) != "abcdefghij" || !errors.Is(err, ErrInputLimit) {
		t.Errorf("%q, %v", b, err)
	}
	if err := in.waitEnd(within(t)); err != nil {
		t.Errorf("end: %v", err)
	}
}

func TestWriteIsThereWhenItReturns(t *testing.T) {
	r, i := runOne(t)
	for _, s := range []string{"a", "bc\n", "\x00"} {
		must(t, i.Write([]byte(s)))
		got := make([]byte, 10)
		n, err := r.out.Read(got)
		must(t, err)
		if string(got[:n]) != s {
			t.Errorf("%q, want %q", got[:n], s)
		}
	}
	must(t, i.WriteStderr([]byte("complaint")))
	must(t, i.Exit(3))
	if code, sig := r.ended(t); code != 3 || sig != 0 {
		t.Errorf("status %d, signal %d", code, sig)
	}
	if r.stderr.String() != "complaint" {
		t.Errorf("stderr %q", r.stderr.String())
	}
	<-i.Done()
	for name, err := range map[string]error{
		"write": i.Write([]byte("x")), "stderr": i.WriteStderr([]byte("x")), "exit": i.Exit(0), "die": i.Die(syscall.SIGKILL),
		"close output": i.CloseOutput(), "close input": i.CloseInput(),
	} {
		if !errors.Is(err, ErrGone) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := i.WaitEOF(within(t)); !errors.Is(err, ErrGone) {
		t.Errorf("end of input: %v", err)
	}
}

func TestWriteToNobody(t *testing.T) {
	r, i := runOne(t)
	_ = r.out.Close()
	if err := i.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("%v", err)
	}
	must(t, i.Exit(0))
	if code, sig := r.ended(t); code != 0 || sig != 0 {
		t.Errorf("status %d, signal %d", code, sig)
	}
}

func TestCloseOutput(t *testing.T) {
	r, i := runOne(t)
	must(t, i.Write([]byte("all")))
	must(t, i.CloseOutput())
	got, err := io.ReadAll(r.out)
	must(t, err)
	if string(got) != "all" || i.Gone() {
		t.Errorf("%q, gone: %v", got, i.Gone())
	}
	if err := i.Write([]byte("x")); err == nil {
		t.Error("wrote to a closed output")
	}
}

func TestCloseInput(t *testing.T) {
	r, i := runOne(t)
	_, err := io.WriteString(r.in, "read")
	must(t, err)
	_, err = io.ReadFull(i.Reader(), make([]byte, 4))
	must(t, err)
	must(t, i.CloseInput())
	if _, err := io.WriteString(r.in, "unread"); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("writing to it: %v", err)
	}
	if err := i.WaitEOF(within(t)); !errors.Is(err, ErrInputClosed) {
		t.Errorf("%v", err)
	}
	if _, ok := i.InputEnded(); ok {
		t.Error("counts as a regular end")
	}
	if err := i.CloseInput(); err == nil {
		t.Error("closed twice")
	}
	must(t, i.Exit(0))
}

func TestSignals(t *testing.T) {
	r, i := runOne(t)
	for n, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		must(t, r.Process.Signal(sig))
		_, err := i.WaitSignal(within(t), n+1)
		must(t, err)
	}
	if got := i.Signals(); !slices.Equal(got, []string{"TERM", "INT", "TERM", "HUP", "QUIT"}) {
		t.Errorf("%q", got)
	}
	must(t, i.Exit(143))
	if code, _ := r.ended(t); code != 143 {
		t.Errorf("status %d", code)
	}
	if _, err := i.WaitSignal(within(t), 9); !errors.Is(err, ErrGone) {
		t.Errorf("%v", err)
	}
}

func TestDie(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGSEGV, syscall.SIGABRT, syscall.SIGPIPE, syscall.SIGINT} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			r, i := runOne(t)
			must(t, i.Die(sig))
			if code, got := r.ended(t); got != sig {
				t.Errorf("status %d, signal %v", code, got)
			}
			if r.stderr.Len() > 0 {
				t.Errorf("stderr %q", r.stderr.String())
			}
		})
	}
	// A blocked signal is inherited as blocked.
	h := newHub(t)
	argv := h.Argv(os.Args[0], "")
	blocked := exec.Command("python3", append([]string{"-c",
		"import os, signal, sys\nsignal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])\nos.execv(sys.argv[1], sys.argv[1:])"}, argv...)...)
	if blocked.Start() == nil { // there is a Python
		b := next(t, h)
		must(t, b.Die(syscall.SIGTERM))
		_ = blocked.Wait()
		if ws := blocked.ProcessState.Sys().(syscall.WaitStatus); ws.Signal() != syscall.SIGTERM {
			t.Errorf("blocked: %v", blocked.ProcessState)
		}
	}

	_, i := runOne(t)
	if err := i.Die(syscall.SIGCHLD); err == nil || i.Gone() {
		t.Errorf("%v", err)
	}
}

func TestKilledFromOutside(t *testing.T) {
	r, i := runOne(t)
	blocked := make(chan error)
	go func() { blocked <- i.Write(make([]byte, 1<<20)) }() // nobody reads
	must(t, r.Process.Kill())
	<-i.Done()
	if err := <-blocked; !errors.Is(err, ErrGone) {
		t.Errorf("%v", err)
	}
}

func TestActsWhileAWriteIsBlocked(t *testing.T) {
	r, i := runOne(t)
	blocked := make(chan error)
	go func() { blocked <- i.Write(make([]byte, 1<<20)) }()
	_, err := r.out.Read(make([]byte, 1)) // it has begun
	must(t, err)
	must(t, i.WriteStderr([]byte("still here")))
	must(t, i.Exit(9))
	if err := <-blocked; !errors.Is(err, ErrGone) {
		t.Errorf("%v", err)
	}
	if code, _ := r.ended(t); code != 9 || r.stderr.String() != "still here" {
		t.Errorf("status %d, stderr %q", code, r.stderr.String())
	}
}
