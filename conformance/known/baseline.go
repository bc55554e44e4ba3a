package known

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/pugcheck/pugcheck/conformance"
	"github.com/pugcheck/pugcheck/harness/page"
	"github.com/pugcheck/pugcheck/harness/report"
)

// Baseline makes a list of what fails in a result.
type Baseline struct {
	Result *report.Result
	Suite  *conformance.Suite
	Source string // the result's file, for the comment at the top
	Reason string // of new entries; empty = when and in which run the failure was found
	Old    *List  // entries that still hold are taken over as they are; nil = none
}

// Changes are the names of entries by what became of them.
type Changes struct{ Added, Kept, Changed, Removed []string }

// Usable is why no list can be made of the result: one that does not tell all that fails,
// or what is not the subject's failing. nil if one can be.
func (b Baseline) Usable() error {
	r := b.Result
	switch {
	case !r.Complete:
		why := r.Incomplete
		if why == "" {
			why = "the run did not come to its end"
		}
		return fmt.Errorf("the result is partial (%s): what was not run would be missing from the list", why)
	case r.Blocked != "":
		return errors.New("the subject did not get through the first scenario, so nothing else was judged: the list would say nothing")
	case len(r.Selection)+len(r.Skipped) > 0:
		return errors.New("the result is of a part (--only, --skip): failures outside it would be missing from the list; judge everything")
	}
	for _, c := range r.Clauses {
		if c.Verdict == report.Error {
			return fmt.Errorf("the suite or its environment broke (%s: %s): that is no failure of the subject, and cannot be listed", c.ID, page.OneLine(c.Reason))
		}
	}
	for _, sc := range r.Scenarios {
		if sc.Outcome == "error" {
			return fmt.Errorf("the suite or its environment broke (%s: %s): that is no failure of the subject, and cannot be listed", sc.ID, page.OneLine(sc.Reason))
		}
	}
	return nil
}

// Write makes the text of the list: beside each clause what it demands, and a piece of
// what was seen that is likely to be seen again. A run like that of the result succeeds
// with it. It fails where the result is not usable.
func (b Baseline) Write() (string, Changes, error) {
	var ch Changes
	if err := b.Usable(); err != nil {
		return "", ch, err
	}
	r := copyOf(b.Result)
	old := b.Old
	if old == nil {
		old = &List{}
	}
	old.Apply(r, b.Suite, b.ran)

	var clauses, capabilities []string
	done := map[string]bool{}
	keep := func(i int, into *[]string) {
		*into = append(*into, old.Entries[i].asText()...)
		ch.Kept = append(ch.Kept, old.Entries[i].Name())
	}
	for i, k := range r.Known.Entries {
		switch {
		case k.Capability == "":
		case k.Stale():
			ch.Removed = append(ch.Removed, k.Capability)
		default:
			keep(i, &capabilities)
		}
	}
	for _, c := range r.Clauses {
		i := slices.IndexFunc(old.Entries, func(e Entry) bool { return e.Clause == c.ID })
		switch {
		case i >= 0 && !r.Known.Entries[i].Stale():
			keep(i, &clauses)
		case i >= 0 && c.Against() && c.Known == "":
			ch.Changed = append(ch.Changed, c.ID)
			clauses = append(clauses, b.entry(c, &old.Entries[i])...)
		case i >= 0:
			ch.Removed = append(ch.Removed, c.ID)
		case c.Against() && c.Known == "":
			ch.Added = append(ch.Added, c.ID)
			clauses = append(clauses, b.entry(c, nil)...)
		}
		done[c.ID] = true
	}
	for i, e := range old.Entries { // what this result did not judge
		if e.Clause != "" && !done[e.Clause] {
			keep(i, &clauses)
		}
	}
	text := b.text(clauses, capabilities)
	return text, ch, b.check(text)
}

// ran tells whether the result has a scenario: what a whole run left out, the subject
// cannot be asked.
func (b Baseline) ran(sc conformance.Scenario) bool {
	return slices.ContainsFunc(b.Result.Scenarios, func(r report.Scenario) bool { return r.ID == sc.ID && r.Outcome != "not-run" })
}

