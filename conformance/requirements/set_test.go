package requirements

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/pugcheck/pugcheck/conformance/catalogue"
)

// entry is a clause of a test catalogue: ID, level, basis and demand.
type entry struct{ id, level, basis, says string }

func load(t *testing.T, entries ...entry) *catalogue.Catalogue {
	t.Helper()
	var b strings.Builder
	b.WriteString("title: Storage\nsections:\n- {id: S1, title: first}\nclauses:\n")
	for _, c := range entries {
		fmt.Fprintf(&b, "- {id: %s, level: %s, keyword: stated, subject: [engine], basis: %s, says: %s, observe: [bucket], check: Looked at., defect: Lost., suites: [engine], question: is it so}\n", c.id, c.level, c.basis, c.says)
	}
	words := "vocabulary:\n  subject: {engine: what runs}\n  observe: {bucket: at rest}\n  suites: {engine: judges engines, other: judges others}\n"
	c, err := catalogue.Load(fstest.MapFS{"words.yaml": {Data: []byte(words)}, "s.yaml": {Data: []byte(b.String())}}, "words.yaml", "s.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var before = []entry{
	{"S1-1", "MUST", "stated", "It is kept."},
	{"S1-2", "SHOULD", "stated", "It is quick."},
	{"S1-3", "MUST", "assumed", "It is named x."},
	{"S1-4", "MUST NOT", "stated", "It is not lost."},
}

// judgedByEngine: all but S1-4, which nothing judges yet.
func judgedByEngine(id string) []string {
	if id == "S1-4" {
		return nil
	}
	return []string{"engine"}
}

// releasedBefore is the set of the catalogue before, read back from its text.
func releasedBefore(t *testing.T) *Set {
	t.Helper()
	text := "# a heading\n" + Of(load(t, before...), judgedByEngine).Text()
	set, err := Parse("v1.0", "v1.0.txt", text)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestTextComesBack(t *testing.T) {
	set, now := releasedBefore(t), Of(load(t, before...), judgedByEngine)
	if d := cmp.Diff(now.Entries, set.Entries); d != "" || set.Digest() != now.Digest() {
		t.Error(d, set.Digest(), now.Digest())
	}
	if e, ok := set.Entry("S1-2"); !ok || e.Level != catalogue.Should || !slices.Equal(e.Judged, []string{"engine"}) {
		t.Errorf("%+v %v", e, ok)
	}
	if _, ok := set.Entry("S1-9"); ok {
		t.Error("found a clause that is not there")
	}
	for i, change := range []entry{{"S1-1", "SHOULD", "stated", "It is kept."}, {"S1-1", "MUST", "derived", "It is kept."}, {"S1-1", "MUST", "stated", "It is kept twice."}, {"S1-9", "MUST", "stated", "It is kept."}} {
		other := slices.Clone(before)
		other[0] = change
		slices.SortFunc(other, func(a, b entry) int { return strings.Compare(a.id, b.id) })
		if Of(load(t, other...), judgedByEngine).Digest() == set.Digest() {
			t.Errorf("change %d does not show in the digest", i)
		}
	}
}

func TestParseErrors(t *testing.T) {
	const good = "S1-1 MUST stated 0123456789abcdef engine\n"
	for text, want := range map[string]string{
		"# nothing\n":                "v.txt: a set without clauses",
		"S1-1 MUST stated 0123\n":    "v.txt:1: 4 words",
		good + "\n":                  "v.txt:2: 1 words",
		good + good:                  "v.txt:2: S1-1 stands there twice",
		"#\nS1-1 must stated 01 -\n": `v.txt:2: S1-1: there is no level "must"`,
		"S1-1 MUST maybe 01 -\n":     `v.txt:1: S1-1: there is no basis "maybe"`,
		"S1-1 MUST stated 01 -\n":    `v.txt:1: S1-1: "01" is no digest`,
		"S1-1 MUST mixed 01234567 -": `there is no basis "mixed"`,
	} {
		if _, err := Parse("v", "v.txt", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestGrownCatalogue: what came later, or was not judged, or was raised, weighs no more than it did.
func TestGrownCatalogue(t *testing.T) {
	set := releasedBefore(t)
	now := load(t, entry{"S1-1", "SHOULD", "stated", "It is kept."}, entry{"S1-2", "MUST", "stated", "It is quick."}, entry{"S1-3", "MUST", "stated", "It is named x."},
		entry{"S1-4", "MUST NOT", "stated", "It is not lost."}, entry{"S1-5", "MUST", "stated", "It is new."})
	if err := set.Amend(now, nil); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]struct {
		outside string
		level   catalogue.Level
		basis   catalogue.Basis
	}{
		"S1-1": {"", catalogue.Should, catalogue.Stated}, // lowered: the correction holds for all
		"S1-2": {"", catalogue.Should, catalogue.Stated}, // raised
		"S1-3": {"", catalogue.Must, catalogue.Assumed},  // found out to be stated
		"S1-4": {"not judged by the engine suite when v1.0 was released", catalogue.MustNot, catalogue.Stated},
		"S1-5": {"new since v1.0", catalogue.Must, catalogue.Stated},
	} {
		clause, _ := now.Clause(id)
		level, basis := set.Level(clause)
		if got := set.Outside(id, "engine", true); got != want.outside || level != want.level || basis != want.basis {
			t.Errorf("%s: outside %q, %s, %s; want %+v", id, got, level, basis, want)
		}
	}
	if why := set.Outside("S1-4", "engine", false); why != "" {
		t.Errorf("what nothing judges, then and now, is in the set: %s", why)
	}
	if why := set.Outside("S1-1", "other", true); why != "not judged by the other suite when v1.0 was released" {
		t.Error(why)
	}
}

// TestAmend: every difference between a released set and the catalogue has to be explained.
func TestAmend(t *testing.T) {
	reworded := slices.Clone(before)
	reworded[0].says = "It stays."
	gone := slices.Clone(before)[1:]
	moved := append(slices.Clone(gone), entry{"S1-9", "MUST", "stated", "It is kept."})
	v1 := []string{"v1.0"}
	for name, tc := range map[string]struct {
		now     []entry
		changes []Change
		want    string
	}{
		"as it was":           {before, nil, ""},
		"for another set":     {before, []Change{{Clause: "S1-1", Kind: Removed, Sets: []string{"v1.1"}, Why: "w"}}, ""},
		"reworded":            {reworded, []Change{{Clause: "S1-1", Kind: Reworded, Sets: v1, Why: "w"}}, ""},
		"extended":            {reworded, []Change{{Clause: "S1-1", Kind: Extended, Sets: v1, Why: "w"}}, ""},
		"replaced":            {moved, []Change{{Clause: "S1-1", Kind: Replaced, By: "S1-9", Sets: v1, Why: "w"}}, ""},
		"removed":             {gone, []Change{{Clause: "S1-1", Kind: Removed, Sets: v1, Why: "w"}}, ""},
		"reworded in silence": {reworded, nil, "S1-1 demands something else than it did"},
		"gone in silence":     {gone, nil, "S1-1 is gone, and no change"},
		"gone, but reworded":  {gone, []Change{{Clause: "S1-1", Kind: Reworded, Sets: v1, Why: "w"}}, `S1-1 is gone, and its change is told as "reworded"`},
		"there, but removed":  {before, []Change{{Clause: "S1-1", Kind: Removed, Sets: v1, Why: "w"}}, "S1-1 is still there"},
		"nothing to explain":  {before, []Change{{Clause: "S1-1", Kind: Reworded, Sets: v1, Why: "w"}}, "S1-1 demands what it did"},
		"replaced by nothing": {gone, []Change{{Clause: "S1-1", Kind: Replaced, By: "S1-9", Sets: v1, Why: "w"}}, `S1-1 is replaced by "S1-9", which is no clause`},
		"unknown kind":        {reworded, []Change{{Clause: "S1-1", Kind: "better", Sets: v1, Why: "w"}}, `unknown kind "better"`},
		"without a reason":    {reworded, []Change{{Clause: "S1-1", Kind: Reworded, Sets: v1}}, "without a reason"},
		"of no clause":        {before, []Change{{Clause: "S1-7", Kind: Removed, Sets: v1, Why: "w"}}, "a change of S1-7 is told, which is not in the set"},
	} {
		err := releasedBefore(t).Amend(load(t, tc.now...), tc.changes)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}

	set := releasedBefore(t)
	if err := set.Amend(load(t, reworded...), []Change{{Clause: "S1-1", Kind: Extended, Sets: v1, Why: "it stays for ever now"}}); err != nil {
		t.Fatal(err)
	}
	if why := set.Outside("S1-1", "engine", true); why != "demands more since v1.0: it stays for ever now" {
		t.Error(why)
	}
	set = releasedBefore(t)
	digest := set.Digest()
	if err := set.Amend(load(t, moved...), []Change{{Clause: "S1-1", Kind: Replaced, By: "S1-9", Sets: v1, Why: "w"}}); err != nil {
		t.Fatal(err)
	}
	if why := set.Outside("S1-9", "engine", true); why != "" || set.Digest() != digest {
		t.Errorf("the clause that took the place of another does not count (%s), or the set changed", why)
	}
}

func TestJudged(t *testing.T) {
	judged := Judged(catalogue.Index{"A": {{Scenario: "x", Suite: "engine"}, {Scenario: "y", Suite: "engine"}}}, map[string][]string{"other": {"A", "B"}})
	set := Of(load(t, before...), func(string) []string { return judged("A") })
	if got := set.Entries[0].Judged; !slices.Equal(got, []string{"engine", "other"}) {
		t.Error(got)
	}
	if got := judged("B"); !slices.Equal(got, []string{"other"}) {
		t.Error(got)
	}
}
