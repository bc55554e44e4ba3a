package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/pugcheck/pugcheck/conformance"
	"github.com/pugcheck/pugcheck/conformance/pugmark/runtime"
	runner "github.com/pugcheck/pugcheck/conformance/run"
)

// workerMain is a worker process of pugcheck runtime.
func workerMain([]string) int {
	err := runner.Worker(os.Stdin, runner.Results(), func(job json.RawMessage) (*conformance.Suite, error) {
		var c runtime.Config
		if err := json.Unmarshal(job, &c); err != nil {
			return nil, err
		}
		return suiteFor(c), nil
	})
	if err != nil {
		fmt.Fprintf(os.Stderr, "pugcheck worker: %v\n", err)
		return exitTrouble
	}
	return exitConforming
}
