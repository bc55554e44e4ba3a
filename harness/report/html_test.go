package report

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// told is everyKind with all that a page shows and a terminal does not: timelines,
// known failures, repeated runs, what judging means.
func told() *Result {
	r := everyKind()
	r.Requirements = Requirements{Set: "v1.0", Digest: strings.Repeat("0e7fde93", 8), Clauses: 12}
	r.Repeats, r.Subject.Transports = 3, []string{"subprocess", "http"}
	r.Versions["catalogue"] = strings.Repeat("ab", 32)
	for i := range r.Clauses {
		r.Clauses[i].Check = "What " + r.Clauses[i].ID + " says is looked for in every request."
	}
	r.Clauses[2].Known = "mended in the next release"
	r.Known = &KnownFailures{File: "known.yaml", Entries: []KnownFailure{
		{Clause: "A1.1-1", Verdict: Fail, Reason: "mended in the next release", Messages: []string{"no condition"}, Line: 3, State: KnownHolds},
		{Clause: "A1-1", Verdict: Fail, Reason: "was so once", Line: 7, State: KnownPasses, Advice: "delete lines 7 to 9: A1-1 passes"},
		{Capability: "http", Verdict: Fail, Reason: "not built", Line: 11, State: KnownOutside},
	}}
	r.Clauses = slices.Insert(r.Clauses, 5, Clause{
		ID: "A1.1-4", Section: "A1.1", Level: "MUST", Basis: "stated", Verdict: Unstable, Requirement: "The same is written twice.",
		Reason: "run 2 differs", Runs: []Verdict{Pass, Fail, Pass}, Scenarios: []string{"A2/names"},
		Evidence: []Evidence{{Scenario: "A2/names", Verdict: Fail, Acceptable: "twice", Seen: "once", Runs: []int{2}}},
	})
	r.Specification = "acme v1"
	r.Clauses[0].Over = "http"
	r.Beyond = []Clause{{ID: "A3-1", Section: "A3", Level: "MUST", Basis: "stated", Verdict: Fail, Requirement: "It is new.", Outside: "added after v1.0", Scenarios: []string{"A1/order"},
		Evidence: []Evidence{{Scenario: "A1/order", Verdict: Fail, Acceptable: "new", Seen: "old"}}}}
	order := r.scenario("A1/order")
	order.Artifacts = "artifacts/A1/order"
	order.Timeline = []Event{
		{0, "suite", "the bucket is laid out: 3 objects", ""},
		{2.25, "suite", "start of the subject", "./x run --bucket s3://b"},
		{14.5, "s3", "GET /b/list?prefix=log/ → 200", "HTTP/1.1\nhost: 127.0.0.1\naccept: */*\n\n<list/>\n"},
		{18.75, "handler", "stdin: 34 bytes", `{"event":"announce","url":"http://127.0.0.1:1/"}`},
		{19, "handler", "stdout: 12 bytes", "a\nb\nc\n"},
		{21, "s3", "PUT /b/log/2 (no condition) → 200", strings.Repeat("0123456789abcdef", 64)},
		{30, "subject", "stderr: 33 bytes", "\x1b[31mwarning\x1b[0m: retrying"},
		{35, "elsewhere", "something that no lane is for", ""},
		{1234.5, "subject", "exit status 0", ""},
	}
	empty := r.scenario("A1/empty")
	for i := range 15 {
		empty.Timeline = append(empty.Timeline, Event{float64(i), "s3", fmt.Sprintf("GET /b/%d → 404", i), ""})
	}
	r.Count()
	return r
}

// scenario is the scenario with an ID, to be changed.
func (r *Result) scenario(id string) *Scenario {
	return &r.Scenarios[slices.IndexFunc(r.Scenarios, func(sc Scenario) bool { return sc.ID == id })]
}

