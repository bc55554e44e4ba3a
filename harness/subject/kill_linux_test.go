package subject

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func TestWaitLeavesTheProcessAlone(t *testing.T) {
	p := start(t, Command{Argv: []string{"sleep", "1000"}})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := p.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if !alive(p.Pid()) {
		t.Error("it is gone")
	}
	if strays := p.Kill(); len(strays) != 0 {
		t.Errorf("strays: %q", strays)
	}
	e := wait(t, p)
	if !e.Killed || e.Signal != syscall.SIGKILL || e.Code != -1 || e.Success() || e.String() != "killed by signal 9" {
		t.Errorf("%+v", e)
	}
	if alive(p.Pid()) {
		t.Error("it lives on")
	}
	if strays := p.Kill(); len(strays) != 0 {
		t.Errorf("strays at the second call: %q", strays)
	}
}

func TestExitBySignal(t *testing.T) {
	p := start(t, shell("kill -TERM $$"))
	if e := wait(t, p); e.Signal != syscall.SIGTERM || e.Code != -1 || e.Killed || e.String() != "killed by signal 15" {
		t.Errorf("%+v", e)
	}
	p.Kill()
	if p.Exit().Killed {
		t.Error("counted as killed by us")
	}
}

func TestSignalReachesTheGroup(t *testing.T) {
	ready := filepath.Join(t.TempDir(), "ready")
	p := start(t, shell(`sh -c 'trap "exit 0" USR1; echo $$ >'`+ready+`'; while :; do sleep 0.01; done' & trap "wait; exit 5" USR1; wait; exit 6`))
	child := readPid(t, ready)
	if err := p.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	if e := wait(t, p); e.Code != 5 {
		t.Errorf("%v", e)
	}
	if alive(child) {
		t.Error("the child did not get it")
	}
	if err := p.Signal(syscall.SIGUSR1); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("%v", err)
	}
}

// daemons are ways to leave a process behind that writes its pid to $1.
var daemons = map[string]string{
	"background":              `sh -c 'echo $$ >$0; exec sleep 1000' "$F" &`,
	"setsid with stdout":      `setsid sh -c 'echo $$ >$0; exec sleep 1000' "$F" &`,
	"double fork":             `(setsid sh -c '(echo ready; exec sh -c "echo \$\$ >\$0; exec sleep 1000" "$0") & exit' "$F" &)`,
	"empty environment":       `(env -i /bin/sh -c 'echo $$ >$0; exec sleep 1000' "$F" &)`,
	"deaf":                    `(trap "" HUP TERM INT; setsid sh -c 'echo $$ >$0; exec sleep 1000' "$F" &)`,
	"without standard output": `setsid sh -c 'echo $$ >$0; exec sleep 1000' "$F" <&- >&- 2>&- &`,
}

// untilSleep ends a script once the daemon is the command that it is to become: its pid is
// written a moment before.
const untilSleep = `
until [ -s "$F" ] && [ "$(cat "/proc/$(cat "$F")/comm" 2>/dev/null)" = sleep ]; do sleep 0.01; done`

func TestKillFindsStrays(t *testing.T) {
	for name, script := range daemons {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "pid")
			c := shell(script + untilSleep + "; exit 7")
			c.Env = append(os.Environ(), "F="+file)
			p := start(t, c)
			if e := wait(t, p); e.Code != 7 { // though the daemon may hold the pipes
				t.Fatalf("%v: %s", e, p.Stderr())
			}
			pid := readPid(t, file)
			if !alive(pid) {
				t.Fatal("the daemon is not there, the test shows nothing")
			}
			strays := p.Kill()
			if alive(pid) {
				t.Error("the daemon lives on")
			}
			if len(strays) != 1 || !strings.HasPrefix(strays[0], strconv.Itoa(pid)+" sleep 1000") {
				t.Errorf("strays: %q, want %d sleep 1000", strays, pid)
			}
			if e := p.Exit(); e.Code != 7 || e.Killed {
				t.Errorf("%+v", e)
			}
		})
	}
}

func TestKillFindsAChildThatLeftSessionAndEnvironment(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	c := shell(`env -i setsid /bin/sh -c 'echo $$ >$0; exec sleep 1000' "$F" & wait`)
	c.Env = append(os.Environ(), "F="+file)
	p := start(t, c)
	pid := readPid(t, file)
	strays := p.Kill()
	if alive(pid) || len(strays) == 0 {
		t.Errorf("strays: %q, want %d", strays, pid)
	}
}

