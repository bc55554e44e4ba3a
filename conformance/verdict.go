package conformance

import (
	"strings"

	"github.com/pugcheck/pugcheck/harness/report"
)

// SeverityOf is what a violation of a clause of the given level and basis leads
// to: only a stated or derived MUST or MUST NOT fails a subject. What the text
// recommends, permits, or does not say is a warning.
func SeverityOf(level, basis string) report.Verdict {
	if strings.HasPrefix(level, "MUST") && basis != "assumed" {
		return report.Fail
	}
	return report.Warn
}

// Strictly is the verdict under strict rules: a warning fails, except where the
// clause is a permission, which nobody can violate.
func Strictly(v report.Verdict, level string) report.Verdict {
	if v == report.Warn && level != "MAY" {
		return report.Fail
	}
	return v
}

// gravest is the verdict of all findings together; NotExercised where there is none.
// Trouble in one scenario keeps the passes of others from counting as the whole story.
func gravest(findings []report.Evidence) report.Verdict {
	worst := report.NotExercised
	for _, f := range findings {
		if f.Verdict.Gravity() > worst.Gravity() {
			worst = f.Verdict
		}
	}
	return worst
}
