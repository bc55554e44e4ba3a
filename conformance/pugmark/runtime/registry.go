package runtime

import (
	"context"
	"strings"
	"time"

	"github.com/pugcheck/pugcheck/conformance"
	"github.com/pugcheck/pugcheck/conformance/catalogue"
	"github.com/pugcheck/pugcheck/conformance/profile"
	"github.com/pugcheck/pugcheck/conformance/pugmark"
)

// Config says which runtime is judged, and with what patience.
type Config struct {
	Profile  profile.Runtime // how the subject is started, what it goes without
	Pugcheck string          // path of the pugcheck executable, which plays the handlers
	Timeout  time.Duration   // how long the subject may take for one step; 0 = DefaultTimeout

	refusals *refusals // shared by the scenarios of a suite
}

// DefaultTimeout is generous: a JVM on a loaded CI machine needs seconds to
// start, and waiting for a subject that hangs costs time only then.
const DefaultTimeout = 20 * time.Second

// Transport is the way between runtime and handler (P2-1).
type Transport string

// The two transports.
const (
	Subprocess Transport = "subprocess"
	HTTP       Transport = "http"
)

// story is a scenario before it is bound to a transport and a configuration.
type story struct {
	section, name, title string
	judges               string // clauses, separated by spaces
	needs                []string
	http, httpOnly       bool
	limit, lasts         time.Duration
	serial               bool
	body                 func(x *Lab)
}

// stories has room for all that there are, since it grows at every start.
var stories = make([]story, 0, 600)

// option adjusts a story.
type option func(*story)

// scenario registers a story under "section/name". judges lists every clause it
// can give a verdict on, separated by spaces; invariants need no mention. It runs
// at every start of pugcheck, probes included, so it only takes notes.
func scenario(section, name, title, judges string, body func(x *Lab), options ...option) bool {
	stories = append(stories, story{section: section, name: name, title: title, judges: judges, body: body})
	s := &stories[len(stories)-1]
	for _, o := range options {
		o(s)
	}
	return true
}

// overBoth tells the story over HTTP as well, as "section/name@http". Stories
// about what transports share use it.
func overBoth(s *story) { s.http = true }

// overHTTP tells the story over HTTP only.
func overHTTP(s *story) { s.http, s.httpOnly = true, true }

// needing names capabilities of the subject (as in --without) that the story uses.
func needing(capabilities ...string) option {
	return func(s *story) { s.needs = append(s.needs, capabilities...) }
}

// limit replaces the default limit of the whole story.
func limit(d time.Duration) option { return func(s *story) { s.limit = d } }

// lasts says how long the story waits on purpose, where that is more than a
// second: such stories start first.
func lasts(d time.Duration) option { return func(s *story) { s.lasts = d } }

// Suite returns the scenarios bound to a configuration. It builds no Ginkgo
// tree; conformance.Suite.Declare does.
func Suite(c Config) *conformance.Suite {
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	c.refusals = &refusals{found: map[string]string{}}
	suite := &conformance.Suite{
		Name:     "runtime",
		Severity: pugmark.Severity,
		Labels:   pugmark.Labels,
		Title:    pugmark.SectionTitle,
		Always:   Always(),
	}
	for _, s := range stories {
		if !s.httpOnly {
			suite.Scenarios = append(suite.Scenarios, s.bind(c, Subprocess))
		}
		if s.http {
			suite.Scenarios = append(suite.Scenarios, s.bind(c, HTTP))
		}
	}
	return suite
}

func (s story) bind(c Config, over Transport) conformance.Scenario {
	sc := conformance.Scenario{
		ID: s.section + "/" + s.name, Title: s.title, Clauses: strings.Fields(s.judges), Needs: s.needs,
		Limit: s.limit, Lasts: s.lasts, Serial: s.serial, Where: conformance.Written(s.body),
	}
	if over == HTTP {
		sc.ID += "@http"
		sc.Needs = append(append([]string{}, s.needs...), "http")
	}
	body := s.body
	sc.Body = func(ctx context.Context, t *conformance.T) {
		x := newLab(ctx, t, c, over)
		body(x)
	}
	return sc
}

// Index tells for every clause which scenarios are labelled with it. That any
// other scenario can judge an invariant's clause as well is not listed.
func Index() catalogue.Index {
	index := catalogue.Index{}
	for _, sc := range Suite(Config{}).Scenarios {
		for _, id := range sc.Clauses {
			index[id] = append(index[id], catalogue.Judge{Scenario: sc.ID, Suite: "runtime"})
		}
	}
	return index
}
