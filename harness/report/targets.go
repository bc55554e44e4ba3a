package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// renderers are the forms of a result in the order in which they are listed. path is
// where it goes, for a format that depends on the file's name.
var renderers = []struct {
	format string
	render func(r *Result, path string) ([]byte, error)
}{
	{"json", func(r *Result, _ string) ([]byte, error) { return r.JSON() }},
	{"junit", junitXML},
	{"markdown", markdown},
	{"sarif", sarif},
	{"tap", tap},
	{"badge", badge},
	{"html", func(r *Result, _ string) ([]byte, error) { return r.HTML() }},
	{"github", func(r *Result, _ string) ([]byte, error) { return r.github(), nil }},
}

// Formats are the names of the forms that a result can be written in.
var Formats = formats()

func formats() []string {
	var out []string
	for _, r := range renderers {
		out = append(out, r.format)
	}
	return out
}

// Render is the result in one of the Formats. path is where it goes.
func Render(r *Result, format, path string) ([]byte, error) {
	for _, known := range renderers {
		if known.format == format {
			return known.render(r, path)
		}
	}
	return nil, fmt.Errorf("unknown format %q; known are %s", format, strings.Join(Formats, ", "))
}

// Target is one file that a result is written to, in one form.
type Target struct {
	Format string
	Path   string // "-" = standard output
}

// ParseTargets reads FORMAT=FILE words and finds everything that would keep the
// report from being written, before there is a result to lose: an unknown
// format, two reports to one file, a directory, a folder that is missing or
// cannot be written to.
func ParseTargets(words []string) ([]Target, error) { return ParseTargetsIn(words, Formats) }

// ParseTargetsIn is ParseTargets for something that has other forms than a result.
func ParseTargetsIn(words, formats []string) ([]Target, error) {
	var out []Target
	seen := map[string]string{}
	for _, word := range words {
		format, path, ok := strings.Cut(word, "=")
		switch {
		case !slices.Contains(formats, format):
			return nil, fmt.Errorf("--report %s: unknown format %q; known are %s", word, format, strings.Join(formats, ", "))
		case !ok || path == "":
			return nil, fmt.Errorf("--report %s: a file is missing; write %s=FILE, or %s=- for standard output", word, format, format)
		}
		place, err := resolve(path)
		if err != nil {
			return nil, fmt.Errorf("--report %s: %w", word, err)
		}
		if first, twice := seen[place]; twice {
			return nil, fmt.Errorf("--report %s: the same file as --report %s", word, first)
		}
		seen[place] = word
		out = append(out, Target{format, place})
	}
	return out, nil
}

// resolve finds the file that a path means and tries whether it can be written.
func resolve(path string) (string, error) {
	if path == "-" {
		return path, nil
	}
	place, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(place); err == nil {
		place = real
	} else if dir, err := filepath.EvalSymlinks(filepath.Dir(place)); err == nil {
		place = filepath.Join(dir, filepath.Base(place))
	}
	info, err := os.Stat(place)
	switch {
	case err == nil && info.IsDir():
		return "", fmt.Errorf("%s is a directory", path)
	case err == nil && !info.Mode().IsRegular():
		return place, nil // a device or a pipe: written to, not replaced
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	probe, err := os.CreateTemp(filepath.Dir(place), "."+filepath.Base(place)+".*")
	if err != nil {
		var pathError *fs.PathError
		if errors.As(err, &pathError) {
			err = pathError.Err
		}
		return "", fmt.Errorf("cannot write in %s: %w", filepath.Dir(place), err)
	}
	return place, errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// durability is what a file that was replaced survives.
type durability bool

const (
	forNow  durability = false // the end of the process, however it comes
	forGood durability = true  // the end of the machine as well
)

// Write writes the result. A file is replaced as a whole or not at all.
func (t Target) Write(r *Result, stdout io.Writer) error { return t.write(r, stdout, forGood) }

// keepable tells whether the target can be written again and again while a run goes on, and
// read back afterwards.
func (t Target) keepable() bool {
	if t.Format != "json" || t.Path == "-" {
		return false
	}
	info, err := os.Stat(t.Path)
	return err != nil || info.Mode().IsRegular()
}

func (t Target) write(r *Result, stdout io.Writer, lasting durability) error {
	data, err := Render(r.beside(t.Path), t.Format, t.Path)
	if err != nil {
		return err
	}
	return t.put(data, stdout, lasting)
}

// Put writes what was rendered elsewhere, as Write does.
func (t Target) Put(data []byte, stdout io.Writer) error { return t.put(data, stdout, forGood) }

func (t Target) put(data []byte, stdout io.Writer, lasting durability) error {
	var err error
	if t.Path == "-" {
		_, err = stdout.Write(data)
	} else if info, statErr := os.Stat(t.Path); statErr == nil && !info.Mode().IsRegular() {
		err = writeInto(t.Path, data)
	} else {
		err = replace(t.Path, data, lasting)
	}
	if err != nil {
		return fmt.Errorf("report %s=%s: %w", t.Format, t.Path, err)
	}
	return nil
}

func writeInto(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// replace writes beside the file and renames, so that a reader never sees half a
// report and an old one is not lost to a full disk.
func replace(path string, data []byte, lasting durability) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	_, err = f.Write(data)
	if lasting == forGood {
		err = errors.Join(err, f.Sync())
	}
	if err = errors.Join(err, f.Chmod(mode), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// JSON is the form pugcheck.results/v1: indented, lists never null, a line feed
// at the end.
func (r *Result) JSON() ([]byte, error) {
	full := r.withoutNulls()
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(full); err != nil {
		return nil, fmt.Errorf("result as JSON: %w", err)
	}
	return []byte(b.String()), nil
}

// withoutNulls is a copy in which every list and map is there.
func (r *Result) withoutNulls() *Result {
	out := *r
	out.Subject.Command = list(r.Subject.Command)
	out.Subject.Transports = list(r.Subject.Transports)
	out.Profile.Without = list(r.Profile.Without)
	out.Selection, out.Skipped = list(r.Selection), list(r.Skipped)
	out.Sections = list(r.Sections)
	out.Readings = list(r.Readings)
	out.Clauses = list(r.Clauses)
	out.Scenarios = list(r.Scenarios)
	if out.Versions == nil {
		out.Versions = map[string]string{}
	}
	if len(r.Beyond) > 0 {
		out.Beyond = list(r.Beyond)
	}
	for _, clauses := range [][]Clause{out.Clauses, out.Beyond} {
		for i := range clauses {
			c := &clauses[i]
			c.Readings, c.Scenarios, c.Evidence = list(c.Readings), list(c.Scenarios), list(c.Evidence)
		}
	}
	conclusion := r.Conclude()
	out.Conclusion = &conclusion
	if r.Known != nil {
		known := *r.Known
		known.Entries = list(known.Entries)
		for i := range known.Entries {
			e := &known.Entries[i]
			e.Messages, e.Covers = list(e.Messages), list(e.Covers)
		}
		out.Known = &known
	}
	for i := range out.Scenarios {
		out.Scenarios[i].Clauses = list(out.Scenarios[i].Clauses)
	}
	return &out
}

// list is a copy that is not nil.
func list[E any](l []E) []E { return append(make([]E, 0, len(l)), l...) }

// Replace writes a file as a whole or not at all: beside the file first, so that a reader
// never sees half of it and the old one is not lost to a full disk.
func Replace(path string, data []byte) error { return replace(path, data, forGood) }
