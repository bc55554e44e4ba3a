package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/pugcheck/pugcheck/harness/document"
)

// junitXML is the result in the XML that Jenkins and most CI servers read as tests.
// It keeps to what the schema of Jenkins allows, so there is nothing in it that only
// some of them know.
//
// A test case is a pair of a clause and a scenario that judges it. Test suites are the
// sections, and a last one holds what went wrong beside the verdicts. The time of a
// scenario counts at the first test case that it has.
func junitXML(r *Result, _ string) ([]byte, error) {
	w := &junitWriter{r: r, traced: map[string]string{}, timed: map[string]bool{}}
	out := junit.Testsuites{Name: document.Plain("pugcheck " + r.Suite + ": " + r.Subject.Name)}
	for _, s := range w.suites() {
		s.ID = len(out.Suites)
		out.AddSuite(s)
	}
	// Of all suites together the schema counts tests, failures and errors only.
	out.Skipped, out.Disabled = 0, 0
	out.Time = junitSeconds(w.total)

	var b bytes.Buffer
	b.WriteString(xml.Header)
	if err := out.WriteXML(&b); err != nil {
		return nil, fmt.Errorf("result as JUnit XML: %w", err)
	}
	return b.Bytes(), nil
}

type junitWriter struct {
	r      *Result
	traced map[string]string // scenario → test case that shows what happened in it
	timed  map[string]bool   // scenarios whose time is counted
	total  float64
}

// suites are the sections in their order, then the troubles.
func (w *junitWriter) suites() []junit.Testsuite {
	titles := w.r.titles()
	var out []junit.Testsuite
	at := map[string]int{}
	spent := map[string]float64{}
	for _, tc := range w.r.cases() {
		section := tc.clause.Section
		i, ok := at[section]
		if !ok {
			i = len(out)
			at[section] = i
			out = append(out, w.suite(strings.TrimSpace(section+" "+titles[section])))
		}
		t, ms := w.testcase(tc)
		spent[section] += ms
		out[i].AddTestcase(t)
	}
	for section, i := range at {
		out[i].Time = junitSeconds(spent[section])
	}
	if troubles := w.r.troubles(); len(troubles) > 0 {
		s := w.suite("beside the clauses")
		for _, t := range troubles {
			s.AddTestcase(w.trouble(t))
		}
		out = append(out, s)
	}
	if len(out) == 0 {
		out = append(out, w.suite("no clauses"))
	}
	out[0].Properties = w.properties()
	return out
}

func (w *junitWriter) suite(name string) junit.Testsuite {
	s := junit.Testsuite{Name: document.Plain(w.r.Suite + " " + name), Time: junitSeconds(0)}
	if !w.r.Started.IsZero() {
		s.Timestamp = w.r.Started.UTC().Format("2006-01-02T15:04:05")
	}
	return s
}

// properties say what it takes to understand the run and to repeat it.
func (w *junitWriter) properties() *[]junit.Property {
	var out []junit.Property
	for _, f := range w.r.circumstances() {
		out = append(out, junit.Property{Name: f.name, Value: document.Plain(f.text)})
	}
	return &out
}

// testcase is one pair, and the time that counts for it.
func (w *junitWriter) testcase(tc testCase) (junit.Testcase, float64) {
	name := tc.clause.ID
	ms := 0.0
	if sc := tc.scenario; sc != nil {
		name += " " + sc.ID
		if !w.timed[sc.ID] {
			w.timed[sc.ID] = true
			ms = sc.Timing.TotalMS
			w.total += ms
		}
	}
	t := junit.Testcase{Name: document.Plain(name), Classname: w.class(tc.clause.Section), Time: junitSeconds(ms)}
	switch tc.conclusion {
	case failed:
		t.Failure = &junit.Result{Message: document.Plain(w.message(tc)), Type: string(tc.verdict), Data: document.Plain(w.account(tc))}
	case broke:
		t.Error = &junit.Result{Message: document.Plain(w.message(tc)), Type: string(tc.verdict), Data: document.Plain(w.account(tc))}
	case skipped:
		t.Skipped = &junit.Result{Message: document.Plain(phrase(tc.reason, messageWidth)), Data: ""}
	}
	if out := w.output(tc, name); out != "" {
		t.SystemOut = &junit.Output{Data: document.Plain(out)}
	}
	return t, ms
}

