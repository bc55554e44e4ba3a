package strictyaml

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func TestMistakesComeAllAtOnceWithTheirLines(t *testing.T) {
	r := &Reader{File: "dir/f.yaml"}
	n, err := r.Document([]byte("name: [a]\nflag: maybe\nwords: {}\npath: x/y\npath: z\nodd: 1\n"), "a file")
	if err != nil {
		t.Fatal(err)
	}
	var name, path string
	var flag bool
	var words []string
	r.Mapping(n, "the file", []Key{
		{"name", func(n *yaml.Node) { r.Text(n, &name) }},
		{"flag", func(n *yaml.Node) { r.Flag(n, &flag) }},
		{"words", func(n *yaml.Node) { r.Words(n, &words) }},
		{"path", func(n *yaml.Node) { r.Path(n, &path) }},
	})
	want := `dir/f.yaml:1: a text is expected, not a list
dir/f.yaml:2: true or false is expected, not "maybe"
dir/f.yaml:3: a list of words is expected, not a mapping
dir/f.yaml:5: key "path" stands twice in the file, first in line 4
dir/f.yaml:6: unknown key "odd" in the file; known are name, flag, words, path`
	if err := r.Err(); err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
	if path != "dir/x/y" || r.Relative("/a") != "/a" || r.Relative("") != "" {
		t.Errorf("path %q, %q, %q", path, r.Relative("/a"), r.Relative(""))
	}
}

func TestDocument(t *testing.T) {
	for text, want := range map[string]string{
		"":                  "",
		"# only this\n":     "",
		"~\n":               "",
		"a: [\n":            "f.yaml: yaml: line 1",
		"a: 1\n---\nb: 2\n": "f.yaml:2: a file is one YAML document; a second one begins here",
		"a: 1\n---\nb: [\n": "f.yaml: yaml: line",
		"a: \x01\n":         "f.yaml: yaml: control characters",
	} {
		r := &Reader{File: "f.yaml"}
		n, err := r.Document([]byte(text), "a file")
		if n != nil || (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v", text, n, err)
		}
	}
}
