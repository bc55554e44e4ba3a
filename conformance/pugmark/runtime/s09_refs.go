package runtime

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/profile"
	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

// refWrites are the subject's requests that store a ref, whether or not they took
// effect.
func (x *Lab) refWrites() []fakes3.Request {
	return slices.DeleteFunc(x.created("refs/"), func(r fakes3.Request) bool { return r.Op != fakes3.OpPut })
}

var _ = everyBucket("S9-1 S9-2 S9-3 S9-4 S9-6 S16-3", func(x *Lab) {
	var keys, depth, types, lines, ends, caching tally
	for _, r := range x.refWrites() {
		key, body := Key(r), string(r.Body)
		name := strings.TrimPrefix(key, "refs/")
		depth.check(strings.Count(name, "/") <= 1, "%s", key)
		if strings.Count(name, "/") <= 1 {
			keys.check(name != "" && !strings.HasSuffix(name, "/") && !strings.HasPrefix(name, "/"), "%s", key)
		}
		kind := strings.ToLower(strings.Join(strings.Fields(r.Header.Get("Content-Type")), ""))
		if _, there := r.Header["Content-Type"]; there {
			types.check(kind == "text/plain;charset=utf-8" || kind == `text/plain;charset="utf-8"`, "%s: Content-Type %q", key, r.Header.Get("Content-Type"))
		} else {
			types.check(false, "%s: no Content-Type", key)
		}
		line := strings.TrimSuffix(strings.TrimSuffix(body, "\n"), "\r")
		oneLine := line != "" && utf8.ValidString(line) && !strings.ContainsAny(line, "\r\n") && !strings.HasPrefix(line, "{") && !strings.HasPrefix(line, `"`)
		lines.check(oneLine, "%s: %q", key, clip(r.Body, 200))
		ends.check(line == body, "%s: %q", key, clip(r.Body, 200))
		caching.check(neverCached(r.Header.Get("Cache-Control")), "%s: Cache-Control %q", key, r.Header.Get("Cache-Control"))
	}
	keys.faults(x.Clause("S9-1").Resting("R-28"), "a ref's key is refs/<name> or refs/<kind>/<name>", "ref writes")
	depth.faults(x.Clause("S9-4").Resting("R-28"), "no key below refs/ has more than one slash behind that", "ref writes")
	types.judge(x.Clause("S9-2"), "a ref is written with Content-Type text/plain; charset=utf-8", "ref writes")
	lines.judge(x.Clause("S9-3"), "a ref's body is one line that holds the target as it is", "ref writes")
	ends.faults(x.Clause("S9-3").Assuming("Q:S9-3"), "a ref's body has no line end", "ref writes")
	for _, clause := range fields("S9-6 S16-3") {
		caching.judge(x.Clause(clause).Resting("R-13"), "a ref is written with Cache-Control no-cache; further directives are tolerated, max-age above 0 and immutable are not", "ref writes")
	}
})

// neverCached reads a Cache-Control value that has to make readers ask again.
func neverCached(value string) bool {
	ok := false
	for _, part := range strings.Split(strings.ToLower(value), ",") {
		name, arg, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "no-cache":
			ok = ok || arg == "" // with field names it says something else
		case "immutable":
			return false
		case "max-age", "s-maxage":
			if strings.Trim(arg, `" 0`) != "" {
				return false
			}
		}
	}
	return ok
}

// create creates a named session by command and gives its ID. Where that does not
// work, the scenario ends.
func (x *Lab) create(v profile.Values) (wire.SessionID, *Run) {
	run := x.Command(x.Config.Profile.Create, v)
	if exit := run.Wait(); !exit.Success() {
		x.Stop("the session could not be created (%s)%s", exit.Exit, run.said())
	}
	id, err := wire.ParseSessionID(strings.TrimSpace(run.Printed()))
	if err != nil {
		x.Stop("create printed no session ID: %q", run.Printed())
	}
	return id, run
}

func (x *Lab) rename(from, to string) (*Run, Exit) {
	run := x.Command(x.Config.Profile.Rename, profile.Values{From: from, To: to})
	return run, run.Wait()
}

// asks are the subject's reads of a ref, from the given request on.
func (x *Lab) asks(name string, from int) []fakes3.Request {
	var out []fakes3.Request
	for _, r := range x.S3.Requests() {
		if r.N > from && (r.Op == fakes3.OpGet || r.Op == fakes3.OpHead) && Key(r) == "refs/sessions/"+name {
			out = append(out, r)
		}
	}
	return out
}