// text puts the parts of the list together.
func (b Baseline) text(clauses, capabilities []string) string {
	var lines []string
	if b.Old != nil && len(b.Old.preamble) > 0 {
		lines = append(lines, b.Old.preamble...)
	} else {
		lines = append(lines,
			"# Failures of "+b.Result.Subject.Name+" that are known: they do not count, as long as they show as they",
			"# do here. pugcheck "+b.Result.Suite+" --known-failing reads this file; docs/known-failures.md explains it.",
			"# Taken from a run of "+b.origin()+".")
	}
	part := func(name string, entries []string) {
		if len(entries) == 0 {
			return
		}
		lines = append(lines, name+":")
		for _, l := range entries {
			if l != "" {
				l = "  " + l
			}
			lines = append(lines, l)
		}
	}
	part("clauses", clauses)
	part("capabilities", capabilities)
	if len(clauses)+len(capabilities) == 0 {
		lines = append(lines, "clauses: {}")
	}
	return strings.Join(lines, "\n") + "\n"
}

// origin is when and how the run was made that the list comes from.
func (b Baseline) origin() string {
	r := b.Result
	details := []string{fmt.Sprintf("seed %d", r.Seed)}
	if v := r.Versions["pugcheck"]; v != "" {
		details = append(details, "pugcheck "+v)
	}
	if b.Source != "" {
		details = append(details, b.Source)
	}
	return fmt.Sprintf("%s (%s)", r.Started.Format("2006-01-02"), strings.Join(details, ", "))
}

// entry is the text of one entry. Of an old one the reason is kept, and those pieces
// that still match.
func (b Baseline) entry(c report.Clause, old *Entry) []string {
	all := violations(&c)
	reason := b.Reason
	if reason == "" {
		reason = "failed already in the run of " + b.origin()
	}
	var messages []string
	if old != nil {
		reason = old.Reason
		for _, m := range old.Messages {
			if reach(m, all) > 0 {
				messages = append(messages, m)
			}
		}
	}
	var left []violation
	for _, v := range all {
		if !(Entry{Messages: messages}).matches(v) {
			left = append(left, v)
		}
	}
	messages = append(messages, pieces(left)...)

	var lines []string
	for _, l := range page.Fold(fmt.Sprintf("%s: %s", c.Level, page.OneLine(c.Requirement)), 96) {
		lines = append(lines, "# "+l)
	}
	e := Entry{Clause: c.ID, Reason: reason, Messages: messages, Unstable: c.Verdict == report.Unstable}
	return append(lines, e.asText()...)
}

// asText is an entry as lines: those that it was read from, where there are any.
func (e Entry) asText() []string {
	if e.text != nil {
		return e.text
	}
	lines := []string{e.Name() + ":", "  reason: " + scalar(e.Reason)}
	if len(e.Messages) == 1 {
		lines = append(lines, "  message: "+scalar(e.Messages[0]))
	} else {
		lines = append(lines, "  message:")
		for _, m := range e.Messages {
			lines = append(lines, "    - "+scalar(m))
		}
	}
	if e.Unstable {
		lines = append(lines, "  verdict: unstable")
	}
	return lines
}

// scalar is a text as YAML, on one line.
func scalar(text string) string {
	node := yaml.Node{Kind: yaml.ScalarNode, Style: yaml.DoubleQuotedStyle, Value: page.OneLine(text)}
	out, err := yaml.Marshal(&node)
	if err != nil {
		panic(fmt.Sprintf("a text cannot be written as YAML: %v", err)) // every text can
	}
	return strings.TrimSpace(string(out))
}

// check reads the list back and holds the result against it.
func (b Baseline) check(text string) error {
	v := Vocabulary{}
	for _, c := range b.Result.Clauses {
		v.Clauses = append(v.Clauses, c.ID)
	}
	if b.Old != nil {
		for _, e := range b.Old.Entries {
			v.Clauses, v.Capabilities = append(v.Clauses, e.Clause), append(v.Capabilities, e.Capability)
		}
	}
	l, err := Parse("the new list", []byte(text), v)
	if err != nil {
		return fmt.Errorf("the list cannot be read back: %w", err)
	}
	r := copyOf(b.Result)
	l.Apply(r, b.Suite, b.ran)
	r.Count()
	for _, c := range r.Clauses {
		if c.Against() && c.Known == "" {
			return fmt.Errorf("the list does not cover the failure of %s", c.ID)
		}
	}
	for _, k := range r.Known.Entries {
		if k.Stale() {
			return fmt.Errorf("the list is out of date at once: %s: %s", k.Name(), k.Advice)
		}
	}
	return nil
}

// copyOf is a result to which a list can be applied without a trace in the first one.
func copyOf(r *report.Result) *report.Result {
	out := *r
	out.Clauses = slices.Clone(r.Clauses)
	for i := range out.Clauses {
		out.Clauses[i].Known = ""
	}
	return &out
}
