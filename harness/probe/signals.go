package probe

import (
	"fmt"
	"os"
	"syscall"
)

// catchable are the signals that a probe catches and reports, by name. SIGPIPE
// is ignored; the others keep their default action.
var catchable = [...]struct {
	sig  syscall.Signal
	name string
}{
	{syscall.SIGTERM, "TERM"}, {syscall.SIGINT, "INT"}, {syscall.SIGHUP, "HUP"},
	{syscall.SIGQUIT, "QUIT"}, {syscall.SIGUSR1, "USR1"}, {syscall.SIGUSR2, "USR2"},
	{syscall.SIGALRM, "ALRM"}, {syscall.SIGXCPU, "XCPU"}, {syscall.SIGXFSZ, "XFSZ"},
}

func reported() []os.Signal {
	l := make([]os.Signal, len(catchable))
	for i, c := range catchable {
		l[i] = c.sig
	}
	return l
}

func signalName(s syscall.Signal) string {
	for _, c := range catchable {
		if c.sig == s {
			return c.name
		}
	}
	return fmt.Sprintf("%d", int(s))
}

// endsProcess tells whether the default action of sig ends a process.
func endsProcess(sig syscall.Signal) bool {
	switch sig {
	case syscall.SIGCHLD, syscall.SIGCONT, syscall.SIGURG, syscall.SIGWINCH,
		syscall.SIGSTOP, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU:
		return false
	}
	return sig > 0
}

// die ends this process by sig and returns only if that was not possible.
func die(sig syscall.Signal) error {
	if !endsProcess(sig) {
		return fmt.Errorf("signal %d does not end a process", int(sig))
	}
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
	if err := raise(sig); err != nil {
		return err
	}
	return fmt.Errorf("signal %d had no effect", int(sig))
}
