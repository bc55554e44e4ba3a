package report

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pugcheck/pugcheck/harness/document"
	"github.com/pugcheck/pugcheck/harness/page"
)

//go:embed html
var htmlFiles embed.FS

var htmlTemplate = sync.OnceValues(func() (*template.Template, error) {
	return template.New("").Funcs(template.FuncMap{"visible": visible, "plain": document.Plain}).ParseFS(htmlFiles, "html/*.tmpl")
})

// visible shows a name, a sentence or a command.
func visible(text string) template.HTML { return document.Excerpt(text, roomOfWords) }

// roomOfWords is more than any name, sentence or command takes that is meant to be read.
const roomOfWords = 8000

// How many bytes of evidence a page shows, shared among all that is to be shown. A
// page is read on a phone too, and the JSON form has everything.
const (
	roomOfRecords      = 1_300_000 // what happened in scenarios
	roomOfObservations = 700_000   // acceptable and seen
)

// HTML is the result as one self-contained page for a browser: how it stands, an
// outline, each clause with its evidence, each scenario with its timing. It asks for
// nothing, is readable without scripts, and shows evidence of any kind harmlessly.
// What happened in a scenario stands once, under the first clause that it is evidence
// against, and is linked elsewhere. Clauses have their names as anchors; the anchors of
// sections and scenarios are their names behind "section-" and "scenario-".
func (r *Result) HTML() ([]byte, error) {
	t, err := htmlTemplate()
	if err != nil {
		return nil, fmt.Errorf("result as HTML: %w", err)
	}
	style, script := mustEmbed("html/report.css"), mustEmbed("html/report.js")
	p := &htmlMaker{r: r, scenarios: r.byID(), recorded: map[string]htmlLink{}, worst: map[string]Verdict{}}
	p.measure()
	var body bytes.Buffer
	if err := t.ExecuteTemplate(&body, "page.tmpl", p.page()); err != nil {
		return nil, fmt.Errorf("result as HTML: %w", err)
	}
	return document.Document{
		Title: marks[p.verdict()] + " " + r.Suite + ": " + r.Subject.Name, Icon: marks[p.verdict()],
		Styles: []string{style}, Script: script, Body: template.HTML(body.String()),
	}.Bytes()
}

