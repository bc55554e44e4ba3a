package runtime

import (
	"slices"
	"strings"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

// reached runs a session with the handlers python and bash and a default one
// registered, and gives the label of the one that was invoked; "" where none was,
// and how the run then ended.
func (x *Lab) reached(s *wire.Session, options ...RunOption) (label, ended string) {
	run := x.Run(s.ID, append([]RunOption{WithHandler("bash"), WithHandler("python")}, options...)...)
	inv, why := run.await()
	if inv == nil {
		run.Wait()
		return "", why
	}
	inv.Received()
	inv.Finish()
	run.Wait()
	return inv.Label, ""
}

var _ = scenario("P15", "selected-by-name", "two named handlers and a default one: a session gets the one that its manifest names, the first registered and the last",
	"P15-2",
	func(x *Lab) {
		for _, name := range []string{"bash", "python"} {
			s := x.Session(wire.SessionSpec{Handler: name})
			s.Commit(wire.Checkpoint, x.text("seed"))
			label, ended := x.reached(s)
			x.Clause("P15-2").Holds(label == name, "a session whose manifest says handler "+name+" is run with the handler of that name", "%s%s", orNobody(label), ended)
		}
		s := x.Session(wire.SessionSpec{Handler: "ruby"})
		s.Commit(wire.Checkpoint, x.text("seed"))
		label, _ := x.reached(s)
		x.Clause("P15-2").Assuming("Q:P15-2").Holds(label == "", "no handler is run for a session that names one which is not registered", "%s", orNobody(label))
	}, overBoth)

func orNobody(label string) string {
	if label == "" {
		return "no handler was invoked; "
	}
	return "the handler " + label + " was invoked"
}

var _ = scenario("P15", "default", "manifests without a handler, and with an empty one: the default handler is run, whatever is registered beside it",
	"P15-3",
	func(x *Lab) {
		for _, spec := range []wire.SessionSpec{{}, {Extra: map[string]any{"handler": ""}}} {
			s := x.Session(spec)
			s.Commit(wire.Checkpoint, x.text("seed"))
			what := "has no handler"
			if spec.Extra != nil {
				what = `says "handler":""`
			}
			label, ended := x.reached(s)
			x.Clause("P15-3").Holds(label == "default", "a session whose manifest "+what+" is run with the default handler", "%s%s", orNobody(label), ended)
		}
	}, overBoth)

var _ = scenario("P15", "any-name", "a handler named by words, a slash and an umlaut: a session that names it is run with it",
	"P15-1",
	func(x *Lab) {
		for _, name := range []string{"", "python", "x y/ü"} {
			s := x.Session(wire.SessionSpec{Handler: name})
			s.Commit(wire.Checkpoint, x.text("seed"))
			want := name
			if name == "" {
				want = "default"
			}
			label, ended := x.reached(s, WithHandler("x y/ü"))
			x.Clause("P15-1").Holds(label != "", "a session whose manifest says handler \""+name+"\" can be run where "+want+" is registered", "%s%s", orNobody(label), ended)
		}
	}, overBoth)

// lineage forks a child and then a grandchild of a session, each by its own
// handler, and gives their IDs. Every run has the same handlers registered.
func (x *Lab) lineage(parent *wire.Session) (ids []wire.SessionID, invoked []*Invocation) {
	options := []RunOption{WithHandler("bash"), WithHandler("python"), WithEnv("PUGMARK_AGENT_ID", "somebody-else")}
	ids = []wire.SessionID{parent.ID, x.NewID(), x.NewID()}
	for i, id := range ids {
		run := x.Run(id, options...)
		inv := x.of(run, id)
		invoked = append(invoked, inv)
		if i == len(ids)-1 {
			inv.Finish()
			run.Wait()
			break
		}
		fork := x.unpadded("fork")
		fork.Fork, fork.Session = true, ids[i+1].String()
		inv.Finish(fork, x.unpadded("beside"))
		run.Wait()
		x.Run(id, options...).Wait() // makes the child, if nobody has yet
		if _, made := x.Get(ids[i+1].ManifestKey()); !made {
			x.Stop("the child that was forked has no manifest after its parent's next run (P11.1)")
		}
	}
	return ids, invoked
}

// of waits for a run's invocation of the given session: a process may run others
// that are due as well.
func (x *Lab) of(run *Run, id wire.SessionID) *Invocation {
	for {
		inv := run.Next()
		got, _ := inv.Getenv("PUGMARK_SESSION_ID")
		if inv.Request != nil {
			got = strings.Join(inv.Query()[x.Config.Profile.Assumed.Query.Session], "")
		}
		if got == "" || strings.EqualFold(got, id.String()) {
			return inv
		}
		inv.Finish()
	}
}

var _ = scenario("P15", "inherited", "a parent with handler and agent, and one with neither, each with child and grandchild: their manifests say the same",
	"P15-4 P15-5 P15-6",
	func(x *Lab) {
		for _, spec := range []wire.SessionSpec{{Handler: "python", Agent: "agent-7"}, {}} {
			parent := x.Session(spec)
			parent.Commit(wire.Checkpoint, x.text("seed"))
			ids, invoked := x.lineage(parent)
			for i, id := range ids[1:] {
				o, _ := x.Get(id.ManifestKey())
				m, _ := wire.DecodeManifest(o)
				what := []string{"child", "grandchild"}[i]
				x.Clause("P15-4").Expect(m.Handler).To(Equal(spec.Handler), "the manifest of the %s has the parent's handler", what)
				x.Clause("P15-5").Expect(m.Agent).To(Equal(spec.Agent), "the manifest of the %s has the parent's agent", what)
			}
			var labels, agents []string
			for _, inv := range invoked {
				labels = append(labels, inv.Label)
				if agent, ok := inv.Getenv("PUGMARK_AGENT_ID"); ok {
					agents = append(agents, agent)
				}
			}
			same := len(slices.Compact(slices.Clone(labels))) == 1
			x.Clause("P15-6").Holds(same, "parent, child and grandchild are run by the same handler", "their handlers: %v", labels)
			if spec.Agent != "" {
				x.Clause("P15-6").Expect(slices.Compact(agents)).To(HaveLen(1), "all three are told the same agent")
			}
		}
	})
