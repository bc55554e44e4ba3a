package report

import "fmt"

// Standing is what a whole run says about the subject.
type Standing string

// The standings, in the order in which they are considered.
const (
	Incomplete    Standing = "incomplete"     // the run did not come to its end
	NotConforming Standing = "not-conforming" // a verdict went against the subject, or it did nothing to be judged by
	Troubled      Standing = "troubled"       // the suite or its environment broke, so nothing can be said for the subject
	Conforming    Standing = "conforming"     // something was judged and nothing went against the subject
)

// Standing weighs the counts, so Count comes first. A decisive failure in a
// complete run stands, even where the suite broke elsewhere.
func (r *Result) Standing() Standing {
	s := r.Summary
	switch {
	case !r.Complete:
		return Incomplete
	case s.Fail > 0:
		return NotConforming
	case s.Error > 0 || r.broken() > 0:
		return Troubled
	case r.Blocked != "" || s.Judged == 0:
		return NotConforming
	}
	return Conforming
}

// broken counts scenarios that broke. One can break after it has judged all of
// its clauses, for example while it cleans up.
func (r *Result) broken() int {
	n := 0
	for _, sc := range r.Scenarios {
		if sc.Outcome == "error" {
			n++
		}
	}
	return n
}

// Sentence says in words how it stands.
func (r *Result) Sentence() string {
	s, name := r.Summary, r.Subject.Name
	switch r.Standing() {
	case Incomplete:
		why := r.Incomplete
		if why == "" {
			why = "the run did not come to its end"
		}
		so := ""
		if s.Fail > 0 {
			so = fmt.Sprintf(" So far it violates %s.", count(s.Fail, "clause"))
		}
		return fmt.Sprintf("No statement on %s: %s.%s", name, why, so)
	case NotConforming:
		switch {
		case r.Blocked != "":
			return fmt.Sprintf("%s does not conform: it did not get through the first scenario, so the others were not started.", name)
		case s.Fail > 0:
			return fmt.Sprintf("%s does not conform: it violates %d of the %s that were judged.", name, s.Fail, count(s.Judged, "clause"))
		}
		return fmt.Sprintf("%s was not shown to conform: nothing that it did decided any clause.", name)
	case Troubled:
		if s.Error == 0 {
			return fmt.Sprintf("No statement on %s: %s broke. Nothing was found against it.", name, count(r.broken(), "scenario"))
		}
		return fmt.Sprintf("No statement on %s: the suite or its environment broke in %s. Nothing else was found against it.", name, count(s.Error, "clause"))
	}
	with := ""
	if s.Warn > 0 {
		with = fmt.Sprintf(", with %s", count(s.Warn, "warning"))
	}
	all := fmt.Sprintf("all %d clauses that were judged are kept", s.Judged)
	switch {
	case s.Judged == 1:
		all = "the one clause that was judged is kept"
	case s.Warn > 0:
		all = fmt.Sprintf("no binding clause is violated among the %d that were judged", s.Judged)
	}
	where := ""
	if len(r.Selection)+len(r.Skipped) > 0 {
		where = " in what was selected"
	}
	rest := ""
	if s.NotJudged > 0 {
		rest = fmt.Sprintf("; %s not judged yet", isAre(s.NotJudged))
	}
	return fmt.Sprintf("%s conforms%s: %s%s%s.", name, where, all, with, rest)
}

func isAre(n int) string {
	if n == 1 {
		return "1 is"
	}
	return fmt.Sprintf("%d are", n)
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
