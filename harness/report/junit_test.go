package report

import (
	"bytes"
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/joshdk/go-junit"
)

// schemas are what JUnit XML is held against: what this package takes the format of
// Jenkins to be, and, where $JUNIT_XSD names a file, that schema as well.
func schemas() []string {
	out := []string{filepath.Join("testdata", "junit.xsd")}
	if given := os.Getenv("JUNIT_XSD"); given != "" {
		out = append(out, given)
	}
	return out
}

// invalid is what xmllint says against a document; "" if it is valid.
func invalid(t *testing.T, schema string, document []byte) string {
	t.Helper()
	program, err := exec.LookPath("xmllint")
	if err != nil {
		t.Skip("xmllint is not installed (Debian: libxml2-utils), so the XML is not held against its schema")
	}
	cmd := exec.Command(program, "--noout", "--nonet", "--schema", schema, "-")
	cmd.Stdin = bytes.NewReader(document)
	if out, err := cmd.CombinedOutput(); err != nil {
		return string(out)
	}
	return ""
}

func TestJUnitGolden(t *testing.T) {
	for name, r := range map[string]*Result{"forms_junit.xml": everyForm(), "cut_short_junit.xml": cutShort(), "kept_junit.xml": kept()} {
		data := rendered(t, "junit", "", name, r)
		t.Run(name, func(t *testing.T) {
			for _, schema := range schemas() {
				if why := invalid(t, schema, data); why != "" {
					t.Errorf("not valid by %s: %s", schema, why)
				}
			}
		})
	}
}

// TestJUnitSchemaBites proves that the schema refuses what Jenkins does.
func TestJUnitSchemaBites(t *testing.T) {
	data := string(form(t, "junit", everyForm()))
	for name, change := range map[string][2]string{
		"an element that is none":    {"<failure ", "<wrong "},
		"an attribute too many":      {`<testsuites `, `<testsuites skipped="1" `},
		"a test case without name":   {"<testcase name=", "<testcase id="},
		"a time that is none":        {`time="0.080"`, `time="soon"`},
		"a suite without its counts": {` failures="`, ` fails="`},
		"a character that is none":   {"pugcheck demo", "pugcheck &#27; demo"},
	} {
		broken := data
		switch name {
		case "a time that is none":
			i := strings.Index(broken, "<testsuite ")
			j := i + strings.Index(broken[i:], `time="`)
			broken = broken[:j] + `time="soon` + broken[j+6:]
		case "an element that is none":
			broken = strings.ReplaceAll(strings.ReplaceAll(broken, "<failure ", "<wrong "), "</failure>", "</wrong>")
		default:
			broken = strings.Replace(broken, change[0], change[1], 1)
		}
		if broken == data {
			t.Fatalf("%s: nothing was changed", name)
		}
		for _, schema := range schemas() {
			if invalid(t, schema, []byte(broken)) == "" {
				t.Errorf("%s: valid by %s", name, schema)
			}
		}
	}
}

// TestJUnitCounts reads the XML with a parser of its own and holds it against the result.
func TestJUnitCounts(t *testing.T) {
	r := everyForm()
	data := form(t, "junit", r)
	suites, err := junit.Ingest(data)
	if err != nil {
		t.Fatal(err)
	}
	pairs := map[string]junit.Test{}
	var sum, cases time.Duration
	for _, s := range suites {
		sum += s.Totals.Duration
		for _, c := range s.Tests {
			if _, twice := pairs[c.Name]; twice {
				t.Errorf("%s stands there twice", c.Name)
			}
			pairs[c.Name] = c
			cases += c.Duration
		}
	}
	want := 0
	for _, c := range r.Clauses {
		for _, sc := range c.Scenarios {
			if want++; pairs[c.ID+" "+sc].Name == "" {
				t.Errorf("%s has no test case for %s", c.ID, sc)
			}
		}
		if len(c.Scenarios) == 0 {
			want++
		}
	}
	if troubles := len(r.troubles()); len(pairs) != want+troubles || troubles == 0 {
		t.Errorf("%d test cases for %d pairs and %d troubles", len(pairs), want, troubles)
	}
	// Each scenario that a clause names counts once.
	var spent time.Duration
	for _, sc := range r.Scenarios {
		if sc.ID != "A3/cleanup" { // which no clause names
			spent += time.Duration(sc.Timing.TotalMS * float64(time.Millisecond))
		}
	}
	if cases != spent || sum != spent {
		t.Errorf("test cases took %v, suites %v, scenarios %v", cases, sum, spent)
	}
	got := map[string]string{}
	for name := range pairs {
		got[name] = string(pairs[name].Status)
	}
	expected := map[string]string{
		"A1-1 A1/order": "passed", "A1-2 A1/order": "failed", "A1-2 A1/empty": "failed", "A1.1-1 A1/order": "failed", "A1.1-2 A1/order": "passed",
		"A1.1-3 A1/order": "passed", "A1.1-3 A2/names": "passed", "A2-1 A2/http": "skipped", "A2-2 A2/http": "skipped", "A2-3 A1/order": "skipped",
		"A2-4": "skipped", "A2-5 A2/broken": "error", "A2-6 A2/broken": "error", "A2-7": "skipped",
		"A3-1 A3/odd": "failed", "A3-1 A3/long": "failed", "A3-1 A3/silent": "skipped", "A3-1 A3/late": "failed",
		"A3-2 A3/odd": "skipped", "A3-2 A3/late": "passed", "A3-3 A3/late": "failed", "A3-4 A3/late": "passed", "A3-5 A3/silent": "skipped", "A3-5 A2/http": "skipped",
		"scenario A3/cleanup": "error", "known failure A1-1": "failed",
	}
	if d := cmp.Diff(expected, got); d != "" {
		t.Error(d)
	}
}

// TestJUnitKeepsItsMeaning: what a failure says can be read back, and nothing that a
// subject writes becomes markup.
func TestJUnitKeepsItsMeaning(t *testing.T) {
	data := form(t, "junit", everyForm())
	var doc struct {
		Suites []struct {
			Cases []struct {
				Name    string `xml:"name,attr"`
				Failure *struct {
					Message string `xml:"message,attr"`
					Data    string `xml:",chardata"`
				} `xml:"failure"`
				Out string `xml:"system-out"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	found := false
	for _, s := range doc.Suites {
		for _, c := range s.Cases {
			if c.Name != "A3-1 A3/odd" {
				continue
			}
			found = true
			for _, want := range []string{"]]> <script>alert(1)</script> &amp; | a | b |", "␛[31mred", "U+202E", "acceptable:", "seen:", "in runs: 1 2", "checked by: demo/a3.go:9", "repeat with: pugcheck demo --seed 42 --only A3/odd './my impl'"} {
				if c.Failure == nil || !strings.Contains(c.Failure.Data, want) {
					t.Errorf("the failure of %s lacks %q", c.Name, want)
				}
			}
			if !strings.Contains(c.Out, "--- stream | of the subject") || !strings.Contains(c.Out, "artifacts/A3-odd") {
				t.Errorf("system-out: %q", c.Out)
			}
		}
	}
	if !found {
		t.Error("no test case A3-1 A3/odd")
	}
	if size := len(data); size > 60_000 {
		t.Errorf("%d bytes: long evidence is not cut", size)
	}
}
