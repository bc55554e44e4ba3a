package report

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// hostile is text that means something in one form or another.
const hostile = "\x1b[31mred\x1b[0m \x00\x07 \u202eback\ufffe \xff ]]> <script>alert(1)</script> &amp; | a | b | ``` ~~~ # not a directive\r\nok 99 - no test point\n[link](https://example.invalid) {0} {{1}} \\ \"quoted\" 'single' ${{ x }} @someone #12 *bold* _under_ %0A::error::x\n  ...\n  ---\n# heading\n</details>"

// everyForm is a result with all that a form has to cope with: each verdict and each way
// to it, failures that are known, unstable, or listed and gone, evidence of every size, and
// texts that try to be something else.
func everyForm() *Result {
	r := everyKind()
	at := time.Date(2026, 3, 1, 12, 0, 1, 0, time.UTC)
	var long strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&long, "line %d of the evidence\n", i+1)
	}
	repro := func(id string) string { return "pugcheck demo --seed 42 --only " + id + " './my impl'" }
	r.Subject.Transports = []string{"subprocess", "http"}
	r.Requirements = Requirements{Set: "v1.0", Digest: strings.Repeat("0a", 32), Clauses: 17}
	r.Repeats = 3
	r.Sections = append(r.Sections, Section{"A3", "texts | of `every` kind"})
	r.Known = &KnownFailures{File: "known.yaml", Entries: []KnownFailure{
		{Clause: "A3-2", Verdict: Fail, Reason: "the store is replaced in June", Messages: []string{"no record"}, Line: 3, LastLine: 6, Covers: []string{"A3-2"}, State: KnownHolds},
		{Clause: "A1-1", Verdict: Fail, Reason: "slow disk", Messages: []string{"c, b"}, Line: 7, LastLine: 9, State: KnownPasses, Advice: "A1-1 passes; remove lines 7 to 9"},
		{Capability: "http", Verdict: Fail, Reason: "not built in", Messages: []string{"404"}, Line: 10, LastLine: 12, State: KnownOutside, Advice: "http was left out"},
	}}
	r.Clauses = append(r.Clauses,
		Clause{ID: "A3-1", Section: "A3", Level: "MUST", Basis: "stated", Verdict: Fail, Requirement: "Text is kept | as `it` is, <whatever> it says.", Check: "By *comparing* it.",
			Scenarios: []string{"A3/odd", "A3/long", "A3/silent", "A3/late"}, MoreEvidence: 7,
			Evidence: []Evidence{
				{Scenario: "A3/odd", Verdict: Fail, Acceptable: hostile, Seen: hostile, Where: "demo/a3.go:9", Runs: []int{1, 2}},
				{Scenario: "A3/long", Verdict: Fail, Acceptable: "one line", Seen: long.String() + strings.Repeat("x", 40_000)},
			},
			PerScenario: map[string]Verdict{"A3/odd": Fail, "A3/long": Fail, "A3/late": Fail}},
		Clause{ID: "A3-2", Section: "A3", Level: "MUST", Basis: "stated", Verdict: Fail, Known: "the store is replaced in June", Requirement: "A record is written.", Scenarios: []string{"A3/odd", "A3/late"},
			Evidence: []Evidence{
				{Scenario: "A3/odd", Verdict: Fail, Acceptable: "one record", Seen: "no record"},
				{Scenario: "A3/late", Verdict: Pass, Acceptable: "one record", Seen: "one record"},
			}},
		Clause{ID: "A3-3", Section: "A3", Level: "MUST", Basis: "stated", Verdict: Unstable, Reason: "it passes in 2 of 3 runs, and fails in 1", Runs: []Verdict{Pass, Fail, Pass}, Requirement: "It ends.", Scenarios: []string{"A3/late"},
			Evidence: []Evidence{{Scenario: "A3/late", Verdict: Fail, Acceptable: "an end", Seen: "it ran on after 2s", Runs: []int{2}}}},
		Clause{ID: "A3-4", Section: "A3", Level: "SHOULD", Basis: "stated", Verdict: Unstable, Reason: "it passes in 2 of 3 runs, and warns in 1", Runs: []Verdict{Pass, Warn, Pass}, Requirement: "It ends soon.", Scenarios: []string{"A3/late"},
			Evidence: []Evidence{{Scenario: "A3/late", Verdict: Warn, Acceptable: "an end within 1s", Seen: "1.5s", Runs: []int{2}}}},
		Clause{ID: "A3-5", Section: "A3", Level: "MUST", Basis: "stated", Verdict: NotExercised, Reason: "the subject ended first", Requirement: "It says goodbye.", Scenarios: []string{"A3/silent", "A2/http"}},
	)
	r.Scenarios = append(r.Scenarios,
		Scenario{ID: "A3/odd", Title: "odd \x07 texts", Clauses: []string{"A3-1", "A3-2"}, Outcome: "completed", Repro: repro("A3/odd"), Started: at, Timing: Timing{12, 8, 4, 2},
			Trace: []Block{{"stream | of the subject", hostile}}, Artifacts: "artifacts/A3-odd"},
		Scenario{ID: "A3/long", Title: "long texts", Clauses: []string{"A3-1"}, Outcome: "completed", Repro: repro("A3/long"), Started: at, Timing: Timing{13, 8, 5, 2}, Trace: []Block{{"stderr", long.String()}}},
		Scenario{ID: "A3/silent", Title: "nothing comes", Clauses: []string{"A3-1", "A3-5"}, Outcome: "stopped", Reason: "it ended", Repro: repro("A3/silent"), Started: at, Timing: Timing{14, 8, 6, 2}},
		Scenario{ID: "A3/late", Title: "it comes late", Clauses: []string{"A3-2", "A3-3", "A3-4"}, Outcome: "completed", Repro: repro("A3/late"), Run: 2, Started: at, Timing: Timing{15, 8, 7, 2},
			Timeline: []Event{{AtMS: 0.25, Lane: "suite", Text: "starts the subject"}, {AtMS: 14.5, Lane: "subject", Text: "ends", Detail: "exit status 0"}}},
		Scenario{ID: "A3/cleanup", Title: "files are left", Clauses: []string{"A3-1"}, Outcome: "error", Reason: "removing /tmp/x: permission denied", Repro: repro("A3/cleanup"), Started: at, Timing: Timing{1, 0, 1, 1}},
	)
	r.Count()
	return r
}

