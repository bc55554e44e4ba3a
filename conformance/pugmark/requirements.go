package pugmark

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/pugcheck/pugcheck/conformance/requirements"
)

// Specification is what the suites judge against, as conclusions name it.
const Specification = "pugmark v1"

//go:embed requirements
var released embed.FS

// RequirementSets are the names of the released sets, the oldest first.
func RequirementSets() []string {
	entries, err := released.ReadDir("requirements")
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".txt"); ok {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return slices.Compare(numbers(a), numbers(b)) })
	return names
}

// numbers are those of a version, such as v1.10.
func numbers(version string) []int {
	var out []int
	for _, part := range strings.Split(strings.TrimPrefix(version, "v"), ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			n = -1
		}
		out = append(out, n)
	}
	return out
}

// Requirements is a released set, with what became of its clauses since. The error of
// an unknown name says which sets there are.
func Requirements(name string) (*requirements.Set, error) {
	known := RequirementSets()
	if !slices.Contains(known, name) {
		return nil, fmt.Errorf("there is no requirement set %q; released are %s", name, cmp.Or(strings.Join(known, ", "), "none yet"))
	}
	text, err := released.ReadFile("requirements/" + name + ".txt")
	if err != nil {
		return nil, fmt.Errorf("requirements %s: %w", name, err)
	}
	set, err := requirements.Parse(name, name+".txt", string(text))
	if err != nil {
		return nil, err
	}
	changes, err := changesSince()
	if err != nil {
		return nil, err
	}
	return set, set.Amend(Catalogue(), changes)
}

// changesSince reads what became of released clauses.
func changesSince() ([]requirements.Change, error) {
	text, err := released.ReadFile("requirements/changes.yaml")
	if err != nil {
		return nil, fmt.Errorf("changes of requirements: %w", err)
	}
	var file struct {
		Changes []requirements.Change `yaml:"changes"`
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(&file); err != nil {
		return nil, fmt.Errorf("changes.yaml: %w", err)
	}
	return file.Changes, nil
}
