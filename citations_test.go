package pugcheck_test

import (
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pugcheck/pugcheck/conformance/catalogue"
	"github.com/pugcheck/pugcheck/conformance/pugmark"
)

// notKept are the clauses about runtimes that no place in the reference can be said to keep, each with the reason.
var notKept = map[string]string{
	"P0-1": "it binds implementations to all other clauses of the protocol",
	"S0-1": "it binds implementations to all other clauses of the storage layout",
}

// madeUp are identifiers that stand for nothing, in explanations of how identifiers are compared.
var madeUp = []string{"S6.3-99", "S60-1"}

// TestCitationsExist checks every identifier of a clause, reading or finding in a comment: a mistyped one leads its reader
// nowhere, and one of a clause that was renumbered to the wrong rule.
func TestCitationsExist(t *testing.T) {
	known := pugmark.Catalogue()
	for _, c := range citationsBelow(t, "reference", "cmd", "conformance") {
		if !exists(known, c.id) && !slices.Contains(madeUp, c.id) {
			t.Errorf("%s: there is no %s in the catalogue", c.place, c.id)
		}
	}
}

// TestReferenceCitesWhatItKeeps checks that whoever looks for the place that keeps a clause finds one.
func TestReferenceCitesWhatItKeeps(t *testing.T) {
	cited := map[string]bool{}
	for _, c := range citationsBelow(t, "reference/pugmark") {
		if !strings.HasSuffix(c.file, "_test.go") {
			cited[c.id] = true
		}
	}
	for _, problem := range uncited(pugmark.Catalogue().Clauses(), cited, notKept) {
		t.Error(problem)
	}
	// What the reference makes of an open question is in one table for those who do not read code.
	table, err := os.ReadFile("docs/reference.md")
	if err != nil {
		t.Fatal(err)
	}
	told := strings.Join(identifier.FindAllString(string(table), -1), " ") + " "
	for id := range cited {
		if strings.HasPrefix(id, "R-") || strings.HasPrefix(id, "F-") {
			if !strings.Contains(told, id+" ") {
				t.Errorf("the code cites %s, and docs/reference.md has no row for it", id)
			}
		}
	}
}

// TestDocsCiteWhatExists is TestCitationsExist for the documents.
func TestDocsCiteWhatExists(t *testing.T) {
	known := pugmark.Catalogue()
	documents, err := filepath.Glob("docs/*.md")
	if err != nil || len(documents) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	for _, name := range append(documents, "README.md") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range identifier.FindAllString(string(text), -1) {
			if !exists(known, id) && !slices.Contains(madeUp, id) {
				t.Errorf("%s: there is no %s in the catalogue", name, id)
			}
		}
	}
}

