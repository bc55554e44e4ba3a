package artifacts

import (
	"fmt"
	"slices"
	"testing"

	"github.com/pugcheck/pugcheck/harness/report"
)

func TestCompare(t *testing.T) {
	f := func(clause string, v report.Verdict, seen string) Finding {
		return Finding{Clause: clause, Verdict: v, Acceptable: "something", Seen: seen}
	}
	then := []Finding{
		f("A-1", report.Warn, "odd"), f("A-1", report.Fail, "order 00079cde05a6974193f58b36bf787dac is lost after 3.1s"),
		f("A-2", report.Fail, "status 500"), f("A-3", report.Fail, "exit status 1"), f("A-4", report.Fail, "late"),
	}
	now := []Finding{
		f("A-9", report.Fail, "else"), f("A-1", report.Fail, "another"), f("A-1", report.Fail, "order 00079cdf0b36bf787dac05a6974193f5 is lost after 20ms"),
		f("A-2", report.Fail, "status 404"), f("A-4", report.Warn, "late"),
	}
	var got []string
	for _, c := range Compare(then, now) {
		got = append(got, fmt.Sprintf("%s %s: %s / %s", c.Clause, c.Likeness, c.Then.Seen, c.Now.Seen))
	}
	want := []string{
		"A-1 same: order 00079cde05a6974193f58b36bf787dac is lost after 3.1s / order 00079cdf0b36bf787dac05a6974193f5 is lost after 20ms",
		"A-2 differs: status 500 / status 404", "A-3 gone: exit status 1 / ", "A-4 differs: late / late", "A-9 new:  / else",
	}
	if !slices.Equal(got, want) {
		t.Errorf("compared %q, want %q", got, want)
	}
}
