package catalogue

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// Problem is one fault of a catalogue file.
type Problem struct {
	File string
	Line int
	Text string
}

func (p Problem) String() string { return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text) }

// Problems is the error of a catalogue that is not consistent: every fault
// found, by file in the order given to [Load] and by line.
type Problems []Problem

func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.String()
	}
	return strings.Join(lines, "\n")
}

// data is what the files hold, before it is known to be consistent.
type data struct {
	Sections   []Section
	sectionAt  []place           // parallel to Sections
	Terms      map[string][]Term // by file
	Vocabulary map[string][]Term // by field
	Clauses    []*Clause
	Readings   []*Reading
}

// place is where something stands in the files.
type place struct {
	file string
	line int
}

// Load reads the named files and checks them against each other. The order of
// the names is the order of the text where several files have clauses.
//
// Errors: those of reading a file; [Problems] with every fault of the content,
// a file that is not YAML being one of them.
func Load(files fs.FS, names ...string) (*Catalogue, error) {
	d := newData()
	var problems Problems
	parsed, err := parseAll(files, names)
	if err != nil {
		return nil, err
	}
	for _, f := range parsed {
		d.add(f.data)
		problems = append(problems, f.problems...)
	}
	problems = append(problems, d.check()...)
	if len(problems) > 0 {
		slices.SortStableFunc(problems, func(a, b Problem) int {
			if a.File != b.File {
				return slices.Index(names, a.File) - slices.Index(names, b.File)
			}
			return a.Line - b.Line
		})
		return nil, problems
	}
	return newCatalogue(d), nil
}

// parsedFile is what one file holds by itself.
type parsedFile struct {
	data     *data
	problems Problems
}

// parseAll parses the files at the same time: parsing is nearly all of the cost
// of loading, and every run pays it.
func parseAll(files fs.FS, names []string) ([]parsedFile, error) {
	parsed := make([]parsedFile, len(names))
	errs := make([]error, len(names))
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() {
			content, err := fs.ReadFile(files, name)
			if err != nil {
				errs[i] = fmt.Errorf("read catalogue: %w", err)
				return
			}
			parsed[i].data = newData()
			r := &reader{file: name, problems: &parsed[i].problems}
			r.document(content, parsed[i].data)
		})
	}
	wg.Wait()
	return parsed, errors.Join(errs...)
}

func newData() *data {
	return &data{Terms: map[string][]Term{}, Vocabulary: map[string][]Term{}}
}

// add appends what a later file holds.
func (d *data) add(later *data) {
	d.Sections = append(d.Sections, later.Sections...)
	d.sectionAt = append(d.sectionAt, later.sectionAt...)
	d.Clauses = append(d.Clauses, later.Clauses...)
	d.Readings = append(d.Readings, later.Readings...)
	maps.Copy(d.Terms, later.Terms)
	for field, words := range later.Vocabulary {
		d.Vocabulary[field] = append(d.Vocabulary[field], words...)
	}
}

func (r *reader) document(content []byte, d *data) {
	dec := yaml.NewDecoder(bytes.NewReader(content))
	var doc, second yaml.Node
	if err := dec.Decode(&doc); err != nil {
		r.problem(&yaml.Node{Line: errorLine(err)}, "cannot be parsed: %v", err)
		return
	}
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) {
		r.problem(&second, "more than one document in the file")
	}
	root := r.mapping(doc.Content[0], "the file", "title", "sections", "terms", "vocabulary", "clauses", "readings")
	part := root.optionalText("title")
	each := func(key string, read func(*yaml.Node)) {
		if n := root.by[key]; n != nil {
			for _, item := range r.items(n, key) {
				read(item)
			}
		}
	}
	each("sections", func(n *yaml.Node) {
		f := r.mapping(n, "section", "id", "title")
		d.Sections = append(d.Sections, Section{ID: f.text("id"), Title: f.text("title"), Part: part})
		d.sectionAt = append(d.sectionAt, place{r.file, n.Line})
	})
	each("terms", func(n *yaml.Node) {
		f := r.mapping(n, "term", "term", "forms", "says")
		d.Terms[r.file] = append(d.Terms[r.file], Term{Term: f.text("term"), Forms: f.optionalWords("forms"), Says: f.text("says")})
	})
	each("clauses", func(n *yaml.Node) { d.Clauses = append(d.Clauses, r.clause(n)) })
	each("readings", func(n *yaml.Node) { d.Readings = append(d.Readings, r.reading(n)) })
	if n := root.by["vocabulary"]; n != nil {
		r.vocabulary(n, d)
	}
}

