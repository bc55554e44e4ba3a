package defects

import (
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pugcheck/pugcheck/conformance/pugmark"
	"github.com/pugcheck/pugcheck/conformance/pugmark/runtime"
	"github.com/pugcheck/pugcheck/harness/report"
)

// TestEveryVariantPasses is the proof that the suite can pass what is right: no
// variant fails anything, and none is warned of beyond what it departs from.
func TestEveryVariantPasses(t *testing.T) {
	for i, v := range Variants() {
		if i%4 != 0 && !everything() {
			continue
		}
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			selectors := v.selectors()
			if *whole && !v.Only {
				selectors = nil
			}
			result, status, output, err := judgeWith(t.Context(), v.Name, v.Profile, selectors...)
			if err != nil {
				t.Fatalf("%v\n%s", err, output)
			}
			if problems := v.problems(result, status); len(problems) > 0 {
				t.Errorf("%s (%s; permitted by %s)\n  %s\n  repeat: %s\n%s", v.Name, v.What, strings.Join(v.Permits, " "), strings.Join(problems, "\n  "), repro(v.Name, selectors...), v.pugcheckYAML())
			}
		})
	}
}

// judged are the clauses that some scenario judges.
var judged = sync.OnceValue(runtime.Index)

// selectors are those that a variant is judged by: what it touches, and the sample.
func (v Variant) selectors() []string {
	if v.Only {
		return v.On
	}
	var out []string
	for _, id := range v.Permits {
		if len(judged()[id]) > 0 {
			out = append(out, id)
		}
	}
	return slices.Concat(out, v.On, slices.Sorted(maps.Keys(v.Warns)), sample)
}

// permission tells whether there is a clause or reading of that ID; Q: and a
// clause's ID is the reading that answers the question there.
func permission(id string) bool {
	clause, isQuestion := strings.CutPrefix(id, "Q:")
	if c, ok := pugmark.Catalogue().Clause(clause); ok {
		return !isQuestion || c.Question != ""
	}
	_, ok := pugmark.Catalogue().Reading(id)
	return ok
}

// pugcheckYAML is the profile to repeat a run with.
func (v Variant) pugcheckYAML() string {
	if v.Profile == "" {
		return ""
	}
	return "with this pugcheck.yaml:\n" + v.Profile
}

// problems says in what a result is not that of a conforming runtime.
func (v Variant) problems(result report.Result, status int) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if !result.Complete {
		add("the run is incomplete: %s", result.Incomplete)
	}
	if status != 0 {
		add("exit status %d, want 0", status)
	}
	for _, c := range result.Clauses {
		expected := v.Warns[c.ID] != ""
		switch {
		case c.Verdict == report.Error:
			add("SUITE BROKE: %s %s%s", c.ID, c.Reason, seen(c))
		case c.Verdict == report.Fail, c.Verdict == report.Warn && !expected && v.Perhaps[c.ID] == "":
			add("FALSELY ACCUSED: %s is %s%s", c.ID, c.Verdict, seen(c))
		case c.Verdict == report.NotExercised && v.Silent[c.ID] == "" && c.ID != "S6.2-7": // a note, which the re-encoding takes away
			add("GIVEN UP: %s is %s: %s", c.ID, c.Verdict, c.Reason)
		case expected && c.Verdict != report.Warn:
			add("NO WARNING: %s is %s, though %s", c.ID, c.Verdict, v.Warns[c.ID])
		}
	}
	for id := range v.Warns {
		if !slices.ContainsFunc(result.Clauses, func(c report.Clause) bool { return c.ID == id }) {
			add("NO WARNING: %s was not judged", id)
		}
	}
	return out
}

// TestVariantsAndProgramAgree: what is listed can be composed, and what can be
// composed is listed.
func TestVariantsAndProgramAgree(t *testing.T) {
	if err := programs(); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(filepath.Join(scratch, "faulty"), "--variants").Output()
	if err != nil {
		t.Fatal(err)
	}
	var program, listed []string
	if err := json.Unmarshal(out, &program); err != nil {
		t.Fatal(err)
	}
	for _, v := range Variants() {
		listed = append(listed, v.Name)
	}
	slices.Sort(listed)
	slices.Sort(program)
	if diff := cmp.Diff(program, listed); diff != "" {
		t.Errorf("the variants of cmd/faulty (-) and those listed here (+) differ:\n%s", diff)
	}
}

// TestVariantsAreSound: what permits a variant exists, and so does what it warns of.
func TestVariantsAreSound(t *testing.T) {
	for _, v := range Variants() {
		if len(v.Permits) == 0 || v.What == "" || v.Only && len(v.On) == 0 {
			t.Errorf("%s: needs what permits it and what it does in words", v.Name)
		}
		for _, id := range v.Permits {
			if !permission(id) {
				t.Errorf("%s: there is no clause or reading %s", v.Name, id)
			}
		}
		for id, reason := range merged(v.Warns, v.Perhaps, v.Silent) {
			if len(judged()[id]) == 0 || len(reason) < 10 {
				t.Errorf("%s: %s for %q", v.Name, id, reason)
			}
		}
	}
}

func merged(all ...map[string]string) map[string]string {
	out := map[string]string{}
	for _, one := range all {
		maps.Copy(out, one)
	}
	return out
}

// TestAccusationsAreSeen proves that the judgement above can fail itself.
func TestAccusationsAreSeen(t *testing.T) {
	v := Variant{Name: "x", Warns: map[string]string{"P1-1": "a reason"}, Perhaps: map[string]string{"P1-3": "another one"}, Silent: map[string]string{"P1-4": "a third one"}}
	warned := report.Clause{ID: "P1-1", Verdict: report.Warn}
	for name, c := range map[string]struct {
		clauses []report.Clause
		status  int
		want    string
	}{
		"as expected":         {[]report.Clause{warned, {ID: "P1-2", Verdict: report.Pass}}, 0, ""},
		"fails":               {[]report.Clause{warned, {ID: "P1-2", Verdict: report.Fail}}, 1, "FALSELY ACCUSED: P1-2"},
		"fails for warns":     {[]report.Clause{{ID: "P1-1", Verdict: report.Fail}}, 1, "FALSELY ACCUSED: P1-1"},
		"warns of more":       {[]report.Clause{warned, {ID: "P1-2", Verdict: report.Warn}}, 0, "FALSELY ACCUSED: P1-2"},
		"warns by chance":     {[]report.Clause{warned, {ID: "P1-3", Verdict: report.Warn}}, 0, ""},
		"fails by chance":     {[]report.Clause{warned, {ID: "P1-3", Verdict: report.Fail}}, 1, "FALSELY ACCUSED: P1-3"},
		"shows nothing":       {[]report.Clause{warned, {ID: "P1-4", Verdict: report.NotExercised}}, 0, ""},
		"is given up":         {[]report.Clause{warned, {ID: "P1-2", Verdict: report.NotExercised}}, 0, "GIVEN UP: P1-2"},
		"does not warn":       {[]report.Clause{{ID: "P1-1", Verdict: report.Pass}}, 0, "NO WARNING: P1-1 is pass"},
		"is not judged":       {nil, 0, "NO WARNING: P1-1 was not judged"},
		"trouble":             {[]report.Clause{warned, {ID: "P1-2", Verdict: report.Error}}, 3, "SUITE BROKE"},
		"another exit status": {[]report.Clause{warned}, 3, "exit status 3"},
	} {
		got := strings.Join(v.problems(report.Result{Complete: true, Clauses: c.clauses}, c.status), "\n")
		if !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%s: problems %q, want %q", name, got, c.want)
		}
	}
}
