package runtime

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

// traceparents and tracestates are what an invocation got of a trace context, by
// the environment or by headers: a header may come twice or not at all.
func (i *Invocation) traceparents() []string { return i.context("TRACEPARENT") }
func (i *Invocation) tracestates() []string  { return i.context("TRACESTATE") }

func (i *Invocation) context(name string) []string {
	if i.Request != nil {
		return i.Request.Header.Values(name)
	}
	if v, ok := i.Getenv(name); ok {
		return []string{v}
	}
	return nil
}

var traceShapes = sync.OnceValue(func() (s struct{ parent, member *regexp.Regexp }) {
	s.parent = regexp.MustCompile(`^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$`)
	s.member = regexp.MustCompile(`^(([a-z][a-z0-9_*/-]{0,255})|([a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13}))=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$`)
	return s
})

// parentFault says what is wrong with the form of a traceparent; "" if nothing is.
func parentFault(text string) string {
	if !traceShapes().parent.MatchString(text) {
		return "it is not 00-<32 hex>-<16 hex>-<2 hex>"
	}
	parts := strings.Split(text, "-")
	switch {
	case strings.Trim(parts[1], "0") == "":
		return "its trace ID is zero"
	case strings.Trim(parts[2], "0") == "":
		return "its parent ID is zero"
	}
	return ""
}

// stateFault says what is wrong with the form of a tracestate; "" if nothing is.
func stateFault(text string) string {
	n := 0
	for _, member := range strings.Split(text, ",") {
		member = strings.Trim(member, " \t")
		if member == "" {
			continue
		}
		n++
		if !traceShapes().member.MatchString(member) {
			return fmt.Sprintf("%q is no key=value", member)
		}
	}
	if n > 32 {
		return fmt.Sprintf("%d members", n)
	}
	return ""
}

// over picks the clause for the scenario's transport.
func (x *Lab) over(process, service string) string {
	if x.Over == HTTP {
		return service
	}
	return process
}

// clean are the variables by which a runtime could be told to trace: none is set.
var clean = WithEnv("TRACEPARENT", "", "TRACESTATE", "", "OTEL_EXPORTER_OTLP_ENDPOINT", "", "OTEL_TRACES_EXPORTER", "", "OTEL_SDK_DISABLED", "")

var _ = scenario("P14", "parent", "two sessions are run without any option or variable about tracing: each invocation gets one trace context in the standard form",
	"P14-1 P14-4 P14-3 P14.1-2",
	func(x *Lab) {
		parents := map[string]int{}
		for range 2 {
			s := x.plainLog()
			run := x.Run(s.ID, clean)
			inv := run.Next()
			got := inv.traceparents()
			x.Clause(x.over("P14-1", "P14-4")).Holds(len(got) == 1 && got[0] != "", x.over("the environment has TRACEPARENT", "the request has exactly one header traceparent")+", without any option for tracing", "%q", got)
			for _, text := range got {
				if text == "" {
					continue // as good as none
				}
				why := parentFault(text)
				x.Clause("P14-3").Holds(why == "", "the trace context has the form 00-<trace ID>-<parent ID>-<flags>, neither ID being zero", "%q: %s", text, why)
				if parts := strings.Split(text, "-"); len(parts) == 4 {
					parents[parts[2]]++
					x.Clause("P14.1-2").Expect(strings.ToLower(parts[1])).To(Equal(s.ID.String()), "the trace ID is the session ID")
				}
			}
			for _, text := range inv.tracestates() {
				why := stateFault(text)
				x.Clause("P14-3").Holds(why == "", "a trace state is a list of at most 32 key=value members, or empty", "%q: %s", text, why)
			}
			inv.Finish()
			run.Wait()
		}
		for id, n := range parents {
			x.Clause("P14-3").Warning().Holds(n == 1, "two invocations have parent IDs of their own", "%s occurs %d times", id, n)
		}
	}, overBoth)

