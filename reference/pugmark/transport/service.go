package transport

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"os/exec"
	"time"
)

// readyWithin is how long a service may take until it listens.
const readyWithin = 30 * time.Second

// Service is a handler whose process hosts an HTTP service that is called once:
// RPC mode. It is started for each invocation, told by its environment where to
// listen (P13-5), called as soon as it does, and ended afterwards.
type Service struct {
	Process // its standard output carries no protocol and goes where standard error goes
}

// Invoke implements Handler.
func (s *Service) Invoke(ctx context.Context, inv Invocation) error {
	address, err := freeAddress()
	if err != nil {
		return fmt.Errorf("find a port for handler %s: %w", s.Args[0], err)
	}
	cmd := s.command(inv.Identity)
	cmd.Env = serviceEnvironment(cmd.Env, address)
	cmd.Stdout = cmd.Stderr
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start handler %s: %w", s.Args[0], err)
	}
	exited := make(chan struct{})
	var exit error
	go func() {
		exit = cmd.Wait()
		close(exited)
	}()
	defer func() {
		endGroup(cmd.Process.Pid, exited)
		<-exited
	}()

	if err := ready(ctx, address, exited); err != nil {
		if errors.Is(err, errExited) && exit != nil {
			err = fmt.Errorf("%w: %w", err, exit)
		}
		return fmt.Errorf("handler %s: %w", s.Args[0], err)
	}
	service := HTTP{URL: &url.URL{Scheme: "http", Host: address, Path: "/"}}
	err = service.Invoke(ctx, inv)
	var status *exec.ExitError
	select {
	case <-exited:
		if err != nil && errors.As(exit, &status) {
			err = fmt.Errorf("handler %s: %w; %w", s.Args[0], exit, err)
		}
	default:
	}
	return err
}

var errExited = errors.New("it ended before it listened")

// ready returns once somebody listens at address. P2.2-1: it only connects, so
// that the one request stays the one request.
func ready(ctx context.Context, address string, exited <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	pause := time.Millisecond
	for {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-exited:
			return errExited
		case <-ctx.Done():
			return fmt.Errorf("nothing listens at %s: %w", address, context.Cause(ctx))
		case <-time.After(pause):
			pause = min(2*pause, 50*time.Millisecond)
		}
	}
}

// freeAddress is a loopback address that was free a moment ago. Its port lies below
// those that systems give out by themselves, so that nobody comes by it by chance
// while the service starts.
func freeAddress() (string, error) {
	var last error
	for range 100 {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 10240+rand.IntN(32768-10240)))
		if err == nil {
			return l.Addr().String(), l.Close()
		}
		last = err
	}
	return "", last
}

// Hosted is h in RPC mode: a process then hosts the service that is called. A
// handler that is reached by its URL stays as it is.
func Hosted(h Handler) Handler {
	if p, ok := h.(*Process); ok {
		return &Service{Process: *p}
	}
	return h
}
