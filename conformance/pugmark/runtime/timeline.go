package runtime

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pugcheck/pugcheck/conformance/profile"
	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
	"github.com/pugcheck/pugcheck/harness/report"
	"github.com/pugcheck/pugcheck/harness/subject"
)

// deed is something that the scenario did to a run.
type deed struct {
	at   time.Time
	what string
}

// timeline tells the story from the records that all parts of the bench keep anyway.
func (x *Lab) timeline(l *report.Timeline) {
	x.timelineOfChanges(l)
	for i, r := range x.runs {
		r.timeline(l, fmt.Sprintf("run %d", i+1))
	}
	for _, inv := range x.invocations() {
		inv.timeline(l, fmt.Sprintf("invocation %d", inv.N))
	}
	for _, r := range x.S3.Requests() {
		timelineOfRequest(l, r)
	}
}

// begun is when the subject was started first; the zero time if it never was.
func (x *Lab) begun() time.Time {
	if len(x.runs) == 0 {
		return time.Time{}
	}
	return x.runs[0].began
}

// isSeed tells whether a change belongs to the bucket as it was laid out before the
// subject was started.
func (x *Lab) isSeed(c fakes3.Change) bool {
	begun := x.begun()
	return begun.IsZero() || c.At.Before(begun)
}

// timelineOfChanges tells what the scenario put into the bucket: while no process of the
// subject ran, all together; while one did, one by one.
func (x *Lab) timelineOfChanges(l *report.Timeline) {
	var laid []fakes3.Change
	tell := func() {
		if len(laid) > 0 {
			var list bytes.Buffer
			for _, c := range laid {
				fmt.Fprintln(&list, describe(c))
			}
			l.Add(laid[0].At, report.LaneSuite, fmt.Sprintf("lays out: %d changes of the bucket", len(laid)), list.Bytes())
		}
		laid = nil
	}
	for _, c := range x.S3.Changes() {
		if x.runningAt(c.At) {
			tell()
			l.Add(c.At, report.LaneSuite, describe(c), readable(c.Object().Body))
			continue
		}
		if len(laid) > 0 && x.startedBetween(laid[0].At, c.At) {
			tell()
		}
		laid = append(laid, c)
	}
	tell()
}

func describe(c fakes3.Change) string {
	if c.Deleted {
		return fmt.Sprintf("deletes /%s/%s", c.Bucket, c.Key)
	}
	return fmt.Sprintf("puts /%s/%s (%d bytes)", c.Bucket, c.Key, len(c.Object().Body))
}

func (x *Lab) runningAt(at time.Time) bool {
	return slices.ContainsFunc(x.runs, func(r *Run) bool {
		return !r.began.After(at) && (r.Alive() || r.began.Add(r.proc.Exit().Duration).After(at))
	})
}

func (x *Lab) startedBetween(from, to time.Time) bool {
	return slices.ContainsFunc(x.runs, func(r *Run) bool { return r.began.After(from) && r.began.Before(to) })
}

// readable is a body as people can read it: what zstd packed is unpacked.
func readable(body []byte) []byte {
	if plain, err := wire.DecodeZstd(body); err == nil {
		return fmt.Appendf(nil, "%d bytes of zstd, which hold:\n%s", len(body), plain)
	}
	return body
}

func (r *Run) timeline(l *report.Timeline, name string) {
	l.Add(r.began, report.LaneSubject, name+" starts", []byte(profile.Quote(r.argv)+"\n"+subject.Variables(r.env)))
	for _, d := range r.deeds {
		l.Add(d.at, report.LaneSuite, d.what+" "+name)
	}
	if r.Alive() {
		return
	}
	exit := r.proc.Exit()
	var said bytes.Buffer
	r.leavings(&said, "\n")
	l.Add(r.began.Add(exit.Duration), report.LaneSubject, fmt.Sprintf("%s ends: %s", name, exit), bytes.TrimRight(said.Bytes(), "\n"))
}

