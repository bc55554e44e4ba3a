package runtime

import (
	"encoding/json"
	"fmt"
	"strings"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

var _ = scenario("P13", "variables", "agent and metadata with awkward characters, other values in the runtime's own environment: the handler sees those of its session",
	"P13-1 P13-2 P13-3 P13-4",
	func(x *Lab) {
		other := x.NewID().String()
		foreign := WithEnv("PUGMARK_AGENT_ID", "somebody-else", "PUGMARK_SESSION_ID", other, "PUGMARK_SESSION_METADATA", `{"other":"one"}`)
		for _, versions := range []int{0, 3, 300} {
			s := x.Session(wire.SessionSpec{Agent: awkwardAgent, Metadata: awkwardMetadata})
			for v := range versions {
				s.Commit(wire.Checkpoint, wire.Text("", fmt.Sprintf("body %d of %s", v, s.ID)))
			}
			run := x.Run(s.ID, foreign)
			inv := run.Next()
			agent, _ := inv.Getenv("PUGMARK_AGENT_ID")
			x.Clause("P13-1").Expect(agent).To(Equal(awkwardAgent), "PUGMARK_AGENT_ID is the agent of the manifest")
			id, _ := inv.Getenv("PUGMARK_SESSION_ID")
			x.Clause("P13-2").Expect(id).To(Equal(s.ID.String()), "PUGMARK_SESSION_ID is the session's ID in lower-case hex")
			text, _ := inv.Getenv("PUGMARK_SESSION_METADATA")
			got := map[string]string{}
			err := json.Unmarshal([]byte(text), &got)
			x.Clause("P13-3").Holds(err == nil && mapsEqual(got, awkwardMetadata), fmt.Sprintf("PUGMARK_SESSION_METADATA is the JSON object %v", awkwardMetadata), "%q", text)
			name := x.Config.Profile.Assumed.Environment.SnapshotVersion
			version, ok := inv.Getenv(name)
			x.Clause("P13-4").Assuming("R-05").Holds(ok && version == fmt.Sprint(versions), fmt.Sprintf("%s is %d", name, versions), "%q, set: %v", version, ok)
			inv.Finish()
			run.Wait()
		}
		bare := x.Session(wire.SessionSpec{})
		run := x.Run(bare.ID, foreign)
		inv := run.Next()
		agent, _ := inv.Getenv("PUGMARK_AGENT_ID")
		x.Clause("P13-1").Assuming("R-34").Expect(agent).To(BeEmpty(), "PUGMARK_AGENT_ID is empty or unset where the manifest has no agent, whatever the runtime inherited")
		text, ok := inv.Getenv("PUGMARK_SESSION_METADATA")
		got := map[string]string{}
		fits := !ok || text == "" || json.Unmarshal([]byte(text), &got) == nil && len(got) == 0
		x.Clause("P13-3").Warning().Holds(fits, "PUGMARK_SESSION_METADATA is {}, empty or unset where the manifest has no metadata", "%q", text)
		inv.Finish()
		run.Wait()
	})

var _ = scenario("P13", "uppercase-argument", "the ID is given in upper case on the command line: the variable is lower case",
	"P13-2",
	func(x *Lab) {
		s := x.plainLog()
		run := x.Run(s.ID, As(strings.ToUpper(s.ID.String())))
		inv, why := run.await()
		if inv == nil {
			x.Stop("the runtime does not take an ID in upper case (S4.1-4 judges that): %s", why)
		}
		id, _ := inv.Getenv("PUGMARK_SESSION_ID")
		x.Clause("P13-2").Expect(id).To(Equal(s.ID.String()), "PUGMARK_SESSION_ID is the session's ID in lower-case hex")
		inv.Finish()
		run.Wait()
	})
