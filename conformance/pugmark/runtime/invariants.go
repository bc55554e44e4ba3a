package runtime

// An invariant is a rule for everything that the runtime writes, in whatever
// scenario: each runs when a scenario's story is over.
type invariant struct {
	clauses []string
	stream  func(x *Lab, inv *Invocation, s Stream) // once per complete input stream
	bucket  func(x *Lab)                            // once per scenario, over what the subject wrote
}

var invariants []invariant

// everyStream registers a rule over each invocation's whole input stream.
func everyStream(clauses string, f func(x *Lab, inv *Invocation, s Stream)) bool {
	invariants = append(invariants, invariant{clauses: fields(clauses), stream: f})
	return true
}

// everyBucket registers a rule over the subject's requests and what they left.
func everyBucket(clauses string, f func(x *Lab)) bool {
	invariants = append(invariants, invariant{clauses: fields(clauses), bucket: f})
	return true
}

// Always lists the clauses that any scenario can give a verdict on: those of the
// invariants, and those that stand for a runtime which comes to no end.
func Always() []string {
	out := []string{}
	seen := map[string]bool{}
	for _, list := range append([][]string{basic}, clausesOfInvariants()...) {
		for _, id := range list {
			if !seen[id] {
				seen[id] = true
				out = append(out, id)
			}
		}
	}
	return out
}

// basic are the clauses held against a runtime that does not end its input or
// itself, where a scenario names no closer one.
var basic = []string{endsWithExit, endsWithBody, closesInput}

const (
	endsWithExit = "P2.1-4" // the handler's exit ends the invocation
	endsWithBody = "P2.2-4" // the response's end ends the invocation
	closesInput  = "P16-3"  // input ends once it is all sent
)

func clausesOfInvariants() [][]string {
	var out [][]string
	for _, i := range invariants {
		out = append(out, i.clauses)
	}
	return out
}

func (x *Lab) invariants() {
	defer x.lookBack()()
	for _, inv := range x.invocations() {
		s, ok := inv.complete()
		if !ok {
			continue
		}
		for _, i := range invariants {
			if i.stream != nil {
				i.stream(x, inv, s)
			}
		}
	}
	for _, i := range invariants {
		if i.bucket != nil {
			i.bucket(x)
		}
	}
}
