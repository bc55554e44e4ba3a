package report

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
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares text with testdata/name.
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

// everyKind is a result with every verdict, by every way that leads to it.
func everyKind() *Result {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	trace := []Block{
		{"requests", "#1 GET  /b/list?prefix=log/ → 200\n#2 PUT  /b/log/2 If-None-Match: * → 200\n#3 PUT  /b/log/2 (no condition) → 200\n#4 GET  /b/" + strings.Repeat("0123456789", 50) + "/end → 200" + strings.Repeat("\n… GET", 40)},
		{"run 1 of the subject", "./x run --bucket s3://b\nexit status 0 after 35ms\nstderr: \x1b[31mwarning\x1b[0m: retrying"},
	}
	repro := func(id string) string { return "pugcheck demo --seed 42 --only " + id + " './my impl'" }
	r := &Result{
		Schema: Schema, Suite: "demo", Subject: Subject{Name: "./my impl", Command: []string{"./my impl"}},
		Profile: Profile{File: "pugcheck.yaml", Without: []string{"http"}}, Seed: 42, Versions: map[string]string{"pugcheck": "v0"},
		Started: at, DurationMS: 8312.5, Workers: 4, Complete: true,
		Sections: []Section{{"A1", "order of records"}, {"A1.1", "conditional writes"}, {"A2", "what a stream may hold, and what it must not hold under any circumstances whatever they are"}},
		Readings: []Reading{{"R-1", "numbers begin at one", "assumed"}, {"R-2", "names are bytes", "derived"}},
		Clauses: []Clause{
			{ID: "A1-1", Section: "A1", Level: "MUST", Basis: "stated", Verdict: Pass, Requirement: "Records keep their order.", Readings: nil, Scenarios: []string{"A1/order"},
				Evidence: []Evidence{{Scenario: "A1/order", Verdict: Pass, Acceptable: "a, b, c", Seen: "a, b, c"}}},
			{ID: "A1-2", Section: "A1", Level: "MUST", Basis: "stated", Verdict: Fail, Requirement: "The first record of every stream is the announcement, whatever else the stream holds, and it is there exactly once.",
				Readings: []string{"R-2"}, Scenarios: []string{"A1/order", "A1/empty"}, MoreEvidence: 3,
				Evidence: []Evidence{
					{Scenario: "A1/order", Verdict: Fail, Acceptable: "the first record is the announcement", Seen: "Expected\n    <string>: start\nto equal\n    <string>: announce", Where: "demo/a1_order.go:31", Times: 2},
					{Scenario: "A1/order", Verdict: Fail, Acceptable: "one announcement", Seen: "two", Where: "demo/a1_order.go:40"},
					{Scenario: "A1/empty", Verdict: Fail, Acceptable: "the first record is the announcement", Seen: "nothing at all", Where: "demo/a1_order.go:52"},
				}},
			{ID: "A1.1-1", Section: "A1.1", Level: "MUST NOT", Basis: "derived", Verdict: Fail, Requirement: "No write goes without a condition.", Scenarios: []string{"A1/order"},
				Evidence: []Evidence{{Scenario: "A1/order", Verdict: Fail, Acceptable: "If-None-Match: * on every PUT", Seen: "request 3 has no condition, on key " + strings.Repeat("0123456789abcdef", 8), Readings: []string{"R-1", "R-9"}}}},
			{ID: "A1.1-2", Section: "A1.1", Level: "SHOULD", Basis: "stated", Verdict: Warn, Requirement: "A line feed follows each record.", Scenarios: []string{"A1/order"},
				Evidence: []Evidence{{Scenario: "A1/order", Verdict: Warn, Acceptable: "LF after each", Seen: "none after record 2"}}},
			{ID: "A1.1-3", Section: "A1.1", Level: "MUST", Basis: "assumed", Verdict: Warn, Requirement: "The number is decimal.", Readings: []string{"R-1"}, Scenarios: []string{"A1/order", "A2/names"}, MoreEvidence: 1,
				Evidence: []Evidence{{Scenario: "A1/order", Verdict: Warn, Acceptable: "decimal", Seen: "0x2a"}, {Scenario: "A2/names", Verdict: Warn, Acceptable: "decimal", Seen: "0x2b"}}},
			{ID: "A2-1", Section: "A2", Level: "MUST", Basis: "stated", Verdict: NotExercised, Reason: "the subject was declared to lack http", Requirement: "One.", Scenarios: []string{"A2/http"}},
			{ID: "A2-2", Section: "A2", Level: "MUST", Basis: "stated", Verdict: NotExercised, Reason: "the subject was declared to lack http", Requirement: "Two.", Scenarios: []string{"A2/http"}},
			{ID: "A2-3", Section: "A2", Level: "MAY", Basis: "stated", Verdict: NotExercised, Reason: "the subject never did it", Requirement: "Three.", Scenarios: []string{"A1/order"}},
			{ID: "A2-4", Section: "A2", Level: "MUST", Basis: "stated", Verdict: Untestable, Reason: "nothing outside shows it", Requirement: "Four."},
			{ID: "A2-5", Section: "A2", Level: "MUST", Basis: "stated", Verdict: Error, Reason: "port in use", Requirement: "Five.", Scenarios: []string{"A2/broken"},
				Evidence: []Evidence{{Scenario: "A2/broken", Verdict: Error, Seen: "port in use"}}},
			{ID: "A2-6", Section: "A2", Level: "MUST", Basis: "stated", Verdict: Error, Reason: "port in use", Requirement: "Six.", Scenarios: []string{"A2/broken"},
				Evidence: []Evidence{{Scenario: "A2/broken", Verdict: Error, Seen: "port in use"}}},
			{ID: "A2-7", Section: "A2", Level: "MUST", Basis: "stated", Verdict: NotJudged, Reason: "no scenario judges it yet", Requirement: "Seven."},
		},
		Scenarios: []Scenario{
			{ID: "A1/order", Title: "three records are written and read", Clauses: []string{"A1-1", "A1-2"}, Outcome: "completed", Repro: repro("A1/order"), Started: at, Timing: Timing{80, 60, 20, 10}, Trace: trace},
			{ID: "A1/empty", Title: "nothing is written", Clauses: []string{"A1-2"}, Outcome: "stopped", Reason: "it ended", Repro: repro("A1/empty"), Started: at, Timing: Timing{40, 30, 10, 5}},
			{ID: "A2/names", Title: "odd names", Clauses: []string{"A1.1-3"}, Outcome: "completed", Repro: repro("A2/names"), Started: at, Timing: Timing{2500, 2400, 100, 50}},
			{ID: "A2/broken", Title: "a port is needed", Clauses: []string{"A2-5", "A2-6"}, Outcome: "error", Reason: "port in use", Repro: repro("A2/broken"), Started: at, Timing: Timing{5, 0, 5, 2}, Trace: []Block{{"last words", "bind: address already in use"}}},
			{ID: "A2/http", Title: "over HTTP", Clauses: []string{"A2-1", "A2-2"}, Outcome: "not-run", Reason: "the subject was declared to lack http", Repro: repro("A2/http")},
		},
	}
	r.Count()
	return r
}

