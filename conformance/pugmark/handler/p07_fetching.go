package handler

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

var _ = scenario("P7", "body-at-url", "all bodies by URL only, from servers on two random ports", "P7-1 P7-7", func(x *Lab) {
	log, control := x.Exemplar()
	if len(control.Records()) == 0 {
		x.Stop(hintOutputs)
	}
	e := x.byURL(log)
	const demand = "the body is fetched by a GET on exactly the URL of the Input, and gives the Outputs that it gives inline"
	fetched := e.from(e.objectFetches)
	for _, f := range fetched {
		if f.Method != http.MethodGet && f.Method != http.MethodHead || !log.has(f.Path) {
			x.Clause("P7-1").Holds(false, demand, "log %s, with %s: %s; the URLs were %s", log.Name, e.What, f, strings.Join(log.paths(), ", "))
			return
		}
	}
	if len(fetched) == 0 && e.Well() && difference(control, e, nil) == "" {
		x.Stop(hintFetches)
	}
	if x.Same(log, e, "P7-1") && len(fetched) > 0 {
		x.Clause("P7-7").Holds(true, "servers on any ports are found", "object server %s, memory server %s", e.addresses[0], e.addresses[1])
	}
})

// has tells whether an entry's body is at the path.
func (l Log) has(path string) bool {
	return slices.ContainsFunc(l.Entries, func(e Entry) bool { return e.key() == path })
}

func (l Log) paths() []string {
	var out []string
	for _, e := range l.Entries {
		out = append(out, e.key())
	}
	return out
}

var _ = scenario("P7", "other-addresses", "a second invocation whose servers have other ports, while the first ones go on listening", "P7-8 P7-19", func(x *Lab) {
	log, _ := x.Fetcher()
	other, err := StartServers()
	x.Must(err)
	x.Cleanup(other.Close)
	before := x.bench.servers.Object.count() + x.bench.servers.Memory.count()
	e := x.Play(log, Variation{What: "servers at other addresses than before", Bodies: ByURL, Servers: other})
	stale := append(x.bench.servers.Object.Fetches(0), x.bench.servers.Memory.Fetches(0)...)
	const demand = "all requests go to the addresses of the invocation at hand"
	if late := len(stale) - before; late > 0 {
		x.Clause("P7-19").Holds(false, demand, "log %s: %d requests to the servers of an earlier invocation", log.Name, late)
	} else if len(e.Fetches) > 0 && x.Over == HTTP {
		x.Clause("P7-19").Holds(true, demand, "log %s: %d requests, all to the new addresses", log.Name, len(e.Fetches))
	} else {
		x.Clause("P7-19").NotExercised("a process that is started for each invocation has nothing to keep a URL in that shows; its Outputs hold none")
	}
	x.Same(log, e, "P7-8")
})

var _ = scenario("P7.1", "data-beside-url", "bodies inline and by URL: both good, then a URL that fails, then one that hangs", "P7.1-3 P7.1-4 S3.1-4 S7.1-4", func(x *Lab) {
	log, control := x.Exemplar()
	inline := x.Vary(log, Variation{What: "all bodies inline", Bodies: Inline})
	both := x.Play(log, Variation{What: "all bodies inline and by URL", Bodies: InlineAndURL})
	x.Same(log, inline, "S3.1-4", "S7.1-4")
	x.Same(log, both, "P7.1-3", "S3.1-4", "S7.1-4")
	if len(control.Records()) == 0 || !x.Sensitive(log) {
		x.Clause("P7.1-4").NotExercised(hintBodies)
		return
	}
	bad := x.Play(log, Variation{What: "all bodies inline, and URLs that answer 500", Bodies: InlineAndURL, Objects: func(string, Answer) Answer {
		return Answer{Status: 500, Body: []byte("not this one")}
	}})
	ok := x.Same(log, bad, "P7.1-4")
	if ok && len(bad.from(bad.objectFetches)) == 0 {
		return // it does not look there, so a URL that hangs is no trouble either
	}
	if !ok {
		return
	}
	hangs := x.Play(log, Variation{What: "all bodies inline, and URLs that never answer", Bodies: InlineAndURL, Objects: func(string, Answer) Answer { return Answer{Hang: true} }})
	if x.Same(log, hangs, "P7.1-4") {
		x.Clause("P7.1-4").Warning().Holds(false, "no request for a body that is there already", "log %s: %s", log.Name, bad.Fetches[0])
	}
})