// mustEmbed is a file that is known to be there.
func mustEmbed(name string) string {
	data, err := htmlFiles.ReadFile(name)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// htmlMaker is a page in the making.
type htmlMaker struct {
	r         *Result
	scenarios map[string]*Scenario
	recorded  map[string]htmlLink // scenario → the clause that its record stands under
	worst     map[string]Verdict  // scenario → the gravest verdict that it is evidence for
	record    int                 // room for what happened in one scenario
	seen      int                 // room for one text of evidence
}

// measure finds out how much there is to be shown, and shares the room.
func (p *htmlMaker) measure() {
	records := 0
	for i := range p.r.Scenarios {
		if sc := &p.r.Scenarios[i]; len(sc.Trace)+len(sc.Timeline) > 0 {
			records++
		}
	}
	texts := 0
	worst := func(scenario string, v Verdict) { p.worst[scenario] = graver(p.worst[scenario], v) }
	for _, list := range [][]Clause{p.r.Clauses, p.r.Beyond} {
		for _, c := range list {
			for _, e := range c.Evidence {
				texts += 2
				worst(e.Scenario, e.Verdict)
			}
			for scenario, v := range c.PerScenario {
				worst(scenario, v)
			}
		}
	}
	p.record = htmlShare(roomOfRecords, records, 1500, 40_000)
	p.seen = htmlShare(roomOfObservations, texts, 300, 6000)
}

// htmlShare is room divided by n, within bounds.
func htmlShare(room, n, least, most int) int { return min(max(room/max(n, 1), least), most) }

// verdict is the standing in the colours and signs of verdicts.
func (p *htmlMaker) verdict() Verdict {
	switch p.r.Standing() {
	case Conforming:
		return Pass
	case NotConforming:
		return Fail
	case Troubled:
		return Error
	}
	return Warn
}

type htmlLink struct {
	ID     string
	Anchor template.URL
}

func clauseLink(id string) htmlLink   { return htmlLink{id, document.Anchor(id)} }
func scenarioLink(id string) htmlLink { return htmlLink{id, "scenario-" + document.Anchor(id)} }

type htmlPage struct {
	Suite, Subject string
	BuiltIn        bool
	Conclusion     Conclusion
	Ink, Mark      string
	Banners        []htmlBanner
	Strip          template.HTML
	Counts         []htmlCount
	Facts          []htmlFact
	Known          *htmlKnown
	Findings       []htmlFindings
	Choices        []htmlCount
	Levels         []string
	Choosable      []Section
	All            string
	Sections       []htmlSection
	Beyond         []htmlClause // what is not in the requirement set
	Scenarios      []htmlScenario
}

type htmlBanner struct {
	Title, Ink string
	Seen       template.HTML
}

// htmlCount is a verdict with the number of its clauses.
type htmlCount struct {
	Verdict, Mark, Word string
	N                   int
	First               template.URL // the first of them
}

type htmlFact struct{ Name, Value string }

type htmlSection struct {
	Section
	Anchor           template.URL
	Ink, Mark, Tally string
	Clauses          []htmlClause
}

// levelOrder is from the strongest to the weakest.
var levelOrder = []string{"MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "MAY"}

// page is everything that the template shows. Clauses come first, since they claim
// the records of their scenarios.
func (p *htmlMaker) page() htmlPage {
	out := htmlPage{
		Suite: p.r.Suite, Subject: p.r.Subject.Name, BuiltIn: p.r.Subject.BuiltIn,
		Conclusion: p.r.Conclude(), Ink: p.verdict().class(), Mark: marks[p.verdict()],
		Sections: p.sections(), Banners: p.banners(), Strip: p.strip(), Facts: p.facts(),
		Known: p.known(), Findings: p.findings(),
	}
	for _, c := range p.r.Beyond {
		part := p.clause(c)
		part.Kinds, part.Open = "beyond", false
		out.Beyond = append(out.Beyond, part)
	}
	out.Scenarios = p.scenarioParts()
	out.All = page.Count(len(p.r.Clauses)+len(p.r.Beyond), "clause") + ", " + page.Count(len(p.r.Scenarios), "scenario")
	first := map[Verdict]template.URL{}
	levels := map[string]bool{}
	known := htmlCount{Verdict: "known", Word: "known"}
	for _, c := range p.r.Clauses {
		if _, ok := first[c.Verdict]; !ok {
			first[c.Verdict] = document.Anchor(c.ID)
		}
		if c.Known != "" {
			known.N++
		}
		levels[c.Level] = true
	}
	for _, level := range slices.Concat(levelOrder, sortedKeys(levels)) {
		if levels[level] {
			out.Levels = append(out.Levels, level)
			delete(levels, level)
		}
	}
	for _, t := range p.r.Summary.tallies() {
		n := htmlCount{t.verdict.class(), marks[t.verdict], t.long, t.n, first[t.verdict]}
		if t.n > 0 || t.verdict == Pass || t.verdict == Fail || t.verdict == Warn {
			out.Counts = append(out.Counts, n)
		}
		if t.n > 0 {
			out.Choices = append(out.Choices, n)
		}
	}
	if known.N > 0 {
		out.Choices = append(out.Choices, known)
	}
	if len(out.Beyond) > 0 {
		out.Choices = append(out.Choices, htmlCount{Verdict: "beyond", Word: "not in the set", N: len(out.Beyond)})
	}
	out.Choosable = choosable(out.Sections)
	return out
}

// choosable are the sections by which clauses can be filtered: those of the page, and
// before them what they are parts of by their numbers.
func choosable(sections []htmlSection) []Section {
	var out []Section
	seen := map[string]bool{}
	for _, s := range sections {
		seen[s.ID] = true
	}
	for _, s := range sections {
		if whole, _, is := strings.Cut(s.ID, "."); is && !seen[whole] {
			seen[whole] = true
			out = append(out, Section{ID: whole})
		}
		out = append(out, s.Section)
	}
	return out
}

func (p *htmlMaker) banners() []htmlBanner {
	var out []htmlBanner
	if !p.r.Complete {
		out = append(out, htmlBanner{"Not everything that was selected was run.", Warn.class(), document.Excerpt(p.r.Incomplete, 4000)})
	}
	if p.r.Blocked != "" {
		first := "the first scenario"
		for _, sc := range p.r.Scenarios {
			if sc.Outcome != "not-run" {
				first = document.Plain(sc.ID)
				break
			}
		}
		out = append(out, htmlBanner{"Nothing else was started: the subject did not get through " + first + ".", Fail.class(), document.Excerpt(p.r.Blocked, 4000)})
	}
	return out
}

// facts say what was judged and how.
func (p *htmlMaker) facts() []htmlFact {
	r := p.r
	var out []htmlFact
	add := func(name, value string) {
		if value != "" {
			out = append(out, htmlFact{name, value})
		}
	}
	add("Ran", r.whatRan()+" in "+seconds(r.DurationMS))
	if !r.Started.IsZero() {
		add("Started", r.Started.UTC().Format("2 January 2006, 15:04 ")+time.UTC.String())
	}
	add("Seed", fmt.Sprint(r.Seed))
	if r.Repeats > 1 {
		add("Repeated", fmt.Sprintf("each scenario %d times", r.Repeats))
	}
	add("Specification", r.Specification)
	set := r.Requirements.Set
	if set == "" {
		set = "every clause of this version"
	}
	if r.Requirements.Digest != "" {
		set += fmt.Sprintf(", %s (%.12s)", page.Count(r.Requirements.Clauses, "clause"), r.Requirements.Digest)
	}
	add("Requirements", set)
	add("Transports", strings.Join(r.Subject.Transports, ", "))
	add("Profile", r.Profile.File)
	if r.Profile.Strict {
		add("Strict", "warnings fail")
	}
	add("Without", strings.Join(r.Profile.Without, ", "))
	add("Only", strings.Join(r.Selection, ", "))
	add("Skipping", strings.Join(r.Skipped, ", "))
	if command := strings.Join(r.Subject.Command, " "); command != r.Subject.Name {
		add("Command", command)
	}
	var versions []string
	for _, name := range sortedKeys(r.Versions) {
		version := r.Versions[name]
		if len(version) == 64 {
			version = version[:12] // a digest
		}
		if !strings.HasPrefix(version, name) {
			version = name + " " + version
		}
		versions = append(versions, version)
	}
	add("Versions", strings.Join(versions, ", "))
	return out
}
