//go:build unix && !linux

package probe

import (
	"os"
	"os/signal"
	"syscall"
)

func environment() []string { return os.Environ() }

func defaultAction(sig syscall.Signal) error {
	signal.Reset(sig)
	return nil
}
