package catalogue

import "strings"

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

// containsWords reports whether prose has the words with nothing of a word
// before or behind them.
func containsWords(prose, words string) bool {
	for i := 0; ; i++ {
		j := strings.Index(prose[i:], words)
		if j < 0 {
			return false
		}
		i += j
		end := i + len(words)
		opens := i == 0 || !isWordByte(prose[i-1]) || !isWordByte(words[0])
		closes := end == len(prose) || !isWordByte(prose[end]) || !isWordByte(words[len(words)-1])
		if opens && closes {
			return true
		}
	}
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

func isWordByte(b byte) bool {
	return isDigit(b) || b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z' || b == '_' || b == '-'
}
