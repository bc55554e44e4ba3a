package known

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pugcheck/pugcheck/conformance"
	"github.com/pugcheck/pugcheck/harness/report"
)

// suite has two scenarios that judge A1-1, one of which needs http, and an invariant.
var suite = &conformance.Suite{Name: "engine", Always: []string{"A9-1"}, Scenarios: []conformance.Scenario{
	{ID: "A1/a", Clauses: []string{"A1-1", "A1-2"}},
	{ID: "A1/a@http", Clauses: []string{"A1-1", "A1-3"}, Needs: []string{"http"}},
	{ID: "A2/b", Clauses: []string{"A2-1"}},
}}

var vocabulary = Vocabulary{
	Clauses: []string{"A1-1", "A1-2", "A1-3", "A2-1", "A9-1"}, Capabilities: []string{"http"},
	Elsewhere: func(word string) string {
		if word == "B1-1" {
			return "B1-1 is a clause, but not of this suite"
		}
		return ""
	},
}

func fail(scenario, seen string) report.Evidence {
	return report.Evidence{Scenario: scenario, Verdict: report.Fail, Acceptable: "one announcement", Seen: seen}
}

// result is a complete run in which each clause passes, but for those that are given.
func result(clauses ...report.Clause) *report.Result {
	r := &report.Result{
		Schema: report.Schema, Suite: "engine", Subject: report.Subject{Name: "./x"}, Complete: true, Seed: 7, Repeats: 1,
		Started: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), Versions: map[string]string{"pugcheck": "v1"},
	}
	for _, id := range vocabulary.Clauses {
		c := report.Clause{ID: id, Level: "MUST", Verdict: report.Pass, Requirement: "It is kept: always.", Evidence: []report.Evidence{{Scenario: "A1/a", Verdict: report.Pass}}}
		if i := slices.IndexFunc(clauses, func(c report.Clause) bool { return c.ID == id }); i >= 0 {
			c.Verdict, c.Evidence, c.Reason, c.Runs = clauses[i].Verdict, clauses[i].Evidence, clauses[i].Reason, clauses[i].Runs
		}
		r.Clauses = append(r.Clauses, c)
	}
	for _, sc := range suite.Scenarios {
		r.Scenarios = append(r.Scenarios, report.Scenario{ID: sc.ID, Outcome: "completed"})
	}
	r.Count()
	return r
}

// failing is a clause with violations.
func failing(id string, evidence ...report.Evidence) report.Clause {
	return report.Clause{ID: id, Verdict: report.Fail, Evidence: evidence}
}

