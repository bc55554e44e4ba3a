package report

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"
)

// Timeline collects what happened in a scenario, in any order, and makes events of it.
// The zero Timeline is empty. It is for one goroutine.
type Timeline struct {
	moments []moment
}

type moment struct {
	at         time.Time
	lane, text string
	parts      [][]byte
}

// The lanes: who acted.
const (
	LaneSubject = "subject" // the program that is judged
	LaneHandler = "handler" // the other side of it, where the suite plays that
	LaneS3      = "s3"      // the store, with what was asked of it
	LaneSuite   = "suite"   // the suite itself: what it laid out, signalled, found
)

// Add notes what happened at a moment: who acted, one line, and the headers and bytes
// that go with it, in parts of which each is text or binary by itself. They must not be
// changed afterwards. What happened at the same moment stays in the order of the calls;
// without a moment it is left out.
func (t *Timeline) Add(at time.Time, lane, text string, parts ...[]byte) {
	if !at.IsZero() {
		t.moments = append(t.moments, moment{at, lane, text, parts})
	}
}

// Limits bound a timeline.
type Limits struct {
	Events int // of what lies in the middle the rest is left out, and counted
	Detail int // bytes of one event
	Total  int // bytes of all details together; where they are more, each is cut shorter
}

// The limits of a report, which many scenarios share, and those of a file of its own.
var (
	InReport = Limits{Events: 400, Detail: 4 << 10, Total: 64 << 10}
	InFile   = Limits{Events: 20_000, Detail: 64 << 10, Total: 8 << 20}
)

// shortest is what is left of a detail, however many there are.
const shortest = 64

// Events are the moments in order of time, with times relative to began. What was left
// out is said in its place.
func (t *Timeline) Events(began time.Time, limits Limits) []Event {
	moments := slices.Clone(t.moments)
	sort.SliceStable(moments, func(i, j int) bool { return moments[i].at.Before(moments[j].at) })
	if out := len(moments) - limits.Events; out > 0 {
		from := limits.Events * 2 / 3
		note := moment{moments[from].at, LaneSuite, fmt.Sprintf("%d events left out here", out), nil}
		moments = slices.Concat(moments[:from:from], []moment{note}, moments[from+out:])
	}
	longest := limits.Detail
	for longest > shortest && total(moments, longest) > limits.Total {
		longest = max(longest/2, shortest)
	}
	events := make([]Event, len(moments))
	for i, m := range moments {
		events[i] = Event{
			AtMS: float64(m.at.Sub(began).Microseconds()) / 1000,
			Lane: m.lane, Text: Printable([]byte(m.text), 4*lineLength), Detail: m.detail(longest),
		}
	}
	return events
}

// lineLength is about how long the text of an event is at most, in bytes.
const lineLength = 250

func total(moments []moment, longest int) int {
	sum := 0
	for _, m := range moments {
		sum += min(m.size(), longest)
	}
	return sum
}

func (m moment) size() int {
	sum := 0
	for _, p := range m.parts {
		sum += len(p)
	}
	return sum
}

// detail shows all parts in at most limit bytes. Each but the last may have half of
// what is left.
func (m moment) detail(limit int) string {
	var shown []string
	for i, p := range m.parts {
		if len(p) == 0 {
			continue
		}
		room := limit
		if i < len(m.parts)-1 && m.size() > limit {
			room = limit / 2
		}
		limit -= min(room, len(p))
		shown = append(shown, strings.Trim(Printable(p, room), "\n"))
	}
	return strings.Join(shown, "\n\n")
}
