package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWhereAChangeBelongs goes through every pair of verdicts.
func TestWhereAChangeBelongs(t *testing.T) {
	all := []Verdict{Pass, Warn, Unstable, Fail, NotExercised, Error, NotJudged, Untestable}
	regressions := map[[2]Verdict]bool{
		{Pass, Warn}: true, {Pass, Unstable}: true, {Pass, Fail}: true, {Warn, Unstable}: true, {Warn, Fail}: true, {Unstable, Fail}: true,
		{Pass, NotExercised}: true,
	}
	improvements := map[[2]Verdict]bool{
		{Fail, Unstable}: true, {Fail, Warn}: true, {Fail, Pass}: true, {Unstable, Warn}: true, {Unstable, Pass}: true, {Warn, Pass}: true,
	}
	for _, undecided := range []Verdict{NotExercised, Error, NotJudged, Untestable} {
		for _, bad := range []Verdict{Unstable, Fail} { // it did not show before
			regressions[[2]Verdict{undecided, bad}] = true
		}
		improvements[[2]Verdict{undecided, Pass}] = true
	}
	one := func(v Verdict) *Result {
		return &Result{Suite: "demo", Complete: true, Clauses: []Clause{{ID: "A-1", Verdict: v, Runs: []Verdict{Pass, Fail}}}}
	}
	for _, before := range all {
		for _, now := range all {
			d := Compare(one(before), one(now))
			pair := [2]Verdict{before, now}
			want := "others"
			switch {
			case before == now:
				want = "unchanged"
			case regressions[pair]:
				want = "regressions"
			case improvements[pair]:
				want = "improvements"
			}
			if got := whereIs(d); got != want {
				t.Errorf("%s → %s: %s, want %s", before, now, got, want)
			}
			if d.Regressed() != (want == "regressions") {
				t.Errorf("%s → %s: regressed: %v", before, now, d.Regressed())
			}
			still := before == now && (now == Fail || now == Unstable)
			if (len(d.Still) == 1) != still {
				t.Errorf("%s → %s: still failing: %v", before, now, d.Still)
			}
		}
	}
}

// whereIs is the list that a comparison of one clause ends up in.
func whereIs(d *Diff) string {
	var in []string
	for name, list := range map[string][]Change{"regressions": d.Regressions, "improvements": d.Improvements, "others": d.Others, "added": d.Added, "gone": d.Gone} {
		for range list {
			in = append(in, name)
		}
	}
	for range d.Unchanged {
		in = append(in, "unchanged")
	}
	return strings.Join(in, " ")
}

// TestWhatWasNotRunAgain: where a scenario that spoke against a clause did not run, nothing
// shows that the clause is mended.
func TestWhatWasNotRunAgain(t *testing.T) {
	clause := func(v Verdict, scenario string) []Clause {
		return []Clause{{ID: "A-1", Verdict: v, Evidence: []Evidence{{Scenario: scenario, Verdict: v, Seen: "it"}}}}
	}
	old := &Result{Complete: true, Clauses: clause(Fail, "A/two")}
	new := &Result{Complete: false, Clauses: clause(Pass, "A/one"), Scenarios: []Scenario{{ID: "A/one", Outcome: "completed"}, {ID: "A/two", Outcome: "not-run"}}}
	for _, now := range []Verdict{Pass, Warn} {
		new.Clauses = clause(now, "A/one")
		d := Compare(old, new)
		if whereIs(d) != "others" || d.Others[0].Evidence != nil || d.Others[0].Reason != "not shown to be mended: A/two, which spoke against it, was not run" {
			t.Errorf("%s: %+v", now, d)
		}
	}
	new.Scenarios[1].Outcome = "completed"
	if d := Compare(old, new); whereIs(d) != "improvements" {
		t.Errorf("%+v", d)
	}
}

// TestWhatIsNotTheSubjectsDoing: a failure that is listed as known, and a clause that a
// partial run did not come to.
func TestWhatIsNotTheSubjectsDoing(t *testing.T) {
	old := &Result{Complete: true, Clauses: []Clause{{ID: "A-1", Verdict: Pass}, {ID: "A-2", Verdict: Pass}}}
	new := &Result{Complete: false, Clauses: []Clause{{ID: "A-1", Verdict: Fail, Known: "being mended"}, {ID: "A-2", Verdict: NotExercised}}}
	if d := Compare(old, new); d.Regressed() || len(d.Others) != 2 || d.Others[0].Known != "being mended" {
		t.Errorf("%+v", d)
	}
	new.Complete = true
	if d := Compare(old, new); len(d.Regressions) != 1 || d.Regressions[0].Clause != "A-2" {
		t.Errorf("%+v", d)
	}
}

