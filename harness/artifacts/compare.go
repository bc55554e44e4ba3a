package artifacts

import (
	"cmp"
	"slices"

	"github.com/pugcheck/pugcheck/harness/report"
)

// Likeness says how what was found on a clause compares to what is found now.
type Likeness string

// The likenesses.
const (
	Same    Likeness = "same"    // it fails in the same way
	Differs Likeness = "differs" // it fails in another way
	Gone    Likeness = "gone"    // nothing is found
	New     Likeness = "new"     // nothing was found before
)

// Compared is one clause on which something was or is found.
type Compared struct {
	Clause    string
	Likeness  Likeness
	Then, Now Finding // the gravest; the zero Finding where there is none
}

// Compare compares findings clause by clause, those of then first. A clause fails in
// the same way when its gravest finding is made again with the same verdict and, but
// for what differs from run to run (report.Stable), the same words.
func Compare(then, now []Finding) []Compared {
	var out []Compared
	for _, clause := range clausesOf(then) {
		c := Compared{Clause: clause, Then: gravest(then, clause), Now: gravest(now, clause), Likeness: Differs}
		switch i := slices.IndexFunc(now, func(f Finding) bool { return alike(c.Then, f) }); {
		case i >= 0:
			c.Likeness, c.Now = Same, now[i]
		case c.Now.Clause == "":
			c.Likeness = Gone
		}
		out = append(out, c)
	}
	for _, clause := range clausesOf(now) {
		if gravest(then, clause).Clause == "" {
			out = append(out, Compared{Clause: clause, Likeness: New, Now: gravest(now, clause)})
		}
	}
	return out
}

func alike(a, b Finding) bool {
	return a.Clause == b.Clause && a.Verdict == b.Verdict &&
		report.Stable(a.Acceptable) == report.Stable(b.Acceptable) && report.Stable(a.Seen) == report.Stable(b.Seen)
}

func clausesOf(findings []Finding) []string { return Manifest{Findings: findings}.ClauseIDs() }

// gravest is the first finding on the clause of the gravest verdict that there is.
func gravest(findings []Finding, clause string) Finding {
	var of []Finding
	for _, f := range findings {
		if f.Clause == clause {
			of = append(of, f)
		}
	}
	if len(of) == 0 {
		return Finding{}
	}
	return slices.MaxFunc(of, func(a, b Finding) int { return cmp.Compare(a.Verdict.Gravity(), b.Verdict.Gravity()) })
}