// together is how close pieces of an input may follow each other to be told as one.
const together = time.Millisecond

func (i *Invocation) timeline(l *report.Timeline, name string) {
	head := []byte(strings.Join(i.environment(), "\n"))
	if i.Request != nil {
		head = i.Request.Head
	}
	began := i.Arrived
	chunks := i.Chunks()
	if len(chunks) > 0 && chunks[0].At.Before(began) {
		began = chunks[0].At // a probe reads before it is heard of
	}
	l.Add(began, report.LaneHandler, fmt.Sprintf("%s begins (%s, %s)", name, i.Transport, cmp.Or(i.Label, "default")), head)
	for from := 0; from < len(chunks); {
		to, size := from+1, len(chunks[from].Bytes)
		for to < len(chunks) && chunks[to].At.Sub(chunks[to-1].At) < together {
			size += len(chunks[to].Bytes)
			to++
		}
		piece := make([]byte, 0, size)
		for _, c := range chunks[from:to] {
			piece = append(piece, c.Bytes...)
		}
		l.Add(chunks[from].At, report.LaneHandler, fmt.Sprintf("%s gets %d bytes of input", name, size), piece)
		from = to
	}
	if at, ok := i.InputEnded(); ok {
		l.Add(at, report.LaneHandler, name+" sees its input end")
	}
	for _, a := range i.Acts() {
		parts := [][]byte{a.Bytes}
		if a.Result != nil {
			parts = [][]byte{headerLines(a.Result.Header, nil), readable(a.Result.Body)}
		}
		l.Add(a.At, report.LaneHandler, name+": "+a.String(), parts...)
	}
	if at, ok := i.Ended(); ok {
		l.Add(at, report.LaneHandler, name+" is over")
	}
}

// headerLines are the lines of a header but for the names in without.
func headerLines(h http.Header, without map[string]bool) []byte {
	var b bytes.Buffer
	_ = h.WriteSubset(&b, without) // a buffer takes everything
	return bytes.TrimRight(bytes.ReplaceAll(b.Bytes(), []byte("\r\n"), []byte("\n")), "\n")
}

// commonplace are the headers that every S3 client sends and that say nothing of what
// it wants.
var commonplace = map[string]bool{
	"Accept": true, "Accept-Encoding": true, "Amz-Sdk-Invocation-Id": true, "Amz-Sdk-Request": true, "Authorization": true,
	"Connection": true, "User-Agent": true, "X-Amz-Content-Sha256": true, "X-Amz-Date": true, "X-Amz-User-Agent": true, "X-Amz-Security-Token": true,
}

// slow is from when on the answer to a request is worth an event of its own.
const slow = 20 * time.Millisecond

func timelineOfRequest(l *report.Timeline, r fakes3.Request) {
	l.Add(r.Arrived, report.LaneS3, r.String(), headerLines(r.Header, commonplace), readable(r.Body))
	if r.Fate != "" || r.Answered.Sub(r.Arrived) > slow {
		l.Add(r.Answered, report.LaneS3, fmt.Sprintf("#%d is over: %s", r.N, outcomeOf(r)))
	}
}

func outcomeOf(r fakes3.Request) string {
	words := []string{r.Took.String()}
	if r.Status != 0 {
		words = append(words, fmt.Sprintf("status %d", r.Status))
	}
	if r.Fate != "" {
		words = append(words, r.Fate)
	}
	return strings.Join(words, ", ")
}

// told are the variables of a handler's environment that are the runtime's to set. All
// others may be the user's own, and are nobody's business.
func told(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	return strings.HasPrefix(name, "PUGMARK_") || name == "TRACEPARENT" || name == "TRACESTATE"
}

// environment is what a handler process was told by variables, as NAME=VALUE.
func (i *Invocation) environment() []string {
	var out []string
	for _, kv := range i.Env {
		if told(kv) {
			out = append(out, kv)
		}
	}
	return out
}
