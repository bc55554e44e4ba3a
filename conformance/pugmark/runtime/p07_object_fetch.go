package runtime

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"regexp"
	"strings"
	"sync"

	. "github.com/onsi/gomega"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/probe"
)

// encodedEntries are a plain entry, one in gzip and one in zstd, all longer than
// what is inlined. Their types differ.
func (x *Lab) encodedEntries() []wire.Entry {
	text := bytes.Repeat(x.Bytes(900), 3)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write(x.Bytes(1500))
	x.Must(err)
	x.Must(w.Close())
	return []wire.Entry{
		{Name: "plain", Body: text, ContentType: "text/x-plain"},
		{Name: "gzip", Body: packed.Bytes(), ContentType: "text/x-gzipped", ContentEncoding: "gzip"},
		{Name: "zstd", Body: wire.EncodeZstd(x.Bytes(1500)), ContentType: "text/x-zstd", ContentEncoding: "zstd"},
	}
}

var urlShapes = sync.OnceValue(func() (s struct{ whole, prefixed, hex *regexp.Regexp }) {
	s.whole = regexp.MustCompile(`^http://[^/?#]+:[0-9]+/sha256:[0-9A-Fa-f]+$`)
	s.prefixed = regexp.MustCompile(`^http://[^/?#]+:[0-9]+/[^?#]+/sha256:[0-9A-Fa-f]+$`)
	s.hex = regexp.MustCompile(`[0-9A-Fa-f]{32,}$`)
	return s
})

var _ = scenario("P7", "object-urls", "entries short and long, plain, gzip and zstd: each url has host and port, one root for all, and the digest of the stored bytes",
	"P7-2 P7-3 P17-7",
	func(x *Lab) {
		s := x.Session(wire.SessionSpec{})
		list := append(x.encodedEntries(), wire.Entry{Name: "short", Body: x.Bytes(9), NoInline: true}, wire.Entry{Name: "long", Body: x.Bytes(1 << 20)})
		s.Commit(wire.Checkpoint, list...)
		run := x.Run(s.ID)
		inv := run.Next()
		known, shapes := map[string]string{}, urlShapes()
		for _, e := range list {
			known[strings.TrimPrefix(wire.Digest(e.Body), "sha256:")] = e.Name
		}
		roots := map[string]bool{}
		for _, in := range inv.Replay() {
			if in.URL == "" {
				continue // which entries have one is P4.1-10
			}
			shaped := shapes.whole.MatchString(in.URL)
			if !shaped && shapes.prefixed.MatchString(in.URL) {
				x.Clause("P7-2").Warning().Holds(false, "no path precedes /sha256: in the url of an entry", "%s", in.URL)
			} else {
				x.Clause("P7-2").Holds(shaped, "the url of an entry is http://<host>:<port>/sha256:<hex>, its colon unescaped and without query", "%q", in.URL)
			}
			hex := shapes.hex.FindString(in.URL)
			if hex == "" {
				continue // no digest in it at all: P7-2, P17-7
			}
			x.Clause("P7-3").Holds(known[hex] != "", "the hex digits in the url are the SHA-256 of the stored bytes, 64 lowercase digits", "the url of %s is %s; its stored bytes have %s", in.Name, in.URL, digestOf(list, in.Name))
			root, _, _ := strings.Cut(in.URL, "sha256:")
			roots[root] = true
		}
		if len(roots) == 0 {
			x.Clause("P17-7").Holds(false, "the url of an entry is <root>/sha256:<hex>", "of %d entries none has such a url; the first: %s", len(inv.Replay()), clip(inv.Replay()[0].Raw, 200))
			return
		}
		x.Clause("P17-7").Expect(roots).To(HaveLen(1), "all urls of an invocation have one root")
		for root := range roots {
			for _, e := range list {
				res, err := inv.Get(root + wire.Digest(e.Body))
				check := x.Clause("P17-7")
				if in, ok := inv.named(e.Name); ok && in.URL == "" {
					check = check.Warning()
				}
				check.Holds(err == nil && res.Status == 200, "the root, /sha256: and the digest of any entry lead to its body", "GET %s%s: %s", root, wire.Digest(e.Body), inShort(res, err))
			}
			break
		}
		inv.Finish()
		run.Wait()
	}, overBoth)

