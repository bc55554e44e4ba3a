package report

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadingBack(t *testing.T) {
	for name, r := range map[string]*Result{"every kind": everyKind(), "every field": fullResult()} {
		data := jsonOf(t, r)
		back, err := Read(bytes.NewReader(data))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if d := cmp.Diff(string(data), string(jsonOf(t, back))); d != "" {
			t.Errorf("%s (-written +read):\n%s", name, d)
		}
	}
}

// TestReadingOtherVersions: fields that are not known are left out, and those that an earlier
// version did not have are not missed; the summary is that of the clauses.
func TestReadingOtherVersions(t *testing.T) {
	text := `{"schema":"pugcheck.results/v1","suite":"demo","subject":{"name":"x","colour":"red"},"complete":true,"mood":{"good":1},
		"clauses":[{"id":"A1-1","verdict":"pass","weight":3}],"scenarios":[],"summary":{"fail":7}}`
	r, err := Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if r.Subject.Name != "x" || r.Summary.Pass != 1 || r.Summary.Fail != 0 || r.Standing() != Conforming || r.Clauses[0].Evidence == nil {
		t.Errorf("read %+v", r)
	}
}

func TestWhatIsNoResult(t *testing.T) {
	whole := string(jsonOf(t, everyKind()))
	swap := func(old, new string) string {
		if !strings.Contains(whole, old) {
			t.Fatalf("there is no %s", old)
		}
		return strings.Replace(whole, old, new, 1)
	}
	lines := strings.SplitAfter(whole, "\n")
	cut := strings.Join(lines[:100], "")
	for name, tc := range map[string]struct{ text, want string }{
		"nothing":              {"", "it is empty"},
		"white space":          {" \n\n", "it is empty"},
		"text":                 {"ok\tall good\n", "it is not JSON: invalid character 'o' looking for beginning of value, at byte 1, line 1"},
		"another file":         {"<testsuite>", "it is not JSON"},
		"broken in the middle": {swap(`"seed": 42,`, `"seed": 42;`), "it is not JSON: invalid character ';' after object key:value pair, at byte 283, line 18"},
		"cut":                  {cut, fmt.Sprintf("it is cut: the JSON ends at byte %d, line 101, before it is complete", len(cut))},
		"cut in a word":        {whole[:len(whole)-4], "it is cut: the JSON ends at byte"},
		"two of them":          {whole + whole, "it is not JSON: invalid character '{' after top-level value"},
		"an array":             {"[]", "it is no result of pugcheck: a JSON array instead of an object"},
		"null":                 {"null", "it is no result of pugcheck: a JSON null"},
		"other JSON":           {`{"name":"pugcheck"}`, `it is no result of pugcheck: it has no "schema", which names the version (pugcheck.results/v1)`},
		"another version":      {swap("results/v1", "results/v2"), `its schema is "pugcheck.results/v2"; this version of pugcheck reads pugcheck.results/v1`},
		"a number as version":  {`{"schema":1}`, `its schema is 1; this version of pugcheck reads pugcheck.results/v1`},
		"only a schema":        {`{"schema":"pugcheck.results/v1"}`, `it says pugcheck.results/v1, but has no "suite"`},
		"null for a list":      {`{"schema":"pugcheck.results/v1","suite":"x","subject":{},"complete":true,"clauses":null,"scenarios":[]}`, `has no "clauses"`},
		"a result of nothing":  {`{"schema":"pugcheck.results/v1","suite":"x","subject":{},"complete":true,"clauses":[],"scenarios":[]}`, "it has no clauses, so it says nothing"},
		"no suite":             {swap(`"suite": "demo"`, `"suite": ""`), `"suite" is empty`},
		"a wrong type":         {swap(`"seed": 42`, `"seed": "42"`), "seed cannot be a string, at byte 284, line 18"},
		"a type deep inside":   {swap(`"more_evidence": 3`, `"more_evidence": 3.5`), "more_evidence cannot be a number 3.5, at byte"},
		"an unknown verdict":   {swap(`"verdict": "warn",`, `"verdict": "meh",`), `clauses[3], A1.1-2: there is no verdict "meh"`},
		"unknown in evidence": {swap(`"scenario": "A1/order",
          "verdict": "pass"`, `"scenario": "A1/order",
          "verdict": "ok"`), `clauses[0].evidence[0], A1-1: there is no verdict "ok"`},
		"an unknown outcome":  {swap(`"outcome": "stopped"`, `"outcome": "gone"`), `scenarios[1], A1/empty: there is no outcome "gone"`},
		"a clause twice":      {swap(`"id": "A1.1-1"`, `"id": "A1-1"`), "clauses[2]: A1-1 stands there twice"},
		"a clause of no name": {swap(`"id": "A1.1-1"`, `"id": ""`), `clauses[2] has no "id"`},
		"a scenario twice":    {swap(`"id": "A1/empty"`, `"id": "A1/order"`), "scenarios[1]: A1/order stands there twice"},
	} {
		if _, err := Read(strings.NewReader(tc.text)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v; want %q", name, err, tc.want)
		}
		path := filepath.Join(t.TempDir(), "r.json")
		if err := os.WriteFile(path, []byte(tc.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadFile(path); err == nil || !strings.HasPrefix(err.Error(), "result "+path+": ") {
			t.Errorf("%s: %v does not begin with the file", name, err)
		}
	}
}

// TestEveryCutIsNoticed: there is no place at which the file could end unnoticed.
func TestEveryCutIsNoticed(t *testing.T) {
	whole := jsonOf(t, fullResult())
	for n := len(bytes.TrimSpace(whole)) - 1; n > 0; n -= 7 {
		if _, err := Read(bytes.NewReader(whole[:n])); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("it is cut: the JSON ends at byte %d", n)) {
			t.Fatalf("cut at byte %d of %d: %v", n, len(whole), err)
		}
	}
}

func TestFilesThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	for name, tc := range map[string]struct{ path, want string }{
		"missing":     {filepath.Join(dir, "none.json"), "result " + dir + "/none.json: no such file or directory"},
		"a directory": {dir, "result " + dir + ": it is a directory"},
	} {
		if _, err := ReadFile(tc.path); err == nil || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}
