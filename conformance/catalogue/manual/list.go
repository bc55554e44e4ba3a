package manual

import (
	"fmt"
	"io"
	"strings"

	"github.com/pugcheck/pugcheck/conformance/catalogue"
	"github.com/pugcheck/pugcheck/harness/page"
)

// idColumn is where the clauses of a list begin.
const idColumn = 2

// List writes the clauses below the headings of their sections, each with its
// state, and a line of counts at the end. The clauses are some or all of those
// of the catalogue, in its order; of none nothing is written.
func List(w io.Writer, l page.Layout, c *catalogue.Catalogue, clauses []*catalogue.Clause, index catalogue.Index) error {
	if len(clauses) == 0 {
		return nil
	}
	p := &sheet{l.Page(), c}
	var ids, levels []string
	for _, clause := range clauses {
		ids = append(ids, clause.ID)
		levels = append(levels, string(clause.Level))
	}
	levelColumn := page.ColumnBeside(idColumn, ids...)
	textColumn := page.ColumnBeside(levelColumn, levels...)
	part, section := "", ""
	for _, clause := range clauses {
		if clause.Section != section {
			section = clause.Section
			s, _ := c.Section(section)
			if s.Part != part {
				part = s.Part
				p.Line(p.Strong(strings.ToUpper(part)))
				p.Blank()
			}
			p.Line(p.Strong(s.ID + "  " + s.Title))
			p.Blank()
		}
		p.entry(clause, index, levelColumn, textColumn)
		p.Blank()
	}
	p.Line(Count(clauses, index, len(c.Clauses())))
	_, err := p.WriteTo(w)
	return err
}

func (p *sheet) entry(clause *catalogue.Clause, index catalogue.Index, levelColumn, textColumn int) {
	ofLevel := p.Plain
	if clause.Fails() {
		ofLevel = p.Strong
	}
	id := page.Pad(clause.ID, levelColumn-idColumn)
	p.beside(page.Label{
		Text: id + string(clause.Level), Indent: idColumn, Column: textColumn,
		Ink: func(label string) string {
			return p.ID(clause.ID) + label[len(clause.ID):len(id)] + ofLevel(label[len(id):])
		},
	}, clause.Says, p.Plain)
	var text string
	ofState := p.Good
	switch index.State(clause) {
	case catalogue.Judged:
		text = "judged by " + strings.Join(scenarios(index[clause.ID]), ", ")
	case catalogue.Untestable:
		text, ofState = "untestable: "+clause.Untestable, p.Faint
	default:
		text, ofState = "not yet judged", p.Caution
	}
	if clause.Basis == catalogue.Assumed {
		text += " (assumed: a violation is a warning)"
	}
	p.Lines(textColumn, page.Wrap(text, p.Width()-textColumn), ofState)
}

func scenarios(judges []catalogue.Judge) []string {
	names := make([]string, len(judges))
	for i, j := range judges {
		names[i] = j.Scenario
	}
	return names
}

// Count is the line that sums up a list: how many of the clauses are judged,
// untestable and not yet judged. total is the size of the whole catalogue.
func Count(clauses []*catalogue.Clause, index catalogue.Index, total int) string {
	n := map[catalogue.State]int{}
	for _, clause := range clauses {
		n[index.State(clause)]++
	}
	what := fmt.Sprintf("%d clauses", total)
	if len(clauses) != total {
		what = fmt.Sprintf("%d of %d clauses", len(clauses), total)
	}
	return fmt.Sprintf("%s: %d judged, %d untestable, %d not yet judged",
		what, n[catalogue.Judged], n[catalogue.Untestable], n[catalogue.NotJudged])
}

// Entry is a clause in the JSON form of the list. Every key is always there;
// lists can be empty, strings where nothing applies too.
type Entry struct {
	ID         string            `json:"id"`
	Section    string            `json:"section"`
	Title      string            `json:"title"` // of the section
	Level      catalogue.Level   `json:"level"`
	Keyword    string            `json:"keyword"`
	Basis      catalogue.Basis   `json:"basis"`
	Violation  string            `json:"violation"` // what it leads to: fail or warn
	Subject    []string          `json:"subject"`
	Says       string            `json:"says"`
	Observe    []string          `json:"observe"`
	Check      string            `json:"check"`
	Defect     string            `json:"defect"`
	Suites     []string          `json:"suites"`
	Untestable string            `json:"untestable"`
	Question   string            `json:"question"`
	Readings   []string          `json:"readings"`
	SameAs     []string          `json:"same_as"`
	State      catalogue.State   `json:"state"`
	Scenarios  []catalogue.Judge `json:"scenarios"`
}

// Entries is the JSON form of a list of clauses.
func Entries(c *catalogue.Catalogue, clauses []*catalogue.Clause, index catalogue.Index) []Entry {
	entries := make([]Entry, len(clauses))
	for i, clause := range clauses {
		section, _ := c.Section(clause.Section)
		violation := "warn"
		if clause.Fails() {
			violation = "fail"
		}
		entries[i] = Entry{
			ID: clause.ID, Section: clause.Section, Title: section.Title,
			Level: clause.Level, Keyword: clause.Keyword, Basis: clause.Basis, Violation: violation,
			Subject: present(clause.Subject), Says: clause.Says, Observe: present(clause.Observe), Check: clause.Check,
			Defect: clause.Defect, Suites: present(clause.Suites), Untestable: clause.Untestable,
			Question: clause.Question, Readings: present(clause.Readings), SameAs: present(c.SameRule(clause.ID)),
			State: index.State(clause), Scenarios: present(index[clause.ID]),
		}
	}
	return entries
}

// present makes a nil list an empty one, which JSON tells apart.
func present[E any](list []E) []E {
	if list == nil {
		return []E{}
	}
	return list
}
