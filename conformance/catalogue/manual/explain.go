// Package manual shows a catalogue to people: the list of clauses with their
// state, and the page that explains one clause or reading in full. It also
// holds the list's JSON form.
package manual

import (
	"io"
	"slices"
	"strings"

	"github.com/pugcheck/pugcheck/conformance/catalogue"
	"github.com/pugcheck/pugcheck/harness/page"
)

// sheet is a page on what stands in a catalogue.
type sheet struct {
	*page.Page
	c *catalogue.Catalogue
}

// Repeat is the command that runs only what judges a clause in a suite.
type Repeat func(suite, clause string) string

// Clause writes the page of one clause: what it demands, what a violation
// leads to, how it is judged and by which scenarios, and on which readings of
// the text all that rests.
func Clause(w io.Writer, l page.Layout, c *catalogue.Catalogue, clause *catalogue.Clause, index catalogue.Index, repeat Repeat) error {
	p := &sheet{l.Page(), c}
	section, _ := c.Section(clause.Section)
	p.Line(p.ID(clause.ID) + "  " + p.Strong(string(clause.Level)) + "  " + p.Faint(section.Part+", "+section.ID+" "+section.Title))
	p.Blank()
	p.Prose(2, clause.Says)
	p.Blank()
	p.fact("Binds", p.meanings("subject", clause.Subject))
	p.fact("Level", consequence(clause))
	p.fact("Basis", support(clause))
	p.fact("Shows in", p.meanings("observe", clause.Observe))

	p.section("How it is judged", clause.Check)
	p.terms(clause)
	if clause.Untestable != "" {
		title := "Why it cannot be judged"
		if len(clause.Suites) > 0 {
			title = "What cannot be judged"
		}
		p.section(title, clause.Untestable)
	}
	p.judges(clause, index, repeat)
	p.section("The usual bug", clause.Defect)
	if clause.Question != "" {
		p.section("What the text leaves open, and what we take it to say", clause.Question)
	}
	p.readings(clause)
	p.sameRule(clause)
	_, err := p.WriteTo(w)
	return err
}

// factColumn is where the text of a labelled fact begins.
const factColumn = 13

func (p *sheet) fact(label string, texts []string) {
	for _, text := range texts {
		p.beside(page.Label{Text: label, Indent: 2, Column: factColumn, Ink: p.Faint}, text, p.Plain)
		label = ""
	}
}

// beside writes running text beside a label.
func (p *sheet) beside(label page.Label, text string, ink page.Ink) {
	p.Hanging(label, page.Wrap(text, p.Width()-label.Column), page.Limit{}, ink)
}

func (p *sheet) section(title, text string) {
	p.Headline(title, "")
	p.Prose(2, text)
}

// meanings are words of the vocabulary, each with what it means.
func (p *sheet) meanings(field string, words []string) []string {
	texts := make([]string, len(words))
	for i, word := range words {
		texts[i] = word + ": " + p.c.Meaning(field, word)
	}
	return texts
}

func consequence(clause *catalogue.Clause) []string {
	level := string(clause.Level)
	switch {
	case clause.Fails():
		return []string{level + ": a violation is a failure"}
	case clause.Level == catalogue.May:
		return []string{level + ": a permission; whoever does not bear with its use gets a warning, never a failure"}
	case clause.Basis == catalogue.Assumed:
		return []string{level + ", as we assume: a violation is a warning, under --strict a failure"}
	default:
		return []string{level + ": a violation is a warning, under --strict a failure"}
	}
}

func support(clause *catalogue.Clause) []string {
	text := map[catalogue.Basis]string{
		catalogue.Stated:  "stated: the text says it",
		catalogue.Derived: "derived: it follows from what the text says",
		catalogue.Assumed: "assumed: the text is silent, or can be read in another way",
	}[clause.Basis]
	if clause.Keyword == "indicative" {
		text += "; no capitalised key word, a description that binds"
	}
	return []string{text}
}

// terms explains the words with a fixed sense that the page's prose uses.
func (p *sheet) terms(clause *catalogue.Clause) {
	prose := strings.Join([]string{clause.Says, clause.Check, clause.Question, clause.Untestable}, "\n")
	var used []catalogue.Term
	var names []string
	for _, t := range p.c.Terms(clause.File) {
		if t.In(prose) {
			used = append(used, t)
			names = append(names, t.Term)
		}
	}
	if len(used) == 0 {
		return
	}
	p.Blank()
	p.Line("  " + p.Faint("in the words of the checks"))
	column := page.ColumnBeside(4, names...)
	for _, t := range used {
		p.beside(page.Label{Text: t.Term, Indent: 4, Column: column, Ink: p.Faint}, t.Says, p.Faint)
	}
}

// judges names the scenarios, by suite, with the command that runs just them.
func (p *sheet) judges(clause *catalogue.Clause, index catalogue.Index, repeat Repeat) {
	p.Headline("Judged by", "")
	judges := index[clause.ID]
	if len(judges) == 0 {
		state := p.Caution("no scenario yet")
		if index.State(clause) == catalogue.Untestable {
			state = p.Faint("no scenario: nothing that can be observed decides it")
		}
		p.Line("  " + state)
		return
	}
	var suites []string
	for _, j := range judges {
		if !slices.Contains(suites, j.Suite) {
			suites = append(suites, j.Suite)
		}
	}
	for _, suite := range suites {
		for _, j := range judges {
			if j.Suite == suite {
				p.Line("  " + p.Good(j.Scenario))
			}
		}
		p.Line("  " + p.Faint("run them alone: ") + repeat(suite, clause.ID))
	}
}

func (p *sheet) readings(clause *catalogue.Clause) {
	if len(clause.Readings) == 0 {
		return
	}
	p.Headline("What this rests on", "")
	for i, id := range clause.Readings {
		r, ok := p.c.Reading(id)
		if !ok {
			continue // Load leaves none out
		}
		if i > 0 {
			p.Blank()
		}
		p.Line("  " + p.ID(r.ID) + "  " + r.Title + p.Faint(" ("+basisOf(r)+")"))
		p.body(r, 4)
	}
}

func basisOf(r *catalogue.Reading) string {
	if r.Kind == catalogue.KindFinding {
		return "finding"
	}
	return "reading, " + string(r.Basis)
}

// body writes the text and table of a reading.
func (p *sheet) body(r *catalogue.Reading, indent int) {
	p.Prose(indent, r.Text)
	if r.Table == nil {
		return
	}
	p.Blank()
	p.Table(indent, r.Table.Columns, r.Table.Rows)
}

func (p *sheet) sameRule(clause *catalogue.Clause) {
	same := p.c.SameRule(clause.ID)
	if len(same) == 0 {
		return
	}
	p.Headline("The same rule elsewhere", "")
	p.references(same)
}

// references lists clauses and sections, each with what it is about.
func (p *sheet) references(ids []string) {
	column := page.ColumnBeside(2, ids...)
	for _, id := range ids {
		text := ""
		if other, ok := p.c.Clause(id); ok {
			text = other.Says
		} else if s, ok := p.c.Section(id); ok {
			text = "section: " + s.Title
		}
		p.beside(page.Label{Text: id, Indent: 2, Column: column, Ink: p.ID}, text, p.Plain)
	}
}
