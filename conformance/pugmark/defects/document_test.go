package defects

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pugcheck/pugcheck/conformance/pugmark"
)

// TestDocument keeps docs/defects.md in step with the list. With -update it is
// written.
func TestDocument(t *testing.T) { inStep(t, "defects.md", document()) }

// inStep compares a generated page of docs with what it has to be, or writes it.
func inStep(t *testing.T, name, want string) {
	t.Helper()
	file := filepath.Join(root(), "docs", name)
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(string(have), "\n")); diff != "" {
		t.Errorf("docs/%s is not what the list gives (+); run go test ./conformance/pugmark/defects -run %s -update\n%s", name, t.Name(), diff)
	}
}

const introduction = `# Seeded defects

[Runtimes](#runtimes) · [Handlers](#handlers)

<!-- Written by "go test ./conformance/pugmark/defects -run TestDocument -update". -->

## Runtimes

A suite that finds nothing may be a suite that cannot find anything. So it is run on the reference
runtime with one fault at a time: "cmd/faulty" composes the reference as "pugcheck reference" does and
wraps one of the seams between its parts (store, handler, clock, identifiers); the reference itself has no
switch for it. For each fault the test requires that the clause named here gets the verdict, that its
evidence contains the message, that no clause falls beside it but those listed with a reason, and that
without a fault everything passes.

    go test ./conformance/pugmark/defects                     # one defect of each section, on its clause and a sample
    go test ./conformance/pugmark/defects -all -timeout 30m   # every defect and variant, and the partial runtime
    go test ./conformance/pugmark/defects -whole -timeout 0   # every one, on the whole suite
    go build -o /tmp ./cmd/pugcheck ./cmd/faulty && /tmp/pugcheck runtime --only P4.2 -- /tmp/faulty newest-first

`

// document renders both lists.
func document() string {
	var b strings.Builder
	b.WriteString(strings.NewReplacer(`"cmd/faulty"`, "`cmd/faulty`", `"pugcheck reference"`, "`pugcheck reference`").Replace(introduction))
	all := All()
	clauses := map[string]bool{}
	for _, d := range all {
		clauses[d.Clause] = true
	}
	fmt.Fprintf(&b, "%d defects over %d clauses; the tests pass only if all of them are caught by the right clause.\n", len(all), len(clauses))
	section := ""
	for _, d := range all {
		c, _ := pugmark.Catalogue().Clause(d.Clause)
		if c.Section != section {
			section = c.Section
			s, _ := pugmark.Catalogue().Section(section)
			fmt.Fprintf(&b, "\n### %s %s\n\n| clause | defect | what the runtime does | the evidence says |\n| --- | --- | --- | --- |\n", s.ID, s.Title)
		}
		fmt.Fprintf(&b, "| %s%s | `%s` | %s%s | %s |\n", d.Clause, verdictMark(d), d.Name, cell(d.Fault), besideText(d), code(d.Message))
	}
	b.WriteString("\n### Still without a defect\n\nJudged clauses that demand something and that no defect names yet:\n\n")
	b.WriteString(listOrNone(uncovered()))
	handlerDefects(&b)
	return b.String()
}

func listOrNone(ids []string) string {
	if len(ids) == 0 {
		return "none.\n"
	}
	return wrapped(ids, 100)
}

func verdictMark(d Defect) string {
	if d.Verdict == "warn" {
		return " (warning)"
	}
	return ""
}

func besideText(d Defect) string {
	var parts []string
	for _, id := range slices.Sorted(maps.Keys(d.Beside)) {
		parts = append(parts, id+": "+cell(d.Beside[id]))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (beside it " + strings.Join(parts, "; ") + ")"
}

// cell escapes what would end a table cell.
func cell(s string) string { return strings.ReplaceAll(oneLine(s), "|", `\|`) }

// code sets text in code font, whatever it contains.
func code(s string) string {
	s = cell(s)
	if strings.Contains(s, "`") {
		return "`` " + s + " ``"
	}
	return "`" + s + "`"
}

// wrapped joins words with spaces into lines of at most width.
func wrapped(words []string, width int) string {
	var b strings.Builder
	n := 0
	for i, w := range words {
		switch {
		case i == 0:
		case n+1+len(w) > width:
			b.WriteString("\n")
			n = 0
		default:
			b.WriteString(" ")
			n++
		}
		b.WriteString(w)
		n += len(w)
	}
	return b.String() + "\n"
}
