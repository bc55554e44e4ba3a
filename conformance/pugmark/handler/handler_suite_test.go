package handler_test

import (
	"flag"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance"
	"github.com/pugcheck/pugcheck/conformance/profile"
	"github.com/pugcheck/pugcheck/conformance/pugmark/handler"
	"github.com/pugcheck/pugcheck/harness/subject"
)

var subjectFlag = flag.String("subject", "", "command or http:// URL of the handler to judge; empty: the sample in Go")

// TestHandler judges the sample in Go (or -subject) as plain Ginkgo specs, so that
// label filters, focus and parallel processes work as Ginkgo users know them. With
// -short it runs every fifth scenario.
func TestHandler(t *testing.T) {
	samples, err := filepath.Abs("../../../fixtures/pugmark/handlers")
	if err != nil {
		t.Fatal(err)
	}
	config := handler.Config{
		Logs:    []handler.LogFile{handler.NamedByPath(filepath.Join(samples, "logs", "orders.ndjson"))},
		Timeout: time.Minute, // longer than a busy machine keeps an interpreter waiting
		Assumed: profile.Default().Assumed,
	}
	switch {
	case strings.HasPrefix(*subjectFlag, "http://"):
		config.URL = *subjectFlag
	case *subjectFlag != "":
		if config.Command, err = subject.SplitCommand(*subjectFlag); err != nil {
			t.Fatal(err)
		}
	default:
		sample := filepath.Join(t.TempDir(), "agent")
		build := exec.Command("go", "build", "-o", sample, "./go")
		build.Dir = samples
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("building the sample in Go: %v\n%s", err, out)
		}
		config.Command = []string{sample}
	}
	gomega.RegisterFailHandler(ginkgo.Fail)
	suite := handler.Suite(config)
	var chosen []conformance.Scenario
	for i, scenario := range suite.Scenarios {
		if !testing.Short() || i%5 == 0 {
			chosen = append(chosen, scenario)
		}
	}
	suite.Scenarios = chosen
	options, reporter := ginkgo.GinkgoConfiguration()
	suite.Declare(conformance.Options{Seed: uint64(options.RandomSeed)}, nil)
	ginkgo.RunSpecs(t, "pugmark handler", options, reporter)
}
