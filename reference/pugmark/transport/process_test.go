package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// acts are what the test binary can do as a handler.
var acts = map[string]func(){
	"cat": func() { io.Copy(os.Stdout, os.Stdin) },
	"environment": func() {
		for _, v := range os.Environ() {
			if strings.HasPrefix(v, "PUGMARK_") || strings.HasPrefix(v, "TRACE") {
				fmt.Printf("%s\x00", v)
			}
		}
	},
	"unread": func() { fmt.Print("done without reading") },
	"one record": func() {
		os.Stdin.Read(make([]byte, 1))
		fmt.Print("read one")
	},
	"output first": func() {
		os.Stdout.Write(make([]byte, 1<<20)) // blocks unless it is read at the same time
		io.Copy(os.Stdout, os.Stdin)
	},
	"late exit": func() {
		os.Stdout.Write([]byte("x"))
		os.Stdout.Close()
		io.Copy(io.Discard, os.Stdin)
	},
	"exit 7":             func() { fmt.Print("x"); os.Exit(7) },
	"exit 7 in a record": func() { fmt.Print("{"); os.Exit(7) },
	"kill":               func() { syscall.Kill(os.Getpid(), syscall.SIGKILL); select {} },
	"stderr": func() {
		os.Stderr.Write(bytes.Repeat([]byte(`{"name":"noise"}`), 1<<16))
		fmt.Print("x")
	},
	"yes": func() {
		for {
			if _, err := fmt.Println("y"); err != nil {
				return
			}
		}
	},
	"hang": func() { fmt.Print("up"); select {} },
	"deaf": func() { signal.Ignore(syscall.SIGTERM); fmt.Print("up"); select {} },
	"grandchild": func() { // leaves a process behind that holds the pipes open
		cmd := exec.Command("sleep", "1000")
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		if err := cmd.Start(); err != nil {
			panic(err)
		}
		fmt.Print("left ", cmd.Process.Pid)
	},
}

func process(act string) *Process {
	env := append(os.Environ(), "TRANSPORT_TEST_ACT="+act, "PUGMARK_AGENT_ID=inherited", "PUGMARK_SESSION_ID=inherited",
		"PUGMARK_OTHER=kept", "TRACEPARENT=inherited", "TRACESTATE=inherited=1")
	return &Process{Args: []string{os.Args[0]}, Env: env}
}

func TestProcessStreams(t *testing.T) {
	large := strings.Repeat(`{"name":"entry"}`+"\n", 40_000)
	for _, tc := range []struct{ act, input, want string }{
		{"cat", "", ""},
		{"cat", "{}\n", "{}\n"},
		{"cat", large, large},
		{"output first", large, strings.Repeat("\x00", 1<<20) + large},
		{"unread", large, "done without reading"},
		{"one record", large, "read one"},
		{"late exit", large, "x"},
	} {
		t.Run(fmt.Sprint(tc.act, " ", len(tc.input)), func(t *testing.T) {
			var out bytes.Buffer
			if err := within(t, func() error { return process(tc.act).Invoke(t.Context(), invocation(tc.input, &out)) }); err != nil {
				t.Fatal(err)
			}
			if out.String() != tc.want {
				t.Errorf("got %d bytes, want %d", out.Len(), len(tc.want))
			}
		})
	}
}

