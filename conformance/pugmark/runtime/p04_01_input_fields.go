package runtime

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/probe"
)

var _ = scenario("P4", "input-types", "an entry with every field, and one of five megabytes: records have the fields of an Input and their types",
	"P4-1",
	func(x *Lab) {
		s := x.Session(wire.SessionSpec{})
		full := x.text("full")
		full.ContentEncoding, full.SchemaURL, full.Metadata = "x-none", "https://example.com/s", map[string]string{"n": "1"}
		s.Commit(wire.Checkpoint, full, wire.Entry{Name: "large", Body: x.longBody(5 << 20)})
		run := x.Run(s.ID)
		inv := run.Next()
		st := inv.Stream()
		const demand = "strings where the schema has strings, a non-negative integer as size, an object of strings as metadata"
		for _, in := range st.Replay() {
			// Wrong types are held against the clause by its invariant.
			if len(st.faults(wire.WrongType)) == 0 && in.HasSize {
				x.Clause("P4-1").Holds(true, demand, "%s", clip(in.Raw, 160))
			}
		}
		inv.Finish()
		run.Wait()
	}, overBoth)

var _ = scenario("P4.1", "events-by-place", "a first run, a plain run, a stopped session with news, a fork child: no event stands where it has no place",
	"P4.1-1",
	func(x *Lab) {
		// Judged by the invariant of this clause, on these and all other streams.
		plain := x.plainLog()
		woken := x.Session(wire.SessionSpec{})
		woken.Commit(wire.Checkpoint, x.text("w"), wire.ControlEntry("stopped", "waiting", ""))
		woken.Commit(wire.Provisional, x.text("news"))
		child := plain.Fork(wire.SessionSpec{ID: x.NewID()}, x.text("task"))
		for _, s := range []*wire.Session{x.Session(wire.SessionSpec{}), plain, woken, child} {
			run := x.Run(s.ID)
			inv := run.Next()
			inv.Received()
			inv.Finish()
			run.Wait()
		}
	}, overBoth)

var _ = scenario("P4.1", "urls", "six bodies, fetched as soon as their records are there, eight times at once, and right before the handler ends: each url serves its own entry",
	"P4.1-2",
	func(x *Lab) {
		s := x.Session(wire.SessionSpec{})
		bodies := map[string][]byte{}
		for i, n := range []int{1, 1024, 1025, 5000, 70000, 1 << 20} {
			bodies[fmt.Sprintf("entry-%d", i)] = x.Bytes(n)
		}
		for _, n := range slices.Sorted(maps.Keys(bodies)) {
			s.Commit(wire.Checkpoint, wire.Entry{Name: n, Body: bodies[n]})
		}
		run := x.Run(s.ID)
		inv := run.Next()
		check := func(in wire.Input, when string) {
			body, known := bodies[in.Name]
			if !known || in.URL == "" {
				return
			}
			x.served("P4.1-2", inv, in.URL, body, in.Name+", "+when)
		}
		for _, in := range inv.Replay() {
			check(in, "at once")
		}
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for _, in := range inv.Replay() {
					check(in, "eight at a time")
				}
			})
		}
		all.Wait()
		inv.Emit(x.output("late"))
		// Servers with a short patience are seen after a second; those that give up
		// after many are P7-6.
		x.pause(time.Second)
		for _, in := range inv.Replay() {
			check(in, "a second later, with an Output written")
		}
		inv.Finish()
		run.Wait()
	}, overBoth, lasts(time.Second))

// pause lets time go by while the handler is at work: it is the stimulus itself,
// nothing is awaited by it.
func (x *Lab) pause(d time.Duration) {
	x.Waiting(func() {
		select {
		case <-time.After(d):
		case <-x.Ctx.Done():
			x.Stop("interrupted")
		}
	})
}

// gzipped is text of a few thousand bytes, compressed to a few hundred.
func (x *Lab) gzipped() (encoded, plain []byte) {
	plain = []byte(strings.Repeat(x.Word("repeated"), 500))
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(plain)
	x.Must(err)
	x.Must(w.Close())
	return b.Bytes(), plain
}

