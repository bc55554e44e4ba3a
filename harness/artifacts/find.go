package artifacts

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Found is a folder with its manifest.
type Found struct {
	Path string
	Manifest
}

// Find lists the folders at or below dir, sorted by path. One that cannot be read is
// left out, unless it is dir itself: then the error says what is wrong with it.
func Find(dir string) ([]Found, error) {
	m, err := Load(dir)
	switch {
	case err == nil:
		return []Found{{dir, m}}, nil
	case !errors.Is(err, ErrNone):
		return nil, err
	}
	if info, err := os.Stat(dir); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: errors.New("not a directory")}
	}
	var out []Found
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !d.IsDir():
			return nil
		case strings.HasPrefix(d.Name(), temporary):
			return filepath.SkipDir
		}
		m, err := Load(path)
		if errors.Is(err, ErrNone) {
			return nil
		}
		if err == nil {
			out = append(out, Found{path, m})
		}
		return filepath.SkipDir // nothing of ours lies within one of ours
	})
	return out, err
}

// Index is the file index.json beside the folders: which there are, and of which run.
type Index struct {
	Schema  string    `json:"schema"` // IndexSchema
	Suite   string    `json:"suite"`  // of the last run
	Seed    uint64    `json:"seed"`
	Started time.Time `json:"started"`
	Folders []Entry   `json:"folders"`
}

// IndexSchema names the version of Index.
const IndexSchema = "pugcheck.artifacts-index/v1"

// Entry is one folder of an Index.
type Entry struct {
	Folder   string    `json:"folder"` // relative to the index
	Suite    string    `json:"suite"`
	Scenario string    `json:"scenario"`
	Run      int       `json:"run,omitempty"`
	Seed     uint64    `json:"seed"`
	Started  time.Time `json:"started"`
	Clauses  []string  `json:"clauses"` // with findings, each once
	LastRun  bool      `json:"last_run"`
}

// WriteIndex lists all folders below k.Dir. began is when the run did: folders that
// were written before are of an earlier one.
func (k *Keeper) WriteIndex(began time.Time) error {
	found, err := Find(k.Dir)
	if err != nil {
		return err
	}
	index := Index{Schema: IndexSchema, Suite: k.Common.Suite, Seed: k.Common.Seed, Started: began.UTC(), Folders: []Entry{}}
	for _, f := range found {
		rel, err := filepath.Rel(k.Dir, f.Path)
		if err != nil {
			return err
		}
		e := Entry{
			Folder: filepath.ToSlash(rel), Suite: f.Suite, Scenario: f.Scenario, Run: f.Run, Seed: f.Seed, Started: f.Started,
			Clauses: f.ClauseIDs(), LastRun: f.Suite == k.Common.Suite && !f.Started.Before(began),
		}
		index.Folders = append(index.Folders, e)
	}
	data, err := json.MarshalIndent(index, "", "  ")
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(k.Dir, temporary+"*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(append(data, '\n'))
	if err = errors.Join(err, tmp.Chmod(0o644), tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), filepath.Join(k.Dir, "index.json"))
	}
	if err != nil {
		os.Remove(tmp.Name())
	}
	return err
}

// ClauseIDs are the clauses with findings, each once.
func (m Manifest) ClauseIDs() []string {
	out, seen := []string{}, map[string]bool{}
	for _, f := range m.Findings {
		if !seen[f.Clause] {
			seen[f.Clause] = true
			out = append(out, f.Clause)
		}
	}
	return out
}
