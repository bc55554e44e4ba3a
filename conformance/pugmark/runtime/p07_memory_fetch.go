package runtime

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/probe"
)

var _ = scenario("P7", "one-memory-server", "namespaces of one and of three segments, one of them at its second version: one root leads to the objects of all",
	"P7-4",
	func(x *Lab) {
		s := x.Session(wire.SessionSpec{Agent: "n1"}) // a namespace called like the agent is nothing special
		s.Commit(wire.Checkpoint, x.text("seed"))
		bodies := map[string]string{"n1/a": x.Word("new a"), "n2/b": x.Word("b"), "deep/er/n3/c": x.Word("c")}
		x.Bucket.Memory("n1", keeps(s, "a", x.Word("old a")))
		for key, body := range bodies {
			slash := strings.LastIndexByte(key, '/')
			x.Bucket.Memory(key[:slash], keeps(s, key[slash+1:], body))
		}
		run := x.Run(s.ID)
		inv := run.Next()
		for key, body := range bodies {
			res, err := inv.recall(key)
			x.Clause("P7-4").Holds(yields(res, err, []byte(body)), fmt.Sprintf("%s below the announced root serves the latest object, %q", key, body), "%s", inShort(res, err))
		}
		inv.Finish()
		run.Wait()
	}, overBoth)

var _ = scenario("P7", "memory-bodies", "memory objects short and of five megabytes, inline and not: status 200 and the stored bytes",
	"P7-10",
	func(x *Lab) {
		s := x.shortLog()
		list := []wire.Entry{{Name: "inline", Body: x.Bytes(10)}, {Name: "short", Body: x.Bytes(10), NoInline: true}, {Name: "long", Body: x.fill(5 << 20)}}
		for _, e := range list {
			x.Bucket.Memory("bodies", wire.MemoryEntry{Entry: e, Session: s.ID, Version: 1})
		}
		run := x.Run(s.ID)
		inv := run.Next()
		known := 0
		for _, e := range list {
			if res, err := inv.recall("bodies/" + e.Name); err != nil || res.Status != 404 {
				known++
			}
		}
		if known == 0 {
			x.Stop("the memory server knows no object of the namespace (P7-4)")
		}
		for _, e := range list {
			res, err := inv.recall("bodies/" + e.Name)
			x.Clause("P7-10").Holds(yields(res, err, e.Body), fmt.Sprintf("a memory object's address answers 200 with its %d stored bytes % x…, itself and not elsewhere", len(e.Body), clip(e.Body, 8)), "%s", inShort(res, err))
		}
		inv.Finish()
		run.Wait()
	}, overBoth)

var _ = scenario("P7", "memory-types", "memory objects of several types whose bodies look like HTML: the server's Content-Type is the object's",
	"P7-12",
	func(x *Lab) {
		s := x.shortLog()
		types := fields("text/markdown application/json text/plain;charset=utf-8")
		for i, t := range types {
			body := fmt.Sprintf("<!DOCTYPE html><html><body>%s</body></html>%s", x.Word("page"), strings.Repeat(" ", i*1100))
			x.Bucket.Memory("typed", wire.MemoryEntry{Entry: wire.Entry{Name: fmt.Sprint(i), Body: []byte(body), ContentType: strings.Replace(t, ";", "; ", 1)}, Session: s.ID, Version: 1})
		}
		run := x.Run(s.ID)
		inv := run.Next()
		for i, want := range types {
			res, err := inv.recall(fmt.Sprintf("typed/%d", i))
			if err != nil || res.Status != 200 {
				x.Clause("P7-12").NotExercised("the memory object is not served (P7-4, P7-10): %s", inShort(res, err))
				continue
			}
			typed(x, "P7-12", res, want)
		}
		inv.Finish()
		run.Wait()
	}, overBoth)