var _ = scenario("S9", "named-session", "a session created under a name, then renamed: the refs that are written",
	"S9-1 S9-2 S9-3 S9-6 S9-8 S16-3 S9.1-1",
	func(x *Lab) {
		name, other := x.Word("name"), x.Word("other")
		id, _ := x.create(profile.Values{Name: name})
		x.linked(name, id, "created")
		if _, exit := x.rename(name, other); exit.Success() {
			x.linked(other, id, "renamed")
		}
	}, needing("create", "names"))

// linked judges the ref of a name that a session was given.
func (x *Lab) linked(name string, id wire.SessionID, how string) {
	key := "refs/sessions/" + name
	o, there := x.Get(key)
	x.Clause("S9-1").Calldepth(1).Resting("R-28").Holds(there, "the ref of the name "+name+" lies at "+key+" ("+how+")", "refs: %v", x.Keys("refs/"))
	if !there {
		return
	}
	target, _ := wire.DecodeRef(o)
	a := x.Clause("S9.1-1").Calldepth(1)
	if bucketRoot+id.ManifestKey() == target {
		a = a.Assuming("F-13") // relative to what is said nowhere but for the form of the path
	}
	a.Holds(target == id.ManifestKey(), "the ref's body is the key of the session's manifest, "+id.ManifestKey()+" ("+how+")", "%q", o.Body)
}

var _ = scenario("S9", "link-again", "a name whose ref points to a session that is gone: it is linked anew, without a condition",
	"S9-8",
	func(x *Lab) {
		for _, stale := range []bool{false, true} {
			name := x.Word("name")
			what := "a new name"
			if stale {
				x.Bucket.Ref("sessions/"+name, x.NewID().ManifestKey())
				what = "a name with a ref to a session that is gone"
			}
			run := x.Command(x.Config.Profile.Create, profile.Values{Name: name})
			exit := run.Wait("S9-8")
			for _, w := range x.Writes("refs/sessions/" + name) {
				x.Clause("S9-8").Holds(w.IfNoneMatch == "" && w.Status != 412, "a name is linked by an unconditional write ("+what+")", "%s", w.String())
				x.Clause("S9-8").Warning().Holds(w.IfMatch == "", "a name is linked by an unconditional write, without If-Match ("+what+")", "%s", w.String())
				if stale && w.IfNoneMatch == "" && w.Status == 200 {
					x.Clause("S9-8").Holds(exit.Success(), "linking a name anew succeeds", "%s%s", exit.Exit, run.said())
				}
			}
		}
	}, needing("create", "names"))

var _ = scenario("S9", "deep-names", "session names with a slash: no key below refs/ gets another level",
	"S9-4",
	func(x *Lab) {
		x.create(profile.Values{Name: "alice"}) // without a slash it works
		if len(x.Keys("refs/")) == 0 {
			x.Stop("a name without a slash leads to no ref either")
		}
		for _, name := range []string{"team/alice", "sessions/alice", "/alice"} {
			run := x.Command(x.Config.Profile.Create, profile.Values{Name: name})
			exit := run.Wait("S9-4")
			x.noDeepRef("create --name "+name, exit)
			_, exit = x.rename("alice", name)
			x.noDeepRef("rename --to "+name, exit)
		}
	}, needing("create", "names"))

func (x *Lab) noDeepRef(what string, exit Exit) {
	deep := slices.DeleteFunc(x.New("refs/"), func(key string) bool { return strings.Count(key, "/") <= 2 })
	x.Clause("S9-4").Calldepth(1).Resting("R-28").Expect(deep).To(BeEmpty(), "no ref is made with another slash in its name; refusing the name is best (%s: %s)", what, exit.Exit)
}

var _ = scenario("S9", "kind-prefix", "a session whose ref is refs/sessions/<name>: it runs and commits",
	"S9-5 S9-1",
	func(x *Lab) {
		s := x.Session(wire.SessionSpec{Name: "plain-name"})
		s.Commit(wire.Checkpoint, x.text("a"))
		unnamed := x.shortLog()
		run := x.Run(unnamed.ID)
		run.Next().Finish()
		run.Success()
		out := x.output("entry")
		run = x.Run(s.ID)
		run.Next("S9-5").Finish(out)
		exit := run.Wait("S9-5")
		x.Clause("S9-5").Resting("R-28").Holds(exit.Success() && x.bodyCommitted(s.ID, 2, out.Data), "a session with the ref refs/sessions/plain-name runs like one without a name", "%s; versions: %v%s", exit.Exit, x.Versions(s.ID), run.said())
		for _, r := range x.S3.Requests() {
			if r.Op == fakes3.OpGet && strings.HasPrefix(Key(r), "refs/") {
				x.Clause("S9-1").Resting("R-28").Holds(Key(r) == "refs/sessions/plain-name", "the ref of the name plain-name is read at refs/sessions/plain-name", "%s", r.String())
			}
		}
	}, overBoth)

