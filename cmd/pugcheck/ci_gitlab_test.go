package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"
)

// hiddenJob is the GitLab job that others extend.
type hiddenJob struct {
	Variables map[string]string `yaml:"variables"`
	Script    []string          `yaml:"script"`
	Artifacts struct {
		When    string            `yaml:"when"`
		Paths   []string          `yaml:"paths"`
		Reports map[string]string `yaml:"reports"`
	} `yaml:"artifacts"`
	Cache struct {
		Paths []string `yaml:"paths"`
	} `yaml:"cache"`
}

func gitlabJob(t *testing.T) hiddenJob {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(repository(t), "ci", "pugcheck.gitlab-ci.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var file map[string]hiddenJob
	if err := yaml.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file) != 1 || len(file[".pugcheck"].Script) != 1 {
		t.Fatalf("the template has the jobs %v", slices.Collect(maps.Keys(file)))
	}
	return file[".pugcheck"]
}

// TestGitLabJob runs the job's script as a runner does, and looks for what it promises to keep.
func TestGitLabJob(t *testing.T) {
	job := gitlabJob(t)
	if job.Artifacts.When != "always" {
		t.Error("the reports of a failure are lost")
	}
	for name, tc := range map[string]struct {
		variables map[string]string
		status    int
	}{
		"passes":   {map[string]string{"PUGCHECK_ARGS": "--only P2.1/preflight", "PUGCHECK_REQUIREMENTS": "v1.0"}, 0},
		"fails":    {map[string]string{"PUGCHECK_SUITE": "handler", "PUGCHECK_COMMAND": "sh fd2.sh", "PUGCHECK_ARGS": "--only P2.1"}, 1},
		"unusable": {map[string]string{"PUGCHECK_KNOWN": "nowhere.yaml"}, 2},
	} {
		dir := workspace(t)
		cmd := exec.Command("bash", "-eo", "pipefail", "-c", job.Script[0])
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "CI=true", "PATH="+toolsThatGivePugcheck(t)+":"+os.Getenv("PATH"), "GITHUB_ACTIONS=", "GORACE=atexit_sleep_ms=0")
		for k, v := range job.Variables {
			if changed, ok := tc.variables[k]; ok {
				v = changed
			}
			cmd.Env = append(cmd.Env, k+"="+v)
		}
		for k := range tc.variables {
			if _, ok := job.Variables[k]; !ok {
				t.Errorf("the template does not declare %s", k)
			}
		}
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != tc.status {
			t.Errorf("%s: %v, want %d\n%s", name, err, tc.status, out)
		}
		if tc.status == 2 {
			continue
		}
		for _, path := range append(slices.Collect(maps.Values(job.Artifacts.Reports)), job.Artifacts.Paths...) {
			if _, err := os.Stat(filepath.Join(dir, path)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
