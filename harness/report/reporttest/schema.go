// Package reporttest holds results against the JSON Schema that docs/ publishes for them.
package reporttest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Tree is a path below the root of the module, from the package under test.
func Tree(t testing.TB, path ...string) string {
	t.Helper()
	dir, err := os.Getwd()
	for ; err == nil && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(append([]string{dir}, path...)...)
		}
	}
	t.Fatalf("no module above the test: %v", err)
	return ""
}

// compiled keeps schemas by path: compiling one takes longer than using it.
var compiled sync.Map

// Schema compiles a JSON Schema in a file. Formats such as date-time are asserted.
func Schema(t testing.TB, path string) *jsonschema.Schema {
	t.Helper()
	if s, ok := compiled.Load(path); ok {
		return s.(*jsonschema.Schema)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	s, err := c.Compile(path)
	if err != nil {
		t.Fatal(err)
	}
	compiled.Store(path, s)
	return s
}

// Problem is what a JSON document violates in a schema; nil = it is valid.
func Problem(s *jsonschema.Schema, data []byte) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return err
	}
	return s.Validate(doc)
}

// Valid wants data to be a pugcheck.results/v1 document. name is what it is, in messages.
func Valid(t testing.TB, name string, data []byte) {
	t.Helper()
	if err := Problem(Schema(t, Tree(t, "docs", "results.schema.json")), data); err != nil {
		t.Errorf("%s violates docs/results.schema.json: %v", name, err)
	}
}

// Object is a JSON object of a document, for tests that look closer.
func Object(t testing.TB, data []byte) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
