package watch

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// pattern names files.
type pattern struct {
	given string // as it was typed, cleaned
	base  string // the file itself, or the directory that all of them are below
	glob  bool
}

func parse(given string) (pattern, error) {
	if given == "" {
		return pattern{}, fmt.Errorf("watching: an empty name")
	}
	p := pattern{given: filepath.Clean(given), base: filepath.Clean(given)}
	if _, err := os.Lstat(given); err == nil || !strings.ContainsAny(given, "*?[{") {
		return p, nil
	}
	if !doublestar.ValidatePathPattern(given) {
		return p, fmt.Errorf("watching %q: the glob cannot be read", given)
	}
	p.glob = true
	p.base, _ = doublestar.SplitPattern(filepath.ToSlash(p.given))
	return p, nil
}

// matches tells whether a file is among those that the pattern names.
func (p pattern) matches(name string) bool {
	if p.glob {
		return doublestar.PathMatchUnvalidated(p.given, name)
	}
	return name == p.base || strings.HasPrefix(name, p.base+string(filepath.Separator)) || p.base == "."
}

// visit calls each for the files and attend for the directories on the way, which
// include that of a single file. What cannot be read is passed over: it may be on its
// way out.
func (p pattern) visit(attend, each func(name string)) {
	info, err := os.Stat(p.base)
	if err != nil || !info.IsDir() {
		attend(filepath.Dir(p.base))
		if err == nil {
			each(p.base)
		}
		return
	}
	_ = filepath.WalkDir(p.base, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil
		case d.IsDir() && name != p.base && derived(d.Name()):
			return filepath.SkipDir
		case d.IsDir():
			attend(name)
		case !hidden(d.Name()) && p.matches(name):
			each(name)
		}
		return nil
	})
}

// derived tells whether a directory holds what is made of sources, or belongs to a tool:
// running a program writes there.
func derived(dir string) bool {
	return hidden(dir) || dir == "__pycache__" || dir == "node_modules"
}

// hidden tells whether a name below a directory is left out: those of editors' files in
// the making are such.
func hidden(name string) bool { return strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") }
