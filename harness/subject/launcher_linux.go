package subject

import (
	"errors"
	"os"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// launcher runs what it receives on a thread that lives as long as this process:
// the parent-death signal is sent when the thread that forked ends, not when the
// process does.
var launcher = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})

func onLauncher(f func()) {
	finished := make(chan struct{})
	launcher() <- func() { defer close(finished); f() }
	<-finished
}

// blockUntilExit waits for the end of a child without reaping it, so that its pid
// stays its own until the caller reaps it. It tells whether it could wait.
func blockUntilExit(pid int) bool {
	if err := pollUntilExit(pid); err == nil {
		return true
	}
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return err == nil
		}
	}
}

// pollUntilExit is blockUntilExit without a thread that waits, by a descriptor of the
// process, where the kernel has them.
func pollUntilExit(pid int) error {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), "pidfd")
	defer func() { _ = f.Close() }()
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = conn.Read(func(uintptr) (ended bool) {
		ended, failed = hasEnded(pid)
		return ended || failed != nil
	})
	return errors.Join(err, failed)
}

// hasEnded tells whether a child has ended, without reaping it.
func hasEnded(pid int) (bool, error) {
	for {
		ended, err := waitable(unix.P_PID, pid)
		if err != unix.EINTR {
			return ended == pid, err
		}
	}
}
