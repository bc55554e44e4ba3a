package handler

import (
	"bytes"
	"fmt"
	"net/http"
	"os"

	"github.com/pugcheck/pugcheck/harness/artifacts"
)

// keptInvocation is a line of invocations.ndjson.
type keptInvocation struct {
	Invocation  string            `json:"invocation"` // what its files in streams/ are named after
	Control     bool              `json:"made_before,omitempty"`
	Log         string            `json:"log"`
	What        string            `json:"variation,omitempty"` // how it differs from a control run
	Command     []string          `json:"command,omitempty"`
	URL         string            `json:"url,omitempty"`
	Query       string            `json:"query,omitempty"`
	Header      http.Header       `json:"header,omitempty"`      // added to the request
	Environment map[string]string `json:"environment,omitempty"` // what the suite added
	KeptOpen    bool              `json:"input_kept_open,omitempty"`
	BeganMS     float64           `json:"began_ms"` // negative where an earlier scenario made it
	TookMS      float64           `json:"took_ms"`
	Sent        []keptPiece       `json:"sent"`
	Got         []keptPiece       `json:"got"`
	How         string            `json:"how"` // it ended
	Status      int               `json:"status,omitempty"`
	Response    http.Header       `json:"response_header,omitempty"`
	Left        []string          `json:"left_running,omitempty"`
}

type keptPiece struct {
	AtMS float64 `json:"at_ms"` // since the invocation began
	Size int     `json:"size"`
}

// keptFetch is a line of fetches.ndjson.
type keptFetch struct {
	Invocation string      `json:"invocation"`
	AtMS       float64     `json:"at_ms"`
	Server     string      `json:"server"`
	Method     string      `json:"method"`
	Path       string      `json:"path"`
	Header     http.Header `json:"header"`
	Status     int         `json:"status"` // 0 = no answer was given
}

// keptBody is a line of served.ndjson.
type keptBody struct {
	Log             string `json:"log"`
	Path            string `json:"path"`
	ContentType     string `json:"content_type,omitempty"`
	ContentEncoding string `json:"content_encoding,omitempty"`
	Size            int    `json:"size"`
	Body            string `json:"body,omitempty"` // file; "" = it is empty
}

// keep writes what the scenario left behind: docs/artifacts.md describes the files.
func (x *Lab) keep(f *artifacts.Folder) {
	var invocations []keptInvocation
	var fetches []keptFetch
	var served []keptBody
	var said, environment bytes.Buffer
	logs := map[string]bool{}
	one := func(name string, e *Exchange, borrowed bool) {
		k := x.kept(f, name, e)
		k.Control = borrowed
		invocations = append(invocations, k)
		for _, g := range e.Fetches {
			fetches = append(fetches, keptFetch{name, f.MS(g.At), g.Server.Name, g.Method, g.Path, g.Header, g.Status})
		}
		if !logs[e.log.Name] {
			logs[e.log.Name] = true
			for _, entry := range e.log.Entries {
				served = append(served, keptBody{e.log.Name, entry.key(), entry.ContentType, entry.ContentEncoding, len(entry.Body), f.Body(entry.Body)})
			}
		}
		fmt.Fprintf(&said, "# invocation %s: log %s%s\n%s\n", name, e.Log, with(e.What), e.Stderr)
		fmt.Fprintf(&environment, "# invocation %s\n%s", name, e.given())
	}
	for i, e := range x.Exchanges() {
		one(fmt.Sprint(i+1), e, false)
	}
	for i, b := range x.borrowed {
		one(fmt.Sprintf("control-%d", i+1), b.run, true)
	}
	artifacts.Lines(f, "invocations.ndjson", invocations)
	artifacts.Lines(f, "fetches.ndjson", fetches)
	artifacts.Lines(f, "served.ndjson", served)
	f.Put("stderr", said.Bytes())
	f.Put("environment", environment.Bytes())
	for _, l := range x.Config.Logs {
		x.keepLog(f, l)
	}
}

// kept writes the streams of one invocation and says the rest of it.
func (x *Lab) kept(f *artifacts.Folder, name string, e *Exchange) keptInvocation {
	file := func(what string) string { return fmt.Sprintf("streams/invocation-%s.%s", name, what) }
	f.Put(file("input"), e.Input)
	f.Put(file("output"), e.Output)
	if e.Stderr != "" {
		f.Put(file("stderr"), []byte(e.Stderr))
	}
	k := keptInvocation{
		Invocation: name, Log: e.Log, What: e.What, Command: x.Config.Command, URL: x.Config.URL,
		Query: e.plan.Query, Header: e.plan.Header, Environment: e.plan.Env, KeptOpen: e.plan.KeepOpen,
		BeganMS: f.MS(e.began), TookMS: float64(e.Took.Microseconds()) / 1000, Sent: []keptPiece{}, Got: []keptPiece{},
		How: e.How(), Status: e.Status, Response: e.Header, Left: e.Strays,
	}
	for i, at := range e.Sent {
		if i < len(e.plan.Chunks) {
			k.Sent = append(k.Sent, keptPiece{float64(at.Microseconds()) / 1000, len(e.plan.Chunks[i].Bytes)})
		}
	}
	from := 0
	for _, p := range e.pieces {
		k.Got = append(k.Got, keptPiece{float64(p.at.Microseconds()) / 1000, p.to - from})
		from = p.to
	}
	return k
}

// keepLog keeps a copy of a log of the author's own, for whoever repeats the scenario
// elsewhere.
func (x *Lab) keepLog(f *artifacts.Folder, l LogFile) {
	if data, err := os.ReadFile(l.Path); err == nil {
		f.Place(KeptLog(l.Name), data)
	}
}

// KeptLog is where the artifacts of a scenario have the log of that name.
func KeptLog(name string) string { return "logs/" + name + ".ndjson" }
