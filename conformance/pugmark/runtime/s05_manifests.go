package runtime

import (
	"encoding/json"
	"fmt"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/profile"
	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

var _ = scenario("S5", "children", "two forks, one with an ID of the handler's choice, agent, handler and metadata to inherit: the manifests of the children",
	"S5-1 S5-2 S5-3 S5-4 S5-5 S5.1-1",
	func(x *Lab) {
		parent := x.Session(wire.SessionSpec{Agent: "agent-7", Handler: "worker", Metadata: map[string]string{"team": "blue"}})
		parent.Commit(wire.Checkpoint, x.text("a"))
		chosen, drawn := x.unpadded("chosen"), x.unpadded("drawn")
		chosen.Fork, drawn.Fork = true, true
		chosen.Session = x.NewID().String()
		chosen.Metadata = map[string]string{"one": "1", "yes": "true", "none": "", "text": "zwei\nZeilen ✓"}
		run := x.Run(parent.ID, WithHandler("worker"), WithoutDefault())
		run.Next().Finish(chosen, drawn, x.unpadded("entry"))
		run.Success()
		snap, ok := x.Snapshot(parent.ID, 2)
		if !ok {
			x.Stop("the forks were not recorded")
		}
		run = x.Run(parent.ID, WithHandler("worker"), WithoutDefault())
		run.Next().Finish()
		run.Wait()
		made := map[string]writtenManifest{}
		for _, m := range x.writtenManifests() {
			made[m.ID.String()] = m
		}
		for _, d := range snap.Descriptors {
			if target, isFork := d.ForkTarget(); isFork && len(made) > 0 {
				m, ok := made[target.String()]
				if x.Clause("S5-2").Holds(ok, "the child's manifest is that of the session which its record names", "target-session %s; manifests written: %v", target, keysOfManifests(made)) && d.Name == "chosen" && m.fields["metadata"] != nil {
					x.Clause("S5-5").Expect(m.Metadata).To(Equal(chosen.Metadata), "the metadata of the fork, as strings, in the child's manifest: %s", m.fields["metadata"])
				}
			}
		}
	}, overBoth)

func keysOfManifests(m map[string]writtenManifest) []string {
	there := map[string]bool{}
	for id := range m {
		there[id] = true
	}
	return keysOf(there)
}

var _ = scenario("S5", "created-manifest", "a session created by command, with agent, handler, metadata and a given ID: its manifest",
	"S5-1 S5-2 S5-4 S5-5 S5.1-1 S5.1-3",
	func(x *Lab) {
		id := x.NewID()
		metadata := map[string]string{"one": "1", "yes": "true", "none": "", "text": "zwei\nZeilen ✓"}
		v := profile.Values{Session: id.String(), Agent: "007", HandlerName: "42"}
		for _, k := range fields("none one text yes") {
			v.Metadata = append(v.Metadata, k+"="+metadata[k])
		}
		run := x.Command(x.Config.Profile.Create, v)
		if exit := run.Wait(); !exit.Success() {
			x.Stop("no session could be created (%s)%s", exit.Exit, run.said())
		}
		for _, m := range x.writtenManifests() {
			x.Clause("S5-4").Expect([]string{m.Agent, m.Handler}).To(Equal([]string{"007", "42"}), "agent and handler as given, as strings: agent %s, handler %s", m.fields["agent"], m.fields["handler"])
			x.Clause("S5-5").Expect(m.Metadata).To(Equal(metadata), "the metadata as given, as strings: %s", m.fields["metadata"])
		}
	}, needing("create"))

var _ = scenario("S5", "optional-fields", "manifests with and without each of name, agent and handler: each runs, with the right handler and agent",
	"S5-4",
	func(x *Lab) {
		for i := range 8 {
			spec := wire.SessionSpec{}
			label, agent := "default", ""
			if i&1 > 0 {
				spec.Name = x.Word("name")
			}
			if i&2 > 0 {
				spec.Agent, agent = "agent-7", "agent-7"
			}
			if i&4 > 0 {
				spec.Handler, label = "worker", "worker"
			}
			s := x.Session(spec)
			s.Commit(wire.Checkpoint, x.text("a"))
			what := fmt.Sprintf("name %q, agent %q, handler %q", spec.Name, spec.Agent, spec.Handler)
			run := x.Run(s.ID, WithHandler("worker"))
			inv, why := run.await()
			if inv == nil {
				x.Clause("S5-4").Holds(false, "a session runs whichever of name, agent and handler its manifest has ("+what+")", "%s", why)
				continue
			}
			x.Clause("S5-4").Holds(inv.Label == label, "the handler is the one that the manifest names, or the default ("+what+")", "invoked: %s", inv.Label)
			if got, _ := inv.Getenv("PUGMARK_AGENT_ID"); x.Over == Subprocess {
				x.Clause("S5-4").Resting("R-34").Holds(got == agent, "PUGMARK_AGENT_ID is the manifest's agent, empty or unset where it has none ("+what+")", "%q", got)
			}
			inv.Finish()
			run.Wait()
		}
	}, overBoth)

var _ = scenario("S5", "metadata-as-it-is", "values that look like numbers, truth values and nothing, and text with line feeds: the handler gets them as they are",
	"S5-5",
	func(x *Lab) {
		want := map[string]string{"one": "1", "float": "1.50", "yes": "true", "null": "null", "none": "", "text": "a\nb", "ünï": "✓ 雪", "quoted": `"x"`, "html": "<a&b>"}
		plain := x.Session(wire.SessionSpec{Metadata: map[string]string{"team": "blue"}})
		s := x.Session(wire.SessionSpec{Metadata: want})
		got := map[wire.SessionID]map[string]string{}
		for _, s := range []*wire.Session{plain, s} {
			run := x.Run(s.ID)
			inv, why := run.await()
			if inv == nil {
				if s != plain {
					x.Clause("S5-5").Holds(false, "a session with such metadata runs", "%s", why)
				}
				return
			}
			text, _ := inv.Getenv("PUGMARK_SESSION_METADATA")
			m := map[string]string{}
			if err := json.Unmarshal([]byte(text), &m); err != nil && s == plain {
				x.Stop("PUGMARK_SESSION_METADATA is no JSON object of strings (%v), which P13 judges: %s", err, clip([]byte(text), 200))
			} else if err != nil {
				x.Clause("S5-5").Holds(false, "the metadata is handed on as an object of strings", "%s: %v", clip([]byte(text), 300), err)
			}
			got[s.ID] = m
			inv.Finish()
			run.Wait()
		}
		if got[plain.ID]["team"] != "blue" {
			x.Stop("the handler does not get the metadata of a plain session either")
		}
		x.Clause("S5-5").Expect(got[s.ID]).To(Equal(want), "every value of the manifest's metadata as it stands there")
	})

var _ = scenario("S5", "first-number", "a first-sequence-number beyond what a double holds, a negative one, and none: the first descriptors carry exactly that",
	"S5-6",
	func(x *Lab) {
		for _, v := range []struct {
			what string
			spec wire.SessionSpec
			want []int64
		}{
			{"100", wire.SessionSpec{FirstSequence: 100}, []int64{100, 101}},
			{"2^53+1", wire.SessionSpec{FirstSequence: 9007199254740993}, []int64{9007199254740993, 9007199254740994}},
			{"-3", wire.SessionSpec{FirstSequence: -3}, []int64{-3, -2}},
			{"absent, which counts as 0", wire.SessionSpec{Omit: []string{"first-sequence-number"}}, []int64{0, 1}},
		} {
			s := x.Session(v.spec)
			run := x.Run(s.ID)
			inv, why := run.await()
			check := x.Clause("S5-6")
			if len(v.spec.Omit) > 0 {
				check = check.Assuming("R-26")
			}
			if inv == nil {
				check.Holds(false, "a session with first-sequence-number "+v.what+" runs", "%s", why)
				continue
			}
			inv.Finish(x.unpadded("one"), x.unpadded("two"))
			run.Success()
			snap, ok := x.Snapshot(s.ID, 1)
			if !ok || len(entries(snap)) != 2 {
				x.Stop("the run did not commit its two Outputs as version 1")
			}
			n := sequence(entries(snap))
			if v.want[0] == 100 && n[0] != 100 {
				x.Stop("the first descriptor does not get the manifest's number, 100, but %d (S7.3-2), so how that is read is not judged", n[0])
			}
			if n[1] == n[0]+1 || n[1] == n[0] { // else S7.3 has something to say
				check.Expect(n).To(Equal(v.want), "first-sequence-number is %s: the first two descriptors have the numbers %v", v.what, v.want)
			}
		}
	}, overBoth)
