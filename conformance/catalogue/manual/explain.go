package manual

import (
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pugcheck/pugcheck/conformance/catalogue"
)

// Repeat is the command that runs only what judges a clause in a suite.
type Repeat func(suite, clause string) string

// Clause writes the page of one clause: what it demands, what a violation
// leads to, how it is judged and by which scenarios, and on which readings of
// the text all that rests.
func (l Layout) Clause(w io.Writer, c *catalogue.Catalogue, clause *catalogue.Clause, index catalogue.Index, repeat Repeat) error {
	p := l.newPage()
	section, _ := c.Section(clause.Section)
	p.line(p.id(clause.ID) + "  " + p.strict(string(clause.Level)) + "  " + p.faint(section.Part+", "+section.ID+" "+section.Title))
	p.blank()
	p.prose(2, clause.Says)
	p.blank()
	p.fact("Binds", meanings(c, "subject", clause.Subject))
	p.fact("Level", consequence(clause))
	p.fact("Basis", support(clause))
	p.fact("Shows in", meanings(c, "observe", clause.Observe))

	p.section("How it is judged", clause.Check)
	p.terms(c, clause)
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
	p.readings(c, clause)
	p.sameRule(c, clause)
	_, err := io.WriteString(w, p.String())
	return err
}

// factColumn is where the text of a labelled fact begins.
const factColumn = 13

func (p *page) fact(label string, texts []string) {
	for _, text := range texts {
		p.hanging(2, label, factColumn, text, p.faint, p.plain)
		label = ""
	}
}

func (p *page) section(title, text string) {
	p.blank()
	p.line(p.heading(title))
	p.prose(2, text)
}

// meanings are words of the vocabulary, each with what it means.
func meanings(c *catalogue.Catalogue, field string, words []string) []string {
	texts := make([]string, len(words))
	for i, word := range words {
		texts[i] = word + ": " + c.Meaning(field, word)
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
func (p *page) terms(c *catalogue.Catalogue, clause *catalogue.Clause) {
	prose := strings.Join([]string{clause.Says, clause.Check, clause.Question, clause.Untestable}, "\n")
	var used []catalogue.Term
	column := 0
	for _, t := range c.Terms(clause.File) {
		if t.In(prose) {
			used = append(used, t)
			column = max(column, 4+utf8.RuneCountInString(t.Term)+2)
		}
	}
	if len(used) == 0 {
		return
	}
	p.blank()
	p.line("  " + p.faint("in the words of the checks"))
	for _, t := range used {
		p.hanging(4, t.Term, column, t.Says, p.faint, p.faint)
	}
}

// judges names the scenarios, by suite, with the command that runs just them.
func (p *page) judges(clause *catalogue.Clause, index catalogue.Index, repeat Repeat) {
	p.blank()
	p.line(p.heading("Judged by"))
	judges := index[clause.ID]
	if len(judges) == 0 {
		state := p.open("no scenario yet")
		if index.State(clause) == catalogue.Untestable {
			state = p.faint("no scenario: nothing that can be observed decides it")
		}
		p.line("  " + state)
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
				p.line("  " + p.good(j.Scenario))
			}
		}
		p.line("  " + p.faint("run them alone: ") + repeat(suite, clause.ID))
	}
}

func (p *page) readings(c *catalogue.Catalogue, clause *catalogue.Clause) {
	if len(clause.Readings) == 0 {
		return
	}
	p.blank()
	p.line(p.heading("What this rests on"))
	for i, id := range clause.Readings {
		r, ok := c.Reading(id)
		if !ok {
			continue // Load leaves none out
		}
		if i > 0 {
			p.blank()
		}
		p.line("  " + p.id(r.ID) + "  " + r.Title + p.faint(" ("+basisOf(r)+")"))
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
func (p *page) body(r *catalogue.Reading, indent int) {
	p.prose(indent, r.Text)
	if r.Table == nil {
		return
	}
	p.blank()
	p.table(r.Table, indent)
}

func (p *page) sameRule(c *catalogue.Catalogue, clause *catalogue.Clause) {
	same := c.SameRule(clause.ID)
	if len(same) == 0 {
		return
	}
	p.blank()
	p.line(p.heading("The same rule elsewhere"))
	p.references(c, same)
}

// references lists clauses and sections, each with what it is about.
func (p *page) references(c *catalogue.Catalogue, ids []string) {
	column := 0
	for _, id := range ids {
		column = max(column, 2+len(id)+2)
	}
	for _, id := range ids {
		text := ""
		if other, ok := c.Clause(id); ok {
			text = other.Says
		} else if s, ok := c.Section(id); ok {
			text = "section: " + s.Title
		}
		p.hanging(2, id, column, text, p.id, p.plain)
	}
}
