package subject

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// roleVariable makes the test binary play another process.
const roleVariable = "SUBJECT_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "":
		os.Exit(m.Run())
	case "guard":
		os.Exit(GuardMain(os.Stdin, os.Args[1:]))
	case "adopter":
		os.Exit(playAdopter(os.Args[1:]))
	case "patient":
		os.Exit(playPatient())
	case "owner":
		os.Exit(playOwner(os.Args[1:]))
	}
	os.Exit(99)
}

// playOwner is a process that owns a subject (the arguments) and, unless UNGUARDED is
// set, a guard, says so and waits to be killed.
func playOwner(argv []string) int {
	_ = os.Setenv(roleVariable, "guard")
	if os.Getenv("UNGUARDED") == "" {
		if _, err := StartGuard(os.Args[0]); err != nil {
			fmt.Println(err)
			return 1
		}
	}
	_ = os.Unsetenv(roleVariable)
	if _, err := Start(Command{Argv: argv}); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("started")
	select {}
}

func start(t *testing.T, c Command) *Process {
	t.Helper()
	p, err := Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Kill() })
	return p
}

func shell(script string) Command { return Command{Argv: []string{"/bin/sh", "-c", script}} }

func wait(t *testing.T, p *Process) Exit {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	e, err := p.Wait(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// eventually fails the test if cond does not become true within a minute.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !cond(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

func readPid(t *testing.T, file string) int {
	t.Helper()
	pid := 0
	eventually(t, "a pid in "+file, func() bool {
		b, _ := os.ReadFile(file)
		n, err := strconv.Atoi(strings.TrimSpace(string(b)))
		pid = n
		return err == nil && strings.HasSuffix(string(b), "\n")
	})
	return pid
}

// alive tells whether the process exists and is not a zombie.
func alive(pid int) bool {
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(out)), "Z")
}

func writeFile(t *testing.T, name, content string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
	return path
}
