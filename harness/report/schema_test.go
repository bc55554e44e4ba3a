package report

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pugcheck/pugcheck/harness/report/reporttest"
)

// fullResult has something in every field, but is partial.
func fullResult() *Result {
	r := everyKind()
	r.Incomplete, r.Complete, r.Blocked = "it was interrupted", false, "it ended"
	r.Requirements = Requirements{Set: "v1.0", Digest: strings.Repeat("0f", 32), Clauses: 12, Musts: 9}
	r.Specification = "demo v1"
	r.Beyond = []Clause{{ID: "A9-1", Section: "A9", Level: "MUST", Basis: "stated", Verdict: Pass, Requirement: "Eight.", Outside: "it is newer", Over: "http"}}
	r.Repeats, r.Profile.Strict = 3, true
	r.Selection, r.Skipped = []string{"A1", "A2"}, []string{"A2/names"}
	r.Subject.BuiltIn, r.Subject.Transports = true, []string{"subprocess", "http"}
	r.Known = &KnownFailures{File: "known.yaml", Entries: []KnownFailure{
		{Clause: "A1-2", Verdict: Fail, Reason: "being mended", Messages: []string{"two"}, Line: 3, LastLine: 6, Covers: []string{"A1-2"}, State: KnownHolds},
		{Capability: "http", Verdict: Unstable, Reason: "slow", Line: 9, LastLine: 9, State: KnownPasses, Advice: "take it out"},
	}}
	c := &r.Clauses[1]
	c.Known, c.Check, c.Reason, c.Verdict = "being mended", "Looked at.", "one of three runs", Unstable
	c.PerScenario, c.Runs = map[string]Verdict{"A1/order": Fail}, []Verdict{Pass, Fail, Pass}
	c.PerScenario, c.Runs = map[string]Verdict{"A1/order": Fail}, []Verdict{Pass, Fail, Pass}
	c.Evidence[0].Runs, c.Evidence[0].Readings = []int{2}, []string{"R-2"}
	sc := &r.Scenarios[1]
	sc.Trace = []Block{{"requests", "#1"}}
	sc.Timeline = []Event{{0.5, "s3", "GET /b", "Host: x"}, {1, "suite", "it is over", ""}}
	sc.Run, sc.Artifacts = 2, "artifacts/A1/empty"
	r.Count()
	conclusion := r.Conclude()
	conclusion.Details = append(conclusion.Details, "nothing is missing")
	r.Conclusion = &conclusion
	return r
}

