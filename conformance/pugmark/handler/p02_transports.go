package handler

import (
	"fmt"
	"strings"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

var _ = scenario("P2", "preflight", "one log after the other, until the handler succeeds on one", "P2-1 P2.1-2 P2.1-4 P2.2-2 P2.2-3 P2.2-5 P16-1 P16-2 P17-3", func(x *Lab) {
	var tried []string
	for _, log := range x.Logs() {
		e := x.Control(log)
		if e.Well() {
			x.Clause("P2-1").Holds(true, "an exchange over the transport comes to a good end", "log %s: %s", log.Name, e.How())
			if x.Over == Subprocess {
				x.Clause("P2.1-4").Holds(true, endsByExit, "log %s: %s", log.Name, e.How())
			} else {
				x.Clause("P2.2-2").Holds(true, servesPost, "log %s: %s", log.Name, e.How())
				x.Clause("P2.2-5").Holds(true, endsWith200, "log %s: %s", log.Name, e.How())
			}
			return
		}
		tried = append(tried, fmt.Sprintf("log %s: %s", log.Name, e.How()))
		if !e.Ended {
			break // it will not end on the others either, and each costs the time limit
		}
	}
	last := x.Exchanges()[len(tried)-1]
	seen := strings.Join(tried, "\n")
	if len(tried) > 1 && allAlike(x.Exchanges()) {
		seen = fmt.Sprintf("on all of %d logs: %s", len(tried), last.How())
	}
	x.Clause("P2-1").Holds(false, "an exchange over the transport comes to a good end on some log", "%s", seen)
	switch {
	case x.Over == Subprocess && !last.Ended:
		x.Clause("P2.1-4").Holds(false, endsByExit, "%s", seen)
	case x.Over == HTTP && (last.Status == 404 || last.Status == 405):
		x.Clause("P2.2-2").Holds(false, servesPost, "%s", seen)
	case x.Over == HTTP && (last.Status != 0 || !last.Ended):
		x.Clause("P2.2-5").Holds(false, endsWith200, "%s", seen)
	}
	if !last.Ended && len(last.Records()) > 0 { // all its Outputs, as far as anybody can tell
		id, demand := "P16-1", endsByExit
		if x.Over == HTTP {
			id, demand = "P16-2", "the body of the response ends after the last Output"
		}
		x.Clause(id).Holds(false, demand, "%s", seen)
	}
	if last.Ended {
		_ = x.readsFile() || x.wantsEnvelope() || x.needsField()
	}
	x.Stop("%s", seen)
})

const (
	endsByExit  = "the process exits when it has given its Outputs"
	servesPost  = "a POST at the handler's URL is served"
	endsWith200 = "the response has status 200 and comes to its end"
)

func allAlike(es []*Exchange) bool {
	for _, e := range es {
		if e.Exit != es[0].Exit || e.Status != es[0].Status || e.Ended != es[0].Ended || e.Stderr != es[0].Stderr {
			return false
		}
	}
	return true
}

var _ = scenario("P2.1", "input-on-stdin-outputs-on-stdout", "the log on descriptor 0 and nowhere else; where the Outputs come out", "P2.1-2 P2.1-3 P2.1-4", func(x *Lab) {
	log, e := x.Exemplar()
	const demand = "the Outputs are on file descriptor 1"
	if len(e.Records()) == 0 {
		for _, log := range x.Logs() {
			e := x.Control(log)
			if found, _ := wire.DecodeOutputs([]byte(e.Stderr)); len(found) > 0 && !found[0].Empty() {
				x.Clause("P2.1-3").Holds(false, demand, "log %s: descriptor 1 holds no Output, descriptor 2 does: %s", log.Name, clip(found[0].Raw, 200))
				return
			}
		}
		x.readsFile()
		x.Stop(hintOutputs)
	}
	x.heeded("P2.1-2", "Outputs depend on a log that is on file descriptor 0 only", x.readsFile)
	x.Clause("P2.1-3").Holds(true, demand, "log %s: %s", log.Name, counted(len(e.Records())))
	x.Clause("P2.1-4").Holds(e.Ended, endsByExit, "log %s: %s, %s after the last byte of output", log.Name, e.Exit, e.Took-e.Last)
}, onlyOver(Subprocess))

var _ = scenario("P2.1", "diagnostics-on-stderr", "bodies that the handler needs are answered 500, so that it has something to complain about", "P2.1-6 P3-11 P3-12", func(x *Lab) {
	log, _ := x.Fetcher()
	e := x.Play(log, Variation{What: "status 500 for every body", Bodies: ByURL, Objects: func(_ string, a Answer) Answer {
		return Answer{Status: 500, Header: header("Content-Type", "text/plain"), Body: []byte("the store is down\n")}
	}})
	const clean = "nothing but records and whitespace in the output stream, whatever goes wrong"
	if e.Ended && e.readable() {
		x.Clause("P3-11").Holds(true, clean, "log %s: %s", log.Name, e.How())
		x.Clause("P3-12").Holds(true, clean, "log %s: %s", log.Name, e.How())
	}
	if e.Well() || !e.Ended {
		x.Clause("P2.1-6").NotExercised("the handler did not fail when its bodies were answered with status 500")
		return
	}
	x.Clause("P2.1-6").Holds(strings.TrimSpace(e.Stderr) != "", "a handler that fails says why on standard error", "log %s, with %s: %s", log.Name, e.What, e.How())
}, onlyOver(Subprocess))

var _ = scenario("P2.2", "post-and-response", "one POST with the stream as body; the response is the output stream", "P2.2-2 P2.2-3 P2.2-4 P2.2-5 P16-2", func(x *Lab) {
	log, e := x.Exemplar()
	x.Clause("P2.2-2").Holds(true, servesPost, "log %s: %s", log.Name, e.How())
	x.Clause("P2.2-5").Holds(true, endsWith200, "log %s: %s", log.Name, e.How())
	for _, log := range x.Logs() {
		if e := x.Control(log); e.Status >= 201 && e.Status < 300 {
			x.Clause("P2.2-5").Holds(false, endsWith200, "log %s: %s", log.Name, e.How())
		}
	}
	if len(e.Records()) == 0 {
		x.wantsEnvelope()
		x.Stop(hintOutputs)
	}
	x.heeded("P2.2-3", "Outputs depend on an input stream that is the request's body", x.wantsEnvelope)
	x.Clause("P2.2-4").Holds(e.readable() && len(e.Outputs) > 0, "the whole body of the response is a stream of Outputs", "log %s: %q", log.Name, clip(e.Output, 200))
	x.Clause("P16-2").Holds(e.Ended, "the body of the response ends after the last Output", "log %s: %s after the last byte", log.Name, e.Took-e.Last)
}, onlyOver(HTTP))
