package runtime

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

// The rules on all descriptors that a runtime writes judge each of them; the story
// sees to it that every kind is written.
var _ = scenario("S7", "every-kind-of-descriptor", "entries, a fork, a message, memory, a control message, a child's first entry and a delivery: form of the fields, and the blob behind each",
	"S7-1 S7-2 S7-3 S7-5 S7-10",
	func(x *Lab) {
		s, target, ns := x.shortLog(), x.shortLog(), x.Word("ns")
		fork, message := x.output("fork"), x.output("message")
		fork.Fork = true
		message.Session = target.ID.String()
		x.committed(s, 2, []wire.OutputRecord{x.output("entry"), {Name: "long", Data: x.Bytes(5000)}, fork, message,
			{Name: "memories/" + ns + "/note", Data: []byte(x.Word("note"))}})
		x.commitTo(s, "", plainly(pause("enough"))) // materialises the child
		kinds := map[string]bool{}
		for _, d := range x.writtenDescriptors() {
			_, sent := d.Source()
			kinds["control message"] = kinds["control message"] || d.IsControl()
			kinds["fork record"] = kinds["fork record"] || d.IsFork()
			kinds["delivery"] = kinds["delivery"] || sent
			kinds["memory record"] = kinds["memory record"] || strings.Contains(d.file.Key, "/memories/")
		}
		for kind, seen := range kinds {
			if !seen {
				x.Evidence("note", "no "+kind+" was written, so none is judged")
			}
		}
	}, overBoth)

var _ = scenario("S7", "blob-refused", "the store takes its time over one blob and then refuses it for good: no snapshot that names it is ever sent, and the invocation fails",
	"S7-3",
	func(x *Lab) {
		x.control(x.unpadded("control"))
		s, doomed := x.shortLog(), x.unpadded("doomed")
		key := "objects/" + wire.Digest(doomed.Data)
		snapshots := make(chan struct{}, 16)
		x.Cleanup(x.S3.Intercept(At(s.ID.SnapshotsPrefix(), fakes3.OpPut), func(context.Context, *fakes3.Request) fakes3.Decision {
			snapshots <- struct{}{}
			return fakes3.Pass()
		}))
		// Held as long as it takes a runtime that does not wait for blobs to send its
		// snapshot; one that waits is held for the whole time, and loses nothing by it.
		x.Cleanup(x.S3.Intercept(At(key, fakes3.OpPut, fakes3.OpCreateUpload), func(ctx context.Context, _ *fakes3.Request) fakes3.Decision {
			select {
			case <-snapshots:
			case <-ctx.Done():
			case <-time.After(400 * time.Millisecond):
			}
			return fakes3.Fail(403, "AccessDenied")
		}))
		run := x.Run(s.ID)
		run.Next().Finish(x.output("beside"), doomed)
		exit := run.Wait("S7-3")
		if len(x.created(key)) == 0 {
			x.Stop("no write of the blob was seen")
		}
		var naming []string
		for _, r := range x.snapshotRequests() {
			snap, _ := wire.DecodeSnapshot(wire.Stored{Key: Key(r), Body: r.Body, ContentEncoding: "zstd"})
			if slices.ContainsFunc(snap.Descriptors, func(d wire.Descriptor) bool { return d.Digest == wire.Digest(doomed.Data) }) {
				naming = append(naming, r.String())
			}
		}
		x.Clause("S7-3").Holds(len(naming) == 0, "no snapshot that refers to the refused blob is sent", "%v", naming)
		x.Clause("S7-3").Holds(!exit.Success() || len(naming) > 0, "a run whose blob cannot be stored fails", "%s%s", exit.Exit, run.said())
	}, overBoth)

