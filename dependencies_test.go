package pugcheck_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// named are the modules that the table of docs/dependencies.md has, by whole path.
// Without a host they are GitHub's, and behind "…/" stands the end of a path whose
// beginning is that of the one before.
func named(page string) []string {
	var out []string
	for line := range strings.Lines(page) {
		cell, ok := strings.CutPrefix(line, "| ")
		if !ok {
			continue
		}
		cell, _, _ = strings.Cut(cell, " | ")
		last := ""
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cell, -1) {
			name := m[1]
			if end, ok := strings.CutPrefix(name, "…/"); ok {
				first, _, _ := strings.Cut(end, "/")
				beginning, _, found := strings.Cut(last, "/"+first+"/")
				if !found {
					beginning = last[:strings.LastIndexByte(last, '/')]
				}
				name = beginning + "/" + end
			} else if host, _, _ := strings.Cut(name, "/"); !strings.Contains(host, ".") {
				name = "github.com/" + name
			}
			out, last = append(out, name), name
		}
	}
	return out
}

// within tells whether a path is another one or lies below it.
func within(path, above string) bool { return path == above || strings.HasPrefix(path, above+"/") }

// TestDependencies: docs/dependencies.md says of each module that go.mod asks for why it
// is here, and names no other.
func TestDependencies(t *testing.T) {
	page, err := os.ReadFile("docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "mod", "edit", "-json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var mod struct {
		Require []struct {
			Path     string
			Indirect bool
		}
	}
	if err := json.Unmarshal(out, &mod); err != nil {
		t.Fatal(err)
	}
	names := named(string(page))
	of := map[string]int{}
	for _, m := range mod.Require {
		if m.Indirect {
			continue
		}
		explained := false
		for _, name := range names {
			// A module's row may name one package of it, or the family that it belongs to.
			if within(m.Path, name) || within(name, m.Path) {
				of[name]++
				explained = true
			}
		}
		if !explained {
			t.Errorf("docs/dependencies.md does not say what %s is for", m.Path)
		}
	}
	told := map[string]bool{}
	for _, name := range names {
		if of[name] == 0 {
			t.Errorf("docs/dependencies.md has %s, which go.mod does not ask for", name)
		}
		if told[name] {
			t.Errorf("docs/dependencies.md has %s twice", name)
		}
		told[name] = true
	}
	if len(of) < 20 {
		t.Errorf("only %d modules are named", len(of))
	}
}
