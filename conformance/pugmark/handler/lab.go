package handler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pugcheck/pugcheck/conformance"
	"github.com/pugcheck/pugcheck/harness/report"
)

// Lab is what one scenario works with: the handler under test and the runtime that
// is played for it.
type Lab struct {
	*conformance.T
	Ctx    context.Context
	Config Config
	Over   Transport

	bench   *bench
	service *service

	mu     sync.Mutex
	played []*Exchange
	hung   int // invocations that did not end

	borrowed []borrowing // control runs of other scenarios
}

// borrowing is the use of a control run that another scenario made.
type borrowing struct {
	at  time.Time
	run *Exchange
}

// defaultRoot is the path of the memory root.
const defaultRoot = "/memories/"

// enough is how many invocations without an end a scenario waits for.
const enough = 2

func newLab(ctx context.Context, t *conformance.T, c Config) *Lab {
	x := &Lab{T: t, Ctx: ctx, Config: c, Over: c.over(), bench: c.bench}
	t.Must(x.bench.open(c, t.Seed))
	t.Trace(x.trace)
	t.Timeline(x.timeline)
	t.Artifacts(x.keep)
	t.Cleanup(x.finish)
	return x
}

// finish ends the service and judges the invariants.
func (x *Lab) finish() {
	if x.service != nil {
		x.service.stop()
	}
	x.invariants()
}

// Logs are the logs to try, the author's own first.
func (x *Lab) Logs() []Log { return x.bench.logs }

// Play invokes the handler on a log, with one thing changed.
//
// A scenario in which two invocations did not end is over: the third would not tell
// more, and each costs the time limit.
func (x *Lab) Play(log Log, v Variation) *Exchange {
	x.mu.Lock()
	hung := x.hung
	x.mu.Unlock()
	if hung >= enough {
		x.Stop("%d invocations of the scenario did not end within %s, so no further ones were made", hung, x.Config.Timeout)
	}
	servers := v.Servers
	if servers == nil {
		servers = x.bench.servers
	}
	root := v.Root
	if root == "" {
		root = defaultRoot
	}
	x.serve(servers, log, root, v)
	plan := x.plan(log, v, servers, root)
	objects, memory := servers.Object.count(), servers.Memory.count()
	var e *Exchange
	var err error
	driver := x.driver(v.Env)
	x.Waiting(func() { e, err = driver.Drive(x.Ctx, plan) })
	if s, isService := driver.(*service); isService && s != x.service {
		s.stop()
	}
	x.Must(err)
	e.Log, e.plan = log.Name, plan
	e.addresses = []string{strings.TrimPrefix(servers.Object.URL, "http://"), strings.TrimPrefix(servers.Memory.URL, "http://")}
	e.memoryRoot = root
	e.Fetches = append(servers.Object.Fetches(objects), servers.Memory.Fetches(memory)...)
	slices.SortStableFunc(e.Fetches, func(a, b Fetch) int { return a.At.Compare(b.At) })
	e.decode()
	if v.PlainBodies {
		e.decodeBodies()
	}
	e.log, e.variation = log, v
	x.mu.Lock()
	x.played = append(x.played, e)
	if !e.Ended {
		x.hung++
	}
	x.mu.Unlock()
	return e
}

// serve sets up what both servers answer.
func (x *Lab) serve(servers *Servers, log Log, root string, v Variation) {
	answers := map[string]Answer{}
	for _, entry := range log.Entries {
		h := http.Header{}
		if entry.ContentType != "" {
			h.Set("Content-Type", entry.ContentType)
		}
		if entry.ContentEncoding != "" {
			h.Set("Content-Encoding", entry.ContentEncoding)
		}
		a := Answer{Header: h, Body: entry.Body}
		if v.Objects != nil {
			a = v.Objects(entry.key(), a)
		}
		answers[entry.key()] = a
	}
	servers.Object.Serve(answers, nil)
	servers.Memory.Serve(nil, func(path string) (Answer, bool) {
		key, below := strings.CutPrefix(path, root)
		switch {
		case !below:
			return Answer{}, false
		case v.Memory != nil:
			return v.Memory(key)
		}
		return memoryFile(x.Config.Memory, key)
	})
}

// identity is whom the runtime invokes, unless a variation changes it.
func (x *Lab) identity() Identity {
	return Identity{
		Session: x.bench.session, Agent: x.Config.Agent, Metadata: x.Config.Metadata,
		// P14.1-2: the session ID is the trace ID.
		Traceparent: "00-" + x.bench.session.String() + "-" + x.bench.span + "-01",
	}
}

