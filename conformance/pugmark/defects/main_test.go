package defects

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/pugcheck/pugcheck/harness/report"
)

var (
	whole  = flag.Bool("whole", false, "judge each defect by the whole suite instead of its clause and a sample")
	all    = flag.Bool("all", false, "judge every defect, variant and sample, and the partial runtime; otherwise one defect of each section, every fourth variant and every fifth handler")
	update = flag.Bool("update", false, "write docs/defects.md and the expected verdicts of the partial runtime")
	keep   = flag.String("keep", "", "keep the result of every run in this directory")
)

// everything tells whether nothing is to be left out: by -all, or because some are
// named on the command line.
func everything() bool {
	return *all || *whole || strings.Contains(flag.Lookup("test.run").Value.String(), "/")
}

// scratch is where the programs and results lie while the tests run.
var scratch string

func TestMain(m *testing.M) {
	flag.Parse()
	dir, err := os.MkdirTemp("", "defects")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	scratch = dir
	status := m.Run()
	os.RemoveAll(dir)
	os.Exit(status)
}

// root is the directory of the module.
func root() string {
	dir, err := filepath.Abs("../../..")
	if err != nil {
		panic(err)
	}
	return dir
}

// programs builds pugcheck and faulty, once.
var programs = sync.OnceValue(func() error {
	for _, name := range []string{"pugcheck", "faulty"} {
		build := exec.Command("go", "build", "-o", filepath.Join(scratch, name), "./cmd/"+name)
		build.Dir = root()
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", name, err, out)
		}
	}
	return nil
})

// seed is that of every run, so that a failure repeats.
const seed = "7"

// patience is what a runtime gets for one step: more than a busy machine needs,
// and few defects make a runtime hang.
const patience = "20s"

// judge runs the suite on the reference with one fault ("none" without). With
// no selectors it is the whole suite. status is pugcheck's exit status, output
// what it printed.
func judge(ctx context.Context, fault string, selectors ...string) (result report.Result, status int, output string, err error) {
	return judgeWith(ctx, fault, "", selectors...)
}

// judgeWith is judge with the text of a profile, "" for none.
func judgeWith(ctx context.Context, fault, profile string, selectors ...string) (result report.Result, status int, output string, err error) {
	if err := programs(); err != nil {
		return result, 0, "", err
	}
	file := filepath.Join(scratch, fault+".json")
	if *keep != "" {
		file = filepath.Join(*keep, fault+".json")
	}
	args := []string{"runtime", "--seed", seed, "--timeout", patience, "--report", "json=" + file}
	if profile != "" {
		given := filepath.Join(scratch, fault+".yaml")
		if err := os.WriteFile(given, []byte(profile), 0o600); err != nil {
			return result, 0, "", err
		}
		args = append(args, "--profile", given)
	}
	if len(selectors) > 0 {
		args = append(args, "--only", strings.Join(selectors, ","))
	}
	run := exec.CommandContext(ctx, filepath.Join(scratch, "pugcheck"), append(args, "--", filepath.Join(scratch, "faulty"), fault)...)
	return carryOut(run, file)
}

// carryOut runs a suite that writes its result to file, and gives that, the exit status
// and what was said.
func carryOut(run *exec.Cmd, file string) (result report.Result, status int, said string, err error) {
	run.Dir = scratch // no profile lies there
	out, err := run.CombinedOutput()
	if err != nil && run.ProcessState == nil {
		return result, 0, string(out), err
	}
	raw, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(raw, &result)
	}
	return result, run.ProcessState.ExitCode(), string(out), err
}

// repro is the command line that repeats a run of judge.
func repro(fault string, selectors ...string) string {
	only := ""
	if len(selectors) > 0 {
		only = " --only " + strings.Join(selectors, ",")
	}
	return fmt.Sprintf("go build -o /tmp ./cmd/pugcheck ./cmd/faulty && /tmp/pugcheck runtime --seed %s%s -- /tmp/faulty %s", seed, only, fault)
}
