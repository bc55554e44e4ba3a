package profile

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pugcheck/pugcheck/harness/subject"
)

var values = Values{
	Session: "6a1c", Bucket: "s3://b/p", Endpoint: "http://127.0.0.1:9", Region: "r", AccessKey: "ak", SecretKey: "sk",
	Handler: []string{"/bin/pug check", "probe", "tok"},
}

func TestDefaultRun(t *testing.T) {
	r := Default()
	r.Command = []string{"./x", "--fast"}
	got, err := r.Expand(r.Run, values)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"./x", "--fast", "run", "--bucket", "s3://b/p", "--session", "6a1c", "--", "/bin/pug check", "probe", "tok"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestNamedHandlersAndNoDefault(t *testing.T) {
	r := Default()
	r.Command = []string{"x"}
	v := values
	v.Handler = nil
	v.Handlers = []NamedHandler{{"python", []string{"a b", "c"}}, {"bash", []string{"it's"}}}
	got, err := r.Expand(r.Run, v)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"x", "run", "--bucket", "s3://b/p", "--session", "6a1c", "--handler", "python='a b' c", "--handler", `bash='it'\''s'`}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestOptionalGroups(t *testing.T) {
	r := Default()
	r.Command = []string{"x"}
	for name, tc := range map[string]struct {
		t    Template
		v    Values
		want string
	}{
		"create bare": {r.Create, Values{Bucket: "b"}, "x create --bucket b"},
		"create all": {r.Create, Values{Bucket: "b", Session: "s", Agent: "a", HandlerName: "h", Metadata: []string{"k=v", "l=w"}, Name: "n"},
			"x create --bucket b --session s --agent a --handler h --metadata k=v --metadata l=w --name n"},
		"metadata as it stands": {r.Create, Values{Bucket: "b", Metadata: []string{"k=two words\n'✓'"}}, "x create --bucket b --metadata k=two words\n'✓'"},
		"push two files":        {r.Push, Values{Bucket: "b", Session: "s", Type: "queueing", Files: []string{"f", "g"}}, "x push --bucket b --session s --type queueing f g"},
		"log version":           {r.Log, Values{Bucket: "b", Session: "s", Version: "3"}, "x log --bucket b --session s --version 3"},
	} {
		got, err := r.Expand(tc.t, tc.v)
		if err != nil || strings.Join(got, " ") != tc.want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, tc.want)
		}
	}
	if _, err := r.Expand(r.Lookup, Values{Bucket: "b", Session: "s"}); err == nil || !strings.Contains(err.Error(), "{name}") {
		t.Errorf("a word without a value was accepted: %v", err)
	}
}

func TestBraces(t *testing.T) {
	for in, want := range map[string]string{
		"{{session}}":      "{session}",
		`{"a":1}`:          `{"a":1}`,
		"--h={handler}":    "--h='/bin/pug check' probe tok",
		"a{session}{":      "a6a1c{",
		"{Session}${HOME}": "{Session}${HOME}",
	} {
		if got, err := expandWord(in, values); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", in, got, err, want)
		}
	}
}

func TestQuoteSplitsBack(t *testing.T) {
	words := []string{"a", "", "b c", `it's`, `"q"`, "$HOME", "`x`", "a\\b", "*", "tab\there", "new\nline", "#", "~", "é"}
	got, err := subject.SplitCommand(Quote(words))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(words, got); d != "" {
		t.Error(d)
	}
}

func TestJSONRoundTrip(t *testing.T) {
	r := Default()
	r.Command, r.Env["X"], r.Without = []string{"x"}, "{endpoint}", []string{"rpc"}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back Runtime
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(r, back); d != "" {
		t.Error(d)
	}
}

func TestParse(t *testing.T) {
	p, err := Parse("p.yaml", []byte(`
runtime:
  run: ["./other-impl", "exec", "{session}", "--store={bucket}", "{handlers}", "--", "{handler}"]
  create: [./other-impl, new, "{bucket}", ["--id={session}"]]
  handler_arg: "--handler={name}={command}"
  env: {OTHER_S3: "{endpoint}"}
  without: [rpc, names]
  timeout: 3s
assumed:
  query: {agent: agent_id}
`))
	if err != nil {
		t.Fatal(err)
	}
	r := p.Runtime
	v := values
	v.Handlers = []NamedHandler{{"n", []string{"c"}}}
	got, err := r.Expand(r.Run, v)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"./other-impl", "exec", "6a1c", "--store=s3://b/p", "--handler=n=c", "--", "/bin/pug check", "probe", "tok"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	env, err := r.Environment(values)
	if err != nil || env["OTHER_S3"] != values.Endpoint || env["AWS_ENDPOINT_URL"] != values.Endpoint {
		t.Errorf("%v %v", env, err)
	}
	if r.NeedsCommand() || r.Program() != "./other-impl" || !r.Lacks("names") || r.Assumed.Query.Agent != "agent_id" || r.Assumed.Query.Session != "session" {
		t.Errorf("%+v", r)
	}
}