// plan lays the invocation out.
func (x *Lab) plan(log Log, v Variation, servers *Servers, root string) Plan {
	id := x.identity()
	if v.Identity != nil {
		v.Identity(&id)
	}
	timeout := x.Config.Timeout
	if v.Timeout > 0 {
		timeout = v.Timeout
	}
	p := Plan{What: v.What, Chunks: v.chunks(v.spell(inputs(log, servers, root, v.Bodies))), KeepOpen: v.KeepOpen, Args: v.Args, Timeout: timeout}
	version := fmt.Sprint(max(1, len(log.Entries)))
	metadata := ""
	if len(id.Metadata) > 0 {
		b, err := json.Marshal(id.Metadata)
		x.Must(err)
		metadata = string(b)
	}
	if x.Over == HTTP {
		names := x.Config.Assumed.Query
		p.Query = url.Values{names.Agent: {id.Agent}, names.Session: {id.Session.String()}, names.Version: {version}}.Encode()
		p.Header = http.Header{"Traceparent": {id.Traceparent}}
		if metadata != "" {
			p.Header.Set("X-Pugmark-Session-Metadata", string(escaped([]byte(metadata)))) // a header is ASCII
		}
		maps.Copy(p.Header, v.Header)
		return p
	}
	p.Env = x.processEnv(id, metadata)
	p.Env[x.Config.Assumed.Environment.SnapshotVersion] = version
	applyEnv(p.Env, v.Env)
	return p
}

// processEnv is what the runtime sets for a process (P13-1 and on).
func (x *Lab) processEnv(id Identity, metadata string) map[string]string {
	env := map[string]string{
		"PUGMARK_AGENT_ID": id.Agent, "PUGMARK_SESSION_ID": id.Session.String(),
		"PUGMARK_SESSION_METADATA": metadata, "TRACEPARENT": id.Traceparent,
	}
	if metadata == "" {
		env["PUGMARK_SESSION_METADATA"] = "{}"
	}
	if id.NoVariable {
		for _, name := range []string{"PUGMARK_AGENT_ID", "PUGMARK_SESSION_METADATA"} {
			if env[name] == "" || env[name] == "{}" {
				delete(env, name)
			}
		}
	}
	return env
}

func applyEnv(env, changes map[string]string) {
	for name, value := range changes {
		if gone, ok := strings.CutPrefix(name, "-"); ok {
			delete(env, gone)
		} else {
			env[name] = value
		}
	}
}

// driver is the way to the handler. A service runs for the length of the scenario; one
// with an environment of its own, for one invocation.
func (x *Lab) driver(env map[string]string) Driver {
	switch {
	case x.Config.URL != "":
		target, err := url.Parse(x.Config.URL)
		x.Must(err)
		return httpDriver{target}
	case !x.Config.RPC:
		return processDriver{x.Config.Command}
	case x.service != nil && len(env) == 0:
		return x.service
	}
	id := x.identity()
	metadata := "{}"
	if len(id.Metadata) > 0 {
		b, err := json.Marshal(id.Metadata)
		x.Must(err)
		metadata = string(b)
	}
	all := x.processEnv(id, metadata)
	applyEnv(all, env)
	var s *service
	var err error
	x.Waiting(func() {
		s, err = startService(x.Ctx, x.Config.Command, all, x.Config.Assumed.Environment, x.Config.Timeout)
	})
	if errors.Is(err, errNoService) {
		x.Clause("P2-1").Holds(false, "a service in RPC mode accepts connections at the address that it is given", "%s", err)
		x.Stop("%v", err)
	}
	x.Must(err)
	if len(env) == 0 {
		x.service = s
	}
	return s
}

// Exchanges are the invocations of the scenario so far.
func (x *Lab) Exchanges() []*Exchange {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Clone(x.played)
}

// silence is how long the played runtime keeps still to see whether the handler goes
// ahead: much longer than the handler needs for the whole log, and not too long.
func (x *Lab) silence(control *Exchange) time.Duration {
	return min(max(8*control.Took, 600*time.Millisecond), 5*time.Second)
}

func (x *Lab) trace() []report.Block {
	var out []report.Block
	for i, e := range x.Exchanges() {
		var b strings.Builder
		fmt.Fprintf(&b, "%s\n", e.How())
		for _, f := range e.Fetches {
			fmt.Fprintln(&b, f)
		}
		fmt.Fprintf(&b, "input (%d bytes): %s\n", len(e.Input), clip(e.Input, 1500))
		fmt.Fprintf(&b, "output (%d bytes): %s\n", len(e.Output), clip(e.Output, 1500))
		for _, s := range e.Strays {
			fmt.Fprintf(&b, "left running: %s\n", s)
		}
		out = append(out, report.Block{Title: fmt.Sprintf("invocation %d: log %s%s", i+1, e.Log, with(e.What)), Text: b.String()})
	}
	return out
}

func with(what string) string {
	if what == "" {
		return ""
	}
	return ", with " + what
}
