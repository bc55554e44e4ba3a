package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// circumstances are what a result was come to under, and what it takes to come to it
// again, in the order in which people ask for it. What is empty is left out.
func (r *Result) circumstances() []field {
	var out []field
	add := func(name, text string) {
		if text != "" {
			out = append(out, field{name, text})
		}
	}
	c := r.Conclude()
	add("conclusion", c.Statement)
	add("details", strings.Join(c.Details, " "))
	add("suite", r.Suite)
	add("subject", r.Subject.Name)
	add("transports", strings.Join(r.Subject.Transports, ", "))
	add("requirements", r.Requirements.Set)
	add("requirements digest", r.Requirements.Digest)
	add("profile", r.Profile.File)
	if r.Profile.Strict {
		add("strict", "warnings fail")
	}
	add("without", strings.Join(r.Profile.Without, ", "))
	add("only", strings.Join(r.Selection, ", "))
	add("skipping", strings.Join(r.Skipped, ", "))
	if r.Known != nil {
		add("known failures", r.Known.File)
	}
	if r.Repeats > 1 {
		add("repeats", fmt.Sprint(r.Repeats))
	}
	add("seed", fmt.Sprint(r.Seed))
	for _, name := range slices.Sorted(maps.Keys(r.Versions)) {
		add("version of "+name, r.Versions[name])
	}
	return out
}
