package catalogue

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

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
