package report

import (
	"strings"

	"github.com/pugcheck/pugcheck/harness/page"
)

// Verdict is what the evidence says about one clause.
type Verdict string

// The verdicts. Only Fail (and Warn under strict rules) speaks against the subject.
const (
	Pass         Verdict = "pass"          // exercised, decisive evidence, no violation
	Fail         Verdict = "fail"          // a stated or derived requirement was violated
	Warn         Verdict = "warn"          // a recommendation or an assumed reading was violated
	NotExercised Verdict = "not-exercised" // nothing decisive happened; the reason says why
	Untestable   Verdict = "untestable"    // no black-box observation can decide it
	Error        Verdict = "error"         // the suite or its environment broke
	NotJudged    Verdict = "not-judged"    // no scenario covers it
	Unstable     Verdict = "unstable"      // repeated scenarios did not agree
)

// gravity is the order of verdicts.
var gravity = map[Verdict]int{Fail: 8, Unstable: 7, Error: 6, Warn: 5, Pass: 4, NotExercised: 3, NotJudged: 2, Untestable: 1}

// Gravity orders verdicts by which of several counts, or is shown in place of all: a
// decisive failure stands even where the suite broke elsewhere, and a pass outweighs what
// was not decided. It is 0 for what is no verdict.
func (v Verdict) Gravity() int { return gravity[v] }

// graver is the verdict that counts where two findings differ.
func graver(a, b Verdict) Verdict {
	if b.Gravity() > a.Gravity() {
		return b
	}
	return a
}

// undecided tells whether the verdict says that nothing was decided.
func (v Verdict) undecided() bool { return v == NotExercised || v == Untestable || v == NotJudged }

// isFault tells whether it is about a fault: of the subject, or of the suite.
func (v Verdict) isFault() bool { return v.Gravity() > Pass.Gravity() }

// Words is a verdict as people read it.
func (v Verdict) Words() string { return strings.ReplaceAll(string(v), "-", " ") }

// class is a verdict as a CSS class. One that is not known has none.
func (v Verdict) class() string {
	if _, ok := marks[v]; ok {
		return string(v)
	}
	return ""
}

// ink is the colour of a verdict.
func ink(p page.Palette, v Verdict) page.Ink {
	switch v {
	case Pass:
		return p.Good
	case Fail, Error, Unstable:
		return p.Bad
	case Warn:
		return p.Caution
	}
	return p.Faint
}

// marks stand for verdicts at the beginning of a line, so that colour is never
// the only sign.
var marks = map[Verdict]string{Pass: "✓", Fail: "✗", Warn: "!", Error: "‼", Unstable: "~", NotExercised: "–", Untestable: "–", NotJudged: "–"}

// Mark stands for the verdict where there is no room for a word.
func (v Verdict) Mark() string { return marks[v] }

// Ink is the verdict's colour.
func (v Verdict) Ink(p page.Palette) page.Ink { return ink(p, v) }
