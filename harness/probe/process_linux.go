package probe

import (
	"bytes"
	"os"
	"syscall"
	"unsafe"
)

// environment is what the process was started with, including names that occur
// twice, of which os.Environ drops all but the first.
func environment() []string {
	raw, err := os.ReadFile("/proc/self/environ")
	if err != nil || len(raw) == 0 {
		return os.Environ()
	}
	var l []string
	for _, kv := range bytes.Split(bytes.TrimSuffix(raw, []byte{0}), []byte{0}) {
		l = append(l, string(kv))
	}
	return l
}

// defaultAction sets the action of sig by the system call: package signal leaves
// the Go runtime's handlers in place, which turn SIGSEGV or SIGABRT into an
// exit with status 2.
func defaultAction(sig syscall.Signal) error {
	if sig == syscall.SIGKILL {
		return nil
	}
	var action [64]byte // a zeroed struct sigaction: SIG_DFL, no flags, no mask
	const maskSize = 8
	_, _, errno := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(&action)), 0, maskSize, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
