package runtime

import (
	"fmt"
	"path"
	"slices"
	"strings"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/profile"
	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

// The hours whose dates go wrong first: both ends of the range, leap days, the
// last hour of a year, a century that is no leap year, and one whose parts all
// need padding.
var tellingHours = []struct {
	hour      uint32
	partition string
}{
	{0x00073ea7, "year=2024/month=02/day=29/hour=23"},
	{0x00000000, "year=1970/month=01/day=01/hour=00"},
	{0x000408d7, "year=2000/month=02/day=29/hour=23"},
	{0x00075b57, "year=2024/month=12/day=31/hour=23"},
	{0x001168f8, "year=2100/month=03/day=01/hour=00"},
	{0x04320f17, "year=9999/month=12/day=31/hour=23"},
	{0x00073923, "year=2024/month=01/day=02/hour=03"},
}

var _ = scenario("S4.2", "read-and-written-paths", "sessions and chosen fork children of telling hours, under a zone with an odd offset: every key lies in the partition of its ID",
	"S4.2-1 S4.2-2 S4.2-5 S4.2-7 S4.2-8 S4.3-1",
	func(x *Lab) {
		for i, h := range tellingHours {
			zone := []string{"Asia/Kathmandu", "UTC"}[i%2]
			s := x.Session(wire.SessionSpec{ID: x.IDAt(h.hour)})
			s.Commit(wire.Checkpoint, x.text("a"))
			child := x.IDAt(h.hour)
			fork := x.output("fork")
			fork.Fork, fork.Session = true, child.String()
			run := x.Run(s.ID, WithEnv("TZ", zone))
			inv := run.Next("S4.2-1", "S4.2-2") // the manifest lies at this one key only
			inv.Finish(x.welcome(fork, x.output("entry"))...)
			if i == 0 {
				run.Success() // a plain hour: what fails here is no matter of dates
			} else {
				run.Success("S4.2-2")
			}
			x.pathsOf(s.ID, h.partition, "snapshots/FFFFFFFE.json", "snapshot 2 of a session with ID "+s.ID.String()+", TZ="+zone)
			run = x.Run(s.ID, WithEnv("TZ", zone))
			run.Next().Finish()
			run.Success()
			x.pathsOf(child, h.partition, "manifest.json", "manifest of a child with the chosen ID "+child.String()+", TZ="+zone)
		}
		x.Clause("S4.3-1").Expect(x.strangeSnapshots()).To(BeEmpty(), "snapshots lie only at snapshots/<8 hex>.json of a session's directory")
	})

// pathsOf judges the parts of a key that a run was to create.
func (x *Lab) pathsOf(id wire.SessionID, partition, name, what string) {
	segment := strings.ToUpper(id.String()[8:])
	want := "sessions/" + partition + "/" + segment + "/" + name
	if _, ok := x.Get(want); ok {
		for _, clause := range fields("S4.2-1 S4.2-2 S4.2-5 S4.2-7 S4.2-8") {
			if clause != "S4.2-1" || name == "manifest.json" {
				x.Clause(clause).Calldepth(1).Holds(true, "the key "+want, "%s exists", want)
			}
		}
		if name != "manifest.json" {
			x.Clause("S4.3-1").Calldepth(1).Holds(true, "the key "+want, "%s exists", want)
		}
		return
	}
	created := slices.DeleteFunc(x.mentioning(id), func(key string) bool {
		return (strings.HasSuffix(key, "/manifest.json")) != (name == "manifest.json")
	})
	if len(created) == 0 {
		return // nothing of the kind was written for this ID: other clauses judge that
	}
	got := created[len(created)-1]
	blame := func(clause string, ok bool, acceptable string) {
		x.Clause(clause).Calldepth(2).Holds(ok, acceptable, "%s: %s", what, got)
	}
	parts := strings.Split(got, "/")
	part := func(i int) string {
		if i < len(parts) {
			return parts[i]
		}
		return ""
	}
	wanted := strings.Split(partition, "/")
	labelled := true
	for i, w := range wanted {
		label, _, _ := strings.Cut(w, "=")
		labelled = labelled && strings.HasPrefix(part(1+i), label+"=")
	}
	if !labelled || len(parts) < 6 {
		blame("S4.2-1", false, "sessions/year=…/month=…/day=…/hour=…/<24 hex>/"+name)
		return
	}
	padded := len(part(2)) == len(wanted[1]) && len(part(3)) == len(wanted[2]) && len(part(4)) == len(wanted[3])
	switch {
	case len(part(1)) != len(wanted[0]):
		blame("S4.2-7", false, "a year of four digits: "+wanted[0])
	case !padded:
		blame("S4.2-8", false, "month, day and hour of two digits: "+partition)
	case strings.Join(parts[1:5], "/") != partition:
		blame("S4.2-2", false, "the UTC date and hour of the ID's first four bytes: "+partition)
	case part(5) != segment:
		blame("S4.2-5", false, "the last segment "+segment+", the last 12 bytes of the ID in upper case")
	case name == "manifest.json":
		blame("S4.2-1", false, want)
	case path.Dir(got) == path.Dir(want):
		// in its place under another name: S6.1-3, S6.1-4
	default:
		blame("S4.3-1", false, want)
	}
}

// mentioning lists new keys below sessions/ that hold the ID's tail in any case.
func (x *Lab) mentioning(id wire.SessionID) []string {
	var out []string
	for _, k := range x.New("sessions/") {
		if strings.Contains(strings.ToLower(k), strings.TrimLeft(id.String()[8:], "0")) {
			out = append(out, k)
		}
	}
	return out
}

// strangeSnapshots lists new keys in directories of sessions that are neither a
// manifest nor directly below snapshots/; how they are called there is for S6.1-3.
func (x *Lab) strangeSnapshots() []string {
	out := []string{}
	for _, k := range x.New("sessions/") {
		_, rest, err := wire.ParseSessionPath(k)
		if err != nil || !strings.HasSuffix(k, ".json") || rest == "manifest.json" {
			continue // the path of a session has another form, S4.2, or it is no snapshot
		}
		if path.Dir(rest) != "snapshots" {
			out = append(out, k)
		}
	}
	return out
}

var _ = scenario("S4.2", "path-to-id", "sessions of telling hours: the handler is told the ID that the path spells",
	"S4.2-6",
	func(x *Lab) {
		for _, h := range tellingHours {
			s := x.Session(wire.SessionSpec{ID: x.IDAt(h.hour)})
			s.Commit(wire.Checkpoint, x.text("a"))
			rebuilt, _, err := wire.ParseSessionPath(s.ID.ManifestKey())
			x.Must(err)
			run := x.Run(s.ID, WithEnv("TZ", "Asia/Kathmandu"))
			inv := run.Next("S4.2-6")
			got, _ := inv.Getenv("PUGMARK_SESSION_ID")
			x.Clause("S4.2-6").Expect(strings.ToLower(got)).To(Equal(rebuilt.String()), "PUGMARK_SESSION_ID is the ID rebuilt from partition and segment of %s", s.ID.ManifestKey())
			inv.Finish()
			run.Wait()
		}
	})

// A runtime meets a session path that somebody else wrote only where it resolves
// a name. Of the contract's commands that is rename: it prints the session's ID,
// which it has to take from the path in the ref.
var _ = scenario("S4.2", "paths-out-of-range", "names whose refs hold paths with one part out of range, manifests lying there and where a wrapping parser would look",
	"S4.2-9 S4.2-6",
	func(x *Lab) {
		tail := strings.ToUpper(x.NewID().String()[8:])
		rename := func(from, to string) (*Run, Exit) {
			run := x.Command(x.Config.Profile.Rename, profile.Values{From: from, To: to})
			return run, run.Wait("S4.2-9")
		}
		good := x.Session(wire.SessionSpec{ID: x.IDAt(0x00073ea7), Name: "good"})
		run, exit := rename("good", "better")
		if !exit.Success() {
			x.Stop("a name whose ref holds a valid path cannot be renamed (%s)%s", exit.Exit, run.said())
		}
		x.Clause("S4.2-6").Expect(strings.ToLower(strings.TrimSpace(run.Printed()))).To(Equal(good.ID.String()), "rename prints the ID that the path in the ref spells")
		for i, c := range []struct{ bad, wrapped string }{
			{"year=1969/month=12/day=31/hour=23", ""},
			{"year=10000/month=01/day=01/hour=00", ""},
			{"year=2024/month=00/day=10/hour=10", "year=2023/month=12/day=10/hour=10"},
			{"year=2024/month=13/day=10/hour=10", "year=2025/month=01/day=10/hour=10"},
			{"year=2024/month=10/day=00/hour=10", "year=2024/month=09/day=30/hour=10"},
			{"year=2024/month=10/day=32/hour=10", "year=2024/month=11/day=01/hour=10"},
			{"year=2024/month=10/day=10/hour=24", "year=2024/month=10/day=11/hour=00"},
		} {
			name := fmt.Sprintf("bad%d", i)
			for _, p := range []string{c.bad, c.wrapped} {
				if p == "" {
					continue
				}
				key := "sessions/" + p + "/" + tail + "/manifest.json"
				id := "00073ea7" + strings.ToLower(tail)
				if parsed, _, err := wire.ParseSessionPath(key); err == nil {
					id = parsed.String()
				}
				x.Bucket.Raw(wire.Stored{Key: key, ContentType: "application/json", CacheControl: wire.Immutable,
					Body: []byte(fmt.Sprintf(`{"session":%q,"name":%q,"first-sequence-number":1}`, id, name))})
			}
			x.Bucket.Ref("sessions/"+name, "sessions/"+c.bad+"/"+tail+"/manifest.json")
			run, exit := rename(name, "renamed-"+name)
			_, moved := x.Get("refs/sessions/renamed-" + name)
			x.Clause("S4.2-9").Holds(!exit.Success() && !moved, "the command fails and moves nothing, since "+c.bad+" is no session path",
				"%s, printed %q, new ref there: %v%s", exit.Exit, run.Printed(), moved, run.said())
		}
	}, needing("names"))

var _ = scenario("S4.3", "version-zero", "sessions and children that nothing was committed to: no snapshot file exists for them",
	"S4.3-2 S6.1-2",
	func(x *Lab) {
		s := x.Session(wire.SessionSpec{})
		run := x.Run(s.ID)
		run.Next().Finish()
		run.Success()
		for _, clause := range fields("S4.3-2 S6.1-2") {
			x.Clause(clause).Expect(x.New(s.ID.SnapshotsPrefix())).To(BeEmpty(), "a run without outputs on a session at version 0 writes no snapshot")
		}
		child := x.NewID()
		parent := x.Session(wire.SessionSpec{})
		parent.Commit(wire.Checkpoint, x.text("a"), wire.ForkEntry(x.Word("task"), child))
		run = x.Run(parent.ID)
		run.Next().Finish()
		run.Success()
		if len(x.childKeys(child)) == 0 {
			x.Stop("the child was not materialised")
		}
		out := x.output("first")
		x.committed(s, 1, []wire.OutputRecord{out})
		for _, k := range x.New("sessions/") {
			x.Clause("S4.3-2").Expect(path.Base(k)).NotTo(Equal("00000000.json"), "no key 00000000.json exists, which decodes to no version: %s", k)
			x.Clause("S6.1-2").Expect(path.Base(k)).NotTo(Equal("00000000.json"), "no file is written for version 0: %s", k)
		}
	})