func (t Terminal) text(tb testing.TB, r *Result) string {
	tb.Helper()
	var b strings.Builder
	if err := t.Write(&b, r); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

func TestTerminalGolden(t *testing.T) {
	plain := Terminal{Layout: page.Layout{Width: 100}, Explain: "pugcheck explain", Unjudged: "pugcheck clauses --unjudged"}
	golden(t, "every_kind.txt", plain.text(t, everyKind()))
	verbose := plain
	verbose.Verbose, verbose.Timing, verbose.Width = true, true, 60
	golden(t, "every_kind_verbose.txt", verbose.text(t, everyKind()))

	good := everyKind()
	good.Clauses, good.Scenarios, good.Profile, good.Subject.BuiltIn = good.Clauses[:1], good.Scenarios[:1], Profile{Strict: true}, true
	good.Scenarios[0].Trace, good.Selection = nil, []string{"A1/order"}
	good.Count()
	golden(t, "conforming.txt", plain.text(t, good))

	blocked := everyKind()
	blocked.Blocked = "the subject ended (exit status 1) without doing anything; it wrote nothing to stderr"
	blocked.Clauses = []Clause{blocked.Clauses[1], blocked.Clauses[5], blocked.Clauses[11]}
	blocked.Scenarios = []Scenario{blocked.Scenarios[0], blocked.Scenarios[4]}
	blocked.Clauses[1].Reason, blocked.Scenarios[1].Reason = "the subject did not get through A1/order", "the subject did not get through A1/order"
	blocked.Count()
	golden(t, "blocked.txt", plain.text(t, blocked))
}

func TestColourIsNeverTheOnlySign(t *testing.T) {
	t.Setenv("NO_COLOR", "")
	coloured := Terminal{Layout: page.Layout{Width: 100, Colour: true}}.text(t, everyKind())
	if !strings.Contains(coloured, "\x1b[") {
		t.Fatal("no colours")
	}
	if got, want := stripColours(coloured), (Terminal{Layout: page.Layout{Width: 100}}).text(t, everyKind()); got != want {
		t.Errorf("text differs beside the colours:\n%s", cmp.Diff(want, got))
	}
}

func stripColours(s string) string {
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(s, "\x1b[")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		_, s, _ = strings.Cut(after, "m")
	}
}

