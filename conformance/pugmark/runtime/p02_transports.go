package runtime

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

var _ = scenario("P2", "full-exchange", "a handler of either kind reads a log and answers with an entry: the exchange takes place from the first record to the commit",
	"P2-1",
	func(x *Lab) {
		s := x.plainLog()
		run := x.Run(s.ID)
		inv := run.Next("P2-1")
		const demand = "a handler that is a process is started and gets its records on a pipe; one that is a URL gets them by an HTTP request"
		if x.Over == HTTP && (inv.Request.Method != "POST" || inv.Request.Header.Get("Upgrade") != "") {
			x.Clause("P2-1").Holds(false, demand, "the handler's URL got %q", clip(inv.Request.Head, 400))
			return
		}
		got := inv.Received()
		x.Clause("P2-1").Holds(len(got.Raw) > 0, demand, "%d bytes, %d records", len(got.Raw), len(got.Inputs))
		out := x.unpadded("entry")
		inv.Finish(out)
		exit := run.Wait("P2-1")
		x.Clause("P2-1").Holds(x.holdsBody(out.Data), "what the handler answers comes back the same way and is taken", "the bucket holds it: %t; %s%s", x.holdsBody(out.Data), exit.Exit, commit{exit: exit}.complaint())
	}, overBoth)

// exchanged is what crossed a transport and came of it, without what may differ
// from run to run.
type exchanged struct{ inputs, committed []string }

// exchange runs a session whose handler answers with outs.
func (x *Lab) exchange(over Transport, s *wire.Session, outs []wire.OutputRecord) exchanged {
	was := x.Over
	x.Over = over
	defer func() { x.Over = was }()
	run := x.Run(s.ID)
	inv := run.Next()
	var e exchanged
	for _, in := range inv.Received().Inputs {
		e.inputs = append(e.inputs, inv.comparable(in))
	}
	inv.Finish(outs...)
	run.Wait()
	for _, d := range x.appended(s.ID) {
		var all map[string]any
		x.Must(json.Unmarshal(d.Raw, &all))
		for _, field := range fields("created-at data") {
			delete(all, field)
		}
		text, err := json.Marshal(all)
		x.Must(err)
		e.committed = append(e.committed, string(text))
	}
	for _, r := range x.remembered("both-" + s.ID.String()[8:]) {
		e.committed = append(e.committed, fmt.Sprintf("memory %s %s %s", r.Name, r.Digest, r.ContentType))
	}
	for _, c := range x.newControls(s.ID) {
		e.committed = append(e.committed, fmt.Sprintf("control %s %q", c.Status, c.Reason))
	}
	return e
}

// comparable is an Input as JSON, url and data replaced by the digest of what they
// lead to: whether a body is inlined is the runtime's choice each time.
func (i *Invocation) comparable(in wire.Input) string {
	all := map[string]json.RawMessage{}
	for key, value := range in.Fields {
		if key != "url" && key != "data" && !in.Zero(key) {
			all[key] = value
		}
	}
	if in.Event != "memory" && (in.URL != "" || in.HasData) {
		if body, ok, _ := i.Body(in); ok {
			all["body"] = json.RawMessage(`"` + wire.Digest(body) + `"`)
		}
	}
	text, err := json.Marshal(all)
	i.lab.Must(err)
	return string(text)
}

var _ = scenario("P2", "same-over-both", "one log and one handler, by pipe and by HTTP: the records are the same, and so is what is committed",
	"P2-2",
	func(x *Lab) {
		type told struct {
			s    *wire.Session
			outs []wire.OutputRecord
		}
		child := x.NewID().String()
		bodies := [][]byte{x.fill(20), x.fill(3000)}
		tell := func() told {
			s := x.Session(wire.SessionSpec{Agent: "agent-7", Metadata: map[string]string{"team": "blue"}})
			full := wire.Entry{Name: "full", Body: bodies[0], ContentType: "text/x", SchemaURL: "https://example.com/s", Metadata: map[string]string{"k": "ü"}}
			s.Commit(wire.Checkpoint, full, wire.Entry{Body: bodies[1]}, stopped("waiting"))
			s.Commit(wire.Provisional, wire.Entry{Name: "news", Body: bodies[0]})
			return told{s, []wire.OutputRecord{
				{Name: "entry", Data: bodies[0], ContentType: "text/y", Metadata: map[string]string{"k": "v"}}, {Name: "long", Data: bodies[1]},
				{Name: "fork", Data: bodies[0], Fork: true, Session: child}, {Name: "memories/both-" + s.ID.String()[8:] + "/x", Data: bodies[0]}, pause("enough"),
			}}
		}
		piped, called := tell(), tell()
		byPipe, byHTTP := x.exchange(Subprocess, piped.s, piped.outs), x.exchange(HTTP, called.s, called.outs)
		if len(byPipe.inputs) == 0 || len(byPipe.committed) == 0 {
			x.Stop("over a pipe there were %d records and %d committed things, so there is nothing to compare", len(byPipe.inputs), len(byPipe.committed))
		}
		x.Clause("P2-2").Expect(byHTTP.inputs).To(Equal(byPipe.inputs), "the Inputs over HTTP are those over a pipe, bodies compared by what url and data lead to")
		slices.Sort(byHTTP.committed)
		slices.Sort(byPipe.committed)
		x.Clause("P2-2").Expect(strings.Join(byHTTP.committed, "\n")).To(Equal(strings.Join(byPipe.committed, "\n")), "what is committed of the same Outputs is the same but for times, transaction and random IDs")
	}, needing("http"))
