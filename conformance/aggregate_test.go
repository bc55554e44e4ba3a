package conformance

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/pugcheck/pugcheck/conformance/catalogue"
	"github.com/pugcheck/pugcheck/conformance/requirements"
	"github.com/pugcheck/pugcheck/harness/report"
)

// clauses of the test catalogue: what differs between them.
var testClauses = []struct{ id, level, basis, suites, untestable string }{
	{"S1-1", "MUST", "stated", "[engine]", ""},
	{"S1-2", "SHOULD", "stated", "[engine]", ""},
	{"S1-3", "MUST", "assumed", "[engine]", ""},
	{"S1-4", "MAY", "stated", "[engine]", ""},
	{"S1-5", "MUST NOT", "derived", "[engine]", "nothing outside shows it"},
	{"S1-6", "MUST", "stated", "[engine]", "only a part shows"},
	{"S1-7", "MUST", "stated", "[engine]", ""},
	{"S1-8", "MUST", "stated", "[other]", ""},
}

func testCatalogue(t *testing.T) *catalogue.Catalogue {
	t.Helper()
	var b strings.Builder
	b.WriteString("title: Storage\nsections:\n- {id: S1, title: first}\nclauses:\n")
	for _, c := range testClauses {
		fmt.Fprintf(&b, "- {id: %s, level: %s, keyword: stated, subject: [engine], basis: %s, says: It is kept., observe: [bucket], check: Looked at., defect: Lost., suites: %s", c.id, c.level, c.basis, c.suites)
		if c.basis == "assumed" {
			b.WriteString(", question: is it so")
		}
		if c.untestable != "" {
			fmt.Fprintf(&b, ", untestable: %s", c.untestable)
		}
		b.WriteString("}\n")
	}
	words := "vocabulary:\n  subject: {engine: what runs}\n  observe: {bucket: at rest}\n  suites: {engine: judges engines, other: judges others}\n"
	c, err := catalogue.Load(fstest.MapFS{"words.yaml": {Data: []byte(words)}, "s.yaml": {Data: []byte(b.String())}}, "words.yaml", "s.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func finding(clause string, v report.Verdict, seen string) Finding {
	return Finding{Clause: clause, Verdict: v, Seen: seen, Times: 1}
}

func outcome(id string, findings ...Finding) Outcome {
	return Outcome{ID: id, Outcome: "completed", Findings: findings}
}

func TestVerdictPerClause(t *testing.T) {
	const pass, fail, warn, broke, not = report.Pass, report.Fail, report.Warn, report.Error, report.NotExercised
	for name, tc := range map[string]struct {
		clause   string
		verdicts []report.Verdict // one outcome each
		strict   bool
		want     report.Verdict
	}{
		"one pass":                     {"S1-1", []report.Verdict{pass}, false, pass},
		"not exercised beside a pass":  {"S1-1", []report.Verdict{not, pass}, false, pass},
		"only not exercised":           {"S1-1", []report.Verdict{not, not}, false, not},
		"warn over pass":               {"S1-1", []report.Verdict{pass, warn}, false, warn},
		"error over warn":              {"S1-1", []report.Verdict{warn, broke, pass}, false, broke},
		"fail over error":              {"S1-1", []report.Verdict{broke, fail, pass}, false, fail},
		"strict: SHOULD":               {"S1-2", []report.Verdict{warn}, true, fail},
		"strict: assumed":              {"S1-3", []report.Verdict{warn}, true, fail},
		"strict: assumed part of MUST": {"S1-1", []report.Verdict{warn, pass}, true, fail},
		"strict: MAY":                  {"S1-4", []report.Verdict{warn}, true, warn},
		"strict: pass":                 {"S1-2", []report.Verdict{pass}, true, pass},
		"untestable but judged":        {"S1-6", []report.Verdict{pass}, false, pass},
	} {
		a := Aggregation{Catalogue: testCatalogue(t), Strict: tc.strict, Suite: &Suite{Name: "engine"}}
		for i, v := range tc.verdicts {
			id := fmt.Sprintf("S1/s%d", i)
			a.Suite.Scenarios = append(a.Suite.Scenarios, Scenario{ID: id, Clauses: []string{tc.clause}})
			a.Outcomes = append(a.Outcomes, outcome(id, finding(tc.clause, v, "seen")))
		}
		for _, c := range a.Clauses() {
			if c.ID == tc.clause && c.Verdict != tc.want {
				t.Errorf("%s: %s, want %s", name, c.Verdict, tc.want)
			}
		}
	}
}

// TestReleasedLevel: a violation weighs what it weighed when the set was released.
func TestReleasedLevel(t *testing.T) {
	const text = "S1-1 SHOULD stated 0123456789abcdef engine\nS1-3 MUST assumed 0123456789abcdef engine\nS1-7 MUST stated 0123456789abcdef engine\nS1-6 MAY stated 0123456789abcdef engine\n"
	set, err := requirements.Parse("v1.0", "v1.0.txt", text)
	if err != nil {
		t.Fatal(err)
	}
	for strict, want := range map[bool]map[string]string{
		false: {"S1-1": "warn SHOULD stated", "S1-3": "warn MUST assumed", "S1-7": "fail MUST stated", "S1-6": "warn MAY stated"},
		true:  {"S1-1": "fail SHOULD stated", "S1-3": "fail MUST assumed", "S1-7": "fail MUST stated", "S1-6": "warn MAY stated"},
	} {
		a := Aggregation{Catalogue: testCatalogue(t), Strict: strict, Released: set, Suite: &Suite{Name: "engine"}}
		got := map[string]string{}
		for id := range want {
			a.Suite.Scenarios = append(a.Suite.Scenarios, Scenario{ID: "S1/" + id, Clauses: []string{id}})
			a.Outcomes = append(a.Outcomes, outcome("S1/"+id, finding(id, report.Fail, "seen")))
		}
		for _, c := range a.Clauses() {
			if want[c.ID] != "" {
				got[c.ID] = fmt.Sprintf("%s %s %s", c.Verdict, c.Level, c.Basis)
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("strict %v: %s", strict, d)
		}
	}
}

func TestClausesThatNothingDecided(t *testing.T) {
	a := Aggregation{
		Catalogue: testCatalogue(t),
		Suite: &Suite{Name: "engine", Always: []string{"S1-4"}, Scenarios: []Scenario{
			{ID: "S1/ran", Clauses: []string{"S1-1"}},
			{ID: "S1/lacks", Clauses: []string{"S1-2", "S1-6"}},
			{ID: "S1/silent", Clauses: []string{"S1-3"}},
		}},
		Outcomes: []Outcome{outcome("S1/ran", finding("S1-1", report.Pass, "ok")), outcome("S1/silent")},
		NotRun:   map[string]string{"S1/lacks": "it lacks http"},
	}
	got := map[string]string{}
	for _, c := range a.Clauses() {
		got[c.ID] = string(c.Verdict) + ": " + c.Reason
	}
	want := map[string]string{
		"S1-1": "pass: ",
		"S1-2": "not-exercised: it lacks http",
		"S1-3": "not-exercised: nothing that decides it happened in any scenario",
		"S1-4": "not-exercised: it lacks http",
		"S1-5": "untestable: nothing outside shows it",
		"S1-6": "not-exercised: it lacks http",
		"S1-7": "not-judged: no scenario judges it yet",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	a.Selected = map[string]bool{"S1-1": true, "S1-7": true, "S1-3": false}
	if n := len(a.Clauses()); n != 2 {
		t.Errorf("%d clauses, want the 2 selected", n)
	}
	var scenarios []string
	for _, sc := range a.Scenarios() {
		scenarios = append(scenarios, sc.ID+" "+sc.Outcome)
	}
	if d := cmp.Diff([]string{"S1/ran completed", "S1/lacks not-run", "S1/silent completed"}, scenarios); d != "" {
		t.Error(d)
	}
}

func TestOrderOfOutcomesDoesNotMatter(t *testing.T) {
	a := Aggregation{Catalogue: testCatalogue(t), Suite: &Suite{Name: "engine"}}
	for i := range 9 {
		id := fmt.Sprintf("S1/s%d", i)
		a.Suite.Scenarios = append(a.Suite.Scenarios, Scenario{ID: id, Clauses: []string{"S1-1"}})
		a.Outcomes = append(a.Outcomes, outcome(id, finding("S1-1", report.Fail, "violation "+id), finding("S1-2", report.Pass, "ok")))
	}
	one := a.Clauses()
	for i, j := 0, len(a.Outcomes)-1; i < j; i, j = i+1, j-1 {
		a.Outcomes[i], a.Outcomes[j] = a.Outcomes[j], a.Outcomes[i]
	}
	if d := cmp.Diff(one, a.Clauses()); d != "" {
		t.Error(d)
	}
	if c := one[0]; len(c.Evidence) != keptViolations || c.MoreEvidence != 9-keptViolations || c.Evidence[0].Scenario != "S1/s0" {
		t.Errorf("%d pieces of evidence, %d more, first from %s", len(c.Evidence), c.MoreEvidence, c.Evidence[0].Scenario)
	}
	if c := one[0]; len(c.PerScenario) != 9 || c.PerScenario["S1/s8"] != report.Fail {
		t.Errorf("the verdict of a scenario is lost with its evidence: %v", c.PerScenario)
	}
	// S1-2 was judged in passing, as an invariant is.
	if c := one[1]; len(c.Evidence) != keptInvariantPasses || c.MoreEvidence != 9-keptInvariantPasses || len(c.Scenarios) != 9 {
		t.Errorf("%d passes kept, %d more, %d scenarios", len(c.Evidence), c.MoreEvidence, len(c.Scenarios))
	}
}

func TestEvidenceOfOneClause(t *testing.T) {
	suite := &Suite{Name: "engine", Scenarios: []Scenario{{ID: "S1/a", Clauses: []string{"S1-1"}}, {ID: "S1/b", Clauses: []string{"S1-1"}}}}
	a := Aggregation{Catalogue: testCatalogue(t), Suite: suite, Outcomes: []Outcome{
		outcome("S1/a", finding("S1-1", report.Pass, "one"), finding("S1-1", report.Pass, "two"), finding("S1-1", report.NotExercised, "never")),
		outcome("S1/b", Finding{Clause: "S1-1", Verdict: report.Warn, Seen: "odd", Readings: []string{"R-1"}, Times: 4}),
	}}
	c := a.Clauses()[0]
	want := []report.Evidence{
		{Scenario: "S1/b", Verdict: report.Warn, Seen: "odd", Readings: []string{"R-1"}, Times: 4},
		{Scenario: "S1/a", Verdict: report.Pass, Seen: "one"},
		{Scenario: "S1/a", Verdict: report.NotExercised, Seen: "never"},
	}
	if d := cmp.Diff(want, c.Evidence); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"R-1"}, c.Readings); d != "" {
		t.Error(d)
	}
	// Reasons that differ are counted, so that the first does not pass for all.
	a.Outcomes = []Outcome{outcome("S1/a", finding("S1-1", report.NotExercised, "no reply")), outcome("S1/b", finding("S1-1", report.NotExercised, "no request"))}
	if c := a.Clauses()[0]; c.Reason != "no reply (and one more reason)" {
		t.Errorf("reason %q", c.Reason)
	}
}

func TestSeverityOf(t *testing.T) {
	for _, tc := range []struct {
		level, basis string
		want         report.Verdict
	}{
		{"MUST", "stated", report.Fail}, {"MUST", "derived", report.Fail}, {"MUST", "assumed", report.Warn},
		{"MUST NOT", "stated", report.Fail}, {"MUST NOT", "assumed", report.Warn},
		{"SHOULD", "stated", report.Warn}, {"SHOULD NOT", "derived", report.Warn}, {"MAY", "stated", report.Warn},
	} {
		if got := SeverityOf(tc.level, tc.basis); got != tc.want {
			t.Errorf("%s, %s: %s, want %s", tc.level, tc.basis, got, tc.want)
		}
	}
}
