package main

import (
	"encoding/json"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rhysd/actionlint"
	"go.yaml.in/yaml/v3"

	"github.com/pugcheck/pugcheck/harness/report"
)

// workspace is a checkout with a handler that writes its Outputs to the wrong place, and
// tells the runner to do things.
func workspace(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{
		"fd2.sh":            "cat >/dev/null\necho '::error::from the subject' >&2\necho '::set-env name=X::y' >&2\necho '{\"content-type\":\"text/plain\",\"data\":\"eA==\"}' >&2\n",
		"sub/pugcheck.yaml": "handler:\n  command: [sh, ../fd2.sh]\n",
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestActionRuns runs the scripts of the action as a runner would.
func TestActionRuns(t *testing.T) {
	all := []string{"annotations.txt", "badge.json", "badge.svg", "junit.xml", "result.json", "summary.md"}
	for name, tc := range map[string]struct {
		inputs   map[string]string
		status   int
		outputs  map[string]string // expected pieces
		commands []string          // pieces that some workflow command has to have
		uploaded []string          // as the artifact; empty = not looked at
		summary  string
		silent   bool // no annotation at all
	}{
		"passes": {
			inputs: map[string]string{"args": "--only P2.1/preflight\n --seed '42'", "reports": "junit badge junit", "requirements": "v1.0"},
			outputs: map[string]string{"verdict": "conforming", "status": "0", "conclusion": "No statement about conformance as a whole: only P2.1/preflight was judged",
				"result": "/result.json"},
			commands: []string{"::notice title=pugcheck runtime"}, uploaded: all, summary: "P2.1/preflight",
		},
		"fails": {
			inputs: map[string]string{"suite": "handler", "command": "sh fd2.sh", "args": "--only P2.1", "artifact": "mine"}, status: 1,
			outputs:  map[string]string{"verdict": "not-conforming", "status": "1", "conclusion": "does not conform to pugmark v1"},
			commands: []string{"::error title=pugcheck handler%3A not conforming", "title=fail P2.1-3"},
			uploaded: []string{"annotations.txt", "artifacts.tar.gz", "junit.xml", "report.html", "result.json", "summary.md"},
		},
		"profile and directory": {
			inputs: map[string]string{"suite": "handler", "working-directory": "sub", "args": "--only P2.1", "strict": "true", "keep-artifacts": "false"}, status: 1,
			outputs:  map[string]string{"verdict": "not-conforming"},
			uploaded: []string{"annotations.txt", "junit.xml", "report.html", "result.json", "summary.md"},
			commands: []string{"::error file=sub/pugcheck.yaml,line=1,title=fail P2.1-3"},
		},
		"another profile": {
			inputs: map[string]string{"suite": "handler", "profile": "nowhere.yaml"}, status: 2,
			outputs: map[string]string{"verdict": "unusable", "status": "2", "result": "", "conclusion": ""}, commands: []string{"::error title=pugcheck::It could not be judged (exit status 2)"},
			summary: "exit status 2",
		},
		"unknown requirements": {inputs: map[string]string{"requirements": "v0.1"}, status: 2, outputs: map[string]string{"verdict": "unusable"}},
		"unknown suite":        {inputs: map[string]string{"suite": "both"}, status: 2, commands: []string{"suite has to be runtime or handler"}, outputs: map[string]string{"verdict": "unusable"}},
		"unknown report":       {inputs: map[string]string{"reports": "junit pdf"}, status: 2, commands: []string{"reports: known are html, junit"}},
		"open quote":           {inputs: map[string]string{"args": "--only 'P2.1"}, status: 2, commands: []string{"args: a quote is not closed"}},
		"no annotations": {
			inputs: map[string]string{"suite": "handler", "command": "sh fd2.sh", "args": "--only P2.1", "annotations": "false", "artifact": ""}, status: 1,
			outputs: map[string]string{"verdict": "not-conforming"}, silent: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := runAction(t, workspace(t), tc.inputs)
			if r.status != tc.status || r.failed != (tc.status != 0) {
				t.Errorf("the step ends with %d, want %d\n%s", r.status, tc.status, r.log)
			}
			for output, want := range tc.outputs {
				if got := r.values["outputs."+output]; !strings.Contains(got, want) || want == "" && got != "" {
					t.Errorf("output %s: %q, want %q", output, got, want)
				}
			}
			commands := strings.Join(r.commands(), "\n")
			if tc.silent != (commands == "") {
				t.Errorf("annotations, with silent %v:\n%s", tc.silent, commands)
			}
			for _, want := range tc.commands {
				if !strings.Contains(commands, want) {
					t.Errorf("no command with %q:\n%s", want, commands)
				}
			}
			if strings.Contains(commands, "::error::from the subject") || strings.Contains(commands, "\n::set-env") {
				t.Errorf("the subject commands the runner:\n%s", commands)
			}
			if artifact := r.values["inputs.artifact"]; len(tc.uploaded) > 0 && !slices.Equal(r.uploads[artifact], tc.uploaded) {
				t.Errorf("uploaded %v, want %v", r.uploads[artifact], tc.uploaded)
			} else if artifact != "" && len(r.uploads[artifact]) == 0 && tc.status < 2 {
				t.Error("nothing was uploaded")
			}
			if r.summary == "" || !strings.Contains(r.summary, tc.summary) {
				t.Errorf("summary %q lacks %q", r.summary, tc.summary)
			}
			if tc.status == 1 && !strings.Contains(r.summary, "P2.1-3") {
				t.Errorf("the summary does not name the violated clause:\n%s", r.summary)
			}
			if path := r.values["outputs.result"]; path != "" {
				var result report.Result
				if err := json.Unmarshal([]byte(r.read(path)), &result); err != nil || result.Suite != r.values["inputs.suite"] || result.Profile.Strict != (tc.inputs["strict"] == "true") {
					t.Errorf("%s: %v, %s", path, err, result.Suite)
				}
			}
		})
	}
}

// TestActionKeepsArtifacts: what failed in a job can be run again from the job's artifact.
func TestActionKeepsArtifacts(t *testing.T) {
	dir := workspace(t)
	r := runAction(t, dir, map[string]string{"suite": "handler", "command": "sh fd2.sh", "args": "--only P2.1"})
	packed := filepath.Join(r.values["outputs.reports"], "artifacts.tar.gz")
	sh := func(command string, args ...string) (string, int) {
		cmd := exec.Command(command, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	if out, status := sh("tar", "-xzf", packed); status != 0 {
		t.Fatalf("%s\n%s", out, r.log)
	}
	folders, err := filepath.Glob(filepath.Join(dir, "artifacts", "handler", "P2.1", "*"))
	if err != nil || len(folders) == 0 {
		t.Fatalf("no folder of a scenario: %v\n%s", err, r.log)
	}
	if out, status := sh("pugcheck", "repro", folders[0]); status != 1 || !strings.Contains(out, "P2.1-3") {
		t.Errorf("status %d, want 1 for the same failure\n%s", status, out)
	}
	if !strings.Contains(r.log, "artifacts.tar.gz") {
		t.Errorf("the log does not say where the folders are\n%s", r.log)
	}
}

// TestActionEvaluatesNothing: whoever can set an input can name a command, and no more.
func TestActionEvaluatesNothing(t *testing.T) {
	for _, input := range []string{"command", "args", "profile", "requirements", "known-failing", "strict", "reports", "suite", "annotations", "code-scanning", "keep-artifacts"} {
		for _, evil := range []string{"*; $(touch pwned) `touch pwned` $((a[$(touch pwned)])); touch pwned", "x'; touch pwned; ' \"; touch pwned; \"\ntouch pwned\n"} {
			dir := workspace(t)
			inputs := map[string]string{"suite": "handler", "artifact": ""}
			if input != "command" {
				inputs["command"] = "http://127.0.0.1:1/"
			}
			inputs[input] = evil
			r := runAction(t, dir, inputs)
			if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
				t.Errorf("%s: %q was evaluated", input, evil)
			}
			if r.status == 0 {
				t.Errorf("%s: %q is taken", input, evil)
			}
		}
	}
}

// TestActionDescription: inputs and outputs are described, every expression names
// something that is there, and none stands in a script.
func TestActionDescription(t *testing.T) {
	a := loadAction(t)
	known := map[string]bool{"runner.os": true, "runner.arch": true, "github.action_path": true}
	used := map[string]bool{}
	for name, in := range a.Inputs {
		known["inputs."+name] = true
		if in.Description == "" || in.Default == nil {
			t.Errorf("input %s has no description or no default", name)
		}
	}
	check := func(where, text string) {
		for _, m := range append(expression.FindAllStringSubmatch(text, -1), regexp.MustCompile(`((?:inputs|steps)\.[a-z.-]+)`).FindAllStringSubmatch(text, -1)...) {
			used[m[1]] = true
			if !known[m[1]] && !strings.HasSuffix(m[1], "outputs.cache-hit") {
				t.Errorf("%s: there is no %s", where, m[1])
			}
		}
	}
	script, err := os.ReadFile(filepath.Join(repository(t), "ci", "judge.sh"))
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range a.Runs.Steps {
		if strings.Contains(step.Run, "${{") {
			t.Errorf("%s: a value from outside becomes text of a script", step.Name)
		}
		check(step.Name, step.If)
		for _, values := range []map[string]string{step.Env, step.With, {"": step.Directory}} {
			for _, v := range values {
				check(step.Name, v)
			}
		}
		for _, m := range regexp.MustCompile(`(?m)(?:^| )(?:echo "|printf ')([a-z]+)=`).FindAllStringSubmatch(step.Run+string(script), -1) {
			known["steps."+step.ID+".outputs."+m[1]] = true
		}
		for name := range step.Env {
			if !strings.Contains(step.Run+string(script), name) {
				t.Errorf("%s: nothing reads %s", step.Name, name)
			}
		}
	}
	for name, out := range a.Outputs {
		if out.Description == "" {
			t.Errorf("output %s has no description", name)
		}
		check("output "+name, out.Value)
	}
	for _, name := range slices.Sorted(maps.Keys(a.Inputs)) {
		if !used["inputs."+name] {
			t.Errorf("nothing uses the input %s", name)
		}
	}
}

// lintWorkflow holds a workflow against actionlint, which also reads action.yml where the
// workflow uses "./".
func lintWorkflow(t *testing.T, text string) {
	t.Helper()
	root := t.TempDir()
	path := filepath.Join(root, ".github", "workflows", "conformance.yml")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(root, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	action, err := os.ReadFile(filepath.Join(repository(t), "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	for file, data := range map[string][]byte{path: []byte(text), filepath.Join(root, "action.yml"): action} {
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	options := &actionlint.LinterOptions{WorkingDir: root}
	if shellcheck, err := exec.LookPath("shellcheck"); err == nil {
		options.Shellcheck = shellcheck
	}
	linter, err := actionlint.NewLinter(io.Discard, options)
	if err != nil {
		t.Fatal(err)
	}
	faults, err := linter.LintFile(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range faults {
		t.Errorf("%v\n%s", f, text)
	}
}

// TestActionIsUsable: the linter takes every input and output of the action, in a
// workflow that uses it from the repository itself.
func TestActionIsUsable(t *testing.T) {
	var b strings.Builder
	b.WriteString("on: push\njobs:\n  conformance:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v6\n      - id: judge\n        uses: ./\n        with:\n")
	a := loadAction(t)
	for _, name := range slices.Sorted(maps.Keys(a.Inputs)) {
		b.WriteString("          " + name + ": x\n")
	}
	b.WriteString("      - env:\n")
	for _, name := range slices.Sorted(maps.Keys(a.Outputs)) {
		b.WriteString("          OUT_" + strings.ToUpper(name) + ": ${{ steps.judge.outputs." + name + " }}\n")
	}
	b.WriteString("        run: env\n")
	lintWorkflow(t, b.String())
}

// TestScriptsOfCI reads all scripts with shellcheck, where it is installed.
func TestScriptsOfCI(t *testing.T) {
	shellcheck, err := exec.LookPath("shellcheck")
	if err != nil {
		t.Skip("shellcheck is not installed")
	}
	scripts := map[string]string{}
	for _, step := range loadAction(t).Runs.Steps {
		if step.Run != "" {
			scripts[step.Name] = step.Run
		}
	}
	scripts["GitLab"] = gitlabJob(t).Script[0]
	text, err := os.ReadFile(filepath.Join(repository(t), "ci", "judge.sh"))
	if err != nil {
		t.Fatal(err)
	}
	scripts["ci/judge.sh"] = string(text)
	for name, script := range scripts {
		cmd := exec.Command(shellcheck, "--shell=bash", "--exclude=SC2154", "-")
		cmd.Stdin = strings.NewReader(script)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

// TestExamplesOfCI: every workflow of docs/ci.md is valid, against action.yml too, and the
// tables name every input, output and variable.
func TestExamplesOfCI(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(repository(t), "docs", "ci.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	workflows, jobs := 0, gitlabJob(t)
	for _, block := range strings.Split(page, "```yaml\n")[1:] {
		example, _, _ := strings.Cut(block, "```")
		if strings.Contains(example, "uses:") {
			workflows++
			lintWorkflow(t, strings.ReplaceAll(example, "pugcheck/pugcheck@main", "./"))
			continue
		}
		var file map[string]yaml.Node
		if err := yaml.Unmarshal([]byte(example), &file); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"runtime", "handler"} {
			node := file[name]
			var job hiddenJob
			if err := node.Decode(&job); err != nil || len(job.Variables) == 0 {
				t.Errorf("%s: %v", name, err)
			}
			for v := range job.Variables {
				if _, ok := jobs.Variables[v]; !ok {
					t.Errorf("the template does not declare %s", v)
				}
			}
		}
	}
	if workflows != 2 {
		t.Errorf("%d workflows", workflows)
	}
	a := loadAction(t)
	names := append(slices.Collect(maps.Keys(a.Inputs)), slices.Collect(maps.Keys(a.Outputs))...)
	for _, name := range append(names, slices.Collect(maps.Keys(jobs.Variables))...) {
		if !regexp.MustCompile("\\b" + name + "\\b").MatchString(page) {
			t.Errorf("docs/ci.md says nothing about %s", name)
		}
	}
}
