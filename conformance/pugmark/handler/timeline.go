package handler

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/pugcheck/pugcheck/conformance/profile"
	"github.com/pugcheck/pugcheck/harness/report"
	"github.com/pugcheck/pugcheck/harness/subject"
)

// timeline tells the story of the scenario's invocations from what is kept of them.
// Control runs that an earlier scenario made are no part of it; that they were used is.
func (x *Lab) timeline(l *report.Timeline) {
	for i, e := range x.Exchanges() {
		e.timeline(l, fmt.Sprintf("invocation %d", i+1))
		if x.Config.URL == "" && !x.Config.RPC {
			l.Add(e.began, report.LaneSubject, fmt.Sprintf("invocation %d: the handler starts", i+1), []byte(profile.Quote(x.Config.Command)))
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, b := range x.borrowed {
		text := fmt.Sprintf("compares with the control run of log %s, made by an earlier scenario: %s", b.run.Log, b.run.How())
		l.Add(b.at, report.LaneSuite, text, b.run.Input, b.run.Output)
	}
}

func (e *Exchange) timeline(l *report.Timeline, name string) {
	l.Add(e.began, report.LaneSuite, fmt.Sprintf("%s: log %s%s", name, e.Log, with(e.What)), e.given())
	for i, at := range e.Sent {
		if i < len(e.plan.Chunks) {
			c := e.plan.Chunks[i]
			l.Add(e.began.Add(at), report.LaneSuite, fmt.Sprintf("%s: sends %d bytes of input", name, len(c.Bytes)), c.Bytes)
		}
	}
	if n := len(e.Sent); n > 0 && n == len(e.plan.Chunks) && !e.plan.KeepOpen {
		l.Add(e.began.Add(e.Sent[n-1]), report.LaneSuite, name+": the input ends")
	}
	for _, f := range e.Fetches {
		var head bytes.Buffer
		_ = f.Header.Write(&head) // a buffer takes everything
		l.Add(f.At, report.LaneHandler, name+": "+f.String(), head.Bytes())
	}
	from := 0
	for i := 0; i < len(e.pieces); {
		first := e.pieces[i]
		to := first.to
		for i++; i < len(e.pieces) && e.pieces[i].at-e.pieces[i-1].at < together; i++ {
			to = e.pieces[i].to
		}
		l.Add(e.began.Add(first.at), report.LaneHandler, fmt.Sprintf("%s: writes %d bytes of output", name, to-from), e.Output[from:to])
		from = to
	}
	said := e.Stderr
	for _, s := range e.Strays {
		said += "\nleft running: " + s
	}
	if said != "" {
		said = "stderr:\n" + said
	}
	l.Add(e.began.Add(e.Took), report.LaneSubject, name+" ends: "+firstLine(e.How()), []byte(said))
}

// together is how close pieces of an output may follow each other to be told as one.
const together = time.Millisecond

// given is what the handler was told beside its input: variables, or query and header.
func (e *Exchange) given() []byte {
	b := bytes.NewBufferString(subject.Variables(e.plan.Env))
	if e.plan.Query != "" {
		fmt.Fprintf(b, "?%s\n", e.plan.Query)
	}
	_ = e.plan.Header.Write(b) // a buffer takes everything
	return b.Bytes()
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
