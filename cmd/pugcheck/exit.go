package main

import (
	"errors"
	"fmt"
)

// Exit statuses of every command. They are part of the contract with CI jobs.
const (
	exitConforming    = 0 // the subject conforms or fails as is known, or the command did what was asked
	exitNotConforming = 1 // a verdict went against the subject, or a list of known failures is out of date
	exitUsage         = 2 // unusable arguments, configuration, selection or subject
	exitTrouble       = 3 // pugcheck's own error, or an incomplete run
)

// exitError carries the exit status that an error leads to. A nil err exits
// without a message: the command has said all there is to say.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usageError marks err as the caller's mistake: exit status 2.
func usageError(err error) error { return &exitError{code: exitUsage, err: err} }

// exitStatus is the status for what a command returned. Errors that no command
// classified come from argument parsing, so they count as usage errors.
func exitStatus(err error) int {
	if err == nil {
		return exitConforming
	}
	var e *exitError
	if errors.As(err, &e) {
		return e.code
	}
	return exitUsage
}
