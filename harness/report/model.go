// Package report holds the one result model that every rendering is made from,
// and the renderings. It knows verdicts, clauses and scenarios by name only; what
// they demand comes in as text.
package report

import "time"

// Schema names the version of the JSON form of Result.
const Schema = "pugcheck.results/v1"

// Result is one run of a suite against one subject.
type Result struct {
	Schema     string            `json:"schema"`
	Suite      string            `json:"suite"`
	Subject    Subject           `json:"subject"`
	Profile    Profile           `json:"profile"`
	Seed       uint64            `json:"seed"`
	Versions   map[string]string `json:"versions"`
	Selection  []string          `json:"selection"` // selectors as given; empty = everything
	Skipped    []string          `json:"skipped"`   // selectors of what was left out of that
	Started    time.Time         `json:"started"`
	DurationMS float64           `json:"duration_ms"`
	Workers    int               `json:"workers"` // processes that ran scenarios side by side, at most
	Complete   bool              `json:"complete"`
	Incomplete string            `json:"incomplete,omitempty"` // why not everything selected was run
	Blocked    string            `json:"blocked,omitempty"`    // why the subject was not judged beyond the first scenario
	Sections   []Section         `json:"sections"`             // headings of the clauses, in their order
	Readings   []Reading         `json:"readings"`             // those that clauses name
	Clauses    []Clause          `json:"clauses"`              // catalogue order
	Scenarios  []Scenario        `json:"scenarios"`            // order of the suite
	Summary    Summary           `json:"summary"`

	Requirements  Requirements   `json:"requirements"`
	Specification string         `json:"specification"`            // what was judged against, such as "acme v1"
	Beyond        []Clause       `json:"beyond,omitempty"`         // judged too, but not in the requirement set: they count for nothing
	Conclusion    *Conclusion    `json:"conclusion"`               // what may be said of the subject; made by Conclude when the result is written
	Repeats       int            `json:"repeats"`                  // how often each scenario was run
	Known         *KnownFailures `json:"known_failures,omitempty"` // nil = none were listed
}

// Requirements is the set of clauses that was judged against.
type Requirements struct {
	Set     string `json:"set"`     // name of a released set; empty = every clause of this version
	Digest  string `json:"digest"`  // SHA-256 of the set, in hex
	Clauses int    `json:"clauses"` // in the set that bind this kind of subject
	Musts   int    `json:"musts"`   // of these, the MUST and MUST NOT that can be tested
}

// KnownFailures says what became of the failures that were listed as known.
type KnownFailures struct {
	File    string         `json:"file"`
	Entries []KnownFailure `json:"entries"`
}

// KnownFailure is one entry of the list. Exactly one of Clause and Capability is set.
type KnownFailure struct {
	Clause     string     `json:"clause,omitempty"`
	Capability string     `json:"capability,omitempty"`
	Verdict    Verdict    `json:"verdict"`          // what is listed: fail, or unstable
	Reason     string     `json:"reason"`           // why it is tolerated
	Messages   []string   `json:"messages"`         // pieces of what is expected to be seen; each observation has to hold one of them
	Line       int        `json:"line"`             // of the file, at which the entry begins
	LastLine   int        `json:"last_line"`        // at which it ends
	Covers     []string   `json:"covers"`           // clauses with a violation that is as listed
	State      KnownState `json:"state"`            //
	Advice     string     `json:"advice,omitempty"` // what to change in the file; for KnownHolds a hint, for KnownOutside why it was not decided
}

// KnownState is how an entry compares to the run.
type KnownState string

// The states. All but KnownHolds and KnownOutside make a run fail.
const (
	KnownHolds   KnownState = "holds"   // it fails as listed, and does not count
	KnownPasses  KnownState = "passes"  // it does not fail any more
	KnownDiffers KnownState = "differs" // it fails in another way
	KnownNothing KnownState = "nothing" // it was to be judged, and nothing was decided
	KnownOutside KnownState = "outside" // this run could not decide it: left out, cut short, or the suite broke there
)

// Stale tells whether the entry has to be changed for a run like this to succeed.
func (k KnownFailure) Stale() bool {
	return k.State == KnownPasses || k.State == KnownDiffers || k.State == KnownNothing
}

// Subject says what was judged.
type Subject struct {
	Name       string   `json:"name"`    // what the user typed, for people
	Command    []string `json:"command"` // argv prefix; empty for a service
	BuiltIn    bool     `json:"built_in,omitempty"`
	Transports []string `json:"transports"` // over which it was judged: "subprocess", "http", "rpc"
}

// Profile says under which assumptions it was judged.
type Profile struct {
	File    string   `json:"file,omitempty"`
	Strict  bool     `json:"strict"`
	Without []string `json:"without"` // capabilities the user took out
}

// Section is a heading that clauses stand under.
type Section struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

// Reading is what the suite takes an unclear place of the text to say.
type Reading struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Basis string `json:"basis"`
}