var _ = scenario("P4.1", "sizes", "bodies of several lengths, one of them compressed, seeded and committed by the runtime itself: size is the stored length",
	"P4.1-3",
	func(x *Lab) {
		packed, _ := x.gzipped()
		bodies := map[string][]byte{"one": x.Bytes(1), "inline": x.Bytes(1024), "more": x.Bytes(5001), "packed": packed, "empty": {}}
		s := x.Session(wire.SessionSpec{})
		var outs []wire.OutputRecord
		for _, n := range slices.Sorted(maps.Keys(bodies)) {
			e := wire.Entry{Name: n, Body: bodies[n], ContentType: "application/octet-stream"}
			if n == "packed" {
				e.ContentEncoding = "gzip"
			}
			s.Commit(wire.Checkpoint, e)
			if n != "empty" { // an Output without a body is R-03's matter
				outs = append(outs, wire.OutputRecord{Name: "own-" + n, Data: e.Body, ContentType: e.ContentType, ContentEncoding: e.ContentEncoding})
			}
		}
		judge := func(inv *Invocation) {
			st := inv.Stream()
			if len(st.faults(wire.WrongType)) > 0 {
				return // P4-1
			}
			for _, in := range st.Replay() {
				if body, ok := bodies[strings.TrimPrefix(in.Name, "own-")]; ok {
					x.Clause("P4.1-3").Expect(in.Size).To(BeEquivalentTo(len(body)), "size is the length of the body as stored, %d bytes (%s); it may be left out where that is 0", len(body), in.Name)
				}
			}
		}
		run := x.Run(s.ID)
		inv := run.Next()
		judge(inv)
		inv.Finish(outs...)
		again := run.Again()
		judge(again)
		again.Finish()
		x.settle()
	}, overBoth)

// described lays out one entry per given change, each with a name of its own,
// runs the session and hands each entry with its Input to judge. An entry that is
// not replayed under its name is left out.
func (x *Lab) described(changes map[string]func(*wire.Entry), judge func(in wire.Input, e wire.Entry)) {
	s := x.Session(wire.SessionSpec{})
	seeded := map[string]wire.Entry{}
	for _, n := range slices.Sorted(maps.Keys(changes)) {
		e := wire.Entry{Name: n, Body: x.threes("body of " + n)}
		changes[n](&e)
		seeded[n] = e
	}
	var list []wire.Entry
	for _, n := range slices.Sorted(maps.Keys(seeded)) {
		list = append(list, seeded[n])
	}
	s.Commit(wire.Checkpoint, list...)
	run := x.Run(s.ID)
	inv := run.Next()
	for _, in := range inv.Replay() {
		if e, ok := seeded[in.Name]; ok {
			judge(in, e)
		}
	}
	inv.Finish()
	run.Wait()
}

var _ = scenario("P4.1", "content-types", "entries with types that have parameters and suffixes, and one without: Inputs carry them unchanged",
	"P4.1-4",
	func(x *Lab) {
		x.described(map[string]func(*wire.Entry){
			"charset": func(e *wire.Entry) { e.ContentType = "text/plain; charset=utf-8" },
			"suffix":  func(e *wire.Entry) { e.ContentType = "application/x.foo+json" },
			"case":    func(e *wire.Entry) { e.ContentType = `Text/X-Odd;Q="a;b"` },
			"none":    func(*wire.Entry) {},
		}, func(in wire.Input, e wire.Entry) {
			if e.ContentType == "" {
				x.Clause("P4.1-4").Assuming("R-02").Expect(in.ContentType).To(BeEmpty(), "an entry without content-type is replayed without one")
				return
			}
			x.Clause("P4.1-4").Resting("R-02").Expect(in.ContentType).To(Equal(e.ContentType), "content-type is the descriptor's, character for character (%s)", e.Name)
		})
	}, overBoth)

