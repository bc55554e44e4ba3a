package pugcheck_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"sort"
	"strings"
	"testing"
)

const module = "github.com/pugcheck/pugcheck"

// A ban keeps one room from importing another. The room is the first part of a
// package's path; "" stands for any import of this module.
type ban struct {
	room, imports string
	reason        string
}

var bans = []ban{
	{"conformance", "reference", "the judge shares no code with the judged, or a misreading that both share could not be seen"},
	{"conformance", "cmd", "the suite is a library; commands only wire it"},
	{"reference", "conformance", "the example must not learn from the judge what it is going to be asked"},
	{"reference", "harness", "the reference stands by itself as a runtime that people read and use; test machinery has no place in it"},
	{"reference", "cmd", "commands wire the reference, not the other way round"},
	{"harness", "conformance", "the machinery serves any specification, so it must not know one"},
	{"harness", "reference", "the machinery serves any subject, so it must not know one"},
	{"harness", "fixtures", "fixtures are data of one specification"},
	{"harness", "cmd", "commands wire the machinery, not the other way round"},
	{"fixtures", "", "fixtures are plain data for any language; code of ours beside them would be a hidden second definition"},
}

// TestImports enforces the table of docs/architecture.md, tests included.
func TestImports(t *testing.T) {
	for _, p := range listPackages(t) {
		room := roomOf(p.ImportPath)
		imports := map[string]bool{}
		for _, list := range [][]string{p.Imports, p.TestImports, p.XTestImports} {
			for _, i := range list {
				imports[i] = true
			}
		}
		for i := range imports {
			if reason := forbidden(room, roomOf(i), i, p.ImportPath); reason != "" {
				t.Errorf("%s imports %s: %s", p.ImportPath, i, reason)
			}
		}
	}
}

// TestBansBite proves that the check can fail, for each row of the table.
func TestBansBite(t *testing.T) {
	for _, b := range bans {
		target := b.imports
		if target == "" {
			target = "harness"
		}
		if forbidden(b.room, target, module+"/"+target+"/x", module+"/"+b.room+"/y") == "" {
			t.Errorf("an import of %s by %s would go unnoticed", target, b.room)
		}
	}
	if r := forbidden("conformance", "harness", module+"/harness/probe", module+"/conformance"); r != "" {
		t.Errorf("conformance may import harness, but: %s", r)
	}
}

// TestPackageNames keeps drawers without labels out of the tree.
func TestPackageNames(t *testing.T) {
	for _, p := range listPackages(t) {
		switch path.Base(p.ImportPath) {
		case "util", "utils", "common", "helpers", "types":
			t.Errorf("%s: name a package after what it gives, not after being shared", p.ImportPath)
		}
	}
}

// TestArchitectureNamesEveryPackage keeps the tree of docs/architecture.md whole. What is
// below the packages of the reference is told in its own documentation.
func TestArchitectureNamesEveryPackage(t *testing.T) {
	doc, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(doc), "\n```\n")
	tree, _, _ := strings.Cut(rest, "\n```\n")
	named, above := map[string]bool{}, []string{module}
	for line := range strings.Lines(tree) {
		entry := strings.TrimLeft(line, " ")
		above = above[:min(len(above), 1+(len(line)-len(entry))/2)]
		name, _, _ := strings.Cut(strings.TrimSpace(entry), " ")
		if folder, ok := strings.CutSuffix(strings.TrimSuffix(name, ","), "/"); ok {
			here := path.Join(above[len(above)-1], folder)
			above, named[here] = append(above, here), true
		}
	}
	for _, p := range listPackages(t) {
		if room := roomOf(p.ImportPath); room != "" && !strings.HasPrefix(p.ImportPath, module+"/reference/pugmark/") &&
			!strings.HasPrefix(p.ImportPath, module+"/fixtures/pugmark/") && !named[p.ImportPath] {
			t.Errorf("the tree of docs/architecture.md lacks %s", p.ImportPath)
		}
	}
}

func forbidden(room, target, imported, importer string) string {
	if target == "" {
		return ""
	}
	for _, b := range bans {
		if b.room != room || (b.imports != "" && b.imports != target) {
			continue
		}
		if b.imports == "" && imported == importer {
			continue // an external test of the same package
		}
		return b.reason
	}
	return ""
}

func roomOf(importPath string) string {
	rest, ok := strings.CutPrefix(importPath, module+"/")
	if !ok {
		return ""
	}
	room, _, _ := strings.Cut(rest, "/")
	return room
}

type listedPackage struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

func listPackages(t *testing.T) []listedPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports", "./...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(fmt.Errorf("go list: %w\n%s", err, stderr.String()))
	}
	var all []listedPackage
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listedPackage
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if len(all) < 10 {
		t.Fatalf("go list found only %d packages", len(all))
	}
	sort.Slice(all, func(i, j int) bool { return all[i].ImportPath < all[j].ImportPath })
	return all
}
