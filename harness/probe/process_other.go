//go:build unix && !linux

package probe

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

func environment() []string { return os.Environ() }

// raise restores the default action of sig and sends it to this process.
func raise(sig syscall.Signal) error {
	signal.Reset(sig)
	if err := syscall.Kill(os.Getpid(), sig); err != nil {
		return err
	}
	time.Sleep(time.Second) // delivery may be a moment later
	return nil
}
