//go:build unix && !linux

package subject

import "syscall"

func processAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func onLauncher(f func()) { f() }

func blockUntilExit(int) bool { return false }

// Adopt is of use on Linux only, where subjects can be told by their parents.
func Adopt() error { return nil }

func born(start func() (pid int, err error)) error {
	_, err := start()
	return err
}

func reaped(int) {}

// A claim names the process group, the only thing that is known here.
type claim struct {
	scope string
	group int
}

func (c *claim) of(pid int) { c.group = pid }

func (c *claim) kill(main func(), _ <-chan struct{}) []string {
	if main != nil {
		main()
	}
	if c.group != 0 {
		_ = syscall.Kill(-c.group, syscall.SIGKILL)
	}
	return nil
}

func (c *claim) signalGroup(sig syscall.Signal) error { return syscall.Kill(-c.group, sig) }
