package selection

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hbollon/go-edlib"
)

// suggestions is how many near matches an error names at most.
const suggestions = 5

// Unmatched is a selector that matched nothing.
type Unmatched struct {
	Selector string
	Nearest  []string // closest first; empty where nothing is close
}

// UnmatchedError is the error of [Selectors.Resolve]: every selector that
// matched nothing, in the order given.
type UnmatchedError struct{ Unmatched []Unmatched }

func (e *UnmatchedError) Error() string {
	lines := make([]string, len(e.Unmatched))
	for i, u := range e.Unmatched {
		lines[i] = fmt.Sprintf("no clause or scenario matches %q%s", u.Selector, DidYouMean(u.Nearest))
	}
	return strings.Join(lines, "\n")
}

// DidYouMean is the end of a message that names near matches: "; nearest: A, B",
// or nothing where there are none.
func DidYouMean(nearest []string) string {
	if len(nearest) == 0 {
		return ""
	}
	return "; nearest: " + strings.Join(nearest, ", ")
}

// nearest proposes names of the same kind as the selector: scenarios where it
// has a slash, clauses and sections otherwise, both where neither is close.
func (s selector) nearest(clauses []string, scenarios []ScenarioRef) []string {
	var clauseNames, scenarioNames []string
	seen := map[string]bool{}
	for _, id := range clauses {
		for section := sectionOf(id); section != "" && !seen[section]; section = parent(section) {
			seen[section] = true
			clauseNames = append(clauseNames, section)
		}
		clauseNames = append(clauseNames, id)
	}
	for _, sc := range scenarios {
		scenarioNames = append(scenarioNames, sc.ID)
	}
	word := strings.Map(func(r rune) rune {
		if strings.ContainsRune("*?[]{}", r) {
			return -1
		}
		return r
	}, s.word)
	own, other := clauseNames, scenarioNames
	if strings.Contains(word, "/") {
		own, other = scenarioNames, clauseNames
	}
	if found := Nearest(word, own, suggestions); len(found) > 0 {
		return found
	}
	return Nearest(word, other, suggestions)
}

func sectionOf(clause string) string {
	section, _, _ := strings.Cut(clause, "-")
	return section
}

func parent(section string) string {
	i := strings.LastIndexByte(section, '.')
	return section[:max(i, 0)]
}

// Nearest returns at most n candidates that the word may have been meant as,
// the closest first: those within a third of its length in edit distance (a
// swap of neighbours counts once), then those that begin as it does. Upper and
// lower case are the same.
func Nearest(word string, candidates []string, n int) []string {
	type scored struct {
		name     string
		distance int
		common   int // length of the common beginning
		order    int
	}
	fold := strings.ToLower(word)
	limit := max(1, len(fold)/3)
	var close []scored
	for i, name := range candidates {
		other := strings.ToLower(name)
		s := scored{name, edlib.OSADamerauLevenshteinDistance(fold, other), commonPrefix(fold, other), i}
		contains := len(fold) >= 4 && strings.Contains(other, fold)
		if s.distance > limit && !contains && !sharesStem(fold, other, s.common) {
			continue
		}
		close = append(close, s)
	}
	slices.SortStableFunc(close, func(a, b scored) int {
		return cmp.Or(
			cmp.Compare(min(a.distance, limit+1), min(b.distance, limit+1)),
			-cmp.Compare(a.common, b.common),
			cmp.Compare(a.distance, b.distance),
			cmp.Compare(a.order, b.order),
		)
	})
	var names []string
	for _, s := range close[:min(n, len(close))] {
		names = append(names, s.name)
	}
	return names
}

// sharesStem reports whether two names agree up to the last separator of the
// word, as S6.3-99 and S6.3-1 do, or P4.2/parent and P4.2/push-tags.
func sharesStem(word, name string, common int) bool {
	stem := strings.LastIndexAny(word, "/-.")
	if slash := strings.IndexByte(word, '/'); slash >= 0 {
		stem = slash
	}
	return stem > 0 && common > stem && name != word
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
