package compare

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pugcheck/pugcheck/harness/page"
	"github.com/pugcheck/pugcheck/harness/report"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); d != "" {
		t.Errorf("%s (-want +got; -update accepts):\n%s", name, d)
	}
}

// clause is one with evidence for its verdict.
func clause(id, section, level string, v report.Verdict, seen string) report.Clause {
	c := report.Clause{ID: id, Section: section, Level: level, Basis: "stated", Verdict: v, Requirement: "What " + id + " demands: a | b, <c> & `d`.", Scenarios: []string{section + "/one"}}
	switch v {
	case report.NotExercised, report.Error, report.Untestable, report.NotJudged:
		c.Reason = seen
	default:
		c.Evidence = []report.Evidence{{Scenario: section + "/one", Verdict: v, Acceptable: "the acceptable outcome", Seen: seen, Where: "demo/one.go:7"}}
	}
	if v == report.Unstable {
		c.Runs, c.Evidence[0].Verdict = []report.Verdict{report.Pass, report.Fail}, report.Fail
	}
	return c
}

// result is one run of a small suite.
func result(name string, clauses ...report.Clause) *report.Result {
	r := &report.Result{
		Schema: report.Schema, Suite: "demo", Specification: "demo v1", Subject: report.Subject{Name: name, Command: []string{name}}, Complete: true,
		Started: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Seed: 42, Versions: map[string]string{"pugcheck": "v1", "catalogue": "aa"},
		Sections: []report.Section{{ID: "A1", Title: "order of records"}, {ID: "A2", Title: "names & <numbers>"}},
		Clauses:  clauses,
		Scenarios: []report.Scenario{
			{ID: "A1/one", Title: "records", Outcome: "completed", Repro: "pugcheck demo --seed 42 --only A1/one " + name},
			{ID: "A2/one", Title: "names", Outcome: "completed", Repro: "pugcheck demo --seed 42 --only A2/one " + name},
		},
	}
	r.Count()
	return r
}

func before() *report.Result {
	return result("./acme",
		clause("A1-1", "A1", "MUST", report.Pass, ""),
		clause("A1-2", "A1", "MUST", report.Pass, ""),
		clause("A1-3", "A1", "SHOULD", report.Pass, ""),
		clause("A1-4", "A1", "MUST", report.Fail, "it was three"),
		clause("A1-5", "A1", "MUST", report.Fail, "it was four"),
		clause("A2-1", "A2", "MUST", report.Pass, ""),
		clause("A2-2", "A2", "MUST", report.Pass, ""),
		clause("A2-3", "A2", "MUST", report.Pass, ""),
		clause("A2-4", "A2", "MUST", report.Pass, ""),
		clause("A2-5", "A2", "MUST", report.Warn, "an odd one"),
		clause("A2-6", "A2", "MUST NOT", report.Pass, ""),
	)
}

func after() *report.Result {
	known := clause("A2-3", "A2", "MUST", report.Fail, "as is known")
	known.Known = "being mended in the next release"
	r := result("./acme",
		clause("A1-1", "A1", "MUST", report.Fail, "Expected\n    <string>: a|b\nto equal\n    <string>: ```c```"),
		clause("A1-2", "A1", "MUST", report.Unstable, "two of three runs"),
		clause("A1-3", "A1", "SHOULD", report.Warn, "none"),
		clause("A1-4", "A1", "MUST", report.Pass, ""),
		clause("A1-5", "A1", "MUST", report.Fail, "it was four"),
		clause("A2-1", "A2", "MUST", report.NotExercised, "it never asked for a name"),
		clause("A2-2", "A2", "MUST", report.Error, "port in use"),
		known,
		clause("A2-4", "A2", "MUST", report.Pass, ""),
		clause("A2-5", "A2", "MUST", report.Pass, ""),
		clause("A2-7", "A2", "MAY", report.Pass, ""),
		clause("A2-8", "A2", "MUST", report.Fail, "new and bad"),
	)
	r.Versions = map[string]string{"pugcheck": "v2", "catalogue": "bb"}
	r.Profile.Strict = true
	return r
}

func TestDiffGolden(t *testing.T) {
	d := report.Compare(before(), after())
	for _, tc := range []struct {
		name    string
		width   int
		verbose bool
	}{{"diff.txt", 100, false}, {"diff_narrow.txt", 50, true}} {
		var b strings.Builder
		if err := (Terminal{Layout: page.Layout{Width: tc.width}, Verbose: tc.verbose}).WriteDiff(&b, d); err != nil {
			t.Fatal(err)
		}
		golden(t, tc.name, b.String())
	}
	for _, format := range DiffFormats {
		data, err := RenderDiff(d, format)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, "diff."+format, string(data))
	}
	if _, err := RenderDiff(d, "html"); err == nil {
		t.Error("an unknown format is rendered")
	}
	var b strings.Builder
	if err := (Terminal{}).WriteDiff(&b, report.Compare(before(), before())); err != nil {
		t.Fatal(err)
	}
	golden(t, "diff_none.txt", b.String())
}

func TestDiffAsJSONSaysAll(t *testing.T) {
	d := report.Compare(before(), after())
	data, err := RenderDiff(d, "json")
	if err != nil {
		t.Fatal(err)
	}
	var back report.Diff
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(d, &back); diff != "" {
		t.Error(diff)
	}
	if strings.Contains(string(data), "null") {
		t.Error("a list is null")
	}
}

