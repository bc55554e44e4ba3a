package runtime

import "github.com/pugcheck/pugcheck/conformance/pugmark/wire"

// The document's form is judged by the rule on all snapshots that a runtime
// stores; these runs make it store the two that go wrong first.
var _ = scenario("S6", "one-and-many", "a run with a single output, and one with outputs of every kind: both snapshots are one JSON array",
	"S6-1",
	func(x *Lab) {
		s, target := x.shortLog(), x.shortLog()
		x.committed(s, 2, []wire.OutputRecord{x.output("single")})
		fork, message := x.output("fork"), x.output("message")
		fork.Fork = true
		message.Session = target.ID.String()
		x.committed(s, 3, []wire.OutputRecord{x.output("one"), fork, message, x.output("two"), pause("enough")})
	}, overBoth)
