package pugmark_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pugcheck/pugcheck/conformance/pugmark"
	"github.com/pugcheck/pugcheck/conformance/pugmark/handler"
	"github.com/pugcheck/pugcheck/conformance/pugmark/runtime"
	"github.com/pugcheck/pugcheck/conformance/requirements"
)

var release = flag.String("release", "", "write the requirements of this version as the set `NAME`, such as v1.1")

// frozen are the digests of the released sets. A set never changes once it is here.
var frozen = map[string]string{
	"v1.0": "bfac097c7a29f7e80fafa75bf084387b28a7c0c4d3e9436a7c11ef88499ab544",
}

// current is the set of this version.
func current() *requirements.Set {
	index := runtime.Index()
	for id, more := range handler.Index() {
		index[id] = append(index[id], more...)
	}
	return requirements.Of(pugmark.Catalogue(), requirements.Judged(index, map[string][]string{"runtime": runtime.Always(), "handler": handler.Always()}))
}

// TestReleaseRequirements writes a new set: go test ./conformance/pugmark -run Release -release v1.1
func TestReleaseRequirements(t *testing.T) {
	if *release == "" {
		t.Skip("no set is to be released (-release NAME)")
	}
	if !regexp.MustCompile(`^v[0-9]+\.[0-9]+$`).MatchString(*release) {
		t.Fatalf("-release %s: a set is named like v1.1", *release)
	}
	set := current()
	path := filepath.Join("requirements", *release+".txt")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		t.Fatalf("a released set is never written again: %v", err)
	}
	_, err = fmt.Fprintf(f, "# Requirements %s of %s. Frozen: a test holds the digest of what follows.\n# clause level basis digest-of-the-demand suites-that-judged-it\n%s", *release, pugmark.Specification, set.Text())
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	t.Logf("wrote %s; add to frozen:\n\t%q: %q,", path, *release, set.Digest())
}

// TestRequirementsAreFrozen: what was released stays as it was, and no set is forgotten.
func TestRequirementsAreFrozen(t *testing.T) {
	names := pugmark.RequirementSets()
	for name := range frozen {
		if !slices.Contains(names, name) {
			t.Errorf("the released set %s is gone", name)
		}
	}
	for _, name := range names {
		set, err := pugmark.Requirements(name)
		if err != nil {
			t.Error(err) // a clause is gone or changed, and changes.yaml does not say how
			continue
		}
		if got := set.Digest(); got != frozen[name] {
			t.Errorf("the released set %s has the digest %s, and was released with %q", name, got, frozen[name])
		}
	}
}

// TestRequirementsOfThisVersion: a set that is read back is the set that was written.
func TestRequirementsOfThisVersion(t *testing.T) {
	set := current()
	back, err := requirements.Parse("v9.9", "v9.9.txt", "# heading\n"+set.Text())
	if err != nil {
		t.Fatal(err)
	}
	if back.Digest() != set.Digest() || len(back.Entries) != len(pugmark.Catalogue().Clauses()) {
		t.Errorf("%d clauses with digest %s, want %d with %s", len(back.Entries), back.Digest(), len(set.Entries), set.Digest())
	}
	judged := 0
	for _, e := range set.Entries {
		if len(e.Judged) > 0 {
			judged++
		}
	}
	if judged < 500 {
		t.Errorf("only %d clauses are judged by anything", judged)
	}
}

func TestUnknownRequirements(t *testing.T) {
	_, err := pugmark.Requirements("v0.1")
	if err == nil || !strings.Contains(err.Error(), `"v0.1"; released are `+strings.Join(pugmark.RequirementSets(), ", ")) {
		t.Error(err)
	}
}
