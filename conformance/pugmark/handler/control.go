package handler

import (
	"reflect"
	"slices"
	"time"
)

// Control is the control run of a log: nothing changed, the input closed after the
// last record. It is made once per process.
func (x *Lab) Control(log Log) *Exchange {
	return x.once(x.bench.controls, log, func() *Exchange { return x.Play(log, Variation{}) })
}

// once is the run of a log that is kept, or else is made and kept.
func (x *Lab) once(kept map[string]*Exchange, log Log, play func() *Exchange) *Exchange {
	x.bench.mu.Lock()
	e := kept[log.Name]
	x.bench.mu.Unlock()
	if e != nil {
		x.borrow(e)
		return e
	}
	e = play()
	x.bench.mu.Lock()
	kept[log.Name] = e
	x.bench.mu.Unlock()
	return e
}

// Vary is Play, except that what comes to the very invocation of the control run is not
// made once more: every start of a handler costs, and it would show nothing new.
func (x *Lab) Vary(log Log, v Variation) *Exchange {
	x.bench.mu.Lock()
	control := x.bench.controls[log.Name]
	x.bench.mu.Unlock()
	if control == nil || v.Servers != nil || v.Objects != nil || v.Memory != nil || v.PlainBodies {
		return x.Play(log, v)
	}
	root := v.Root
	if root == "" {
		root = defaultRoot
	}
	if !alike(control.plan, x.plan(log, v, x.bench.servers, root)) {
		return x.Play(log, v)
	}
	x.borrow(control)
	e := *control
	e.What, e.log, e.variation = v.What, log, v
	return &e
}

// alike tells whether two plans lead to the same invocation, whatever they are called.
func alike(a, b Plan) bool {
	a.What, b.What = "", ""
	return reflect.DeepEqual(a, b)
}

// borrow notes that the scenario looks at runs which it may not have made itself.
func (x *Lab) borrow(runs ...*Exchange) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, e := range runs {
		own := slices.Contains(x.played, e) || slices.ContainsFunc(x.borrowed, func(b borrowing) bool { return b.run == e })
		if !own {
			x.borrowed = append(x.borrowed, borrowing{time.Now(), e})
		}
	}
}

// How to provoke what a log did not.
const (
	hintOutputs = "the handler gave no Output on any log; give one on which it does (--log my-log.ndjson)"
	hintBodies  = "the handler's Outputs do not depend on the bodies of any log; give one on which they do (--log my-log.ndjson)"
	hintFetches = "the handler fetched no body on any log; give one on which it does (--log my-log.ndjson)"
	hintMemory  = "the handler read no memory on any log; give one on which it does (--log my-log.ndjson, and --memory DIR for what it finds there)"
	hintWrites  = "the handler wrote no memory on any log; give one on which it does (--log my-log.ndjson)"
	hintPauses  = "the handler did not pause on any log; give one on which it does (--log my-log.ndjson)"
	hintForks   = "the handler did not fork on any log; give one on which it does (--log my-log.ndjson)"
)

// Exemplar is the log that comparisons are made on: the first one on which the handler
// succeeds and gives Outputs; failing that, the first on which it succeeds, where only
// its failing can be seen. It ends the scenario where there is none.
func (x *Lab) Exemplar() (Log, *Exchange) {
	var first Log
	var succeeded *Exchange
	for _, log := range x.Logs() {
		e := x.Control(log)
		switch {
		case !e.Ended:
			// One such wait is enough; the scenario on all logs tells of each.
			x.Stop("the handler did not come to an end on %s: %s", log, e.How())
		case e.Well() && len(e.Records()) > 0:
			return log, e
		case e.Well() && succeeded == nil:
			first, succeeded = log, e
		}
	}
	if succeeded == nil {
		x.Stop("the handler succeeds on no log; give one on which it does (--log my-log.ndjson)")
	}
	return first, succeeded
}

// Copes judges whether the handler succeeds with a readable stream. A handler whose
// stream cannot be read in the control run either is not to blame for it once more.
func (x *Lab) Copes(clause string, control, e *Exchange, demand, format string, args ...any) bool {
	c := x.Clause(clause).Calldepth(1)
	if e.Well() && !control.readable() {
		c.NotExercised("the handler's output stream cannot be read on any log")
		return true
	}
	return c.Holds(e.Well() && e.readable(), demand, format, args...)
}

// Where finds the first log on whose control run f says true.
func (x *Lab) Where(f func(e *Exchange) bool) (Log, *Exchange, bool) {
	for _, log := range x.Logs() {
		if e := x.Control(log); e.Well() && f(e) {
			return log, e, true
		}
	}
	return Log{}, nil, false
}

// Fetcher is a log on which the handler fetches bodies when they are served by URL
// only, with that run. It ends the scenario where there is none.
func (x *Lab) Fetcher() (Log, *Exchange) {
	for _, log := range x.Logs() {
		if len(log.Entries) == 0 || silent(x.Control(log)) {
			continue
		}
		e := x.byURL(log)
		if e.Well() && len(e.Records()) > 0 && len(e.from(e.objectFetches)) > 0 {
			return log, e
		}
	}
	x.Stop(hintFetches)
	return Log{}, nil
}

// byURL is the run of a log whose bodies are served by URL only. It is made once per
// process, like the control run.
func (x *Lab) byURL(log Log) *Exchange {
	return x.once(x.bench.fetching, log, func() *Exchange {
		return x.Vary(log, Variation{What: "all bodies by URL only", Bodies: ByURL})
	})
}

// objectFetches are the requests to the object server.
func (e *Exchange) objectFetches(f Fetch) bool { return f.Server.Name == "object server" }

// memoryFetches are the requests to the memory server.
func (e *Exchange) memoryFetches(f Fetch) bool { return f.Server.Name == "memory server" }

func (e *Exchange) from(which func(Fetch) bool) []Fetch {
	var out []Fetch
	for _, f := range e.Fetches {
		if which(f) {
			out = append(out, f)
		}
	}
	return out
}