var _ = scenario("P7", "answers-other-than-2xx", "the URL of a needed body answers with an error and a plausible body", "P7-17", func(x *Lab) {
	log, control := x.Fetcher()
	const demand = "an answer other than 2xx is an error: the invocation fails, and nothing rests on the answer's body"
	for _, status := range []int{404, 500, 400, 403, 410, 429, 503} {
		e := x.Play(log, Variation{What: fmt.Sprintf("status %d for every body", status), Bodies: ByURL, Objects: func(_ string, a Answer) Answer {
			a.Status = status
			return a
		}})
		switch {
		case len(e.from(e.objectFetches)) == 0:
			x.Clause("P7-17").NotExercised("the handler did not ask again for a body that it had fetched before")
		case !e.Ended && !e.Flooded:
			x.Clause("P7-17").NotExercised("it was still trying after the time limit: %s", e.How())
			return
		case !e.Well():
			x.Clause("P7-17").Holds(true, demand, "log %s, with %s: %s", log.Name, e.What, e.How())
		case ordinary(e):
			what := "as if the answer were the body"
			if difference(control, e, nil) != "" {
				what = "without the body"
			}
			x.Clause("P7-17").Holds(false, demand, "log %s, with %s: it succeeds %s and gives %s: %s", log.Name, e.What, what, counted(len(e.Records())), clip(e.Output, 300))
			return
		default:
			x.Clause("P7-17").Warning().Holds(false, "an answer other than 2xx is an error, and the invocation fails", "log %s, with %s: %s", log.Name, e.What, e.How())
		}
	}
})

// ordinary tells whether an Output is more than a pause.
func ordinary(e *Exchange) bool {
	return slices.ContainsFunc(e.Records(), func(o wire.Output) bool { return o.ContentType != wire.PauseType })
}

func gzipped(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(b) // to memory
	_ = w.Close()
	return out.Bytes()
}

// encodedAs is the log with every body encoded, as a runtime replays a log whose writer
// stored encoded bodies.
func (l Log) encodedAs(coding string, encode func([]byte) []byte) Log {
	l.Entries = slices.Clone(l.Entries)
	for i, e := range l.Entries {
		l.Entries[i].Body, l.Entries[i].ContentEncoding = encode(e.Body), coding
	}
	return l
}

var _ = scenario("P7", "encoded-bodies", "bodies stored gzip and zstd, served with the Content-Encoding that says so", "P7-18 S15-2", func(x *Lab) {
	log, plain := x.Fetcher()
	if slices.ContainsFunc(log.Entries, func(e Entry) bool { return e.ContentEncoding != "" }) {
		x.Stop("the bodies of log %s are encoded already; give one with plain bodies (--log my-log.ndjson)", log.Name)
	}
	for _, c := range []struct {
		name   string
		encode func([]byte) []byte
	}{{"gzip", gzipped}, {"zstd", wire.EncodeZstd}} {
		e := x.Play(log.encodedAs(c.name, c.encode), Variation{What: "bodies encoded as " + c.name, Bodies: ByURL, PlainBodies: true})
		switch {
		case c.name == "gzip":
			x.SameAs(plain, log, e, "P7-18", "S15-2")
		case e.Well() || !e.Ended:
			x.SameAsOrWarn(plain, log, e, "P7-18", "S15-2")
		default:
			// To fail on a coding that one does not know is no misreading.
			x.Clause("P7-18").Holds(true, "bodies in a coding that the handler does not know are not taken for plain", "log %s, with %s: %s", log.Name, e.What, e.How())
		}
	}
})

// decodeBodies takes the bodies of Outputs out of their own content encoding, so that
// passing an encoded body on untouched compares equal.
func (e *Exchange) decodeBodies() {
	for i, o := range e.Outputs {
		stored := wire.Stored{Body: o.Data, ContentEncoding: o.ContentEncoding}
		if plain, _, err := stored.Sniffed(); err == nil && o.ContentEncoding != "" {
			e.Outputs[i].Data, e.Outputs[i].ContentEncoding = plain, ""
		}
	}
}

var _ = scenario("P7", "lost-encoding", "a body stored gzip whose encoding nobody recorded", "S15-3", func(x *Lab) {
	log, _ := x.Fetcher()
	bare := log.encodedAs("", gzipped)
	e := x.Play(bare, Variation{What: "gzip bodies without a Content-Encoding", Bodies: ByURL})
	x.Clause("S15-3").Holds(e.Ended, "decoding it, passing it on and failing are all fine; the invocation ends", "log %s: %s", log.Name, e.How())
})
