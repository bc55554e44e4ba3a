package conformance

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/onsi/gomega/format"
	"github.com/onsi/gomega/types"

	"github.com/pugcheck/pugcheck/harness/report"
)

// Finding is one observation that a scenario made about one clause.
type Finding struct {
	Clause     string         `json:"clause"`
	Verdict    report.Verdict `json:"verdict"` // Pass, Fail, Warn, NotExercised or Error
	Acceptable string         `json:"acceptable,omitempty"`
	Seen       string         `json:"seen,omitempty"`
	Readings   []string       `json:"readings,omitempty"`
	Where      string         `json:"where,omitempty"`
	Times      int            `json:"times"`
	At         time.Time      `json:"at,omitzero"` // when it was made first
}

// Severity tells what a violation of a clause leads to: Fail or Warn.
type Severity func(clause string) (report.Verdict, error)

// Ledger collects findings. It is safe for concurrent use: parts of a scenario
// may run in the goroutine of a held request.
type Ledger struct {
	mu       sync.Mutex
	severity Severity
	allowed  map[string]bool // nil = any clause
	findings []Finding
	index    map[string]int
}

// NewLedger returns an empty ledger. Clauses outside allowed (when not nil) are
// the suite's mistake and are recorded as errors, so that no verdict can come
// from a scenario that the index does not name for the clause.
func NewLedger(severity Severity, allowed []string) *Ledger {
	l := &Ledger{severity: severity, index: map[string]int{}}
	if allowed != nil {
		l.allowed = map[string]bool{}
		for _, id := range allowed {
			l.allowed[id] = true
		}
	}
	return l
}

// Findings returns what has been recorded, in order of first occurrence.
func (l *Ledger) Findings() []Finding {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Finding(nil), l.findings...)
}

// Judged tells whether any finding other than NotExercised exists for the clause.
func (l *Ledger) Judged(clause string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.findings {
		if f.Clause == clause && f.Verdict != report.NotExercised {
			return true
		}
	}
	return false
}

// Worst returns the findings that are not passes and not merely unexercised.
func (l *Ledger) Worst(verdicts ...report.Verdict) []Finding {
	var out []Finding
	for _, f := range l.Findings() {
		for _, v := range verdicts {
			if f.Verdict == v {
				out = append(out, f)
			}
		}
	}
	return out
}

func (l *Ledger) record(f Finding) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.allowed != nil && !l.allowed[f.Clause] {
		f.Seen = fmt.Sprintf("the scenario judged %s, which it is not labelled with (%s: %s)", f.Clause, f.Verdict, f.Seen)
		f.Verdict = report.Error
	}
	key := strings.Join([]string{f.Clause, string(f.Verdict), f.Where, f.Acceptable}, "\x00")
	if f.Verdict != report.Pass {
		key += "\x00" + f.Seen
	}
	if i, ok := l.index[key]; ok {
		l.findings[i].Times++
		return
	}
	f.Times, f.At = 1, time.Now()
	l.index[key] = len(l.findings)
	l.findings = append(l.findings, f)
}

// Clause begins an assertion about one clause.
func (l *Ledger) Clause(id string) Assertion { return Assertion{ledger: l, clause: id} }

// Assertion is a check on one clause in the making. Assertions are soft: a
// violated one is recorded with its evidence and the scenario goes on.
type Assertion struct {
	ledger   *Ledger
	clause   string
	readings []string
	capped   bool
	depth    int
}

// Assuming names the reading that this part of the check rests on, and caps a
// violation at a warning: what the text does not say fails nobody.
func (a Assertion) Assuming(readings ...string) Assertion {
	a.readings = append(append([]string(nil), a.readings...), readings...)
	a.capped = true
	return a
}

// Resting names a reading that follows from the text; a violation keeps its weight.
func (a Assertion) Resting(readings ...string) Assertion {
	a.readings = append(append([]string(nil), a.readings...), readings...)
	return a
}

