package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	chacha "math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pugcheck/pugcheck/reference/pugmark/engine"
	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/transport"
)

// runVariants make of a process something else than one run of the engine.
var runVariants = map[string]Fault{
	"loop-until-idle": {Run: func(ctx context.Context, c engine.Config, id layout.SessionID) error {
		var seen atomic.Uint32
		told := func(next transport.Handler) transport.Handler {
			return handlerFunc(func(ctx context.Context, inv transport.Invocation) error {
				seen.Store(inv.Version)
				return next.Invoke(ctx, inv)
			})
		}
		for name, h := range c.Handlers.Named {
			c.Handlers.Named[name] = told(h)
		}
		if c.Handlers.Default != nil {
			c.Handlers.Default = told(c.Handlers.Default)
		}
		for {
			result, err := engine.Run(ctx, c, id)
			if err != nil || result.State != engine.Idle || result.Version == seen.Load() {
				return err
			}
		}
	}},
	"invoked-again-after-a-conflict": {Run: func(ctx context.Context, c engine.Config, id layout.SessionID) error {
		for {
			result, err := engine.Run(ctx, c, id)
			if err != nil || result.State != engine.Lost {
				return err
			}
		}
	}},
	"conflict-by-status": {Run: func(ctx context.Context, c engine.Config, id layout.SessionID) error {
		result, err := engine.Run(ctx, c, id)
		if err == nil && result.State == engine.Lost {
			err = errors.New("another run has committed first")
		}
		return err
	}},
	"slow-start": {Run: func(ctx context.Context, c engine.Config, id layout.SessionID) error {
		select {
		case <-time.After(3 * time.Second):
		case <-ctx.Done():
			return ctx.Err()
		}
		_, err := engine.Run(ctx, c, id)
		return err
	}},
	"talks": {Run: func(ctx context.Context, c engine.Config, id layout.SessionID) error {
		say("session %s: looking", id)
		result, err := engine.Run(ctx, c, id)
		say(`{"event":"push","data":"eA=="}`)
		say("session %s: version %d, %s", id, result.Version, result.State)
		return err
	}},
	"identifiers-of-chacha8": {Identifiers: func(o *session.Options) {
		var seed [32]byte
		_, _ = rand.Read(seed[:])
		o.Random = &shared{Reader: chacha.NewChaCha8(seed)}
	}},
}

// shared is a reader that many goroutines may use.
type shared struct {
	mu sync.Mutex
	io.Reader
}

func (s *shared) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Reader.Read(p)
}

func say(format string, args ...any) { fmt.Printf(format+"\n", args...) }
