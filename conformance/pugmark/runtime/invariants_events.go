package runtime

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

// The order of every stream: the memory record, the log, the lifecycle record.
// A stream can break several of these rules by one fault, so each rule leaves to
// the others what is theirs.

var _ = everyStream("P4.2-1 P4.2-3 P4.2-4", func(x *Lab, inv *Invocation, s Stream) {
	if s.unreadable() != "" || len(s.Inputs) == 0 {
		return
	}
	var at []int
	for i, in := range s.Inputs {
		if in.Event == "memory" {
			at = append(at, i)
		}
	}
	x.Clause("P4.2-1").Holds(len(at) == 1, "exactly one record of the stream has event memory", "%s: %d of %d records have it", inv.which(), len(at), len(s.Inputs))
	if len(at) == 0 {
		return
	}
	first := s.Inputs[at[0]]
	x.Clause("P4.2-4").Holds(at[0] == 0, "the record with event memory is the first of the stream", "%s: it is record %d; record 1 is %s", inv.which(), first.N, clip(s.Inputs[0].Raw, 200))
	if first.URL == "" {
		return // P4.2-2 demands a url; this rule is about its end
	}
	u, err := url.Parse(first.URL)
	plain := err == nil && !strings.ContainsAny(first.URL, "?#") && strings.HasSuffix(u.Path, "/")
	x.Clause("P4.2-3").Holds(plain, "the memory record's url ends with a slash and has neither query nor fragment", "%s: url %q", inv.which(), first.URL)
})

var _ = everyStream("P4.1-1", func(x *Lab, inv *Invocation, s Stream) {
	if s.unreadable() != "" || len(s.Inputs) < 2 {
		return
	}
	const demand = "event is memory on the first record, push or empty on replayed entries, and wake, fork, start or empty on the last"
	for i, in := range s.Inputs {
		if why := misplaced(in, i == len(s.Inputs)-1); why != "" {
			x.Clause("P4.1-1").Holds(false, demand, "%s: record %d of %d %s: %s", inv.which(), in.N, len(s.Inputs), why, clip(in.Raw, 300))
			return
		}
	}
	x.Clause("P4.1-1").Holds(true, demand, "%s: %s", inv.which(), eventsInShort(s))
})

// misplaced says in which way a record's event has no place where it stands. The
// number and place of memory and lifecycle records are judged by other rules.
func misplaced(in wire.Input, last bool) string {
	switch in.Event {
	case "memory", "":
		return ""
	case "wake", "fork", "start":
		if !last && len(filled(in)) > 0 {
			return "is a replayed entry and has the event of a lifecycle record"
		}
		return ""
	case "push":
		if last && len(filled(in)) == 0 {
			return "is the last one, describes no entry, and has event push"
		}
		return ""
	}
	return fmt.Sprintf("has event %q, which is none of the six values", clip([]byte(in.Event), 60))
}

// eventsInShort is the sequence of events, equal neighbours counted together.
func eventsInShort(s Stream) string {
	var parts []string
	for i := 0; i < len(s.Inputs); {
		k := i
		for k < len(s.Inputs) && s.Inputs[k].Event == s.Inputs[i].Event {
			k++
		}
		event := s.Inputs[i].Event
		if event == "" {
			event = "(empty)"
		}
		if k-i > 1 {
			event = fmt.Sprintf("%d× %s", k-i, event)
		}
		parts = append(parts, event)
		i = k
	}
	return strings.Join(parts, ", ")
}

var _ = everyStream("P4.2-11 P4.2-12 P4.2-13", func(x *Lab, inv *Invocation, s Stream) {
	if s.unreadable() != "" || len(s.Inputs) == 0 {
		return
	}
	const (
		one   = "the stream has exactly one lifecycle record, whose event is wake, fork, start or empty"
		bare  = "no field but event is filled in the lifecycle record"
		final = "the lifecycle record is the last record of the stream"
	)
	last, _ := s.Last()
	var lifecycle []wire.Input
	for _, in := range s.Inputs {
		if isLifecycle(in) && len(filled(in)) == 0 {
			lifecycle = append(lifecycle, in)
		}
	}
	switch {
	case len(lifecycle) > 1:
		x.Clause("P4.2-11").Holds(false, one, "%s: records %s are lifecycle records: %s", inv.which(), recordNumbers(lifecycle), eventsInShort(s))
	case len(lifecycle) == 1:
		x.Clause("P4.2-11").Holds(true, one, "%s: %s", inv.which(), eventsInShort(s))
		atEnd := lifecycle[0].N == last.N
		x.Clause("P4.2-13").Holds(atEnd, final, "%s: it is record %d of %d; the last one is %s", inv.which(), lifecycle[0].N, len(s.Inputs), clip(last.Raw, 300))
		if atEnd {
			x.Clause("P4.2-12").Holds(true, bare, "%s: %s", inv.which(), clip(last.Raw, 100))
		}
	case isLifecycle(last), endsInBareText(last):
		x.Clause("P4.2-12").Holds(false, bare, "%s: the last record has %s: %s", inv.which(), strings.Join(filled(last), ", "), clip(last.Raw, 300))
	case last.Event == "memory", misplaced(last, true) == "":
		x.Clause("P4.2-11").Holds(false, one, "%s: none of its %d records is one; the last is %s", inv.which(), len(s.Inputs), clip(last.Raw, 300))
	}
})

// endsInBareText tells whether a last record without event and without a body or
// a way to one is an empty lifecycle event with something written on it. (The
// Input of a tombstone would look the same, and does not stand last.)
func endsInBareText(in wire.Input) bool {
	return in.Event == "" && in.URL == "" && in.RawData == "" && in.Size == 0 && len(filled(in)) > 0
}

func recordNumbers(list []wire.Input) string {
	var out []string
	for _, in := range list {
		out = append(out, fmt.Sprint(in.N))
	}
	return strings.Join(out, " and ")
}