func digestOf(list []wire.Entry, name string) string {
	for _, e := range list {
		if e.Name == name {
			return wire.Digest(e.Body)
		}
	}
	return "none"
}

var _ = scenario("P7", "object-bodies", "bodies of no byte, 1, 1025 and five million bytes, fetched one by one and several times at once: status 200 and the stored bytes",
	"P7-9",
	func(x *Lab) {
		s := x.Session(wire.SessionSpec{})
		bodies := map[string][]byte{}
		for _, n := range []int{0, 1, 1025, 5 << 20} {
			e := wire.Entry{Name: fmt.Sprint("bytes-", n), Body: x.fill(n), NoInline: true}
			bodies[wire.Digest(e.Body)] = e.Body
			s.Commit(wire.Checkpoint, e)
		}
		run := x.Run(s.ID)
		inv := run.Next()
		check := func(in wire.Input, when string) {
			at := strings.LastIndex(in.URL, "sha256:")
			if at < 0 {
				return // P7-2
			}
			body, known := bodies[in.URL[at:]]
			if !known {
				return // P7-3, P4.1-2
			}
			res, err := inv.Get(in.URL)
			x.Clause("P7-9").Holds(yields(res, err, body), fmt.Sprintf("the url of an entry answers 200 with its %d stored bytes, itself and not elsewhere (%s)", len(body), when), "%s", inShort(res, err))
		}
		var all sync.WaitGroup
		for _, in := range inv.Replay() {
			check(in, "alone")
			at := 8
			if in.Size > 1<<20 {
				at = 2 // moving more of them would take longer than all else here
			}
			for range at {
				all.Go(func() { check(in, fmt.Sprint(at, " at once")) })
			}
			all.Wait()
		}
		inv.Finish()
		run.Wait()
	}, overBoth)

// fill is a body of n bytes that begins at random and repeats.
func (x *Lab) fill(n int) []byte {
	block := x.Bytes(1021)
	return bytes.Repeat(block, n/len(block)+1)[:n:n]
}

var _ = scenario("P7", "object-types", "types on bodies that look like HTML, and an entry without a type: the server's Content-Type is the entry's",
	"P7-11",
	func(x *Lab) {
		s := x.Session(wire.SessionSpec{})
		types := fields("text/plain;charset=utf-8 application/x.foo+json application/octet-stream") // the blanks around parameters vary
		var list []wire.Entry
		for i, t := range append(types, "") {
			body := fmt.Sprintf("<!DOCTYPE html><html><body>%s</body></html>%s", x.Word("page"), strings.Repeat(" ", 1100))
			list = append(list, wire.Entry{Name: fmt.Sprint(i), Body: []byte(body), ContentType: strings.Replace(t, ";", "; ", 1)})
		}
		s.Commit(wire.Checkpoint, list...)
		run := x.Run(s.ID)
		inv := run.Next()
		for i, want := range append(types, "") {
			in, ok := inv.named(fmt.Sprint(i))
			if !ok || in.URL == "" {
				continue
			}
			res, err := inv.Get(in.URL)
			if err != nil || res.Status != 200 || leadsElsewhere(in.URL, list, wire.Entry{Name: in.Name}) {
				continue // P7-9, P4.1-2
			}
			typed(x, "P7-11", res, want)
		}
		inv.Finish()
		run.Wait()
	}, overBoth)

// typed judges the Content-Type of an answer; without an expectation it only has to
// be there.
func typed(x *Lab, clause string, res probe.FetchResult, want string) {
	got := res.Header.Values("Content-Type")
	if want == "" {
		x.Clause(clause).Calldepth(1).Holds(len(got) == 1, "an object without a type is served with any Content-Type, but with one", "Content-Type: %q", got)
		return
	}
	ok := len(got) == 1 && strings.EqualFold(strings.ReplaceAll(got[0], " ", ""), want)
	x.Clause(clause).Calldepth(1).Holds(ok, "Content-Type is the object's own, "+want, "Content-Type: %q", got)
}

