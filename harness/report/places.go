package report

import (
	"path/filepath"
	"slices"
	"strings"
)

// Folders of artifacts are absolute in a Result, and relative to the file in which a
// result is written, so that the file and the folders can be moved together.

// beside is the result as it is written to the file at path; "-" is standard output,
// whose folder is the working directory.
func (r *Result) beside(path string) *Result {
	dir := "."
	if path != "-" {
		dir = filepath.Dir(path)
	}
	return r.moved(func(place string) string { return seenFrom(dir, place) })
}

// from is the result as it was read from the file at path.
func (r *Result) from(path string) *Result {
	return r.moved(func(place string) string {
		if filepath.IsAbs(place) {
			return place
		}
		if place, err := filepath.Abs(filepath.Join(filepath.Dir(path), filepath.FromSlash(place))); err == nil {
			return place
		}
		return place
	})
}

func (r *Result) moved(move func(string) string) *Result {
	if !slices.ContainsFunc(r.Scenarios, func(s Scenario) bool { return s.Artifacts != "" }) {
		return r
	}
	out := *r
	out.Scenarios = slices.Clone(r.Scenarios)
	for i := range out.Scenarios {
		if s := &out.Scenarios[i]; s.Artifacts != "" {
			s.Artifacts = move(s.Artifacts)
		}
	}
	return &out
}

// seenFrom is a path relative to a folder, with slashes, unless they have little in
// common: then it stays as it is.
func seenFrom(dir, place string) string {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return place
	}
	rel, err := filepath.Rel(dir, place)
	if err != nil || strings.Count(rel, "..") > 3 {
		return place
	}
	return filepath.ToSlash(rel)
}
