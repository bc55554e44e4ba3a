package handler

import (
	"context"
	"strings"
	"time"

	"github.com/pugcheck/pugcheck/conformance"
	"github.com/pugcheck/pugcheck/conformance/catalogue"
	"github.com/pugcheck/pugcheck/conformance/profile"
	"github.com/pugcheck/pugcheck/conformance/pugmark"
)

// Config says which handler is judged, and on what. It survives a round trip through
// JSON, since workers receive it that way.
type Config struct {
	Command  []string          `json:"command"` // program and arguments; empty where URL is set
	URL      string            `json:"url"`     // of a handler that is reached by HTTP
	RPC      bool              `json:"rpc"`     // Command hosts an HTTP service (P13-5)
	Logs     []LogFile         `json:"logs"`    // the author's own, tried before the built-in ones
	Memory   string            `json:"memory"`  // directory that the memory server serves as <namespace>/<name>; "" = an empty memory
	Metadata map[string]string `json:"metadata"`
	Agent    string            `json:"agent"`
	Timeout  time.Duration     `json:"timeout"` // for one invocation; 0 = DefaultTimeout
	Assumed  profile.Assumed   `json:"assumed"`

	bench *bench // shared by the scenarios of a suite
}

// DefaultTimeout is what a handler gets for one invocation of a small log.
const DefaultTimeout = 10 * time.Second

// over is the transport on which the handler is met.
func (c Config) over() Transport {
	if c.URL != "" || c.RPC {
		return HTTP
	}
	return Subprocess
}

// Misses says why a scenario that needs the transport does not apply; "" if it does.
func (c Config) Misses(transport string) string {
	switch {
	case transport == string(c.over()):
		return ""
	case transport == string(Subprocess):
		return "it is about handlers that are started as a process, and this one is reached by HTTP"
	}
	return "it is about handlers that are reached by HTTP (a URL, or --rpc), and this one is started as a process"
}

// Preflight is the scenario that a handler has to get through before anything else is
// asked of it.
const Preflight = "P2/preflight"

// story is a scenario before it is bound to a configuration.
type story struct {
	section, name, title string
	judges               string // clauses, separated by spaces
	only                 Transport
	lasts                time.Duration
	body                 func(x *Lab)
}

// stories has room for all that there are, since it grows at every start.
var stories = make([]story, 0, 100)

// option adjusts a story.
type option func(*story)

// scenario registers a story under "section/name". judges lists every clause it can
// give a verdict on; invariants need no mention. It runs at every start of pugcheck, so
// it only takes notes.
func scenario(section, name, title, judges string, body func(x *Lab), options ...option) bool {
	s := story{section: section, name: name, title: title, judges: judges, body: body}
	for _, o := range options {
		o(&s)
	}
	stories = append(stories, s)
	return true
}

// onlyOver tells the story over one transport only.
func onlyOver(t Transport) option { return func(s *story) { s.only = t } }

// lasts says how long the story waits on purpose, where that is more than half a
// second: such stories start first.
func lasts(d time.Duration) option { return func(s *story) { s.lasts = d } }

// Suite returns the scenarios bound to a configuration. Those that are about one
// transport need the capability of its name.
func Suite(c Config) *conformance.Suite {
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	c.bench = &bench{}
	suite := newSuite()
	for _, s := range stories {
		suite.Scenarios = append(suite.Scenarios, s.bind(c))
	}
	return suite
}

func newSuite() *conformance.Suite {
	return &conformance.Suite{
		Name: "handler", Severity: pugmark.Severity, Labels: pugmark.Labels, Title: pugmark.SectionTitle, Always: Always(),
	}
}

// longest is how many time limits a scenario can use up, about: it gives up after the
// second invocation that does not end.
const longest = 8

func (s story) bind(c Config) conformance.Scenario {
	body := s.body
	var needs []string
	if s.only != "" {
		needs = []string{string(s.only)}
	}
	return conformance.Scenario{
		ID: s.section + "/" + s.name, Title: s.title, Clauses: strings.Fields(s.judges), Needs: needs, Lasts: s.lasts, Where: conformance.Written(s.body),
		Limit: conformance.DefaultLimit + longest*c.Timeout,
		Body: func(ctx context.Context, t *conformance.T) {
			if s.only != "" && s.only != c.over() {
				t.Stop("%s", c.Misses(string(s.only)))
			}
			body(newLab(ctx, t, c))
		},
	}
}

// Index tells for every clause which scenarios are labelled with it, over either
// transport, and which are judged after every scenario.
func Index() catalogue.Index {
	index := catalogue.Index{}
	for _, s := range stories {
		for _, id := range strings.Fields(s.judges) {
			index[id] = append(index[id], catalogue.Judge{Scenario: s.section + "/" + s.name, Suite: "handler"})
		}
	}
	return index
}
