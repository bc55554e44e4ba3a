package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/pugcheck/pugcheck/conformance"
	runner "github.com/pugcheck/pugcheck/conformance/run"
	"github.com/pugcheck/pugcheck/harness/artifacts"
)

// keeper keeps the artifacts of the scenarios that go wrong, where --artifacts asks for
// it; nil where it does not. The folder can be written to, and has nothing of an earlier
// run for these scenarios any more.
func (j *judgement) keeper(scenarios []conformance.Scenario) (*artifacts.Keeper, error) {
	if j.flags.artifacts == "" {
		if j.changed("artifacts") {
			return nil, errors.New("--artifacts: a folder is missing")
		}
		return nil, nil
	}
	dir, err := filepath.Abs(j.flags.artifacts)
	if err != nil {
		return nil, fmt.Errorf("--artifacts %s: %w", j.flags.artifacts, err)
	}
	k, err := j.keeperAt(dir)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, sc := range scenarios {
		ids = append(ids, sc.ID)
		k.Repro[sc.ID] = j.repeat(sc.ID, 1)
	}
	if err := k.Prepare(ids); err != nil {
		return nil, fmt.Errorf("--artifacts %s: %w", j.flags.artifacts, err)
	}
	return k, nil
}

// keeperAt is a keeper for this judgement that has not looked at its folder yet.
func (j *judgement) keeperAt(dir string) (*artifacts.Keeper, error) {
	config, err := json.Marshal(j.job)
	if err != nil {
		return nil, fmt.Errorf("the profile cannot be written as JSON: %w", err)
	}
	here, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("the working directory: %w", err)
	}
	subject := j.subject
	subject.Transports = []string{}
	if j.over != "" {
		subject.Transports = []string{j.over}
	}
	return &artifacts.Keeper{Dir: dir, Repro: map[string]string{}, Common: artifacts.Manifest{
		Suite: j.suite.Name, Seed: j.seed, Subject: subject, Config: config, Strict: j.flags.strict,
		WorkingDirectory: here, Versions: versions(),
	}}, nil
}

// keepIndex completes the folder when the run is over. The error is what of the
// artifacts could not be kept.
func keepIndex(k *artifacts.Keeper, r runner.Result, began time.Time) error {
	if k == nil {
		return nil
	}
	var lost error
	for _, o := range r.Outcomes {
		if o.Unkept != "" {
			lost = errors.Join(lost, errors.New(o.Unkept))
		}
	}
	if err := k.WriteIndex(began); err != nil {
		lost = errors.Join(lost, fmt.Errorf("the index of the artifacts: %w", err))
	}
	return lost
}
