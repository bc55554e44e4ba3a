package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	goruntime "runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pugcheck/pugcheck/conformance"
	"github.com/pugcheck/pugcheck/conformance/known"
	"github.com/pugcheck/pugcheck/conformance/profile"
	"github.com/pugcheck/pugcheck/conformance/pugmark"
	runner "github.com/pugcheck/pugcheck/conformance/run"
	"github.com/pugcheck/pugcheck/harness/report"
	"github.com/pugcheck/pugcheck/harness/subject"
)

// suiteFlags are the flags that every suite has, as given.
type suiteFlags struct {
	profile string
	strict  bool
	seed    uint64
	workers int
	repeat  int
	known   string
	only    []string
	skip    []string
	timeout time.Duration
	reports []string
	timing  bool
	verbose bool
	list    bool
	require string // --requirements

	artifacts string // folder
}

// register adds the flags to a command. subject names what is judged, in messages.
func (f *suiteFlags) register(cmd *cobra.Command, subject string) {
	flags := cmd.Flags()
	flags.StringVar(&f.profile, "profile", "", "profile `FILE` (default ./"+profile.DefaultFile+" where it exists)")
	flags.BoolVar(&f.strict, "strict", false, "warnings fail, except on what is only permitted")
	flags.Uint64Var(&f.seed, "seed", 0, "seed `N` of everything random (default: drawn, and printed)")
	flags.StringArrayVar(&f.only, "only", nil, "only what `SELECTOR` names: clause, section, glob or scenario; repeatable, or comma-separated")
	flags.StringArrayVar(&f.skip, "skip", nil, "leave out what `SELECTOR` names")
	reportFlag(flags, &f.reports, report.Formats)
	flags.StringVar(&f.artifacts, "artifacts", "", "keep in `DIR` what each scenario left behind that went wrong, for pugcheck repro")
	flags.StringVar(&f.require, "requirements", "", "judge by the released set `NAME` ("+wholeSet+": everything that this version demands, the default)")
	flags.StringVar(&f.known, "known-failing", "", "failures that are listed in `FILE` do not count; one that passes or fails otherwise does")
	flags.IntVar(&f.repeat, "repeat", 1, "run each scenario `N` times; a clause that varies is unstable, which fails")
	flags.BoolVar(&f.timing, "timing", false, "show where the time went")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "show everything in full")
	flags.BoolVar(&f.list, "list", false, "list the scenarios that would be run, and run none")
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		if strings.HasPrefix(err.Error(), "unknown") {
			return usageError(fmt.Errorf("%w; if it is meant for the %[2]s, quote the command (pugcheck %[2]s './impl --flag') or put -- before it", err, subject))
		}
		return usageError(err)
	})
}

// reportFlag is --report, for every command that has a result to write.
func reportFlag(flags *pflag.FlagSet, reports *[]string, formats []string) {
	flags.StringArrayVar(reports, "report", nil, "also write the result as `FORMAT=FILE`; known: "+strings.Join(formats, ", ")+"; FILE - is standard output")
}

// judgement is a run of a suite, from what was asked for to what is told.
type judgement struct {
	flags   suiteFlags
	self    string // this executable
	profile profile.Profile
	subject report.Subject
	program string   // what has to exist and be executable; "" = nothing
	typed   []string // the command as words that can be typed again
	suite   *conformance.Suite
	job     any                               // what a worker makes the suite of
	first   string                            // scenario that is run first and alone
	atOnce  int                               // scenarios side by side, unless --workers says otherwise
	without []string                          // capabilities that the subject was declared to lack
	known   *known.List                       // nil = none
	again   []string                          // flags of the suite's own that repeat this judgement
	lacking func(conformance.Scenario) string // why the subject cannot be asked this; "" if it can
	asked   func(conformance.Scenario) bool   // whether it can, apart from what flags leave out of this run
	over    string                            // the one transport that it is met over, where it need not offer others; "" = all

	demands

	clauses map[string]bool // in the result
	implied map[string]bool // of these, the ones that are there only if something judged them
	chosen  []conformance.Scenario
	left    map[string]string // selected scenarios that are not run, with the reason
	seed    uint64
	changed func(flag string) bool
	invoked string // how pugcheck was called
}