// TestAPermissionNeedNotBeUsed: a clause that only permits something is not lost when nothing
// makes use of it.
func TestAPermissionNeedNotBeUsed(t *testing.T) {
	old := &Result{Complete: true, Clauses: []Clause{{ID: "A-1", Level: "MAY", Verdict: Pass}}}
	new := &Result{Complete: true, Clauses: []Clause{{ID: "A-1", Level: "MAY", Verdict: NotExercised}}}
	if d := Compare(old, new); d.Regressed() || len(d.Others) != 1 {
		t.Errorf("%+v", d)
	}
}

func TestChangesCarryTheNewEvidence(t *testing.T) {
	old, new := everyKind(), everyKind()
	for i := range old.Clauses {
		old.Clauses[i].Verdict = Pass
	}
	old.Clauses = append(old.Clauses[:3:3], Clause{ID: "A9-1", Section: "A9", Level: "MUST", Verdict: Fail, Requirement: "It was.", Evidence: []Evidence{{Seen: "old"}}})
	d := Compare(old, new)
	c := d.Regressions[0]
	if c.Clause != "A1-2" || c.Old != Pass || c.New != Fail || c.Evidence.Where != "demo/a1_order.go:31" || c.Repro != "pugcheck demo --seed 42 --only A1/order './my impl'" {
		t.Errorf("%+v", c)
	}
	if d := cmp.Diff([]Change{{Clause: "A9-1", Section: "A9", Level: "MUST", Requirement: "It was.", Old: Fail}}, d.Gone); d != "" {
		t.Error(d)
	}
	var added []string
	for _, c := range d.Added {
		added = append(added, fmt.Sprintf("%s %s%s %v", c.Clause, c.Old, c.New, c.Evidence != nil))
	}
	want := []string{"A1.1-2 warn true", "A1.1-3 warn true", "A2-1 not-exercised false", "A2-2 not-exercised false", "A2-3 not-exercised false",
		"A2-4 untestable false", "A2-5 error true", "A2-6 error true", "A2-7 not-judged false"}
	if d := cmp.Diff(want, added); d != "" {
		t.Error(d)
	}
	if got := d.Sentence(); got != "2 regressions, 9 clauses added, 1 clause gone; 1 clause unchanged." {
		t.Error(got)
	}
	if got := Compare(new, new).Sentence(); got != "Nothing changed in 12 clauses." {
		t.Error(got)
	}
	if got := Compare(new, old).Sentence(); got != "No regression; 2 improvements, 1 clause added (1 failing), 9 clauses gone; 1 clause unchanged." {
		t.Error(got)
	}
}

func TestNotesOnTheRuns(t *testing.T) {
	old, new := everyKind(), everyKind()
	if d := Compare(old, new); len(d.Notes) != 0 {
		t.Errorf("notes on the same run: %q", d.Notes)
	}
	new.Suite, new.Subject.Name, new.Subject.Transports = "other", "./impl2", []string{"http"}
	new.Requirements, new.Versions = Requirements{Set: "v1.0"}, map[string]string{"pugcheck": "v1", "catalogue": "ff"}
	new.Selection, new.Skipped, new.Profile.Without, new.Profile.Strict = []string{"S2", "S1"}, []string{"S9"}, nil, true
	new.Complete, new.Incomplete, new.Blocked = false, "it was interrupted after 3 of 9 scenarios", "it hangs\nfor ever"
	want := []string{
		"suite: demo before, other now",
		"subject: ./my impl before, ./impl2 now",
		"transports: none before, http now",
		"requirements: all clauses of the version before, v1.0 now",
		"pugcheck: v0 before, v1 now",
		"the catalogues of clauses differ",
		"selected: everything before, S1, S2 now",
		"skipped: none before, S9 now",
		"capabilities declared missing: http before, none now",
		"warnings: warnings before, failures (strict) now",
		"the new result is partial: it was interrupted after 3 of 9 scenarios",
		"the new run ended with the first scenario: it hangs for ever",
	}
	if d := cmp.Diff(want, Compare(old, new).Notes); d != "" {
		t.Error(d)
	}
}
