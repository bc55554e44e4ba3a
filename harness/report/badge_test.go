package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// The fields that an endpoint may answer, by the documentation of Shields.
type endpoint struct {
	SchemaVersion int    `json:"schemaVersion"`
	Label         string `json:"label"`
	Message       string `json:"message"`
	Color         string `json:"color"`
	LabelColor    string `json:"labelColor"`
	IsError       bool   `json:"isError"`
	NamedLogo     string `json:"namedLogo"`
	LogoSvg       string `json:"logoSvg"`
	LogoColor     string `json:"logoColor"`
	LogoSize      string `json:"logoSize"`
	Style         string `json:"style"`
	CacheSeconds  int    `json:"cacheSeconds"`
}

func TestBadgeGolden(t *testing.T) {
	for name, r := range map[string]*Result{"forms": everyForm(), "cut_short": cutShort(), "kept": kept()} {
		dec := json.NewDecoder(bytes.NewReader(rendered(t, "badge", "badge.json", name+"_badge.json", r)))
		dec.DisallowUnknownFields()
		var e endpoint
		if err := dec.Decode(&e); err != nil || e.SchemaVersion != 1 || e.Label == "" || e.Message == "" || colours[e.Color] == "" {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
		svg := string(rendered(t, "badge", "dir/Badge.SVG", name+"_badge.svg", r))
		if texts := textsOfSVG(t, svg); !strings.Contains(texts, e.Label) || !strings.Contains(texts, e.Message) {
			t.Errorf("%s: the picture says %q, not %q", name, texts, e.Message)
		}
		for _, loads := range []string{"href", "url(http", "<script", "<image", "<style"} {
			if strings.Contains(svg, loads) {
				t.Errorf("%s: the picture has %s", name, loads)
			}
		}
	}
}

// textsOfSVG reads the picture as XML.
func textsOfSVG(t *testing.T, svg string) string {
	t.Helper()
	var texts strings.Builder
	inText := false
	for dec := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return texts.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if token.Name.Space != "http://www.w3.org/2000/svg" {
				t.Errorf("element %v", token.Name)
			}
			inText = token.Name.Local == "text"
		case xml.EndElement:
			inText = false
		case xml.CharData:
			if inText {
				texts.Write(token)
			}
		}
	}
}

// TestBadgeClaims: green is for what was judged and kept, and for nothing else.
func TestBadgeClaims(t *testing.T) {
	base := func(change func(*Result)) *Result {
		r := &Result{
			Suite: "runtime", Subject: Subject{Name: "x"}, Specification: "acme v1", Complete: true,
			Requirements: Requirements{Set: "v1.0", Clauses: 4, Musts: 3},
			Clauses:      []Clause{{Level: "MUST", Verdict: Pass}, {Level: "MUST NOT", Verdict: Pass}, {Level: "MUST", Verdict: Pass}, {Level: "SHOULD", Verdict: Warn}, {Level: "MUST", Verdict: Untestable}},
		}
		change(r)
		r.Count()
		return r
	}
	for name, tc := range map[string]struct {
		change  func(*Result)
		message string
		colour  string
	}{
		"all are kept":      {func(*Result) {}, "v1.0 · 3/3 MUST", "brightgreen"},
		"no released set":   {func(r *Result) { r.Requirements = Requirements{} }, "3/3 MUST", "brightgreen"},
		"one not exercised": {func(r *Result) { r.Clauses[0].Verdict = NotExercised }, "v1.0 · 2/3 MUST", "yellowgreen"},
		"one not judged":    {func(r *Result) { r.Clauses[0].Verdict = NotJudged }, "v1.0 · 2/3 MUST", "yellowgreen"},
		"an assumed one":    {func(r *Result) { r.Clauses[0].Verdict = Warn }, "v1.0 · 2/3 MUST", "yellowgreen"},
		"a failure":         {func(r *Result) { r.Clauses[0].Verdict = Fail }, "v1.0 · 2/3 MUST · not conforming", "red"},
		"unstable":          {func(r *Result) { r.Clauses[0].Verdict, r.Clauses[0].Runs = Unstable, []Verdict{Pass, Fail} }, "v1.0 · 2/3 MUST · not conforming", "red"},
		"a known failure":   {func(r *Result) { r.Clauses[0].Verdict, r.Clauses[0].Known = Fail, "later" }, "v1.0 · 2/3 MUST · 1 known failure", "orange"},
		"a gone failure":    {func(r *Result) { r.Known = &KnownFailures{Entries: []KnownFailure{{State: KnownPasses}}} }, "v1.0 · 3/3 MUST · known failures outdated", "orange"},
		"interrupted":       {func(r *Result) { r.Complete = false }, "v1.0 · incomplete", "lightgrey"},
		"interrupted, bad":  {func(r *Result) { r.Complete, r.Clauses[0].Verdict = false, Fail }, "v1.0 · incomplete", "lightgrey"},
		"the suite broke":   {func(r *Result) { r.Clauses[0].Verdict = Error }, "v1.0 · incomplete", "lightgrey"},
		"given up":          {func(r *Result) { r.Blocked, r.Clauses = "it hangs", nil }, "v1.0 · 0/3 MUST · not conforming", "red"},
		"a part":            {func(r *Result) { r.Selection, r.Clauses = []string{"A"}, r.Clauses[:1] }, "v1.0 · partial · 1/3 MUST", "lightgrey"},
		"some left out":     {func(r *Result) { r.Skipped, r.Clauses = []string{"A"}, r.Clauses[:1] }, "v1.0 · partial · 1/3 MUST", "lightgrey"},
		"a part that fails": {func(r *Result) { r.Selection, r.Clauses[0].Verdict = []string{"A"}, Fail }, "v1.0 · partial · 2/3 MUST · not conforming", "lightgrey"},
		"another transport": {func(r *Result) { r.Clauses = append(r.Clauses, Clause{Level: "MUST", Over: "http", Verdict: Pass}) }, "v1.0 · 3/3 MUST", "brightgreen"},
	} {
		r := base(tc.change)
		b := r.badge()
		if b.Message != tc.message || b.Color != tc.colour || b.Label != "acme v1 runtime" || b.IsError == r.Standing().Succeeds() {
			t.Errorf("%s: %+v; want %q in %s", name, b, tc.message, tc.colour)
		}
	}
}