// Warning caps a violation of this part at a warning, where the catalogue's
// check says "warning" without a reading.
func (a Assertion) Warning() Assertion {
	a.capped = true
	return a
}

// Calldepth moves the reported place of the check up by n callers, for checks
// that are written as functions.
func (a Assertion) Calldepth(n int) Assertion {
	a.depth += n
	return a
}

// Expect takes the observed value; To and NotTo complete the check.
func (a Assertion) Expect(actual any) Expectation { return Expectation{a, actual} }

// Expectation pairs an assertion with the observed value.
type Expectation struct {
	assertion Assertion
	actual    any
}

// To records a pass where the matcher accepts the value, else a violation.
// acceptable says in words which outcomes the clause allows.
func (e Expectation) To(m types.GomegaMatcher, acceptable string, args ...any) bool {
	return e.match(m, true, fmt.Sprintf(acceptable, args...))
}

// NotTo is To with the matcher negated.
func (e Expectation) NotTo(m types.GomegaMatcher, acceptable string, args ...any) bool {
	return e.match(m, false, fmt.Sprintf(acceptable, args...))
}

func (e Expectation) match(m types.GomegaMatcher, want bool, acceptable string) bool {
	a := e.assertion
	ok, err := m.Match(e.actual)
	switch {
	case err != nil:
		a.add(report.Error, acceptable, fmt.Sprintf("the check could not be made: %v", err))
		return false
	case ok == want:
		a.add(report.Pass, acceptable, shorten(format.Object(e.actual, 0), 160))
		return true
	}
	seen := m.FailureMessage(e.actual)
	if !want {
		seen = m.NegatedFailureMessage(e.actual)
	}
	a.violated(acceptable, shorten(seen, 2000))
	return false
}

// Holds is a check whose outcome the scenario worked out itself. seen describes
// the observation either way.
func (a Assertion) Holds(ok bool, acceptable, seen string, args ...any) bool {
	if len(args) > 0 {
		seen = fmt.Sprintf(seen, args...)
	}
	if ok {
		a.add(report.Pass, acceptable, shorten(seen, 160))
	} else {
		a.violated(acceptable, shorten(seen, 2000))
	}
	return ok
}

// NotExercised records that nothing decisive happened, and why.
func (a Assertion) NotExercised(reason string, args ...any) {
	a.add(report.NotExercised, "", fmt.Sprintf(reason, args...))
}

func (a Assertion) violated(acceptable, seen string) {
	v, err := a.ledger.severity(a.clause)
	if err != nil {
		a.add(report.Error, acceptable, err.Error())
		return
	}
	if a.capped && v == report.Fail {
		v = report.Warn
	}
	a.add(v, acceptable, seen)
}

func (a Assertion) add(v report.Verdict, acceptable, seen string) {
	a.ledger.record(Finding{Clause: a.clause, Verdict: v, Acceptable: acceptable, Seen: seen, Readings: a.readings, Where: where(a.depth)})
}

// where is the file:line of the nearest caller outside this file, plus skip.
func where(skip int) string {
	pcs := make([]uintptr, 16)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		f, more := frames.Next()
		if !strings.HasSuffix(f.File, "/conformance/ledger.go") {
			if skip == 0 {
				file := f.File
				if i := strings.LastIndex(file, "/conformance/"); i >= 0 {
					file = file[i+1:]
				}
				return fmt.Sprintf("%s:%d", file, f.Line)
			}
			skip--
		}
		if !more {
			return ""
		}
	}
}

// shorten cuts the middle out of long text, so that both ends stay readable.
func shorten(s string, max int) string {
	if len(s) <= max {
		return s
	}
	head, tail := max*2/3, max/3
	return strings.ToValidUTF8(s[:head], "") + fmt.Sprintf(" … %d bytes left out … ", len(s)-head-tail) + strings.ToValidUTF8(s[len(s)-tail:], "")
}
