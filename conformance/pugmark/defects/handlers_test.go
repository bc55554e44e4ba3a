package defects

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/pugcheck/pugcheck/conformance/pugmark"
	"github.com/pugcheck/pugcheck/conformance/pugmark/handler"
	"github.com/pugcheck/pugcheck/harness/report"
)

// handlerSample are scenarios that every handler defect is run on beside those of its
// clause.
var handlerSample = []string{handler.Preflight, "P4.3/without-push-tags"}

// handlerPrograms compiles what the faults in C need: the sample and what spoils it.
var handlerPrograms = sync.OnceValue(func() string {
	for program, source := range map[string]string{"sample": "fixtures/pugmark/handlers/agent.c", "faulty-c": "conformance/pugmark/defects/testdata/handlers/faulty.c"} {
		out, err := exec.Command("gcc", "-std=c99", "-O2", "-o", filepath.Join(scratch, program), filepath.Join(root(), source)).CombinedOutput()
		if err != nil {
			return "gcc " + source + ": " + err.Error() + "\n" + string(out)
		}
	}
	return ""
})

// command is the handler with the fault. It skips the test where that cannot run here.
func (d HandlerDefect) command(t *testing.T) []string {
	t.Helper()
	need := map[string][]string{"faulty.py": {"python3"}, "faulty.sh": {"bash", "jq", "curl", "gzip"}, "faulty.c": {"gcc"}}[d.Program]
	for _, tool := range need {
		if err := exec.Command(tool, "--version").Run(); err != nil {
			t.Skipf("%s needs %s: %v", d.Program, tool, err)
		}
	}
	program := filepath.Join(root(), "conformance/pugmark/defects/testdata/handlers", d.Program)
	samples := filepath.Join(root(), "fixtures/pugmark/handlers")
	switch d.Program {
	case "faulty.py":
		return []string{"python3", program, d.Name, samples, t.TempDir()}
	case "faulty.sh":
		return []string{"bash", program, d.Name, samples}
	}
	if failed := handlerPrograms(); failed != "" {
		t.Fatal(failed)
	}
	return []string{filepath.Join(scratch, "faulty-c"), d.Name, filepath.Join(scratch, "sample")}
}

// judgeHandler runs the handler suite on a command.
func judgeHandler(ctx context.Context, name string, timeout string, flags, selectors, command []string) (result report.Result, status int, output string, err error) {
	if err := programs(); err != nil {
		return result, 0, "", err
	}
	file := filepath.Join(scratch, "handler-"+name+".json")
	if *keep != "" {
		file = filepath.Join(*keep, "handler-"+name+".json")
	}
	args := append([]string{"handler", "--seed", seed, "--timeout", timeout, "--report", "json=" + file,
		"--log", filepath.Join(root(), "fixtures/pugmark/handlers/logs/orders.ndjson")}, flags...)
	if len(selectors) > 0 {
		args = append(args, "--only", strings.Join(selectors, ","))
	}
	run := exec.CommandContext(ctx, filepath.Join(scratch, "pugcheck"), append(append(args, "--"), command...)...)
	return carryOut(run, file)
}

