package compare

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/pugcheck/pugcheck/harness/page"
	"github.com/pugcheck/pugcheck/harness/report"
)

// Matrix is implementations beside each other: a row for each section, and below it one for
// each clause. Every row has a cell for every column.
type Matrix struct {
	Columns  []Column
	Sections []Section // in the order of the text
	Total    []Cell
	Notes    []string // why columns can differ without the implementations
}

// Column is one implementation.
type Column struct {
	Label      string // its name, told apart from others of the same name
	File       string // where its result stands
	Suite      string
	Started    time.Time
	Complete   bool
	Conclusion string // in a sentence or two
}

// Section is a row of the matrix.
type Section struct {
	ID, Title string
	Cells     []Cell
	Clauses   []Clause
}

// Cell counts what one implementation does in one section. Clauses is 0 where its result has
// none of it.
type Cell struct {
	Pass    int
	Clauses int
	Worst   report.Verdict // the gravest that says something, else that nothing was decided
}

// Clause is a row below a section.
type Clause struct {
	ID, Level, Requirement string
	Cells                  []Finding
}

// Finding is the verdict on one clause for one implementation. Verdict is empty where its
// result does not have the clause.
type Finding struct {
	Verdict report.Verdict
	Why     string // what was seen, or why nothing was decided; empty for a pass
	Known   string // why the failure is tolerated
}

// Source is a result with the name of its file.
type Source struct {
	File   string
	Result *report.Result
}

// NewMatrix sets results beside each other, in the order in which they come.
func NewMatrix(sources []Source) *Matrix {
	m := &Matrix{Total: make([]Cell, len(sources))}
	var sections, clauses []string
	titles := map[string]string{}
	for _, s := range sources {
		m.Columns = append(m.Columns, columnOf(s, sources))
		var ids, cls []string
		for _, sec := range s.Result.Sections {
			titles[sec.ID] = sec.Title
		}
		for _, c := range s.Result.Clauses {
			if !slices.Contains(ids, c.Section) {
				ids = append(ids, c.Section)
			}
			cls = append(cls, c.ID)
		}
		sections, clauses = merge(sections, ids), merge(clauses, cls)
	}
	rows := map[string]*Section{}
	for _, id := range sections {
		m.Sections = append(m.Sections, Section{ID: id, Title: titles[id], Cells: make([]Cell, len(sources))})
	}
	for i := range m.Sections {
		rows[m.Sections[i].ID] = &m.Sections[i]
	}
	at := make([]map[string]*report.Clause, len(sources))
	for i, s := range sources {
		at[i] = map[string]*report.Clause{}
		for k := range s.Result.Clauses {
			c := &s.Result.Clauses[k]
			at[i][c.ID] = c
			rows[c.Section].Cells[i].add(c)
			m.Total[i].add(c)
		}
	}
	for _, id := range clauses {
		row := Clause{ID: id, Cells: make([]Finding, len(sources))}
		section := ""
		for i := range sources {
			if c := at[i][id]; c != nil {
				row.Level, row.Requirement, section = c.Level, c.Requirement, c.Section
				row.Cells[i] = findingOf(c)
			}
		}
		rows[section].Clauses = append(rows[section].Clauses, row)
	}
	m.Notes = differences(sources)
	return m
}

// merge keeps the order of both lists, as far as they agree: what only the second has comes
// behind its predecessor there.
func merge(into, more []string) []string {
	known := make(map[string]bool, len(into))
	for _, id := range into {
		known[id] = true
	}
	after := map[string][]string{} // what follows an element that both have; "" = the beginning
	last := ""
	for _, id := range more {
		if known[id] {
			last = id
		} else {
			after[last] = append(after[last], id)
		}
	}
	out := slices.Clone(after[""])
	for _, id := range into {
		out = append(append(out, id), after[id]...)
	}
	return out
}

func columnOf(s Source, all []Source) Column {
	r := s.Result
	c := Column{Label: r.Subject.Name, File: s.File, Suite: r.Suite, Started: r.Started, Complete: r.Complete, Conclusion: r.Sentence()}
	shared, base := 0, 0
	for _, other := range all {
		if other.Result.Subject.Name == r.Subject.Name {
			shared++
			if filepath.Base(other.File) == filepath.Base(s.File) {
				base++
			}
		}
	}
	switch {
	case shared > 1 && base > 1:
		c.Label += " (" + s.File + ")"
	case shared > 1:
		c.Label += " (" + filepath.Base(s.File) + ")"
	}
	return c
}

func (c *Cell) add(clause *report.Clause) {
	c.Clauses++
	if clause.Verdict == report.Pass {
		c.Pass++
	}
	if clause.Verdict.Gravity() > c.Worst.Gravity() {
		c.Worst = clause.Verdict
	}
}

// findingOf is a clause in one cell.
func findingOf(c *report.Clause) Finding {
	f := Finding{Verdict: c.Verdict, Why: page.OneLine(c.Reason), Known: page.OneLine(c.Known)}
	if c.Verdict == report.Pass {
		f.Why = ""
		return f
	}
	for _, e := range c.Evidence {
		if f.Why == "" && e.Seen != "" && e.Verdict != report.Pass {
			f.Why = page.OneLine(e.Seen)
		}
	}
	return f
}

// Agree tells whether all implementations that have the clause have the same verdict.
func (c *Clause) Agree() bool {
	var first report.Verdict
	for _, f := range c.Cells {
		switch {
		case f.Verdict == "":
		case first == "":
			first = f.Verdict
		case f.Verdict != first:
			return false
		}
	}
	return true
}

// differences are what the columns do not have in common beside the implementation.
func differences(sources []Source) []string {
	var out []string
	for _, of := range []struct {
		what string
		is   func(*report.Result) string
	}{
		{"suites", func(r *report.Result) string { return r.Suite }},
		{"sets of requirements", func(r *report.Result) string { return r.Requirements.Set + " " + r.Requirements.Digest }},
		{"versions of the catalogue", func(r *report.Result) string { return r.Versions["catalogue"] }},
		{"selections", func(r *report.Result) string { return fmt.Sprintf("%q %q", r.Selection, r.Skipped) }},
		{"rules for warnings (--strict)", func(r *report.Result) string { return fmt.Sprint(r.Profile.Strict) }},
	} {
		for _, s := range sources[1:] {
			if of.is(s.Result) != of.is(sources[0].Result) {
				out = append(out, "not all were judged by the same "+of.what)
				break
			}
		}
	}
	for _, s := range sources {
		if !s.Result.Complete {
			out = append(out, fmt.Sprintf("the result of %s is partial: %s", s.Result.Subject.Name, s.Result.Incomplete))
		}
	}
	return out
}
