package runtime

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/url"
	"slices"
	"strings"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

// awkward metadata and agent: characters that quoting, escaping and encoding go
// wrong with.
var awkwardMetadata = map[string]string{"team": "blue", "quote": `a"b`, "nl": "x\ny", "uni": "ü日"}

const awkwardAgent = "a b&c=ü/7"

var _ = scenario("P2.2", "one-post", "an invocation over HTTP: one POST to the handler's own URL, whose body is the input stream with its length declared",
	"P2.2-1 P2.2-2 P2.2-3 P2.2-15 P2.2-16 P2.2-17",
	func(x *Lab) {
		for _, n := range []int{5, 0, 3000} {
			s := x.Session(wire.SessionSpec{Agent: "agent-7"})
			if n > 0 {
				e := x.text("entry")
				e.Metadata = map[string]string{"pad": strings.Repeat("x", 300)}
				s.Commit(wire.Checkpoint, slices.Repeat([]wire.Entry{e}, n)...)
			}
			run := x.Run(s.ID)
			var inv *Invocation
			if n == 5 {
				inv = run.Next("P2.2-1")
			} else {
				inv = run.Next() // why a session without a log is not run is for S6.3-3 to say
			}
			req := inv.Request
			what := fmt.Sprintf("log of %d entries", n)
			x.Clause("P2.2-1").Expect(req.Method).To(Equal("POST"), "the request's method is POST (%s)", what)
			handler, err := url.Parse(x.Hub.URL("default"))
			x.Must(err)
			target, err := url.Parse(req.Target)
			x.Clause("P2.2-2").Holds(err == nil && target.Path == handler.Path && req.Header.Get("Host") == handler.Host, "host "+handler.Host+" and path "+handler.Path+" of the configured URL",
				"Host %q, request target %q", req.Header.Get("Host"), req.Target)
			types := req.Header.Values("Content-Type")
			media := ""
			if len(types) == 1 {
				media, _, _ = mime.ParseMediaType(types[0])
			}
			x.Clause("P2.2-15").Holds(media == "application/json", "exactly one Content-Type, application/json", "Content-Type: %q", types)
			x.Clause("P2.2-17").Holds(!req.Chunked && len(req.Header.Values("Transfer-Encoding")) == 0, "no Transfer-Encoding header and no chunk sizes in the body ("+what+")", "Transfer-Encoding: %q", req.Header.Values("Transfer-Encoding"))
			st := inv.Received()
			if !req.Chunked {
				lengths := req.Header.Values("Content-Length")
				x.Clause("P2.2-16").Holds(len(lengths) == 1 && lengths[0] == fmt.Sprint(len(st.Raw)), "one Content-Length header and a body of just that length ("+what+")", "Content-Length: %q, body of %d bytes", lengths, len(st.Raw))
			} else {
				x.Clause("P2.2-16").Holds(false, "a Content-Length header ("+what+")", "chunked, Content-Length: %q", req.Header.Values("Content-Length"))
			}
			inv.Finish()
			run.Wait()
			x.sameAsOverPipe("P2.2-3", s, n+2, st)
			again := 0
			for _, i := range x.invocationsSince(inv) {
				if i.Arrived.Before(inv.ended()) {
					again++
				}
			}
			x.Clause("P2.2-1").Expect(again).To(Equal(0), "no second request while the first is unanswered (%s)", what)
		}
	}, overHTTP)

var _ = scenario("P2.2", "identity", "agent and metadata with awkward characters: the query and the header carry them unchanged",
	"P2.2-8 P2.2-9 P2.2-10 P2.2-11 P2.2-12 P2.2-13 P2.2-14 P13-6",
	func(x *Lab) {
		assumed := x.Config.Profile.Assumed.Query
		for _, versions := range []int{0, 3, 300} {
			s := x.Session(wire.SessionSpec{Agent: awkwardAgent, Metadata: awkwardMetadata})
			for v := range versions {
				s.Commit(wire.Checkpoint, wire.Text("", fmt.Sprintf("body %d of %s", v, s.ID)))
			}
			run := x.Run(s.ID)
			inv := run.Next()
			q := inv.Query()
			values := []string{}
			for _, name := range keysOfQuery(q) {
				values = append(values, q[name]...)
			}
			raw := inv.Request.Target
			x.Clause("P2.2-8").Holds(len(q) >= 3, "at least three query parameters", "request target %q", raw)
			x.Clause("P2.2-9").Holds(slices.Contains(values, s.ID.String()), "a query value is the session ID "+s.ID.String(), "request target %q", raw)
			x.Clause("P2.2-10").Holds(slices.Contains(values, awkwardAgent), fmt.Sprintf("a query value, decoded, is the agent %q", awkwardAgent), "request target %q", raw)
			x.Clause("P2.2-11").Assuming("R-01").Holds(slices.Contains(values, fmt.Sprint(versions)), fmt.Sprintf("a query value is the version %d", versions), "request target %q", raw)
			for name, value := range map[string]string{assumed.Agent: awkwardAgent, assumed.Session: s.ID.String(), assumed.Version: fmt.Sprint(versions)} {
				if slices.Contains(values, value) { // that it is there at all is P2.2-9 to P2.2-11
					x.Clause("P2.2-12").Assuming("R-01").Holds(q.Get(name) == value, fmt.Sprintf("the parameters are called %s, %s and %s", assumed.Agent, assumed.Session, assumed.Version), "request target %q", raw)
				}
			}
			headers := inv.Request.Header.Values("X-Pugmark-Session-Metadata")
			got := map[string]string{}
			ok := len(headers) == 1 && json.Unmarshal([]byte(headers[0]), &got) == nil
			x.Clause("P2.2-13").Holds(ok && mapsEqual(got, awkwardMetadata), fmt.Sprintf("one header X-Pugmark-Session-Metadata whose JSON object is %v", awkwardMetadata), "%q", headers)
			x.Clause("P13-6").Holds(ok && mapsEqual(got, awkwardMetadata) && slices.Contains(values, awkwardAgent) && slices.Contains(values, s.ID.String()),
				"agent and session in the query and metadata in the header, with the manifest's values", "request target %q, metadata header %q", raw, headers)
			inv.Finish()
			run.Wait()
		}
		bare := x.Session(wire.SessionSpec{Agent: "agent-7"})
		run := x.Run(bare.ID)
		inv := run.Next("P2.2-14")
		x.Clause("P2.2-14").Resting("R-35").Expect(inv.Request.Header.Values("X-Pugmark-Session-Metadata")).To(BeEmpty(), "no metadata header where the manifest has no metadata")
		inv.Finish()
		run.Wait()
	}, overHTTP)