// newJudgement is a judgement whose profile is loaded and whose subject is still to be
// filled in.
func newJudgement(cmd *cobra.Command, f suiteFlags) (*judgement, error) {
	j := &judgement{flags: f, changed: cmd.Flags().Changed, invoked: invocation(), left: map[string]string{}, implied: map[string]bool{}}
	var err error
	if j.self, err = os.Executable(); err != nil {
		return nil, fmt.Errorf("finding pugcheck itself, which plays the other side: %w", err)
	}
	if j.profile, err = profile.Load(f.profile); err != nil {
		return nil, err
	}
	if j.demands, err = demandsOf(f.require, j.profile.Requirements); err != nil {
		return nil, err
	}
	if j.changed("timeout") && f.timeout <= 0 {
		return nil, fmt.Errorf("--timeout: a step needs some time, such as 20s")
	}
	if j.changed("workers") && f.workers < 1 {
		return nil, fmt.Errorf("--workers: at least one is needed")
	}
	if f.repeat < 1 {
		return nil, fmt.Errorf("--repeat: at least one run is needed")
	}
	// Short enough to be typed, and exact in every JSON reader.
	if j.seed = f.seed; !j.changed("seed") {
		j.seed = 1 + rand.Uint64N(999_999)
	}
	return j, nil
}

