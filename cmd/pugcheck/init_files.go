package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"text/template"

	"github.com/pugcheck/pugcheck/conformance/profile"
	"github.com/pugcheck/pugcheck/conformance/pugmark"
	"github.com/pugcheck/pugcheck/harness/subject"
)

// initFile is a file that pugcheck init writes.
type initFile struct {
	path  string // relative to the working directory
	about string
	text  string
	todo  []string // what is left to do about it
}

// repositoryOfPugcheck is where workflows get pugcheck from.
const repositoryOfPugcheck = "pugcheck/pugcheck"

// writeInit writes the profile and the workflow, all of them or none: a file that is
// there already is an error unless force is set.
func writeInit(a implementation, force bool) ([]initFile, error) {
	files, err := filesFor(a)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if _, err := os.Lstat(f.path); err == nil && !force {
			return nil, fmt.Errorf("%s is there already, and nothing was written; --force overwrites it", f.path)
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	for _, f := range files {
		if err := os.MkdirAll(filepath.Dir(f.path), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(f.path, []byte(f.text), 0o644); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// filesFor are the files for an implementation. The profile among them can be loaded.
func filesFor(a implementation) ([]initFile, error) {
	v, err := a.values()
	if err != nil {
		return nil, err
	}
	files := []initFile{{path: profile.DefaultFile, about: "how the " + a.Kind + " is met", text: fill(profileTemplate, v)}}
	if _, err := profile.Parse(profile.DefaultFile, []byte(files[0].text)); err != nil {
		return nil, fmt.Errorf("the profile would not be valid: %w", err)
	}
	switch a.CI {
	case "github":
		files = append(files, initFile{
			path: filepath.Join(".github", "workflows", "conformance.yml"), about: "judges it on every push and pull request", text: fill(githubTemplate, v),
			todo: []string{v.Build + ", where the comment says it"},
		})
	case "gitlab":
		f := initFile{path: ".gitlab-ci.yml", about: "judges it in every pipeline", text: fill(gitlabTemplate, v), todo: []string{v.Build + ", where the comment says it"}}
		if exists(f.path) {
			f.path = "conformance.gitlab-ci.yml"
			f.todo = append(f.todo, "include it in .gitlab-ci.yml: include: [{local: "+f.path+"}]")
		}
		files = append(files, f)
	}
	return files, nil
}

// initValues is what the templates take.
type initValues struct {
	implementation
	Words        string // the command as a YAML list
	QuotedURL    string
	Lacks        string // capabilities as a YAML list
	Capabilities string
	Requirements string // newest released set; empty = none yet
	Ref          string // of pugcheck
	Repository   string
	Build        string // what has to be done before it can be judged
}

func (a implementation) values() (initValues, error) {
	v := initValues{
		implementation: a, Capabilities: strings.Join(profile.Capabilities, ", "), Lacks: "[" + strings.Join(a.Without, ", ") + "]",
		Ref: refOfPugcheck(versions()["pugcheck"]), Repository: repositoryOfPugcheck, Build: "build the " + a.Kind,
	}
	if sets := pugmark.RequirementSets(); len(sets) > 0 {
		v.Requirements = sets[len(sets)-1]
	}
	if a.URL != "" {
		v.QuotedURL, v.Build = quoteYAML(a.URL), "start the handler in the background"
		return v, nil
	}
	words, err := subject.SplitCommand(a.Command)
	if err != nil {
		return v, err
	}
	for i, w := range words {
		words[i] = quoteYAML(w)
	}
	v.Words = "[" + strings.Join(words, ", ") + "]"
	return v, nil
}

// plainWord is a word that means itself in a YAML list.
var plainWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z./_][A-Za-z0-9./_=+-]*$`) })

// quoteYAML is a text as YAML takes it back, on one line.
func quoteYAML(text string) string {
	if plainWord().MatchString(text) && !strings.EqualFold(text, "null") {
		return text
	}
	quoted, err := json.Marshal(text) // a JSON string is one in YAML too
	if err != nil {
		panic(err) // a string can be encoded
	}
	return string(quoted)
}

// refOfPugcheck is what a workflow takes pugcheck at: this version where it is a release.
func refOfPugcheck(version string) string {
	if regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+$`).MatchString(version) {
		return version
	}
	return "main"
}

func fill(text string, v initValues) string {
	var b strings.Builder
	if err := template.Must(template.New("").Parse(text)).Execute(&b, v); err != nil {
		panic(err) // the templates are constants
	}
	return b.String()
}

const profileTemplate = `# How pugcheck meets this {{.Kind}}. Beside it, pugcheck needs nothing to judge it:
#
#   pugcheck {{.Kind}}
#
# All keys: https://github.com/{{.Repository}}/blob/{{.Ref}}/docs/profile.md
{{if .Requirements}}
# The released set of requirements that counts. Clauses that came later are told, and do not
# count until a newer set is named here.
requirements: {{.Requirements}}
{{end}}
{{- if eq .Kind "runtime"}}
runtime:
  # The program and its first arguments. Behind them pugcheck writes
  #   run --bucket s3://BUCKET/PREFIX --session ID [--handler NAME=COMMAND]... -- HANDLER...
  command: {{.Words}}

  # A runtime with another command line has a template:
  # run: ["{runtime}", exec, "{session}", "--store={bucket}", "{handlers}", "--", "{handler}"]
  # handler_arg: ["--handler", "{name}={command}"]
  # env: {OTHER_S3: "{endpoint}"}

  # Abilities that it lacks: what needs them is reported as not exercised.
  # Known are {{.Capabilities}}.
  without: {{.Lacks}}

  # How long it may take for one step.
  # timeout: 20s

  # Failures that have to wait, each with its reason; pugcheck report baseline writes the file.
  # known_failing: known-failures.yaml

# Names that the specification leaves open, where yours differ from what is assumed.
# assumed:
#   query: {agent: agent, session: session, version: version}
{{- else}}
handler:
{{- if .URL}}
  # The handler runs already, and gets a POST for each invocation.
  url: {{.QuotedURL}}
{{- else}}
  # Started once for each invocation, with the log on its standard input.
  command: {{.Words}}

  # The command hosts an HTTP service at $PUGMARK_RPC_ADDRESS instead.
  # rpc: true
{{- end}}

  # Logs that make it do what it does on none of the built-in ones: fork, pause, remember.
  # logs:
  #   forks: logs/forks.ndjson

  # What the memory server has: DIR/NAMESPACE/NAME.
  # memory: ./memory

  # How long it may take for one invocation.
  # timeout: 10s

  # Failures that have to wait, each with its reason; pugcheck report baseline writes the file.
  # known_failing: known-failures.yaml
{{- end}}
`

const githubTemplate = `# Judges the {{.Kind}} of this repository with pugcheck, as pugcheck.yaml says.
name: conformance

on:
  push:
  pull_request:

permissions:
  contents: read

jobs:
  pugcheck:
    runs-on: ubuntu-latest
    timeout-minutes: 30
    steps:
      - uses: actions/checkout@v6

      # Here, {{.Build}}, so that pugcheck finds it as pugcheck.yaml says.
      # - run: {{if .URL}}./agent serve &{{else}}make{{end}}

      # Fails the job unless the {{.Kind}} conforms. The summary of the job tells why, and the
      # artifact has all reports.
      - uses: {{.Repository}}@{{.Ref}}
        with:
          suite: {{.Kind}}
          reports: html junit
          # strict: true                  # warnings fail too
          # args: --repeat 3              # further flags of pugcheck
`

const gitlabTemplate = `# Judges the {{.Kind}} of this repository with pugcheck, as pugcheck.yaml says.
include:
  - remote: https://raw.githubusercontent.com/{{.Repository}}/{{.Ref}}/ci/pugcheck.gitlab-ci.yml

conformance:
  extends: .pugcheck
  variables:
    PUGCHECK_VERSION: {{.Ref}}
    PUGCHECK_SUITE: {{.Kind}}
  # Here, {{.Build}}, so that pugcheck finds it as pugcheck.yaml says.
  # before_script:
  #   - {{if .URL}}./agent serve &{{else}}make{{end}}
`
