package probe

import (
	"bytes"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
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

// raise restores the default action of sig and sends it to this thread, which does
// not return from that. System calls are used since package signal leaves the
// Go runtime's handlers in place, which turn SIGSEGV or SIGABRT into an exit with
// status 2, and since a signal that the parent had blocked stays blocked.
func raise(sig syscall.Signal) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if sig != syscall.SIGKILL {
		var action [64]byte // a zeroed struct sigaction: SIG_DFL, no flags, no mask
		const maskSize = 8
		_, _, errno := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(&action)), 0, maskSize, 0, 0)
		if errno != 0 {
			return errno
		}
		var set unix.Sigset_t
		bits := uint(unsafe.Sizeof(set.Val[0]) * 8)
		set.Val[uint(sig-1)/bits] |= 1 << (uint(sig-1) % bits)
		if err := unix.PthreadSigmask(unix.SIG_UNBLOCK, &set, nil); err != nil {
			return err
		}
	}
	return unix.Tgkill(os.Getpid(), unix.Gettid(), sig)
}
