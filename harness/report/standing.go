package report

import "fmt"

// Standing is what a whole run says about the subject.
type Standing string

// The standings, in the order in which they are considered.
const (
	Incomplete    Standing = "incomplete"     // the run did not come to its end
	NotConforming Standing = "not-conforming" // a verdict went against the subject, or it did nothing to be judged by
	Troubled      Standing = "troubled"       // the suite or its environment broke, so nothing can be said for the subject
	Outdated      Standing = "outdated"       // nothing new went against the subject, but the list of known failures describes it no more
	AsListed      Standing = "as-listed"      // it violates clauses, and all of these failures are listed as known
	Conforming    Standing = "conforming"     // something was judged and nothing went against the subject
)

// Succeeds tells whether the run is a success for whoever gates on it.
func (s Standing) Succeeds() bool { return s == Conforming || s == AsListed }

// Standing weighs the counts, so Count comes first. A decisive failure in a
// complete run stands, even where the suite broke elsewhere.
func (r *Result) Standing() Standing {
	s := r.Summary
	unlisted, listed := r.against()
	switch {
	case !r.Complete:
		return Incomplete
	case unlisted > 0:
		return NotConforming
	case s.Error > 0 || r.broken() > 0:
		return Troubled
	case r.Blocked != "" || s.Judged == 0:
		return NotConforming
	case len(r.stale()) > 0:
		return Outdated
	case listed > 0:
		return AsListed
	}
	return Conforming
}

// Against tells whether the verdict goes against the subject, known or not: it fails,
// always or in some of the repeated runs. A recommendation that is followed at times
// weighs no more than one that never is.
func (c Clause) Against() bool {
	if c.Verdict != Unstable {
		return c.Verdict == Fail
	}
	for _, v := range c.Runs {
		if v == Fail {
			return true
		}
	}
	return false
}

// against counts the clauses whose verdict goes against the subject: those that
// are not listed as known, and those that are.
func (r *Result) against() (unlisted, listed int) {
	for _, c := range r.Clauses {
		switch {
		case c.Against() && c.Known == "":
			unlisted++
		case c.Against():
			listed++
		}
	}
	return unlisted, listed
}

// stale are the entries of the list of known failures that have to be changed.
func (r *Result) stale() []KnownFailure {
	var out []KnownFailure
	if r.Known != nil {
		for _, k := range r.Known.Entries {
			if k.Stale() {
				out = append(out, k)
			}
		}
	}
	return out
}

// listName is the file in which known failures are listed.
func (r *Result) listName() string {
	if r.Known == nil {
		return "the list of known failures"
	}
	return r.Known.File
}

// broken counts scenarios that broke. One can break after it has judged all of
// its clauses, for example while it cleans up, or in a clause whose failure is known.
func (r *Result) broken() int {
	broke := map[string]bool{}
	for _, sc := range r.Scenarios {
		if sc.Outcome == "error" {
			broke[sc.ID] = true
		}
	}
	for _, c := range r.Clauses {
		for _, e := range c.Evidence {
			if c.Known != "" && e.Verdict == Error {
				broke[e.Scenario] = true
			}
		}
	}
	return len(broke)
}

// ofThese tells known violations from others, and how many do not show in every run.
func (r *Result) ofThese(unlisted, listed int) string {
	out := ""
	if listed > 0 {
		out += fmt.Sprintf(", %d of them as %s lists", listed, r.listName())
	}
	unstable := 0
	for _, c := range r.Clauses {
		if c.Verdict == Unstable && c.Against() {
			unstable++
		}
	}
	switch {
	case unstable > 0 && unstable == unlisted+listed:
		out += ", not in every run"
	case unstable > 0:
		out += fmt.Sprintf(", %d of them not in every run", unstable)
	}
	return out
}

// entries counts entries of a list, and verbEnd is the end of the verb behind it.
func entries(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}

func verbEnd(n int) string {
	if n == 1 {
		return "s"
	}
	return ""
}