var _ = scenario("P7", "unknown-memory", "unknown objects, unknown namespaces, a bucket without memory: the memory server answers 404, and goes on to serve the known ones",
	"P7-15",
	func(x *Lab) {
		s := x.shortLog()
		type asked struct {
			what string
			ok   bool
			seen string
		}
		var all []asked
		for _, empty := range []bool{true, false} {
			body, what := x.Word("known"), "there is no memory at all"
			if !empty {
				x.Bucket.Memory("ns", keeps(s, "x", body))
				what = "there is one object, ns/x"
			}
			run := x.Run(s.ID)
			inv := run.Next()
			if !empty { // that what it knows comes with another status makes 404 an answer
				if res, err := inv.recall("ns/x"); err != nil || res.Status != 200 {
					x.Stop("the known object is not served (P7-4): %s", inShort(res, err))
				}
			}
			for _, key := range fields("ns/y other/x ns/x/y ns") {
				res, err := inv.recall(key)
				all = append(all, asked{key + " (" + what + ")", err == nil && res.Status == 404, inShort(res, err)})
			}
			if !empty {
				res, err := inv.recall("ns/x")
				x.Clause("P7-15").Holds(err == nil && res.Status == 200, "the known object is served after that", "%s", inShort(res, err))
			}
			inv.Finish()
			run.Wait()
		}
		for _, a := range all {
			x.Clause("P7-15").Holds(a.ok, "an unknown key is answered with 404: "+a.what, "%s", a.seen)
		}
	}, overBoth)

// patience is how long a handler works in the story of the long invocation: longer
// than the ten seconds after which servers like to give up. What happens over HTTP
// when all Inputs have been sent shows sooner.
func (x *Lab) patience() time.Duration {
	if x.Over == HTTP {
		return 1200 * time.Millisecond
	}
	return 11 * time.Second
}

var _ = scenario("P7", "reachable-to-the-end", "a handler fetches while its input still comes, after its end, after eleven seconds of work and an emitted pause, and right before it ends: both servers are there",
	"P7-5 P7-6",
	func(x *Lab) {
		s := x.Session(wire.SessionSpec{})
		entry := wire.Entry{Name: "entry", Body: x.fill(5 << 20)}
		s.Commit(wire.Checkpoint, entry)
		remembered := x.Word("remembered")
		x.Bucket.Memory("ns", keeps(s, "x", remembered))
		// A server that never knows the object says by each 404 that it is there; what it lacks is P7-4's.
		var answers []func()
		absent := true
		asks := func(when string, res probe.FetchResult, err error) {
			absent = absent && err == nil && res.Status == 404
			answers = append(answers, func() {
				x.Clause("P7-5").Holds(absent || err == nil && res.Status == 200, "the memory server answers "+when, "%s", inShort(res, err))
			})
		}
		run := x.Run(s.ID)
		inv := run.Next()
		var first struct{ URL string }
		x.Waiting(func() { _ = json.NewDecoder(inv.Reader()).Decode(&first) }) // what is no record has no url
		if first.URL != "" {
			res, err := inv.Get(strings.TrimSuffix(first.URL, "/") + "/ns/x")
			asks("as soon as it is announced", res, err)
		}
		in, _ := inv.named("entry")
		check := func(when string) {
			res, err := inv.recall("ns/x")
			asks(when, res, err)
			if in.URL != "" {
				res, err = inv.Get(in.URL)
				x.Clause("P7-6").Holds(err == nil && res.Status == 200 && len(res.Body) == len(entry.Body), "the object server answers with the whole body "+when, "%s", inShort(res, err))
			}
		}
		check("once its record is there")
		slow := x.download(in.URL)
		inv.Emit(pause("enough"))
		x.pause(x.patience())
		check(fmt.Sprintf("after %s of work and a pause Output", x.patience()))
		if slow != nil {
			rest, err := io.Copy(io.Discard, slow)
			x.Clause("P7-6").Holds(err == nil && rest > 1<<20, "a download that began before is not cut off", "after %s %d bytes more came, error: %v", x.patience(), rest, err)
		}
		check("right before the handler ends")
		for _, judge := range answers {
			judge()
		}
		inv.Finish()
		run.Wait()
	}, overBoth, lasts(11*time.Second))

// download begins to fetch a long body and leaves the rest of it to be read; nil
// where there is none.
func (x *Lab) download(address string) io.Reader {
	if address == "" {
		return nil
	}
	req, err := http.NewRequestWithContext(x.Ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil // no address at all: P7-2
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return nil // what is answered was judged before
	}
	x.Cleanup(func() { _ = res.Body.Close() })
	if n, err := io.CopyN(io.Discard, res.Body, 64<<10); n < 64<<10 || err != nil {
		return nil
	}
	return res.Body
}
