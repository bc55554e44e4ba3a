package conformance

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/pugcheck/pugcheck/conformance/catalogue"
	"github.com/pugcheck/pugcheck/conformance/requirements"
	"github.com/pugcheck/pugcheck/harness/report"
)

// Aggregation turns the outcomes of scenarios into one verdict per clause.
//
// Guarantees: the result depends on the outcomes only, not on the order in which
// they came; a clause passes only if some scenario recorded a pass for it; every
// verdict that is not a pass, failure or warning has a reason.
type Aggregation struct {
	Catalogue *catalogue.Catalogue
	Suite     *Suite
	Selected  map[string]bool                        // clauses in the result; nil = all that name the suite
	Strict    bool                                   // warnings fail, except on permissions
	Released  *requirements.Set                      // clauses count at the level that they have there; nil = as the catalogue says
	Outcomes  []Outcome                              // of scenarios that ran
	Repeats   int                                    // how often each scenario was to be run; 0 = once
	NotRun    map[string]string                      // scenarios that were to be judged by and did not run, with the reason
	Repeat    func(scenario string, runs int) string // the command that runs a scenario so often again; may be nil
}

// Evidence that is kept for one clause. Violations of an invariant repeat in
// every scenario, and so do its passes. Beyond these violations only those are kept
// that say something else than any before them.
const (
	keptViolations      = 5
	keptKinds           = 25
	keptInvariantPasses = 3
)

// Clauses are the verdicts in the order of the catalogue.
func (a *Aggregation) Clauses() []report.Clause {
	judges := map[string][]string{}
	for _, sc := range a.Suite.Scenarios {
		for _, id := range sc.Clauses {
			judges[id] = append(judges[id], sc.ID)
		}
	}
	always := map[string]bool{}
	for _, id := range a.Suite.Always {
		always[id] = true
	}
	findings := a.findings()

	out := []report.Clause{}
	for _, c := range a.Catalogue.Clauses() {
		if a.Selected != nil && !a.Selected[c.ID] || !slices.Contains(c.Suites, a.Suite.Name) {
			continue
		}
		out = append(out, a.clause(c, judges[c.ID], always[c.ID], findings[c.ID]))
	}
	return out
}

// findings is the evidence on each clause: by scenario in the order of the suite, then
// by run. What several runs saw in the same way is one piece of evidence.
func (a *Aggregation) findings() map[string][]report.Evidence {
	position := map[string]int{}
	for i, sc := range a.Suite.Scenarios {
		position[sc.ID] = i
	}
	outcomes := slices.Clone(a.Outcomes)
	slices.SortStableFunc(outcomes, func(x, y Outcome) int {
		return cmp.Or(cmp.Compare(position[x.ID], position[y.ID]), cmp.Compare(x.Run, y.Run))
	})
	out := map[string][]report.Evidence{}
	at := map[string]int{}
	for _, o := range outcomes {
		for _, f := range o.Findings {
			e := report.Evidence{
				Scenario: o.ID, Verdict: f.Verdict, Acceptable: f.Acceptable, Seen: f.Seen,
				Readings: f.Readings, Where: f.Where, Times: f.Times,
			}
			list := out[f.Clause]
			if o.Run > 0 {
				key := observation(f.Clause, e)
				if i, seen := at[key]; seen {
					list[i].Times += f.Times
					if runs := list[i].Runs; runs[len(runs)-1] != o.Run {
						list[i].Runs = append(runs, o.Run)
					}
					continue
				}
				e.Runs, at[key] = []int{o.Run}, len(list)
			}
			out[f.Clause] = append(list, e)
		}
	}
	return out
}

// observation is the same for what is the same observation in another run. Passes
// are told apart by the check alone.
func observation(clause string, e report.Evidence) string {
	seen := e.Seen
	if e.Verdict == report.Pass {
		seen = ""
	}
	return strings.Join([]string{clause, e.Scenario, string(e.Verdict), e.Where, e.Acceptable, seen}, "\x00")
}

func (a *Aggregation) clause(c *catalogue.Clause, judges []string, always bool, found []report.Evidence) report.Clause {
	level, basis := c.Level, c.Basis
	if a.Released != nil {
		level, basis = a.Released.Level(c)
		for i := range found {
			if found[i].Verdict == report.Fail {
				found[i].Verdict = SeverityOf(string(level), string(basis))
			}
		}
	}
	if a.Strict {
		for i := range found {
			found[i].Verdict = Strictly(found[i].Verdict, string(level))
		}
	}
	out := report.Clause{
		ID: c.ID, Section: c.Section, Level: string(level), Basis: string(basis), Requirement: c.Says,
		Check: c.Check, Readings: readings(c, found), Scenarios: judgedBy(judges, found), Evidence: []report.Evidence{},
	}
	switch {
	case len(found) > 0:
		out.Verdict = gravest(found)
		out.Evidence, out.MoreEvidence = keep(found, judges)
		out.PerScenario = perScenario(found)
		if runs := a.byRun(found); varies(runs) {
			out.Verdict, out.Runs, out.Reason = report.Unstable, runs, howRunsDiffer(runs)
		} else if out.Reason = reasonOf(out.Verdict, found); out.Reason == undecided {
			for _, id := range judges { // what was to decide it did not run, as over the other transport
				if why, ok := a.NotRun[id]; ok {
					out.Reason = why + "; what ran beside it saw nothing that decides it"
					break
				}
			}
		}
	case len(judges) == 0 && !always && c.Untestable != "":
		out.Verdict, out.Reason = report.Untestable, c.Untestable
	case len(judges) == 0 && !always:
		out.Verdict, out.Reason = report.NotJudged, "no scenario judges it yet"
	default:
		out.Verdict, out.Reason = report.NotExercised, a.whyNotRun(judges)
	}
	return out
}

