package subject

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

// Exit is how a process ended.
type Exit struct {
	Code     int            // exit status; -1 if it was ended by a signal
	Signal   syscall.Signal // the signal that ended it, or 0
	Duration time.Duration  // from its start to its end
	Killed   bool           // ended by the signal of Process.Kill
}

// Success tells whether the process exited with status 0.
func (e Exit) Success() bool { return e.Code == 0 && e.Signal == 0 }

// String is "exit status N" or "killed by signal N".
func (e Exit) String() string {
	if e.Signal != 0 {
		return fmt.Sprintf("killed by signal %d", int(e.Signal))
	}
	return fmt.Sprintf("exit status %d", e.Code)
}

func exitOf(state *os.ProcessState, d time.Duration, killing bool) Exit {
	e := Exit{Code: -1, Duration: d}
	if state == nil {
		return e
	}
	e.Code = state.ExitCode()
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		e.Code, e.Signal = -1, ws.Signal()
		e.Killed = killing && e.Signal == syscall.SIGKILL
	}
	return e
}
