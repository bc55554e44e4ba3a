package catalogue

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

const wordsFile = `vocabulary:
  subject: {engine: what runs, store: what keeps}
  observe: {bucket: at rest, none: nowhere}
  suites: {engine: judges engines}
`

const clausesFile = `title: Storage
sections:
- {id: S1, title: first}
- {id: S1.1, title: inner}
- {id: S2, title: second}
terms:
- {term: seed, says: what lies there before}
clauses:
- id: S1-1
  level: MUST
  keyword: indicative
  subject: [engine]
  basis: stated
  says: >-
    It is
    kept.
  observe: [bucket]
  check: As in S1.1-2.
  defect: It is lost.
  suites: [engine]
- id: S1.1-2
  level: SHOULD NOT
  keyword: stated
  subject: [engine, store]
  basis: assumed
  says: It is not touched.
  observe: [bucket]
  check: By R-01.
  defect: It is touched.
  suites: [engine]
  same_as: [S1, S2-1]
  readings: [R-01]
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
  question: Does V-2 count?
`

const readingsFile = `readings:
- id: R-01
  title: what lies there
  kind: reading
  basis: mixed
  sections: [S1.1]
  text: See S1-1.
  table:
    columns: [a, b]
    rows:
    - [x, y]
- {id: F-1, title: harm, kind: finding, basis: derived, sections: [], text: It hurts.}
`

var loadOrder = []string{"words.yaml", "clauses.yaml", "readings.yaml"}

func bundle() fstest.MapFS {
	return fstest.MapFS{
		"words.yaml":    {Data: []byte(wordsFile)},
		"clauses.yaml":  {Data: []byte(clausesFile)},
		"readings.yaml": {Data: []byte(readingsFile)},
	}
}

