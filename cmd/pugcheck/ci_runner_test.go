package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// compositeAction is action.yml, as far as a runner of it needs it.
type compositeAction struct {
	Inputs map[string]struct {
		Description string  `yaml:"description"`
		Default     *string `yaml:"default"`
	} `yaml:"inputs"`
	Outputs map[string]struct {
		Description string `yaml:"description"`
		Value       string `yaml:"value"`
	} `yaml:"outputs"`
	Runs struct {
		Using string       `yaml:"using"`
		Steps []actionStep `yaml:"steps"`
	} `yaml:"runs"`
}

type actionStep struct {
	Name      string            `yaml:"name"`
	ID        string            `yaml:"id"`
	If        string            `yaml:"if"`
	Uses      string            `yaml:"uses"`
	Shell     string            `yaml:"shell"`
	Directory string            `yaml:"working-directory"`
	Env       map[string]string `yaml:"env"`
	With      map[string]string `yaml:"with"`
	Run       string            `yaml:"run"`
}

// startedIn is the directory of this package: tests start there.
var startedIn, errStartedIn = os.Getwd()

// repository is the root of the repository, also after a test has changed directories.
func repository(t *testing.T) string {
	t.Helper()
	if errStartedIn != nil {
		t.Fatal(errStartedIn)
	}
	return filepath.Dir(filepath.Dir(startedIn))
}

