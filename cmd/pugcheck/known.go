package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pugcheck/pugcheck/conformance"
	"github.com/pugcheck/pugcheck/conformance/known"
	"github.com/pugcheck/pugcheck/conformance/pugmark"
	"github.com/pugcheck/pugcheck/conformance/pugmark/handler"
	"github.com/pugcheck/pugcheck/conformance/pugmark/runtime"
)

// knownFailures reads the list of known failures: that of the flag, else that of the
// profile.
func (j *judgement) knownFailures() error {
	path := j.profile.KnownFailing.Runtime
	if j.suite.Name == handlerSuite {
		path = j.profile.KnownFailing.Handler
	}
	if j.changed("known-failing") {
		path = j.flags.known
	}
	if path == "" {
		return nil
	}
	var err error
	j.known, err = known.Load(path, vocabulary(j.suite))
	return err
}

const handlerSuite = "handler"

// suiteNamed is a suite with its ordinary configuration, as a list of known failures
// needs it; nil where there is none of that name.
func suiteNamed(name string) *conformance.Suite {
	switch name {
	case "runtime":
		return runtime.Suite(runtime.Config{})
	case handlerSuite:
		return handler.Suite(handler.Config{})
	}
	return nil
}

// vocabulary is what a list of known failures of a suite may name.
func vocabulary(suite *conformance.Suite) known.Vocabulary {
	v := known.Vocabulary{Elsewhere: func(word string) string { return notOf(suite.Name, word) }}
	judged := map[string]bool{}
	for _, id := range suite.Always {
		judged[id] = true
	}
	for _, sc := range suite.Scenarios {
		for _, id := range sc.Clauses {
			judged[id] = true
		}
		for _, c := range sc.Needs {
			if !slices.Contains(v.Capabilities, c) {
				v.Capabilities = append(v.Capabilities, c)
			}
		}
	}
	for _, id := range pugmark.Catalogue().ClauseIDs() {
		if judged[id] {
			v.Clauses = append(v.Clauses, id)
		}
	}
	return v
}

// notOf says why a clause that there is cannot be known to fail in a suite; "" where
// there is no such clause.
func notOf(suite, word string) string {
	c, ok := pugmark.Catalogue().Clause(word)
	switch {
	case !ok:
		return ""
	case slices.Contains(c.Suites, suite):
		return fmt.Sprintf("%s is judged by no scenario of the %s suite, so it cannot be known to fail", word, suite)
	case len(c.Suites) == 0:
		return fmt.Sprintf("%s is a clause that no suite can judge", word)
	}
	return fmt.Sprintf("%s is a clause, but not of the %s suite: it is for the suites %s", word, suite, strings.Join(c.Suites, ", "))
}
