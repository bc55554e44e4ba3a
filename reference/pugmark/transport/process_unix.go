//go:build unix && !linux

package transport

import "syscall"

// processAttributes puts the child at the head of a process group of its own.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
