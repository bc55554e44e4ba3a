package handler

import (
	"fmt"
	"sync"
)

var _ = scenario("P1", "invoked-again", "the same snapshot three times in a row, over HTTP twice at the same time too", "P1-10", func(x *Lab) {
	log, control := x.Exemplar()
	const demand = "every invocation on the same snapshot succeeds, with an output stream that can be read"
	for i := range 3 {
		e := x.Play(log, Variation{What: fmt.Sprintf("the same snapshot, invocation %d in a row", i+1)})
		if !x.Copes("P1-10", control, e, demand, "log %s, invocation %d in a row: %s", log.Name, i+1, e.How()) {
			return
		}
	}
	if x.Over != HTTP {
		return
	}
	other, err := StartServers()
	x.Must(err)
	x.Cleanup(other.Close)
	for _, e := range x.atOnce(log, x.bench.servers, other) {
		x.Clause("P1-10").Warning().Holds(e.Well() && (e.readable() || !control.readable()), demand+", two at once as well", "log %s, two requests at once: %s", log.Name, e.How())
	}
})

// atOnce plays a log on several pairs of servers at the same time.
func (x *Lab) atOnce(log Log, all ...*Servers) []*Exchange {
	x.driver(nil) // a service is up before any of them
	played := make([]*Exchange, len(all))
	ended := make([]any, len(all)) // how each ended that did not return
	var group sync.WaitGroup
	for i, servers := range all {
		group.Go(func() {
			defer func() { ended[i] = recover() }()
			played[i] = x.Play(log, Variation{What: "the same snapshot, two requests at once", Servers: servers})
		})
	}
	group.Wait()
	for _, p := range ended {
		if p != nil {
			panic(p) // the scenario's own way to end, in its own goroutine
		}
	}
	return played
}

var _ = scenario("P1", "same-input-same-outputs", "identical input bytes five times, and every other log twice", "P1-13 S14.2-6", func(x *Lab) {
	const demand = "the same Outputs every time for the same input, in the same order"
	log, control := x.Exemplar()
	if len(control.Records()) == 0 {
		x.Stop(hintOutputs)
	}
	again := x.repeated(control, 4)
	for _, other := range x.Logs() {
		if other.Name == log.Name {
			continue
		}
		if first := x.Control(other); first.Well() && len(first.Records()) > 0 {
			x.deterministic(other, first, demand, x.Play(other, Variation{What: "nothing changed"}))
		}
	}
	x.deterministic(log, control, demand, again...)
})

// deterministic compares runs with the first. IDs that a handler draws for its forks
// are set aside where forks are the point (S14.2-6).
func (x *Lab) deterministic(log Log, first *Exchange, demand string, again ...*Exchange) {
	for _, e := range again {
		if !e.Well() {
			x.Clause("P1-13").Holds(false, demand, "log %s: it succeeded the first time, and then: %s", log.Name, e.How())
			continue
		}
		seen := difference(first, e, nil)
		x.Clause("P1-13").Holds(seen == "", demand, "log %s: %s", log.Name, orSame(seen, e))
		seen = difference(first, e, drawnIDs(first))
		x.Clause("S14.2-6").Holds(seen == "", demand+", IDs of forks aside", "log %s: %s", log.Name, orSame(seen, e))
	}
}

func orSame(seen string, e *Exchange) string {
	if seen == "" {
		return counted(len(e.Records())) + ", the same"
	}
	return seen
}

// drawnIDs masks the session of every fork.
func drawnIDs(e *Exchange) mask {
	out := mask{}
	for i, o := range e.Records() {
		if o.Fork {
			out[i] = map[string]bool{"session": true}
		}
	}
	return out
}
