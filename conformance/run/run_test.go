package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pugcheck/pugcheck/conformance"
	"github.com/pugcheck/pugcheck/harness/report"
)

// The test binary is its own worker process.
const workerVariable = "PUGCHECK_RUN_TEST_WORKER"

func TestMain(m *testing.M) {
	if os.Getenv(workerVariable) != "" {
		if err := Worker(os.Stdin, Results(), open); err != nil {
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// job is what the tests tell the workers.
type job struct {
	Names  []string // scenarios of the suite
	Dir    string   // where scenarios leave marks
	Broken bool     // the suite cannot be made
}

func open(raw json.RawMessage) (*conformance.Suite, error) {
	var j job
	if err := json.Unmarshal(raw, &j); err != nil {
		return nil, err
	}
	if j.Broken {
		return nil, errors.New("no suite today")
	}
	return j.suite(), nil
}

// suite makes scenarios by name: what stands before the dash is what they do.
func (j job) suite() *conformance.Suite {
	s := &conformance.Suite{Name: "fake", Always: []string{"C-always"}, Severity: func(string) (report.Verdict, error) { return report.Fail, nil }}
	for _, name := range j.Names {
		act, _, _ := strings.Cut(name, "-")
		sc := conformance.Scenario{ID: "X1/" + name, Title: act, Clauses: []string{"C-" + name}, Where: "here:1"}
		sc.Body = func(ctx context.Context, t *conformance.T) {
			j.mark(name)
			switch act {
			case "pass":
				n := t.Rand.Uint64()
				t.Clause("C-"+name).Holds(true, "a number", "%d", n)
			case "fail":
				t.Clause("C-"+name).Holds(false, "a pass", "a failure")
			case "beside":
				t.Clause("C-"+name).Holds(true, "a pass", "a pass")
				t.Clause("C-always").Holds(false, "a pass", "a failure of another kind")
			case "nothing":
			case "secondtime": // what nobody can do at once
				marks, err := os.ReadDir(j.Dir)
				t.Must(err)
				t.Clause("C-"+name).Holds(len(marks) > 1, "a mark of an earlier run", "%d marks", len(marks))
			case "stop":
				t.Stop("the subject went away")
			case "exit":
				fmt.Fprintln(os.Stderr, "farewell")
				os.Exit(5)
			case "panic":
				// A panic in another goroutine takes the process down.
				go func() { panic("out of hand") }()
				select {}
			case "hang":
				select {}
			case "wait":
				<-ctx.Done()
				t.Stop("interrupted")
			}
		}
		switch act {
		case "hang":
			sc.Limit = 50 * time.Millisecond
		case "pass":
			sc.Serial = strings.HasSuffix(name, "serial")
		}
		s.Scenarios = append(s.Scenarios, sc)
	}
	return s
}

// mark leaves a file that says that the scenario began, and in which process.
func (j job) mark(name string) {
	if j.Dir != "" {
		_ = os.WriteFile(filepath.Join(j.Dir, fmt.Sprintf("%s.%d", name, os.Getpid())), nil, 0o600)
	}
}

func plan(t *testing.T, names ...string) Plan {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	j := job{Names: names}
	return Plan{
		// A race-enabled binary would sleep a second at its end.
		Worker: []string{exe}, Env: []string{workerVariable + "=1", "GORACE=atexit_sleep_ms=0"}, Job: j, Seed: 7, Workers: 3,
		Scenarios: j.suite().Scenarios, Margin: 200 * time.Millisecond,
	}
}

// verdicts are the verdict and evidence of each scenario's own clause.
func verdicts(r Result) map[string]string {
	out := map[string]string{}
	for _, o := range r.Outcomes {
		name := strings.TrimPrefix(o.ID, "X1/")
		for _, f := range o.Findings {
			if f.Clause == "C-"+name {
				out[name] = string(f.Verdict)
			}
		}
	}
	return out
}

func TestEveryScenarioEndsInOnePlace(t *testing.T) {
	t.Parallel()
	names := []string{"fail-1", "nothing-1", "stop-1", "exit-1", "panic-1", "hang-1", "pass-serial"}
	want := map[string]string{"fail-1": "fail", "nothing-1": "not-exercised", "stop-1": "not-exercised", "exit-1": "error", "panic-1": "error", "hang-1": "error", "pass-serial": "pass"}
	for i := range 20 {
		name := fmt.Sprintf("pass-%d", i)
		names = append(names, name)
		want[name] = "pass"
	}
	r, err := Run(t.Context(), plan(t, names...))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, verdicts(r)); d != "" {
		t.Error(d)
	}
	if len(r.Outcomes) != len(names) || len(r.NotRun) != 0 || r.Interrupted || r.Blocked != "" {
		t.Errorf("%d outcomes of %d, not run %v, interrupted %v, blocked %q", len(r.Outcomes), len(names), r.NotRun, r.Interrupted, r.Blocked)
	}
	last := map[string]string{"exit-1": "farewell", "panic-1": "out of hand", "hang-1": "goroutine "}
	why := map[string]string{"exit-1": "exit status 5", "panic-1": "exit status 2", "hang-1": "said nothing for 250ms"}
	for _, o := range r.Outcomes {
		name := strings.TrimPrefix(o.ID, "X1/")
		if last[name] == "" {
			continue
		}
		if len(o.Trace) != 1 || !strings.Contains(o.Trace[0].Text, last[name]) || !strings.Contains(o.Reason, why[name]) {
			t.Errorf("%s: reason %q, trace %v", name, o.Reason, o.Trace)
		}
	}
	if o := r.Outcomes[len(r.Outcomes)-1]; o.ID != "X1/pass-serial" {
		t.Errorf("the serial scenario was not last, but %s", o.ID)
	}
}

func TestSameOutcomesForTheSameSeed(t *testing.T) {
	t.Parallel()
	var names []string
	for i := range 30 {
		names = append(names, fmt.Sprintf("pass-%d", i))
	}
	evidence := func(workers int, seed uint64) []string {
		p := plan(t, names...)
		p.Workers, p.Seed = workers, seed
		r, err := Run(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, o := range r.Outcomes {
			out = append(out, o.ID+" "+o.Findings[0].Seen)
		}
		sort.Strings(out)
		return out
	}
	one := evidence(1, 42)
	if d := cmp.Diff(one, evidence(5, 42)); d != "" {
		t.Errorf("one worker and five differ: %s", d)
	}
	if cmp.Equal(one, evidence(5, 43)) {
		t.Error("another seed gave the same numbers")
	}
	if len(one) != 30 {
		t.Errorf("%d outcomes", len(one))
	}
}

func TestRepeatedRuns(t *testing.T) {
	t.Parallel()
	p := plan(t, "pass-1", "fail-1", "exit-1", "pass-serial")
	p.Repeat = 3
	r, err := Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]int{}
	seen := map[string]bool{}
	for _, o := range r.Outcomes {
		got[o.ID] = append(got[o.ID], o.Run)
		if o.ID == "X1/pass-1" {
			seen[o.Findings[0].Seen] = true
		}
	}
	for id, runs := range got {
		slices.Sort(runs)
		if !slices.Equal(runs, []int{1, 2, 3}) {
			t.Errorf("%s: runs %v", id, runs)
		}
	}
	if len(got) != 4 || len(r.Outcomes) != 12 || r.Planned != 12 || r.Interrupted || len(r.NotRun) > 0 {
		t.Errorf("%d scenarios, %d outcomes, %d planned, not run %v", len(got), len(r.Outcomes), r.Planned, r.NotRun)
	}
	if len(seen) != 1 {
		t.Errorf("runs of one seed draw differently: %v", seen)
	}
}

func TestPreflightMayTakeSeveralRuns(t *testing.T) {
	t.Parallel()
	p := plan(t, "pass-1", "secondtime-0")
	p.Job = job{Names: []string{"pass-1", "secondtime-0"}, Dir: t.TempDir()}
	p.Preflight, p.Repeat = "X1/secondtime-0", 4
	r, err := Run(t.Context(), p)
	if err != nil || r.Blocked != "" || len(r.Outcomes) != 8 {
		t.Errorf("%v, blocked %q, %d outcomes", err, r.Blocked, len(r.Outcomes))
	}
	p = plan(t, "pass-1", "fail-0")
	p.Preflight, p.Repeat = "X1/fail-0", 3
	r, err = Run(t.Context(), p)
	if err != nil || r.Blocked == "" || len(r.Outcomes) != 3 || len(r.NotRun) != 1 {
		t.Errorf("%v, blocked %q, %d outcomes, not run %v", err, r.Blocked, len(r.Outcomes), r.NotRun)
	}
}

func TestPreflightBlocks(t *testing.T) {
	t.Parallel()
	for name, reason := range map[string]string{
		"pass-0": "", "beside-0": "", "fail-0": "C-fail-0: a failure", "stop-0": "the subject went away",
		"nothing-0": "did nothing", "exit-0": "exit status 5",
	} {
		p := plan(t, "pass-1", name, "pass-2")
		p.Preflight = "X1/" + name
		r, err := Run(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if r.Outcomes[0].ID != p.Preflight {
			t.Errorf("%s was not run first", name)
		}
		if reason == "" {
			if r.Blocked != "" || len(r.Outcomes) != 3 {
				t.Errorf("%s: blocked %q, %d outcomes", name, r.Blocked, len(r.Outcomes))
			}
			continue
		}
		if !strings.Contains(r.Blocked, reason) || len(r.Outcomes) != 1 || len(r.NotRun) != 2 {
			t.Errorf("%s: blocked %q, %d outcomes, not run %v", name, r.Blocked, len(r.Outcomes), r.NotRun)
		}
	}
}

func TestWorkersThatCannotWork(t *testing.T) {
	t.Parallel()
	p := plan(t, "pass-1")
	p.Job = job{Broken: true}
	r, err := Run(t.Context(), p)
	if err == nil || !strings.Contains(err.Error(), "no suite today") || len(r.NotRun) != 1 {
		t.Errorf("%v, not run %v", err, r.NotRun)
	}
	p = plan(t, "pass-1")
	p.Job = job{Names: []string{"pass-2"}}
	if _, err := Run(t.Context(), p); err == nil || !strings.Contains(err.Error(), "no scenario X1/pass-1") {
		t.Errorf("%v", err)
	}
	// A worker that ends without a word is tried twice, and never for ever.
	p = plan(t, "pass-1", "pass-2")
	p.Worker, p.Env = []string{"true"}, nil
	r, err = Run(t.Context(), p)
	if err != nil || len(r.Outcomes) != 2 || r.Outcomes[0].Outcome != "error" {
		t.Errorf("%v, %+v", err, r)
	}
	p.Worker = []string{filepath.Join(t.TempDir(), "missing")}
	r, err = Run(t.Context(), p)
	if err != nil || len(r.Outcomes) != 2 || !strings.Contains(r.Outcomes[0].Reason, "could not be started") {
		t.Errorf("%v, %+v", err, r)
	}
}

func TestLongScenariosGoFirstAndAlone(t *testing.T) {
	p := &pool{tries: map[conformance.Turn]int{}}
	long := conformance.Scenario{ID: "long", Lasts: 10 * time.Second}
	longer := conformance.Scenario{ID: "longer", Lasts: 20 * time.Second}
	scenarios := []conformance.Scenario{{ID: "a"}, long, {ID: "pre"}, {ID: "s", Serial: true}, longer}
	for i := range 40 {
		scenarios = append(scenarios, conformance.Scenario{ID: fmt.Sprint(i)})
	}
	first, parallel, serial := divide(Plan{Scenarios: scenarios, Preflight: "pre"})
	if len(first) != 1 || len(serial) != 1 || len(parallel) != len(scenarios)-2 {
		t.Fatalf("%d %d %d", len(first), len(parallel), len(serial))
	}
	order := func(seed uint64) []string {
		_, parallel, _ := divide(Plan{Seed: seed, Scenarios: scenarios, Preflight: "pre"})
		var ids []string
		for _, sc := range parallel {
			ids = append(ids, sc.ID)
		}
		return ids
	}
	if one := order(1); !cmp.Equal(one, order(1)) || cmp.Equal(one, order(2)) || one[0] != "longer" || one[1] != "long" {
		t.Errorf("the seed does not decide the order: %v, then %v, then %v", one, order(1), order(2))
	}
	p.queue = parallel
	var sizes []int
	for {
		b := p.take(t.Context(), 2)
		if b == nil {
			break
		}
		sizes = append(sizes, len(b))
		if len(sizes) == 1 && b[0].ID != "longer" || len(sizes) == 2 && b[0].ID != "long" {
			t.Errorf("batch %d is %v", len(sizes), b)
		}
	}
	if want := []int{1, 1, 13, 9, 6, 4, 3, 2, 2, 1, 1}; !cmp.Equal(sizes, want) {
		t.Errorf("batches of %v, want %v", sizes, want)
	}
}
