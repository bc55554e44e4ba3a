package artifacts

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pugcheck/pugcheck/harness/report"
)

// Keeper writes the folders of a run. It survives a round trip through JSON, since
// workers receive it that way.
type Keeper struct {
	Dir    string            `json:"dir"`            // absolute
	Name   string            `json:"name,omitempty"` // of the one folder below Dir; "" = each scenario has its own
	Common Manifest          `json:"common"`         // what all folders of the run say
	Repro  map[string]string `json:"repro"`          // by scenario
}

// Of is the keeper with the repro commands of some scenarios only. That of nil is nil.
func (k *Keeper) Of(scenarios []string) *Keeper {
	if k == nil {
		return nil
	}
	some := *k
	some.Repro = map[string]string{}
	for _, id := range scenarios {
		some.Repro[id] = k.Repro[id]
	}
	return &some
}

// Place is the folder of a scenario. Runs of a repeated scenario have one each.
func (k *Keeper) Place(scenario string, run int) string {
	if k.Name != "" {
		return filepath.Join(k.Dir, k.Name)
	}
	name := scenario
	if run > 0 {
		name += fmt.Sprintf(".run%d", run)
	}
	return filepath.Join(k.Dir, k.Common.Suite, filepath.FromSlash(name))
}

// Keep writes the folder of a scenario in place of an earlier one, and returns where.
// m has what is the scenario's own; fill writes further files.
func (k *Keeper) Keep(m Manifest, line *report.Timeline, fill func(*Folder)) (place string, err error) {
	place = k.Place(m.Scenario, m.Run)
	if !isPath(m.Scenario) {
		return "", fmt.Errorf("the scenario %q cannot be the name of a folder", m.Scenario)
	}
	tmp, err := os.MkdirTemp(k.Dir, temporary+"*")
	if err != nil {
		return "", fmt.Errorf("artifacts: %w", err)
	}
	defer os.RemoveAll(tmp)
	whole := filepath.Join(tmp, "new")
	if err := os.Mkdir(whole, 0o777); err != nil {
		return "", fmt.Errorf("artifacts: %w", err)
	}
	f := &Folder{Began: m.Started, dir: whole}
	fill(f)
	Lines(f, "timeline.ndjson", line.Events(m.Started, report.InFile))
	common := k.Common
	m.Schema, m.Suite, m.Seed, m.Subject, m.Config = Schema, common.Suite, common.Seed, common.Subject, common.Config
	m.Strict, m.WorkingDirectory, m.Versions, m.Repro = common.Strict, common.WorkingDirectory, common.Versions, k.Repro[m.Scenario]
	f.Put("command", fmt.Appendf(nil, "cd %s &&\n%s\n", quoted(m.WorkingDirectory), m.Repro))
	m.LeftOut = append([]string{}, f.leftOut...)
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return "", fmt.Errorf("artifacts of %s: %w", m.Scenario, err)
	}
	f.Put(manifestName, append(data, '\n'))
	if f.err != nil {
		return "", fmt.Errorf("artifacts of %s: %w", m.Scenario, f.err)
	}
	if err := replace(place, whole, filepath.Join(tmp, "old")); err != nil {
		return "", fmt.Errorf("artifacts of %s: %w", m.Scenario, err)
	}
	return place, nil
}

// temporary is what the names of folders begin with that are being written.
const temporary = ".pugcheck-"

// replace puts the folder at whole in its place. What stood there goes to old, if it
// is one of ours.
func replace(place, whole, old string) error {
	if err := os.MkdirAll(filepath.Dir(place), 0o777); err != nil {
		return err
	}
	if err := remove(place, old); err != nil {
		return err
	}
	return os.Rename(whole, place)
}

// remove moves a folder of ours away. That there is none is no error; that something
// else stands there is.
func remove(place, old string) error {
	if _, err := os.Lstat(place); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if !isOurs(place) {
		return fmt.Errorf("%s is in the way, and is no folder of artifacts", place)
	}
	return os.Rename(place, old)
}

// isOurs tells whether a folder has a manifest of ours, of whatever version.
func isOurs(folder string) bool {
	var m struct{ Schema string }
	data, err := os.ReadFile(filepath.Join(folder, manifestName))
	return err == nil && json.Unmarshal(data, &m) == nil && strings.HasPrefix(m.Schema, family)
}

// Prepare makes sure that folders can be written below k.Dir, which is made where it
// does not exist, and removes those that an earlier run wrote for the scenarios, so
// that what is there afterwards is this run's. The error says what is in the way.
func (k *Keeper) Prepare(scenarios []string) error {
	info, err := os.Stat(k.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = os.MkdirAll(k.Dir, 0o777)
	case err == nil && !info.IsDir():
		return fmt.Errorf("%s is not a directory", k.Dir)
	}
	if err != nil {
		return err
	}
	if isOurs(k.Dir) {
		return fmt.Errorf("%s is the folder of one scenario; name the one that all are to stand in", k.Dir)
	}
	tmp, err := os.MkdirTemp(k.Dir, temporary+"*")
	if err != nil {
		var perr *fs.PathError
		if errors.As(err, &perr) {
			err = perr.Err
		}
		return fmt.Errorf("cannot write in %s: %w", k.Dir, err)
	}
	defer os.RemoveAll(tmp)
	for i, id := range scenarios {
		places, err := filepath.Glob(globQuoted(k.Place(id, 0)) + "*")
		if err != nil {
			return err
		}
		for n, place := range places {
			if rest := strings.TrimPrefix(place, k.Place(id, 0)); rest != "" && !strings.HasPrefix(rest, ".run") {
				continue
			}
			if err := remove(place, filepath.Join(tmp, fmt.Sprintf("%d-%d", i, n))); err != nil {
				return err
			}
		}
	}
	return nil
}

// globQuoted is a path as a pattern that matches it alone.
func globQuoted(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