func parse(t *testing.T, text string) *List {
	t.Helper()
	l, err := Parse("known.yaml", []byte(text), vocabulary)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

const listed = `# ours
clauses:
  # Fixed by the next release.
  A1-1:
    reason: a slow
      mind
    message: two of them
`

func TestStateOfAnEntry(t *testing.T) {
	one := fail("A1/a", "there are two\n   of them in 0123456789abcdef")
	unstable := func(v ...report.Verdict) report.Clause {
		return report.Clause{ID: "A1-1", Verdict: report.Unstable, Reason: "fails in run 2 of 2", Runs: v, Evidence: []report.Evidence{one, {Scenario: "A1/a", Verdict: report.Pass}}}
	}
	notRun := func(r *report.Result, id string) {
		for i := range r.Scenarios {
			if r.Scenarios[i].ID == id {
				r.Scenarios[i].Outcome = "not-run"
			}
		}
	}
	for name, tc := range map[string]struct {
		list     string
		clauses  []report.Clause
		change   func(*report.Result)
		asked    func(conformance.Scenario) bool
		state    report.KnownState
		advice   string
		standing report.Standing
	}{
		"as listed": {listed, []report.Clause{failing("A1-1", one)}, nil, nil, report.KnownHolds, "", report.AsListed},
		"all of several": {listed, []report.Clause{failing("A1-1", one, fail("A1/a@http", "two of them, once more"))}, nil,
			nil, report.KnownHolds, "", report.AsListed},
		"by what would be acceptable": {strings.Replace(listed, "two of them", "one announcement", 1), []report.Clause{failing("A1-1", one)}, nil,
			nil, report.KnownHolds, "", report.AsListed},
		"passes": {listed, nil, nil, nil, report.KnownPasses, "remove lines 3 to 7 of known.yaml: A1-1 passes now", report.Outdated},
		"otherwise": {listed, []report.Clause{failing("A1-1", fail("A1/a", "none at all"))}, nil,
			nil, report.KnownDiffers, `it fails in another way than lines 3 to 7 of known.yaml lists: A1/a saw "none at all"`, report.NotConforming},
		"otherwise as well": {listed, []report.Clause{failing("A1-1", one, fail("A1/a@http", "none at all"))}, nil,
			nil, report.KnownDiffers, `as well: A1/a@http saw "none at all"`, report.NotConforming},
		"another clause as well": {listed, []report.Clause{failing("A1-1", one), failing("A2-1", one)}, nil, nil, report.KnownHolds, "", report.NotConforming},
		"nothing decided":        {listed, []report.Clause{{ID: "A1-1", Verdict: report.NotExercised, Reason: "it never came"}}, nil, nil, report.KnownNothing, "nothing decided A1-1: it never came", report.Outdated},
		"the suite broke": {listed, []report.Clause{{ID: "A1-1", Verdict: report.Error, Evidence: []report.Evidence{{Scenario: "A1/a", Verdict: report.Error, Seen: "two of them"}}}}, nil,
			nil, report.KnownOutside, "broke", report.Troubled},
		"the suite broke beside it": {listed, []report.Clause{failing("A1-1", one, report.Evidence{Scenario: "A1/a@http", Verdict: report.Error, Seen: "no port"})}, nil,
			nil, report.KnownHolds, "", report.Troubled},
		"not selected": {listed, nil, func(r *report.Result) { r.Clauses = r.Clauses[1:] }, nil, report.KnownOutside, "did not judge it", report.Conforming},
		"passes in a part": {listed, nil, func(r *report.Result) { notRun(r, "A1/a@http") },
			nil, report.KnownOutside, "not everything that judges it was run", report.Conforming},
		"not exercised without": {listed, []report.Clause{{ID: "A1-1", Verdict: report.NotExercised, Reason: "it lacks http"}}, func(r *report.Result) { notRun(r, "A1/a@http") },
			nil, report.KnownOutside, "not everything", report.Conforming},
		"an invariant passes in a part": {"clauses: {A9-1: {reason: x, message: two of them}}", nil, func(r *report.Result) { notRun(r, "A2/b") },
			nil, report.KnownOutside, "not everything", report.Conforming},
		"an invariant passes": {"clauses: {A9-1: {reason: x, message: two of them}}", nil, nil,
			nil, report.KnownPasses, "remove line 1 of known.yaml", report.Outdated},
		"varies, and fails is listed": {listed, []report.Clause{unstable(report.Pass, report.Fail)}, nil,
			nil, report.KnownDiffers, `it fails in run 2 of 2: add "verdict: unstable" to lines 3 to 7`, report.NotConforming},
		"varies as listed": {listed + "    verdict: unstable\n", []report.Clause{unstable(report.Pass, report.Fail)}, nil, nil, report.KnownHolds, "", report.AsListed},
		"varies in another way": {strings.Replace(listed, "two of them", "none of them", 1) + "    verdict: unstable\n", []report.Clause{unstable(report.Pass, report.Fail)}, nil,
			nil, report.KnownDiffers, "another way", report.NotConforming},
		"listed as unstable, passes once": {listed + "    verdict: unstable\n", nil, nil, nil, report.KnownHolds, "", report.Conforming},
		"listed as unstable, passes always": {listed + "    verdict: unstable\n", nil, func(r *report.Result) { r.Repeats = 5 },
			nil, report.KnownHolds, "it passed in all of 5 runs; if it is mended, remove lines 3 to 8", report.Conforming},
		"listed as unstable, fails always": {listed + "    verdict: unstable\n", []report.Clause{failing("A1-1", one)}, func(r *report.Result) { r.Repeats = 5 },
			nil, report.KnownHolds, "it failed in all of 5 runs", report.AsListed},
		"a warning": {listed, []report.Clause{{ID: "A1-1", Verdict: report.Warn, Evidence: []report.Evidence{{Scenario: "A1/a", Verdict: report.Warn, Seen: "two of them"}}}}, nil,
			nil, report.KnownHolds, "", report.Conforming},
		"one of several pieces": {"clauses: {A1-1: {reason: x, message: [none at all, two of them]}}", []report.Clause{failing("A1-1", one, fail("A1/a", "none at all"))}, nil,
			nil, report.KnownHolds, "", report.AsListed},
		"a piece with what varies": {"clauses: {A1-1: {reason: x, message: of them in fedcba9876543210}}", []report.Clause{failing("A1-1", one)}, nil,
			nil, report.KnownHolds, "", report.AsListed},

		"capability": {"capabilities: {http: {reason: x, message: refused}}", []report.Clause{failing("A1-1", fail("A1/a@http", "refused")), failing("A1-3", fail("A1/a@http", "it refused"))}, nil,
			nil, report.KnownHolds, "", report.AsListed},
		"capability and elsewhere": {"capabilities: {http: {reason: x, message: refused}}", []report.Clause{failing("A1-1", fail("A1/a@http", "refused"), fail("A1/a", "refused"))}, nil,
			nil, report.KnownHolds, "", report.NotConforming},
		"capability in another way": {"capabilities: {http: {reason: x, message: refused}}", []report.Clause{failing("A1-3", fail("A1/a@http", "gone"))}, nil,
			nil, report.KnownDiffers, `what needs http fails in another way than line 1 of known.yaml lists: A1-3, A1/a@http saw "gone"`, report.NotConforming},
		"capability passes": {"capabilities: {http: {reason: x, message: refused}}", nil, nil,
			nil, report.KnownPasses, "nothing fails now in the 1 scenarios that need http", report.Outdated},
		"capability taken out": {"capabilities: {http: {reason: x, message: refused}}", nil, func(r *report.Result) { notRun(r, "A1/a@http") },
			nil, report.KnownOutside, "not everything that needs it", report.Conforming},
		"capability beside a clause": {"capabilities: {http: {reason: x, message: refused}}\nclauses: {A1-3: {reason: y, message: refused}}",
			[]report.Clause{failing("A1-3", fail("A1/a@http", "refused"))}, nil, nil, report.KnownNothing, "covered by other entries", report.Outdated},
		"passes, and the rest cannot be asked": {listed, nil, func(r *report.Result) { notRun(r, "A1/a@http") }, func(sc conformance.Scenario) bool { return sc.Needs == nil },
			report.KnownPasses, "A1-1 passes now", report.Outdated},
		"cannot be asked at all": {"clauses: {A1-3: {reason: x, message: two of them}}", []report.Clause{{ID: "A1-3", Verdict: report.NotExercised, Reason: "it lacks http"}},
			func(r *report.Result) { notRun(r, "A1/a@http") }, func(sc conformance.Scenario) bool { return sc.Needs == nil },
			report.KnownOutside, "not everything", report.Conforming},
	} {
		r := result(tc.clauses...)
		if tc.change != nil {
			tc.change(r)
		}
		parse(t, tc.list).Apply(r, suite, tc.asked)
		r.Count()
		k := r.Known.Entries[0]
		if k.State != tc.state || !strings.Contains(k.Advice, tc.advice) || tc.advice == "" && k.Advice != "" {
			t.Errorf("%s: %s %q, want %s %q", name, k.State, k.Advice, tc.state, tc.advice)
		}
		if got := r.Standing(); got != tc.standing {
			t.Errorf("%s: it stands as %s, want %s: %s", name, got, tc.standing, r.Sentence())
		}
	}
}

func TestKnownFailuresAreTold(t *testing.T) {
	r := result(failing("A1-1", fail("A1/a", "two of them"), fail("A1/a@http", "refused")))
	l := parse(t, listed+"capabilities:\n  http:\n    reason: no server yet\n    message: refused\n")
	l.Apply(r, suite, nil)
	r.Count()
	if c := r.Clauses[0]; c.Known != "a slow mind; no server yet" || r.Summary.Known != 1 || r.Summary.Fail != 1 {
		t.Errorf("%q, %+v", c.Known, r.Summary)
	}
	want := []report.KnownFailure{
		{Clause: "A1-1", Verdict: report.Fail, Reason: "a slow mind", Messages: []string{"two of them"}, Line: 3, LastLine: 7, Covers: []string{"A1-1"}, State: report.KnownHolds},
		{Capability: "http", Verdict: report.Fail, Reason: "no server yet", Messages: []string{"refused"}, Line: 9, LastLine: 11, Covers: []string{"A1-1"}, State: report.KnownHolds},
	}
	if d := cmp.Diff(want, r.Known.Entries); d != "" {
		t.Error(d)
	}
}

func TestMistakesInAList(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"unknown clause":      {"clauses:\n  A1-11: {reason: x, message: long enough}\n", `known.yaml:2: there is no clause "A1-11"; nearest: A1-1`},
		"lower case":          {"clauses:\n  a2-1: {reason: x, message: long enough}\n", `known.yaml:2: there is no clause "a2-1"; nearest: A2-1`},
		"another suite":       {"clauses:\n  B1-1: {reason: x, message: long enough}\n", "known.yaml:2: B1-1 is a clause, but not of this suite"},
		"unknown capability":  {"capabilities:\n  htpp: {reason: x, message: long enough}\n", `known.yaml:2: unknown capability "htpp"; known are http`},
		"twice":               {"clauses:\n  A1-1: {reason: x, message: long enough}\n  A1-1: {reason: y, message: long enough}\n", `known.yaml:3: key "A1-1" stands twice in clauses, first in line 2`},
		"no reason":           {"clauses:\n  A1-1:\n    message: long enough\n", "known.yaml:3: A1-1 has no reason"},
		"empty reason":        {"clauses:\n  A1-1:\n    reason: \" \"\n    message: long enough\n", "A1-1 has no reason"},
		"null reason":         {"clauses:\n  A1-1:\n    reason:\n    message: long enough\n", "known.yaml:3: a text is expected, not nothing"},
		"no message":          {"clauses:\n  A1-1:\n    reason: x\n", "known.yaml:3: A1-1 has no message"},
		"short message":       {"clauses:\n  A1-1:\n    reason: x\n    message: \": a\"\n", `known.yaml:4: message ": a" is too short`},
		"message that varies": {"clauses:\n  A1-1:\n    reason: x\n    message: 0123456789abcdef\n", "too short to tell"},
		"verdict":             {"clauses:\n  A1-1: {reason: x, message: long enough, verdict: warn}\n", `verdict is fail or unstable, not "warn"`},
		"error":               {"clauses:\n  A1-1: {reason: x, message: long enough, verdict: error}\n", "which no list can excuse"},
		"key of an entry":     {"clauses:\n  A1-1: {reasn: x, message: long enough}\n", `unknown key "reasn" in A1-1; known are reason, message, verdict`},
		"key of the file":     {"clause:\n  A1-1: {reason: x, message: long enough}\n", `known.yaml:1: unknown key "clause" in the list of known failures; known are clauses, capabilities`},
		"a list":              {"- A1-1\n", "known.yaml:1: the list of known failures must be a mapping, not a list"},
		"a text as entry":     {"clauses:\n  A1-1: yes\n", `known.yaml:2: A1-1 must be a mapping, not "yes"`},
		"no YAML":             {"clauses: [\n", "known.yaml: yaml: line 1"},
		"two documents":       {"clauses: {}\n---\nclauses: {}\n", "known.yaml:2: a list of known failures is one YAML document"},
	} {
		_, err := Parse("known.yaml", []byte(tc.text), vocabulary)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
	both := "clauses:\n  X1-1: {reason: x, message: long enough}\n  A1-1: {message: long enough}\n"
	if _, err := Parse("known.yaml", []byte(both), vocabulary); err == nil || strings.Count(err.Error(), "known.yaml:") != 2 {
		t.Errorf("not all mistakes at once: %v", err)
	}
	for _, empty := range []string{"", "# nothing\n", "clauses:\n", "clauses: {}\n"} {
		if l := parse(t, empty); len(l.Entries) != 0 {
			t.Errorf("%q: %v", empty, l.Entries)
		}
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none.yaml"), vocabulary); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// What is found while a run goes on is held against the list as it will be at the end.
func TestListsAFinding(t *testing.T) {
	l := parse(t, listed+"capabilities:\n  http: {reason: slow, message: three of them}\n")
	for name, c := range map[string]struct {
		clause, seen string
		needs        []string
		want         bool
	}{
		"as listed":                       {"A1-1", "saw two  of them", nil, true},
		"in another way":                  {"A1-1", "saw none", nil, false},
		"another clause":                  {"A1-2", "saw two of them", nil, false},
		"by a capability":                 {"A1-3", "saw three of them", []string{"http"}, true},
		"without the capability":          {"A1-3", "saw three of them", nil, false},
		"by a capability, in another way": {"A1-3", "saw none", []string{"http"}, false},
	} {
		f := conformance.Finding{Clause: c.clause, Verdict: report.Fail, Acceptable: "one announcement", Seen: c.seen}
		if got := l.Lists(f, c.needs); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
