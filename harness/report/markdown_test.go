package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
	dom "golang.org/x/net/html"

	"github.com/pugcheck/pugcheck/harness/document"
)

// shown is the Markdown as a reader of GitHub's dialect shows it.
func shown(t *testing.T, markdown []byte) *dom.Node {
	t.Helper()
	var b bytes.Buffer
	if err := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe())).Convert(markdown, &b); err != nil {
		t.Fatal(err)
	}
	doc, err := dom.Parse(&b)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// wholeText is the text of an element as it stands there.
func wholeText(n *dom.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == dom.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

func TestMarkdownGolden(t *testing.T) {
	for name, r := range map[string]*Result{"forms.md": everyForm(), "cut_short.md": cutShort(), "kept.md": kept()} {
		doc := shown(t, rendered(t, "markdown", "", name, r))
		if got := strings.TrimSpace(wholeText(elements(doc, "strong")[0])); got != r.Sentence() {
			t.Errorf("%s begins with %q, not with the conclusion", name, got)
		}
	}
}

// TestMarkdownIsRead holds what a reader of Markdown shows against the result.
func TestMarkdownIsRead(t *testing.T) {
	r := everyForm()
	doc := shown(t, form(t, "markdown", r))
	allowed := map[string]bool{}
	for _, name := range strings.Fields("html head body h2 h3 p strong ul li table thead tbody tr th td details summary b pre code") {
		allowed[name] = true
	}
	for n := range doc.Descendants() {
		if n.Type == dom.ElementNode && !allowed[n.Data] {
			t.Errorf("a text became <%s>: %s", n.Data, wholeText(n.Parent))
		}
	}
	var rows [][]string
	for _, tr := range elements(elements(doc, "table")[0], "tr") {
		var row []string
		for c := range tr.ChildNodes() {
			if c.Type == dom.ElementNode {
				row = append(row, wholeText(c))
			}
		}
		rows = append(rows, row)
	}
	want := []string{"A3 texts | of `every` kind", "", "2", "2", "", "1", "", "", ""}
	if d := cmp.Diff(want, rows[len(rows)-2]); d != "" {
		t.Error(d)
	}
	var columns []string
	for _, c := range r.Summary.columns() {
		columns = append(columns, c.long)
	}
	if d := cmp.Diff(append([]string{"section"}, columns...), rows[0]); d != "" {
		t.Error(d)
	}
	summaries := map[string]string{}
	for _, d := range elements(doc, "details") {
		summaries[strings.TrimSpace(wholeText(elements(d, "summary")[0]))] = wholeText(d)
	}
	if len(summaries) != 4+2+3+3 { // failed and unstable, broke, warned, undecided
		t.Errorf("%d parts are folded away: %v", len(summaries), summaries)
	}
	odd := summaries["✗ A3-1 MUST: Text is kept | as `it` is, <whatever> it says."]
	for _, want := range []string{markdownSeen.excerpt(hostile), "pugcheck demo --seed 42 --only A3/odd './my impl'", "--- stream | of the subject", "left out …", "And 7 further observations."} {
		if !strings.Contains(odd, want) {
			t.Errorf("A3-1 does not show %q: %s", want, odd)
		}
	}
}

// TestMarkdownFits: however much there is to say, a step takes the summary, and it says
// that something is missing.
func TestMarkdownFits(t *testing.T) {
	sizes := []int{200, 10_000}
	if testing.Short() {
		sizes = sizes[:1]
	}
	for _, n := range sizes {
		r := everyForm()
		sample := r.Clauses[14]
		for i := range n {
			c := sample
			c.ID, c.Section, c.Verdict = fmt.Sprintf("B%d-1", i), fmt.Sprintf("B%d", i), []Verdict{Fail, Warn, Error, NotExercised, Untestable}[i%5]
			c.Reason = fmt.Sprintf("reason %d", i)
			r.Clauses = append(r.Clauses, c)
		}
		for range 40 { // of the largest that there are
			c := sample
			c.Evidence = nil
			for range 5 {
				c.Evidence = append(c.Evidence, Evidence{Verdict: Fail, Seen: strings.Repeat(strings.Repeat("`", 2000)+"\n", 200)})
			}
			r.Clauses = append(r.Clauses, c)
		}
		r.Subject.Name, r.Incomplete, r.Complete = strings.Repeat("s", 100_000), strings.Repeat("i", 2<<20), false
		r.Count()
		data := form(t, "markdown", r)
		if len(data) >= 1<<20-32<<10 || !utf8.Valid(data) {
			t.Errorf("%d clauses: %d bytes", n, len(data))
		}
		doc := shown(t, data)
		if !strings.Contains(wholeText(doc), "Cut to fit into a step summary") || !strings.Contains(wholeText(doc), "shown with their evidence. The others: ") {
			t.Errorf("%d clauses: nothing says what is missing in %d bytes: %s", n, len(data), data[len(data)-500:])
		}
		folded := elements(doc, "details")
		if len(folded) == 0 {
			t.Errorf("%d clauses: nothing is shown in full", n)
		}
		for _, d := range folded {
			if d.Parent.Data != "body" {
				t.Fatalf("%d clauses: a part is not closed before %q", n, wholeText(elements(d, "summary")[0]))
			}
		}
	}
}

func TestMarkdownTexts(t *testing.T) {
	for _, text := range []string{hostile, "a|b", "`", "``", "a`b``c", "# x", "* x", "1. x", "<b>", "&lt;", "\\", "\\|", "$x$", "https://example.invalid/a_b", "www.example.invalid", "~~no~~", "a\x00b", "![i](x)", "[^1]"} {
		want := strings.Join(strings.Fields(strings.ReplaceAll(phrase(text, 5000), "\n", " ")), " ")
		in := fmt.Sprintf("x %s y\n\n| a |\n| --- |\n| x %s y |\n| %s |\n\nx %s y\n", document.MarkdownText(text), document.MarkdownText(text), document.MarkdownCell(text), document.MarkdownCode(text))
		doc := shown(t, []byte(in))
		paragraphs, cells := elements(doc, "p"), elements(doc, "td")
		if len(paragraphs) != 2 || len(cells) != 2 {
			t.Errorf("%q: %d paragraphs, %d cells of %s", text, len(paragraphs), len(cells), in)
			continue
		}
		for where, got := range map[string]string{"text": wholeText(paragraphs[0]), "cell": wholeText(cells[0]), "code": wholeText(paragraphs[1])} {
			if got != "x "+want+" y" {
				t.Errorf("%s of %q: %q", where, want, got)
			}
		}
		if got := wholeText(cells[1]); got != want {
			t.Errorf("code in a cell of %q: %q", want, got)
		}
	}
}
