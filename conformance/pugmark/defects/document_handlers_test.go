package defects

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pugcheck/pugcheck/conformance/catalogue"
	"github.com/pugcheck/pugcheck/conformance/pugmark"
	"github.com/pugcheck/pugcheck/conformance/pugmark/handler"
)

const handlerIntroduction = `
## Handlers

The handler suite is tried on faulty handlers in the same way. Each puts one fault into a sample of
"fixtures/pugmark/handlers"; the programs are in "conformance/pugmark/defects/testdata/handlers", and a fault
whose name begins with "http-" is one of the HTTP service. The log is "logs/orders.ndjson" beside the samples. The
samples themselves have to pass with no failure and no warning, in every language, on both transports.

    go test ./conformance/pugmark/defects -run 'Handler'                      # every fifth
    go test ./conformance/pugmark/defects -run 'Handler' -all -timeout 30m    # all of them, and all samples
    pugcheck handler --log fixtures/pugmark/handlers/logs/orders.ndjson --only P3.1 -- \
        bash conformance/pugmark/defects/testdata/handlers/faulty.sh url-safe fixtures/pugmark/handlers

`

// language is what a faulty handler is written in.
func (d HandlerDefect) language() string {
	return map[string]string{"faulty.py": "Python", "faulty.sh": "bash", "faulty.c": "C"}[d.Program]
}

// handlerDefects renders the list of faulty handlers.
func handlerDefects(b *strings.Builder) {
	b.WriteString(strings.NewReplacer(
		`"fixtures/pugmark/handlers"`, "`fixtures/pugmark/handlers`", `"conformance/pugmark/defects/testdata/handlers"`, "`conformance/pugmark/defects/testdata/handlers`",
		`"http-"`, "`http-`", `"logs/orders.ndjson"`, "`logs/orders.ndjson`",
	).Replace(handlerIntroduction))
	all := Handlers()
	clauses, perLanguage, missed := map[string]bool{}, map[string]int{}, 0
	for _, d := range all {
		clauses[d.Clause] = true
		perLanguage[d.language()]++
		if d.Missed != "" {
			missed++
		}
	}
	var languages []string
	for _, l := range []string{"Python", "bash", "C"} {
		languages = append(languages, fmt.Sprintf("%d in %s", perLanguage[l], l))
	}
	fmt.Fprintf(b, "%d defects over %d clauses, %s. Caught by the right clause: %d of %d, and the tests fail with one less.\n",
		len(all), len(clauses), strings.Join(languages, ", "), len(all)-missed, len(all))
	b.WriteString("\n| clause | defect | language | what the handler does | the evidence says |\n| --- | --- | --- | --- | --- |\n")
	for _, d := range all {
		note := ""
		if d.Missed != "" {
			note = " **not caught:** " + cell(d.Missed)
		}
		fmt.Fprintf(b, "| %s%s | `%s` | %s | %s%s%s | %s |\n", d.Clause, verdictMark(d.Defect), d.Name, d.language(), cell(d.Fault), besideText(d.Defect), note, code(d.Message))
	}
	b.WriteString("\n### Still without a faulty handler\n\nClauses that demand something of handlers, that are judged, and that no defect is caught by: ")
	b.WriteString(listOrNone(unprovenOfHandlers()))
	b.WriteString("\nPermissions need no proof that they can be violated. No observation from outside can decide these:\n\n")
	index := handler.Index()
	for _, c := range pugmark.Catalogue().Clauses() {
		if slices.Contains(c.Suites, "handler") && c.Untestable != "" && len(index[c.ID]) == 0 {
			fmt.Fprintf(b, "- %s: %s\n", c.ID, oneLine(c.Untestable))
		}
	}
}

// unprovenOfHandlers are the clauses that demand or recommend something of handlers, are
// judged, and are not the one that a faulty handler is caught by.
func unprovenOfHandlers() []string {
	index, named := handler.Index(), map[string]bool{}
	for _, d := range Handlers() {
		named[d.Clause] = named[d.Clause] || d.Missed == ""
	}
	always := handler.Always()
	var out []string
	for _, c := range pugmark.Catalogue().Clauses() {
		judged := len(index[c.ID]) > 0 || slices.Contains(always, c.ID)
		if c.Level != catalogue.May && slices.Contains(c.Suites, "handler") && judged && !named[c.ID] {
			out = append(out, c.ID)
		}
	}
	return out
}
