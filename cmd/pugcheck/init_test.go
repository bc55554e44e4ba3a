package main

import (
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/pugcheck/pugcheck/conformance/profile"
	"github.com/pugcheck/pugcheck/conformance/pugmark"
	"github.com/pugcheck/pugcheck/harness/subject"
)

// TestInitFiles: what init writes is loaded as what was answered, whatever is in a command,
// and the workflows are valid.
func TestInitFiles(t *testing.T) {
	for _, a := range []implementation{
		{Kind: "runtime", Command: "./impl", CI: "github"},
		{Kind: "runtime", Command: `'my impl' "--x=a: b" '#1' "it's" 'two  blanks' null ~ 8080 true '{session}' [a] - '' 'é' "\"" '` + strings.Repeat("long ", 60) + `'`, Without: []string{"http", "log"}, CI: "github"},
		{Kind: "runtime", Command: "./impl", CI: "gitlab"},
		{Kind: "handler", Command: "python3 agent.py --mode 'x: y'", CI: "github"},
		{Kind: "handler", URL: "http://127.0.0.1:8080/a?b=c#d", CI: "github"},
		{Kind: "handler", URL: "http://127.0.0.1:8080/", CI: "gitlab"},
	} {
		t.Chdir(t.TempDir())
		if err := a.check(); err != nil {
			t.Fatal(err)
		}
		written, err := writeInit(a, false)
		if err != nil {
			t.Fatal(err)
		}
		p, err := profile.Load("")
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		if a.Command != "" {
			if want, err = subject.SplitCommand(a.Command); err != nil {
				t.Fatal(err)
			}
		}
		got := p.Runtime.Command
		if a.Kind == "handler" {
			got = p.Handler.Command
		}
		if !slices.Equal(got, want) || p.Handler.URL != a.URL || !slices.Equal(p.Runtime.Without, a.Without) && len(a.Without) > 0 {
			t.Errorf("%+v\nis loaded as %q, %q, without %v", a, got, p.Handler.URL, p.Runtime.Without)
		}
		if sets := pugmark.RequirementSets(); p.Requirements != sets[len(sets)-1] {
			t.Errorf("requirements %q, of %v", p.Requirements, sets)
		}
		if len(written) != 2 {
			t.Fatalf("%d files", len(written))
		}
		if a.CI == "github" {
			lintWorkflow(t, written[1].text)
			lintWorkflow(t, strings.Replace(written[1].text, "pugcheck/pugcheck@main", "./", 1)) // against action.yml
		} else {
			declared := gitlabJob(t).Variables
			var file struct {
				Include     []map[string]string
				Conformance struct {
					Extends   string
					Variables map[string]string
				}
			}
			if err := yaml.Unmarshal([]byte(written[1].text), &file); err != nil || file.Conformance.Extends != ".pugcheck" || !strings.HasSuffix(file.Include[0]["remote"], "/ci/pugcheck.gitlab-ci.yml") {
				t.Errorf("%v %+v", err, file)
			}
			for name := range file.Conformance.Variables {
				if _, ok := declared[name]; !ok {
					t.Errorf("the job does not know %s", name)
				}
			}
		}
		// What stands in comments can be taken into use.
		if _, err := profile.Parse("commented.yaml", []byte(uncommented(written[0].text))); err != nil {
			t.Errorf("%v\n%s", err, uncommented(written[0].text))
		}
	}
}

// uncommented is a profile with every commented key taken into use.
func uncommented(text string) string {
	var b strings.Builder
	for _, line := range strings.SplitAfter(text, "\n") {
		at := strings.Index(line, "# ")
		if at >= 0 && strings.TrimSpace(line[:at]) == "" {
			key, _, ok := strings.Cut(strings.TrimSpace(line[at+2:]), ":")
			if ok && !strings.ContainsAny(key, " /") && key != "" && strings.ToLower(key) == key {
				line = line[:at] + line[at+2:]
			}
		}
		b.WriteString(line)
	}
	return b.String()
}

func TestRefOfPugcheck(t *testing.T) {
	for version, want := range map[string]string{
		"v1.2.3": "v1.2.3", "(devel)": "main", "": "main", "v0.0.0-20260101000000-abcdefabcdef": "main", "v1.2.3-rc.1": "main", "v1.2.3+dirty": "main",
	} {
		if got := refOfPugcheck(version); got != want {
			t.Errorf("%q: %s, want %s", version, got, want)
		}
	}
}

// TestInitQuestions: what is asked depends on what flags and earlier answers say, and the
// first question is always shown.
func TestInitQuestions(t *testing.T) {
	for _, c := range []struct {
		given        implementation
		without      bool
		kind, by     string // answers
		asked, shown int
	}{
		{implementation{}, false, "runtime", "command", 6, 4},
		{implementation{}, false, "handler", "command", 6, 4},
		{implementation{}, false, "handler", "url", 6, 4},
		{implementation{Kind: "runtime"}, true, "runtime", "command", 2, 2},
		{implementation{Kind: "handler", CI: "none"}, false, "handler", "url", 3, 2},
		{implementation{Kind: "handler", Command: "x"}, false, "handler", "command", 1, 1},
	} {
		a, by := c.given, "command"
		list := a.questions(func(string) bool { return c.without }, &by)
		if len(list) != c.asked || list[0].hidden() {
			t.Errorf("%+v: %d questions, want %d, the first of them shown", c, len(list), c.asked)
		}
		a.Kind, by = c.kind, c.by
		shown := 0
		for _, q := range list {
			if !q.hidden() {
				shown++
			}
		}
		if shown != c.shown {
			t.Errorf("%+v: %d shown", c, shown)
		}
	}
}
