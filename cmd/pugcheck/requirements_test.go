package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pugcheck/pugcheck/conformance"
	"github.com/pugcheck/pugcheck/conformance/pugmark"
	"github.com/pugcheck/pugcheck/conformance/pugmark/runtime"
	"github.com/pugcheck/pugcheck/conformance/requirements"
	runner "github.com/pugcheck/pugcheck/conformance/run"
	"github.com/pugcheck/pugcheck/harness/report"
)

// violating is a judgement of a runtime that violates two clauses and keeps another.
func violating(t *testing.T, set *requirements.Set) *report.Result {
	t.Helper()
	j := &judgement{suite: runtime.Suite(runtime.Config{}), demands: demands{released: set}, implied: map[string]bool{}, changed: func(string) bool { return false }}
	var findings []conformance.Finding
	for id, verdict := range map[string]report.Verdict{"S6.3-1": report.Fail, "S6.4-1": report.Fail, "P2.1-1": report.Pass} {
		findings = append(findings, conformance.Finding{Clause: id, Verdict: verdict, Seen: "seen", Times: 1})
	}
	return j.result(runner.Result{Outcomes: []conformance.Outcome{{ID: runtime.Preflight, Outcome: "completed", Findings: findings}}}, nil, time.Now())
}

// TestGrowthDoesNotBreakAnyone: a runtime that was released as conforming stays so when
// a clause is added and a recommendation becomes a duty; by the set of today it fails.
func TestGrowthDoesNotBreakAnyone(t *testing.T) {
	now := violating(t, nil)
	if now.Standing() != report.NotConforming || now.Summary.Fail != 2 || len(now.Beyond) > 0 || now.Requirements.Set != "" {
		t.Fatalf("by everything: %s, %+v", now.Standing(), now.Summary)
	}

	var earlier []string
	for line := range strings.Lines(currentRequirements().Text()) {
		switch {
		case strings.HasPrefix(line, "S6.3-1 "): // a clause that came later
		case strings.HasPrefix(line, "S6.4-1 "):
			earlier = append(earlier, strings.Replace(line, " MUST ", " SHOULD ", 1))
		default:
			earlier = append(earlier, line)
		}
	}
	set, err := requirements.Parse("v0.9", "v0.9.txt", strings.Join(earlier, ""))
	if err != nil {
		t.Fatal(err)
	}
	then := violating(t, set)
	if then.Standing() != report.Conforming || then.Summary.Fail != 0 || then.Summary.Warn != 1 || then.Requirements.Set != "v0.9" || then.Requirements.Digest != set.Digest() {
		t.Errorf("by the earlier set: %s, %+v, %+v", then.Standing(), then.Summary, then.Requirements)
	}
	if len(then.Beyond) != 1 || then.Beyond[0].ID != "S6.3-1" || then.Beyond[0].Verdict != report.Fail || then.Beyond[0].Outside != "new since v0.9" {
		t.Errorf("what is new is not told: %+v", then.Beyond)
	}
	if then.Requirements.Musts != now.Requirements.Musts-2 || then.Requirements.Clauses != now.Requirements.Clauses-1 {
		t.Errorf("%+v, and for everything %+v", then.Requirements, now.Requirements)
	}
	if slices.Contains(then.Subject.Transports, "http") || !slices.Contains(then.Subject.Transports, "subprocess") {
		t.Errorf("judged over %v", then.Subject.Transports)
	}
}

// TestSetsCoverTheSuites: each released set holds most of what a suite judges.
func TestSetsCoverTheSuites(t *testing.T) {
	for _, name := range pugmark.RequirementSets() {
		d, err := demandsOf(name, "")
		if err != nil {
			t.Fatal(err)
		}
		s := runtime.Suite(runtime.Config{})
		in, out := d.requirements(s, "", ""), 0
		for _, c := range pugmark.Catalogue().Clauses() {
			if slices.Contains(c.Suites, s.Name) && d.outside(s, c.ID) != "" {
				out++
			}
		}
		if in.Clauses < 500 || in.Musts < 400 || out > in.Clauses {
			t.Errorf("%s: %+v, and %d clauses of runtimes are outside", name, in, out)
		}
	}
}
