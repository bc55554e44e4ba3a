package probe

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// The test binary is the probe: it is started as `EXE probe ADDRESS TOKEN`.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "probe" {
		os.Exit(Main(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

func newHub(t testing.TB) *Hub {
	t.Helper()
	h, err := NewHub()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// within is a context for what takes a moment; a minute is for a machine that stalls.
func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func next(t testing.TB, h *Hub) *Invocation {
	t.Helper()
	i, err := h.Next(within(t))
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// A runner is the process that a runtime under test would have started.
type runner struct {
	*exec.Cmd
	in       *os.File // to its standard input
	out      *os.File // from its standard output
	stderr   bytes.Buffer
	waitOnce bool
}

func runProbe(t testing.TB, argv []string) *runner {
	t.Helper()
	r := &runner{Cmd: exec.Command(argv[0], argv[1:]...)}
	r.Env = append(os.Environ(), "PROBE_TEST=1", "BYTES=\xff\xfe",
		"GORACE=atexit_sleep_ms=0") // the race detector's pause before an exit
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Dir = t.TempDir()
	r.Stdin, r.Stdout, r.Stderr = inR, outW, &r.stderr
	r.in, r.out = inW, outR
	must(t, r.Start())
	_ = inR.Close()
	_ = outW.Close()
	t.Cleanup(func() {
		_ = r.in.Close()
		_ = r.out.Close()
		if !r.waitOnce {
			_ = r.Process.Kill()
			_ = r.Wait()
		}
	})
	return r
}

// ended waits for the process and returns its exit status, or -1 and the signal.
func (r *runner) ended(t testing.TB) (int, syscall.Signal) {
	t.Helper()
	r.waitOnce = true
	err := r.Wait()
	var e *exec.ExitError
	if err != nil && !errors.As(err, &e) {
		t.Fatal(err)
	}
	ws := r.ProcessState.Sys().(syscall.WaitStatus)
	if ws.Signaled() {
		return -1, ws.Signal()
	}
	return ws.ExitStatus(), 0
}

// runOne returns a running probe and the invocation it became.
func runOne(t testing.TB) (*runner, *Invocation) {
	t.Helper()
	h := newHub(t)
	r := runProbe(t, h.Argv(os.Args[0], "x"))
	return r, next(t, h)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// pattern is n bytes that do not repeat.
func pattern(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{}).Read(b)
	return b
}
