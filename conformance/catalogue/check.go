package catalogue

import (
	"fmt"
	"slices"
	"strings"
)

// check is everything that can only be said of the entries together.
func (d *data) check() Problems {
	k := &checker{data: d, declared: map[string]place{}, sectionRank: map[string]int{}}
	k.sections()
	k.clauses()
	k.readings()
	k.references()
	return k.problems
}

type checker struct {
	*data
	problems    Problems
	declared    map[string]place // every ID, whatever it names
	sectionRank map[string]int
}

func (k *checker) problem(at place, format string, args ...any) {
	k.problems = append(k.problems, Problem{at.file, at.line, fmt.Sprintf(format, args...)})
}

func (k *checker) declare(id string, at place) {
	if id == "" {
		return // reported as missing
	}
	if first, ok := k.declared[id]; ok {
		k.problem(at, "%s is already declared at %s:%d", id, first.file, first.line)
		return
	}
	k.declared[id] = at
}

func (k *checker) sections() {
	populated := map[string]bool{}
	for _, c := range k.Clauses {
		populated[c.Section] = true
	}
	var previous string
	for i, s := range k.Sections {
		at := k.sectionAt[i]
		k.declare(s.ID, at)
		k.sectionRank[s.ID] = i
		switch {
		case s.ID == "":
			continue
		case !isSectionID(s.ID):
			k.problem(at, "%q is no section ID such as S6.3", s.ID)
			continue
		case s.Part == "":
			k.problem(at, "the file of section %s has no title", s.ID)
		case !populated[s.ID]:
			k.problem(at, "section %s has no clause", s.ID)
		}
		if samePrefix(previous, s.ID) && compareSections(previous, s.ID) > 0 {
			k.problem(at, "section %s comes after %s", s.ID, previous)
		}
		previous = s.ID
	}
}

func (k *checker) clauses() {
	for _, field := range vocabularyFields {
		if len(k.Clauses) > 0 && len(k.Vocabulary[field]) == 0 {
			k.problem(place{k.Clauses[0].File, 1}, "no file declares the vocabulary of %s", field)
		}
	}
	rank, number, last := -1, 0, ""
	for _, c := range k.Clauses {
		at := place{c.File, c.Line}
		k.declare(c.ID, at)
		k.words(c, "subject", c.Subject, at)
		k.words(c, "observe", c.Observe, at)
		k.words(c, "suites", c.Suites, at)
		k.testability(c, at)
		section, n, ok := splitClauseID(c.ID)
		if !ok {
			continue
		}
		r, ok := k.sectionRank[section]
		if !ok {
			k.problem(at, "clause %s: section %s is not declared", c.ID, section)
			continue
		}
		if r < rank || r == rank && n < number {
			k.problem(at, "clause %s comes after %s", c.ID, last)
		}
		rank, number, last = r, n, c.ID
	}
}

func (k *checker) words(c *Clause, field string, words []string, at place) {
	if len(k.Vocabulary[field]) == 0 {
		return // reported once
	}
	for _, w := range words {
		known := slices.ContainsFunc(k.Vocabulary[field], func(t Term) bool { return t.Term == w })
		if !known && w != "" {
			k.problem(at, "clause %s: %q is not in the vocabulary of %s", c.ID, w, field)
		}
	}
	if len(words) == 0 && field != "suites" {
		k.problem(at, "clause %s: %s is empty", c.ID, field)
	}
}

// testability is the agreement between where a clause shows, who can judge it,
// and whether it says that nobody can.
func (k *checker) testability(c *Clause, at place) {
	nowhere := slices.Contains(c.Observe, "none")
	switch {
	case nowhere && len(c.Observe) > 1:
		k.problem(at, "clause %s is observed both somewhere and nowhere", c.ID)
	case nowhere && len(c.Suites) > 0:
		k.problem(at, "clause %s is observed nowhere, but %s judges it", c.ID, strings.Join(c.Suites, ", "))
	case nowhere && c.Untestable == "":
		k.problem(at, "clause %s is observed nowhere and does not say why it is untestable", c.ID)
	case len(c.Suites) == 0 && c.Untestable == "":
		k.problem(at, "clause %s has no suite and does not say why it is untestable", c.ID)
	}
	if c.Basis == Assumed && len(c.Readings) == 0 && c.Question == "" {
		k.problem(at, "clause %s is assumed, but names no reading and no question", c.ID)
	}
}

func (k *checker) readings() {
	prefix, number := "", 0
	for _, r := range k.Readings {
		at := place{r.File, r.Line}
		k.declare(r.ID, at)
		p, n, ok := splitReadingID(r.ID)
		if ok && p == prefix && n < number {
			k.problem(at, "reading %s comes after %s-%d", r.ID, prefix, number)
		}
		prefix, number = p, n
	}
}

func (k *checker) references() {
	clauses, readings, prefixes := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, c := range k.Clauses {
		clauses[c.ID] = true
	}
	for _, r := range k.Readings {
		readings[r.ID] = true
		prefix, _, _ := splitReadingID(r.ID)
		prefixes[prefix] = true
	}
	isSection := func(id string) bool { _, ok := k.sectionRank[id]; return ok }
	for _, c := range k.Clauses {
		at := place{c.File, c.Line}
		for _, id := range c.SameAs {
			switch {
			case id == c.ID || id == c.Section:
				k.problem(at, "clause %s: same_as names itself (%s)", c.ID, id)
			case !clauses[id] && !isSection(id):
				k.problem(at, "clause %s: same_as names %s, which is neither a section nor a clause", c.ID, id)
			}
		}
		for _, id := range c.Readings {
			if !readings[id] {
				k.problem(at, "clause %s: there is no reading %s", c.ID, id)
			}
		}
		for _, prose := range []string{c.Says, c.Check, c.Defect, c.Question, c.Untestable} {
			for _, id := range Mentions(prose) {
				_, _, isClause := splitClauseID(id)
				prefix, _, _ := splitReadingID(id)
				switch {
				case !isClause && !prefixes[prefix]: // an expression such as V-2
				case isClause && !clauses[id]:
					k.problem(at, "clause %s mentions %s, which does not exist", c.ID, id)
				case !isClause && !readings[id]:
					k.problem(at, "clause %s mentions reading %s, which does not exist", c.ID, id)
				case !isClause && !slices.Contains(c.Readings, id):
					k.problem(at, "clause %s mentions reading %s and does not list it", c.ID, id)
				}
			}
		}
	}
	for _, r := range k.Readings {
		for _, id := range r.Sections {
			if !isSection(id) {
				k.problem(place{r.File, r.Line}, "reading %s: there is no section %s", r.ID, id)
			}
		}
		for _, id := range Mentions(r.Text) {
			if !clauses[id] && !readings[id] {
				k.problem(place{r.File, r.Line}, "reading %s mentions %s, which does not exist", r.ID, id)
			}
		}
	}
}