var _ = scenario("P4.1", "content-encodings", "a gzip, a zstd and a plain body: Inputs name the encoding, and the body comes encoded",
	"P4.1-5",
	func(x *Lab) {
		packed, plain := x.gzipped()
		zstd := wire.EncodeZstd(plain)
		s := x.Session(wire.SessionSpec{})
		seeded := map[string]wire.Entry{
			"gzip": {Name: "gzip", Body: packed, ContentEncoding: "gzip", ContentType: "text/plain"},
			"zstd": {Name: "zstd", Body: zstd, ContentEncoding: "zstd", ContentType: "text/plain"},
			"none": {Name: "none", Body: plain[:600], ContentType: "text/plain"},
			"far":  {Name: "far", Body: packed, ContentEncoding: "gzip", ContentType: "text/plain", NoInline: true},
		}
		for _, n := range slices.Sorted(maps.Keys(seeded)) {
			s.Commit(wire.Checkpoint, seeded[n])
		}
		run := x.Run(s.ID)
		inv := run.Next()
		for _, in := range inv.Replay() {
			e, ok := seeded[in.Name]
			if !ok {
				continue
			}
			x.Clause("P4.1-5").Resting("R-02").Expect(in.ContentEncoding).To(Equal(e.ContentEncoding), "content-encoding is the descriptor's (%s)", e.Name)
			if e.ContentEncoding == "" {
				continue
			}
			body, ok, why := inv.Body(in)
			if !ok {
				x.Clause("P4.1-5").NotExercised("the body of %s did not come: %s", e.Name, why)
				continue
			}
			// Decoded or encoded is the question here; whose bytes they are is P4.1-2.
			x.Clause("P4.1-5").Holds(!bytes.Equal(body, plain), "the body comes as stored, still encoded (%s)", fmt.Sprintf("%s: %d bytes, beginning % x; decoded it has %d", e.Name, len(body), clip(body, 8), len(plain)))
		}
		inv.Finish()
		run.Wait()
	}, overBoth)

var _ = scenario("P4.1", "schema-urls", "an entry with a schema-url that normalisation would change, and one without: Inputs agree",
	"P4.1-6",
	func(x *Lab) {
		x.described(map[string]func(*wire.Entry){
			"with":    func(e *wire.Entry) { e.SchemaURL = "https://example.com/s?v=1#x" },
			"odd":     func(e *wire.Entry) { e.SchemaURL = "HTTPS://Example.com:443/a/../b%7e?" },
			"without": func(*wire.Entry) {},
		}, func(in wire.Input, e wire.Entry) {
			x.Clause("P4.1-6").Resting("R-02").Expect(in.SchemaURL).To(Equal(e.SchemaURL), "schema-url is the descriptor's, unchanged (%s)", e.Name)
		})
	}, overBoth)

var _ = scenario("P4.1", "names", "names with slashes, dots and blanks, none at all, and one name twice: Inputs agree with the descriptors",
	"P4.1-7",
	func(x *Lab) {
		var list []wire.Entry
		// Text beyond ASCII is P3-2.
		for _, n := range []string{"a", "dir/b.txt", "A b/c", "", "twice", "../up//and down/"} {
			list = append(list, wire.Entry{Name: n, Body: x.threes("body of " + n)})
		}
		s := x.Session(wire.SessionSpec{})
		s.Commit(wire.Checkpoint, list...)
		again := wire.Entry{Name: "twice", Body: x.threes("the second")}
		s.Commit(wire.Checkpoint, again)
		run := x.Run(s.ID)
		inv := run.Next()
		for _, e := range append(list, again) {
			in, ok := inv.carrying(e.Body)
			if !ok {
				continue
			}
			x.Clause("P4.1-7").Resting("R-02").Expect(in.Name).To(Equal(e.Name), "name is the descriptor's, unchanged")
		}
		inv.Finish()
		run.Wait()
	}, overBoth)

