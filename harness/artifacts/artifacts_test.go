package artifacts

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pugcheck/pugcheck/harness/report"
)

func keeper(t *testing.T) *Keeper {
	t.Helper()
	return &Keeper{Dir: t.TempDir(), Repro: map[string]string{"S1/x": "pugcheck runtime --only S1/x ./impl"}, Common: Manifest{
		Suite: "runtime", Seed: 7, Config: json.RawMessage(`{"a":1}`), WorkingDirectory: "/some where",
		Subject: report.Subject{Name: "./impl", Command: []string{"./impl"}, Transports: []string{}}, Versions: map[string]string{"go": "1"},
	}}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func manifest(scenario string) Manifest {
	return Manifest{Scenario: scenario, Title: "a story", Started: time.Now(), Outcome: "completed", Findings: []Finding{{Clause: "S1-1", Verdict: report.Fail}}}
}

func read(t *testing.T, parts ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(parts...))
	must(t, err)
	return string(b)
}

// files are the files below a folder, relative to it.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			out = append(out, rel)
		}
		return err
	}))
	return out
}

func TestAFolderIsWritten(t *testing.T) {
	k := keeper(t)
	var line report.Timeline
	m := manifest("S1/x")
	line.Add(m.Started.Add(3*time.Millisecond), report.LaneS3, "PUT", []byte("body"))
	place, err := k.Keep(m, &line, func(f *Folder) {
		f.Put("streams/run-1.stderr", []byte("words"))
		a, b := f.Body([]byte("twice")), f.Body([]byte("twice"))
		if a != b || a != "bodies/"+Digest([]byte("twice")) || f.Body(nil) != "" {
			t.Errorf("bodies %q and %q", a, b)
		}
		if !f.Place("seed/refs/a", []byte("1")) || f.Place("seed/refs/a/b", nil) || f.Place("seed/../x", nil) || f.Place("seed//x", nil) || f.Place("seed/refs", nil) {
			t.Error("keys that are paths and keys that are none were not told apart")
		}
		Lines(f, "requests.ndjson", []map[string]string{{"key": "<a>"}, {"key": "b"}})
		Lines(f, "none.ndjson", []string{})
	})
	must(t, err)
	if want := filepath.Join(k.Dir, "runtime", "S1", "x"); place != want {
		t.Errorf("it stands at %s, want %s", place, want)
	}
	want := []string{"bodies/" + Digest([]byte("twice")), "command", "manifest.json", "requests.ndjson", "seed/refs/a", "streams/run-1.stderr", "timeline.ndjson"}
	if got := files(t, place); !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
	if got := read(t, place, "requests.ndjson"); got != "{\"key\":\"<a>\"}\n{\"key\":\"b\"}\n" {
		t.Errorf("requests are %q", got)
	}
	if got := read(t, place, "command"); got != "cd '/some where' &&\npugcheck runtime --only S1/x ./impl\n" {
		t.Errorf("the command is %q", got)
	}
	if got := read(t, place, "timeline.ndjson"); got != `{"at_ms":3,"lane":"s3","text":"PUT","detail":"body"}`+"\n" {
		t.Errorf("the timeline is %q", got)
	}
	back, err := Load(place)
	must(t, err)
	if back.Suite != "runtime" || back.Seed != 7 || back.Schema != Schema || string(back.Config) == "" || back.Findings[0].Clause != "S1-1" || back.LeftOut == nil {
		t.Errorf("the manifest is %+v", back)
	}
	if left, _ := filepath.Glob(filepath.Join(k.Dir, ".*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestFoldersAreReplacedWholeAndNothingElseIs(t *testing.T) {
	k := keeper(t)
	place, err := k.Keep(manifest("S1/x"), &report.Timeline{}, func(f *Folder) { f.Put("old", nil) })
	must(t, err)
	_, err = k.Keep(manifest("S1/x"), &report.Timeline{}, func(f *Folder) { f.Put("new", nil) })
	must(t, err)
	if got := files(t, place); slices.Contains(got, "old") || !slices.Contains(got, "new") {
		t.Errorf("files %q", got)
	}
	// Of a folder that cannot be completed nothing is seen, and what stood there stays.
	_, err = k.Keep(manifest("S1/x"), &report.Timeline{}, func(f *Folder) { f.Put("same", nil); f.Put("same", nil) })
	if err == nil || !strings.Contains(err.Error(), "artifacts of S1/x") {
		t.Errorf("error %v", err)
	}
	if got := files(t, place); !slices.Contains(got, "new") || slices.Contains(got, "same") {
		t.Errorf("files %q", got)
	}

	foreign := filepath.Join(k.Dir, "runtime", "S1", "y")
	must(t, os.MkdirAll(foreign, 0o755))
	must(t, os.WriteFile(filepath.Join(foreign, "manifest.json"), []byte(`{"name":"a web page"}`), 0o644))
	if _, err := k.Keep(manifest("S1/y"), &report.Timeline{}, func(*Folder) {}); err == nil || !strings.Contains(err.Error(), "is in the way") {
		t.Errorf("error %v", err)
	}
	if err := k.Prepare([]string{"S1/y"}); err == nil || !strings.Contains(err.Error(), "is in the way") {
		t.Errorf("error %v", err)
	}
	if got := files(t, foreign); len(got) != 1 {
		t.Errorf("of the foreign folder there is %q", got)
	}
}

func TestPrepare(t *testing.T) {
	k := keeper(t)
	for _, id := range []string{"S1/x", "S1/xy", "S1/z"} {
		_, err := k.Keep(manifest(id), &report.Timeline{}, func(*Folder) {})
		must(t, err)
	}
	run := manifest("S1/x")
	run.Run = 2
	_, err := k.Keep(run, &report.Timeline{}, func(*Folder) {})
	must(t, err)
	must(t, os.WriteFile(filepath.Join(k.Dir, "notes"), nil, 0o644))
	must(t, k.Prepare([]string{"S1/x"}))
	found, err := Find(k.Dir)
	must(t, err)
	if len(found) != 2 || found[0].Scenario != "S1/xy" || found[1].Scenario != "S1/z" {
		t.Errorf("left are %+v", found)
	}
	_ = read(t, k.Dir, "notes")

	k.Dir = filepath.Join(k.Dir, "new", "deeper")
	must(t, k.Prepare(nil))
	if err := (&Keeper{Dir: found[0].Path}).Prepare(nil); err == nil || !strings.Contains(err.Error(), "the folder of one scenario") {
		t.Errorf("error %v", err)
	}
	if err := (&Keeper{Dir: filepath.Join(found[0].Path, manifestName)}).Prepare(nil); err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("error %v", err)
	}
	if os.Geteuid() != 0 {
		closed := t.TempDir()
		must(t, os.Chmod(closed, 0o555))
		if err := (&Keeper{Dir: closed}).Prepare(nil); err == nil || !strings.Contains(err.Error(), "cannot write in") {
			t.Errorf("error %v", err)
		}
	}
}

func TestFoldersAreBounded(t *testing.T) {
	k := keeper(t)
	big := make([]byte, FileLimit+1)
	place, err := k.Keep(manifest("S1/x"), &report.Timeline{}, func(f *Folder) {
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			f.Place("seed/"+name, big)
		}
		f.Put("stderr", []byte("the last words"))
	})
	must(t, err)
	m, err := Load(place)
	must(t, err)
	want := []string{
		"seed/a: cut after 16777216 of 16777217 bytes", "seed/b: cut after 16777216 of 16777217 bytes", "seed/c: cut after 16777216 of 16777217 bytes",
		"seed/d: cut after 8388608 of 16777217 bytes", "seed/e: the folder has 58720256 bytes already",
	}
	if !slices.Equal(m.LeftOut, want) {
		t.Errorf("left out %q, want %q", m.LeftOut, want)
	}
	if read(t, place, "stderr") != "the last words" {
		t.Error("what happened was left out for the sake of bodies")
	}
}

