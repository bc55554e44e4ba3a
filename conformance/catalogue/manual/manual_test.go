package manual

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/pugcheck/pugcheck/conformance/catalogue"
	"github.com/pugcheck/pugcheck/harness/page"
)

const source = `title: Storage
vocabulary:
  subject: {engine: what runs}
  observe: {bucket: what is at rest, none: nowhere}
  suites: {engine: judges engines}
sections:
- {id: S1, title: keeping}
- {id: S2, title: copying}
terms:
- {term: seed, says: what lies there before}
- {term: unused, says: never shown}
clauses:
- id: S1-1
  level: MUST
  keyword: indicative
  subject: [engine]
  basis: stated
  says: What has been written once is kept as it was written, for as long as the bucket lives.
  observe: [bucket]
  check: The seed is unchanged.
  defect: It is lost.
  suites: [engine]
- id: S1-2
  level: MUST
  keyword: stated
  subject: [engine]
  basis: assumed
  says: Nothing is touched.
  observe: [bucket]
  check: As S1-1.
  defect: It is touched.
  suites: [engine]
  same_as: [S1-1]
  readings: [R-1]
  question: Is reading touching? No.
- id: S2-1
  level: MAY
  keyword: stated
  subject: [engine]
  basis: derived
  says: It can be copied.
  observe: [none]
  check: Not judged.
  defect: A copy is refused.
  suites: []
  untestable: Nobody sees it.
readings:
- id: R-1
  title: what touching is
  kind: reading
  basis: assumed
  sections: [S1]
  text: Writing is.
  table:
    columns: [verb, touches]
    rows:
    - [write, "yes, always and in every case that one can think of"]
    - [read, "no"]
- id: F-1
  title: harm
  kind: finding
  basis: derived
  sections: []
  text: It hurts.
`

var index = catalogue.Index{"S1-1": {{Scenario: "S1/kept", Suite: "engine"}, {Scenario: "S1/kept@http", Suite: "engine"}}}

var plain = page.Layout{Width: 60}