// TestCitationsAreFound proves that the checks above can fail.
func TestCitationsAreFound(t *testing.T) {
	const source = `// to S1-2 (R-07) and P4.2-1 to P4.2-3.
package x

/* F-1: a block,
   with S6.3-1 in its second line */
const notACitation = "S9-1" // S10-4 to
// S10-6; UTF-8, SHA-256, P-256, S6.5 and XS1-1 are none; P1-1 to S1-4 is no range, nor is S8-9 to S8-7.
`
	want := "1:S1-2 1:R-07 1:P4.2-1 1:P4.2-2 1:P4.2-3 4:F-1 5:S6.3-1 6:S10-4 7:S10-5 7:S10-6 7:P1-1 7:S1-4 7:S8-9 7:S8-7"
	var got []string
	for _, c := range citations("x.go", []byte(source)) {
		got = append(got, strings.TrimPrefix(c.place, "x.go:")+":"+c.id)
	}
	if got := strings.Join(got, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}

	known := pugmark.Catalogue()
	for id, want := range map[string]bool{"S6.3-1": true, "R-07": true, "F-1": true, "S6.3-99": false, "S99-1": false, "R-99": false, "F-7777": false} {
		if exists(known, id) != want {
			t.Errorf("%s: exists is %v", id, !want)
		}
	}

	clause := func(id string, level catalogue.Level, subject ...string) *catalogue.Clause {
		return &catalogue.Clause{ID: id, Level: level, Subject: subject}
	}
	problems := uncited([]*catalogue.Clause{
		clause("S1-1", catalogue.Must, "runtime"),
		clause("S1-2", catalogue.ShouldNot, "bucket", "runtime"),
		clause("S1-3", catalogue.May, "runtime"),
		clause("S1-4", catalogue.Must, "handler"),
		clause("S1-5", catalogue.MustNot, "runtime"),
		clause("S1-6", catalogue.Must, "runtime"),
		clause("S1-7", catalogue.Must, "runtime"),
	}, map[string]bool{"S1-5": true, "S1-7": true}, map[string]string{"S1-6": "a reason", "S1-7": "a reason", "S1-8": "a reason"})
	if got, want := fmt.Sprint(problems), "[no comment cites S1-1 no comment cites S1-2 "+
		"S1-7 is cited, and excepted all the same S1-8 is excepted, but binds no runtime]"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func exists(known *catalogue.Catalogue, id string) bool {
	_, clause := known.Clause(id)
	_, reading := known.Reading(id)
	return clause || reading
}

// uncited lists what is wrong with the citations of the clauses that bind runtimes to something.
func uncited(clauses []*catalogue.Clause, cited map[string]bool, excepted map[string]string) []string {
	var problems []string
	binding := map[string]bool{}
	for _, c := range clauses {
		if c.Level == catalogue.May || !slices.Contains(c.Subject, "runtime") {
			continue
		}
		binding[c.ID] = true
		switch reason := excepted[c.ID]; {
		case cited[c.ID] && reason != "":
			problems = append(problems, c.ID+" is cited, and excepted all the same")
		case !cited[c.ID] && reason == "":
			problems = append(problems, "no comment cites "+c.ID)
		}
	}
	for id := range excepted {
		if !binding[id] {
			problems = append(problems, id+" is excepted, but binds no runtime")
		}
	}
	return problems
}

type citation struct{ id, file, place string }

// citationsBelow gives the citations of all Go files below the directories.
func citationsBelow(t *testing.T, directories ...string) []citation {
	t.Helper()
	var found []citation
	for _, directory := range directories {
		err := filepath.WalkDir(directory, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && d.Name() == "testdata":
				return filepath.SkipDir
			case d.IsDir() || filepath.Ext(path) != ".go":
				return nil
			}
			source, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			found = append(found, citations(filepath.ToSlash(path), source)...)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(found) == 0 {
		t.Fatalf("nothing is cited below %v", directories)
	}
	return found
}

// identifier is that of a clause, a reading or a finding.
var identifier = regexp.MustCompile(`\b(?:[PS]\d+(?:\.\d+)?-\d+|[RF]-\d+)\b`)

// citations gives the identifiers in the comments of a Go file. "S6.2-9 to S6.2-12" stands for four.
func citations(file string, source []byte) []citation {
	files := token.NewFileSet()
	var s scanner.Scanner
	s.Init(files.AddFile(file, -1, len(source)), source, nil, scanner.ScanComments)
	var found []citation
	gap := ""
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return found
		}
		if tok != token.COMMENT {
			continue
		}
		end := 0
		for _, at := range identifier.FindAllStringIndex(text, -1) {
			id := text[at[0]:at[1]]
			place := fmt.Sprintf("%s:%d", file, files.Position(pos).Line+strings.Count(text[:at[0]], "\n"))
			gap += text[end:at[0]]
			if len(found) > 0 && strings.Join(strings.Fields(strings.ReplaceAll(gap, "//", " ")), " ") == "to" {
				for _, between := range idsBetween(found[len(found)-1].id, id) {
					found = append(found, citation{between, file, place})
				}
			}
			found = append(found, citation{id, file, place})
			gap, end = "", at[1]
		}
		gap += text[end:]
	}
}

// idsBetween gives what a range of clauses of one section leaves out, nothing for any other two.
func idsBetween(first, last string) []string {
	section, from, _ := strings.Cut(first, "-")
	other, to, _ := strings.Cut(last, "-")
	low, err1 := strconv.Atoi(from)
	high, err2 := strconv.Atoi(to)
	var ids []string
	for n := low + 1; section == other && err1 == nil && err2 == nil && n < high; n++ {
		ids = append(ids, fmt.Sprintf("%s-%d", section, n))
	}
	return ids
}
