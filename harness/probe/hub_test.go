package probe

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestHubGone(t *testing.T) {
	h := newHub(t)
	r := runProbe(t, h.Argv(os.Args[0], "x"))
	i := next(t, h)
	must(t, h.Close())
	if code, _ := r.ended(t); code != ExitHubGone || !strings.Contains(r.stderr.String(), "gone") || strings.Count(r.stderr.String(), "\n") != 1 {
		t.Errorf("status %d, stderr %q", code, r.stderr.String())
	}
	if !i.Gone() {
		t.Error("not gone")
	}
	if _, err := h.Next(within(t)); !errors.Is(err, ErrHubClosed) {
		t.Errorf("%v", err)
	}
	late := runProbe(t, h.Argv(os.Args[0], "x"))
	if code, _ := late.ended(t); code != ExitHubGone || !strings.Contains(late.stderr.String(), "cannot reach") {
		t.Errorf("status %d, stderr %q", code, late.stderr.String())
	}
}

func TestProbeOfAnotherHub(t *testing.T) {
	h, other := newHub(t), newHub(t)
	argv := h.Argv(os.Args[0], "x")
	argv[3] = other.Argv(os.Args[0], "x")[3]
	r := runProbe(t, argv)
	if code, _ := r.ended(t); code != ExitHubGone {
		t.Errorf("status %d", code)
	}
	if n := len(h.Arrived()); n != 0 {
		t.Errorf("%d arrived", n)
	}
	c := exec.Command(os.Args[0], "probe")
	if err := c.Run(); c.ProcessState.ExitCode() != ExitUsage {
		t.Errorf("without arguments: %v", err)
	}
}

func TestOrderAutoAndArrived(t *testing.T) {
	h := newHub(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := h.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	first := runProbe(t, h.Argv(os.Args[0], "first"))
	i := next(t, h)
	waiting := runProbe(t, h.Argv(os.Args[0], "waiting"))
	for len(h.Arrived()) < 2 {
		time.Sleep(time.Millisecond)
	}
	h.Auto(ExitQuietly)
	_ = waiting.in.Close()
	if code, _ := waiting.ended(t); code != 0 {
		t.Errorf("status %d", code)
	}
	later := runProbe(t, h.Argv(os.Args[0], "later"))
	_ = later.in.Close()
	if code, _ := later.ended(t); code != 0 {
		t.Errorf("status %d", code)
	}
	h.Auto(nil)
	last := runProbe(t, h.Argv(os.Args[0], "last"))
	if j := next(t, h); j.Label != "last" || j.N != 4 {
		t.Errorf("%d %s", j.N, j.Label)
	}
	if i.Gone() || i.Label != "first" {
		t.Errorf("%+v", i)
	}
	var labels []string
	for _, a := range h.Arrived() {
		labels = append(labels, a.Label)
	}
	if !slices.Equal(labels, []string{"first", "waiting", "later", "last"}) {
		t.Errorf("%q", labels)
	}
	_, _ = first, last
}

func TestServeAtAFurtherAddress(t *testing.T) {
	h := newHub(t)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	if err := h.ServeAt(address); err == nil {
		t.Error("no error for an address that is taken")
	}
	_ = free.Close()
	if err := h.ServeAt(address); err != nil {
		t.Fatal(err)
	}
	answered := make(chan error, 1)
	go func() {
		res, err := http.Post("http://"+address+"/there", "application/json", strings.NewReader("{}"))
		if err == nil {
			_ = res.Body.Close()
		}
		answered <- err
	}()
	i := next(t, h)
	if i.Transport != HTTP || i.Label != "there" {
		t.Errorf("%s %q", i.Transport, i.Label)
	}
	_ = i.Exit(0)
	if err := <-answered; err != nil {
		t.Error(err)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	if err := h.ServeAt(address); !errors.Is(err, ErrHubClosed) {
		t.Errorf("after Close: %v", err)
	}
}

func TestQuietExitDoesNotWaitForSilence(t *testing.T) {
	r, i := runOne(t)
	exitQuietly(i, time.Millisecond) // its input stays open
	if code, _ := r.ended(t); code != 0 {
		t.Errorf("status %d", code)
	}
}

// BenchmarkStart measures from the start of a probe to its invocation at the hub,
// of the test binary or of the pugcheck that PROBE_EXE names.
func BenchmarkStart(b *testing.B) {
	h := newHub(b)
	exe := os.Args[0]
	if v := os.Getenv("PROBE_EXE"); v != "" {
		exe = v
	}
	argv := h.Argv(exe, "x")
	for b.Loop() {
		p, err := os.StartProcess(argv[0], argv, &os.ProcAttr{Env: os.Environ(), Files: []*os.File{nil, nil, os.Stderr}})
		if err != nil {
			b.Fatal(err)
		}
		i := next(b, h)
		b.StopTimer()
		_ = i.Exit(0)
		_, _ = p.Wait()
		b.StartTimer()
	}
}
