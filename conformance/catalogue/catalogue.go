package catalogue

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"sync"
)

// Level is the requirement level of a clause, in the sense of RFC 2119.
type Level string

// The levels of RFC 2119. Its synonyms (SHALL, REQUIRED, …) are not used.
const (
	Must      Level = "MUST"
	MustNot   Level = "MUST NOT"
	Should    Level = "SHOULD"
	ShouldNot Level = "SHOULD NOT"
	May       Level = "MAY"
)

// Levels are all levels, the strictest first.
func Levels() []Level { return []Level{Must, MustNot, Should, ShouldNot, May} }

// Basis tells how firmly the text supports a clause or reading.
type Basis string

// The bases. Mixed is for readings only: their text says which part is what.
const (
	Stated  Basis = "stated"  // the text says it
	Derived Basis = "derived" // it follows from what the text says
	Assumed Basis = "assumed" // the text is silent, or can be read otherwise
	Mixed   Basis = "mixed"
)

// What kind of entry a [Reading] is.
const (
	KindReading = "reading" // what we take unclear text to say
	KindFinding = "finding" // where the specification harms itself
)

// Clause is one normative statement. The prose fields are plain text without
// line breaks; Question and Untestable are empty where there is none.
type Clause struct {
	ID         string   `json:"id"`      // S6.3-1
	Section    string   `json:"section"` // S6.3
	Level      Level    `json:"level"`
	Keyword    string   `json:"keyword"` // stated, or indicative where the text has no capitalised key word
	Subject    []string `json:"subject"` // whom it binds
	Basis      Basis    `json:"basis"`   // stated, derived or assumed
	Says       string   `json:"says"`    // the demand
	Observe    []string `json:"observe"` // where keeping or breaking it shows
	Check      string   `json:"check"`   // how it is judged
	Defect     string   `json:"defect"`  // the usual bug
	Suites     []string `json:"suites"`  // which suites can judge it; empty where none can
	Untestable string   `json:"untestable,omitempty"`
	SameAs     []string `json:"same_as,omitempty"` // sections and clauses with the same demand
	Question   string   `json:"question,omitempty"`
	Readings   []string `json:"readings,omitempty"` // identifiers of readings and findings
	File       string   `json:"file"`
	Line       int      `json:"line"`
}

// Fails reports whether a violation is a failure. Otherwise it is a warning:
// the clause is a recommendation or a permission, or rests on an assumption.
// A check can still make a warning of a part of it, as its prose says.
func (c *Clause) Fails() bool {
	return (c.Level == Must || c.Level == MustNot) && c.Basis != Assumed
}

// Reading is a settled ambiguity, or a finding against the specification.
type Reading struct {
	ID       string   `json:"id"` // R-20, F-1
	Title    string   `json:"title"`
	Kind     string   `json:"kind"` // KindReading or KindFinding
	Basis    Basis    `json:"basis"`
	Sections []string `json:"sections,omitempty"` // where it arises
	Text     string   `json:"text"`
	Table    *Table   `json:"table,omitempty"`
	File     string   `json:"file"`
	Line     int      `json:"line"`
}

// Table is the tabular part of a reading. Every row has len(Columns) cells.
type Table struct {
	Columns []string   `json:"columns"`
	Rows    [][]string `json:"rows"`
}

// Section is a heading of the specification, in our own words.
type Section struct {
	ID    string `json:"id"`    // S6.3
	Title string `json:"title"` // finding the latest snapshot
	Part  string `json:"part"`  // title of the file that declares it: Storage layout
}

// Term is a word that checks use in a fixed sense, or a word of the
// vocabulary with its meaning.
type Term struct {
	Term  string
	Forms []string // as it occurs in prose; none = only as the term itself
	Says  string
}

// In reports whether the term occurs in a piece of prose, as whole words and in
// the given case.
func (t Term) In(prose string) bool {
	if len(t.Forms) == 0 {
		return containsWords(prose, t.Term)
	}
	return slices.ContainsFunc(t.Forms, func(form string) bool { return containsWords(prose, form) })
}

// Catalogue is a validated set of clauses and readings. It is immutable: what
// the methods return is shared and must not be changed. Safe for concurrent
// use.
type Catalogue struct {
	sections    []Section
	clauses     []*Clause
	readings    []*Reading
	terms       map[string][]Term            // by file
	sharedTerms []Term                       // of files without clauses
	vocabulary  map[string][]Term            // by field
	clauseByID  map[string]*Clause           // by exact ID
	readingBy   map[string]*Reading          // by exact ID
	meanings    map[string]map[string]string // field → word → meaning
	sameRule    map[string][]string          // clause → what demands the same, both ways
	digest      func() string
}

// Clause finds a clause by its exact ID.
func (c *Catalogue) Clause(id string) (*Clause, bool) {
	clause, ok := c.clauseByID[id]
	return clause, ok
}