func parsed(t *testing.T, r *Result) (string, *html.Node) {
	t.Helper()
	data, err := r.HTML()
	if err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(strings.NewReader(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data), root
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func has(n *html.Node, name string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
}

// elements are those with one of the names, or all.
func elements(root *html.Node, names ...string) []*html.Node {
	var out []*html.Node
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && (len(names) == 0 || slices.Contains(names, n.Data)) {
			out = append(out, n)
		}
	}
	return out
}

// textOf is the text of an element in one line.
func textOf(n *html.Node) string {
	return strings.Join(strings.Fields(wholeText(n)), " ")
}

func byID(root *html.Node, id string) *html.Node {
	for _, n := range elements(root) {
		if attribute(n, "id") == id {
			return n
		}
	}
	return nil
}

// outlined writes the body as an indented outline: what holds other blocks by its name,
// id and class, and all else as text with the links in it.
func outlined(b *strings.Builder, n *html.Node, depth int) {
	inline := []string{"a", "b", "i", "span", "br", "code", "kbd", "strong", "time", "option", "label", "button", "path", "thead", "tbody"}
	blocks := false
	for c := range n.ChildNodes() {
		blocks = blocks || c.Type == html.ElementNode && !slices.Contains(inline, c.Data)
	}
	name := strings.Repeat("  ", depth) + n.Data
	if id := attribute(n, "id"); id != "" {
		name += "#" + id
	}
	for class := range strings.FieldsSeq(attribute(n, "class")) {
		name += "." + class
	}
	for _, a := range []string{"open", "hidden"} {
		if has(n, a) {
			name += " " + a
		}
	}
	b.WriteString(name)
	if !blocks {
		text := textOf(n)
		if len(text) > 160 {
			text = strings.ToValidUTF8(text[:160], "") + "…"
		}
		if text != "" {
			b.WriteString(": " + text)
		}
		for _, a := range elements(n, "a") {
			b.WriteString(" →" + attribute(a, "href"))
		}
	}
	b.WriteString("\n")
	if blocks {
		for c := range n.ChildNodes() {
			if c.Type == html.ElementNode && c.Data != "script" {
				outlined(b, c, depth+1)
			}
		}
	}
}

func TestHTMLGolden(t *testing.T) {
	_, root := parsed(t, told())
	var b strings.Builder
	outlined(&b, elements(root, "body")[0], 0)
	golden(t, "every_kind.html.txt", b.String())
}

func TestHTMLHoldsTogether(t *testing.T) {
	incomplete := told()
	incomplete.Complete, incomplete.Incomplete, incomplete.Blocked = false, "it was interrupted", "it hangs"
	for name, r := range map[string]*Result{"told": told(), "incomplete": incomplete, "empty": {}, "bare": {Clauses: []Clause{{}}, Scenarios: []Scenario{{}}}} {
		_, root := parsed(t, r)
		ids := map[string]bool{}
		for _, n := range elements(root) {
			if id := attribute(n, "id"); id != "" {
				if ids[id] {
					t.Errorf("%s: two elements are called %s", name, id)
				}
				ids[id] = true
			}
			switch {
			case n.Data == "button" && attribute(n, "type") != "button":
				t.Errorf("%s: a button that submits: %s", name, textOf(n))
			case (n.Data == "input" || n.Data == "select") && n.Parent.Data != "label":
				t.Errorf("%s: %s without a label", name, n.Data)
			}
		}
		for _, a := range elements(root, "a") {
			if id, ok := strings.CutPrefix(attribute(a, "href"), "#"); !ok || !ids[id] && name != "bare" {
				t.Errorf("%s: the link %s leads nowhere", name, attribute(a, "href"))
			}
		}
		level := 0
		for _, h := range elements(root, "h1", "h2", "h3", "h4") {
			next := int(h.Data[1] - '0')
			if next > level+1 {
				t.Errorf("%s: heading of level %d below one of level %d: %s", name, next, level, textOf(h))
			}
			level = next
		}
		if len(elements(root, "h1")) != 1 || len(elements(root, "main")) != 1 || textOf(elements(root, "title")[0]) == "" {
			t.Errorf("%s: title, h1 or main is missing", name)
		}
	}
	_, root := parsed(t, incomplete)
	if head := textOf(elements(root, "header")[0]); !strings.Contains(head, "Not everything that was selected was run. it was interrupted") ||
		!strings.Contains(head, "did not get through A1/order. it hangs") {
		t.Errorf("the head does not say what is missing: %s", head)
	}
}

func TestHTMLOfAClauseSaysEverything(t *testing.T) {
	r := told()
	_, root := parsed(t, r)
	for _, c := range append(slices.Clone(r.Clauses), r.Beyond...) {
		part := byID(root, c.ID)
		if part == nil {
			t.Errorf("%s has no part", c.ID)
			continue
		}
		text := textOf(part)
		want := []string{c.Level, c.Basis, c.Requirement, c.Check, c.Verdict.Words(), c.Reason, c.Known, c.Outside, c.Over}
		for _, id := range c.Readings {
			want = append(want, r.reading(id))
		}
		for _, e := range c.Evidence {
			want = append(want, e.Scenario, strings.Join(strings.Fields(e.Acceptable), " "), strings.Join(strings.Fields(e.Seen), " "), e.Where)
			if e.Verdict != Pass {
				want = append(want, r.scenario(e.Scenario).Repro)
			}
		}
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s does not say %q:\n%s", c.ID, w, text)
			}
		}
		for _, id := range c.Scenarios {
			if !slices.ContainsFunc(elements(part, "a"), func(a *html.Node) bool { return attribute(a, "href") == "#scenario-"+id }) {
				t.Errorf("%s does not link %s", c.ID, id)
			}
		}
	}
	for _, sc := range r.Scenarios {
		part := byID(root, "scenario-"+sc.ID)
		for _, id := range sc.Clauses {
			if !slices.ContainsFunc(elements(part, "a"), func(a *html.Node) bool { return attribute(a, "href") == "#"+id }) {
				t.Errorf("%s does not link %s", sc.ID, id)
			}
		}
		if text := textOf(part); !strings.Contains(text, sc.Title) || !strings.Contains(text, sc.Repro) || !strings.Contains(text, sc.Reason) {
			t.Errorf("%s: %s", sc.ID, text)
		}
	}
	record := byID(root, "record-A1/order")
	for at := record; at.Data != "main"; at = at.Parent {
		if at.Data == "article" && attribute(at, "id") != "A1-2" {
			t.Errorf("the timeline stands under %s", attribute(at, "id"))
		}
	}
	for _, e := range r.scenario("A1/order").Timeline {
		if shown := strings.ReplaceAll(strings.Join(strings.Fields(e.Detail), " "), "\x1b", "␛"); !strings.Contains(textOf(record), e.Text) || !strings.Contains(textOf(record), shown) {
			t.Errorf("the timeline lacks %v:\n%s", e, textOf(record))
		}
	}
	if text := textOf(byID(root, "A1.1-1")); !strings.Contains(text, "stands under A1-2") {
		t.Errorf("no link to the timeline: %s", text)
	}
}

