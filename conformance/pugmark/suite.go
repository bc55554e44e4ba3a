package pugmark

import (
	"fmt"

	"github.com/pugcheck/pugcheck/conformance"
	"github.com/pugcheck/pugcheck/harness/report"
)

// What every suite over this catalogue shares: the weight of a violation, and the
// words for people.

// Severity is what a violation of the clause leads to, by its level and basis. It
// fails for a clause that the catalogue does not have.
func Severity(id string) (report.Verdict, error) {
	c, ok := Catalogue().Clause(id)
	if !ok {
		return report.Error, fmt.Errorf("clause %s is not in the catalogue", id)
	}
	return conformance.SeverityOf(string(c.Level), string(c.Basis)), nil
}

// Labels are the labels of a clause's specs beside its ID: its level.
func Labels(id string) []string {
	c, ok := Catalogue().Clause(id)
	if !ok {
		return nil
	}
	return []string{string(c.Level)}
}

// SectionTitle is the heading of a section, "" for one that is not in the catalogue.
func SectionTitle(id string) string {
	for _, s := range Catalogue().Sections() {
		if s.ID == id {
			return s.Title
		}
	}
	return ""
}
