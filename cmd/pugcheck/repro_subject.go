package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pugcheck/pugcheck/conformance"
	"github.com/pugcheck/pugcheck/conformance/profile"
	"github.com/pugcheck/pugcheck/conformance/pugmark/handler"
	"github.com/pugcheck/pugcheck/conformance/pugmark/runtime"
	"github.com/pugcheck/pugcheck/harness/artifacts"
)

// repeat is a scenario that is run again from its artifacts.
type repeat struct {
	found    artifacts.Found
	self     string // this executable
	scenario conformance.Scenario
	config   any    // what a worker makes the suite of
	program  string // what has to exist and be executable; "" = nothing
	subject  string // for people
	replaced []string
	notes    []string // what is not as it was
}

// newRepeat finds out how the scenario of a folder is run again, and moves to the
// working directory of then. words, where there are any, are the subject.
func newRepeat(found artifacts.Found, words []string) (*repeat, error) {
	r := &repeat{found: found, subject: found.Subject.Name}
	var err error
	if r.self, err = os.Executable(); err != nil {
		return nil, fmt.Errorf("finding pugcheck itself, which plays the other side: %w", err)
	}
	if len(words) == 1 {
		if words, _, err = splitCommand(words, 1); err != nil {
			return nil, err
		}
	}
	if len(words) > 0 {
		if words, err = fromHere(words); err != nil {
			return nil, err
		}
		r.subject, r.replaced = profile.Quote(words), words
		r.notes = append(r.notes, fmt.Sprintf("judged is %s in place of %s", r.subject, found.Subject.Name))
	}
	r.compareVersions()
	if err := os.Chdir(found.WorkingDirectory); err != nil {
		r.notes = append(r.notes, fmt.Sprintf("the working directory of then, %s, cannot be entered, so paths are tried from here", found.WorkingDirectory))
	}
	var suite *conformance.Suite
	switch found.Suite {
	case "runtime":
		suite, err = r.asRuntime()
	case "handler":
		suite, err = r.asHandler()
	default:
		err = fmt.Errorf("%s: there is no suite %q", found.Path, found.Suite)
	}
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(suite.Scenarios, func(sc conformance.Scenario) bool { return sc.ID == found.Scenario })
	if i < 0 {
		return nil, fmt.Errorf("this version of the suite has no scenario %s; the artifacts are of pugcheck %s", found.Scenario, found.Versions["pugcheck"])
	}
	r.scenario = suite.Scenarios[i]
	return r, nil
}

// fromHere is a command whose program is found wherever the working directory will be.
func fromHere(words []string) ([]string, error) {
	words = slices.Clone(words)
	if strings.Contains(words[0], "/") && !isURL(words[0]) {
		path, err := filepath.Abs(words[0])
		if err != nil {
			return nil, err
		}
		words[0] = path
	}
	return words, nil
}

func isURL(word string) bool {
	return strings.HasPrefix(word, "http://") || strings.HasPrefix(word, "https://")
}

// compareVersions notes what of pugcheck is not as it was.
func (r *repeat) compareVersions() {
	now := versions()
	for _, what := range []string{"pugcheck", "catalogue", "platform"} {
		if then := r.found.Versions[what]; then != now[what] {
			r.notes = append(r.notes, fmt.Sprintf("%s was %.16s, and is %.16s", what, then, now[what]))
		}
	}
}

func (r *repeat) asRuntime() (*conformance.Suite, error) {
	var c runtime.Config
	if err := r.decode(&c); err != nil {
		return nil, err
	}
	c.Pugcheck = r.self
	switch {
	case len(r.replaced) > 0 && !c.Profile.NeedsCommand():
		return nil, fmt.Errorf("the profile's run names its own program, so %s would have no place", r.subject)
	case len(r.replaced) > 0:
		c.Profile.Command = r.replaced
	case r.found.Subject.BuiltIn:
		c.Profile.Command = []string{r.self, "reference"}
	}
	r.config, r.program = c, c.Profile.Program()
	return runtimeSuite(c), nil
}

func (r *repeat) asHandler() (*conformance.Suite, error) {
	var c handler.Config
	if err := r.decode(&c); err != nil {
		return nil, err
	}
	switch {
	case len(r.replaced) == 1 && isURL(r.replaced[0]):
		c.Command, c.URL, c.RPC = nil, r.replaced[0], false
	case len(r.replaced) > 0:
		c.Command, c.URL = r.replaced, ""
	}
	for i, l := range c.Logs {
		if exists(l.Path) {
			continue
		}
		if c.Logs[i].Path = filepath.Join(r.found.Path, filepath.FromSlash(handler.KeptLog(l.Name))); exists(c.Logs[i].Path) {
			r.notes = append(r.notes, fmt.Sprintf("the log %s is not there any more, so its copy among the artifacts is played", l.Path))
		}
	}
	if _, err := handler.LoadLogs(c.Logs); err != nil {
		return nil, err
	}
	if c.URL != "" {
		if err := reachable(c.URL); err != nil {
			return nil, err
		}
	} else if len(c.Command) > 0 {
		r.program = c.Command[0]
	}
	r.config = c
	return handler.Suite(c), nil
}

func (r *repeat) decode(config any) error {
	if err := json.Unmarshal(r.found.Config, config); err != nil {
		return fmt.Errorf("%s: config: %w", r.found.Path, err)
	}
	return nil
}

// keeper keeps new artifacts beside the old ones.
func (r *repeat) keeper() (*artifacts.Keeper, error) {
	config, err := json.Marshal(r.config)
	if err != nil {
		return nil, fmt.Errorf("the profile cannot be written as JSON: %w", err)
	}
	here, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("the working directory: %w", err)
	}
	common := r.found.Manifest
	common.Config, common.WorkingDirectory, common.Versions = config, here, versions()
	repro := common.Repro
	if len(r.replaced) > 0 {
		common.Subject.Name, common.Subject.Command, common.Subject.BuiltIn = r.subject, r.replaced, false
		repro = invocation() + " repro " + profile.Quote(append([]string{r.again(), "--"}, r.replaced...))
	}
	k := &artifacts.Keeper{Dir: filepath.Dir(r.again()), Name: filepath.Base(r.again()), Common: common, Repro: map[string]string{r.found.Scenario: repro}}
	if err := k.Prepare([]string{r.found.Scenario}); err != nil {
		return nil, err
	}
	return k, nil
}

// again is the folder of the new artifacts.
func (r *repeat) again() string { return r.found.Path + ".again" }