func TestLinesKeepToTheWidth(t *testing.T) {
	for _, width := range []int{40, 61, 100} {
		text := Terminal{Layout: page.Layout{Width: width}}.text(t, everyKind())
		for _, l := range strings.Split(text, "\n") {
			// A command is there to be copied, the counts are one line, and a table has its columns.
			whole := strings.Contains(l, "Repeat with") || strings.HasPrefix(l, "12 clauses:") || strings.Contains(l, "not ex.") || strings.HasSuffix(strings.TrimSpace(l), "·") || strings.HasPrefix(l, "‼ A2  ")
			if n := len([]rune(l)); n > width && !whole {
				t.Errorf("width %d: %d characters: %s", width, n, l)
			}
		}
		if strings.Contains(text, "\x1b") {
			t.Error("a control character of the subject reached the terminal")
		}
	}
}

func TestJSONGolden(t *testing.T) {
	data, err := everyKind().JSON()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "every_kind.json", string(data))
	empty, err := (&Result{Clauses: []Clause{{}}, Scenarios: []Scenario{{}}}).JSON()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(empty), "null") {
		t.Errorf("a list is null:\n%s", empty)
	}
	var back Result
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	again, err := back.JSON()
	if err != nil || string(again) != string(data) {
		t.Errorf("the JSON form does not survive a round trip: %v", err)
	}
}

// listedKinds is a result with unstable clauses and a list of known failures, in every state.
func listedKinds() *Result {
	r := everyKind()
	r.Repeats = 3
	r.Clauses[1].Known = "the old encoder is kept until spring"
	r.Clauses[2].Verdict, r.Clauses[2].Runs, r.Clauses[2].Reason = Unstable, []Verdict{Fail, Pass, Fail}, "fails in runs 1 and 3 of 3, passes in run 2"
	r.Clauses[2].Evidence[0].Runs, r.Clauses[2].Evidence[0].Times = []int{1, 3}, 2
	r.Clauses[2].Evidence = append(r.Clauses[2].Evidence, Evidence{Scenario: "A1/order", Verdict: Pass, Acceptable: "If-None-Match: * on every PUT", Seen: "on all of 3", Runs: []int{2}})
	entry := func(clause string, state KnownState, advice string) KnownFailure {
		return KnownFailure{Clause: clause, Verdict: Fail, Reason: "some reason", Messages: []string{"a piece"}, Line: 3, LastLine: 6, State: state, Advice: advice}
	}
	r.Known = &KnownFailures{File: "known.yaml", Entries: []KnownFailure{
		entry("A1-2", KnownHolds, ""),
		entry("A1-1", KnownPasses, "remove lines 3 to 6 of known.yaml: A1-1 passes now"),
		entry("A1.1-1", KnownDiffers, `it fails in runs 1 and 3 of 3, passes in run 2: add "verdict: unstable" to lines 7 to 9 of known.yaml if that is known`),
		entry("A2-3", KnownNothing, "remove lines 10 to 12 of known.yaml: nothing decided A2-3: the subject never did it"),
		entry("A2-5", KnownOutside, "the suite or its environment broke on it"),
		{Capability: "http", Verdict: Unstable, Reason: "not yet", Messages: []string{"a piece"}, State: KnownHolds, Advice: "it passed in all of 3 runs; if it is mended, remove line 14 of known.yaml"},
	}}
	r.Count()
	return r
}

