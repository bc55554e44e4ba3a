package report

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	reader "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// sarifJSONSchema is the schema of SARIF 2.1.0 by OASIS, as the module that reads SARIF
// here carries it in its source.
var sarifJSONSchema = sync.OnceValues(func() (*jsonschema.Schema, error) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/owenrumney/go-sarif/v3").Output()
	if err != nil {
		return nil, err
	}
	file := filepath.Join(strings.TrimSpace(string(dir)), "pkg/report/v210/sarif/schema.go")
	source, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		return nil, err
	}
	text := ""
	ast.Inspect(source, func(n ast.Node) bool {
		if s, ok := n.(*ast.BasicLit); ok && s.Kind == token.STRING && len(s.Value) > len(text) {
			text = s.Value
		}
		return true
	})
	if text, err = strconv.Unquote(text); err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("sarif.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("sarif.json")
})

// invalidSARIF is what the schema has against a document.
func invalidSARIF(t *testing.T, data []byte) error {
	t.Helper()
	schema, err := sarifJSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return err
	}
	return schema.Validate(doc)
}

// read reads SARIF by a library that this package doesn't write it with.
func readSARIF(t *testing.T, data []byte) *reader.Run {
	t.Helper()
	report, err := reader.FromBytes(data, reader.WithStrictValidation())
	if err != nil || len(report.Runs) != 1 || report.Version != "2.1.0" {
		t.Fatalf("%+v, %v", report, err)
	}
	return report.Runs[0]
}

func TestSARIFGolden(t *testing.T) {
	for name, r := range map[string]*Result{"forms.sarif": everyForm(), "cut_short.sarif": cutShort(), "kept.sarif": kept()} {
		data := rendered(t, "sarif", "", name, r)
		if err := invalidSARIF(t, data); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if n := len(readSARIF(t, data).Tool.Driver.Rules); n != len(r.Clauses) {
			t.Errorf("%s: %d rules for %d clauses", name, n, len(r.Clauses))
		}
	}
	// What code scanning needs where nothing is wrong: an empty list, not none.
	var doc struct{ Runs []map[string]json.RawMessage }
	if err := json.Unmarshal(form(t, "sarif", kept()), &doc); err != nil || string(doc.Runs[0]["results"]) != "[]" {
		t.Errorf("results of a run without any: %s (%v)", doc.Runs[0]["results"], err)
	}
}

func TestSARIFSchemaBites(t *testing.T) {
	data := string(form(t, "sarif", everyForm()))
	for name, change := range map[string][2]string{
		"a level that is none":     {`"level": "error"`, `"level": "fatal"`},
		"another version":          {`"version": "2.1.0"`, `"version": "2.2.0"`},
		"an unknown field":         {`"ruleId"`, `"rule_id"`},
		"a line before all":        {`"startLine": 1`, `"startLine": 0`},
		"an address that isn't":    {`"uri": "pugcheck.yaml"`, `"uri": "a b%zz"`},
		"no name":                  {`"name": "pugcheck"`, `"title": "pugcheck"`},
		"a moment that is none":    {`"startTimeUtc": "2026`, `"startTimeUtc": "MMXXVI`},
		"a suppression of no kind": {`"kind": "external"`, `"kind": "other"`},
	} {
		broken := strings.Replace(data, change[0], change[1], 1)
		if broken == data {
			t.Errorf("%s: %s is not there", name, change[0])
		} else if invalidSARIF(t, []byte(broken)) == nil {
			t.Errorf("%s is valid", name)
		}
	}
}

