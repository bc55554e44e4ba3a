package report

import (
	"path/filepath"
	"testing"
)

func TestArtifactsAreNamedFromTheFile(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "kept", "runtime", "S1", "x")
	r := &Result{Scenarios: []Scenario{{ID: "S1/x", Artifacts: folder}, {ID: "S1/y"}}}
	for path, want := range map[string]string{
		filepath.Join(dir, "result.json"):        "kept/runtime/S1/x",
		filepath.Join(dir, "out", "result.json"): "../kept/runtime/S1/x",
		"/a/b/c/d/e/f/g/result.json":             folder,
	} {
		written := r.beside(path)
		if got := written.Scenarios[0].Artifacts; got != want || written.Scenarios[1].Artifacts != "" {
			t.Errorf("beside %s: %q, want %q", path, got, want)
		}
		if got := written.from(path).Scenarios[0].Artifacts; got != folder {
			t.Errorf("read from %s: %q, want %q", path, got, folder)
		}
	}
	if r.Scenarios[0].Artifacts != folder {
		t.Error("the result itself was changed")
	}
	t.Chdir(dir)
	if got := r.beside("-").Scenarios[0].Artifacts; got != "kept/runtime/S1/x" {
		t.Errorf("on standard output: %q", got)
	}
}
