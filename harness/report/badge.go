package report

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
)

// badge is the conclusion in a few words, for a README: a picture where the path ends in
// .svg, else what an endpoint of shields.io answers.
//
// It counts the MUSTs that are kept, of all that can be tested, and turns green only
// where nothing went against the subject; a part of a run is grey, whatever it found.
func badge(r *Result, path string) ([]byte, error) {
	b := r.badge()
	if strings.EqualFold(filepath.Ext(path), ".svg") {
		return []byte(b.svg()), nil
	}
	data, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("result as a badge: %w", err)
	}
	return append(data, '\n'), nil
}

// shield is a badge as the Shields endpoint schema has it.
type shield struct {
	SchemaVersion int    `json:"schemaVersion"`
	Label         string `json:"label"`
	Message       string `json:"message"`
	Color         string `json:"color"`
	IsError       bool   `json:"isError,omitempty"` // the colour may not be overridden
}

// colours are those of the Shields names that are used here.
var colours = map[string]string{
	"brightgreen": "#2e7d32", "yellowgreen": "#5f6f12", "orange": "#b34700", "red": "#b3261e", "lightgrey": "#595959",
}

// The parts of a badge's message may be this long; it is one line of a page.
const badgeWidth = 60

func (r *Result) badge() shield {
	c, m := r.Conclude(), r.musts()
	kept := 0
	for _, cl := range r.Clauses {
		if strings.HasPrefix(cl.Level, "MUST") && cl.Over == "" && cl.Verdict == Pass {
			kept++
		}
	}
	score := fmt.Sprintf("%d/%d MUST", kept, m.total)
	parts := []string{score}
	colour := "yellowgreen"
	switch c.Standing {
	case Incomplete, Troubled:
		parts, colour = []string{"incomplete"}, "lightgrey"
	case NotConforming:
		parts, colour = []string{score, c.Short}, "red"
	case AsListed, Outdated:
		parts, colour = []string{score, c.Short}, "orange"
	case Conforming:
		if c.Whole && kept == m.total {
			colour = "brightgreen"
		}
	}
	if r.filtered() && colour != "lightgrey" {
		parts = append([]string{"partial"}, parts...)
		colour = "lightgrey"
	}
	if r.Requirements.Set != "" {
		parts = append([]string{r.Requirements.Set}, parts...)
	}
	return shield{
		SchemaVersion: 1, Label: phrase(or(r.Specification, "pugcheck")+" "+r.Suite, badgeWidth),
		Message: phrase(strings.Join(parts, " · "), badgeWidth), Color: colour, IsError: !c.Standing.Succeeds(),
	}
}

// svg is the badge as a picture that needs nothing else, and says the same to who cannot
// see it.
func (b shield) svg() string {
	const height, margin = 20, 6
	label, message := badgeText(b.Label), badgeText(b.Message)
	left, right := label.width+2*margin, message.width+2*margin
	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img" aria-label="%[3]s: %[4]s">`+"\n", left+right, height, label.escaped, message.escaped)
	fmt.Fprintf(&out, "<title>%s: %s</title>\n", label.escaped, message.escaped)
	fmt.Fprintf(&out, `<clipPath id="r"><rect width="%d" height="%d" rx="3"/></clipPath>`+"\n", left+right, height)
	fmt.Fprintf(&out, `<g clip-path="url(#r)"><rect width="%d" height="%d" fill="#404040"/><rect x="%[1]d" width="%[3]d" height="%[2]d" fill="%[4]s"/></g>`+"\n", left, height, right, colours[b.Color])
	fmt.Fprintf(&out, `<g fill="#fff" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="11">`+"\n")
	fmt.Fprintf(&out, `<text x="%d" y="14" textLength="%d">%s</text>`+"\n", margin, label.width, label.escaped)
	fmt.Fprintf(&out, `<text x="%d" y="14" textLength="%d">%s</text>`+"\n", left+margin, message.width, message.escaped)
	out.WriteString("</g>\n</svg>\n")
	return out.String()
}

type measured struct {
	escaped string
	width   int // in pixels
}

// badgeText estimates the width of a text in 11 px Verdana. The picture asks for just
// this width, so that another font neither overflows nor leaves a gap.
func badgeText(text string) measured {
	width := 0.0
	for _, r := range text {
		switch {
		case strings.ContainsRune("fijlrtI.,:;|!'()[]/· -", r):
			width += 4.4
		case strings.ContainsRune("mwMWOQ@%", r):
			width += 9.8
		case unicode.IsUpper(r):
			width += 8
		case r > 0x2e7f:
			width += 11
		default:
			width += 6.8
		}
	}
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a strings.Builder does not fail
	return measured{b.String(), int(width + 0.5)}
}
