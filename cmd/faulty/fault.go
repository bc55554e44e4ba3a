package main

import (
	"context"
	"fmt"
	"sync"

	"github.com/pugcheck/pugcheck/reference/pugmark/engine"
	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
	"github.com/pugcheck/pugcheck/reference/pugmark/transport"
)

// Fault wraps the seams it needs and leaves the others alone (nil).
type Fault struct {
	Store       func(store.Store) store.Store
	Handler     func(transport.Handler) transport.Handler
	Identifiers func(*session.Options)
	Engine      func(*engine.Config)
	Environment map[string]string           // set before the store is opened
	Argument    func(session string) string // the --session argument before it is parsed
	Name        func(string) string         // the name that a command gives to something
	Ending      func(error) error           // what the run ended with

	// Run is what a process does in place of engine.Run.
	Run func(context.Context, engine.Config, layout.SessionID) error
}

// faults are all faults by name; "none" is the reference as it is.
var faults = sync.OnceValue(func() map[string]Fault {
	all := map[string]Fault{"none": {}}
	for _, table := range []map[string]Fault{inputFaults, outputFaults, replayFaults, blobFaults, snapshotFaults, lookupFaults, identityFaults, numberFaults, descriptorFaults, commitFaults, pauseFaults,
		controlFaults, forkFaults, childFaults, ancestorFaults, deliveryFaults, messageFaults, writerFaults,
		roomFaults, manifestFaults, nameFaults, tombstoneFaults, conflictFaults, layoutFaults,
		serverFaults, memoryFaults, contextFaults, overviewFaults, transportFaults,
		framingFaults, routingFaults, stopFaults, stateFaults, versionFaults, endingFaults, sourceFaults, fieldFaults} {
		for name, f := range table {
			if _, taken := all[name]; taken {
				panic(fmt.Sprintf("two faults are called %q", name))
			}
			all[name] = f
		}
	}
	return all
})
