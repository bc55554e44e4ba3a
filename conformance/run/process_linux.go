package run

import "syscall"

// ownGroup makes a worker lead a process group, so that an interrupt typed at
// the terminal reaches the parent alone, which ends the workers in order; and it
// has the kernel kill the worker when the parent dies.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