// three are implementations of which one covers another part, and one is partial.
func three() []Source {
	other := result("./bolt",
		clause("A1-1", "A1", "MUST", report.Pass, ""),
		clause("A1-2", "A1", "MUST", report.Pass, ""),
		clause("A1-3", "A1", "SHOULD", report.Pass, ""),
		clause("A3-1", "A3", "MUST", report.Fail, "<script>alert(1)</script> | `x`"),
	)
	other.Sections = []report.Section{other.Sections[0], {ID: "A3", Title: "ends"}}
	other.Requirements.Set = "v1.0"
	other.Complete, other.Incomplete = false, "it was interrupted after 2 of 3 scenarios"
	return []Source{{"results/before.json", before()}, {"results/after.json", after()}, {"results/bolt.json", other}}
}

func TestMatrixGolden(t *testing.T) {
	m := NewMatrix(three())
	for _, tc := range []struct {
		name    string
		width   int
		verbose bool
	}{{"matrix.txt", 100, false}, {"matrix_verbose.txt", 80, true}} {
		var b strings.Builder
		if err := (Terminal{Layout: page.Layout{Width: tc.width}, Verbose: tc.verbose}).WriteMatrix(&b, m); err != nil {
			t.Fatal(err)
		}
		golden(t, tc.name, b.String())
	}
	for _, format := range MatrixFormats {
		data, err := RenderMatrix(m, format)
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		if at := strings.Index(text, "<main>"); at > 0 { // above it stands what every document has
			text = text[at:]
		}
		golden(t, "matrix."+format, text)
	}
	if _, err := RenderMatrix(m, "json"); err == nil {
		t.Error("an unknown format is rendered")
	}
}

// TestMatrixCounts: the rows add up, and every row has a cell for every column.
func TestMatrixCounts(t *testing.T) {
	m := NewMatrix(three())
	sum, clauses := make([]Cell, 3), 0
	var order []string
	for _, s := range m.Sections {
		order = append(order, s.ID)
		clauses += len(s.Clauses)
		for i, c := range s.Cells {
			sum[i].Pass += c.Pass
			sum[i].Clauses += c.Clauses
			if c.Worst.Gravity() > sum[i].Worst.Gravity() {
				sum[i].Worst = c.Worst
			}
		}
		for _, c := range s.Clauses {
			if len(c.Cells) != 3 || c.Level == "" || c.Requirement == "" {
				t.Errorf("%+v", c)
			}
		}
	}
	if d := cmp.Diff(m.Total, sum); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Cell{{8, 11, report.Fail}, {4, 12, report.Fail}, {3, 4, report.Fail}}, sum); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"A1", "A3", "A2"}, order); d != "" {
		t.Error(d)
	}
	if clauses != 14 {
		t.Errorf("%d clauses", clauses)
	}
	labels := []string{m.Columns[0].Label, m.Columns[1].Label, m.Columns[2].Label}
	if d := cmp.Diff([]string{"./acme (before.json)", "./acme (after.json)", "./bolt"}, labels); d != "" {
		t.Error(d)
	}
}

func TestMerge(t *testing.T) {
	for _, tc := range []struct{ a, b, want string }{
		{"", "a b", "a b"},
		{"a b", "", "a b"},
		{"a c", "a b c", "a b c"},
		{"b", "a b c", "a b c"},
		{"a b", "x y", "x y a b"},
		{"a b c", "c a x", "a x b c"},
	} {
		if got := strings.Join(merge(strings.Fields(tc.a), strings.Fields(tc.b)), " "); got != tc.want {
			t.Errorf("%q and %q: %q, want %q", tc.a, tc.b, got, tc.want)
		}
	}
}

// TestForeignTextIsNoMarkup: what a subject wrote stays text in every form.
func TestForeignTextIsNoMarkup(t *testing.T) {
	m := NewMatrix(three())
	for _, format := range MatrixFormats {
		data, err := RenderMatrix(m, format)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(data), `\<`, "&lt;") // as Markdown escapes it
		if strings.Contains(text, "<script") || !strings.Contains(text, "&lt;script") {
			t.Errorf("%s: markup of the subject, or none of its text", format)
		}
		for line := range strings.SplitSeq(string(data), "\n") {
			if format != "markdown" || !strings.HasPrefix(line, "| ") {
				continue
			}
			cells := strings.Count(line, "|") - strings.Count(line, `\|`)
			if cells != 5 {
				t.Errorf("a row of %d columns: %s", cells-1, line)
			}
		}
	}
	d, err := RenderDiff(report.Compare(before(), after()), "markdown")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(d), "````text\nExpected\n") {
		t.Error("a fence that the text can close")
	}
}

// TestMatrixNeedsNothingElse: the page has no scripts and fetches nothing.
func TestMatrixNeedsNothingElse(t *testing.T) {
	data, err := RenderMatrix(NewMatrix(three()), "html")
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"<script", "http:", "https:", "src=", "@import", "url(", "ZgotmplZ"} {
		if strings.Contains(string(data), word) {
			t.Errorf("there is %q in it", word)
		}
	}
}
