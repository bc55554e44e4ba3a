package runtime_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance"
	"github.com/pugcheck/pugcheck/conformance/profile"
	"github.com/pugcheck/pugcheck/conformance/pugmark/runtime"
)

var subjectFlag = flag.String("subject", "", "command of the runtime to judge; empty: the reference")

// TestRuntime judges the reference (or -subject) as plain Ginkgo specs, so that
// label filters, focus and parallel processes work as Ginkgo users know them. With
// -short it runs every fifth scenario.
func TestRuntime(t *testing.T) {
	gomega.RegisterFailHandler(ginkgo.Fail)
	binary, err := pugcheck(t)
	if err != nil {
		t.Fatal(err)
	}
	command := []string{binary, "reference"}
	if *subjectFlag != "" {
		command = []string{*subjectFlag}
	}
	contract := profile.Default()
	contract.Command = command
	suite := runtime.Suite(runtime.Config{Profile: contract, Pugcheck: binary})
	if testing.Short() {
		var some []conformance.Scenario
		for i := 0; i < len(suite.Scenarios); i += 5 {
			some = append(some, suite.Scenarios[i])
		}
		suite.Scenarios = some
	}
	config, reporter := ginkgo.GinkgoConfiguration()
	suite.Declare(conformance.Options{Seed: uint64(config.RandomSeed)}, nil)
	ginkgo.RunSpecs(t, "pugmark runtime", config, reporter)
}

// pugcheck builds the executable that plays the handlers (and the reference).
// Ginkgo's parallel processes build into folders of their own; Go's build cache
// makes the second and later ones cheap.
func pugcheck(t *testing.T) (string, error) {
	if path := os.Getenv("PUGCHECK_BINARY"); path != "" {
		return path, nil
	}
	path := filepath.Join(t.TempDir(), "pugcheck")
	build := exec.Command("go", "build", "-o", path, "github.com/pugcheck/pugcheck/cmd/pugcheck")
	build.Stderr = os.Stderr
	return path, build.Run()
}