var _ = scenario("P4.1", "metadata", "metadata with keys that differ in case, an empty key, quotes and line breaks: Inputs carry the same map",
	"P4.1-8",
	func(x *Lab) {
		odd := map[string]string{"Key-A": "1", "key-a": "2", "": "e", "k": "two\nlines \"\\/<&>", "empty": ""} // text beyond ASCII is P3-2
		x.described(map[string]func(*wire.Entry){
			"odd":  func(e *wire.Entry) { e.Metadata = odd },
			"none": func(*wire.Entry) {},
		}, func(in wire.Input, e wire.Entry) {
			if len(e.Metadata) == 0 {
				x.Clause("P4.1-8").Resting("R-02").Expect(in.Metadata).To(BeEmpty(), "an entry without metadata is replayed without any")
				return
			}
			x.Clause("P4.1-8").Resting("R-02").Expect(in.Metadata).To(Equal(e.Metadata), "metadata is the descriptor's, keys and values unchanged")
		})
	}, overBoth)

var _ = scenario("P4.1", "inline-data", "short bodies inline in their descriptors, plain and compressed: where data is present it is the body as stored",
	"P4.1-9",
	func(x *Lab) {
		packed, _ := x.gzipped()
		bodies := map[string][]byte{"plain": []byte("some text, with blanks: no base64"), "packed": packed, "full": x.Bytes(1024)}
		s := x.Session(wire.SessionSpec{})
		s.Commit(wire.Checkpoint, wire.Entry{Name: "plain", Body: bodies["plain"], ContentType: "text/plain"},
			wire.Entry{Name: "packed", Body: packed, ContentType: "text/plain", ContentEncoding: "gzip"},
			wire.Entry{Name: "full", Body: bodies["full"]})
		run := x.Run(s.ID)
		inv := run.Next()
		st := inv.Stream()
		broken := len(st.faults(wire.BadBase64, wire.URLSafeBase64, wire.BrokenBase64)) > 0
		for _, in := range st.Replay() {
			if body, ok := bodies[in.Name]; ok && in.HasData && !broken {
				x.Clause("P4.1-9").Resting("R-02").Holds(bytes.Equal(in.Data, body), fmt.Sprintf("data holds the %d bytes as stored, with digest %s", len(body), wire.Digest(body)),
					"%s: %d bytes, digest %s, beginning %q", in.Name, len(in.Data), wire.Digest(in.Data), clip(in.Data, 40))
			}
		}
		if !x.Judged("P4.1-9") {
			x.Clause("P4.1-9").NotExercised("no replayed entry came with data that decodes")
		}
		inv.Finish()
		run.Wait()
	}, overBoth)

var _ = scenario("P4.1", "ways-to-the-body", "bodies around the inline limit, with and without inline data in the descriptor: each Input leads to its body",
	"P4.1-10",
	func(x *Lab) {
		s := x.Session(wire.SessionSpec{})
		sizes := map[string]int{}
		for _, n := range []int{1, 1024, 1025, 100000} {
			for _, inline := range []bool{true, false} {
				name := fmt.Sprintf("%d-inline-%t", n, inline)
				sizes[name] = n
				s.Commit(wire.Checkpoint, wire.Entry{Name: name, Body: x.Bytes(n), NoInline: !inline})
			}
		}
		run := x.Run(s.ID)
		inv := run.Next()
		for _, in := range inv.Replay() {
			n, ok := sizes[in.Name]
			if !ok {
				continue
			}
			const demand = "an entry with a body has a url that serves it, or the body in data"
			switch {
			case in.RawData != "":
				x.Clause("P4.1-10").Resting("R-02").Holds(true, demand, "%s: data", in.Name)
			case in.URL == "":
				x.Clause("P4.1-10").Resting("R-02").Holds(false, demand, "%s has a body of %d bytes and neither url nor data: %s", in.Name, n, clip(in.Raw, 300))
			default:
				res, err := inv.Get(in.URL)
				x.Clause("P4.1-10").Resting("R-02").Holds(err == nil && res.Status == 200, demand, "%s: GET %s: %s", in.Name, in.URL, answer(res, err))
			}
		}
		inv.Finish()
		run.Wait()
	}, overBoth)

// answer tells what came of a fetch.
func answer(res probe.FetchResult, err error) string {
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("status %d, %d bytes", res.Status, len(res.Body))
}
