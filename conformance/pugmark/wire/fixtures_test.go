package wire_test

import (
	"bytes"
	"flag"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	fixtures "github.com/pugcheck/pugcheck/fixtures/pugmark"
)

var update = flag.Bool("update", false, "write the golden data anew")

// goldenFiles makes all generated files by their path below fixtures/pugmark.
func goldenFiles(t *testing.T) map[string][]byte {
	t.Helper()
	files := map[string][]byte{
		"session-ids/valid.json":         indented(validIDs()),
		"session-ids/spellings.json":     indented(spellings),
		"session-ids/invalid-ids.json":   indented(invalidIDs),
		"session-ids/no-path.json":       indented(noPath),
		"session-ids/invalid-paths.json": indented(invalidPaths),
		"reverse-versions/valid.json":    indented(validVersions),
		"reverse-versions/invalid.json":  indented(invalidVersions),
		"keys/keys.json":                 indented(keyCases),
	}
	for group, cases := range map[string][]streamCase{"valid": validStreams, "invalid": invalidStreams} {
		for _, c := range cases {
			s, err := c.parse()
			if err != nil {
				t.Fatal(err)
			}
			files[path.Join("streams", group, c.name+".stream")] = s.Bytes
			files[path.Join("streams", group, c.name+".json")] = indented(s)
		}
	}
	for _, c := range bucketCases {
		made, err := c.files()
		if err != nil {
			t.Fatal(err)
		}
		for name, b := range made {
			files[path.Join("buckets", c.name, name)] = b
		}
	}
	return files
}

// TestFixturesAreCurrent compares the golden data with what its tables and the bucket builder give. Compressed files may
// differ in their bytes, as another version of the encoder packs otherwise, but not in their content.
func TestFixturesAreCurrent(t *testing.T) {
	want := goldenFiles(t)
	if *update {
		writeGolden(t, want)
		return
	}
	var have []string
	err := fs.WalkDir(fixtures.FS, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && name != "README.md" {
			have = append(have, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range have {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: no table makes it", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		got, err := fs.ReadFile(fixtures.FS, name)
		if err != nil {
			t.Errorf("%v; go test -run FixturesAreCurrent -update writes it", err)
			continue
		}
		if !bytes.Equal(unpacked(t, name, got), unpacked(t, name, want[name])) {
			t.Errorf("%s differs from its table; go test -run FixturesAreCurrent -update writes it anew", name)
		}
	}
}

func unpacked(t *testing.T, name string, b []byte) []byte {
	t.Helper()
	if !strings.HasSuffix(name, ".zst") {
		return b
	}
	out, err := wire.DecodeZstd(b)
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	return out
}

func writeGolden(t *testing.T, files map[string][]byte) {
	t.Helper()
	root := filepath.Join("..", "..", "..", "fixtures", "pugmark")
	for _, dir := range []string{"session-ids", "reverse-versions", "keys", "streams", "buckets"} {
		if err := os.RemoveAll(filepath.Join(root, dir)); err != nil {
			t.Fatal(err)
		}
	}
	for name, b := range files {
		name = filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
