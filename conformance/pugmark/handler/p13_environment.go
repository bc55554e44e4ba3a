package handler

import (
	"fmt"
	"strings"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

var _ = scenario("P13", "no-metadata", "a session without metadata and without an agent", "P13-9", func(x *Lab) {
	log, _ := x.Exemplar()
	without := func(unset bool) func(*Identity) {
		return func(id *Identity) { id.Metadata, id.Agent, id.NoVariable = nil, "", unset }
	}
	const demand = "metadata that is not there reads as empty, and is no reason to fail"
	e := x.Play(log, Variation{What: "a session without metadata and agent", Identity: without(false)})
	x.Clause("P13-9").Holds(e.Well(), demand, "log %s, with %s: %s", log.Name, e.What, e.How())
	if x.Over == Subprocess {
		e = x.Play(log, Variation{What: "PUGMARK_AGENT_ID and PUGMARK_SESSION_METADATA unset", Identity: without(true)})
		x.Clause("P13-9").Assuming("R-05").Holds(e.Well(), demand+", also when the variable is not set", "log %s, with %s: %s", log.Name, e.What, e.How())
	}
})

var _ = scenario("P17", "unknown-variables", "PUGMARK_ variables of a later revision", "P17-10 P3-11 P3-12", func(x *Lab) {
	log, _ := x.Exemplar()
	v := Variation{What: "PUGMARK_FUTURE=1, PUGMARK_PROTOCOL_VERSION=2 and PUGMARK_X with broken JSON", Env: map[string]string{
		"PUGMARK_FUTURE": "1", "PUGMARK_PROTOCOL_VERSION": "2", "PUGMARK_X": `{"a":[`, "DEBUG": "1",
	}}
	if x.Config.URL != "" {
		x.Stop("the environment of a service that runs already is not pugcheck's to set; judge its command with --rpc")
	}
	e := x.Play(log, v)
	x.Same(log, e, "P17-10")
	if e.Ended && e.readable() && len(e.Records()) > 0 {
		const clean = "nothing but records and whitespace in the output stream, with DEBUG=1 too"
		x.Clause("P3-11").Holds(true, clean, "log %s: %s", log.Name, e.How())
		x.Clause("P3-12").Holds(true, clean, "log %s: %s", log.Name, e.How())
	}
})

// traced is the identity with a trace that is not the session's.
func (x *Lab) traced() (trace string, change func(*Identity)) {
	trace = fmt.Sprintf("%016x%016x", x.Rand.Uint64()|1, x.Rand.Uint64()|1)
	return trace, func(id *Identity) {
		id.Traceparent = "00-" + trace + "-" + fmt.Sprintf("%016x", x.Rand.Uint64()|1) + "-01"
	}
}

// carried judges whether requests carry the trace on.
func (x *Lab) carried(clause, trace string, log Log, fetched []Fetch) {
	const demand = "each request carries a traceparent with the trace ID of the invocation"
	for _, f := range fetched {
		parent := f.Header.Get("Traceparent")
		if !validTraceparent(parent) || parent[3:35] != trace {
			x.Clause(clause).Holds(false, demand, "log %s: %s with traceparent %q; the trace ID is %s", log.Name, f, parent, trace)
			return
		}
	}
	if len(fetched) > 0 {
		x.Clause(clause).Holds(true, demand, "log %s: %s with traceparent %s", log.Name, fetched[0], fetched[0].Header.Get("Traceparent"))
	}
}

func validTraceparent(s string) bool {
	if len(s) != 55 || s[2] != '-' || s[35] != '-' || s[52] != '-' || s[:2] == "ff" {
		return false
	}
	hex := s[:2] + s[3:35] + s[36:52] + s[53:]
	return strings.Trim(hex, "0123456789abcdef") == "" && strings.Trim(s[3:35], "0") != "" && strings.Trim(s[36:52], "0") != ""
}

var _ = scenario("P14", "fetches-carry-the-trace", "bodies by URL, under a trace of its own", "P14-7", func(x *Lab) {
	log, _ := x.Fetcher()
	trace, change := x.traced()
	e := x.Play(log, Variation{What: "a trace of its own and all bodies by URL", Bodies: ByURL, Identity: change})
	x.carried("P14-7", trace, log, e.from(e.objectFetches))
})

var _ = scenario("P14", "memory-reads-carry-the-trace", "a log on which memory is read, under a trace of its own", "P14-8", func(x *Lab) {
	log, _, _ := x.reader()
	trace, change := x.traced()
	e := x.Play(log, Variation{What: "a trace of its own", Identity: change})
	x.carried("P14-8", trace, log, e.from(e.memoryFetches))
})

var _ = scenario("P14.1", "trace-id-is-session-id", "the trace ID equals the session ID", "P14.1-1", func(x *Lab) {
	log, e := x.Exemplar()
	x.Clause("P14.1-1").Holds(e.Well(), "a trace ID that equals the session ID is a good one", "log %s: %s", log.Name, e.How())
})

var _ = scenario("P17", "unknown-protocol-version", "a leading protocol record with version 2, and with 999", "P17-14", func(x *Lab) {
	log, control := x.Exemplar()
	if len(control.Records()) == 0 {
		x.Stop(hintOutputs)
	}
	const demand = "a stream of a version that the handler does not know ends without any Output"
	for _, c := range []struct {
		what, version string
		open          bool
	}{
		{"a leading record of protocol version 2", "2", false},
		{"a leading record of protocol version 999", "999", false},
		{"a leading record of protocol version 2 and the input kept open", "2", true},
	} {
		if c.open && x.Over == HTTP {
			continue // a request's body has its length
		}
		e := x.Play(log, Variation{What: c.what, KeepOpen: c.open, Inputs: func(in []wire.InputRecord) []wire.InputRecord {
			return append([]wire.InputRecord{{Event: "protocol", Metadata: map[string]string{"version": c.version}}}, in...)
		}})
		refused := x.Over == HTTP && e.Status != 200 // free text may stand in such a body
		if !x.Clause("P17-14").Holds(e.Ended && (refused || len(e.Records()) == 0), demand, "log %s, with %s: %s", log.Name, c.what, e.How()) {
			return
		}
	}
})
