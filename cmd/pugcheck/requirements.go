package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pugcheck/pugcheck/conformance"
	"github.com/pugcheck/pugcheck/conformance/catalogue"
	"github.com/pugcheck/pugcheck/conformance/pugmark"
	"github.com/pugcheck/pugcheck/conformance/pugmark/handler"
	"github.com/pugcheck/pugcheck/conformance/pugmark/runtime"
	"github.com/pugcheck/pugcheck/conformance/requirements"
	runner "github.com/pugcheck/pugcheck/conformance/run"
	"github.com/pugcheck/pugcheck/harness/report"
)

// wholeSet is the name of the set that is not released: what this version demands.
const wholeSet = "current"

// demands are the clauses that a subject is judged by.
type demands struct {
	released *requirements.Set // nil = everything that this version demands
	counting map[string]bool   // selected clauses that count
}

// demandsOf finds the set that the flag names, or else the profile.
func demandsOf(flag, inProfile string) (demands, error) {
	name, from := flag, "--requirements"
	if name == "" {
		name, from = inProfile, "requirements of the profile"
	}
	if name == "" || name == wholeSet {
		return demands{}, nil
	}
	set, err := pugmark.Requirements(name)
	if err != nil {
		return demands{}, fmt.Errorf("%s: %w, and %s for everything that this version demands", from, err, wholeSet)
	}
	return demands{released: set}, nil
}

// currentRequirements is the set of what this version demands.
func currentRequirements() *requirements.Set {
	return requirements.Of(pugmark.Catalogue(), requirements.Judged(judges(), map[string][]string{"runtime": runtime.Always(), "handler": handler.Always()}))
}

// outside is why a clause does not count; "" if it does.
func (d demands) outside(s *conformance.Suite, id string) string {
	if d.released == nil {
		return ""
	}
	return d.released.Outside(id, s.Name, judgedIn(s, id))
}

// judgedIn tells whether anything in the suite gives a verdict on the clause.
func judgedIn(s *conformance.Suite, id string) bool {
	return slices.Contains(s.Always, id) || slices.ContainsFunc(s.Scenarios, func(sc conformance.Scenario) bool { return slices.Contains(sc.Clauses, id) })
}

// level is the level at which a clause counts.
func (d demands) level(c *catalogue.Clause) catalogue.Level {
	if d.released == nil {
		return c.Level
	}
	level, _ := d.released.Level(c)
	return level
}

// asReleased is a clause with the level and basis that it has in the set, and whether it
// is in the set.
func (d demands) asReleased(c *catalogue.Clause) (*catalogue.Clause, bool) {
	if d.released == nil {
		return c, true
	}
	if _, ok := d.released.Entry(c.ID); !ok {
		return nil, false
	}
	then := *c
	then.Level, then.Basis = d.released.Level(c)
	return &then, true
}

// named says which set a list of clauses is of.
func (f clauseFilter) named(w io.Writer) error {
	wanted, err := demandsOf(f.require, "")
	if err != nil {
		return usageError(err)
	}
	set, name := wanted.released, f.require
	if set == nil {
		set = currentRequirements()
	}
	_, err = fmt.Fprintf(w, "requirements %s, digest %s; released are %s\n", name, set.Digest(), strings.Join(pugmark.RequirementSets(), ", "))
	return err
}

// requirements describes the set for a suite. Clauses about another transport than over
// are not among the MUSTs.
func (d demands) requirements(s *conformance.Suite, first, over string) report.Requirements {
	set := d.released
	if set == nil {
		set = currentRequirements()
	}
	out := report.Requirements{Set: set.Name, Digest: set.Digest()}
	for _, c := range pugmark.Catalogue().Clauses() {
		if !slices.Contains(c.Suites, s.Name) || d.outside(s, c.ID) != "" {
			continue
		}
		out.Clauses++
		testable := c.Untestable == "" || judgedIn(s, c.ID)
		if strings.HasPrefix(string(d.level(c)), "MUST") && testable && elsewhereOnly(s, first, c.ID, over) == "" {
			out.Musts++
		}
	}
	return out
}

// elsewhereOnly is the transport that all scenarios of a clause need, where that is
// another one than the subject is met over; "" = the clause can be judged over it too.
// The preflight, first, is told over whichever transport there is, and says nothing
// about what a clause needs.
func elsewhereOnly(s *conformance.Suite, first, id, over string) string {
	other := ""
	if over == "" || slices.Contains(s.Always, id) {
		return ""
	}
	for _, sc := range s.Scenarios {
		if sc.ID == first || !slices.Contains(sc.Clauses, id) {
			continue
		}
		if len(sc.Needs) == 0 || slices.Contains(sc.Needs, over) {
			return ""
		}
		other = sc.Needs[0]
	}
	return other
}

// counted finds the selected clauses that count, and fails where there is none.
func (j *judgement) counted() error {
	j.counting = map[string]bool{}
	why := ""
	for _, c := range pugmark.Catalogue().Clauses() {
		if !j.clauses[c.ID] {
			continue
		}
		if outside := j.outside(j.suite, c.ID); outside != "" {
			why = outside
		} else {
			j.counting[c.ID] = true
		}
	}
	if len(j.counting) == 0 && why != "" {
		return fmt.Errorf("nothing that is selected is in the requirements %s (%s); --requirements %s judges by it", j.released.Name, why, wholeSet)
	}
	return nil
}

// transports are those over which something was decided, in their usual order.
func (j *judgement) transports(r runner.Result) []string {
	needs := map[string][]string{}
	for _, sc := range j.suite.Scenarios {
		needs[sc.ID] = sc.Needs
	}
	seen := map[string]bool{}
	for _, o := range r.Outcomes {
		if slices.ContainsFunc(o.Findings, decides) {
			seen[j.met(needs[o.ID])] = true
		}
	}
	var out []string
	for _, name := range []string{"subprocess", "http", "rpc"} {
		if seen[name] {
			out = append(out, name)
		}
	}
	return out
}

func decides(f conformance.Finding) bool {
	return f.Verdict == report.Pass || f.Verdict == report.Fail || f.Verdict == report.Warn
}

// met is the transport of a scenario with these needs.
func (j *judgement) met(needs []string) string {
	switch {
	case j.over != "" && j.profile.Handler.RPC:
		return "rpc"
	case j.over != "":
		return j.over
	case slices.Contains(needs, "rpc"):
		return "rpc"
	case slices.Contains(needs, "http"):
		return "http"
	}
	return "subprocess"
}