func jsonOf(t *testing.T, r *Result) []byte {
	t.Helper()
	data, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestResultsKeepTheSchema(t *testing.T) {
	reporttest.Valid(t, "every kind", jsonOf(t, everyKind()))
	reporttest.Valid(t, "every field", jsonOf(t, fullResult()))
	reporttest.Valid(t, "nothing yet", jsonOf(t, &Result{Schema: Schema, Suite: "demo", Incomplete: "just begun"}))
	empty := unset(reflect.ValueOf(fullResult()).Elem())
	if d := cmp.Diff([]string{"Conclusion.Whole", "Result.Complete"}, empty); d != "" {
		t.Errorf("what the full result leaves empty (-want +got): %s", d)
	}
}

// unset are the fields that are empty wherever they occur in v.
func unset(v reflect.Value) []string {
	seen := map[string]bool{}
	var walk func(reflect.Value, string)
	walk = func(v reflect.Value, at string) {
		switch {
		case v.Type() == reflect.TypeFor[time.Time]():
			seen[at] = seen[at] || !v.IsZero()
		case v.Kind() == reflect.Pointer && !v.IsNil():
			walk(v.Elem(), at)
		case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
			seen[at] = seen[at] || v.Len() > 0
			for i := range v.Len() {
				walk(v.Index(i), at)
			}
		case v.Kind() == reflect.Struct:
			for i := range v.NumField() {
				walk(v.Field(i), v.Type().Name()+"."+v.Type().Field(i).Name)
			}
		default:
			seen[at] = seen[at] || !v.IsZero()
		}
	}
	walk(v, "")
	var out []string
	for at, full := range seen {
		if at != "" && !full {
			out = append(out, at)
		}
	}
	slices.Sort(out)
	return out
}

// TestTheSchemaBites proves that a result can violate it, in each way that it names.
func TestTheSchemaBites(t *testing.T) {
	for name, spoil := range map[string]func(*Result){
		"another schema":               func(r *Result) { r.Schema = "pugcheck.results/v2" },
		"a verdict that is none":       func(r *Result) { r.Clauses[0].Verdict = "good" },
		"an outcome that is none":      func(r *Result) { r.Scenarios[0].Outcome = "fine" },
		"a level that is none":         func(r *Result) { r.Clauses[0].Level = "must" },
		"a basis that is none":         func(r *Result) { r.Clauses[0].Basis = "guessed" },
		"a lane that is none":          func(r *Result) { r.Scenarios[1].Timeline[0].Lane = "net" },
		"a state that is none":         func(r *Result) { r.Known.Entries[0].State = "good" },
		"a digest that is none":        func(r *Result) { r.Requirements.Digest = "12" },
		"partial without a reason":     func(r *Result) { r.Incomplete = "" },
		"complete with a reason":       func(r *Result) { r.Complete = true },
		"undecided without a reason":   func(r *Result) { r.Clauses[5].Reason = "" },
		"stopped without a reason":     func(r *Result) { r.Scenarios[1].Reason = "" },
		"an entry for two things":      func(r *Result) { r.Known.Entries[0].Capability = "http" },
		"an entry for nothing":         func(r *Result) { r.Known.Entries[0].Clause = "" },
		"a clause without a name":      func(r *Result) { r.Clauses[0].ID = "" },
		"time that runs backwards":     func(r *Result) { r.Scenarios[0].Timing.TotalMS = -1 },
		"an observation made one time": func(r *Result) { r.Clauses[0].Evidence[0].Times = 1 },
	} {
		r := fullResult()
		spoil(r)
		schema := reporttest.Schema(t, reporttest.Tree(t, "docs", "results.schema.json"))
		if reporttest.Problem(schema, jsonOf(t, r)) == nil {
			t.Errorf("%s goes unnoticed", name)
		}
	}
}

// documented are the types of the model with the heading of docs/results.md below which
// their fields stand.
var documented = map[reflect.Type]string{
	reflect.TypeFor[Result]():        "## The result",
	reflect.TypeFor[Subject]():       "## The subject",
	reflect.TypeFor[Profile]():       "## The profile",
	reflect.TypeFor[Requirements]():  "## The requirements",
	reflect.TypeFor[Conclusion]():    "## The conclusion",
	reflect.TypeFor[Section]():       "## Sections and readings",
	reflect.TypeFor[Reading]():       "## Sections and readings",
	reflect.TypeFor[Clause]():        "## A clause",
	reflect.TypeFor[Evidence]():      "## Evidence",
	reflect.TypeFor[Scenario]():      "## A scenario",
	reflect.TypeFor[Timing]():        "## A scenario",
	reflect.TypeFor[Block]():         "## A scenario",
	reflect.TypeFor[Event]():         "## A scenario",
	reflect.TypeFor[KnownFailures](): "## Known failures",
	reflect.TypeFor[KnownFailure]():  "## Known failures",
	reflect.TypeFor[Summary]():       "## The summary",
}

// TestNoFieldIsMissing walks the model: each field is in the schema with its type, with a
// description and required exactly where it is always written, and in docs/results.md.
func TestNoFieldIsMissing(t *testing.T) {
	text, err := os.ReadFile(reporttest.Tree(t, "docs", "results.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	docs, err := os.ReadFile(reporttest.Tree(t, "docs", "results.md"))
	if err != nil {
		t.Fatal(err)
	}
	w := &modelWalk{T: t, root: reporttest.Object(t, text), docs: string(docs), seen: map[reflect.Type]bool{}}
	w.walk(reflect.TypeFor[Result](), w.root, "result")
	if len(w.seen) != len(documented) {
		t.Errorf("%d types have a place in the documentation, and %d are in the model", len(documented), len(w.seen))
	}
}

type modelWalk struct {
	*testing.T
	root map[string]any
	docs string
	seen map[reflect.Type]bool
}

// resolve follows a reference, and keeps what stands beside it.
func (w *modelWalk) resolve(schema map[string]any, at string) map[string]any {
	ref, ok := schema["$ref"].(string)
	if !ok {
		return schema
	}
	target, ok := w.root["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
	if !ok {
		w.Fatalf("%s: %s leads nowhere", at, ref)
	}
	out := map[string]any{}
	for _, part := range []map[string]any{target, schema} {
		for k, v := range part {
			out[k] = v
		}
	}
	return out
}

func (w *modelWalk) walk(typ reflect.Type, schema map[string]any, at string) {
	kinds := map[reflect.Kind]string{
		reflect.String: "string", reflect.Bool: "boolean", reflect.Int: "integer", reflect.Uint64: "integer",
		reflect.Float64: "number", reflect.Slice: "array", reflect.Map: "object", reflect.Struct: "object",
	}
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	want := kinds[typ.Kind()]
	if typ == reflect.TypeFor[time.Time]() {
		want = "string"
	}
	kind, _ := schema["type"].(string)
	if _, enumerated := schema["enum"]; enumerated || schema["const"] != nil {
		kind = "string"
	}
	if kind != want {
		w.Errorf("%s: the schema says %q, the model %q", at, kind, want)
	}
	switch {
	case want == "array":
		items, _ := schema["items"].(map[string]any)
		w.walk(typ.Elem(), w.resolve(items, at), at+"[]")
	case typ.Kind() == reflect.Map:
		values, _ := schema["additionalProperties"].(map[string]any)
		w.walk(typ.Elem(), w.resolve(values, at), at+"{}")
	case typ.Kind() == reflect.Struct && want == "object" && !w.seen[typ]:
		w.seen[typ] = true
		w.fields(typ, schema, at)
	}
}

func (w *modelWalk) fields(typ reflect.Type, schema map[string]any, at string) {
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	part := w.part(documented[typ])
	for i := range typ.NumField() {
		name, options, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		here := at + "." + name
		property, ok := properties[name].(map[string]any)
		if !ok {
			w.Errorf("%s is not in the schema", here)
			continue
		}
		property = w.resolve(property, here)
		if property["description"] == nil {
			w.Errorf("%s has no description", here)
		}
		if always := options == ""; always != slices.Contains(required, any(name)) {
			w.Errorf("%s: always written: %v, required: %v", here, always, !always)
		}
		if !regexp.MustCompile("`" + name + "`").MatchString(part) {
			w.Errorf("%s is not in docs/results.md below %q", here, documented[typ])
		}
		w.walk(typ.Field(i).Type, property, here)
		delete(properties, name)
	}
	for name := range properties {
		w.Errorf("%s.%s is in the schema only", at, name)
	}
}

// part is a heading of the documentation with all that stands below it up to the next.
func (w *modelWalk) part(heading string) string {
	_, rest, ok := strings.Cut("\n"+w.docs, "\n"+heading)
	if heading == "" || !ok {
		w.Errorf("docs/results.md has no %q", heading)
	}
	text, _, _ := strings.Cut(rest, "\n## ")
	return text
}

// TestVerdictsOfSchemaAndModel: both know the same words.
func TestVerdictsOfSchemaAndModel(t *testing.T) {
	text, err := os.ReadFile(reporttest.Tree(t, "docs", "results.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Defs struct {
			Verdict  struct{ Enum []Verdict }
			Scenario struct {
				Properties struct{ Outcome struct{ Enum []string } }
			}
		} `json:"$defs"`
	}
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	for _, v := range schema.Defs.Verdict.Enum {
		if !verdicts[v] {
			t.Errorf("the schema has the verdict %q", v)
		}
	}
	for _, o := range schema.Defs.Scenario.Properties.Outcome.Enum {
		if !outcomes[o] {
			t.Errorf("the schema has the outcome %q", o)
		}
	}
	if len(schema.Defs.Verdict.Enum) != len(verdicts) || len(schema.Defs.Scenario.Properties.Outcome.Enum) != len(outcomes) {
		t.Errorf("schema and model differ: %v", schema.Defs)
	}
}