func TestKillOutrunsForks(t *testing.T) {
	p := start(t, shell(`f() { while :; do (setsid sleep 1000 &) ; done; }; f & f & wait`))
	eventually(t, "some of its processes", func() bool {
		in, _ := p.claim.members()
		return len(in) > 20
	})
	p.Kill()
	if in, _ := p.claim.members(); len(in) != 0 {
		t.Errorf("left: %+v", in)
	}
}

func TestKillSparesOthers(t *testing.T) {
	other := start(t, Command{Argv: []string{"sleep", "1000"}})
	p := start(t, Command{Argv: []string{"sleep", "1000"}})
	p.Kill()
	if !alive(other.Pid()) {
		t.Error("another subject was killed too")
	}
}

// However the owner of a subject ends, nothing is left of the subject.
func TestDeathOfTheOwner(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			owner, daemon, subject := startOwner(t)
			if err := syscall.Kill(-owner.Process.Pid, sig); err != nil { // as a terminal would, to the group
				t.Fatal(err)
			}
			_ = owner.Wait()
			eventually(t, "the end of the daemon", func() bool { return !alive(daemon) })
			eventually(t, "the end of the subject", func() bool { return !alive(subject) })
		})
	}
}

func TestDeathOfAnOwnerWithoutGuard(t *testing.T) {
	owner, daemon, subject := startOwner(t, "UNGUARDED=1")
	defer func() { _ = syscall.Kill(daemon, syscall.SIGKILL) }()
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = owner.Wait()
	eventually(t, "the end of the subject", func() bool { return !alive(subject) })
}

// startOwner starts a process that owns a subject whose child is a daemon, and
// returns the pids of these two.
func startOwner(t *testing.T, env ...string) (owner *exec.Cmd, daemon, subject int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "pid")
	owner = exec.Command(os.Args[0], "sh", "-c", `setsid sh -c 'trap "" TERM; (echo $$ >$0); exec sleep 1000' "$F" & wait`)
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, CookieVariable+"=") { // or it would rely on our guard
			owner.Env = append(owner.Env, kv)
		}
	}
	owner.Env = append(append(owner.Env, roleVariable+"=owner", "F="+file), env...)
	owner.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "started\n" {
		t.Fatalf("%q, %v", line, err)
	}
	daemon = readPid(t, file)
	s, err := readStat(daemon)
	if err != nil {
		t.Fatal(err)
	}
	return owner, daemon, s.ppid
}

func TestGuardKillsAtTheEndOfItsInput(t *testing.T) {
	p := start(t, Command{Argv: []string{"sleep", "1000"}})
	other := start(t, Command{Argv: []string{"sleep", "1000"}})
	// A process of its own: the guard ignores signals, which children inherit.
	guard := exec.Command(os.Args[0], p.claim.scope)
	guard.Env = []string{roleVariable + "=guard"}
	in, err := guard.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := guard.Start(); err != nil {
		t.Fatal(err)
	}
	if !alive(p.Pid()) {
		t.Error("killed before the end of the input")
	}
	_ = in.Close()
	if err := guard.Wait(); err != nil {
		t.Error(err)
	}
	if e := wait(t, p); e.Signal != syscall.SIGKILL {
		t.Errorf("%v", e)
	}
	if !alive(other.Pid()) {
		t.Error("a process with another cookie was killed too")
	}
	if s := GuardMain(nil, nil); s != 2 {
		t.Errorf("status %d without a cookie", s)
	}
}

func TestCookiesNest(t *testing.T) {
	for c, want := range map[string]bool{"a": true, "a.b": true, "a.b.c": true, "ab": false, "b.a": false, "": false} {
		if got := carries(c, "a"); got != want {
			t.Errorf("%q carries a: %v", c, got)
		}
	}
	p := start(t, Command{Argv: []string{"sleep", "1000"}})
	if !carries(p.claim.scope, RunCookie()) || p.claim.scope == RunCookie() {
		t.Error(p.claim.scope)
	}
}

func BenchmarkStartWaitKill(b *testing.B) {
	for b.Loop() {
		p, err := Start(Command{Argv: []string{"/bin/true"}})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := p.Wait(context.Background()); err != nil {
			b.Fatal(err)
		}
		p.Kill()
	}
}