// TestSampleHandlersConform: what the faults are put into keeps every clause that is
// judged, on either transport and in every language that is there.
func TestSampleHandlersConform(t *testing.T) {
	samples := filepath.Join(root(), "fixtures/pugmark/handlers")
	for _, sample := range []struct {
		name    string
		needs   []string
		flags   []string
		command []string
	}{
		{"python", []string{"python3"}, nil, []string{"python3", filepath.Join(samples, "agent.py")}},
		{"python-rpc", []string{"python3"}, []string{"--rpc"}, []string{"python3", filepath.Join(samples, "server.py")}},
		{"node", []string{"node"}, nil, []string{"node", filepath.Join(samples, "agent.mjs")}},
		{"bash", []string{"bash", "jq", "curl", "gzip"}, nil, []string{"bash", filepath.Join(samples, "agent.sh")}},
		{"go", nil, nil, []string{filepath.Join(scratch, "sample-go")}},
		{"c", []string{"gcc"}, nil, []string{filepath.Join(scratch, "sample")}},
	} {
		t.Run(sample.name, func(t *testing.T) {
			if slow := sample.name != "c" && sample.name != "go"; slow && !everything() {
				t.Skip("its interpreter is started several hundred times; -all does it")
			}
			for _, tool := range sample.needs {
				if err := exec.Command(tool, "--version").Run(); err != nil {
					t.Skipf("the sample needs %s: %v", tool, err)
				}
			}
			switch sample.name {
			case "go":
				build := exec.Command("go", "build", "-o", sample.command[0], "./go")
				build.Dir = samples
				if out, err := build.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
			case "c":
				if failed := handlerPrograms(); failed != "" {
					t.Fatal(failed)
				}
			}
			result, status, output, err := judgeHandler(t.Context(), sample.name, "60s", sample.flags, nil, sample.command)
			if err != nil {
				t.Fatalf("%v\n%s", err, output)
			}
			passed := 0
			for _, c := range result.Clauses {
				switch c.Verdict {
				case report.Pass:
					passed++
				case report.Fail, report.Warn, report.Error:
					t.Errorf("%s is %s%s", c.ID, c.Verdict, seen(c))
				}
			}
			if status != 0 || !result.Complete || passed < 70 {
				t.Errorf("exit status %d, complete: %v, %d clauses passed", status, result.Complete, passed)
			}
		})
	}
}

// TestEveryHandlerDefectIsCaught is the same proof as that on runtimes, for handlers.
func TestEveryHandlerDefectIsCaught(t *testing.T) {
	var caught, run, missed atomic.Int64
	t.Run("defect", func(t *testing.T) {
		for i, d := range Handlers() {
			if i%5 != 0 && !everything() {
				continue
			}
			t.Run(d.Name, func(t *testing.T) {
				t.Parallel()
				command := d.command(t)
				timeout, flags, selectors := "60s", []string(nil), append([]string{d.Clause}, handlerSample...)
				if d.Hangs {
					timeout = "10s"
				}
				if strings.HasPrefix(d.Name, "http-") {
					flags = []string{"--rpc"}
				}
				if *whole {
					selectors = nil
				}
				result, status, output, err := judgeHandler(t.Context(), d.Name, timeout, flags, selectors, command)
				if err != nil {
					t.Fatalf("%v\n%s", err, output)
				}
				run.Add(1)
				problems := d.problems(result, status)
				uncaught := slices.ContainsFunc(problems, func(p string) bool { return strings.HasPrefix(p, "NOT CAUGHT") })
				switch {
				case d.Missed != "" && !uncaught:
					t.Errorf("%s is caught by %s, so it is not missed any more", d.Name, d.Clause)
				case d.Missed != "":
					missed.Add(1)
					t.Logf("%s is NOT caught by %s: %s", d.Name, d.Clause, d.Missed)
				case len(problems) == 0:
					caught.Add(1)
				default:
					t.Errorf("%s (%s, must be caught by %s)\n  %s", d.Name, d.Fault, d.Clause, strings.Join(problems, "\n  "))
				}
			})
		}
	})
	t.Logf("caught by the right clause, and nothing unrelated failing: %d of %d; known to be missed: %d", caught.Load(), run.Load(), missed.Load())
}

// TestHandlerListIsSound: each clause is there and is one for handlers, in the order of
// the text, and the programs know each name once; and every demand that is judged has a
// handler that is caught by it.
func TestHandlerListIsSound(t *testing.T) {
	place := map[string]int{}
	for i, id := range pugmark.Catalogue().ClauseIDs() {
		place[id] = i
	}
	names, last := map[string]bool{}, -1
	for _, d := range Handlers() {
		c, ok := pugmark.Catalogue().Clause(d.Clause)
		if !ok || !slices.Contains(c.Suites, "handler") {
			t.Errorf("%s: %s is no clause that the handler suite judges", d.Name, d.Clause)
		}
		if names[d.Name] {
			t.Errorf("%s is listed twice", d.Name)
		}
		if place[d.Clause] < last {
			t.Errorf("%s: %s stands behind a later clause", d.Name, d.Clause)
		}
		if d.Fault == "" || len(d.Message) < 4 {
			t.Errorf("%s: needs a fault in words and a message that names it", d.Name)
		}
		names[d.Name], last = true, place[d.Clause]
	}
	for _, id := range unprovenOfHandlers() {
		t.Errorf("%s demands something of handlers and is judged, but no defect is caught by it", id)
	}
}