// TestHandlerSection: what a handler is met with, and files that are relative to the profile.
func TestHandlerSection(t *testing.T) {
	p, err := Parse("agents/pugcheck.yaml", []byte(`
handler:
  command: [python3, agent.py]
  rpc: true
  logs: {forks: logs/forks.ndjson, sleeps: /abs/sleeps.ndjson}
  memory: memory
  metadata: {team: blue}
  agent: a7
  timeout: 3s
`))
	if err != nil {
		t.Fatal(err)
	}
	want := Handler{
		Command: []string{"python3", "agent.py"}, RPC: true, Memory: "agents/memory", Metadata: map[string]string{"team": "blue"}, Agent: "a7", Timeout: 3 * time.Second,
		Logs: []NamedFile{{"forks", "agents/logs/forks.ndjson"}, {"sleeps", "/abs/sleeps.ndjson"}},
	}
	if d := cmp.Diff(want, p.Handler); d != "" {
		t.Error(d)
	}
}

func TestParseErrors(t *testing.T) {
	for name, tc := range map[string]struct {
		in   string
		want []string
	}{
		"unknown key":        {"runtime:\n  rnu: [a]\n", []string{"p.yaml:2: unknown key \"rnu\" in runtime; known are command, run"}},
		"unknown top":        {"backend: {}\n", []string{"p.yaml:1: unknown key \"backend\" in the profile; known are requirements, runtime, handler, assumed"}},
		"handler key":        {"handler:\n  log: x\n", []string{"p.yaml:2: unknown key \"log\" in handler; known are command, url, rpc, logs"}},
		"handler twice met":  {"handler:\n  command: x\n  url: http://h/\n", []string{"p.yaml:2: a handler has a command or a url, not both"}},
		"handler rpc":        {"handler:\n  rpc: 1\n", []string{"p.yaml:2: true or false is expected, not \"1\""}},
		"handler logs":       {"handler:\n  logs: [a]\n", []string{"p.yaml:2: handler.logs must be a mapping of names to values"}},
		"handler log twice":  {"handler:\n  logs:\n    a: x\n    a: y\n", []string{"p.yaml:4: the name \"a\" is empty, or stands twice in handler.logs"}},
		"twice":              {"runtime:\n  timeout: 1s\n  timeout: 2s\n", []string{"p.yaml:3: key \"timeout\" stands twice"}},
		"not a list":         {"runtime:\n  run: ./x run\n", []string{"p.yaml:2: a command is a list of words, not \"./x run\""}},
		"wrong type":         {"runtime:\n  run: [a, {b: c}]\n", []string{"p.yaml:2: a text is expected, not a mapping"}},
		"placeholder":        {"runtime:\n  run:\n    - a\n    - '{sesion}'\n    - '{bucket}'\n    - '{handler}'\n", []string{"p.yaml:4: {sesion} has no meaning here", "neither run nor env mentions {session}"}},
		"handlers in rename": {"runtime:\n  rename: [a, '{handlers}']\n", []string{"p.yaml:2: {handlers} has no meaning"}},
		"capability":         {"runtime:\n  without: [rcp]\n", []string{"p.yaml:2: unknown capability \"rcp\"; known are http, rpc"}},
		"timeout":            {"runtime:\n  timeout: 5\n", []string{"p.yaml:2: timeout must be"}},
		"negative":           {"runtime:\n  timeout: -5s\n", []string{"p.yaml:2: timeout must be"}},
		"handler_arg":        {"runtime:\n  handler_arg: '-h {name}'\n", []string{"p.yaml:2: handler_arg must mention {command}"}},
		"env name":           {"runtime:\n  env: {'A=B': x}\n", []string{"p.yaml:2: \"A=B\" cannot be"}},
		"two at once":        {"runtime:\n  timeout: x\n  without: [y]\n", []string{"p.yaml:2:", "p.yaml:3:"}},
		"scalar":             {"runtime\n", []string{"p.yaml:1: the profile must be a mapping"}},
		"null":               {"runtime:\n  timeout:\n", []string{"p.yaml:2: a text is expected, not nothing"}},
		"broken yaml":        {"runtime: [\n", []string{"p.yaml: yaml: line"}},
		"two documents":      {"runtime: {}\n---\nruntime: {}\n", []string{"one YAML document"}},
	} {
		_, err := Parse("p.yaml", []byte(tc.in))
		if err == nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		for _, w := range tc.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %v\nlacks %q", name, err, w)
			}
		}
	}
	for _, empty := range []string{"", "# nothing\n", "---\n"} {
		if p, err := Parse("p.yaml", []byte(empty)); err != nil || p.File != "p.yaml" {
			t.Errorf("%q: %+v %v", empty, p, err)
		}
	}
}

// TestDocumentedProfiles reads the examples of docs/profile.md.
func TestDocumentedProfiles(t *testing.T) {
	text, err := os.ReadFile("../../docs/profile.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(text), "```yaml\n")[1:]
	if len(blocks) < 2 {
		t.Fatalf("%d examples", len(blocks))
	}
	for _, b := range blocks {
		example, _, _ := strings.Cut(b, "```")
		if _, err := Parse("docs/profile.md", []byte(example)); err != nil {
			t.Errorf("%v\n%s", err, example)
		}
	}
	for _, key := range []string{"command", "run", "rpc", "create", "rename", "push", "delete", "lookup", "log", "handler_arg", "env", "without", "timeout",
		"query.agent", "query.session", "query.version", "environment.snapshot_version", "environment.rpc_address", "environment.rpc_port", "cache_control.snapshots",
		"url", "logs", "memory", "metadata", "agent"} {
		if !strings.Contains(string(text), "`"+key+"`") {
			t.Errorf("docs/profile.md says nothing about %s", key)
		}
	}
	for _, c := range Capabilities {
		if !strings.Contains(string(text), "`"+c+"`") {
			t.Errorf("docs/profile.md does not name the capability %s", c)
		}
	}
}