func (r *reader) clause(n *yaml.Node) *Clause {
	f := r.mapping(n, "clause "+named(n), "id", "level", "keyword", "subject", "basis", "says", "observe",
		"check", "defect", "suites", "untestable", "same_as", "question", "readings")
	c := &Clause{
		ID:         f.text("id"),
		Level:      Level(f.oneOf("level", string(Must), string(MustNot), string(Should), string(ShouldNot), string(May))),
		Keyword:    f.oneOf("keyword", "stated", "indicative"),
		Subject:    f.words("subject"),
		Basis:      Basis(f.oneOf("basis", string(Stated), string(Derived), string(Assumed))),
		Says:       f.text("says"),
		Observe:    f.words("observe"),
		Check:      f.text("check"),
		Defect:     f.text("defect"),
		Suites:     f.words("suites"),
		Untestable: f.optionalText("untestable"),
		SameAs:     f.optionalWords("same_as"),
		Question:   f.optionalText("question"),
		Readings:   f.optionalWords("readings"),
		File:       r.file,
		Line:       n.Line,
	}
	if section, _, ok := splitClauseID(c.ID); ok {
		c.Section = section
	} else if c.ID != "" {
		f.problem(n, "%q is no clause ID such as S6.3-1", c.ID)
	}
	return c
}

func (r *reader) reading(n *yaml.Node) *Reading {
	f := r.mapping(n, "reading "+named(n), "id", "title", "kind", "basis", "sections", "text", "table")
	reading := &Reading{
		ID:       f.text("id"),
		Title:    f.text("title"),
		Kind:     f.oneOf("kind", KindReading, KindFinding),
		Basis:    Basis(f.oneOf("basis", string(Stated), string(Derived), string(Assumed), string(Mixed))),
		Sections: f.words("sections"),
		Text:     f.text("text"),
		File:     r.file,
		Line:     n.Line,
	}
	if t := f.by["table"]; t != nil {
		reading.Table = r.table(t, f.what)
	}
	if _, _, ok := splitReadingID(reading.ID); !ok && reading.ID != "" {
		f.problem(n, "%q is no reading ID such as R-20", reading.ID)
	}
	return reading
}

func (r *reader) table(n *yaml.Node, what string) *Table {
	f := r.mapping(n, what+", table", "columns", "rows")
	t := &Table{Columns: f.words("columns")}
	rows := f.required("rows")
	if rows == nil {
		return t
	}
	for _, row := range r.items(rows, "rows") {
		var cells []string
		for _, cell := range r.items(row, "row") {
			cells = append(cells, f.scalar(cell, "cell"))
		}
		if len(cells) != len(t.Columns) {
			r.problem(row, "%s: %d cells for %d columns", f.what, len(cells), len(t.Columns))
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// vocabularyFields are the clause fields whose words are declared.
var vocabularyFields = []string{"subject", "observe", "suites"}

func (r *reader) vocabulary(n *yaml.Node, d *data) {
	f := r.mapping(n, "vocabulary", vocabularyFields...)
	for _, field := range vocabularyFields {
		node := f.by[field]
		if node == nil {
			continue
		}
		words := r.mapping(node, "vocabulary of "+field)
		if node.Kind != yaml.MappingNode {
			continue
		}
		for i := 0; i < len(node.Content); i += 2 {
			word := node.Content[i].Value
			d.Vocabulary[field] = append(d.Vocabulary[field], Term{Term: word, Says: words.optionalText(word)})
		}
	}
}

// errorLine is the line that a YAML syntax error names, 1 where it names none.
func errorLine(err error) int {
	line := 1
	if _, rest, ok := strings.Cut(err.Error(), "line "); ok {
		if n, scanErr := fmt.Sscanf(rest, "%d", &line); n != 1 || scanErr != nil {
			return 1
		}
	}
	return line
}

// named is the ID in a mapping node, for messages.
func named(n *yaml.Node) string {
	if n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == "id" {
				return n.Content[i+1].Value
			}
		}
	}
	return "without id"
}
