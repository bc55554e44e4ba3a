package main

import (
	"fmt"
	"slices"
	"sync"
)

// variants are conforming runtimes by name: the reference composed so that it uses a
// permission of the text which the reference itself makes no use of. They are
// composed as faults are, by wrapping the same seams, but nothing about them is
// wrong: a suite that holds one of them to be at fault is at fault itself.
var variants = sync.OnceValue(func() map[string]Fault {
	all := map[string]Fault{}
	for _, table := range []map[string]Fault{requestVariants, documentVariants, spellingVariants, snapshotVariants,
		streamVariants, processVariants, serviceVariants, serverVariants, runVariants} {
		for name, v := range table {
			_, isFault := faults()[name]
			if _, taken := all[name]; taken || isFault {
				panic(fmt.Sprintf("two variants, or a fault and a variant, are called %q", name))
			}
			all[name] = v
		}
	}
	return all
})

// composed is the fault or variant of that name.
func composed(name string) (Fault, bool) {
	if f, ok := faults()[name]; ok {
		return f, true
	}
	v, ok := variants()[name]
	return v, ok
}

func variantNames() []string {
	names := []string{}
	for name := range variants() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// both is one composition that does what two do; their seams of one kind are put
// around each other, the second one nearer to the store or the handler.
func both(a, b Fault) Fault {
	a.Store = chained(a.Store, b.Store)
	a.Handler = chained(a.Handler, b.Handler)
	a.Identifiers = inTurn(a.Identifiers, b.Identifiers)
	a.Engine = inTurn(a.Engine, b.Engine)
	return a
}

func chained[T any](outer, inner func(T) T) func(T) T {
	switch {
	case outer == nil:
		return inner
	case inner == nil:
		return outer
	}
	return func(next T) T { return outer(inner(next)) }
}

func inTurn[T any](first, second func(T)) func(T) {
	switch {
	case first == nil:
		return second
	case second == nil:
		return first
	}
	return func(t T) {
		first(t)
		second(t)
	}
}