// sameAsOverPipe judges that a request's body is the input stream of a session,
// of so many records. What is wrong with it is held against the clause only where
// a handler that is a process gets a better stream: else it is the stream's fault.
func (x *Lab) sameAsOverPipe(clause string, s *wire.Session, records int, got Stream) {
	demand := fmt.Sprintf("the body is the input stream, of %d records, and nothing else", records)
	check := x.Clause(clause).Calldepth(1)
	if len(got.Inputs) == records && len(got.Faults) == 0 && got.unreadable() == "" {
		check.Holds(true, demand, "%d records in %d bytes", len(got.Inputs), len(got.Raw))
		return
	}
	x.Over = Subprocess
	defer func() { x.Over = HTTP }()
	run := x.Run(s.ID)
	inv := run.Next()
	want := inv.Received()
	inv.Finish()
	run.Wait()
	if len(want.Inputs) == len(got.Inputs) && len(want.Faults) == len(got.Faults) && (want.unreadable() == "") == (got.unreadable() == "") {
		check.NotExercised("%s", fmt.Sprintf("the stream itself is not as it should be, over a pipe as over HTTP: %d records, %s", len(got.Inputs), listed(got.Faults)))
		return
	}
	check.Holds(false, demand, "%d records in %d bytes, beginning %q; faults: %s. Over a pipe: %d records, faults: %s",
		len(got.Inputs), len(got.Raw), clip(got.Raw, 200), listed(got.Faults), len(want.Inputs), listed(want.Faults))
}

func keysOfQuery(q url.Values) []string {
	out := []string{}
	for k := range q {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func mapsEqual(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if w, ok := b[k]; !ok || w != v {
			return false
		}
	}
	return true
}

var _ = scenario("P2.2", "framing-of-the-answer", "the same two outputs by Content-Length, in chunks that cut records, and until the connection closes, under several content types",
	"P2.2-4",
	func(x *Lab) {
		for i, c := range []struct {
			what, contentType string
			length            bool
			pieces            int
		}{
			{"Content-Length, text/plain", "text/plain", true, 1},
			{"chunks that cut records, application/json", "application/json", false, 7},
			{"chunks, no content type", "", false, 1},
		} {
			s := x.plainLog()
			outs := []wire.OutputRecord{x.output("one"), x.output("two")}
			body := plainly(outs...)
			run := x.Run(s.ID)
			inv := run.Next()
			header := map[string][]string{}
			if c.contentType != "" {
				header["Content-Type"] = []string{c.contentType}
			}
			if c.length {
				header["Content-Length"] = []string{fmt.Sprint(len(body))}
			}
			inv.SetStatus(200, header)
			for step := (len(body) + c.pieces - 1) / c.pieces; len(body) > 0; {
				n := min(step, len(body))
				inv.Say(body[:n])
				body = body[n:]
			}
			inv.Finish()
			if i == 0 {
				run.Success() // the plainest framing: what fails here is no matter of framing
			} else {
				run.Success("P2.2-4")
			}
			x.Clause("P2.2-4").Holds(x.bodyCommitted(s.ID, 4, outs[0].Data) && x.bodyCommitted(s.ID, 4, outs[1].Data),
				"both outputs of the answer are committed ("+c.what+")", "versions: %v", x.Versions(s.ID))
		}
	}, overHTTP)

var _ = scenario("P2.2", "broken-answer", "a 200 whose body breaks off after two whole outputs: nothing is committed",
	"P2.2-7",
	func(x *Lab) {
		for _, declared := range []bool{false, true} {
			what := "before the last chunk"
			s := x.plainLog()
			outs := []wire.OutputRecord{x.output("one"), x.output("two")}
			body := plainly(outs...)
			run := x.Run(s.ID)
			inv := run.Next()
			header := map[string][]string{}
			if declared {
				what = "short of its Content-Length"
				header["Content-Length"] = []string{fmt.Sprint(len(body) + 100)}
			}
			inv.SetStatus(200, header)
			inv.Say(body)
			_ = inv.Die(0)
			exit := run.Wait("P2.2-7")
			committed := false
			for _, v := range x.newVersions(s.ID) {
				committed = committed || x.bodyCommitted(s.ID, v, outs[0].Data)
			}
			x.Clause("P2.2-7").Holds(!committed, "no snapshot is committed from a body that broke off "+what, "new versions: %v", x.newVersions(s.ID))
			if !committed {
				x.Clause("P2.2-7").Warning().Holds(!exit.Success() || strings.TrimSpace(exit.Stderr) != "", "the failed invocation is reported", "%s without a word on stderr", exit.Exit)
			}
			whole := x.output("whole")
			x.committed(s, 4, []wire.OutputRecord{whole}) // the control: properly ended, it commits
		}
	}, overHTTP)