// splitCommand makes words of the arguments that name a subject. One word with spaces
// is split as a shell would, unless a file has that name; words behind "--" stay as
// they are. typed is what can be typed again.
func splitCommand(args []string, dash int) (words, typed []string, err error) {
	words = args
	if dash < 0 {
		dash = len(args)
	}
	if dash == 1 && strings.ContainsAny(args[0], " \t\n'\"\\") && !exists(args[0]) {
		split, err := subject.SplitCommand(args[0])
		if err != nil {
			return nil, nil, err
		}
		words = append(split, args[1:]...)
	}
	if len(words) == 0 || words[0] == "" {
		return nil, nil, errors.New("the command is empty; name a program")
	}
	typed = append([]string{"--"}, words...)
	splits := len(words) == 1 && strings.ContainsAny(words[0], " \t\n'\"\\") // what would be split if it stood alone
	if !splits && !slices.ContainsFunc(words[1:], func(w string) bool { return strings.HasPrefix(w, "-") }) {
		typed = words
	}
	return words, typed, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// plan is what is run: the chosen scenarios, and before them the preflight.
func (j *judgement) plan() runner.Plan {
	scenarios := j.chosen
	isPreflight := func(sc conformance.Scenario) bool { return sc.ID == j.first }
	if !slices.ContainsFunc(scenarios, isPreflight) {
		i := slices.IndexFunc(j.suite.Scenarios, isPreflight)
		scenarios = append([]conformance.Scenario{j.suite.Scenarios[i]}, scenarios...)
		delete(j.left, j.first)
	}
	return runner.Plan{
		Worker: []string{j.self, "worker", j.suite.Name}, Job: j.job, Seed: j.seed, Repeat: j.flags.repeat, Workers: j.workers(),
		Preflight: j.first, Scenarios: scenarios,
	}
}

func (j *judgement) workers() int {
	if j.flags.workers > 0 {
		return j.flags.workers
	}
	return j.atOnce
}

// result is everything that is told about the run.
func (j *judgement) result(r runner.Result, trouble error, began time.Time) *report.Result {
	notRun := map[string]string{}
	for id, why := range j.left {
		notRun[id] = why
	}
	for id, why := range r.NotRun {
		notRun[id] = why
	}
	a := conformance.Aggregation{
		Catalogue: pugmark.Catalogue(), Suite: j.suite, Selected: j.clauses, Strict: j.flags.strict, Released: j.released,
		Outcomes: r.Outcomes, NotRun: notRun, Repeats: j.flags.repeat, Repeat: j.repeat,
	}
	out := &report.Result{
		Schema: report.Schema, Suite: j.suite.Name, Subject: j.subject,
		Profile: report.Profile{File: j.profile.File, Strict: j.flags.strict, Without: j.without},
		Seed:    j.seed, Repeats: j.flags.repeat, Versions: versions(), Selection: j.flags.only, Skipped: j.flags.skip,
		Started: began.UTC(), DurationMS: float64(time.Since(began).Microseconds()) / 1000, Workers: j.workers(),
		Complete: !r.Interrupted && trouble == nil && unstartable(r) == "", Blocked: r.Blocked,
		Scenarios: a.Scenarios(),
	}
	out.Specification, out.Requirements, out.Subject.Transports = pugmark.Specification, j.requirements(j.suite, j.first, j.over), j.transports(r)
	for _, c := range a.Clauses() {
		switch why := j.outside(j.suite, c.ID); {
		case j.implied[c.ID] && len(c.Evidence) == 0:
		case why != "":
			c.Outside = why
			out.Beyond = append(out.Beyond, c)
		default:
			if c.Verdict == report.NotExercised {
				c.Over = elsewhereOnly(j.suite, j.first, c.ID, j.over)
			}
			out.Clauses = append(out.Clauses, c)
		}
	}
	switch {
	case trouble != nil:
		out.Incomplete = trouble.Error()
	case unstartable(r) != "":
		out.Incomplete = unstartable(r)
	case r.Interrupted:
		out.Incomplete = fmt.Sprintf("it was interrupted after %d of %s", len(r.Outcomes), j.extent(r.Planned))
	}
	j.context(out)
	if j.known != nil {
		j.known.Apply(out, j.suite, j.asked)
	}
	out.Count()
	return out
}

// context adds the headings and readings that the clauses of a result name.
func (j *judgement) context(out *report.Result) {
	sections, readings := map[string]bool{}, map[string]bool{}
	for _, c := range append(slices.Clone(out.Clauses), out.Beyond...) {
		sections[c.Section] = true
		for _, r := range c.Readings {
			readings[r] = true
		}
	}
	for _, s := range pugmark.Catalogue().Sections() {
		if sections[s.ID] {
			out.Sections = append(out.Sections, report.Section{ID: s.ID, Title: s.Title})
		}
	}
	for _, r := range pugmark.Catalogue().Readings() {
		if readings[r.ID] {
			out.Readings = append(out.Readings, report.Reading{ID: r.ID, Title: r.Title, Basis: string(r.Basis)})
		}
	}
}

// extent names so many runs of scenarios.
func (j *judgement) extent(n int) string {
	noun := "scenarios"
	switch {
	case j.flags.repeat > 1:
		noun = "runs of scenarios"
	case n == 1:
		noun = "scenario"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// repeat is the command line that runs one scenario again with the same seed, more than
// once where it takes that to see what was seen.
func (j *judgement) repeat(scenario string, runs int) string {
	words := []string{j.suite.Name, "--seed", fmt.Sprint(j.seed), "--only", scenario}
	if j.flags.profile != "" {
		words = append(words, "--profile", j.flags.profile)
	}
	if j.flags.strict {
		words = append(words, "--strict")
	}
	if j.flags.require != "" {
		words = append(words, "--requirements", j.flags.require)
	}
	if j.changed("timeout") {
		words = append(words, "--timeout", j.flags.timeout.String())
	}
	if runs > 1 {
		words = append(words, "--repeat", fmt.Sprint(runs))
	}
	words = append(words, j.again...)
	return j.invoked + " " + profile.Quote(append(words, j.typed...))
}

// invocation is how pugcheck can be called again from here.
func invocation() string {
	if strings.Contains(os.Args[0], "/go-build") { // go run, whose executable is gone by then
		return "go run ./cmd/pugcheck"
	}
	return profile.Quote(os.Args[:1])
}

func versions() map[string]string {
	v := map[string]string{
		"catalogue": pugmark.Catalogue().Digest(), "go": goruntime.Version(), "platform": goruntime.GOOS + "/" + goruntime.GOARCH, "pugcheck": "(devel)",
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		v["pugcheck"] = info.Main.Version
	}
	return v
}
