package known

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pugcheck/pugcheck/harness/report"
)

func TestBaseline(t *testing.T) {
	r := result(
		failing("A1-1",
			fail("A1/a", "session 0192aabbccddeeff0192aabbccddeeff holds 3 objects that nobody wrote"),
			fail("A1/a@http", "session ffeeaabbccddeeff0192aabbccddee00 holds 4 objects that nobody wrote"),
			fail("A1/a@http", "exit status 5 after 1.2s: no route")),
		report.Clause{ID: "A2-1", Verdict: report.Unstable, Runs: []report.Verdict{report.Pass, report.Fail}, Evidence: []report.Evidence{fail("A2/b", "77")}},
		report.Clause{ID: "A9-1", Verdict: report.Warn, Evidence: []report.Evidence{{Scenario: "A2/b", Verdict: report.Warn, Seen: "a warning"}}},
	)
	b := Baseline{Result: r, Suite: suite, Source: "out.json"}
	text, changes, err := b.Write()
	if err != nil {
		t.Fatal(err)
	}
	want := `# Failures of ./x that are known: they do not count, as long as they show as they
# do here. pugcheck engine --known-failing reads this file; docs/known-failures.md explains it.
# Taken from a run of 2026-03-01 (seed 7, pugcheck v1, out.json).
clauses:
  # MUST: It is kept: always.
  A1-1:
    reason: "failed already in the run of 2026-03-01 (seed 7, pugcheck v1, out.json)"
    message:
      - "objects that nobody wrote"
      - "exit status 5 after"
  # MUST: It is kept: always.
  A2-1:
    reason: "failed already in the run of 2026-03-01 (seed 7, pugcheck v1, out.json)"
    message: "one announcement"
    verdict: unstable
`
	if d := cmp.Diff(strings.Split(want, "\n"), strings.Split(text, "\n")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(Changes{Added: []string{"A1-1", "A2-1"}}, changes); d != "" {
		t.Error(d)
	}
	// Another run, in which everything that is drawn or measured is different.
	again := result(
		failing("A1-1", fail("A1/a", "session 77772aabbccddeeff0192aabbccddeeff holds 12 objects\n that nobody wrote"), fail("A1/a", "exit status 5 after 3ms: route gone")),
		report.Clause{ID: "A2-1", Verdict: report.Unstable, Runs: []report.Verdict{report.Fail, report.Pass}, Evidence: []report.Evidence{fail("A2/b", "78")}},
	)
	parse(t, text).Apply(again, suite, nil)
	again.Count()
	if again.Standing() != report.AsListed || again.Summary.Known != 2 {
		t.Errorf("%s: %+v", again.Sentence(), again.Known)
	}
	if r.Clauses[0].Known != "" || r.Known != nil {
		t.Error("the result itself was changed")
	}
}

func TestBaselineOfNoFailures(t *testing.T) {
	text, _, err := Baseline{Result: result(), Suite: suite}.Write()
	if err != nil || !strings.HasSuffix(text, "\nclauses: {}\n") {
		t.Errorf("%v\n%s", err, text)
	}
}

func TestBaselineTakesReasonsOver(t *testing.T) {
	old := parse(t, `# Kept by hand.

capabilities:
    http:
        reason: no server yet
        message: refused
clauses:
    # Fixed by the next release.
    A1-1:
        reason: "a slow mind"   # ask Ada
        message: two of them

    A1-2: {reason: mended since, message: was there}
    A2-1:
        reason: known as such
        message: [three of them, never again]
`)
	r := result(
		failing("A1-1", fail("A1/a", "two of them"), fail("A1/a@http", "refused")),
		failing("A2-1", fail("A2/b", "three of them"), fail("A2/b", "nobody answers any question")),
		failing("A9-1", fail("A2/b", "no record at the end")),
	)
	text, changes, err := Baseline{Result: r, Suite: suite, Reason: "new: \"quoted\" #1", Old: old}.Write()
	if err != nil {
		t.Fatal(err)
	}
	want := `# Kept by hand.

clauses:
  # Fixed by the next release.
  A1-1:
      reason: "a slow mind"   # ask Ada
      message: two of them
  # MUST: It is kept: always.
  A2-1:
    reason: "known as such"
    message:
      - "three of them"
      - "nobody answers any question"
  # MUST: It is kept: always.
  A9-1:
    reason: "new: \"quoted\" #1"
    message: "no record at the end"
capabilities:
  http:
      reason: no server yet
      message: refused
`
	if d := cmp.Diff(strings.Split(want, "\n"), strings.Split(text, "\n")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(Changes{Added: []string{"A9-1"}, Kept: []string{"http", "A1-1"}, Changed: []string{"A2-1"}, Removed: []string{"A1-2"}}, changes); d != "" {
		t.Error(d)
	}
	// Nothing changed since: the list is the same.
	again, _, err := Baseline{Result: r, Suite: suite, Old: parse(t, text)}.Write()
	if err != nil || again != text {
		t.Errorf("%v\n%s", err, cmp.Diff(text, again))
	}
	// An entry that has no lines of its own is written anew.
	flow := parse(t, "clauses: {A1-1: {reason: x, message: two of them, verdict: unstable}, A2-1: {reason: y, message: [three of them, nobody answers]}}")
	text, changes, err = Baseline{Result: r, Suite: suite, Old: flow}.Write()
	if err != nil || !strings.Contains(text, "  A2-1:\n    reason: \"y\"\n    message:\n      - \"three of them\"\n") || len(changes.Kept) != 1 {
		t.Errorf("%v, %+v\n%s", err, changes, text)
	}
}

func TestNoBaselineOfWhatDoesNotTellAll(t *testing.T) {
	for want, change := range map[string]func(*report.Result){
		"partial (it was interrupted)":        func(r *report.Result) { r.Complete, r.Incomplete = false, "it was interrupted" },
		"did not get through":                 func(r *report.Result) { r.Blocked = "it hangs" },
		"of a part (--only, --skip)":          func(r *report.Result) { r.Selection = []string{"A1"} },
		"outside it would be missing":         func(r *report.Result) { r.Skipped = []string{"A1"} },
		"(A2/b: no disk): that is no failure": func(r *report.Result) { r.Scenarios[2].Outcome, r.Scenarios[2].Reason = "error", "no disk" },
		"(A1-2: no port): that is no failure": func(r *report.Result) { r.Clauses[1].Verdict, r.Clauses[1].Reason = report.Error, "no port" },
	} {
		r := result(failing("A1-1", fail("A1/a", "two of them")))
		change(r)
		if _, _, err := (Baseline{Result: r, Suite: suite}).Write(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestPieces(t *testing.T) {
	for seen, want := range map[string]string{
		"Expected\n    <string>: started late\nto equal\n    <string>: started early": "Expected <string>: started late to equal <string>: started early",
		"PUT /b/log/2 (no condition) → 200":                                           "one announcement", // too little to recognise it by
		"the key dGhJcYXRhQQ is not found below the root":                             "is not found below the root",
		"port 40112 refused the connection; port 40113 did as well":                   "refused the connection; port",
		"status 503, not status 200":                                                  "status 503, not status 200",
		"[1 2 3]":                                                                     "one announcement",
		strings.Repeat("a very long text ", 20):                                       strings.TrimSpace(strings.Repeat("a very long text ", 4)) + " a very long",
	} {
		got := pieces([]violation{{fail("A1/a", seen), "A1-1"}})
		if len(got) != 1 || got[0] != want {
			t.Errorf("%q: %q, want %q", seen, got, want)
		}
	}
	// What all violations show is better than what one says most.
	got := pieces([]violation{
		{fail("A1/a", "a long and wordy story of its own 1 holds no record of it"), "A1-1"},
		{fail("A1/a", "x 2 holds no record of it"), "A1-1"},
	})
	if len(got) != 1 || got[0] != "holds no record of it" {
		t.Errorf("%q", got)
	}
}
