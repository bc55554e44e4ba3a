package artifacts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/pugcheck/pugcheck/harness/report"
)

// Schema names the version of a folder's layout and of its manifest.
const Schema = family + "v1"

// family is what the schemas of all versions begin with.
const family = "pugcheck.artifacts/"

// manifestName is the file that makes a folder one of ours.
const manifestName = "manifest.json"

// Manifest says what a folder is about.
type Manifest struct {
	Schema   string `json:"schema"`
	Suite    string `json:"suite"`
	Scenario string `json:"scenario"`
	Run      int    `json:"run,omitempty"` // which of the repeated runs, from 1; 0 = there was only one
	Title    string `json:"title"`
	Seed     uint64 `json:"seed"`

	Subject          report.Subject    `json:"subject"`
	Config           json.RawMessage   `json:"config"` // the profile as it was judged, in the suite's own form
	Strict           bool              `json:"strict"`
	WorkingDirectory string            `json:"working_directory"` // relative paths in Config start there
	Repro            string            `json:"repro"`             // shell command that runs the scenario again
	Versions         map[string]string `json:"versions"`

	Started    time.Time `json:"started"`
	DurationMS float64   `json:"duration_ms"`
	Outcome    string    `json:"outcome"` // as in a result
	Reason     string    `json:"reason,omitempty"`
	Findings   []Finding `json:"findings"` // failures, warnings and errors

	LeftOut []string `json:"left_out"` // files that are missing or cut, with the reason
}

// Finding is one observation that is no pass.
type Finding struct {
	Clause     string         `json:"clause"`
	Verdict    report.Verdict `json:"verdict"`
	Acceptable string         `json:"acceptable,omitempty"`
	Seen       string         `json:"seen,omitempty"`
	Readings   []string       `json:"readings,omitempty"`
	Where      string         `json:"where,omitempty"`
	Times      int            `json:"times,omitempty"`
}

// ErrNone says that a folder has no manifest, so that it is none of ours.
var ErrNone = errors.New("no " + manifestName)

// Load reads the manifest of a folder. A folder without one is ErrNone; every other
// error names the file and what is wrong with it.
func Load(folder string) (Manifest, error) {
	path := filepath.Join(folder, manifestName)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Manifest{}, fmt.Errorf("%s: %w", folder, ErrNone)
	}
	if err != nil {
		return Manifest{}, err
	}
	var m Manifest
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&m); err != nil {
		return Manifest{}, fmt.Errorf("%s: %w", path, cutShort(err))
	}
	switch {
	case m.Schema != Schema:
		return Manifest{}, fmt.Errorf("%s: its schema is %q; this pugcheck reads %q", path, m.Schema, Schema)
	case m.Suite == "" || m.Scenario == "" || len(m.Config) == 0:
		return Manifest{}, fmt.Errorf("%s: suite, scenario or config is missing, so the scenario cannot be run again", path)
	}
	return m, nil
}

// cutShort says of a JSON text without its end what is the matter.
func cutShort(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the file is cut short: %w", io.ErrUnexpectedEOF)
	}
	return err
}