// messageWidth is how long a line for a list of failures may be.
const messageWidth = 400

// message is one line that says what is wrong.
func (w *junitWriter) message(tc testCase) string {
	for _, e := range tc.evidence {
		if e.Verdict == tc.verdict && e.Seen != "" {
			return phrase(e.Seen, messageWidth)
		}
	}
	if tc.verdict == Unstable {
		return phrase("unstable: "+tc.clause.Reason, messageWidth)
	}
	return phrase("violated: "+tc.clause.Requirement, messageWidth)
}

// account is all that it takes to understand a failure: the demand, every observation of
// this scenario, and how to repeat it.
func (w *junitWriter) account(tc testCase) string {
	c := tc.clause
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s, %s): %s\n", c.ID, c.Level, c.Basis, c.Requirement)
	if c.Verdict == Unstable && c.Reason != "" {
		fmt.Fprintf(&b, "unstable: %s\n", c.Reason)
	}
	listed := 0
	for _, e := range tc.evidence {
		if e.Verdict != Pass {
			fmt.Fprintf(&b, "\n%s", e.text(ofSeen))
			listed++
		}
	}
	if listed == 0 {
		b.WriteString("\nMore was found than is kept; repeat the scenario to see it.\n")
	}
	if tc.scenario != nil && tc.scenario.Repro != "" {
		fmt.Fprintf(&b, "\nrepeat with: %s\n", tc.scenario.Repro)
	}
	return b.String()
}

// output is the evidence: what a warning or a known failure rests on, and what happened
// in the scenario, at the first test case that needs it.
func (w *junitWriter) output(tc testCase, name string) string {
	if tc.scenario == nil || tc.verdict == NotExercised {
		return ""
	}
	var b strings.Builder
	if tc.conclusion == passed && tc.verdict == Pass {
		for _, e := range tc.evidence {
			b.WriteString(e.text(ofSeen))
		}
		return b.String()
	}
	if tc.conclusion == passed {
		fmt.Fprintf(&b, "warning: %s", w.account(tc))
	} else if tc.known {
		b.WriteString(w.account(tc))
	}
	if record := tc.scenario.record(ofTrace); record != "" {
		if first, shown := w.traced[tc.scenario.ID]; shown {
			fmt.Fprintf(&b, "What happened in the scenario stands at the test case %s.\n", first)
		} else {
			w.traced[tc.scenario.ID] = name
			b.WriteString(record)
		}
	}
	return b.String()
}

func (w *junitWriter) trouble(t trouble) junit.Testcase {
	text := ofSeen.excerpt(t.text)
	if t.repro != "" {
		text += "\n\nrepeat with: " + t.repro + "\n"
	}
	result := &junit.Result{Message: document.Plain(phrase(t.text, messageWidth)), Data: document.Plain(text)}
	out := junit.Testcase{Name: document.Plain(t.what), Classname: w.class("beside the clauses"), Time: junitSeconds(0)}
	if t.against {
		result.Type = string(Fail)
		out.Failure = result
	} else {
		result.Type = string(Error)
		out.Error = result
	}
	return out
}

// class groups test cases by section. A point would be taken for the end of a package's
// name, so that S6.3 would stand as class 3 in package S6.
func (w *junitWriter) class(section string) string {
	return document.Plain(w.r.Suite + "." + strings.ReplaceAll(section, ".", "_"))
}

func junitSeconds(ms float64) string { return fmt.Sprintf("%.3f", ms/1000) }