func mustLoad(t *testing.T, files fs.FS) *Catalogue {
	t.Helper()
	c, err := Load(files, loadOrder...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestLoad(t *testing.T) {
	c := mustLoad(t, bundle())
	clause, ok := c.Clause("S1.1-2")
	if !ok {
		t.Fatal("S1.1-2 is not there")
	}
	want := &Clause{
		ID: "S1.1-2", Section: "S1.1", Level: ShouldNot, Keyword: "stated", Subject: []string{"engine", "store"},
		Basis: Assumed, Says: "It is not touched.", Observe: []string{"bucket"}, Check: "By R-01.",
		Defect: "It is touched.", Suites: []string{"engine"}, SameAs: []string{"S1", "S2-1"},
		Readings: []string{"R-01"}, File: "clauses.yaml", Line: 21,
	}
	if diff := cmp.Diff(want, clause); diff != "" {
		t.Errorf("clause (-want +got):\n%s", diff)
	}
	if got := c.Clauses()[0].Says; got != "It is kept." {
		t.Errorf("folded prose is %q", got)
	}
	if diff := cmp.Diff([]string{"S1-1", "S1.1-2", "S2-1"}, c.ClauseIDs()); diff != "" {
		t.Errorf("order of the text: %s", diff)
	}
	if s, ok := c.Section("S1.1"); !ok || s != (Section{"S1.1", "inner", "Storage"}) {
		t.Errorf("section %+v, %v", s, ok)
	}
	r, ok := c.Reading("R-01")
	if !ok || r.Table == nil || r.Table.Rows[0][1] != "y" || r.Line != 2 {
		t.Errorf("reading %+v, %v", r, ok)
	}
	if got := c.Meaning("suites", "engine"); got != "judges engines" {
		t.Errorf("meaning %q", got)
	}
	if diff := cmp.Diff([]Term{{Term: "seed", Says: "what lies there before"}}, c.Terms("clauses.yaml")); diff != "" {
		t.Errorf("terms: %s", diff)
	}
}

func TestSameRuleHoldsBothWays(t *testing.T) {
	c := mustLoad(t, bundle())
	for id, want := range map[string][]string{"S1-1": nil, "S1.1-2": {"S1", "S2-1"}, "S2-1": {"S1.1-2"}} {
		if diff := cmp.Diff(want, c.SameRule(id)); diff != "" {
			t.Errorf("%s: %s", id, diff)
		}
	}
}

func TestFailsOrWarns(t *testing.T) {
	for _, tt := range []struct {
		level Level
		basis Basis
		fails bool
	}{
		{Must, Stated, true}, {MustNot, Derived, true}, {Must, Assumed, false},
		{Should, Stated, false}, {ShouldNot, Derived, false}, {May, Stated, false},
	} {
		if got := (&Clause{Level: tt.level, Basis: tt.basis}).Fails(); got != tt.fails {
			t.Errorf("%s, %s: fails = %v", tt.level, tt.basis, got)
		}
	}
}

// TestDigest: what is said counts, where it stands does not.
func TestDigest(t *testing.T) {
	base := mustLoad(t, bundle()).Digest()
	if len(base) != 64 {
		t.Fatalf("digest %q", base)
	}
	edit := func(old, new string) string {
		files := bundle()
		files["clauses.yaml"].Data = []byte(strings.Replace(clausesFile, old, new, 1))
		return mustLoad(t, files).Digest()
	}
	if edit("clauses:", "# a remark\n\nclauses:") != base {
		t.Error("a comment changes the digest")
	}
	for _, change := range [][2]string{
		{"It is lost", "It was lost"}, {"level: MAY", "level: MUST"}, {"title: inner", "title: outer"}, {"[S1, S2-1]", "[S2-1]"},
	} {
		if edit(change[0], change[1]) == base {
			t.Errorf("%q → %q does not change the digest", change[0], change[1])
		}
	}
}

// TestLoadRefuses plants one fault each and wants it named at its place.
func TestLoadRefuses(t *testing.T) {
	tests := []struct {
		name, file, old, new string
		want                 string
	}{
		{"unknown key", "clauses.yaml", "  defect: It is lost.", "  bug: none\n  defect: It is lost.", `clauses.yaml:19: clause S1-1: unknown key "bug"`},
		{"key twice", "clauses.yaml", "  defect: It is lost.", "  defect: It is lost.\n  defect: Again.", `clauses.yaml:20: clause S1-1: key "defect" twice`},
		{"missing key", "clauses.yaml", "  defect: It is lost.\n", "", `clauses.yaml:9: clause S1-1: key "defect" is missing`},
		{"empty value", "clauses.yaml", "defect: It is lost.", `defect: ""`, `clauses.yaml:19: clause S1-1: "defect" is empty`},
		{"null value", "clauses.yaml", "defect: It is lost.", `defect: ~`, `clauses.yaml:19: clause S1-1: "defect" is empty`},
		{"list for a string", "clauses.yaml", "defect: It is lost.", `defect: [a]`, `clauses.yaml:19: clause S1-1: "defect" is not a string`},
		{"string for a list", "clauses.yaml", "suites: [engine]", `suites: engine`, `clauses.yaml:20: suites is not a list`},
		{"several lines", "clauses.yaml", "says: >-", "says: |-", `clauses.yaml:14: clause S1-1: "says" has more than one line`},
		{"level", "clauses.yaml", "level: MAY", "level: may", `clauses.yaml:34: clause S2-1: "level" is "may", not one of MUST, MUST NOT, SHOULD, SHOULD NOT, MAY`},
		{"keyword", "clauses.yaml", "keyword: indicative", "keyword: implied", `clauses.yaml:11: clause S1-1: "keyword" is "implied", not one of stated, indicative`},
		{"basis", "clauses.yaml", "basis: derived", "basis: mixed", `clauses.yaml:37: clause S2-1: "basis" is "mixed", not one of stated, derived, assumed`},
		{"word outside the vocabulary", "clauses.yaml", "observe: [bucket]", "observe: [pail]", `clauses.yaml:9: clause S1-1: "pail" is not in the vocabulary of observe`},
		{"word twice", "clauses.yaml", "subject: [engine, store]", "subject: [engine, engine]", `clauses.yaml:24: clause S1.1-2: "subject" has "engine" twice`},
		{"empty subject", "clauses.yaml", "subject: [engine, store]", "subject: []", `clauses.yaml:21: clause S1.1-2: subject is empty`},
		{"empty optional list", "clauses.yaml", "same_as: [S1, S2-1]", "same_as: []", `clauses.yaml:31: clause S1.1-2: "same_as" is empty; leave it out`},
		{"malformed clause ID", "clauses.yaml", "- id: S1-1", "- id: S1-01", `clauses.yaml:9: "S1-01" is no clause ID such as S6.3-1`},
		{"undeclared section", "clauses.yaml", "- id: S2-1", "- id: S3-1", `clauses.yaml:33: clause S3-1: section S3 is not declared`},
		{"clause twice", "clauses.yaml", "- id: S1.1-2", "- id: S1-1", `clauses.yaml:21: S1-1 is already declared at clauses.yaml:9`},
		{"clauses out of order", "clauses.yaml", "- id: S1-1", "- id: S1.1-3", `clauses.yaml:21: clause S1.1-2 comes after S1.1-3`},
		{"sections out of order", "clauses.yaml", "- {id: S2, title: second}\n", "- {id: S1.0, title: zero}\n- {id: S2, title: second}\n", `clauses.yaml:5: section S1.0 comes after S1.1`},
		{"section without clauses", "clauses.yaml", "- {id: S2, title: second}\n", "- {id: S2, title: second}\n- {id: S4, title: bare}\n", `clauses.yaml:6: section S4 has no clause`},
		{"malformed section ID", "clauses.yaml", "- {id: S2, title: second}\n", "- {id: S2, title: second}\n- {id: S2., title: bad}\n", `clauses.yaml:6: "S2." is no section ID such as S6.3`},
		{"same_as to nowhere", "clauses.yaml", "same_as: [S1, S2-1]", "same_as: [S1, S2-2]", `clauses.yaml:21: clause S1.1-2: same_as names S2-2, which is neither a section nor a clause`},
		{"same_as to itself", "clauses.yaml", "same_as: [S1, S2-1]", "same_as: [S1.1]", `clauses.yaml:21: clause S1.1-2: same_as names itself (S1.1)`},
		{"reading that is not there", "clauses.yaml", "readings: [R-01]", "readings: [R-01, R-02]", `clauses.yaml:21: clause S1.1-2: there is no reading R-02`},
		{"prose names a clause that is not there", "clauses.yaml", "As in S1.1-2.", "As in S1.1-7.", `clauses.yaml:9: clause S1-1 mentions S1.1-7, which does not exist`},
		{"prose names a reading that is not there", "clauses.yaml", "Nobody sees it.", "By R-09 nobody.", `clauses.yaml:33: clause S2-1 mentions reading R-09, which does not exist`},
		{"prose names a reading that is not listed", "clauses.yaml", "Nobody sees it.", "By F-1 nobody.", `clauses.yaml:33: clause S2-1 mentions reading F-1 and does not list it`},
		{"no suite, no reason", "clauses.yaml", "  observe: [bucket]\n  check: By R-01.\n  defect: It is touched.\n  suites: [engine]\n", "  observe: [bucket]\n  check: By R-01.\n  defect: It is touched.\n  suites: []\n", `clauses.yaml:21: clause S1.1-2 has no suite and does not say why it is untestable`},
		{"nowhere, no reason", "clauses.yaml", "  untestable: Nobody sees it.\n", "", `clauses.yaml:33: clause S2-1 is observed nowhere and does not say why it is untestable`},
		{"nowhere, but judged", "clauses.yaml", "suites: []", "suites: [engine]", `clauses.yaml:33: clause S2-1 is observed nowhere, but engine judges it`},
		{"somewhere and nowhere", "clauses.yaml", "observe: [none]", "observe: [none, bucket]", `clauses.yaml:33: clause S2-1 is observed both somewhere and nowhere`},
		{"assumed, nothing to lean on", "clauses.yaml", "  basis: stated", "  basis: assumed", `clauses.yaml:9: clause S1-1 is assumed, but names no reading and no question`},
		{"unknown key of a file", "clauses.yaml", "title: Storage", "title: Storage\nauthor: me", `clauses.yaml:2: the file: unknown key "author"`},
		{"section, file without a title", "words.yaml", "vocabulary:", "sections: [{id: A1, title: x}]\nvocabulary:", `words.yaml:1: the file of section A1 has no title`},
		{"clause that is no mapping", "clauses.yaml", "clauses:\n", "clauses:\n- just text\n", `clauses.yaml:9: clause without id is not a mapping`},
		{"no vocabulary", "words.yaml", wordsFile, "terms: []\n", `clauses.yaml:1: no file declares the vocabulary of suites`},
		{"unknown vocabulary", "words.yaml", "  subject:", "  colour: {red: r}\n  subject:", `words.yaml:2: vocabulary: unknown key "colour"`},
		{"word without a meaning", "words.yaml", "engine: judges engines", `engine: ""`, `words.yaml:4: vocabulary of suites: "engine" is empty`},
		{"kind of a reading", "readings.yaml", "kind: finding", "kind: note", `readings.yaml:12: reading F-1: "kind" is "note", not one of reading, finding`},
		{"malformed reading ID", "readings.yaml", "id: F-1", "id: F1", `readings.yaml:12: "F1" is no reading ID such as R-20`},
		{"readings out of order", "readings.yaml", "id: F-1", "id: R-00", `readings.yaml:12: "R-00" is no reading ID such as R-20`},
		{"reading in a section that is not there", "readings.yaml", "sections: [S1.1]", "sections: [S9]", `readings.yaml:2: reading R-01: there is no section S9`},
		{"reading names a clause that is not there", "readings.yaml", "See S1-1.", "See S1-7.", `readings.yaml:2: reading R-01 mentions S1-7, which does not exist`},
		{"cells", "readings.yaml", "[x, y]", "[x]", `readings.yaml:11: reading R-01, table: 1 cells for 2 columns`},
		{"not YAML", "readings.yaml", "    rows:", "    rows: [", `readings.yaml:`},
		{"two documents", "readings.yaml", "readings:\n", "readings: []\n---\nreadings:\n", `readings.yaml:2: more than one document in the file`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files := bundle()
			before := string(files[tt.file].Data)
			after := strings.Replace(before, tt.old, tt.new, 1)
			if after == before {
				t.Fatalf("%q is not in the file", tt.old)
			}
			files[tt.file].Data = []byte(after)
			_, err := Load(files, loadOrder...)
			var problems Problems
			if !errors.As(err, &problems) {
				t.Fatalf("error %v, want Problems", err)
			}
			if !strings.Contains(problems.Error(), tt.want) {
				t.Errorf("problems:\n%v\nwant\n%s", problems, tt.want)
			}
		})
	}
}

func TestLoadReportsEverythingInOrder(t *testing.T) {
	files := bundle()
	files["clauses.yaml"].Data = []byte(strings.NewReplacer("level: MUST", "level: MUSTN'T", "readings: [R-01]", "readings: [R-01, R-77]", "id: S1-1", "id: S1-1\n  extra: 1").Replace(clausesFile))
	files["words.yaml"].Data = []byte(wordsFile + "  colour: {}\n")
	files["readings.yaml"].Data = []byte(strings.Replace(readingsFile, "kind: finding, ", "", 1))
	_, err := Load(files, loadOrder...)
	var problems Problems
	if !errors.As(err, &problems) {
		t.Fatalf("error %v, want Problems", err)
	}
	var places []string
	for _, p := range problems {
		places = append(places, strings.SplitAfter(p.String(), ": ")[0])
	}
	want := []string{"words.yaml:5: ", "clauses.yaml:10: ", "clauses.yaml:11: ", "clauses.yaml:22: ", "readings.yaml:12: "}
	if diff := cmp.Diff(want, places); diff != "" {
		t.Errorf("places (-want +got):\n%s\n%v", diff, problems)
	}
}

func TestAnAssumptionMayLeanOnItsQuestion(t *testing.T) {
	files := bundle()
	files["clauses.yaml"].Data = []byte(strings.Replace(clausesFile, "basis: derived", "basis: assumed", 1))
	mustLoad(t, files)
}

func TestLoadWithoutAFile(t *testing.T) {
	if _, err := Load(bundle(), "words.yaml", "nowhere.yaml"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want fs.ErrNotExist", err)
	}
}

func TestMentions(t *testing.T) {
	got := Mentions("S6.3-1, (P10-11) and R-05; not SHA-256, UTF-8, V-x, xS1-1, S1-1a, S6.3- or S.1-1; S1.-2; F-2.")
	if diff := cmp.Diff([]string{"S6.3-1", "P10-11", "R-05", "F-2"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestTermIn(t *testing.T) {
	for _, tt := range []struct {
		term  Term
		prose string
		want  bool
	}{
		{Term{Term: "v"}, "from v=3 on", true},
		{Term{Term: "v"}, "version 3 of V", false},
		{Term{Term: "seed"}, "seeded seeds", false},
		{Term{Term: "seed", Forms: []string{"seed", "seeded"}}, "a seeded one", true},
		{Term{Term: "Guard", Forms: []string{"Guard:"}}, "Guard: it was", true},
		{Term{Term: "Guard", Forms: []string{"Guard:"}}, "Guards of Guard", false},
		{Term{Term: "new state"}, "the new state has", true},
		{Term{Term: "T"}, "", false},
	} {
		if got := tt.term.In(tt.prose); got != tt.want {
			t.Errorf("%q in %q: %v", tt.term.Term, tt.prose, got)
		}
	}
}

func TestTermsOfFilesWithoutClausesAreShared(t *testing.T) {
	files := bundle()
	files["words.yaml"].Data = []byte(wordsFile + "terms:\n- {term: run, says: one go}\n")
	got := mustLoad(t, files).Terms("clauses.yaml")
	if len(got) != 2 || got[0].Term != "seed" || got[1].Term != "run" {
		t.Errorf("terms %+v", got)
	}
}

func TestSectionOrder(t *testing.T) {
	ordered := []string{"P2", "P10", "S6", "S6.1", "S6.2", "S6.10", "S6.10.1", "S7"}
	for i := 1; i < len(ordered); i++ {
		if compareSections(ordered[i-1], ordered[i]) >= 0 {
			t.Errorf("%s is not before %s", ordered[i-1], ordered[i])
		}
	}
}

func TestState(t *testing.T) {
	index := Index{"S1-1": {{"S1/kept", "engine"}}, "S2-2": {{"S2/part", "engine"}}}
	for _, tt := range []struct {
		clause Clause
		want   State
	}{
		{Clause{ID: "S1-1"}, Judged},
		{Clause{ID: "S1-2"}, NotJudged},
		{Clause{ID: "S2-1", Untestable: "why"}, Untestable},
		{Clause{ID: "S2-2", Untestable: "only in part"}, Judged},
	} {
		if got := index.State(&tt.clause); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.clause.ID, got, tt.want)
		}
	}
}