// Clauses are all clauses in the order of the text.
func (c *Catalogue) Clauses() []*Clause { return c.clauses }

// ClauseIDs are the identifiers of all clauses in the order of the text.
func (c *Catalogue) ClauseIDs() []string {
	ids := make([]string, len(c.clauses))
	for i, clause := range c.clauses {
		ids[i] = clause.ID
	}
	return ids
}

// Reading finds a reading or finding by its exact ID.
func (c *Catalogue) Reading(id string) (*Reading, bool) {
	r, ok := c.readingBy[id]
	return r, ok
}

// Readings are all readings and findings in the order of their file.
func (c *Catalogue) Readings() []*Reading { return c.readings }

// Sections are the headings of the text, in its order.
func (c *Catalogue) Sections() []Section { return c.sections }

// Section finds a heading by its exact ID.
func (c *Catalogue) Section(id string) (Section, bool) {
	i := slices.IndexFunc(c.sections, func(s Section) bool { return s.ID == id })
	if i < 0 {
		return Section{}, false
	}
	return c.sections[i], true
}

// Terms are the words that the checks of a file use in a fixed sense: those that
// it declares, then those of files that have no clauses and so speak for all.
func (c *Catalogue) Terms(file string) []Term {
	return append(slices.Clone(c.terms[file]), c.sharedTerms...)
}

// Vocabulary are the words allowed in a field (subject, observe or suites).
func (c *Catalogue) Vocabulary(field string) []Term { return c.vocabulary[field] }

// Meaning is what a word of the vocabulary of a field means.
func (c *Catalogue) Meaning(field, word string) string { return c.meanings[field][word] }

// SameRule are the sections and clauses that make the same demand as the
// clause, whichever of the two entries says so.
func (c *Catalogue) SameRule(id string) []string { return c.sameRule[id] }

// Digest identifies the set: the SHA-256, as 64 hex digits, of everything that
// it says, wherever in the files it stands.
func (c *Catalogue) Digest() string { return c.digest() }

func newCatalogue(d *data) *Catalogue {
	c := &Catalogue{
		sections: d.Sections, clauses: d.Clauses, readings: d.Readings,
		terms: d.Terms, vocabulary: d.Vocabulary,
		clauseByID: make(map[string]*Clause, len(d.Clauses)),
		readingBy:  make(map[string]*Reading, len(d.Readings)),
		meanings:   map[string]map[string]string{},
		sameRule:   map[string][]string{},
	}
	for _, clause := range d.Clauses {
		c.clauseByID[clause.ID] = clause
	}
	for _, r := range d.Readings {
		c.readingBy[r.ID] = r
	}
	for field, words := range d.Vocabulary {
		c.meanings[field] = map[string]string{}
		for _, w := range words {
			c.meanings[field][w.Term] = w.Says
		}
	}
	c.shareTerms()
	c.linkSameRules()
	c.digest = sync.OnceValue(c.computeDigest)
	return c
}

func (c *Catalogue) shareTerms() {
	hasClauses := map[string]bool{}
	for _, clause := range c.clauses {
		hasClauses[clause.File] = true
	}
	for _, file := range slices.Sorted(maps.Keys(c.terms)) {
		if !hasClauses[file] {
			c.sharedTerms = append(c.sharedTerms, c.terms[file]...)
		}
	}
}

// linkSameRules makes the relation between clauses symmetric: the text is
// catalogued in reading order, so the later entry often names the earlier.
func (c *Catalogue) linkSameRules() {
	add := func(from, to string) {
		if !slices.Contains(c.sameRule[from], to) {
			c.sameRule[from] = append(c.sameRule[from], to)
		}
	}
	for _, clause := range c.clauses {
		for _, other := range clause.SameAs {
			add(clause.ID, other)
		}
	}
	for _, clause := range c.clauses {
		for _, other := range clause.SameAs {
			if target, ok := c.clauseByID[other]; ok && !slices.Contains(target.SameAs, clause.Section) {
				add(other, clause.ID)
			}
		}
	}
}

func (c *Catalogue) computeDigest() string {
	h := sha256.New()
	enc := json.NewEncoder(h)
	for _, clause := range c.clauses {
		placeless := *clause
		placeless.File, placeless.Line = "", 0
		mustEncode(enc, placeless)
	}
	for _, r := range c.readings {
		placeless := *r
		placeless.File, placeless.Line = "", 0
		mustEncode(enc, placeless)
	}
	mustEncode(enc, c.sections)
	return hex.EncodeToString(h.Sum(nil))
}

// mustEncode writes to a hash, which cannot fail, a value of strings and
// numbers, which cannot fail to encode.
func mustEncode(enc *json.Encoder, v any) {
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
}
