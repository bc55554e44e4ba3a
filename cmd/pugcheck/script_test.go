package main

import (
	"fmt"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"pugcheck": func() { os.Exit(run(os.Args[1:])) },
		"service":  func() { exitOn(hostService()) },
		"agent":    func() { exitOn(agentMain(os.Args[1:])) },
		// Processes of the benchmarks.
		"getloop":   func() { exitOn(getLoop(os.Args[1], os.Args[2], os.Args[3])) },
		"replay":    func() { exitOn(replaySession(os.Args[1])) },
		"fetchlast": func() { exitOn(fetchLast(os.Stdin)) },
	})
}

// TestScripts drives the real binary by the scripts below testdata/script.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
	})
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}