func load(t *testing.T) *catalogue.Catalogue {
	t.Helper()
	c, err := catalogue.Load(fstest.MapFS{"s.yaml": {Data: []byte(source)}}, "s.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func repeat(suite, clause string) string { return "check " + suite + " " + clause }

func TestList(t *testing.T) {
	c := load(t)
	var out strings.Builder
	if err := List(&out, plain, c, c.Clauses(), index); err != nil {
		t.Fatal(err)
	}
	want := `STORAGE

S1  keeping

  S1-1  MUST  What has been written once is kept as it was
              written, for as long as the bucket lives.
              judged by S1/kept, S1/kept@http

  S1-2  MUST  Nothing is touched.
              not yet judged (assumed: a violation is a
              warning)

S2  copying

  S2-1  MAY   It can be copied.
              untestable: Nobody sees it.

3 clauses: 1 judged, 1 untestable, 1 not yet judged
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	out.Reset()
	if err := List(&out, plain, c, nil, index); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != "" {
		t.Errorf("empty list %q, want nothing", got)
	}
}

func TestClausePage(t *testing.T) {
	c := load(t)
	pages := map[string]string{
		"S1-1": `S1-1  MUST  Storage, S1 keeping

  What has been written once is kept as it was written, for
  as long as the bucket lives.

  Binds      engine: what runs
  Level      MUST: a violation is a failure
  Basis      stated: the text says it; no capitalised key
             word, a description that binds
  Shows in   bucket: what is at rest

How it is judged
  The seed is unchanged.

  in the words of the checks
    seed  what lies there before

Judged by
  S1/kept
  S1/kept@http
  run them alone: check engine S1-1

The usual bug
  It is lost.

The same rule elsewhere
  S1-2  Nothing is touched.
`,
		"S1-2": `S1-2  MUST  Storage, S1 keeping

  Nothing is touched.

  Binds      engine: what runs
  Level      MUST, as we assume: a violation is a warning,
             under --strict a failure
  Basis      assumed: the text is silent, or can be read in
             another way
  Shows in   bucket: what is at rest

How it is judged
  As S1-1.

Judged by
  no scenario yet

The usual bug
  It is touched.

What the text leaves open, and what we take it to say
  Is reading touching? No.

What this rests on
  R-1  what touching is (reading, assumed)
    Writing is.

    verb   touches
    write  yes, always and in every case that one can think
           of
    read   no

The same rule elsewhere
  S1-1  What has been written once is kept as it was
        written, for as long as the bucket lives.
`,
		"S2-1": `S2-1  MAY  Storage, S2 copying

  It can be copied.

  Binds      engine: what runs
  Level      MAY: a permission; whoever does not bear with
             its use gets a warning, never a failure
  Basis      derived: it follows from what the text says
  Shows in   none: nowhere

How it is judged
  Not judged.

Why it cannot be judged
  Nobody sees it.

Judged by
  no scenario: nothing that can be observed decides it

The usual bug
  A copy is refused.
`,
	}
	for id, want := range pages {
		clause, _ := c.Clause(id)
		var out strings.Builder
		if err := Clause(&out, plain, c, clause, index, repeat); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", id, diff)
		}
	}
}

func TestReadingPage(t *testing.T) {
	c := load(t)
	pages := map[string]string{
		"R-1": `R-1  what touching is

  Writing is.

  verb   touches
  write  yes, always and in every case that one can think of
  read   no

  Kind       reading: the text leaves this open; this is
             what we take it to say
  Basis      assumed: the text is silent; a violation of it
             is a warning, under --strict a failure
  Arises in  S1 keeping

Clauses that rest on it
  S1-2  Nothing is touched.
`,
		"F-1": `F-1  harm

  It hurts.

  Kind       finding: a defect of the specification, not of
             an implementation
`,
	}
	for id, want := range pages {
		r, _ := c.Reading(id)
		var out strings.Builder
		if err := Reading(&out, plain, c, r); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", id, diff)
		}
	}
}

// TestColourChangesNothingElse: widths are computed before colour comes in.
func TestColourChangesNothingElse(t *testing.T) {
	c := load(t)
	var coloured, bare strings.Builder
	layout := plain
	layout.Colour = true
	for _, clause := range c.Clauses() {
		if err := Clause(&coloured, layout, c, clause, index, repeat); err != nil {
			t.Fatal(err)
		}
		if err := Clause(&bare, plain, c, clause, index, repeat); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(coloured.String(), "\x1b[") {
		t.Error("no colour")
	}
	if diff := cmp.Diff(bare.String(), withoutEscapes(coloured.String())); diff != "" {
		t.Error(diff)
	}
}

func withoutEscapes(s string) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(s, "\x1b[")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		_, s, _ = strings.Cut(rest, "m")
	}
}

// TestEntriesHaveEveryKey: readers of the JSON form need no special case for
// what a clause does not have.
func TestEntriesHaveEveryKey(t *testing.T) {
	c := load(t)
	encoded, err := json.Marshal(Entries(c, c.Clauses(), index))
	if err != nil {
		t.Fatal(err)
	}
	var entries []map[string]any
	if err := json.Unmarshal(encoded, &entries); err != nil {
		t.Fatal(err)
	}
	keys := []string{"id", "section", "title", "level", "keyword", "basis", "violation", "subject", "says", "observe", "check",
		"defect", "suites", "untestable", "question", "readings", "same_as", "state", "scenarios"}
	for _, e := range entries {
		for _, key := range keys {
			if v, ok := e[key]; !ok || v == nil {
				t.Errorf("%v: key %q is missing or null", e["id"], key)
			}
		}
		if len(e) != len(keys) {
			t.Errorf("%v has %d keys, want %d", e["id"], len(e), len(keys))
		}
	}
	for i, want := range []struct{ violation, state string }{{"fail", "judged"}, {"warn", "not-judged"}, {"warn", "untestable"}} {
		if entries[i]["violation"] != want.violation || entries[i]["state"] != want.state {
			t.Errorf("entry %d: %v, %v, want %+v", i, entries[i]["violation"], entries[i]["state"], want)
		}
	}
	if got := entries[0]["same_as"].([]any); len(got) != 1 || got[0] != "S1-2" {
		t.Errorf("same_as of S1-1 is %v; the relation holds both ways", got)
	}
}

// TestNoLineIsWiderThanAsked, as long as no single word is.
func TestNoLineIsWiderThanAsked(t *testing.T) {
	c := load(t)
	for width := 10; width <= 120; width++ {
		var out strings.Builder
		layout := page.Layout{Width: width}
		if err := List(&out, layout, c, c.Clauses(), index); err != nil {
			t.Fatal(err)
		}
		for _, r := range c.Readings() {
			if err := Reading(&out, layout, c, r); err != nil {
				t.Fatal(err)
			}
		}
		for line := range strings.Lines(out.String()) {
			limit := max(width, 40)
			if strings.Contains(line, " clauses: ") {
				continue // the line of counts is for machines to read too, and is not wrapped
			}
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > limit {
				t.Fatalf("width %d: %d characters: %q", width, n, line)
			}
		}
	}
}
