package report

import (
	"regexp"
	"strings"
	"sync"

	"github.com/pugcheck/pugcheck/harness/page"
)

// Stable is a message without what differs from run to run although the same thing
// happened: identifiers and digests, addresses and ports, process IDs, moments and
// durations, folders for temporary files, random data, and the counts of bytes that
// depend on all of these. Each is replaced by a word in ‹›, and white space is folded,
// so that two messages say the same when their stable forms are equal, and one is a
// piece of the other when the stable form contains the piece's.
//
// Numbers that are none of these stay: a version 2 in place of 3 is another message.
// Stable(Stable(m)) is Stable(m).
func Stable(message string) string {
	for _, v := range volatiles() {
		message = v.pattern.ReplaceAllStringFunc(message, v.replace)
	}
	return page.OneLine(message)
}

// volatile is a kind of text that says nothing about what happened.
type volatile struct {
	pattern *regexp.Regexp
	replace func(string) string
}

// volatiles are tried in this order, the longer forms before their parts.
var volatiles = sync.OnceValue(func() []volatile {
	word := func(w string) func(string) string { return func(string) string { return "‹" + w + "›" } }
	return []volatile{
		{regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?`), word("moment")},
		{regexp.MustCompile(`(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [A-Z]{3}`), word("moment")},
		{regexp.MustCompile(`\b(year|month|day|hour)=\d+`), func(s string) string {
			name, _, _ := strings.Cut(s, "=")
			return name + "=‹n›"
		}},
		{regexp.MustCompile(`\b(localhost|\d{1,3}(\.\d{1,3}){3}|\[[0-9a-f:]+\]):\d+`), word("address")},
		{regexp.MustCompile(`\b([Pp]ort|pid|PID|process) \d+`), func(s string) string {
			name, _, _ := strings.Cut(s, " ")
			return name + " ‹n›"
		}},
		{regexp.MustCompile(`/(tmp|var/tmp|var/folders|private/tmp)/[^\s"',;:)]+`), word("path")},
		{regexp.MustCompile(`\b[0-9A-Za-z+/_-]{24,}={0,2}`), func(s string) string {
			if isRandomData(s) {
				return "‹data›"
			}
			return s
		}},
		{regexp.MustCompile(`\b[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\b`), word("id")},
		{regexp.MustCompile(`\b(0x)?[0-9A-Fa-f]{6,}\b`), func(s string) string {
			if len(s) >= 8 || strings.ContainsAny(s, "0123456789") {
				return "‹id›"
			}
			return s // an ordinary word, such as "facade"
		}},
		{regexp.MustCompile(`\b(\d+h)?(\d+m)?\d+(\.\d+)?(ns|µs|us|ms|s)\b|\b\d+h(\d+m)?\b|\b\d+(\.\d+)? (milli)?seconds?\b`), word("time")},
		{regexp.MustCompile(`\b\d{2,} bytes\b`), word("n bytes")},
	}
})

// isRandomData tells base64 and the like from paths and names: it mixes letters of both
// cases with digits.
func isRandomData(s string) bool {
	var upper, lower, digit bool
	for _, c := range s {
		switch {
		case c >= 'A' && c <= 'Z':
			upper = true
		case c >= 'a' && c <= 'z':
			lower = true
		case c >= '0' && c <= '9':
			digit = true
		}
	}
	return upper && lower && digit
}
