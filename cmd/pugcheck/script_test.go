package main

import (
	"fmt"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pugcheck/pugcheck/harness/report"
	"github.com/pugcheck/pugcheck/harness/report/reporttest"
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
	schema := reporttest.Schema(t, reporttest.Tree(t, "docs", "results.schema.json"))
	testscript.Run(t, testscript.Params{
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			// result FILE... wants results that keep their schema and can be read back.
			"result": func(ts *testscript.TestScript, neg bool, files []string) {
				for _, file := range files {
					err := reporttest.Problem(schema, []byte(ts.ReadFile(file)))
					if _, unread := report.ReadFile(ts.MkAbs(file)); err == nil {
						err = unread
					}
					if neg || err != nil {
						ts.Fatalf("%s is no result: %v", file, err)
					}
				}
			},
		},
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