// Clause is the verdict on one clause with the evidence for it.
type Clause struct {
	ID           string     `json:"id"`
	Section      string     `json:"section"`
	Level        string     `json:"level"`
	Basis        string     `json:"basis"`
	Verdict      Verdict    `json:"verdict"`
	Requirement  string     `json:"requirement"`
	Check        string     `json:"check,omitempty"`  // how it is judged, in words
	Reason       string     `json:"reason,omitempty"` // for verdicts other than pass, fail and warn; of unstable: how its runs differ
	Readings     []string   `json:"readings"`
	Outside      string     `json:"outside,omitempty"`       // why it is not in the requirement set, for those in Beyond
	Over         string     `json:"over,omitempty"`          // transport that it is about, where the subject is met over another one and need not offer it
	Scenarios    []string   `json:"scenarios"`               // those that judge it
	Evidence     []Evidence `json:"evidence"`                // the gravest first
	MoreEvidence int        `json:"more_evidence,omitempty"` // observations of the same kind that are not listed
	Runs         []Verdict  `json:"runs,omitempty"`          // of an unstable clause: what each of the repeated runs says by itself
	Known        string     `json:"known,omitempty"`         // why this failure is tolerated, where it is listed as known

	PerScenario map[string]Verdict `json:"per_scenario,omitempty"` // the gravest that each scenario found; complete where Evidence is cut
}

// Evidence is one observation that bears on a clause.
type Evidence struct {
	Scenario   string   `json:"scenario"`
	Verdict    Verdict  `json:"verdict"`
	Acceptable string   `json:"acceptable,omitempty"` // every outcome that would have passed
	Seen       string   `json:"seen,omitempty"`
	Readings   []string `json:"readings,omitempty"`
	Where      string   `json:"where,omitempty"` // file:line of the check
	Times      int      `json:"times,omitempty"` // how often the same observation was made, if more than once
	Runs       []int    `json:"runs,omitempty"`  // in which of the repeated runs, from 1; empty = there was only one
}

// Scenario is one executed scenario.
type Scenario struct {
	ID      string    `json:"id"`
	Title   string    `json:"title"`
	Clauses []string  `json:"clauses"`
	Outcome string    `json:"outcome"` // "completed", "stopped" (the subject did not go along), "error", "not-run"
	Reason  string    `json:"reason,omitempty"`
	Repro   string    `json:"repro"`         // one shell command that repeats it with the same seed
	Run     int       `json:"run,omitempty"` // of repeated runs, the one that outcome, timing, trace and timeline are from: the gravest
	Started time.Time `json:"started,omitzero"`
	Timing  Timing    `json:"timing"`
	Trace   []Block   `json:"trace,omitempty"` // kept where a verdict is not a pass

	Timeline  []Event `json:"timeline,omitempty"`  // kept where a verdict is not a pass
	Artifacts string  `json:"artifacts,omitempty"` // folder with all that is needed to repeat it: absolute here, in a file relative to that
}

// Event is one thing that happened in a scenario.
type Event struct {
	AtMS   float64 `json:"at_ms"`            // since the scenario began
	Lane   string  `json:"lane"`             // who acted: "subject", "handler", "s3", "suite"
	Text   string  `json:"text"`             // one line
	Detail string  `json:"detail,omitempty"` // bytes, headers: any number of lines
}

// Timing splits a scenario's wall time, in milliseconds. Scenarios run side by
// side and wait for a processor as well, so the last figure tells best what the
// suite costs.
type Timing struct {
	TotalMS      float64 `json:"total_ms"`
	SubjectMS    float64 `json:"subject_ms"`     // waiting for the subject's processes
	HarnessMS    float64 `json:"harness_ms"`     // the rest
	HarnessCPUMS float64 `json:"harness_cpu_ms"` // processor time of the suite itself, servers and all
}

// Block is a titled piece of evidence: requests, bytes, stderr.
type Block struct {
	Title string `json:"title"`
	Text  string `json:"text"`
}

// Summary counts clauses by verdict.
type Summary struct {
	Clauses      int `json:"clauses"`
	Pass         int `json:"pass"`
	Fail         int `json:"fail"`
	Warn         int `json:"warn"`
	NotExercised int `json:"not_exercised"`
	Untestable   int `json:"untestable"`
	Error        int `json:"error"`
	NotJudged    int `json:"not_judged"`
	Unstable     int `json:"unstable"`
	Known        int `json:"known"`  // of fail, warn and unstable, those that are listed as known
	Judged       int `json:"judged"` // pass + fail + warn + unstable
	Scenarios    int `json:"scenarios"`
}

// Count fills the summary from the clauses and scenarios.
func (r *Result) Count() {
	s := Summary{Clauses: len(r.Clauses), Scenarios: len(r.Scenarios)}
	for _, c := range r.Clauses {
		switch c.Verdict {
		case Pass:
			s.Pass++
		case Fail:
			s.Fail++
		case Warn:
			s.Warn++
		case NotExercised:
			s.NotExercised++
		case Untestable:
			s.Untestable++
		case Error:
			s.Error++
		case NotJudged:
			s.NotJudged++
		case Unstable:
			s.Unstable++
		}
		if c.Known != "" {
			s.Known++
		}
	}
	s.Judged = s.Pass + s.Fail + s.Warn + s.Unstable
	r.Summary = s
}
