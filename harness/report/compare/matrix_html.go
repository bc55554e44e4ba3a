package compare

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"sync"

	"github.com/pugcheck/pugcheck/harness/page"
	"github.com/pugcheck/pugcheck/harness/report"
)

//go:embed matrix.html.tmpl
var matrixTemplate string

// parsed is made when it is needed: most commands write no matrix.
var parsed = sync.OnceValues(func() (*template.Template, error) {
	return template.New("matrix").Funcs(template.FuncMap{
		"mark":  func(v report.Verdict) string { return v.Mark() },
		"count": page.Count,
		"words": func(v report.Verdict) string { return v.Words() },
		// As wide as the grid makes the first of its columns, beside so many others.
		"share": func(columns int) template.CSS { return template.CSS(fmt.Sprintf("%.3f%%", 1100/float64(11+8*columns))) },
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
	return b.Bytes(), nil
}