var _ = scenario("S7", "values-kept", "Outputs with every describing field set, in Unicode and with parameters, and with none: the descriptor holds just that",
	"S7-6 S7-7",
	func(x *Lab) {
		packed, _ := x.gzipped()
		full := wire.OutputRecord{
			Name: "Größe übersicht/α β.txt", Data: packed, ContentType: `Text/Plain; Charset="UTF-8"; Format=flowed`,
			ContentEncoding: "gzip", SchemaURL: "https://example.com/Schema?v=1#Part", Metadata: map[string]string{"a": "", "B": "x y", "ключ": "1", "b": " z "},
		}
		bare, taken := wire.OutputRecord{Data: []byte(x.Word("bare"))}, x.threes("taken in")
		got := x.commitOf("", plainly(full, bare, wire.OutputRecord{Name: "taken", URI: x.remote("kept", taken)}))
		d, ok := got.by(full.Data)
		if !ok {
			x.Stop("the Output with all fields was not committed (%s; committed: %s)%s", got.exit.Exit, got.list(), got.complaint())
		}
		for _, f := range []struct{ field, want, seen string }{
			{"name", full.Name, d.Name}, {"content-type", full.ContentType, d.ContentType},
			{"content-encoding", full.ContentEncoding, d.ContentEncoding}, {"schema-url", full.SchemaURL, d.SchemaURL},
		} {
			x.Clause("S7-6").Resting("R-03").Holds(f.seen == f.want, fmt.Sprintf("%s of the descriptor is that of the Output, %q", f.field, f.want), "%q", f.seen)
		}
		x.Clause("S7-7").Resting("R-03").Holds(maps.Equal(d.Metadata, full.Metadata), fmt.Sprintf("metadata of the descriptor is that of the Output, %q", full.Metadata), "%q", d.Metadata)
		if d, ok := got.by(bare.Data); ok {
			x.Clause("S7-6").Resting("R-03").Holds(d.Name == "" && d.ContentEncoding == "" && d.SchemaURL == "", "name, content-encoding and schema-url that the Output does not have are absent or empty", "name %q, content-encoding %q, schema-url %q", d.Name, d.ContentEncoding, d.SchemaURL)
			x.Clause("S7-6").Warning().Holds(d.ContentType == "", "a content-type that the Output does not have is absent or empty; a default one is a warning", "%q", d.ContentType)
			x.Clause("S7-7").Resting("R-03").Holds(len(d.Metadata) == 0, "metadata that the Output does not have is absent or empty", "%q", d.Metadata)
		}
		if d, ok := got.by(taken); ok {
			x.Clause("S7-6").Warning().Holds(d.ContentType == "", "an Output that names a body by uri and no content-type gets none; that of the source's answer is a warning", "%q", d.ContentType)
		}
	}, overBoth)

var _ = scenario("S7", "cache-control-read", "descriptors with cache-control, one of which forbids to keep anything: they are replayed like others, and what the runtime writes there is a Cache-Control value",
	"S7-8",
	func(x *Lab) {
		s := x.Session(wire.SessionSpec{})
		list := x.texts("e", 1, 4)
		list[1].CacheControl, list[2].CacheControl, list[3].CacheControl = wire.Immutable, "no-store, private", "max-age=0"
		s.Commit(wire.Checkpoint, list...)
		run := x.Run(s.ID)
		inv := run.Next()
		names := inv.Names()
		if !slices.Contains(names, "e1") {
			x.Stop("an entry without cache-control is not replayed")
		}
		x.Clause("S7-8").Expect(names).To(ConsistOf(fields("e1 e2 e3 e4")), "entries are replayed whatever their cache-control")
		for _, e := range list[1:] {
			if in, ok := inv.named(e.Name); ok {
				body, ok, why := inv.Body(in)
				x.Clause("S7-8").Holds(ok && string(body) == string(e.Body), "the body is served whatever the descriptor's cache-control", "%s, cache-control %q: %q %s", e.Name, e.CacheControl, clip(body, 40), why)
			}
		}
		inv.Finish(x.output("next"))
		run.Wait()
	}, overBoth)

var _ = scenario("S7", "exact-numbers", "a session whose numbers have passed 2^53: the next ones are exact",
	"S7-9",
	func(x *Lab) {
		const beyond = int64(1)<<53 + 1
		control := x.committed(x.shortLog(), 2, []wire.OutputRecord{x.output("one"), x.output("two")})
		if got := sequence(entries(control)); !slices.Equal(got, []int64{2, 3}) {
			x.Stop("small numbers do not go on either: after 1 come %v", got)
		}
		s := x.Session(wire.SessionSpec{FirstSequence: beyond - 1})
		s.Commit(wire.Checkpoint, x.text("a"), x.text("b"))
		snap := x.committed(s, 2, []wire.OutputRecord{x.output("one"), x.output("two")}, "S7-9")
		x.Clause("S7-9").Expect(sequence(entries(snap))).To(Equal([]int64{beyond + 1, beyond + 2}), "after 9007199254740993 come 9007199254740994 and 9007199254740995")
	}, overBoth)

