package compare

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"sync"

	"github.com/pugcheck/pugcheck/harness/document"
	"github.com/pugcheck/pugcheck/harness/page"
	"github.com/pugcheck/pugcheck/harness/report"
)

//go:embed matrix.html.tmpl
var matrixTemplate string

//go:embed matrix.css
var matrixStyle string

// parsed is made when it is needed: most commands write no matrix.
var parsed = sync.OnceValues(func() (*template.Template, error) {
	return template.New("matrix").Funcs(template.FuncMap{
		"mark": report.Verdict.Mark, "words": report.Verdict.Words, "count": page.Count, "visible": document.Visible, "anchor": document.Anchor,
	}).Parse(matrixTemplate)
})

// matrixHTML is one file that needs no other and no scripts: a row for each section, which
// unfolds into its clauses.
func matrixHTML(m *Matrix) ([]byte, error) {
	t, err := parsed()
	if err != nil {
		return nil, fmt.Errorf("matrix as HTML: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, m); err != nil {
		return nil, fmt.Errorf("matrix as HTML: %w", err)
	}
	n := len(m.Columns)
	// The first column of the tables is as wide as the grid makes it, beside so many others.
	columns := fmt.Sprintf(":root { --columns: %d; }\ncol.clause { width: %.3f%%; }\n", n, 1100/float64(11+8*n))
	return document.Document{
		Title: "pugcheck: " + page.Count(n, "implementation") + " compared", Styles: []string{columns, matrixStyle}, Body: template.HTML(b.String()),
	}.Bytes()
}