func loadAction(t *testing.T) compositeAction {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(repository(t), "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var a compositeAction
	if err := yaml.Unmarshal(data, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// expression is ${{ … }} in a value of an action.
var expression = regexp.MustCompile(`\$\{\{ *([^}]*?) *\}\}`)

// actionRun is one job step that uses the action: a runner that does what GitHub's does
// with composite actions, for the expressions that action.yml has.
type actionRun struct {
	t         *testing.T
	workspace string
	checkout  string            // of the action
	values    map[string]string // of expressions
	summary   string
	log       string
	uploads   map[string][]string // step → files that it would upload
	failed    bool
	status    int
}

// runAction runs the action on the workspace, with `go` replaced by what gives the
// pugcheck of this test.
func runAction(t *testing.T, workspace string, inputs map[string]string) *actionRun {
	t.Helper()
	action := loadAction(t)
	temp, checkout := t.TempDir(), checkoutOfAction(t)
	r := &actionRun{t: t, workspace: workspace, checkout: checkout, uploads: map[string][]string{}, values: map[string]string{
		"runner.os": "Linux", "runner.arch": "X64", "runner.temp": temp, "github.action_path": checkout,
	}}
	for name, in := range action.Inputs {
		r.values["inputs."+name] = *in.Default
	}
	for name, value := range inputs {
		if _, ok := action.Inputs[name]; !ok {
			t.Fatalf("the action has no input %s", name)
		}
		r.values["inputs."+name] = value
	}
	tools := toolsThatGivePugcheck(t)
	for _, step := range action.Runs.Steps {
		if !r.holds(step.If) {
			continue
		}
		if step.Uses != "" {
			r.use(step)
			continue
		}
		r.run(step, tools, temp)
	}
	for name, out := range action.Outputs {
		r.values["outputs."+name] = r.fill(out.Value)
	}
	return r
}

// checkoutOfAction has of the repository what the scripts read.
func checkoutOfAction(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"action.yml", "go.mod", "ci/judge.sh"} {
		data, err := os.ReadFile(filepath.Join(repository(t), name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// toolsThatGivePugcheck is a directory with a go and a git for scripts that fetch and build
// pugcheck: go build puts the pugcheck of this test at its place, git clone makes a link to
// this repository.
func toolsThatGivePugcheck(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	self, err := exec.LookPath("pugcheck")
	if err != nil {
		t.Fatal(err)
	}
	scripts := map[string]string{
		"go":  "#!/bin/sh\ntest \"$1\" = build || exit 9\nwhile [ \"$1\" != -o ]; do shift; done\nmkdir -p \"$(dirname \"$2\")\" && cp '" + self + "' \"$2\"\n",
		"git": "#!/bin/sh\ntest \"$1\" = clone || exit 9\nfor last; do :; done\nmkdir -p \"$(dirname \"$last\")\" && ln -s '" + repository(t) + "' \"$last\"\n",
	}
	for name, text := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// fill replaces the expressions in a value.
func (r *actionRun) fill(value string) string {
	return expression.ReplaceAllStringFunc(value, func(e string) string { return r.value(expression.FindStringSubmatch(e)[1]) })
}

var plainReference = regexp.MustCompile(`^(inputs\.[a-z-]+|steps\.[a-z]+\.outputs\.[a-z-]+|runner\.(os|arch|temp)|github\.action_path)$`)

func (r *actionRun) value(reference string) string {
	if !plainReference.MatchString(reference) {
		r.t.Fatalf("an expression that this runner does not know: %s", reference)
	}
	return r.values[reference]
}

// holds evaluates a condition: terms that are joined by &&, comparisons with a text.
func (r *actionRun) holds(condition string) bool {
	if condition == "" {
		return !r.failed
	}
	ok := !r.failed || strings.Contains(condition, "always()")
	for _, term := range strings.Split(condition, " && ") {
		if term == "always()" {
			continue
		}
		words := strings.SplitN(term, " ", 3)
		if len(words) != 3 {
			r.t.Fatalf("a condition that this runner does not know: %s", term)
		}
		equal := r.value(words[0]) == strings.Trim(words[2], "'")
		ok = ok && equal == (words[1] == "==")
	}
	return ok
}

// use stands for the action of somebody else.
func (r *actionRun) use(step actionStep) {
	name, _, _ := strings.Cut(step.Uses, "@")
	path := ""
	switch name {
	case "actions/cache", "actions/setup-go": // nothing was kept; the tools are there
		return
	case "actions/upload-artifact":
		path = r.fill(step.With["path"])
		name = r.fill(step.With["name"])
	case "github/codeql-action/upload-sarif":
		path = r.fill(step.With["sarif_file"])
	default:
		r.t.Fatalf("an action that this runner does not know: %s", step.Uses)
	}
	if err := filepath.WalkDir(path, func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			r.uploads[name] = append(r.uploads[name], filepath.Base(p))
		}
		return err
	}); err != nil {
		r.t.Errorf("%s: %v", step.Name, err)
	}
	slices.Sort(r.uploads[name])
}

// run runs a script as GitHub does for `shell: bash`.
func (r *actionRun) run(step actionStep, tools, temp string) {
	r.t.Helper()
	if step.Shell != "bash" {
		r.t.Fatalf("%s: shell %q", step.Name, step.Shell)
	}
	script := filepath.Join(temp, "script.sh")
	if err := os.WriteFile(script, []byte(r.fill(step.Run)), 0o600); err != nil {
		r.t.Fatal(err)
	}
	files := map[string]string{"GITHUB_OUTPUT": filepath.Join(temp, "output"), "GITHUB_STEP_SUMMARY": filepath.Join(temp, "summary")}
	cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", script)
	cmd.Dir = filepath.Join(r.workspace, r.fill(step.Directory))
	cmd.Env = append(os.Environ(), "PATH="+tools+":"+os.Getenv("PATH"), "CI=true", "GITHUB_ACTIONS=true", "GITHUB_WORKSPACE="+r.workspace,
		"GITHUB_ACTION_PATH="+r.checkout, "RUNNER_TEMP="+temp, "GORACE=atexit_sleep_ms=0")
	for name, path := range files {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			r.t.Fatal(err)
		}
		cmd.Env = append(cmd.Env, name+"="+path)
	}
	for name, value := range step.Env {
		cmd.Env = append(cmd.Env, name+"="+r.fill(value))
	}
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	err := cmd.Run()
	r.log += log.String()
	if err != nil {
		r.failed, r.status = true, cmd.ProcessState.ExitCode()
	}
	for _, line := range strings.Split(r.read(files["GITHUB_OUTPUT"]), "\n") {
		if name, value, ok := strings.Cut(line, "="); ok {
			r.values[fmt.Sprintf("steps.%s.outputs.%s", step.ID, name)] = value
		}
	}
	r.summary += r.read(files["GITHUB_STEP_SUMMARY"])
}

func (r *actionRun) read(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(data)
}

// commands are the workflow commands that GitHub would obey: those in its log outside
// of where they are stopped.
func (r *actionRun) commands() []string {
	var out []string
	stopped := ""
	for _, line := range strings.Split(r.log, "\n") {
		token, stops := strings.CutPrefix(line, "::stop-commands::")
		switch {
		case stopped != "" && line == "::"+stopped+"::":
			stopped = ""
		case stopped != "":
		case stops:
			stopped = token
		case strings.HasPrefix(strings.TrimSpace(line), "::"):
			out = append(out, line)
		}
	}
	return out
}
