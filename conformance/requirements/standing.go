package requirements

import (
	"fmt"
	"slices"

	"github.com/pugcheck/pugcheck/conformance/catalogue"
)

// Change says what became of a released clause in later versions.
type Change struct {
	Clause string   `yaml:"clause"`
	Kind   Kind     `yaml:"change"`
	By     string   `yaml:"by"`   // the clause that took its place, for Replaced
	Sets   []string `yaml:"sets"` // released sets that still have the clause as it was
	Why    string   `yaml:"why"`
}

// Kind is a kind of change.
type Kind string

// The kinds of change.
const (
	Reworded Kind = "reworded" // the same demand in other words, or less: it counts as before
	Extended Kind = "extended" // more is demanded: a violation may be of what is new, so it does not count
	Replaced Kind = "replaced" // another clause has the demand now, and counts in its place
	Removed  Kind = "removed"  // the demand was wrong
)

// Amend makes the changes known to the set that it is affected by, and fails where they
// do not explain every difference between the set and the catalogue, or explain one that
// is not there.
func (s *Set) Amend(c *catalogue.Catalogue, changes []Change) error {
	s.Changes = nil
	explained := map[string]Change{}
	for _, change := range changes {
		if slices.Contains(change.Sets, s.Name) {
			explained[change.Clause] = change
			s.Changes = append(s.Changes, change)
		}
	}
	for _, e := range s.Entries {
		clause, exists := c.Clause(e.ID)
		change, told := explained[e.ID]
		delete(explained, e.ID)
		if err := e.explained(clause, exists, change, told); err != nil {
			return fmt.Errorf("requirements %s: %s %w", s.Name, e.ID, err)
		}
		if change.Kind == Replaced {
			if _, ok := c.Clause(change.By); !ok {
				return fmt.Errorf("requirements %s: %s is replaced by %q, which is no clause", s.Name, e.ID, change.By)
			}
			if _, both := s.byID[change.By]; !both {
				stand := e
				s.byID[change.By] = &stand
			}
		}
	}
	for id := range explained {
		return fmt.Errorf("requirements %s: a change of %s is told, which is not in the set", s.Name, id)
	}
	return nil
}

func (e Entry) explained(now *catalogue.Clause, exists bool, change Change, told bool) error {
	switch {
	case !exists && !told:
		return fmt.Errorf("is gone, and no change says what became of it")
	case !exists && change.Kind != Replaced && change.Kind != Removed:
		return fmt.Errorf("is gone, and its change is told as %q", change.Kind)
	case exists && told && (change.Kind == Replaced || change.Kind == Removed):
		return fmt.Errorf("is still there, and its change is told as %q", change.Kind)
	case exists && !told && DemandOf(now) != e.Demand:
		return fmt.Errorf("demands something else than it did, and no change says how it differs")
	case exists && told && DemandOf(now) == e.Demand:
		return fmt.Errorf("demands what it did, and a change is told all the same")
	case told && change.Kind != Reworded && change.Kind != Extended && change.Kind != Replaced && change.Kind != Removed:
		return fmt.Errorf("has a change of the unknown kind %q", change.Kind)
	case told && change.Why == "":
		return fmt.Errorf("has a change without a reason")
	}
	return nil
}

// Outside is why a clause does not count when a subject is judged by the set in a suite;
// "" if it does. judged tells that the suite judges it now.
func (s *Set) Outside(id, suite string, judged bool) string {
	e, ok := s.byID[id]
	switch {
	case !ok:
		return "new since " + s.Name
	case judged && !slices.Contains(e.Judged, suite):
		return fmt.Sprintf("not judged by the %s suite when %s was released", suite, s.Name)
	}
	for _, change := range s.Changes {
		if change.Clause == id && change.Kind == Extended {
			return "demands more since " + s.Name + ": " + change.Why
		}
	}
	return ""
}

// strictness orders levels, the strictest last.
var strictness = map[catalogue.Level]int{catalogue.May: 0, catalogue.Should: 1, catalogue.ShouldNot: 1, catalogue.Must: 2, catalogue.MustNot: 2}

// Level is the level and basis at which a clause counts: as released where it was raised
// since, and as it is now where it was lowered.
func (s *Set) Level(c *catalogue.Clause) (catalogue.Level, catalogue.Basis) {
	level, basis := c.Level, c.Basis
	e, ok := s.byID[c.ID]
	if !ok {
		return level, basis
	}
	if strictness[e.Level] < strictness[level] {
		level = e.Level
	}
	if e.Basis == catalogue.Assumed {
		basis = e.Basis
	}
	return level, basis
}
