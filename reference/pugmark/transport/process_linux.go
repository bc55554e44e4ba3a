package transport

import "syscall"

// processAttributes puts the child at the head of a process group of its own and
// lets the kernel end it if this process dies without being able to.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
