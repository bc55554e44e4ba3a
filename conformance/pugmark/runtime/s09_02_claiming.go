package runtime

import (
	"context"
	"strings"

	"github.com/pugcheck/pugcheck/conformance/profile"
	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

var _ = scenario("S9.2", "looks-again", "a session created under a free name: the ref is read again once it is linked",
	"S9.2-1",
	func(x *Lab) {
		name := x.Word("name")
		x.create(profile.Values{Name: name})
		links := x.Writes("refs/sessions/" + name)
		if len(links) == 0 {
			x.Stop("the name was not linked")
		}
		x.Clause("S9.2-1").Holds(x.readAfter(name, links[0]), "once the write of refs/sessions/"+name+" is answered, the ref is read", "reads after it: %t", x.readAfter(name, links[0]))
	}, needing("create", "names"))

// readAfter tells whether a ref was read after a write of it had been answered.
func (x *Lab) readAfter(name string, link fakes3.Request) bool {
	for _, r := range x.asks(name, link.N) {
		if r.Op == fakes3.OpGet && r.Arrived.After(link.Applied) {
			return true
		}
	}
	return false
}

var _ = scenario("S9.2", "lost-race", "somebody else links the name right after the runtime did: the runtime removes the manifest it made, that one only, and goes on with the winner's session",
	"S9.2-1 S9.2-2 S9.2-3 S5.1-7",
	func(x *Lab) {
		name := x.Word("name")
		winner := x.Session(wire.SessionSpec{Name: name, NoRef: true, Agent: "winner"})
		winner.Commit(wire.Checkpoint, x.text("a"))
		raced := false
		remove := x.S3.Intercept(At("refs/sessions/"+name, fakes3.OpPut), func(context.Context, *fakes3.Request) fakes3.Decision {
			if raced {
				return fakes3.Pass()
			}
			raced = true
			return fakes3.Pass().Then(func(context.Context, *fakes3.Request) {
				x.Bucket.Ref("sessions/"+name, winner.ID.ManifestKey())
			})
		})
		x.Cleanup(remove)
		run := x.Command(x.Config.Profile.Create, profile.Values{Name: name})
		exit := run.Wait("S9.2-1")
		links := x.Writes("refs/sessions/" + name)
		if len(links) == 0 {
			x.Stop("the name was not linked (%s)%s", exit.Exit, run.said())
		}
		if !x.Clause("S9.2-1").Holds(x.readAfter(name, links[0]), "the ref is read again after it was linked", "reads after %s: none", links[0].String()) {
			return
		}
		own, deleted, others := map[string]bool{}, []string{}, []string{}
		for _, r := range x.S3.Requests() {
			switch {
			case wire.ParseKey(Key(r)).Kind == wire.KindManifest && creates(r.Op) && r.Took == fakes3.Applied:
				own[Key(r)] = true
			case r.Op == fakes3.OpDelete && own[Key(r)]:
				deleted = append(deleted, Key(r))
			case r.Op == fakes3.OpDelete || r.Op == fakes3.OpDeleteMany:
				others = append(others, r.String())
			}
		}
		if len(own) == 0 {
			x.Stop("the runtime made no manifest of its own before it linked the name")
		}
		left := []string{}
		for _, key := range keysOf(own) {
			if _, there := x.Get(key); there {
				left = append(left, key)
			}
		}
		x.Clause("S9.2-2").Holds(len(left) == 0, "the loser deletes the manifest that it made", "still there: %v; %s%s", left, exit.Exit, run.said())
		_, there := x.Get(winner.ID.ManifestKey())
		x.Clause("S9.2-2").Holds(len(others) == 0 && there, "the loser deletes nothing else, and the winner's manifest stays", "other deletions: %v; winner's manifest there: %t", others, there)
		if len(deleted) > 0 || len(others) > 0 {
			x.Clause("S5.1-7").Holds(len(others) == 0, "deleting the one manifest that it made itself is permitted to the loser", "deleted: %v; others: %v", deleted, others)
		} else {
			x.Clause("S5.1-7").NotExercised("the loser deleted no manifest")
		}
		loaded := false
		for _, r := range x.S3.Requests() {
			loaded = loaded || r.Op == fakes3.OpGet && Key(r) == winner.ID.ManifestKey() && r.N > links[0].N
		}
		printed := strings.TrimSpace(run.Printed())
		x.Clause("S9.2-3").Holds(exit.Success() && strings.EqualFold(printed, winner.ID.String()), "the command succeeds and prints the winner's ID, "+winner.ID.String(), "%s, printed %q%s", exit.Exit, printed, run.said())
		x.Clause("S9.2-3").Holds(loaded, "the winner's session is loaded: its manifest is read after the link", "GET of %s seen: %t", winner.ID.ManifestKey(), loaded)
	}, needing("create", "names"))
