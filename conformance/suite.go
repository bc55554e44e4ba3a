package conformance

import (
	"fmt"
	"strings"

	"github.com/onsi/ginkgo/v2"

	"github.com/pugcheck/pugcheck/harness/artifacts"
	"github.com/pugcheck/pugcheck/harness/report"
)

// Suite is an ordered set of scenarios over one catalogue of clauses.
type Suite struct {
	Name      string
	Severity  Severity
	Labels    func(clause string) []string // further labels of a clause, such as its level
	Title     func(section string) string
	Always    []string // clauses that every scenario can give a verdict on
	Scenarios []Scenario
}

// Options say how declared scenarios are run.
type Options struct {
	Seed    uint64
	Runs    func(id string) []int // which runs of a scenario; nil = one, which has no number
	Started func(Turn)            // may be nil
	Done    func(Outcome)         // may be nil; called in the goroutine of the spec

	Artifacts *artifacts.Keeper // nil = nothing is kept
}

// Turn is one run of a scenario. Run counts from 1 where scenarios are repeated, and
// is 0 where they are not. All runs draw from the same seed: what differs between
// them is the subject's doing.
type Turn struct {
	ID  string `json:"id"`
	Run int    `json:"run,omitempty"`
}

// Declare turns the scenarios that keep says true for (nil = all) into Ginkgo
// specs: a container per section, a spec per scenario, labels naming the
// clauses. Call it before RunSpecs, in the process that runs them.
//
// Inside Ginkgo a spec fails when a clause failed or the suite broke, so that
// `ginkgo` and `go test` gate by themselves.
func (s *Suite) Declare(o Options, keep func(Scenario) bool) {
	for _, group := range bySection(s.Scenarios, keep) {
		title := group[0].Section()
		if s.Title != nil {
			title = strings.TrimSpace(title + " " + s.Title(title))
		}
		ginkgo.Describe(title, func() {
			for _, sc := range group {
				runs := []int{0}
				if o.Runs != nil {
					runs = o.Runs(sc.ID)
				}
				for _, run := range runs {
					s.declare(sc, Turn{sc.ID, run}, o)
				}
			}
		})
	}
}

func (s *Suite) declare(sc Scenario, turn Turn, o Options) {
	args := []any{ginkgo.Label(s.labels(sc)...)}
	if sc.Serial {
		args = append(args, ginkgo.Serial)
	}
	limit := sc.Limit
	if limit == 0 {
		limit = DefaultLimit
	}
	args = append(args, ginkgo.SpecTimeout(limit), func(ctx ginkgo.SpecContext) {
		if o.Started != nil {
			o.Started(turn)
		}
		out := execute(ctx, sc, o.Seed, s.Severity, s.Always, o.keeper(sc, turn.Run))
		out.Run = turn.Run
		if o.Done != nil {
			o.Done(out)
		}
		if text := violations(out); text != "" {
			ginkgo.Fail(text, 1)
		}
	})
	ginkgo.It(sc.ID+": "+sc.Title, args...)
}

// labels are the clauses and what the suite adds to each, without repetition.
// Ginkgo's label grammar keeps a few characters for itself.
func (s *Suite) labels(sc Scenario) []string {
	var out []string
	seen := map[string]bool{}
	add := func(l string) {
		if !seen[l] {
			seen[l] = true
			out = append(out, l)
		}
	}
	for _, id := range sc.Clauses {
		add(id)
		if s.Labels != nil {
			for _, l := range s.Labels(id) {
				add(l)
			}
		}
	}
	return out
}

func violations(o Outcome) string {
	var b strings.Builder
	for _, f := range o.Findings {
		if f.Verdict == report.Fail || f.Verdict == report.Error {
			fmt.Fprintf(&b, "%s %s at %s\n  acceptable: %s\n  seen: %s\n", f.Clause, f.Verdict, f.Where, f.Acceptable, f.Seen)
		}
	}
	if b.Len() == 0 {
		return ""
	}
	for _, bl := range o.Trace {
		fmt.Fprintf(&b, "--- %s\n%s\n", bl.Title, bl.Text)
	}
	return b.String()
}

// bySection groups scenarios by section in order of first appearance.
func bySection(all []Scenario, keep func(Scenario) bool) [][]Scenario {
	var order []string
	groups := map[string][]Scenario{}
	for _, sc := range all {
		if keep != nil && !keep(sc) {
			continue
		}
		sec := sc.Section()
		if groups[sec] == nil {
			order = append(order, sec)
		}
		groups[sec] = append(groups[sec], sc)
	}
	var out [][]Scenario
	for _, sec := range order {
		out = append(out, groups[sec])
	}
	return out
}