var _ = scenario("P7", "encodings", "entries and memory objects, plain, gzip and zstd, asked for with several Accept-Encoding: the stored bytes come, and Content-Encoding says what they are",
	"P7-13",
	func(x *Lab) {
		s := x.Session(wire.SessionSpec{})
		list := x.encodedEntries()
		s.Commit(wire.Checkpoint, list...)
		for _, e := range x.encodedEntries() {
			list = append(list, e)
			x.Bucket.Memory("encoded", wire.MemoryEntry{Entry: e, Session: s.ID, Version: 1})
		}
		run := x.Run(s.ID)
		inv := run.Next()
		for i, e := range list {
			server, address := "object server", ""
			if in, ok := inv.named(e.Name); ok && !leadsElsewhere(in.URL, list, e) {
				address = in.URL
			}
			if i >= len(list)/2 {
				server, address = "memory server", inv.memoryRoot()+"encoded/"+e.Name
			}
			if address == "" {
				continue
			}
			for _, accept := range []string{"", "identity", "gzip"} {
				header := []string{"Accept-Encoding", accept}
				if accept == "" {
					header = nil
				}
				res, err := inv.ask(address, header...)
				if err != nil || res.Status != 200 {
					continue // P7-9, P7-10
				}
				got := res.Header.Get("Content-Encoding")
				seen := fmt.Sprintf("Content-Encoding %q, %d bytes % x…", got, len(res.Body), clip(res.Body, 8))
				demand := fmt.Sprintf("the %s sends a %s object as it is stored, %d bytes % x…, and Content-Encoding %q (Accept-Encoding: %s)", server, e.Name, len(e.Body), clip(e.Body, 8), e.ContentEncoding, orNoHeader(accept))
				if e.ContentEncoding == "" && got == "gzip" && accept == "gzip" {
					x.Clause("P7-13").Warning().Holds(false, demand+"; compressing on request and saying so is HTTP's liberty", "%s", seen)
					continue
				}
				x.Clause("P7-13").Holds(got == e.ContentEncoding && bytes.Equal(res.Body, e.Body), demand, "%s", seen)
			}
		}
		inv.Finish()
		run.Wait()
	}, overBoth)

// leadsElsewhere tells whether a url has the digest of another of the entries, which
// P4.1-2 judges.
func leadsElsewhere(address string, list []wire.Entry, e wire.Entry) bool {
	for _, other := range list {
		if other.Name != e.Name && strings.HasSuffix(address, wire.Digest(other.Body)) {
			return true
		}
	}
	return false
}

func orNoHeader(s string) string {
	if s == "" {
		return "not sent"
	}
	return s
}

var _ = scenario("P7", "unknown-objects", "digests that are nowhere and keys that are none: the object server answers 404, and goes on to serve the known ones",
	"P7-14",
	func(x *Lab) {
		s := x.Session(wire.SessionSpec{})
		s.Commit(wire.Checkpoint, wire.Entry{Name: "known", Body: x.fill(1100)})
		run := x.Run(s.ID)
		inv := run.Next()
		in, _ := inv.named("known")
		at := strings.LastIndex(in.URL, "sha256:")
		if at < 0 {
			x.Stop("the entry has no url of the form <root>/sha256:<hex> (P7-2)")
		}
		root := in.URL[:at]
		if res, err := inv.Get(in.URL); err != nil || res.Status != 200 {
			x.Stop("the known object is not served either (%s): P7-9", inShort(res, err))
		}
		res, err := inv.Get(root + wire.Digest(x.Bytes(8)))
		x.Clause("P7-14").Holds(err == nil && res.Status == 404, "a digest that is nowhere is answered with 404", "%s", inShort(res, err))
		for _, key := range []string{"sha256:zz", "nope", "sha256:", "sha256:" + strings.Repeat("0", 63)} {
			res, err := inv.Get(root + key)
			x.Clause("P7-14").Warning().Holds(err == nil && res.Status == 404, "a malformed key is answered with 404: /"+key, "%s", inShort(res, err))
		}
		res, err = inv.Get(in.URL)
		x.Clause("P7-14").Holds(err == nil && res.Status == 200, "the known object is served after that as before", "%s", inShort(res, err))
		inv.Finish()
		run.Wait()
	}, overBoth)
