package defects

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestVariantsDocument does the same for docs/variants.md.
func TestVariantsDocument(t *testing.T) { inStep(t, "variants.md", variantsDocument()) }

const variantsIntroduction = `# Conforming variants

<!-- Written by "go test ./conformance/pugmark/defects -run TestVariantsDocument -update". -->

The text leaves a runtime free in many places, and the reference does one thing in each. A suite that is
tried on the reference alone may take that one thing for the rule. So it is run on variants of the
reference, each of which uses a freedom: composed from outside by 'cmd/faulty', over the same seams as the
[seeded faults](defects.md). None of them may fail a clause, and none may be warned of on another clause
than those named here with a reason; where a name or value is assumed, the variant brings the profile that
says how it is called. Tests beside 'cmd/faulty' prove for each variant that it does what it says.

    go test ./conformance/pugmark/defects -run Variant                     # every fourth, on what it touches and a sample
    go test ./conformance/pugmark/defects -run Variant -all                # every one
    go test ./conformance/pugmark/defects -run Variant -whole -timeout 0   # every one, on the whole suite
    go build -o /tmp ./cmd/pugcheck ./cmd/faulty && /tmp/pugcheck runtime --only P10 -- /tmp/faulty loop-until-idle

`

// variantsDocument renders the list.
func variantsDocument() string {
	var b strings.Builder
	b.WriteString(strings.ReplaceAll(variantsIntroduction, "'", "`"))
	fmt.Fprintf(&b, "%d variants.\n\n| variant | what the runtime does | permitted by |\n| --- | --- | --- |\n", len(Variants()))
	for _, v := range Variants() {
		fmt.Fprintf(&b, "| `%s` | %s%s | %s |\n", v.Name, cell(v.What), cell(v.remarks()), strings.Join(v.Permits, ", "))
	}
	return b.String()
}

// remarks are the warnings that a variant gets and the profile keys that it sets.
func (v Variant) remarks() string {
	var parts []string
	if v.Profile != "" {
		parts = append(parts, "with a profile: `"+strings.Join(strings.Fields(v.Profile), " ")+"`")
	}
	reasons := merged(v.Warns, v.Perhaps)
	byReason := map[string][]string{}
	for _, id := range slices.Sorted(maps.Keys(reasons)) {
		byReason[reasons[id]] = append(byReason[reasons[id]], id)
	}
	for _, reason := range slices.Sorted(maps.Keys(byReason)) {
		parts = append(parts, "warned of on "+strings.Join(byReason[reason], ", ")+": "+reason)
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, "; ") + ")"
}
