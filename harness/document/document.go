// Package document makes self-contained HTML documents.
//
// A document is one file: it asks for nothing, neither from the network nor from
// files beside it, and a content security policy in it makes a browser keep to that.
// It is readable without scripts, on narrow screens, in the dark and on paper. Text
// of unknown origin goes through Visible or Excerpt, which leave no character in it
// that could act on the page or hide from its reader.
//
// Sheet is the stylesheet that all documents share. Colours, typefaces and distances
// are custom properties in it; a document adds only what is its own.
package document

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"net/url"
	"sync"
)

// Sheet is the shared stylesheet: custom properties for colours in both schemes,
// type, links, buttons, tables, and a class for each verdict (pass, fail, warn,
// not-exercised, untestable, error, not-judged, unstable) that sets the text colour.
//
//go:embed sheet.css
var Sheet string

// Document is one file in the making.
type Document struct {
	Title  string
	Icon   string        // one character for the tab; "" = none
	Styles []string      // stylesheets of its own, behind Sheet
	Script string        // runs when the body is there; "" = none
	Body   template.HTML // what stands in <body>
}

//go:embed frame.html
var frameText string

var frame = sync.OnceValues(func() (*template.Template, error) {
	return template.New("frame").Parse(frameText)
})

// Bytes is the whole file, in UTF-8. Styles and Script must be the program's own
// text: they go in as they are, and only they are allowed to take effect.
func (d Document) Bytes() ([]byte, error) {
	t, err := frame()
	if err != nil {
		return nil, fmt.Errorf("frame of a document: %w", err)
	}
	style := Sheet
	for _, s := range d.Styles {
		style += s
	}
	var b bytes.Buffer
	err = t.Execute(&b, map[string]any{
		"Title": Plain(d.Title), "Policy": policy(style, d.Script), "Icon": icon(d.Icon),
		"Style": template.CSS(style), "Script": template.JS(d.Script), "Body": d.Body,
	})
	if err != nil {
		return nil, fmt.Errorf("document %q: %w", d.Title, err)
	}
	return b.Bytes(), nil
}

// policy allows exactly the stylesheet, the script and the icon of a document.
func policy(style, script string) string {
	p := "default-src 'none'; img-src data:; style-src " + digest(style)
	if script != "" {
		p += "; script-src " + digest(script)
	}
	return p + "; base-uri 'none'; form-action 'none'"
}

// digest names an inline text as policies do.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// icon is a picture of one character.
func icon(character string) template.URL {
	if character == "" {
		return "data:,"
	}
	svg := `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><text x="8" y="13" font-size="15" font-family="sans-serif" font-weight="bold" text-anchor="middle" fill="#888">` +
		template.HTMLEscapeString(character) + `</text></svg>`
	return template.URL("data:image/svg+xml," + url.PathEscape(svg))
}