// A page may refer to itself and to what is in it, and it may run only what the
// policy names.
func TestHTMLRefersToNothingOutside(t *testing.T) {
	text, root := parsed(t, told())
	refers := []string{"href", "src", "srcset", "action", "formaction", "poster", "data", "xlink:href", "ping", "cite", "background", "manifest", "archive", "codebase", "longdesc", "profile", "usemap"}
	for _, n := range elements(root) {
		for _, a := range n.Attr {
			if slices.Contains(refers, a.Key) && !strings.HasPrefix(a.Val, "#") && !strings.HasPrefix(a.Val, "data:") {
				t.Errorf("<%s %s=%q>", n.Data, a.Key, a.Val)
			}
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" || a.Key == "srcdoc" || a.Key == "http-equiv" && a.Val == "refresh" {
				t.Errorf("<%s %s=%q>", n.Data, a.Key, a.Val)
			}
		}
		if slices.Contains([]string{"iframe", "object", "embed", "img", "audio", "video", "source", "base", "frame", "portal", "image", "use"}, n.Data) {
			t.Errorf("<%s>", n.Data)
		}
	}
	var policy string
	for _, m := range elements(root, "meta") {
		if attribute(m, "http-equiv") == "Content-Security-Policy" {
			policy = attribute(m, "content")
		}
	}
	if !strings.HasPrefix(policy, "default-src 'none'; ") || strings.Contains(policy, "unsafe") {
		t.Errorf("policy %q", policy)
	}
	for _, name := range []string{"style", "script"} {
		for _, n := range elements(root, name) {
			sum := sha256.Sum256([]byte(n.FirstChild.Data))
			if want := name + "-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(policy, want) {
				t.Errorf("the policy %q lacks %s", policy, want)
			}
			if m := regexp.MustCompile(`(?i)url\(|@import|image-set\(|@font-face|\bfetch\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon|\bimport\b|\beval\(|innerHTML|https?:`).FindString(n.FirstChild.Data); m != "" {
				t.Errorf("%s holds %s", name, m)
			}
		}
		if len(elements(root, name)) != 1 {
			t.Errorf("%d elements %s", len(elements(root, name)), name)
		}
	}
	if strings.Contains(strings.ReplaceAll(text, "http://www.w3.org/2000/svg", ""), "href=\"http") {
		t.Error("a link leads away")
	}
}

