package manual

import (
	"io"
	"slices"

	"github.com/pugcheck/pugcheck/conformance/catalogue"
	"github.com/pugcheck/pugcheck/harness/page"
)

// Reading writes the page of a reading or finding: what it says, what becomes
// of a verdict that rests on it, and the clauses that do.
func Reading(w io.Writer, l page.Layout, c *catalogue.Catalogue, r *catalogue.Reading) error {
	p := &sheet{l.Page(), c}
	p.Line(p.ID(r.ID) + "  " + p.Strong(r.Title))
	p.Blank()
	p.body(r, 2)
	p.Blank()
	p.fact("Kind", []string{map[string]string{
		catalogue.KindReading: "reading: the text leaves this open; this is what we take it to say",
		catalogue.KindFinding: "finding: a defect of the specification, not of an implementation",
	}[r.Kind]})
	if r.Kind == catalogue.KindReading {
		p.fact("Basis", []string{map[catalogue.Basis]string{
			catalogue.Stated:  "stated: the text says it, in another place than where one looks; a violation can fail",
			catalogue.Derived: "derived: it follows from what the text says; a violation can fail",
			catalogue.Assumed: "assumed: the text is silent; a violation of it is a warning, under --strict a failure",
			catalogue.Mixed:   "mixed: parts are stated or derived and can fail, parts are assumed and only warn",
		}[r.Basis]})
	}
	var arises []string
	for _, id := range r.Sections {
		section, _ := c.Section(id)
		arises = append(arises, id+" "+section.Title)
	}
	p.fact("Arises in", arises)

	var resting []string
	for _, clause := range c.Clauses() {
		if slices.Contains(clause.Readings, r.ID) {
			resting = append(resting, clause.ID)
		}
	}
	if len(resting) > 0 {
		p.Headline("Clauses that rest on it", "")
		p.references(resting)
	}
	_, err := p.WriteTo(w)
	return err
}
