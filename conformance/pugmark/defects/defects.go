// Package defects is the list of seeded faults: ways in which a runtime can go
// wrong, each with the clause that has to catch it. cmd/faulty is the reference
// with one of them put in; the tests here run the suite on each and require that
//
//   - the named clause gets the expected verdict, for the stated reason;
//   - no other clause falls, but for those that the fault breaks as well;
//   - and nothing is ever held to be trouble of the suite.
//
// The second rule weighs as much as the first: a report in which one fault makes
// many clauses fail sends people to the wrong place.
//
// [Variants] are the other half: runtimes that are composed in the same way and
// conform, for whom nothing may fail.
//
//	go test ./conformance/pugmark/defects                     one defect of each section, on its clause and a sample of scenarios
//	go test ./conformance/pugmark/defects -all -timeout 30m   every defect, every variant, and the partial runtime
//	go test ./conformance/pugmark/defects -whole              each defect on the whole suite (slow)
//	go test ./conformance/pugmark/defects -run /NAME$ -whole  one of them
//	go test ./conformance/pugmark/defects -update             writes docs/defects.md and docs/variants.md
package defects

import (
	"slices"

	"github.com/pugcheck/pugcheck/conformance/pugmark"
	"github.com/pugcheck/pugcheck/harness/report"
)

// Defect is one seeded fault.
type Defect struct {
	Name    string         // what cmd/faulty calls it
	Clause  string         // the clause that has to catch it
	Verdict report.Verdict // Fail, or Warn for recommendations and assumed readings
	Fault   string         // what the runtime does wrong: a sentence without subject

	// Message is a piece of the evidence that names the fault, white space aside;
	// " … " stands for anything. One observation on the clause has to have it, in
	// what it says to be acceptable and what it says was seen, in this order.
	Message string

	// Beside are the clauses that the fault breaks as well, or that cannot be kept
	// without what it takes away: each with the reason. They may fall or not.
	Beside map[string]string
}

// All lists the defects by the order of the text, whatever file they stand in.
func All() []Defect {
	all := slices.Concat(reading, overHTTP, wireFormat, inputFields, streamOrder, outputs, lifeOfASession, objects, sessions, snapshots, numbers, transactions,
		controls, forks, messages, writers,
		rooms, creation, refs, conflicts,
		invocations, overPipes, requests, events, bodies, memories, surroundings, stability, memoryFiles,
		framing, routing, stops, state, versions, endings, sources, fieldsAtRest)
	place := map[string]int{}
	for i, id := range pugmark.Catalogue().ClauseIDs() {
		place[id] = i
	}
	slices.SortStableFunc(all, func(a, b Defect) int { return place[a.Clause] - place[b.Clause] })
	for i := range all {
		if all[i].Verdict == "" {
			all[i].Verdict = report.Fail
		}
	}
	return all
}
