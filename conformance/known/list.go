// Package known holds the list of failures that are known: a file that people keep
// beside their implementation, so that a gate lets through what fails already and
// nothing else.
//
// Guarantees: an entry excuses a failure only if all that is seen of it is as listed;
// an entry that is out of date makes the run fail and says what to change; trouble of
// the suite is never excused.
package known

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/pugcheck/pugcheck/conformance/selection"
	"github.com/pugcheck/pugcheck/conformance/strictyaml"
	"github.com/pugcheck/pugcheck/harness/page"
	"github.com/pugcheck/pugcheck/harness/report"
)

// List is a file of known failures, in the order of the file.
type List struct {
	File     string
	Entries  []Entry
	preamble []string // lines above the first key
}

// Entry is a failure that is known: of a clause, or of all that needs a capability.
// Exactly one of Clause and Capability is set.
type Entry struct {
	Clause     string
	Capability string
	Unstable   bool     // it fails in some runs only
	Reason     string   // why it is tolerated, on one line
	Messages   []string // pieces of what is expected to be seen
	Line       int      // where it begins, with the comment right above it
	LastLine   int      // where it ends
	text       []string // its lines, moved to the left as far as they go
}

// Name is the clause or capability.
func (e Entry) Name() string { return e.Clause + e.Capability }

// Vocabulary is what a list may name.
type Vocabulary struct {
	Clauses      []string // that the suite can judge
	Capabilities []string
	Elsewhere    func(word string) string // what else a word is that names no such clause; may be nil
}

// Load reads the list at path. Mistakes are reported all at once, each with file and line.
func Load(path string, v Vocabulary) (*List, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("known failures: %w", err)
	}
	return Parse(path, data, v)
}

// Parse is Load for a file that has been read; name is used in messages.
func Parse(name string, data []byte, v Vocabulary) (*List, error) {
	r := &reader{Reader: strictyaml.Reader{File: name}, Vocabulary: v, lines: strings.Split(string(data), "\n"), list: &List{File: name}}
	content, err := r.Document(data, "a list of known failures")
	if err != nil || content == nil {
		return r.list, err
	}
	r.Mapping(content, "the list of known failures", []strictyaml.Key{
		{Name: "clauses", Read: func(n *yaml.Node) { r.entries(n, "clauses", r.clause) }},
		{Name: "capabilities", Read: func(n *yaml.Node) { r.entries(n, "capabilities", r.capability) }},
	})
	if err := r.Err(); err != nil {
		return nil, err
	}
	r.places(content)
	return r.list, nil
}

// reader reads one list.
type reader struct {
	strictyaml.Reader
	Vocabulary
	lines []string
	list  *List
}

func (r *reader) entries(n *yaml.Node, what string, name func(*yaml.Node, *Entry)) {
	if n.Tag == "!!null" {
		return // all of its entries are gone
	}
	r.Entries(n, what, func(k, v *yaml.Node) {
		e := Entry{Line: k.Line}
		name(k, &e)
		r.entry(v, k.Value, &e)
		r.list.Entries = append(r.list.Entries, e)
	})
}

func (r *reader) clause(k *yaml.Node, e *Entry) {
	e.Clause = k.Value
	if slices.Contains(r.Clauses, k.Value) {
		return
	}
	if r.Elsewhere != nil {
		if why := r.Elsewhere(k.Value); why != "" {
			r.Fail(k, "%s", why)
			return
		}
	}
	r.Fail(k, "there is no clause %q%s", k.Value, selection.DidYouMean(selection.Nearest(k.Value, r.Clauses, 3)))
}

func (r *reader) capability(k *yaml.Node, e *Entry) {
	e.Capability = k.Value
	if !slices.Contains(r.Capabilities, k.Value) {
		r.Fail(k, "unknown capability %q; known are %s", k.Value, strings.Join(r.Capabilities, ", "))
	}
}

