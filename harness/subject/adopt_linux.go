package subject

import (
	"fmt"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// children is what is known of the children of this process once it adopts.
var children struct {
	mu    sync.Mutex // held while one is being started
	adopt bool
	mains map[int]bool // subjects' main processes that have not been waited for
}

// Adopt makes this process the parent of whatever its subjects leave behind, in place of
// init, until it ends. Kill can then tell by a single system call that a subject left nothing
// behind, and need not look at every process of the machine; and it finds those, too, that
// have nothing of their subject left to be known by.
//
// It is for a process that starts children through this package only: any other child
// that has ended may be waited for by Kill, behind the back of whoever started it.
func Adopt() error {
	children.mu.Lock()
	defer children.mu.Unlock()
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("adopting what subjects leave behind: %w", err)
	}
	children.adopt = true
	return nil
}

// born calls start, which starts a main process, and notes its pid.
func born(start func() (pid int, err error)) error {
	children.mu.Lock()
	defer children.mu.Unlock()
	pid, err := start()
	if err == nil {
		if children.mains == nil {
			children.mains = map[int]bool{}
		}
		children.mains[pid] = true
	}
	return err
}

// reaped notes that a main process has been waited for.
func reaped(pid int) {
	children.mu.Lock()
	defer children.mu.Unlock()
	delete(children.mains, pid)
}

// childless tells whether this process adopts and has no child, so that nothing is left
// of any subject. Orphans that have ended are waited for on the way.
func childless() bool {
	children.mu.Lock()
	defer children.mu.Unlock()
	for children.adopt {
		pid, err := waitable(unix.P_ALL, 0)
		switch {
		case err == unix.EINTR:
		case err == unix.ECHILD:
			return true
		case err != nil || pid == 0 || children.mains[pid]:
			return false
		default:
			_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
		}
	}
	return false
}

// aloneWith tells whether every child of this process that is no main process descends from the
// main process pid, because there is no other. No main process is started until release.
func aloneWith(pid int) (alone bool, release func()) {
	children.mu.Lock()
	if !children.adopt {
		children.mu.Unlock()
		return false, func() {}
	}
	rest := len(children.mains)
	if children.mains[pid] {
		rest--
	}
	return rest == 0, children.mu.Unlock
}

// waitable is the pid of a child, among those that the first two arguments of waitid(2)
// select, that has ended and not been waited for; 0 where they live. It does not wait for
// it. The error is ECHILD where there are none.
func waitable(kind, id int) (pid int, err error) {
	var info unix.Siginfo
	err = unix.Waitid(kind, id, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	// Three ints precede si_pid, which begins a union that is aligned as a pointer is.
	const pidAt = 8 + unsafe.Sizeof(uintptr(0))
	return int(*(*int32)(unsafe.Add(unsafe.Pointer(&info), pidAt))), err
}
