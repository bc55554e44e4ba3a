// Package watch tells when files change.
//
// Guarantees: a file that an editor replaces by renaming another over it goes on being
// watched, and so do files that come and go below a directory or by a glob. What follows
// closely on each other is told once. What was only read, or written to in a place that
// is not watched, is no change.
//
// Less formally: directories are watched, since a file's own watch would stay with the
// old file; and what an event means is found out by looking at the files.
package watch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

// How long nothing has to happen before a change is told: editors write, rename and set
// modes in several steps. A file that is away just then may come back, so that is given
// more time. And whoever never stops writing is told of anyway.
const (
	settles  = 100 * time.Millisecond
	returns  = 600 * time.Millisecond
	patience = 2 * time.Second
)

// Files are those that some patterns name.
type Files struct {
	patterns []pattern
	ignored  map[string]bool // absolute paths
	notify   *fsnotify.Watcher
	known    map[string]fs.FileInfo
	trouble  error // of notify, since it was last looked at
}

// Open finds the files and begins to watch. A pattern is a file, a directory for all
// files below it, or a glob with * and **. It is an error if one names no file. ignored
// are files and directories that are never looked at, such as those that the watcher
// itself writes.
func Open(patterns, ignored []string) (*Files, error) {
	f := &Files{ignored: map[string]bool{}}
	for _, p := range ignored {
		abs, err := filepath.Abs(p)
		if err != nil {
			return nil, fmt.Errorf("watching: %w", err)
		}
		f.ignored[abs] = true
	}
	for _, p := range patterns {
		parsed, err := parse(p)
		if err != nil {
			return nil, err
		}
		f.patterns = append(f.patterns, parsed)
	}
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watching files: %w", err)
	}
	f.notify = notify
	f.known = f.look()
	if err := f.complaint(); err != nil {
		_ = f.Close()
		return nil, err
	}
	for _, p := range f.patterns {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(f.known)), p.matches) {
			_ = f.Close()
			return nil, fmt.Errorf("watching %s: no such file", p.given)
		}
	}
	return f, nil
}

// Close ends the watch.
func (f *Files) Close() error { return f.notify.Close() }

// Names are the files as they were when last looked at, sorted.
func (f *Files) Names() []string { return slices.Sorted(maps.Keys(f.known)) }

// Next waits until files have changed since Open or since the last call, and everything
// has come to rest. It returns the names of those that changed, came or went, sorted. The
// error is the context's, or that of the operating system.
func (f *Files) Next(ctx context.Context) ([]string, error) {
	quiet := time.NewTimer(0) // something may have happened between two calls
	defer quiet.Stop()
	var began time.Time // of what is not told yet
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case _, open := <-f.notify.Events:
			if !open {
				return nil, errors.New("watching files: the watch was closed")
			}
			if began.IsZero() {
				began = time.Now()
			}
			quiet.Reset(min(settles, max(0, patience-time.Since(began))))
			continue
		case err := <-f.notify.Errors:
			if !errors.Is(err, fsnotify.ErrEventOverflow) { // events were lost, and looking finds what they told
				return nil, fmt.Errorf("watching files: %w", err)
			}
			quiet.Reset(settles)
			continue
		case <-quiet.C:
		}
		now := f.look()
		if err := f.complaint(); err != nil {
			return nil, err
		}
		changed := different(f.known, now)
		switch {
		case len(changed) == 0:
			began = time.Time{}
		case f.away(now) && !began.IsZero() && time.Since(began) < returns:
			quiet.Reset(returns - time.Since(began))
		case f.away(now) && began.IsZero():
			began = time.Now()
			quiet.Reset(returns)
		default:
			f.known = now
			return changed, nil
		}
	}
}

// away tells whether a file is gone that was there.
func (f *Files) away(now map[string]fs.FileInfo) bool {
	for name := range f.known {
		if _, there := now[name]; !there {
			return true
		}
	}
	return false
}

func different(before, now map[string]fs.FileInfo) []string {
	var out []string
	for name, info := range now {
		if was, there := before[name]; !there || !alike(was, info) {
			out = append(out, name)
		}
	}
	for name := range before {
		if _, there := now[name]; !there {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// alike tells whether it is the same file with the same content, as far as can be told
// without reading it.
func alike(a, b fs.FileInfo) bool {
	return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && a.Mode() == b.Mode() && os.SameFile(a, b)
}

// look takes the state of all files, and watches the directories that they are in.
func (f *Files) look() map[string]fs.FileInfo {
	found := map[string]fs.FileInfo{}
	for _, p := range f.patterns {
		f.attend(filepath.Dir(p.base)) // where the base itself may come back
		p.visit(f.attend, func(name string) {
			if f.ignores(name) {
				return
			}
			info, err := os.Stat(name)
			if err != nil || info.IsDir() {
				return
			}
			if target, err := filepath.EvalSymlinks(name); err == nil && target != filepath.Clean(name) {
				f.attend(filepath.Dir(target))
			}
			found[name] = info
		})
	}
	return found
}

// ignores tells whether a file, or a directory that it is in, is never looked at.
func (f *Files) ignores(name string) bool {
	abs, err := filepath.Abs(name)
	if err != nil || len(f.ignored) == 0 {
		return false
	}
	for ; !f.ignored[abs]; abs = filepath.Dir(abs) {
		if abs == filepath.Dir(abs) {
			return false
		}
	}
	return true
}

// attend watches a directory, once. One that is not there is waited for above it.
func (f *Files) attend(dir string) {
	if err := f.notify.Add(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.trouble = fmt.Errorf("watching the directory %s: %w", dir, err)
	}
}

func (f *Files) complaint() error {
	err := f.trouble
	f.trouble = nil
	if errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("%w; the system's limit of watches is reached (fs.inotify.max_user_watches), so name fewer directories", err)
	}
	return err
}
