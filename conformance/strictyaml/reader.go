// Package strictyaml reads files that people write for pugcheck: one YAML document
// of mappings with known keys, each at most once. Every mistake is collected with
// its file and line, so that a file is mended in one go.
package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Reader walks the nodes of one file and collects mistakes.
type Reader struct {
	File string // name in messages, and what paths in the file are relative to
	errs []error
}

// Document is the content of the one document in data; nil where there is none. The
// error is that of data which is no YAML, or holds a second document. what names the
// file's purpose.
func (r *Reader) Document(data []byte, what string) (*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%s: %w", r.File, err)
	}
	if err := dec.Decode(&more); err == nil {
		return nil, fmt.Errorf("%s:%d: %s is one YAML document; a second one begins here", r.File, more.Line, what)
	} else if !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", r.File, err)
	}
	if doc.Content[0].Tag == "!!null" {
		return nil, nil
	}
	return doc.Content[0], nil
}

// Fail notes a mistake at a node.
func (r *Reader) Fail(n *yaml.Node, format string, args ...any) {
	r.errs = append(r.errs, fmt.Errorf("%s:%d: %s", r.File, n.Line, fmt.Sprintf(format, args...)))
}

// Err is all mistakes, in the order in which they were found; nil if there are none.
func (r *Reader) Err() error { return errors.Join(r.errs...) }

// Key is a known key of a mapping and what reads its value.
type Key struct {
	Name string
	Read func(*yaml.Node)
}

// Mapping reads a mapping whose keys are known, each at most once.
func (r *Reader) Mapping(n *yaml.Node, what string, keys []Key) {
	r.Entries(n, what, func(k, v *yaml.Node) {
		at := slices.IndexFunc(keys, func(known Key) bool { return known.Name == k.Value })
		if at < 0 {
			var names []string
			for _, known := range keys {
				names = append(names, known.Name)
			}
			r.Fail(k, "unknown key %q in %s; known are %s", k.Value, what, strings.Join(names, ", "))
			return
		}
		keys[at].Read(v)
	})
}

// Entries reads a mapping with keys of the user's own, each at most once.
func (r *Reader) Entries(n *yaml.Node, what string, read func(key, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		r.Fail(n, "%s must be a mapping, not %s", what, Describe(n))
		return
	}
	first := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if line, twice := first[k.Value]; twice {
			r.Fail(k, "key %q stands twice in %s, first in line %d", k.Value, what, line)
			continue
		}
		first[k.Value] = k.Line
		read(k, v)
	}
}

// Text reads a text into s and tells whether it was one.
func (r *Reader) Text(n *yaml.Node, s *string) bool {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		r.Fail(n, "a text is expected, not %s", Describe(n))
		return false
	}
	*s = n.Value
	return true
}

// Words reads a list of texts that is not empty; a single text is a list of one.
func (r *Reader) Words(n *yaml.Node, out *[]string) {
	if n.Kind == yaml.ScalarNode {
		n = &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{n}, Line: n.Line}
	}
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		r.Fail(n, "a list of words is expected, not %s", Describe(n))
		return
	}
	*out = []string{}
	for _, item := range n.Content {
		var s string
		if r.Text(item, &s) {
			*out = append(*out, s)
		}
	}
}

// Flag reads true or false.
func (r *Reader) Flag(n *yaml.Node, out *bool) {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" {
		r.Fail(n, "true or false is expected, not %s", Describe(n))
		return
	}
	*out = strings.EqualFold(n.Value, "true")
}

// Path reads the name of a file as seen from the working directory; in the file it is
// relative to the file.
func (r *Reader) Path(n *yaml.Node, out *string) {
	if r.Text(n, out) {
		*out = r.Relative(*out)
	}
}

// Relative is a path of the file as seen from the working directory.
func (r *Reader) Relative(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(r.File), path)
}

// Describe names what a node is, for messages.
func Describe(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode && len(n.Content) == 0:
		return "an empty list"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Kind == yaml.AliasNode:
		return "an alias"
	case n.Tag == "!!null":
		return "nothing"
	}
	return fmt.Sprintf("%q", n.Value)
}
