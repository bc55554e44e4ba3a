package catalogue

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// reader collects the problems of one file while its nodes are read.
type reader struct {
	file     string
	problems *Problems
}

func (r *reader) problem(n *yaml.Node, format string, args ...any) {
	*r.problems = append(*r.problems, Problem{File: r.file, Line: n.Line, Text: fmt.Sprintf(format, args...)})
}

// fields are the values of a mapping by key. Their getters report what is
// missing or of the wrong form and return the zero value.
type fields struct {
	*reader
	node *yaml.Node
	what string // what the mapping describes, for messages
	by   map[string]*yaml.Node
}

// mapping reads a mapping whose keys are among the allowed ones.
func (r *reader) mapping(n *yaml.Node, what string, allowed ...string) fields {
	f := fields{reader: r, node: n, what: what, by: map[string]*yaml.Node{}}
	if n.Kind != yaml.MappingNode {
		r.problem(n, "%s is not a mapping", what)
		return f
	}
	for i := 0; i < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case len(allowed) > 0 && !slices.Contains(allowed, key.Value):
			r.problem(key, "%s: unknown key %q", what, key.Value)
		case f.by[key.Value] != nil:
			r.problem(key, "%s: key %q twice", what, key.Value)
		default:
			f.by[key.Value] = value
		}
	}
	return f
}

// required reports a key that is not there.
func (f fields) required(key string) *yaml.Node {
	n := f.by[key]
	if n == nil && f.node.Kind == yaml.MappingNode {
		f.problem(f.node, "%s: key %q is missing", f.what, key)
	}
	return n
}

// text is the value of a key as a single line of prose.
func (f fields) text(key string) string {
	n := f.required(key)
	if n == nil {
		return ""
	}
	return f.scalar(n, key)
}

func (f fields) optionalText(key string) string {
	n := f.by[key]
	if n == nil {
		return ""
	}
	return f.scalar(n, key)
}

func (f fields) scalar(n *yaml.Node, key string) string {
	if n.Kind != yaml.ScalarNode {
		f.problem(n, "%s: %q is not a string", f.what, key)
		return ""
	}
	text := strings.TrimSpace(n.Value)
	switch {
	case text == "" || n.Tag == "!!null":
		f.problem(n, "%s: %q is empty", f.what, key)
	case strings.ContainsAny(text, "\n\r\t"):
		f.problem(n, "%s: %q has more than one line", f.what, key)
	}
	return text
}

// oneOf is a text that must be among the given values.
func (f fields) oneOf(key string, values ...string) string {
	text := f.text(key)
	if text != "" && !slices.Contains(values, text) {
		f.problem(f.by[key], "%s: %q is %q, not one of %s", f.what, key, text, strings.Join(values, ", "))
	}
	return text
}

// words is a required list of distinct words. It may be empty.
func (f fields) words(key string) []string {
	n := f.required(key)
	if n == nil {
		return nil
	}
	return f.list(n, key)
}

// optionalWords is a list that is left out rather than empty.
func (f fields) optionalWords(key string) []string {
	n := f.by[key]
	if n == nil {
		return nil
	}
	words := f.list(n, key)
	if n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
		f.problem(n, "%s: %q is empty; leave it out", f.what, key)
	}
	return words
}

func (f fields) list(n *yaml.Node, key string) []string {
	words := []string{}
	for _, item := range f.items(n, key) {
		word := f.scalar(item, key)
		if slices.Contains(words, word) {
			f.problem(item, "%s: %q has %q twice", f.what, key, word)
			continue
		}
		words = append(words, word)
	}
	return words
}

// items are the nodes of a sequence.
func (r *reader) items(n *yaml.Node, what string) []*yaml.Node {
	if n.Kind != yaml.SequenceNode {
		r.problem(n, "%s is not a list", what)
		return nil
	}
	return n.Content
}