func TestProcessEnvironment(t *testing.T) {
	var out bytes.Buffer
	inv := invocation("", &out)
	read := func() []string {
		out.Reset()
		if err := process("environment").Invoke(t.Context(), inv); err != nil {
			t.Fatal(err)
		}
		vars := strings.Split(strings.TrimSuffix(out.String(), "\x00"), "\x00")
		slices.Sort(vars)
		return vars
	}
	got, want := read(), []string{
		"PUGMARK_AGENT_ID=a b=ü/7", "PUGMARK_OTHER=kept", "PUGMARK_SESSION_ID=000000000000000000000000000000aa",
		`PUGMARK_SESSION_METADATA={"nl":"x\ny","quote":"a\"b","uni":"ü日😀"}`, "PUGMARK_SNAPSHOT_VERSION=300", "TRACEPARENT=00-aa-bb-01"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	inv.Agent, inv.Metadata, inv.TraceState = "", nil, "vendor=abc"
	got = read()
	for _, v := range []string{"PUGMARK_AGENT_ID=", "PUGMARK_SESSION_METADATA={}", "TRACESTATE=vendor=abc"} {
		if !slices.Contains(got, v) {
			t.Errorf("%s is not in %q", v, got)
		}
	}
}

func TestProcessStderrMeansNothing(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	drained := make(chan int64)
	go func() { n, _ := io.Copy(io.Discard, r); drained <- n }()
	p := process("stderr")
	p.Stderr = w
	var out bytes.Buffer
	err = p.Invoke(t.Context(), invocation("", &out))
	w.Close()
	if n := <-drained; err != nil || out.String() != "x" || n != 1<<20 {
		t.Errorf("%v, output %q, %d bytes of stderr", err, out.String(), n)
	}
}

func TestProcessFailures(t *testing.T) {
	for act, message := range map[string]string{"exit 7": "exit status 7", "kill": "signal: killed"} {
		var out bytes.Buffer
		wantError(t, process(act).Invoke(t.Context(), invocation("", &out)), message, os.Args[0])
	}
	missing := &Process{Args: []string{"/nonexistent/handler"}}
	wantError(t, missing.Invoke(t.Context(), invocation("", &bytes.Buffer{})), "start handler /nonexistent/handler")
}

func TestProcessIsEndedWhenOutputsAreRefused(t *testing.T) {
	fault := errors.New("record 1 is malformed")
	inv := invocation("", nil)
	inv.Outputs = func(_ context.Context, r io.Reader) error {
		r.Read(make([]byte, 10))
		return fault
	}
	for _, act := range []string{"yes", "hang"} {
		err := within(t, func() error { return process(act).Invoke(t.Context(), inv) })
		if !errors.Is(err, fault) {
			t.Errorf("%s: %v", act, err)
		}
	}
	// The status says more than the fault that follows from it.
	inv.Outputs = func(_ context.Context, r io.Reader) error {
		io.Copy(io.Discard, r)
		return fault
	}
	err := process("exit 7 in a record").Invoke(t.Context(), inv)
	if !errors.Is(err, fault) {
		t.Error(err) // with the status, unless the handler was ended before it had one
	}
}

func TestProcessIsEndedWhenInputsFail(t *testing.T) {
	inv := invocation("", &bytes.Buffer{})
	inv.Inputs = brokenSource
	for _, act := range []string{"hang", "cat", "unread"} {
		err := within(t, func() error { return process(act).Invoke(t.Context(), inv) })
		if !errors.Is(err, errSource) {
			t.Errorf("%s: %v", act, err)
		}
	}
}

func TestProcessIsEndedByCancelling(t *testing.T) {
	t.Parallel()
	for _, act := range []string{"hang", "deaf"} {
		ctx, cancel := context.WithCancel(t.Context())
		inv := invocation("", nil)
		inv.Outputs = func(_ context.Context, r io.Reader) error {
			r.Read(make([]byte, 10)) // it is up
			cancel()
			_, err := io.Copy(io.Discard, r)
			return err
		}
		err := within(t, func() error { return process(act).Invoke(ctx, inv) })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", act, err)
		}
	}
}

func TestProcessDoesNotWaitForDescendants(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	err := within(t, func() error {
		return process("grandchild").Invoke(t.Context(), invocation(strings.Repeat("x", 1<<20), &out))
	})
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Sscanf(out.String(), "left %d", &pid); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Errorf("the grandchild of a handler that succeeded is gone: %v", err)
	}
}

func TestDrainedPipeKeepsWhatASlowReaderHasNotRead(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close() // held open, as a descendant would
	p := &drainedPipe{file: r, exited: make(chan struct{})}
	w.WriteString("late")
	close(p.exited)
	r.SetReadDeadline(time.Now().Add(-time.Second)) // the reader was busy for longer than the grace
	if text, err := io.ReadAll(p); err != nil || string(text) != "late" {
		t.Errorf("got %q, %v", text, err)
	}
}
