package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/pugcheck/pugcheck/conformance"
	"github.com/pugcheck/pugcheck/conformance/pugmark/handler"
	runner "github.com/pugcheck/pugcheck/conformance/run"
)

// workerMain is a worker process of the suite that is named by its one argument.
func workerMain(args []string) int {
	collectSeldom()
	err := runner.Worker(os.Stdin, runner.Results(), func(job json.RawMessage) (*conformance.Suite, error) {
		if len(args) == 1 && args[0] == "handler" {
			return openSuite(job, handler.Suite)
		}
		return openSuite(job, runtimeSuite)
	})
	if err != nil {
		fmt.Fprintf(os.Stderr, "pugcheck worker: %v\n", err)
		return exitTrouble
	}
	return exitConforming
}

// openSuite makes a suite of the configuration that the parent sent.
func openSuite[C any](job json.RawMessage, make func(C) *conformance.Suite) (*conformance.Suite, error) {
	var c C
	if err := json.Unmarshal(job, &c); err != nil {
		return nil, err
	}
	return make(c), nil
}
