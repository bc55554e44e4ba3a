package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/chavacava/garif"

	"github.com/pugcheck/pugcheck/harness/document"
)

// Where the format and this tool are described.
const (
	sarifSchema = "https://json.schemastore.org/sarif-2.1.0.json"
	toolURI     = "https://github.com/pugcheck/pugcheck"
	ruleURI     = toolURI + "/blob/main/docs/catalogue.md"
)

// sarifLog and sarifRun have what garif leaves out where it is empty: a run without any
// result found nothing, while one that lacks the list did not look.
type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	*garif.Run
	Results []*garif.Result `json:"results"`
}

// sarif is the result in the Static Analysis Results Interchange Format 2.1.0, for code
// scanning: clauses are rules, and each that is violated is a result.
func sarif(r *Result, _ string) ([]byte, error) {
	w := &sarifWriter{r: r, place: r.place(), scenarios: r.byID()}
	run := sarifRun{Run: &garif.Run{
		Tool:              &garif.Tool{Driver: w.driver()},
		AutomationDetails: &garif.RunAutomationDetails{Id: fmt.Sprintf("pugcheck/%s/%s/", slug(r.Suite), slug(r.Subject.Name))},
		Invocations:       []*garif.Invocation{w.invocation()},
		Properties:        w.properties(),
	}, Results: []*garif.Result{}}
	for i := range r.Clauses {
		if level := sarifLevel(&r.Clauses[i]); level != "" {
			run.Results = append(run.Results, w.result(&r.Clauses[i], level))
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(sarifLog{Schema: sarifSchema, Version: "2.1.0", Runs: []sarifRun{run}}); err != nil {
		return nil, fmt.Errorf("result as SARIF: %w", err)
	}
	return b.Bytes(), nil
}

type sarifWriter struct {
	r         *Result
	place     string
	scenarios map[string]*Scenario
}

// sarifLevel is how grave a verdict is; "" where there is nothing to say. Trouble of the
// suite is a note: it says nothing about the code that is scanned.
func sarifLevel(c *Clause) garif.ResultLevel {
	switch {
	case c.Against():
		return garif.ResultLevel_Error
	case c.Verdict == Warn, c.Verdict == Unstable:
		return garif.ResultLevel_Warning
	case c.Verdict == Error:
		return garif.ResultLevel_Note
	}
	return ""
}

func (w *sarifWriter) driver() *garif.ToolComponent {
	d := &garif.ToolComponent{
		Name: "pugcheck", InformationUri: toolURI, Version: document.Plain(w.r.Versions["pugcheck"]),
		FullName: document.Plain("pugcheck " + w.r.Suite),
	}
	for i := range w.r.Clauses {
		d.Rules = append(d.Rules, w.rule(&w.r.Clauses[i]))
	}
	return d
}

// invocation tells how the run ended, and what went wrong beside the clauses.
func (w *sarifWriter) invocation() *garif.Invocation {
	standing := w.r.Standing()
	out := &garif.Invocation{
		ExecutionSuccessful: standing != Incomplete && standing != Troubled, ExitCode: exitStatus(standing), ExitCodeDescription: string(standing),
	}
	if !w.r.Started.IsZero() {
		end := w.r.Started.Add(time.Duration(w.r.DurationMS * float64(time.Millisecond)))
		out.StartTimeUtc, out.EndTimeUtc = w.r.Started.UTC().Format(time.RFC3339), end.UTC().Format(time.RFC3339)
	}
	for _, t := range w.r.troubles() {
		n := &garif.Notification{Level: "error", Message: sarifMessage(t.what + ": " + t.text)}
		if t.repro != "" {
			n.Properties = &garif.PropertyBag{"repro": t.repro}
		}
		if t.line > 0 {
			n.Locations = []*garif.Location{sarifLocation(relative(w.r.listName()), t.line, t.line)}
			out.ToolConfigurationNotifications = append(out.ToolConfigurationNotifications, n)
		} else {
			out.ToolExecutionNotifications = append(out.ToolExecutionNotifications, n)
		}
	}
	return out
}

// exitStatus is what a run that stands so exits with.
func exitStatus(s Standing) int {
	switch {
	case s.Succeeds():
		return 0
	case s == Incomplete, s == Troubled:
		return 3
	}
	return 1
}

func (w *sarifWriter) properties() *garif.PropertyBag {
	bag := garif.PropertyBag{"summary": w.r.Summary}
	for _, f := range w.r.circumstances() {
		bag[f.name] = document.Plain(f.text)
	}
	return &bag
}

// result is a violated clause.
func (w *sarifWriter) result(c *Clause, level garif.ResultLevel) *garif.Result {
	out := &garif.Result{
		RuleId: document.Plain(c.ID), Level: level, Kind: garif.ResultKind_Fail, Message: w.message(c),
		Locations:           []*garif.Location{sarifLocation(w.place, 1, 1)},
		PartialFingerprints: map[string]string{sarifFingerprint: fingerprint(w.r.Suite, c.ID)},
	}
	out.Locations[0].LogicalLocations = []*garif.LogicalLocation{{Name: out.RuleId, FullyQualifiedName: document.Plain(w.r.Suite + "/" + c.ID), Kind: "requirement"}}
	bag := garif.PropertyBag{"verdict": c.Verdict, "level": c.Level, "basis": c.Basis}
	var observations []map[string]string
	kept := map[string]bool{}
	for _, e := range c.violations() {
		o := map[string]string{"scenario": document.Plain(e.Scenario), "verdict": string(e.Verdict)}
		for _, f := range e.fields() {
			o[f.name] = ofSeen.excerpt(f.text)
		}
		if sc := w.scenarios[e.Scenario]; sc != nil {
			if sc.Repro != "" {
				o["repro"] = document.Plain(sc.Repro)
			}
			if sc.Artifacts != "" && !kept[sc.Artifacts] {
				kept[sc.Artifacts] = true
				out.Attachments = append(out.Attachments, &garif.Attachment{
					ArtifactLocation: &garif.ArtifactLocation{Uri: fileURI(sc.Artifacts)}, Description: sarifMessage("all that scenario " + sc.ID + " left behind"),
				})
			}
		}
		observations = append(observations, o)
	}
	if len(observations) > 0 {
		bag["observations"] = observations
		if repro := observations[0]["repro"]; repro != "" {
			bag["repro"] = repro
		}
	}
	if c.MoreEvidence > 0 {
		bag["moreObservations"] = c.MoreEvidence
	}
	out.Properties = &bag
	if c.Known != "" {
		out.Suppressions = []*garif.Suppression{w.suppression(c)}
	}
	return out
}

// suppression is why a violation is tolerated, and where that is written.
func (w *sarifWriter) suppression(c *Clause) *garif.Suppression {
	out := &garif.Suppression{Kind: "external", Status: "accepted", Justification: document.Plain(c.Known)}
	if w.r.Known == nil {
		return out
	}
	for _, k := range w.r.Known.Entries {
		covers := k.Clause == c.ID
		for _, id := range k.Covers {
			covers = covers || id == c.ID
		}
		if covers && k.Line > 0 {
			out.Location = sarifLocation(relative(w.r.Known.File), k.Line, max(k.Line, k.LastLine))
			break
		}
	}
	return out
}

// message is what a list of alerts shows: the demand, what was seen instead, and the
// command that shows it again.
func (w *sarifWriter) message(c *Clause) *garif.Message {
	text := fmt.Sprintf("%s %s (%s): %s", c.ID, verdictPhrases[c.Verdict], c.Level, c.Requirement)
	if c.Reason != "" {
		text += " " + sentence(c.Reason)
	}
	if violations := c.violations(); len(violations) > 0 {
		e := violations[0]
		if e.Seen != "" {
			text += " Seen: " + sentence(phrase(e.Seen, messageWidth))
		}
		if e.Acceptable != "" {
			text += " Acceptable: " + sentence(phrase(e.Acceptable, messageWidth))
		}
		if sc := w.scenarios[e.Scenario]; sc != nil && sc.Repro != "" {
			text += " Repeat with: " + sc.Repro
		}
	}
	return sarifMessage(text)
}

// verdictPhrases say in a message what became of a clause.
var verdictPhrases = map[Verdict]string{Fail: "is violated", Warn: "is not followed", Unstable: "is not kept in every run", Error: "could not be judged, through no fault of the subject"}