// cutShort is a run that ended early, of a subject that did not get through the first
// scenario.
func cutShort() *Result {
	r := everyForm()
	r.Complete, r.Incomplete, r.Known = false, "it was interrupted after 1 of 9 scenarios", nil
	r.Blocked = "the subject ended (exit status 1) \x1b[1mwithout\x1b[0m doing anything # at all"
	r.Clauses = []Clause{r.Clauses[1], r.Clauses[5], r.Clauses[8]}
	r.Scenarios = []Scenario{r.Scenarios[0], r.Scenarios[1], r.Scenarios[4]}
	r.Scenarios[1].Outcome, r.Scenarios[1].Reason = "not-run", "the run was interrupted"
	r.Count()
	return r
}

// kept is a result in which nothing is wrong.
func kept() *Result {
	r := everyForm()
	r.Clauses, r.Scenarios, r.Known = r.Clauses[:1], r.Scenarios[:1], nil
	r.Scenarios[0].Trace = nil
	r.Count()
	return r
}

// rendered is a result in a form, held against its golden file.
func rendered(t *testing.T, format, path, name string, r *Result) []byte {
	t.Helper()
	before, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	data, err := Render(r, format, path)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, name, string(data))
	if again, err := Render(r, format, path); err != nil || string(again) != string(data) {
		t.Errorf("%s: two renderings differ (%v)", name, err)
	}
	if after, err := r.JSON(); err != nil || string(after) != string(before) {
		t.Errorf("%s: the renderer changed the result (%v)", name, err)
	}
	return data
}

// form is a result in a form.
func form(t *testing.T, format string, r *Result) []byte {
	t.Helper()
	data, err := Render(r, format, "")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestEveryFormOfLittle renders what has hardly anything in it, which a crash leaves.
func TestEveryFormOfLittle(t *testing.T) {
	for _, r := range []*Result{
		{}, {Clauses: []Clause{{}}, Scenarios: []Scenario{{}}},
		{Suite: "x", Clauses: []Clause{{ID: "A", Verdict: Fail, Scenarios: []string{"gone"}, Evidence: []Evidence{{Scenario: "gone", Verdict: Fail}}}}},
	} {
		for _, format := range Formats {
			if data, err := Render(r, format, "x."+format); err != nil || len(data) == 0 {
				t.Errorf("%s of %v: %d bytes, %v", format, r, len(data), err)
			}
		}
	}
}