const zeroID = "00000000000000000000000000000000"

// noZeroSession tells what was created for the session of the zero ID.
func (x *Lab) noZeroSession() []string { return x.childKeys(wire.SessionID{}) }

var _ = scenario("S7", "zero-references", "entries whose target and source are absent, 32 zeros or empty: they are plain entries, and nothing is done for a session of that ID",
	"S7-10",
	func(x *Lab) {
		for _, v := range []struct {
			what    string
			extra   map[string]any
			warning bool
		}{
			{"fork false, target-session and source-session of 32 zeros", map[string]any{"fork": false, "target-session": zeroID, "source-session": zeroID, "source-version": 0}, false},
			{"empty target-session and source-session", map[string]any{"fork": false, "target-session": "", "source-session": ""}, true},
		} {
			s := x.Session(wire.SessionSpec{})
			zero := x.text("zero")
			zero.Extra = v.extra
			s.Commit(wire.Checkpoint, x.text("before"), zero, x.text("after"))
			check := x.Clause("S7-10").Resting("Q:S7-10")
			if v.warning {
				check = check.Warning()
			}
			run := x.Run(s.ID)
			inv, why := run.await()
			if inv == nil {
				check.Holds(false, "a session with an entry of "+v.what+" runs", "%s", why)
				continue
			}
			check.Expect(inv.Names()).To(ConsistOf(fields("before zero after")), "an entry with %s is replayed like any other", v.what)
			out := x.output("next")
			inv.Finish(out)
			exit := run.Wait()
			check.Holds(exit.Success() && x.bodyCommitted(s.ID, 2, out.Data), "the run goes on as usual ("+v.what+")", "%s%s; versions: %v", exit.Exit, run.said(), x.Versions(s.ID))
			check.Expect(x.noZeroSession()).To(BeEmpty(), "nothing is created for a session 0 (%s)", v.what)
		}
	}, overBoth)

var _ = scenario("S7", "bare-descriptors", "descriptors with digest, size and sequence-number and nothing else: they are replayed, and the session goes on",
	"S7-11",
	func(x *Lab) {
		s := x.Session(wire.SessionSpec{})
		var list []wire.Entry
		for i := range 3 {
			list = append(list, wire.Entry{Body: []byte(x.Word(fmt.Sprint("bare ", i))), Omit: fields("created-at content-type name data metadata")})
		}
		// A runtime that cannot read short bodies without data says nothing about bare
		// descriptors, which have none.
		control := x.text("control")
		control.NoInline = true
		s.Commit(wire.Checkpoint, append([]wire.Entry{control}, list...)...)
		run := x.Run(s.ID)
		inv, why := run.await()
		if inv == nil {
			x.Clause("S7-11").Assuming("R-26").Holds(false, "a session of bare descriptors runs", "%s", why)
			return
		}
		var got []string
		for _, in := range inv.Replay() {
			body, ok, why := inv.Body(in)
			if in.Name == control.Name {
				if !ok || string(body) != string(control.Body) {
					x.Stop("a complete descriptor without data is not read either: %q %s", body, why)
				}
				continue
			}
			got = append(got, string(body))
		}
		x.Clause("S7-11").Assuming("R-26").Expect(got).To(ConsistOf(string(list[0].Body), string(list[1].Body), string(list[2].Body)), "the bare entries are replayed with their bodies")
		out := x.output("next")
		inv.Finish(out)
		exit := run.Wait()
		x.Clause("S7-11").Assuming("R-26").Holds(exit.Success() && x.bodyCommitted(s.ID, 2, out.Data), "the session goes on with version 2", "%s%s; versions: %v", exit.Exit, run.said(), x.Versions(s.ID))
	}, overBoth)
