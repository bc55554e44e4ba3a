package main

import (
	"os"
	"runtime"
	"runtime/debug"
)

// Most processes of pugcheck live for some milliseconds: a probe, a run of the reference, a
// worker. The Go runtime would collect their garbage for the first time at 4 MiB of heap, which
// took a sixth of all the processor time of a run of the runtime suite.

// lazily makes the first collection come at 16 MiB, in percent as GOGC has it.
const lazily = 400

// collectLate puts the first collection off; from then on they come as usual, unless
// the caller stops what it returns.
func collectLate() runtime.Cleanup {
	if os.Getenv("GOGC") != "" {
		return runtime.Cleanup{}
	}
	usual := debug.SetGCPercent(lazily)
	return runtime.AddCleanup(&struct{ _ [8]*int }{}, func(usual int) { debug.SetGCPercent(usual) }, usual)
}

// collectSeldom is for a process that ends after some scenarios and has no need to be small.
func collectSeldom() {
	const most = 512 << 20
	collectLate().Stop()
	if os.Getenv("GOGC") == "" {
		debug.SetMemoryLimit(most)
	}
}
