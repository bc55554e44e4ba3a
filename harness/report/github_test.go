package report

import (
	"fmt"
	"strings"
	"testing"
)

func TestGitHubGolden(t *testing.T) {
	t.Setenv("GITHUB_WORKSPACE", "")
	r := everyKind()
	r.Requirements.Set = "v1.0"
	r.Beyond = []Clause{{ID: "A3-1", Level: "MUST", Verdict: Fail, Outside: "new since v1.0", Requirement: "New.", Evidence: []Evidence{{Scenario: "A1/order", Verdict: Fail, Acceptable: "a", Seen: "b"}}}}
	r.Known = &KnownFailures{File: "known.yaml", Entries: []KnownFailure{{Clause: "A1-1", Line: 7, State: KnownPasses, Advice: "take it out"}}}
	data, err := Render(r, "github", "annotations.txt")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "every_kind.github.txt", string(data))
}

// TestNothingEscapesAnAnnotation: what a subject prints can neither end an annotation nor
// begin a command of its own.
func TestNothingEscapesAnAnnotation(t *testing.T) {
	r := everyKind()
	evil := "a%0A::set-output name=x::y\r\n::add-mask::secret\n\x1b[31m\x00::stop-commands::t, file=x:\xff"
	r.Clauses[1].Evidence[0].Seen, r.Clauses[1].Requirement, r.Profile.File = evil, evil, "dir/a,b:c\n::error::.yaml"
	for i := range 30 {
		c := r.Clauses[1]
		c.ID = fmt.Sprintf("A1-%d", i+10)
		r.Clauses = append(r.Clauses, c)
	}
	r.Count()
	lines := strings.Split(strings.TrimSuffix(string(r.github()), "\n"), "\n")
	errors := 0
	for _, l := range lines {
		kind, rest, ok := strings.Cut(strings.TrimPrefix(l, "::"), " ")
		properties, text, ok2 := strings.Cut(rest, "::")
		if !strings.HasPrefix(l, "::") || !ok || !ok2 || kind != "error" && kind != "warning" && kind != "notice" {
			t.Errorf("not a command: %q", l)
		}
		if kind == "error" {
			errors++
		}
		if strings.ContainsAny(l, "\r\x1b\x00") || strings.Contains(properties, "a,b") {
			t.Errorf("unescaped: %q", l)
		}
		for _, p := range strings.Split(properties, ",") {
			if name, _, _ := strings.Cut(p, "="); name != "file" && name != "line" && name != "title" {
				t.Errorf("a property %q in %q", p, l)
			}
		}
		if len(text) > 4*githubText {
			t.Errorf("%d bytes", len(text))
		}
	}
	if errors != githubLimit || !strings.Contains(lines[errors-1], "and 24 more") {
		t.Errorf("%d errors, the last: %s", errors, lines[errors-1])
	}
}