func TestKnownAndUnstableGolden(t *testing.T) {
	plain := Terminal{Layout: page.Layout{Width: 100}, Explain: "pugcheck explain"}
	golden(t, "known.txt", plain.text(t, listedKinds()))
	verbose := plain
	verbose.Verbose = true
	golden(t, "known_verbose.txt", verbose.text(t, listedKinds()))
}

func TestStandingBesideAList(t *testing.T) {
	listed := func(change func(*Result)) *Result {
		r := listedKinds()
		r.Clauses, r.Scenarios, r.Known.Entries = r.Clauses[:2], r.Scenarios[:1], r.Known.Entries[:1]
		change(r)
		r.Count()
		return r
	}
	for name, tc := range map[string]struct {
		change func(*Result)
		want   Standing
	}{
		"all as listed":              {func(*Result) {}, AsListed},
		"an entry is out of date":    {func(r *Result) { r.Known.Entries[0].State = KnownPasses }, Outdated},
		"an entry was left out":      {func(r *Result) { r.Known.Entries[0].State = KnownOutside }, AsListed},
		"another clause":             {func(r *Result) { r.Clauses[0].Verdict = Fail }, NotConforming},
		"an unstable clause":         {func(r *Result) { r.Clauses[0].Verdict, r.Clauses[0].Runs = Unstable, []Verdict{Pass, Fail} }, NotConforming},
		"an unstable recommendation": {func(r *Result) { r.Clauses[0].Verdict, r.Clauses[0].Runs = Unstable, []Verdict{Pass, Warn} }, AsListed},
		"the suite broke":            {func(r *Result) { r.Clauses[0].Verdict = Error }, Troubled},
		"broke behind a known one": {func(r *Result) {
			r.Clauses[1].Evidence = append(r.Clauses[1].Evidence, Evidence{Scenario: "A1/order", Verdict: Error})
		}, Troubled},
		"broke, and is out of date":   {func(r *Result) { r.Clauses[0].Verdict = Error; r.Known.Entries[0].State = KnownPasses }, Troubled},
		"it was cut short":            {func(r *Result) { r.Complete = false }, Incomplete},
		"known without a list at all": {func(r *Result) { r.Known = nil }, AsListed},
	} {
		r := listed(tc.change)
		if got := r.Standing(); got != tc.want || got.Succeeds() != (tc.want == AsListed) {
			t.Errorf("%s: %s, want %s: %s", name, got, tc.want, r.Sentence())
		}
	}
}

func TestRunList(t *testing.T) {
	for want, runs := range map[string][]int{
		"run 3": {3}, "runs 1 and 2": {1, 2}, "runs 1 to 3": {1, 2, 3}, "runs 1, 2 and 4": {1, 2, 4}, "runs 1 to 4, 6 and 8 to 10": {1, 2, 3, 4, 6, 8, 9, 10},
	} {
		if got := RunList(runs); got != want {
			t.Errorf("%v: %q, want %q", runs, got, want)
		}
	}
}