// TestSARIFIsRead holds what another library reads against the result.
func TestSARIFIsRead(t *testing.T) {
	r := everyForm()
	run := readSARIF(t, form(t, "sarif", r))
	got := map[string]string{}
	prints := map[string]string{}
	for _, res := range run.Results {
		got[*res.RuleID] = res.Level
		if len(res.Suppressions) > 0 {
			got[*res.RuleID] += " suppressed: " + *res.Suppressions[0].Justification + " at " + *res.Suppressions[0].Location.PhysicalLocation.ArtifactLocation.URI
		}
		print := res.PartialFingerprints["primaryLocationLineHash"]
		if print == "" || prints[print] != "" {
			t.Errorf("%s and %s have the fingerprint %q", *res.RuleID, prints[print], print)
		}
		prints[print] = *res.RuleID
		where := res.Locations[0].PhysicalLocation
		if *where.ArtifactLocation.URI != "pugcheck.yaml" || *where.Region.StartLine != 1 {
			t.Errorf("%s is at %v", *res.RuleID, where)
		}
		if *res.RuleID == "A3-1" {
			for _, want := range []string{"A3-1 is violated (MUST): Text is kept", "Seen: ␛[31mred", "Repeat with: pugcheck demo --seed 42 --only A3/odd './my impl'"} {
				if !strings.Contains(*res.Message.Text, want) {
					t.Errorf("the message lacks %q: %s", want, *res.Message.Text)
				}
			}
			for _, not := range []string{"](", "{0}"} {
				if strings.Contains(*res.Message.Text, not) {
					t.Errorf("the message has %q, which stands for something else", not)
				}
			}
			observations := res.Properties.Properties["observations"].([]any)
			if seen := observations[0].(map[string]any)["seen"]; seen != ofSeen.excerpt(hostile) {
				t.Errorf("seen: %q", seen)
			}
			if res.Properties.Properties["repro"] != "pugcheck demo --seed 42 --only A3/odd './my impl'" || *res.Attachments[0].ArtifactLocation.URI != "artifacts/A3-odd" {
				t.Errorf("%v, %v", res.Properties.Properties["repro"], res.Attachments)
			}
		}
	}
	want := map[string]string{
		"A1-2": "error", "A1.1-1": "error", "A1.1-2": "warning", "A1.1-3": "warning", "A2-5": "note", "A2-6": "note",
		"A3-1": "error", "A3-2": "error suppressed: the store is replaced in June at known.yaml", "A3-3": "error", "A3-4": "warning",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	how := run.Invocations[0]
	if !*how.ExecutionSuccessful || *how.ExitCode != 1 || *how.ExitCodeDescription != "not-conforming" || len(how.ToolExecutionNotifications) != 1 || len(how.ToolConfigurationNotifications) != 1 {
		t.Errorf("invocation: %+v", how)
	}
	cut := readSARIF(t, form(t, "sarif", cutShort())).Invocations[0]
	if *cut.ExecutionSuccessful || *cut.ExitCode != 3 || !strings.Contains(*cut.ToolExecutionNotifications[0].Message.Text, "the run: it was interrupted after 1 of 9 scenarios") {
		t.Errorf("invocation of a run that was cut short: %+v", cut)
	}
	for _, rule := range run.Tool.Driver.Rules {
		if *rule.ID == "A3-1" && (*rule.Help.Text != "What is demanded: Text is kept | as `it` is, <whatever> it says.\n\nHow it is judged: By *comparing* it." || !strings.Contains(*rule.Help.Markdown, `By \*comparing\* it.`)) {
			t.Errorf("help: %q, %q", *rule.Help.Text, *rule.Help.Markdown)
		}
	}
}

// TestSARIFKnowsAgain: what was seen, and by which seed, makes no other alert.
func TestSARIFKnowsAgain(t *testing.T) {
	r := everyForm()
	first := readSARIF(t, form(t, "sarif", r)).Results[0]
	r.Seed, r.Clauses[1].Evidence = 43, []Evidence{{Scenario: "A2/names", Verdict: Fail, Seen: "something else"}}
	again := readSARIF(t, form(t, "sarif", r)).Results[0]
	if d := cmp.Diff(first.PartialFingerprints, again.PartialFingerprints); d != "" || *first.Message.Text == *again.Message.Text {
		t.Error(d)
	}
}

func TestSARIFPlace(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for want, r := range map[string]Result{
		"conf/pug%20check.yaml":    {Profile: Profile{File: "conf/pug check.yaml"}, Subject: Subject{Command: []string{"./x"}}},
		"testdata/forms.md":        {Profile: Profile{File: filepath.Join(here, "testdata", "forms.md")}},
		"file:///elsewhere/p.yaml": {Profile: Profile{File: "/elsewhere/p.yaml"}},
		"bin/impl":                 {Subject: Subject{Command: []string{"./bin/impl", "--flag"}}},
		"agent.py":                 {Subject: Subject{Command: []string{"python3", "-u", "agent.py"}}},
		"src/run.sh":               {Subject: Subject{Command: []string{"/usr/bin/env", "bash", "--rcfile=/x", "src/run.sh", "other.sh"}}},
		noPlace:                    {Subject: Subject{Command: []string{"/opt/impl", "--url", "http://127.0.0.1/x.y"}}},
		"./a:b/c":                  {Subject: Subject{Command: []string{"a:b/c"}}},
	} {
		if got := r.place(); got != want {
			t.Errorf("%v is at %q, not %q", r.Subject.Command, got, want)
		}
	}
}
