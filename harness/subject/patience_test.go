package subject

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// playPatient waits in vain, and says for how long.
func playPatient() int {
	began := time.Now()
	ctx, cancel := Patience(context.Background(), 500*time.Millisecond)
	defer cancel()
	if err := syscall.Kill(os.Getpid(), syscall.SIGSTOP); err != nil {
		fmt.Println(err)
		return 1
	}
	<-ctx.Done()
	fmt.Println(time.Since(began))
	return 0
}

// While a process stands still, its patience does not run out.
func TestPatienceDoesNotCountStandstill(t *testing.T) {
	const standstill = 2 * time.Second
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"=patient")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatal(status, err)
	}
	time.Sleep(standstill)
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || cmd.Wait() != nil {
		t.Fatal(line, err)
	}
	// Two steps may have been taken from the standstill: the one under way and one kept.
	if took, err := time.ParseDuration(strings.TrimSpace(line)); err != nil || took < standstill+480*time.Millisecond {
		t.Errorf("it waited %s, %v", took, err)
	}
}

func TestPatienceEndsLikeATimeout(t *testing.T) {
	ctx, cancel := Patience(t.Context(), time.Millisecond)
	defer cancel()
	child, stop := context.WithCancel(ctx)
	defer stop()
	<-child.Done()
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) || !errors.Is(child.Err(), context.DeadlineExceeded) {
		t.Error(ctx.Err(), child.Err())
	}
	parent, end := context.WithCancel(t.Context())
	ctx, cancel = Patience(parent, time.Hour)
	defer cancel()
	if ctx.Err() != nil {
		t.Error(ctx.Err())
	}
	end()
	<-ctx.Done()
	if !errors.Is(ctx.Err(), context.Canceled) {
		t.Error(ctx.Err())
	}
}
