package watch_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pugcheck/pugcheck/harness/watch"
)

// folder is a directory that tests change.
type folder struct {
	t   *testing.T
	dir string
}

func (f folder) path(name string) string { return filepath.Join(f.dir, filepath.FromSlash(name)) }

func (f folder) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f folder) write(name, text string) {
	f.t.Helper()
	f.must(os.MkdirAll(filepath.Dir(f.path(name)), 0o755))
	f.must(os.WriteFile(f.path(name), []byte(text), 0o600))
}

// replace does what editors do: another file is renamed over the old one.
func (f folder) replace(name, text string) {
	f.t.Helper()
	f.write(name+".new~", text)
	f.must(os.Rename(f.path(name+".new~"), f.path(name)))
}

func (f folder) open(ignored []string, names ...string) *watch.Files {
	f.t.Helper()
	for i := range names {
		names[i] = f.path(names[i])
	}
	files, err := watch.Open(names, ignored)
	f.must(err)
	f.t.Cleanup(func() { _ = files.Close() })
	return files
}

// next are the names of what changed, relative to the folder.
func (f folder) next(files *watch.Files) string {
	f.t.Helper()
	ctx, stop := context.WithTimeout(f.t.Context(), 30*time.Second)
	defer stop()
	changed, err := files.Next(ctx)
	f.must(err)
	for i := range changed {
		changed[i], err = filepath.Rel(f.dir, changed[i])
		f.must(err)
	}
	return strings.Join(changed, " ")
}

func TestNext(t *testing.T) {
	for _, tc := range []struct {
		name    string
		watched []string
		change  func(f folder)
		want    string
	}{
		{"written to", []string{"a.py"}, func(f folder) { f.write("a.py", "two") }, "a.py"},
		{"of the same length", []string{"a.py"}, func(f folder) { f.write("a.py", "eno") }, "a.py"},
		{"replaced by another", []string{"a.py"}, func(f folder) { f.replace("a.py", "two") }, "a.py"},
		{"made executable", []string{"a.py"}, func(f folder) { f.must(os.Chmod(f.path("a.py"), 0o700)) }, "a.py"},
		{"gone", []string{"a.py"}, func(f folder) { f.must(os.Remove(f.path("a.py"))) }, "a.py"},
		{"away for a moment", []string{"a.py"}, func(f folder) {
			f.must(os.Rename(f.path("a.py"), f.path("a.py~")))
			f.write("a.py", "two")
		}, "a.py"},
		{"one of two", []string{"a.py", "lib/b.py"}, func(f folder) { f.write("lib/b.py", "two") }, "lib/b.py"},
		{"several at once", []string{"a.py", "lib"}, func(f folder) {
			f.write("a.py", "two")
			f.write("lib/b.py", "two")
			f.write("lib/c/d.py", "new")
		}, "a.py lib/b.py lib/c/d.py"},
		{"new by a glob", []string{"lib/**/*.py"}, func(f folder) {
			f.write("lib/c/notes.txt", "no")
			f.write("lib/c/d.py", "new")
		}, "lib/c/d.py"},
		{"its directory made anew", []string{"lib/b.py"}, func(f folder) {
			f.must(os.RemoveAll(f.path("lib")))
			f.write("lib/b.py", "two")
		}, "lib/b.py"},
		{"behind a link", []string{"link"}, func(f folder) { f.write("elsewhere/real", "two") }, "link"},
		{"a link set to another", []string{"link"}, func(f folder) {
			f.write("elsewhere/other", "two")
			f.must(os.Remove(f.path("link")))
			f.must(os.Symlink(f.path("elsewhere/other"), f.path("link")))
		}, "link"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			f := folder{t, t.TempDir()}
			f.write("a.py", "one")
			f.write("lib/b.py", "one")
			f.write("elsewhere/real", "one")
			f.must(os.Symlink(f.path("elsewhere/real"), f.path("link")))
			files := f.open(nil, tc.watched...)
			tc.change(f)
			if got := f.next(files); got != tc.want {
				t.Fatalf("%q changed, want %q", got, tc.want)
			}
			// And it goes on, whatever became of the file.
			again := strings.Fields(tc.want)[0]
			f.replace(again, "once more")
			if got := f.next(files); got != again {
				t.Errorf("then %q changed, want %q", got, again)
			}
		})
	}
}

// TestNothingToTell: what is no change of the files stays untold until one is.
func TestNothingToTell(t *testing.T) {
	f := folder{t, t.TempDir()}
	f.write("a.py", "one")
	f.write("lib/b.py", "one")
	f.write("report.json", "{}")
	f.write("settings.json", "{}")
	files := f.open([]string{f.path("report.json"), f.path("lib/kept")}, "a.py", "lib", "*.json")
	_, err := os.ReadFile(f.path("a.py"))
	f.must(err)
	f.write("other.txt", "beside it")
	f.write("report.json", "its own")
	f.write("lib/kept/deep/b.py", "its own")
	f.write("lib/__pycache__/b.pyc", "derived")
	f.write("lib/.b.py.swp", "of an editor")
	if names := files.Names(); len(names) != 3 {
		t.Errorf("it watches %q", names)
	}
	ctx, stop := context.WithTimeout(t.Context(), 400*time.Millisecond)
	defer stop()
	if changed, err := files.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%q changed, %v", changed, err)
	}
	f.write("a.py", "two")
	if got := f.next(files); got != "a.py" {
		t.Errorf("%q changed", got)
	}
}

// TestAFileThatIsAlwaysWritten: it is told of all the same.
func TestAFileThatIsAlwaysWritten(t *testing.T) {
	f := folder{t, t.TempDir()}
	f.write("log", "")
	files := f.open(nil, "log")
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-time.After(10 * time.Millisecond):
				_ = os.WriteFile(f.path("log"), []byte(strings.Repeat("x", i)), 0o600)
			}
		}
	}()
	if got := f.next(files); got != "log" {
		t.Errorf("%q changed", got)
	}
	close(stop)
	<-ended
}

func TestOpenRefuses(t *testing.T) {
	f := folder{t, t.TempDir()}
	f.must(os.Mkdir(f.path("empty"), 0o755))
	for name, want := range map[string]string{
		"not-there": "no such file", "lib/*.py": "no such file", "empty": "no such file", "[": "cannot be read", "": "empty name",
	} {
		path := name
		if name != "" {
			path = f.path(name)
		}
		if _, err := watch.Open([]string{path}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
	}
	f.write("a", "")
	if names := f.open(nil, "a", "*").Names(); !slices.Equal(names, []string{f.path("a")}) {
		t.Errorf("%q", names)
	}
}
