package report

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTargetsAreCheckedBeforeTheRun(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "r.json")
	locked := filepath.Join(dir, "locked")
	if err := os.Mkdir(locked, 0o500); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link.json")
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		words []string
		want  string
	}{
		"format":        {[]string{"xml=" + file}, `unknown format "xml"; known are json`},
		"no file":       {[]string{"json"}, "a file is missing"},
		"empty":         {[]string{"json="}, "a file is missing"},
		"twice":         {[]string{"json=" + file, "json=" + dir + "/../" + filepath.Base(dir) + "/r.json"}, "the same file as"},
		"by a link":     {[]string{"json=" + file, "json=" + link}, "the same file as"},
		"stdout twice":  {[]string{"json=-", "json=-"}, "the same file as"},
		"directory":     {[]string{"json=" + dir}, "is a directory"},
		"no folder":     {[]string{"json=" + dir + "/none/r.json"}, "no such file or directory"},
		"below a file":  {[]string{"json=" + file + "/r.json"}, "not a directory"},
		"just an equal": {[]string{"=" + file}, "unknown format"},
	} {
		if _, err := ParseTargets(tc.words); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v; want %q", name, err, tc.want)
		}
	}
	if os.Getuid() != 0 { // root may write anywhere
		if _, err := ParseTargets([]string{"json=" + locked + "/r.json"}); err == nil || !strings.Contains(err.Error(), "permission denied") {
			t.Errorf("locked folder: %v", err)
		}
	}
	targets, err := ParseTargets([]string{"json=" + link, "json=-", "json=/dev/null"})
	if err != nil || len(targets) != 3 {
		t.Fatalf("%v %v", targets, err)
	}
	if old, _ := os.ReadFile(file); string(old) != "old" {
		t.Error("the check changed the file")
	}
	var stdout bytes.Buffer
	for _, target := range targets {
		if err := target.Write(everyKind(), &stdout); err != nil {
			t.Fatal(err)
		}
	}
	written, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(written, stdout.Bytes()) || len(written) < 100 {
		t.Errorf("file and standard output differ (%v)", err)
	}
	if info, _ := os.Stat(file); info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v", info.Mode())
	}
	if left, _ := filepath.Glob(dir + "/.*"); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}
