package layout_test

import (
	"errors"
	"strings"
	"testing"

	fixtures "github.com/pugcheck/pugcheck/fixtures/pugmark"
	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
)

// golden is a case of any of the files about identifiers and keys.
type golden struct {
	Case      string
	ID        string
	Text      string
	Path      string
	Part      string
	Version   uint32
	Name      string
	Key       string
	Kind      string
	Session   string
	Namespace string
}

func cases(t *testing.T, file string) []golden {
	t.Helper()
	list, err := fixtures.Cases[golden](file)
	if err != nil || len(list) == 0 {
		t.Fatalf("%s: %d cases, %v", file, len(list), err)
	}
	return list
}

func TestGoldenSessionIDs(t *testing.T) {
	for _, c := range cases(t, "session-ids/valid.json") {
		want := strings.TrimSuffix(c.Path, "/")
		if path, err := parseID(t, c.ID).Path(); err != nil || string(path) != want {
			t.Errorf("%s: path %s, %v, want %s", c.Case, path, err, want)
		}
		if id, err := layout.ParseManifestKey(want + "/manifest.json"); err != nil || id.String() != c.ID {
			t.Errorf("%s: comes back as %s, %v", c.Case, id, err)
		}
	}
	for _, c := range cases(t, "session-ids/spellings.json") {
		if id, err := layout.ParseSessionID(c.Text); err != nil || id.String() != c.ID {
			t.Errorf("%s: %s, %v, want %s", c.Case, id, err, c.ID)
		}
	}
	for _, c := range cases(t, "session-ids/invalid-ids.json") {
		if id, err := layout.ParseSessionID(c.Text); err == nil {
			t.Errorf("%s: %q is read as %s", c.Case, c.Text, id)
		}
	}
	for _, c := range cases(t, "session-ids/no-path.json") {
		if path, err := parseID(t, c.ID).Path(); !errors.Is(err, layout.ErrUnplaceable) {
			t.Errorf("%s: path %s, %v", c.Case, path, err)
		}
	}
	for _, c := range cases(t, "session-ids/invalid-paths.json") {
		if id, err := layout.ParseManifestKey(c.Path); err == nil {
			t.Errorf("%s: %s is read as %s", c.Case, c.Path, id)
		}
	}
}

func TestGoldenReverseVersions(t *testing.T) {
	for _, c := range cases(t, "reverse-versions/valid.json") {
		if got := layout.ReverseVersion(c.Version); got != c.Name {
			t.Errorf("%s: %s, want %s", c.Case, got, c.Name)
		}
		if got, err := layout.ParseReverseVersion(c.Name); err != nil || got != c.Version {
			t.Errorf("%s: %d, %v, want %d", c.Case, got, err, c.Version)
		}
	}
	for _, c := range cases(t, "reverse-versions/invalid.json") {
		if got, err := layout.ParseReverseVersion(c.Name); err == nil {
			t.Errorf("%s: %q is read as %d", c.Case, c.Name, got)
		}
	}
}

func TestGoldenKeys(t *testing.T) {
	for _, c := range cases(t, "keys/keys.json") {
		id, errManifest := layout.ParseManifestKey(c.Key)
		snapshotOf, version, errSnapshot := layout.ParseSnapshotKey(c.Key)
		namespace, memoryVersion, errMemory := layout.ParseMemoryKey(c.Key)
		if (errManifest == nil) != (c.Kind == "manifest") || errManifest == nil && id.String() != c.Session {
			t.Errorf("%s: %s as a manifest: %s, %v", c.Case, c.Key, id, errManifest)
		}
		if (errSnapshot == nil) != (c.Kind == "snapshot") || errSnapshot == nil && (snapshotOf.String() != c.Session || version != c.Version) {
			t.Errorf("%s: %s as a snapshot: %s, %d, %v", c.Case, c.Key, snapshotOf, version, errSnapshot)
		}
		if (errMemory == nil) != (c.Kind == "memory") || errMemory == nil && (namespace != c.Namespace || memoryVersion != c.Version) {
			t.Errorf("%s: %s as a memory file: %s, %d, %v", c.Case, c.Key, namespace, memoryVersion, errMemory)
		}
	}
}