func (r *reader) entry(n *yaml.Node, name string, e *Entry) {
	r.Mapping(n, name, []strictyaml.Key{
		{Name: "reason", Read: func(n *yaml.Node) {
			if r.Text(n, &e.Reason) {
				e.Reason = page.OneLine(e.Reason)
			}
		}},
		{Name: "message", Read: func(n *yaml.Node) {
			r.Words(n, &e.Messages)
			for _, m := range e.Messages {
				if !telling(m) {
					r.Fail(n, "message %q is too short to tell one failure from another", m)
				}
			}
		}},
		{Name: "verdict", Read: func(n *yaml.Node) { r.verdict(n, e) }},
	})
	if n.Kind != yaml.MappingNode {
		return
	}
	if e.Reason == "" {
		r.Fail(n, "%s has no reason: say why this failure is tolerated", name)
	}
	if len(e.Messages) == 0 {
		r.Fail(n, "%s has no message: give a piece of what is expected to be seen", name)
	}
}

func (r *reader) verdict(n *yaml.Node, e *Entry) {
	var s string
	if !r.Text(n, &s) {
		return
	}
	switch report.Verdict(s) {
	case report.Fail:
	case report.Unstable:
		e.Unstable = true
	case report.Error:
		r.Fail(n, "an error is trouble of the suite, which no list can excuse; a verdict is fail or unstable")
	default:
		r.Fail(n, "verdict is fail or unstable, not %q", s)
	}
}

// telling tells whether a piece says something besides what differs from run to run.
func telling(piece string) bool {
	said, outside := 0, true
	for _, c := range report.Stable(piece) {
		switch {
		case c == '‹' || c == '›':
			outside = c == '›'
		case outside && (unicode.IsLetter(c) || unicode.IsDigit(c)):
			said++
		}
	}
	return said >= 4
}

// places finds the lines that each entry takes up, with the comment right above it, and
// keeps their text.
func (r *reader) places(content *yaml.Node) {
	var ends []int // lines at which something begins that is none of the entry before
	for i := 0; i+1 < len(content.Content); i += 2 {
		ends = append(ends, content.Content[i].Line)
	}
	for _, e := range r.list.Entries {
		ends = append(ends, e.Line)
	}
	if len(content.Content) > 0 {
		r.list.preamble = r.lines[:content.Content[0].Line-1]
	}
	blank := func(line int) bool { return strings.TrimSpace(r.lines[line-1]) == "" }
	comment := func(line int) bool { return strings.HasPrefix(strings.TrimSpace(r.lines[line-1]), "#") }
	for i := range r.list.Entries {
		e := &r.list.Entries[i]
		next := len(r.lines) + 1
		for _, line := range ends {
			if line > e.Line {
				next = min(next, line)
			}
		}
		e.LastLine = max(e.Line, next-1)
		for e.LastLine > e.Line && (blank(e.LastLine) || comment(e.LastLine)) {
			e.LastLine--
		}
		for e.Line > 1 && comment(e.Line-1) {
			e.Line--
		}
		if text := outdented(r.lines[e.Line-1 : e.LastLine]); r.alone(e, content) {
			e.text = text
		}
	}
}

// alone tells whether an entry has its lines for itself: not where several share one in
// the form with braces.
func (r *reader) alone(e *Entry, content *yaml.Node) bool {
	for i := 0; i+1 < len(content.Content); i += 2 {
		entries := content.Content[i+1]
		for k := 0; k+1 < len(entries.Content); k += 2 {
			if entries.Content[k].Value == e.Name() {
				return entries.Style&yaml.FlowStyle == 0
			}
		}
	}
	return false
}

// outdented moves lines to the left as far as they go together.
func outdented(lines []string) []string {
	indent := -1
	for _, l := range lines {
		if text := strings.TrimLeft(l, " "); text != "" && (indent < 0 || len(l)-len(text) < indent) {
			indent = len(l) - len(text)
		}
	}
	var out []string
	for _, l := range lines {
		out = append(out, strings.TrimRight(l[min(max(indent, 0), len(l)):], " \r"))
	}
	return out
}
