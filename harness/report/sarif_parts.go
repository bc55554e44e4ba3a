package report

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/chavacava/garif"

	"github.com/pugcheck/pugcheck/harness/document"
)

// rule is a clause: what it demands, and how that is judged.
func (w *sarifWriter) rule(c *Clause) *garif.ReportingDescriptor {
	level, severity := "warning", "warning"
	switch {
	case strings.HasPrefix(c.Level, "MUST") && c.Basis != "assumed":
		level, severity = "error", "error"
	case c.Level == "MAY":
		level, severity = "note", "recommendation"
	}
	demand := cmp.Or(document.Plain(c.Requirement), c.ID, "no text")
	return &garif.ReportingDescriptor{
		Id: document.Plain(c.ID), HelpUri: ruleURI,
		ShortDescription:     &garif.MultiformatMessageString{Text: sarifText(phrase(demand, 200))},
		FullDescription:      &garif.MultiformatMessageString{Text: sarifText(phrase(demand, 1000))},
		Help:                 w.help(c, demand),
		DefaultConfiguration: &garif.ReportingConfiguration{Level: level},
		Properties: &garif.PropertyBag{
			"tags": distinct(document.Plain(c.Level), document.Plain(c.Basis), document.Plain(c.Section)), "problem.severity": severity, "precision": "very-high",
		},
	}
}

// help is the text that stands beside an alert.
func (w *sarifWriter) help(c *Clause, demand string) *garif.MultiformatMessageString {
	parts := []field{{"What is demanded", demand}}
	if c.Check != "" {
		parts = append(parts, field{"How it is judged", document.Plain(c.Check)})
	}
	for _, id := range c.Readings {
		for _, reading := range w.r.Readings {
			if reading.ID == id {
				parts = append(parts, field{"Reading " + id, reading.Title + " (" + reading.Basis + ")"})
			}
		}
	}
	var text, marked []string
	for _, p := range parts {
		text = append(text, p.name+": "+p.text)
		marked = append(marked, "**"+document.MarkdownText(p.name)+"**: "+document.MarkdownText(p.text))
	}
	return &garif.MultiformatMessageString{Text: sarifText(strings.Join(text, "\n\n")), Markdown: strings.Join(marked, "\n\n")}
}

// distinct are the words of a list without what is empty or stands there already.
func distinct(words ...string) []string {
	out := []string{}
	seen := map[string]bool{"": true}
	for _, w := range words {
		if !seen[w] {
			seen[w] = true
			out = append(out, w)
		}
	}
	return out
}

// sarifFingerprint is the kind by which code scanning knows an alert again.
const sarifFingerprint = "primaryLocationLineHash"

// fingerprint is the same for a clause in every run, whatever was seen.
func fingerprint(suite, clause string) string {
	sum := sha256.Sum256([]byte(suite + "\x00" + clause))
	return hex.EncodeToString(sum[:8]) + ":1"
}

// placeholders are what a reader would put something else for: "{0}" an argument, and
// "](" a link.
var placeholders = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{(\d+)\}|\]\(`) })

// sarifText is text that no reader of messages takes for more than text.
func sarifText(text string) string {
	return placeholders().ReplaceAllStringFunc(text, func(s string) string {
		if s == "](" {
			return "] ("
		}
		return "{ " + s[1:len(s)-1] + " }"
	})
}

func sarifMessage(text string) *garif.Message {
	return &garif.Message{Text: sarifText(document.Plain(text))}
}

func sarifLocation(uri string, first, last int) *garif.Location {
	return &garif.Location{PhysicalLocation: &garif.PhysicalLocation{
		ArtifactLocation: &garif.ArtifactLocation{Uri: uri}, Region: &garif.Region{StartLine: first, EndLine: last},
	}}
}

// slug is a name as one step of an identifier that is divided by slashes.
func slug(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool {
		return !(r == '.' || r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z')
	})
	return cmp.Or(strings.Trim(strings.Join(words, "-"), ".-"), "subject")
}

// sentence ends a text with a full stop, unless it ends like that.
func sentence(text string) string {
	text = strings.TrimSpace(text)
	if text == "" || strings.ContainsAny(text[len(text)-1:], ".!?") {
		return text
	}
	return text + "."
}

// noPlace stands for the place of a violation where the result names no file at all: it
// is where the subject would be configured.
const noPlace = "pugcheck.yaml"

// place is the file that code scanning shows violations at, as a URI. No line of the
// subject's source is at fault that could be named, so it is the file that tells how the
// subject is started: the profile, else the first relative path in its command.
func (r *Result) place() string {
	if r.Profile.File != "" {
		return relative(r.Profile.File)
	}
	for i, word := range r.Subject.Command {
		switch {
		case strings.HasPrefix(word, "-"), strings.Contains(word, "://"), filepath.IsAbs(word):
		case strings.Contains(word, "/"), i > 0 && path.Ext(word) != "":
			return relative(word)
		}
	}
	return noPlace
}

// relative is a path as a URI below the current folder, where it is there; code scanning
// takes that for the root of the repository.
func relative(file string) string {
	if filepath.IsAbs(file) {
		if here, err := os.Getwd(); err == nil {
			if rel, err := filepath.Rel(here, file); err == nil && filepath.IsLocal(rel) {
				file = rel
			}
		}
	}
	return fileURI(file)
}

func fileURI(file string) string {
	file = filepath.ToSlash(filepath.Clean(document.Plain(file)))
	if strings.HasPrefix(file, "/") {
		return (&url.URL{Scheme: "file", Path: file}).String()
	}
	return (&url.URL{Path: file}).String()
}
