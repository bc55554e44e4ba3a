package report

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/pugcheck/pugcheck/harness/document"
)

// tap is the result in the Test Anything Protocol, version 14: a test point for each
// clause, with the evidence as a YAML diagnostic, and one for each thing that went
// wrong beside the clauses.
//
// A run that was cut short, or a subject that was given up, bails out at the end, since
// test points that say SKIP would make a success of it.
func tap(r *Result, _ string) ([]byte, error) {
	var b strings.Builder
	var end string
	var troubles []trouble
	for _, t := range r.troubles() {
		if t.what == theRun || t.what == theSubject {
			end = t.text // the subject's is the later and the graver
		} else {
			troubles = append(troubles, t)
		}
	}
	fmt.Fprintf(&b, "TAP version 14\n1..%d\n", len(r.Clauses)+len(troubles))
	for _, f := range r.circumstances() {
		fmt.Fprintf(&b, "# %s: %s\n", f.name, phrase(f.text, messageWidth))
	}
	scenarios := r.byID()
	for i := range r.Clauses {
		if err := tapClause(&b, i+1, &r.Clauses[i], scenarios); err != nil {
			return nil, err
		}
	}
	for i, t := range troubles {
		fmt.Fprintf(&b, "not ok %d - %s\n", len(r.Clauses)+i+1, tapEscape(t.what))
		severity := "error"
		if t.against {
			severity = "fail"
		}
		d := tapDiagnostic{Severity: severity, Message: phrase(t.text, messageWidth), Repeat: t.repro}
		if err := d.write(&b); err != nil {
			return nil, err
		}
	}
	if end != "" {
		fmt.Fprintf(&b, "Bail out! %s\n", tapEscape(phrase(end, messageWidth)))
	}
	return []byte(b.String()), nil
}

// tapDiagnostic is what stands below a test point.
type tapDiagnostic struct {
	Severity     string           `yaml:"severity"`
	Message      string           `yaml:"message,omitempty"`
	Level        string           `yaml:"level,omitempty"`
	Basis        string           `yaml:"basis,omitempty"`
	Known        string           `yaml:"known,omitempty"`
	Reason       string           `yaml:"reason,omitempty"`
	Repeat       string           `yaml:"repeat,omitempty"`
	Observations []tapObservation `yaml:"observations,omitempty"`
	More         int              `yaml:"more,omitempty"`
}

type tapObservation struct {
	Scenario   string `yaml:"scenario"`
	Verdict    string `yaml:"verdict"`
	Acceptable lines  `yaml:"acceptable,omitempty"`
	Seen       lines  `yaml:"seen,omitempty"`
	Where      string `yaml:"where,omitempty"`
	Times      int    `yaml:"times,omitempty"`
	Runs       []int  `yaml:"runs,omitempty"`
	Repeat     string `yaml:"repeat,omitempty"`
}

// lines is a text that is written as a list where it has several lines. Readers of TAP
// know less than all of YAML, block scalars not among it.
type lines []string

func linesOf(text string) lines {
	if text == "" {
		return nil
	}
	return strings.Split(ofSeen.excerpt(text), "\n")
}

// MarshalYAML implements yaml.Marshaler.
func (l lines) MarshalYAML() (any, error) {
	if len(l) == 1 {
		return l[0], nil
	}
	return []string(l), nil
}

// UnmarshalYAML implements yaml.Unmarshaler.
func (l *lines) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*l = lines{n.Value}
		return nil
	}
	return n.Decode((*[]string)(l))
}

// tapClause writes the test point of a clause. What passes needs no diagnostic, and what
// nothing decided says why in its directive. The other directive is TAP's own word for
// a test point that is expected to fail.
func tapClause(b *strings.Builder, n int, c *Clause, scenarios map[string]*Scenario) error {
	ok, directive := "ok", ""
	switch tapped := c.Verdict; {
	case c.Known != "":
		ok, directive = "not ok", "TODO known failure: "+c.Known
	case c.Against() || tapped == Error:
		ok = "not ok"
	case tapped.undecided():
		directive = "SKIP " + tapped.Words() + ": " + c.Reason
	}
	fmt.Fprintf(b, "%s %d - %s %s", ok, n, tapEscape(document.Plain(c.ID)), tapEscape(phrase(c.Requirement, tapWidth)))
	if directive != "" {
		b.WriteString(" # " + tapEscape(phrase(directive, messageWidth)))
	}
	b.WriteByte('\n')
	if c.Verdict == Pass || c.Verdict.undecided() {
		return nil
	}
	d := tapDiagnostic{Severity: string(c.Verdict), Level: c.Level, Basis: c.Basis, Known: document.Plain(c.Known), Reason: document.Plain(c.Reason), More: c.MoreEvidence}
	for _, e := range c.violations() {
		o := tapObservation{
			Scenario: e.Scenario, Verdict: string(e.Verdict), Acceptable: linesOf(e.Acceptable), Seen: linesOf(e.Seen),
			Where: e.Where, Times: e.Times, Runs: e.Runs,
		}
		if sc := scenarios[e.Scenario]; sc != nil {
			o.Repeat = document.Plain(sc.Repro)
		}
		if d.Message == "" {
			d.Message = phrase(e.Seen, messageWidth)
		}
		d.Observations = append(d.Observations, o)
	}
	return d.write(b)
}

// tapWidth is how long a description may be.
const tapWidth = 160

func (d tapDiagnostic) write(b *strings.Builder) error {
	var data strings.Builder
	enc := yaml.NewEncoder(&data)
	enc.SetIndent(2)
	if err := enc.Encode(d); err != nil {
		return fmt.Errorf("result as TAP: %w", err)
	}
	b.WriteString("  ---\n")
	for l := range strings.Lines(data.String()) {
		b.WriteString("  " + l)
	}
	b.WriteString("  ...\n")
	return nil
}

// tapEscape keeps a text from being read as a directive. The "#" that begins one is
// written by the caller.
func tapEscape(text string) string {
	return strings.NewReplacer(`\`, `\\`, `#`, `\#`).Replace(text)
}
