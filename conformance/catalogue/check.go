package catalogue

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
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

// Mentions are the clause and reading identifiers in a piece of prose, in
// order: one capital letter, numbers with dots for a clause, a hyphen, a number
// (P10-11, S6.3-1, R-05).
func Mentions(prose string) []string {
	var ids []string
	for i := 0; i < len(prose); i++ {
		if prose[i] < 'A' || prose[i] > 'Z' || i > 0 && isWordByte(prose[i-1]) {
			continue
		}
		j := i + 1
		for j < len(prose) && (isDigit(prose[j]) || prose[j] == '.') {
			j++
		}
		if j+1 >= len(prose) || prose[j] != '-' || !isDigit(prose[j+1]) {
			continue
		}
		end := j + 1
		for end < len(prose) && isDigit(prose[end]) {
			end++
		}
		if end < len(prose) && isWordByte(prose[end]) {
			continue
		}
		id := prose[i:end]
		_, _, clause := splitClauseID(id)
		_, _, reading := splitReadingID(id)
		if clause || reading {
			ids = append(ids, id)
		}
		i = end - 1
	}
	return ids
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

func isWordByte(b byte) bool {
	return isDigit(b) || b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z' || b == '_' || b == '-'
}

// splitClauseID splits S6.3-1 into S6.3 and 1.
func splitClauseID(id string) (section string, number int, ok bool) {
	section, digits, found := strings.Cut(id, "-")
	number, isNumber := parseNumber(digits)
	return section, number, found && isNumber && isSectionID(section)
}

// splitReadingID splits R-05 into R and 5.
func splitReadingID(id string) (prefix string, number int, ok bool) {
	prefix, digits, found := strings.Cut(id, "-")
	letters := prefix != "" && strings.Trim(prefix, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
	number, err := strconv.Atoi(digits)
	return prefix, number, found && letters && err == nil && number > 0
}

func isSectionID(id string) bool {
	_, numbers := splitSection(id)
	return numbers != nil
}

// splitSection splits S6.3 into S and [6 3]; the numbers are nil where id is
// no section ID.
func splitSection(id string) (letters string, numbers []int) {
	rest := strings.TrimLeft(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	letters = id[:len(id)-len(rest)]
	if letters == "" {
		return "", nil
	}
	for part := range strings.SplitSeq(rest, ".") {
		n, ok := parseNumber(part)
		if !ok {
			return letters, nil
		}
		numbers = append(numbers, n)
	}
	return letters, numbers
}

// parseNumber accepts decimal digits without a leading zero, and 0.
func parseNumber(digits string) (int, bool) {
	n, err := strconv.Atoi(digits)
	return n, err == nil && strconv.Itoa(n) == digits && n >= 0
}

func samePrefix(a, b string) bool {
	x, _ := splitSection(a)
	y, _ := splitSection(b)
	return x == y
}

// compareSections orders S6 < S6.1 < S6.2 < S6.10 < S7.
func compareSections(a, b string) int {
	x, m := splitSection(a)
	y, n := splitSection(b)
	return cmp.Or(cmp.Compare(x, y), slices.Compare(m, n))
}
