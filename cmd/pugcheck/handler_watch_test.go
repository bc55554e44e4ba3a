package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// watched is a pugcheck that judges a handler whenever its file changes.
type watched struct {
	*process
	dir  string
	told int // how much of what it said was looked at
}

// The handlers, all for sh. The last one says that it is up and stays.
const (
	keepsAll   = `echo '{"data":"QQ=="}'` + "\n"
	urlSafe    = `echo '{"data":"-_-_"}'` + "\n"
	noLineFeed = `printf '{}{"data":"QQ=="}'` + "\n"
	stays      = "echo > $" + markVariable + "; exec sleep 1000\n"
)

func watchHandler(t *testing.T, handler string, args ...string) *watched {
	t.Helper()
	w := &watched{dir: t.TempDir()}
	w.process = &process{T: t}
	w.replace("agent", handler)
	args = append([]string{"handler", "--watch", "--seed", "5", "--only", "P3.1-2,P3-15"}, args...)
	w.process = startProcess(t, []string{"NO_COLOR=1"}, append(args, "sh", w.path("agent"))...)
	return w
}

func (w *watched) path(name string) string { return filepath.Join(w.dir, name) }

func (w *watched) replace(name, text string) {
	w.Helper()
	replaceFile(w.T, w.path(name), text)
}

// replaceFile does as editors do. Between that a file is emptied and that it is written
// to, a busy machine may leave enough time for it to be looked at.
func replaceFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+"~", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+"~", path); err != nil {
		t.Fatal(err)
	}
}

// said is everything that it has said since the last call, once it waits for the next
// change.
func (w *watched) said() string {
	w.Helper()
	text := ""
	await(w.T, "it waits for a change", func() bool {
		all, err := os.ReadFile(w.stderr)
		if err != nil {
			w.Fatal(err)
		}
		text = string(all[w.told:])
		return strings.Contains(text, "(Ctrl-C ends)\n")
	})
	w.told += len(text)
	return text
}

// wantSaid wants parts in what it said, and others not.
func (w *watched) wantSaid(wanted []string, unwanted ...string) {
	w.Helper()
	text := w.said()
	for _, part := range wanted {
		if !strings.Contains(text, part) {
			w.Errorf("want %q in:\n%s", part, text)
		}
	}
	for _, part := range unwanted {
		if strings.Contains(text, part) {
			w.Errorf("want no %q in:\n%s", part, text)
		}
	}
}

// TestWatch follows a handler through good and bad days.
func TestWatch(t *testing.T) {
	t.Parallel()
	w := watchHandler(t, keepsAll, "--report", "json="+filepath.Join(t.TempDir(), "result.json"))
	w.wantSaid([]string{"\nhandler: sh ", "pass  fail", "✓ P3", "watching " + w.path("agent")}, "Failed", "Changed")

	w.replace("agent", urlSafe)
	w.wantSaid([]string{"after a change of " + w.path("agent"), "Changed: 1 clause\n", "✗ P3.1-2  not-exercised → fail", "Failed: 1 clause", "base64 in the URL-safe alphabet", "does not conform"}, "pass  fail", "P3-15")

	w.replace("agent", "# the same\n"+urlSafe)
	w.wantSaid([]string{"Nothing changed: 2 clauses as before.", "Still violated\n  P3.1-2\n"}, "Changed", "Failed")

	// A program with a mistake is no handler at all, and what was known of it is gone.
	w.replace("agent", "exit 7\n")
	w.wantSaid([]string{"Nothing else was started", "exit status 7", "Not reached this time: "}, "Scenarios that are gone", "any more")

	w.replace("agent", noLineFeed)
	w.wantSaid([]string{"! P3-15 ", "→ warn", "Warned: 1 clause"}, "Failed: ", "Scenarios that are new")

	// A file that is removed and written anew is the same to whoever watches it.
	if err := os.Remove(w.path("agent")); err != nil {
		t.Fatal(err)
	}
	w.wantSaid([]string{"Nothing else was started", "watching " + w.path("agent")})
	w.replace("agent", noLineFeed)
	w.wantSaid([]string{"after a change of " + w.path("agent"), "! P3-15 "})

	w.signal(syscall.SIGINT)
	w.wantExit(0, "conform")
	w.wantNoStrays()
}

// TestWatchDuringARun: a change ends the run and begins another one; an interrupt ends
// all, with the status of what was complete.
func TestWatchDuringARun(t *testing.T) {
	t.Parallel()
	w := watchHandler(t, stays, "--timeout", "10m")
	w.awaitHandler()
	w.replace("agent", urlSafe)
	w.wantSaid([]string{"files changed (" + w.path("agent") + "): ending what runs", "\nhandler: sh ", "Failed: 1 clause"}, "interrupted", "No statement on")

	if err := os.Remove(w.mark()); err != nil {
		t.Fatal(err)
	}
	w.replace("agent", stays)
	w.awaitHandler()
	w.signal(syscall.SIGTERM)
	w.wantExit(1, "interrupted: ending what runs")
	w.wantNoStrays()
}

// TestWatchFurtherFiles: what is named beside the command counts as well, and what cannot
// be used for now is told and waited for.
func TestWatchFurtherFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := filepath.Join(dir, "log.ndjson")
	write := func(text string) { t.Helper(); replaceFile(t, log, text) }
	write(`{"text":"a note"}` + "\n")
	w := watchHandler(t, keepsAll, "--log", log)
	w.wantSaid([]string{"watching " + log + ", "}, "Failed")

	write(`{"text":` + "\n")
	w.wantSaid([]string{"pugcheck: " + log + ":1: column "}, "judging")
	write(`{"text":"another note"}` + "\n")
	w.wantSaid([]string{"judging", "Nothing changed: 2 clauses as before."})
	w.signal(syscall.SIGINT)
	w.wantExit(0, "conform")

	// Without a complete run there is nothing to say.
	w = watchHandler(t, stays, "--timeout", "10m", "--watch-file", filepath.Join(dir, "*.ndjson"))
	w.awaitHandler()
	if err := os.Remove(w.mark()); err != nil {
		t.Fatal(err)
	}
	write(`{"text":"a third note"}` + "\n")
	w.awaitHandler()
	w.signal(syscall.SIGINT)
	w.wantExit(3, "files changed ("+log+")", "No statement on")
	w.wantNoStrays()
}