func TestFindAndLoad(t *testing.T) {
	k := keeper(t)
	began := time.Now()
	old := manifest("S1/z")
	old.Started = began.Add(-time.Hour)
	_, err := k.Keep(old, &report.Timeline{}, func(*Folder) {})
	must(t, err)
	place, err := k.Keep(manifest("S1/x"), &report.Timeline{}, func(f *Folder) { f.Put("seed/manifest.json", []byte("{}")) })
	must(t, err)
	must(t, k.WriteIndex(began))
	var index Index
	must(t, json.Unmarshal([]byte(read(t, k.Dir, "index.json")), &index))
	if len(index.Folders) != 2 || index.Folders[0].Folder != "runtime/S1/x" || !index.Folders[0].LastRun || index.Folders[1].LastRun || index.Folders[0].Clauses[0] != "S1-1" {
		t.Errorf("the index is %+v", index)
	}
	if found, err := Find(place); err != nil || len(found) != 1 || found[0].Path != place {
		t.Errorf("found %+v, %v", found, err)
	}
	if found, err := Find(t.TempDir()); err != nil || len(found) != 0 {
		t.Errorf("found %+v, %v", found, err)
	}
	if _, err := Find(filepath.Join(k.Dir, "missing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
	if _, err := Load(t.TempDir()); !errors.Is(err, ErrNone) {
		t.Errorf("error %v", err)
	}
	for text, want := range map[string]string{
		`{"schema": "pugcheck.artifacts/v1", "suite": "ru`:        "cut short",
		`{"schema": "pugcheck.artifacts/v2"}`:                     `its schema is "pugcheck.artifacts/v2"`,
		`{"schema": "pugcheck.artifacts/v1", "suite": "runtime"}`: "is missing",
		``: "cut short", `not JSON`: "manifest.json: ", `{}`: `its schema is ""`,
	} {
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(text), 0o644))
		if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
		if _, err := Find(dir); err == nil {
			t.Errorf("%q: a folder that was named and cannot be read was passed over", text)
		}
	}
}
