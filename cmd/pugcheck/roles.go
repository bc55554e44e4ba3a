package main

import (
	"os"

	"github.com/pugcheck/pugcheck/harness/probe"
	"github.com/pugcheck/pugcheck/harness/subject"
)

// roles are the parts that pugcheck plays when it starts itself. They are not
// commands for people: no help, no flags, no stability.
var roles = map[string]func(args []string) int{
	"probe":  func(args []string) int { collectLate(); return probe.Main(args, os.Stdin, os.Stdout, os.Stderr) },
	"guard":  func(args []string) int { return subject.GuardMain(os.Stdin, args) },
	"worker": workerMain,
}
