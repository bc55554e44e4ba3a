package report

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode"
)

// GitHub shows so many annotations of each level for a step and drops the rest.
const githubLimit = 10

// githubText is how much of a text an annotation holds, in bytes.
const githubText = 1500

// github is the result as workflow commands, a line each, which GitHub Actions turns
// into annotations: the conclusion, then what is against the subject as errors, stale
// entries of known failures at their line, warnings, and as notices what is new to the
// requirement set. What exceeds GitHub's limits is counted in the last one of its level.
func (r *Result) github() []byte {
	c := r.Conclude()
	levels := map[string][]annotation{}
	add := func(level string, a annotation) { levels[level] = append(levels[level], a) }
	first := annotation{title: "pugcheck " + r.Suite + ": " + c.Short, text: strings.Join(append([]string{c.Statement}, c.Details...), "\n")}
	if c.Standing.Succeeds() {
		add("notice", first)
	} else {
		add("error", first)
	}
	for _, k := range r.stale() {
		add("error", annotation{title: "known failure: " + cmp.Or(k.Clause, k.Capability), file: inWorkspace(r.Known.File), line: k.Line, text: k.Advice})
	}
	for _, clause := range r.Clauses {
		switch {
		case clause.Known != "":
		case clause.Against():
			add("error", r.annotate(clause))
		case clause.Verdict == Warn || clause.Verdict == Unstable:
			add("warning", r.annotate(clause))
		}
	}
	for _, clause := range r.Beyond {
		if clause.Against() || clause.Verdict == Warn {
			a := r.annotate(clause)
			a.title += " (not counted: " + clause.Outside + ")"
			add("notice", a)
		}
	}
	var b strings.Builder
	for _, level := range []string{"error", "warning", "notice"} {
		for _, a := range withinLimit(levels[level]) {
			b.WriteString(a.command(level))
		}
	}
	return []byte(b.String())
}

// annotation is one message, at a place of the repository where there is one.
type annotation struct {
	title, file, text string
	line              int
}

// annotate says what is to be said about a violated clause. Its place is the profile,
// the one file of the repository that is about the judgement.
func (r *Result) annotate(c Clause) annotation {
	a := annotation{title: fmt.Sprintf("%s %s: %s", c.Verdict, c.ID, c.Level), text: c.Requirement}
	a.file = inWorkspace(r.Profile.File)
	if len(c.Evidence) == 0 {
		return a
	}
	e := c.Evidence[0]
	a.text += "\nAcceptable: " + e.Acceptable + "\nSeen: " + e.Seen
	for _, sc := range r.Scenarios {
		if sc.ID == e.Scenario && sc.Repro != "" {
			a.text = cutMiddle(a.text, githubText) + "\nRepeat with: " + sc.Repro
		}
	}
	return a
}

// inWorkspace is a file as GitHub names it, from the root of the checkout; "" where it lies
// elsewhere.
func inWorkspace(file string) string {
	if file == "" {
		return ""
	}
	path := filepath.Clean(file)
	if root := os.Getenv("GITHUB_WORKSPACE"); root != "" {
		whole, err := filepath.Abs(file)
		if err != nil {
			return ""
		}
		if path, err = filepath.Rel(root, whole); err != nil {
			return ""
		}
	}
	if !filepath.IsLocal(path) {
		return ""
	}
	return filepath.ToSlash(path)
}

// withinLimit keeps what is shown, and says how much is not.
func withinLimit(list []annotation) []annotation {
	if len(list) <= githubLimit {
		return list
	}
	kept := list[:githubLimit:githubLimit]
	kept[githubLimit-1] = annotation{
		title: fmt.Sprintf("and %d more", len(list)-githubLimit+1),
		text:  "The job's summary and the reports have all of them.",
	}
	return kept
}

// command is the workflow command, whose text cannot end early or begin another one.
func (a annotation) command(level string) string {
	var properties []string
	if a.file != "" {
		properties = append(properties, "file="+githubProperty(a.file))
		properties = append(properties, fmt.Sprintf("line=%d", max(a.line, 1)))
	}
	properties = append(properties, "title="+githubProperty(a.title))
	return "::" + level + " " + strings.Join(properties, ",") + "::" + githubEscape(cutMiddle(a.text, 2*githubText)) + "\n"
}

// githubEscape escapes what has a meaning in workflow commands, and takes out control characters.
func githubEscape(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return '·'
		}
		return r
	}, strings.ToValidUTF8(s, "·"))
	return strings.NewReplacer("%", "%25", "\n", "%0A").Replace(s)
}

func githubProperty(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(githubEscape(s))
}

// cutMiddle shortens a text so that both ends stay readable.
func cutMiddle(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit*2/3], "") + " … " + strings.ToValidUTF8(s[len(s)-limit/3:], "")
}
