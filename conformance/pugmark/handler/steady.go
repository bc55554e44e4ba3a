package handler

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

// Handlers may be unsteady: they tell the time, draw numbers, or ask three models at
// once and write as the answers come. A comparison leaves that out, and a difference
// counts only once it has shown again where chance could have made it.

// mask names the fields, by Output, that a comparison leaves out.
type mask map[int]map[string]bool

// steadiness is what is known of the Outputs of one invocation, made several times.
type steadiness struct {
	comparable bool // it succeeds every time, with the same number of Outputs
	unordered  bool // the same Outputs every time, in changing order
	skip       mask // what differs, where it is not the order alone
}

// steadinessOf looks at further runs of the same invocation.
func steadinessOf(control *Exchange, again []*Exchange) steadiness {
	out := steadiness{comparable: true, unordered: true, skip: mask{}}
	ordered := true
	first := control.canonical()
	for _, e := range again {
		other := e.canonical()
		if !e.Well() || len(other) != len(first) {
			return steadiness{}
		}
		out.unordered = out.unordered && missing(first, other) == nil
		ordered = ordered && unequal(first, other, nil) == ""
		for i := range first {
			for _, field := range wire.OutputFields {
				if first[i][field] != other[i][field] {
					if out.skip[i] == nil {
						out.skip[i] = map[string]bool{}
					}
					out.skip[i][field] = true
				}
			}
		}
	}
	if out.unordered = out.unordered && !ordered; out.unordered {
		out.skip = nil
	}
	return out
}

// steady tells whether the Outputs are the same every time.
func (s steadiness) steady() bool { return s.comparable && !s.unordered && len(s.skip) == 0 }

// difference is that between a run and the control run, as far as it is not one between
// control runs.
func (s steadiness) difference(control, got *Exchange) string {
	if !s.unordered {
		return difference(control, got, s.skip)
	}
	a, b := control.canonical(), got.canonical()
	if lost := missing(a, b); lost != nil {
		return "in whatever order, no Output here is like one of the control run: " + summary(lost)
	}
	if more := missing(b, a); more != nil {
		return "in whatever order, no Output of the control run is like one here: " + summary(more)
	}
	return ""
}

// missing is the first Output of a that b lacks, or has fewer times.
func missing(a, b []map[string]string) map[string]string {
	have := map[string]int{}
	for _, o := range b {
		have[summary(o)]++
	}
	for _, o := range a {
		if have[summary(o)]--; have[summary(o)] < 0 {
			return o
		}
	}
	return nil
}

// summary is an Output in one line, the same for those that are equal.
func summary(o map[string]string) string {
	var parts []string
	for _, field := range slices.Sorted(maps.Keys(o)) {
		if o[field] != "" {
			parts = append(parts, fmt.Sprintf("%s %q", field, o[field]))
		}
	}
	return strings.Join(parts, ", ")
}

// How often an invocation is repeated: before anything is left out of a comparison, and
// how often a difference has to show again before it counts.
const (
	repetitions   = 2
	confirmations = 3
)

// repeated makes sure that the invocation was repeated n times, and returns the
// repetitions. They are kept: a worker's scenarios share the control runs.
func (x *Lab) repeated(e *Exchange, n int) []*Exchange {
	x.bench.mu.Lock()
	again := slices.Clone(e.again)
	x.bench.mu.Unlock()
	for len(again) < n {
		v := e.variation
		if v.What == "" {
			v.What = "nothing changed"
		}
		again = append(again, x.Play(e.log, v))
	}
	x.bench.mu.Lock()
	if len(again) > len(e.again) {
		e.again = again
	}
	x.bench.mu.Unlock()
	return again
}

// differs is the difference between a run and the control run that is not one between
// control runs; false where control runs cannot even be compared with each other. Where
// it speaks against the handler it has to show again; where it speaks for it, that is
// asked only of a handler that is unsteady anyway.
func (x *Lab) differs(control, got *Exchange, against bool) (string, bool) {
	seen := difference(control, got, nil)
	if seen == "" {
		return "", true
	}
	for n := repetitions; ; n++ {
		s := steadinessOf(control, x.repeated(control, n))
		if !s.comparable {
			return "", false
		}
		seen = s.difference(control, got)
		if done := n == repetitions+confirmations || !against && s.steady(); seen == "" || done {
			return seen, true
		}
		if again := x.repeated(got, n-repetitions+1); s.difference(control, again[n-repetitions]) == "" {
			return "", true
		}
	}
}