var _ = scenario("P14", "state", "the runtime is started inside a trace of the session's own with a trace state, and in one of somebody else's: the state is passed on, and what is passed on is a list",
	"P14-2 P14-5 P14-3 P14.1-2",
	func(x *Lab) {
		for _, own := range []bool{true, false} {
			s := x.plainLog()
			trace, what := s.ID.String(), "the session's own trace"
			if !own {
				trace, what = x.NewID().String(), "a foreign trace"
			}
			outer := fmt.Sprintf("00-%s-%016x-01", trace, x.Rand.Uint64()|1)
			run := x.Run(s.ID, WithEnv("TRACEPARENT", outer, "TRACESTATE", "vendor=abc"))
			inv := run.Next()
			got := inv.tracestates()
			clause := x.Clause(x.over("P14-2", "P14-5")).Resting("F-17")
			fault := ""
			for _, text := range got {
				if why := stateFault(text); why != "" {
					fault = why
				}
			}
			clause.Holds(fault == "" && len(got) <= 1, "a trace state that is passed on is one list of key=value members ("+what+")", "%q: %s", got, fault)
			if own && fault == "" {
				x.Clause(x.over("P14-2", "P14-5")).Warning().Holds(strings.Contains(strings.Join(got, ","), "vendor=abc"), "the trace state that the runtime was given with a trace of the session's own gets to the handler", "%q", got)
			}
			for _, text := range inv.traceparents() {
				if parts := strings.Split(text, "-"); len(parts) == 4 {
					x.Clause("P14.1-2").Expect(strings.ToLower(parts[1])).To(Equal(s.ID.String()), "the trace ID is the session ID, also when the runtime itself runs in %s, %s", what, outer)
				}
				x.Clause("P14-3").Holds(parentFault(text) == "", "the trace context has its standard form in "+what, "%q: %s", text, parentFault(text))
			}
			inv.Finish()
			run.Wait()
		}
	}, overBoth)

var _ = scenario("P14.1", "exported-spans", "two runs of a session export their spans to a collector: all of them are of the session's trace",
	"P14.1-2 P14.1-3",
	func(x *Lab) {
		s, c := x.plainLog(), x.collector()
		for range 2 {
			run := x.Run(s.ID, WithEnv(c.environment()...))
			run.Next().Finish(x.unpadded("entry"))
			run.Wait()
		}
		spans, err := c.all()
		if len(spans) == 0 {
			x.Stop("the runtime exports no spans by OTLP over HTTP (error: %v), which nothing obliges it to", err)
		}
		var roots, strays []string
		for _, one := range spans {
			if one.parent == "" {
				roots = append(roots, one.name)
				x.Clause("P14.1-2").Expect(one.trace).To(Equal(s.ID.String()), "the trace ID of a root span is the session ID (%s)", one.name)
			}
			if one.trace != s.ID.String() {
				strays = append(strays, one.name+" in trace "+one.trace)
			}
		}
		x.Clause("P14.1-3").Holds(len(strays) == 0, "all spans of the session's runs share the session's trace", "%d of %d do not: %s", len(strays), len(spans), strings.Join(strays, ", "))
		x.Evidence("root spans", strings.Join(roots, ", "))
	})

var _ = scenario("P14.1", "one-trace-for-a-life", "a first run, one after a failure and a woken one of the same session, then a child of it: the session's runs share one trace ID, and the child has its own",
	"P14.1-3",
	func(x *Lab) {
		s := x.plainLog()
		traces := []string{}
		note := func(inv *Invocation) {
			for _, text := range inv.traceparents() {
				if parts := strings.Split(text, "-"); len(parts) == 4 {
					traces = append(traces, parts[1])
				}
			}
		}
		run := x.Run(s.ID, clean)
		inv := run.Next()
		note(inv)
		_ = inv.Exit(1)
		again := run.Again()
		note(again)
		again.Finish(pause("enough"))
		x.settle()
		s.Put(wire.SnapshotSpec{Version: x.Versions(s.ID)[len(x.Versions(s.ID))-1] + 1, Type: wire.Provisional, Entries: []wire.Entry{x.later(s, "news")}})
		run = x.Run(s.ID, clean)
		inv = run.Next()
		note(inv)
		inv.Finish()
		run.Wait()
		if len(traces) < 3 {
			x.Stop("of three invocations %d had a trace context (P14-1, P14-4)", len(traces))
		}
		x.Clause("P14.1-3").Holds(traces[0] == traces[1] && traces[1] == traces[2], "the first invocation, the one after a failure and the woken one have the same trace ID", "%v", traces)
		child := x.plainLog().Fork(wire.SessionSpec{ID: x.NewID()}, x.text("task"))
		traces = nil
		run = x.Run(child.ID, clean)
		inv = run.Next()
		note(inv)
		inv.Finish()
		run.Wait()
		x.Clause("P14.1-3").Expect(traces).To(Equal([]string{child.ID.String()}), "a child session has a trace of its own, with its own ID")
	}, overBoth)