var _ = scenario("S9", "moved-between-invocations", "the name goes to another session between two invocations, the second of which follows in the same process where the runtime goes on by itself: the second sees it",
	"S9-7",
	func(x *Lab) {
		s, heir := x.Session(wire.SessionSpec{Name: "name"}), x.Session(wire.SessionSpec{})
		s.Commit(wire.Checkpoint, x.text("a"))
		// The handler pauses, and an object lands before its commit: a runtime that
		// goes on by itself invokes the handler once more for that (F-2).
		var moment atomic.Int64
		x.landAt(s.ID.SnapshotKey(2), 1, func(_ int, r *fakes3.Request) {
			x.store(s.Build(wire.SnapshotSpec{Type: wire.Provisional, Entries: []wire.Entry{x.text("pushed")}}))
			x.Bucket.Ref("sessions/name", heir.ID.ManifestKey())
			moment.Store(int64(r.N))
		})
		run := x.Run(s.ID)
		run.Next().Finish(x.output("first"), pause("enough"))
		second, _ := run.await()
		switched := int(moment.Load())
		if switched == 0 || len(x.asks("name", 0)) == 0 || x.asks("name", 0)[0].N > switched {
			x.Stop("the runtime did not read the ref before its first commit")
		}
		if second == nil && len(x.asks("name", switched)) == 0 {
			x.store(s.Build(wire.SnapshotSpec{Version: slices.Max(x.Versions(s.ID)) + 1, Type: wire.Provisional, Entries: []wire.Entry{x.later(s, "more")}}))
			second, _ = x.Run(s.ID).await()
		}
		out := x.output("second")
		if second != nil {
			second.Finish(out)
		}
		x.settle("S9-7")
		if len(x.asks("name", switched)) > 0 {
			x.Clause("S9-7").Holds(true, "the ref is read again once it may have changed", "read by the second invocation")
			return // what the runtime makes of it is for S9.1-4
		}
		if second == nil {
			x.Stop("the ref was not read again, and there was no second invocation for which it had to be")
		}
		committed := slices.ContainsFunc(x.newVersions(s.ID), func(v uint32) bool { return x.bodyCommitted(s.ID, v, out.Data) })
		x.Clause("S9-7").Holds(!committed, "an invocation acts on the present target of the ref, which points to another session by then", "the ref was not read again, and the second invocation is committed")
	})

var _ = scenario("S9", "rename-race", "the old name is given to another session between a rename's look at it and its change: the rename fails, and the new owner keeps the name",
	"S9-10",
	func(x *Lab) {
		control := x.Session(wire.SessionSpec{Name: "quiet"})
		if run, exit := x.rename("quiet", "calm"); !exit.Success() {
			x.Stop("a name cannot be moved (%s)%s", exit.Exit, run.said())
		}
		x.Evidence("note", "session "+control.ID.String()+" was renamed undisturbed")
		x.Session(wire.SessionSpec{Name: "old"})
		heir := x.Session(wire.SessionSpec{})
		const key = "refs/sessions/old"
		moved := sync.OnceFunc(func() { x.Bucket.Ref("sessions/old", heir.ID.ManifestKey()) })
		changing := func(r *fakes3.Request) bool {
			return Key(*r) == key && (r.Op == fakes3.OpPut || r.Op == fakes3.OpDelete)
		}
		remove := x.S3.Intercept(changing, func(context.Context, *fakes3.Request) fakes3.Decision {
			moved()
			return fakes3.Pass()
		})
		run, exit := x.rename("old", "new")
		remove()
		changes := slices.DeleteFunc(x.S3.Requests(), func(r fakes3.Request) bool { return !changing(&r) })
		if len(changes) == 0 {
			x.Stop("the rename changed nothing at the old name (%s)%s", exit.Exit, run.said())
		}
		check := x.Clause("S9-10").Resting("F-6")
		check.Holds(changes[0].IfMatch != "", "the request that changes the old ref carries If-Match", "%s", changes[0].String())
		check.Holds(!exit.Success(), "the rename fails, since the old name is somebody else's by then", "%s, printed %q", exit.Exit, run.Printed())
		now, there := x.Get(key)
		check.Holds(there && bytes.Equal(now.Body, []byte(heir.ID.ManifestKey())), "the old name still points to its new owner, "+heir.ID.ManifestKey(), "there: %t, %q", there, now.Body)
	}, needing("names"))
