package defects

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pugcheck/pugcheck/conformance"
	"github.com/pugcheck/pugcheck/conformance/catalogue"
	"github.com/pugcheck/pugcheck/conformance/pugmark"
	"github.com/pugcheck/pugcheck/conformance/pugmark/runtime"
	"github.com/pugcheck/pugcheck/harness/report"
)

// TestListAndProgramAgree: what is listed can be put in, and what can be put in is
// listed.
func TestListAndProgramAgree(t *testing.T) {
	if err := programs(); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(filepath.Join(scratch, "faulty"), "--list").Output()
	if err != nil {
		t.Fatal(err)
	}
	var program []string
	if err := json.Unmarshal(out, &program); err != nil {
		t.Fatal(err)
	}
	listed := []string{"none"}
	for _, d := range All() {
		listed = append(listed, d.Name)
	}
	slices.Sort(listed)
	slices.Sort(program)
	if diff := cmp.Diff(program, listed); diff != "" {
		t.Errorf("the faults of cmd/faulty (-) and those listed here (+) differ:\n%s", diff)
	}
}

// TestListIsSound: each clause exists and is judged, the verdict is one that its
// level leads to, and nothing is left unsaid.
func TestListIsSound(t *testing.T) {
	index := runtime.Index()
	for _, d := range All() {
		c, ok := pugmark.Catalogue().Clause(d.Clause)
		if !ok {
			t.Errorf("%s: there is no clause %s", d.Name, d.Clause)
			continue
		}
		if len(index[d.Clause]) == 0 {
			t.Errorf("%s: no scenario judges %s", d.Name, d.Clause)
		}
		hardest := conformance.SeverityOf(string(c.Level), string(c.Basis))
		if d.Verdict != report.Fail && d.Verdict != report.Warn || d.Verdict == report.Fail && hardest != report.Fail {
			t.Errorf("%s: the verdict cannot be %q, since %s is %s and %s", d.Name, d.Verdict, d.Clause, c.Level, c.Basis)
		}
		if d.Fault == "" || len(d.Message) < 4 {
			t.Errorf("%s: needs a fault in words and a message that names it", d.Name)
		}
		for id, reason := range d.Beside {
			if _, ok := pugmark.Catalogue().Clause(id); !ok || id == d.Clause || len(reason) < 10 {
				t.Errorf("%s: %s beside it for %q", d.Name, id, reason)
			}
		}
	}
}

// TestOrder keeps the list in the order of the text.
func TestOrder(t *testing.T) {
	place := map[string]int{}
	for i, id := range pugmark.Catalogue().ClauseIDs() {
		place[id] = i
	}
	before := Defect{}
	for _, d := range All() {
		if place[d.Clause] < place[before.Clause] {
			t.Errorf("%s (%s) stands behind %s (%s)", d.Name, d.Clause, before.Name, before.Clause)
		}
		before = d
	}
}

// uncovered are the judged MUST and MUST NOT clauses that no defect names.
func uncovered() []string {
	index, named := runtime.Index(), map[string]bool{}
	for _, d := range All() {
		named[d.Clause] = true
	}
	var out []string
	for _, c := range pugmark.Catalogue().Clauses() {
		must := c.Level == catalogue.Must || c.Level == catalogue.MustNot
		if must && len(index[c.ID]) > 0 && !named[c.ID] {
			out = append(out, c.ID)
		}
	}
	return out
}
