package subject

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// playAdopter is a process that adopts, starts a subject for each script, awaits the first and
// kills it, and says what was left of it, whether it has children then, and the same of the others.
func playAdopter(scripts []string) int {
	if err := Adopt(); err != nil {
		fmt.Println(err)
		return 1
	}
	var all []*Process
	for _, script := range scripts {
		p, err := Start(shell(script))
		if err != nil {
			fmt.Println(err)
			return 1
		}
		all = append(all, p)
	}
	for _, p := range all {
		_, err := p.Wait(context.Background())
		fmt.Printf("%v childless %v\n", err, childless())
		for _, stray := range p.Kill() {
			_, command, _ := strings.Cut(stray, " ")
			fmt.Println("stray " + command)
		}
		fmt.Printf("childless %v\n", childless())
	}
	return 0
}

func adopter(t *testing.T, env string, scripts ...string) string {
	t.Helper()
	c := exec.Command(os.Args[0], scripts...)
	c.Env = append(os.Environ(), roleVariable+"=adopter", env)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

func TestAnAdopterSeesThatNothingIsLeft(t *testing.T) {
	t.Parallel()
	if got, want := adopter(t, "", "exit 0"), "<nil> childless true\nchildless true\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	// Orphans that have ended are waited for, and the other subject is not taken for one.
	got := adopter(t, "", "(sh -c 'exit 3' &)", "exit 0")
	if !strings.HasSuffix(got, "<nil> childless true\nchildless true\n") {
		t.Errorf("%q", got)
	}
}

func TestAnAdopterFindsStrays(t *testing.T) {
	t.Parallel()
	all := map[string]string{"without anything to be known by": `(env -i setsid /bin/sh -c '/bin/sh -c "echo \$\$ >\$0; exec sleep 1000" "$0" & exit' "$F" &)`}
	for name, script := range daemons {
		all[name] = script
	}
	for name, script := range all {
		file := filepath.Join(t.TempDir(), "pid")
		got := adopter(t, "F="+file, script+untilSleep)
		if want := "<nil> childless false\nstray sleep 1000\nchildless true\n"; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// What one subject left behind is not killed with another that has its own mark.
func TestAnAdopterTellsItsSubjectsApart(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pid")
	got := adopter(t, "F="+file, untilSleep, `(setsid sh -c 'echo $$ >$0; exec sleep 1000' "$F" &)`)
	want := "<nil> childless false\nchildless false\n<nil> childless false\nstray sleep 1000\nchildless true\n"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if pid := readPid(t, file); syscall.Kill(pid, 0) == nil {
		t.Error("the daemon lives on")
	}
}