// The sizes are those of a real suite: 542 clauses, 601 scenarios, each clause with two
// or three observations, and in the worst case everything fails with long records.
func TestHTMLKeepsToASensibleSize(t *testing.T) {
	var timeline []Event
	for j := range 300 {
		timeline = append(timeline, Event{float64(j), "s3", strings.Repeat("GET ", 30), strings.Repeat("header: value\n", 40)})
	}
	trace := []Block{{"requests", strings.Repeat("#1 PUT /b/"+strings.Repeat("k", 90)+" → 200\n", 400)}}
	long := strings.Repeat("evidence ", 12_000)
	for name, most := range map[string]int{"everything passes": 3_000_000, "everything fails": 6_000_000} {
		r := &Result{Suite: "big", Subject: Subject{Name: "x"}, Complete: true}
		for i := range 601 {
			sc := Scenario{ID: fmt.Sprintf("A%d.%d/some-scenario-%d", i/40, i/7, i), Title: strings.Repeat("words on it ", 8), Outcome: "completed", Repro: strings.Repeat("command ", 12), Clauses: []string{"A1.1-1", "A2.1-2", "A3-3"}}
			if name == "everything fails" {
				sc.Trace, sc.Timeline = trace, timeline
			}
			r.Scenarios = append(r.Scenarios, sc)
		}
		for i := range 542 {
			c := Clause{ID: fmt.Sprintf("A%d.%d-%d", i/40, i/7, i), Section: fmt.Sprintf("A%d.%d", i/40, i/7), Level: "MUST", Basis: "stated", Verdict: Pass, Requirement: strings.Repeat("words ", 15), Check: strings.Repeat("checked ", 30)}
			seen := strings.Repeat("evidence ", 20)
			if name == "everything fails" {
				c.Verdict, seen = Fail, long
			}
			for j := range 3 + 2*(i%2) {
				e := Evidence{Scenario: r.Scenarios[(i*7+j)%601].ID, Verdict: c.Verdict, Acceptable: "what is expected", Seen: seen, Where: "conformance/some/file.go:123"}
				c.Scenarios, c.Evidence = append(c.Scenarios, e.Scenario), append(c.Evidence, e)
			}
			r.Clauses = append(r.Clauses, c)
		}
		r.Count()
		data, err := r.HTML()
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d bytes", name, len(data))
		if len(data) > most {
			t.Errorf("%s: %d bytes, more than %d", name, len(data), most)
		}
	}
}

// The stylesheet and the template name the same things.
func TestHTMLClassesHaveStyles(t *testing.T) {
	_, root := parsed(t, told())
	style := elements(root, "style")[0].FirstChild.Data
	used := map[string]bool{}
	for _, n := range elements(root) {
		for class := range strings.FieldsSeq(attribute(n, "class")) {
			used[class] = true
		}
	}
	for _, class := range slices.Sorted(maps.Keys(used)) {
		if class != "body" && !regexp.MustCompile(`\.`+regexp.QuoteMeta(class)+`\b`).MatchString(style) {
			t.Errorf("nothing styles .%s", class)
		}
	}
	script, err := os.ReadFile(filepath.Join("html", "report.js"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`\$\('([a-z-]+)'\)`).FindAllStringSubmatch(string(script), -1) {
		if byID(root, m[1]) == nil {
			t.Errorf("the script looks for #%s, which is not there", m[1])
		}
	}
}
