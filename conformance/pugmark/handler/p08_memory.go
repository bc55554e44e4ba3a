package handler

import (
	"strings"
)

// reader is the first log on which the handler reads memory, with the key that it asks
// for first.
func (x *Lab) reader() (Log, *Exchange, string) {
	log, e, ok := x.Where(func(e *Exchange) bool { return len(e.from(e.memoryFetches)) > 0 })
	if !ok {
		x.Stop(hintMemory)
	}
	return log, e, strings.TrimPrefix(e.from(e.memoryFetches)[0].Path, e.memoryRoot)
}

var _ = scenario("P8.1", "memory-at-an-odd-root", "the memory is announced below a prefix of its own", "P8.1-3", func(x *Lab) {
	log, _, _ := x.reader()
	const root = "/odd/prefix/"
	e := x.Play(log, Variation{What: "the memory root at " + root, Root: root})
	const demand = "every request for memory goes to the announced root"
	fetched := e.from(e.memoryFetches)
	for _, f := range fetched {
		if !strings.HasPrefix(f.Path, root) {
			x.Clause("P8.1-3").Holds(false, demand, "log %s, with %s: %s", log.Name, e.What, f)
			return
		}
	}
	if len(fetched) > 0 {
		x.Clause("P8.1-3").Holds(true, demand, "log %s: %s", log.Name, fetched[0])
	}
})

var _ = scenario("P8.3", "reading-memory", "what the handler reads is there, first with one body and then with another", "P8.3-1", func(x *Lab) {
	log, control, key := x.reader()
	const demand = "a memory object is read by a GET on the root followed by namespace, slash and name"
	for _, f := range control.from(control.memoryFetches) {
		below, ok := strings.CutPrefix(f.Path, control.memoryRoot)
		switch {
		case f.Method != "GET" && f.Method != "HEAD":
			continue // P7-16
		case !ok || strings.HasPrefix(below, "/") || strings.Contains(below, "//") || !strings.Contains(strings.TrimSuffix(below, "/"), "/"):
			x.Clause("P8.3-1").Holds(false, demand, "log %s: %s; the root is %s", log.Name, f, control.memoryRoot)
			return
		}
	}
	served := func(body string) *Exchange {
		return x.Play(log, Variation{What: "memory " + key + " holding " + body, Memory: func(asked string) (Answer, bool) {
			if a, known := memoryFile(x.Config.Memory, asked); known && asked != key {
				return a, true
			}
			return Answer{Header: header("Content-Type", "text/plain"), Body: []byte(body)}, asked == key
		}})
	}
	one, two := served("17"), served("42")
	seen := ""
	if one.Well() && two.Well() {
		seen, _ = x.differs(one, two, false)
	}
	if seen == "" {
		x.Clause("P8.3-1").NotExercised("the Outputs do not depend on the memory that is read: the requests are right, and what becomes of them does not show")
		return
	}
	x.Clause("P8.3-1").Holds(true, demand+"; the Outputs depend on it", "log %s: %s", log.Name, seen)
})
