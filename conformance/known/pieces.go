package known

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/pugcheck/pugcheck/harness/report"
)

// Bounds of a piece that is written into a list, in characters: enough to be
// recognised by, and short enough to be read.
const (
	shortest = 12
	longest  = 80
)

// pieces are as few pieces as it takes to match all of the violations. What is likely
// to be the same in the next run is preferred: words, without identifiers, numbers and
// whatever else is drawn or measured.
func pieces(list []violation) []string {
	var out []string
	for _, v := range list {
		if !(Entry{Messages: out}).matches(v) {
			out = append(out, best(v, list))
		}
	}
	return out
}

// best is the piece of a violation that matches the most of the list, and says most.
func best(v violation, list []violation) string {
	for _, text := range []string{v.Seen, v.Acceptable} {
		if c := candidates(text); len(c) > 0 {
			return slices.MaxFunc(c, func(a, b string) int {
				return cmp.Or(cmp.Compare(reach(a, list), reach(b, list)), cmp.Compare(words(a), words(b)), -cmp.Compare(len(a), len(b)))
			})
		}
	}
	// Nothing but names and numbers: as it stands, apart from what is known to vary.
	return cut(report.Stable(cmp.Or(v.Seen, v.Acceptable)))
}

func reach(piece string, list []violation) int {
	n := 0
	for _, v := range list {
		if (Entry{Messages: []string{piece}}).matches(v) {
			n++
		}
	}
	return n
}

// candidates are the pieces of a text that are worth listing.
func candidates(text string) []string {
	var out []string
	for _, f := range fragments(report.Stable(text)) {
		if f = cut(f); len([]rune(f)) >= shortest && words(f) >= 2 && telling(f) {
			out = append(out, f)
		}
	}
	return out
}

// cut shortens a piece at a blank.
func cut(piece string) string {
	r := []rune(piece)
	if len(r) <= longest {
		return piece
	}
	short := string(r[:longest])
	if i := strings.LastIndexByte(short, ' '); i > 0 {
		short = short[:i]
	}
	return short
}

// fragments are the parts of a text in its stable form between the words that vary.
func fragments(stable string) []string {
	var out, part []string
	end := func() {
		if len(part) > 0 {
			out = append(out, strings.Join(part, " "))
		}
		part = nil
	}
	all := strings.Fields(stable)
	for i, word := range all {
		if varying(word) && !(i > 0 && all[i-1] == "status" && isNumber(strings.TrimRight(word, ".,;:)"))) {
			end()
		} else {
			part = append(part, word)
		}
	}
	end()
	return out
}

// isNumber tells whether a word is a number of at most three digits, as statuses are.
func isNumber(word string) bool {
	return word != "" && len(word) <= 3 && strings.Trim(word, "0123456789") == ""
}

// longestWord is the length from which letters are hardly a word.
const longestWord = 24

// varying tells whether a word is likely to be another one in the next run: one with
// digits, one that stands for what varies, letters in an order of cases that nobody
// writes, and the place at which a long text was cut.
func varying(word string) bool {
	if strings.ContainsAny(word, "0123456789‹›…") {
		return true
	}
	for _, part := range strings.FieldsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if len(part) > longestWord || changes(part) > 1+len(part)/5 {
			return true
		}
	}
	return false
}

// changes counts where lower case turns to upper case.
func changes(part string) int {
	n, letters := 0, []rune(part)
	for i := 1; i < len(letters); i++ {
		if unicode.IsLower(letters[i-1]) && unicode.IsUpper(letters[i]) {
			n++
		}
	}
	return n
}

// boilerplate is what matchers say around what was seen.
var boilerplate = []string{"expected", "string", "equal", "the", "and", "not", "have", "contain", "element", "elements"}

// words counts the words of a piece that say something, up to a number at which it says enough.
func words(piece string) int {
	n := 0
	for _, word := range strings.FieldsFunc(piece, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if len(word) >= 3 && !slices.Contains(boilerplate, strings.ToLower(word)) {
			n++
		}
	}
	return min(n, 6)
}