// undecided is the reason of a scenario that ran to its end without a word on a clause.
const undecided = "the scenario saw nothing that decides it"

// whyNotRun is the common reason why none of the scenarios said anything.
func (a *Aggregation) whyNotRun(judges []string) string {
	for _, id := range judges {
		if why, ok := a.NotRun[id]; ok {
			return why
		}
	}
	if len(judges) == 0 {
		for _, sc := range a.Suite.Scenarios { // an invariant, and nothing came to a point that decides it
			if why, ok := a.NotRun[sc.ID]; ok {
				return why
			}
		}
	}
	return "nothing that decides it happened in any scenario"
}

// perScenario is the gravest finding of each scenario that made one.
func perScenario(found []report.Evidence) map[string]report.Verdict {
	out := map[string]report.Verdict{}
	for _, e := range found {
		if before, ok := out[e.Scenario]; !ok || e.Verdict.Gravity() > before.Gravity() {
			out[e.Scenario] = e.Verdict
		}
	}
	return out
}

// keep selects the evidence that is worth reading: the gravest first, violations
// up to a limit, of passes the first of each scenario.
func keep(found []report.Evidence, judges []string) (kept []report.Evidence, more int) {
	kept = []report.Evidence{}
	sorted := slices.Clone(found)
	sort.SliceStable(sorted, func(i, j int) bool { return sorted[i].Verdict.Gravity() > sorted[j].Verdict.Gravity() })
	passed, violated, kinds := map[string]bool{}, map[string]bool{}, map[string]bool{}
	violations, invariantPasses := 0, 0
	for _, e := range sorted {
		e.Times = times(e.Times)
		switch e.Verdict {
		case report.Pass:
			if passed[e.Scenario] {
				continue
			}
			passed[e.Scenario] = true
			if !slices.Contains(judges, e.Scenario) && !violated[e.Scenario] {
				if invariantPasses++; invariantPasses > keptInvariantPasses {
					more++
					continue
				}
			}
		case report.Fail, report.Warn, report.Error:
			violated[e.Scenario] = true
			kind := string(e.Verdict) + kindOf(e.Acceptable+"\n"+e.Seen)
			if violations++; violations > keptViolations && (kinds[kind] || len(kinds) >= keptKinds) {
				more++
				continue
			}
			kinds[kind] = true
		}
		kept = append(kept, e)
	}
	return kept, more
}

// kindOf is a text without the words that hold digits: much the same from scenario to
// scenario where the same thing was seen.
func kindOf(text string) string {
	words := strings.Fields(text)
	for i, w := range words {
		if strings.ContainsAny(w, "0123456789") {
			words[i] = "#"
		}
	}
	return strings.Join(words, " ")
}

// reasonOf explains the verdicts that are no judgement on the subject.
func reasonOf(v report.Verdict, found []report.Evidence) string {
	if v != report.Error && v != report.NotExercised {
		return ""
	}
	var reasons []string
	for _, e := range found {
		if e.Verdict == v && !slices.Contains(reasons, e.Seen) {
			reasons = append(reasons, e.Seen)
		}
	}
	if len(reasons) > 1 { // that of a scenario which knows why says more
		reasons = slices.DeleteFunc(reasons, func(r string) bool { return r == undecided })
	}
	switch len(reasons) {
	case 0:
		return "no reason was given"
	case 1:
		return reasons[0]
	case 2:
		return reasons[0] + " (and one more reason)"
	default:
		return fmt.Sprintf("%s (and %d more reasons)", reasons[0], len(reasons)-1)
	}
}

// readings are those the catalogue names and those the checks leaned on.
func readings(c *catalogue.Clause, found []report.Evidence) []string {
	out := append([]string{}, c.Readings...)
	for _, e := range found {
		for _, r := range e.Readings {
			if !slices.Contains(out, r) {
				out = append(out, r)
			}
		}
	}
	return out
}

// judgedBy are the scenarios labelled with the clause, then those that said
// something about it as an invariant.
func judgedBy(judges []string, found []report.Evidence) []string {
	out := append([]string{}, judges...)
	for _, e := range found {
		if !slices.Contains(out, e.Scenario) {
			out = append(out, e.Scenario)
		}
	}
	return out
}

// Scenarios are the outcomes and what did not run, in the order of the suite.
func (a *Aggregation) Scenarios() []report.Scenario {
	done := map[string][]Outcome{}
	for _, o := range a.Outcomes {
		done[o.ID] = append(done[o.ID], o)
	}
	out := []report.Scenario{}
	for _, sc := range a.Suite.Scenarios {
		r := report.Scenario{ID: sc.ID, Title: sc.Title, Clauses: append([]string{}, sc.Clauses...)}
		runs := 1
		if all := done[sc.ID]; len(all) > 0 {
			var o Outcome
			if o, runs = gravestRun(all); runs > 1 {
				runs = a.Repeats
			}
			r.Run, r.Outcome, r.Reason, r.Started, r.Timing, r.Trace = o.Run, o.Outcome, o.Reason, o.Started, o.Timing, o.Trace
			r.Timeline, r.Artifacts = o.Timeline, o.Artifacts
		} else if why, ok := a.NotRun[sc.ID]; ok {
			r.Outcome, r.Reason = "not-run", why
		} else {
			continue
		}
		if a.Repeat != nil {
			r.Repro = a.Repeat(sc.ID, runs)
		}
		out = append(out, r)
	}
	return out
}

// times leaves out the ordinary count of one.
func times(n int) int {
	if n == 1 {
		return 0
	}
	return n
}
