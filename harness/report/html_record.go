package report

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/pugcheck/pugcheck/harness/document"
	"github.com/pugcheck/pugcheck/harness/page"
)

// htmlRecord is what happened in a scenario: a timeline, or what was kept of it in
// blocks.
type htmlRecord struct {
	Scenario  string
	Anchor    template.URL
	Open      bool
	Summary   string
	Events    []htmlEvent
	Blocks    []htmlBlock
	Shortened bool
}

type htmlEvent struct {
	At, Lane, Who string
	Text, Detail  template.HTML
	Folded        string      // how much Detail is, where it is folded away
	Left          string      // instead of all that: how many events are left out here
	Run           []htmlEvent // or: further events in the same lane, folded away under Folded
}

type htmlBlock struct {
	Title, Size string
	Open        bool
	Text        template.HTML
}

// What of one event is shown at once; the bytes behind it take more.
const (
	roomOfText   = 500
	detailShown  = 240 // bytes of detail that stand open
	detailLines  = 3
	costOfMarkup = 90
	blockShown   = 1500 // bytes of a block that stands open
	blockLines   = 14
)

// recordOf is what happened in a scenario, within the room that it has; nil where
// nothing was kept.
func (p *htmlMaker) recordOf(sc *Scenario, open bool) *htmlRecord {
	rec := &htmlRecord{Scenario: sc.ID, Anchor: "record-" + document.Anchor(sc.ID), Open: open}
	switch {
	case len(sc.Timeline) > 0:
		rec.Summary = ", " + page.Count(len(sc.Timeline), "event")
		p.timeline(rec, sc.Timeline)
	case len(sc.Trace) > 0:
		p.blocks(rec, sc.Trace)
	default:
		return nil
	}
	if sc.Run > 0 {
		rec.Summary += fmt.Sprintf(", run %d", sc.Run)
	}
	return rec
}

// lanes are those that have a place of their own; all others share one.
var lanes = map[string]bool{"suite": true, "handler": true, "subject": true, "s3": true}

// timeline shows events from the beginning and from the end, as many as there is room for.
func (p *htmlMaker) timeline(rec *htmlRecord, events []Event) {
	room := max(p.record/10, detailShown)
	cost := func(e Event) int { return costOfMarkup + min(len(e.Text), roomOfText) + min(len(e.Detail), room) }
	head, tail, left := 0, len(events), p.record
	for head < tail && (head == 0 || left-cost(events[head]) >= p.record/3) {
		left -= cost(events[head])
		head++
	}
	for tail > head && left-cost(events[tail-1]) >= 0 {
		left -= cost(events[tail-1])
		tail--
	}
	show := func(list []Event) {
		for _, e := range list {
			rec.Shortened = rec.Shortened || len(e.Text) > roomOfText || len(e.Detail) > room
			shown := htmlEvent{At: fmt.Sprintf("%.1f", e.AtMS), Lane: e.Lane, Who: e.Lane, Text: document.Excerpt(e.Text, roomOfText), Detail: document.Excerpt(e.Detail, room)}
			if !lanes[e.Lane] {
				shown.Lane = "other"
			}
			if lines := strings.Count(strings.TrimRight(e.Detail, "\n"), "\n") + 1; len(e.Detail) > detailShown || lines > detailLines {
				shown.Folded = page.Count(lines, "line") + ", " + page.Count(len(e.Detail), "byte")
			}
			rec.Events = append(rec.Events, shown)
		}
	}
	show(events[:head])
	if head < tail {
		rec.Events = append(rec.Events, htmlEvent{Left: page.Count(tail-head, "event")})
		rec.Shortened = true
	}
	show(events[tail:])
	rec.Events = foldRuns(rec.Events)
}

// What stays of many events in a row that are of one lane.
const (
	longRun = 9
	runHead = 3
	runTail = 2
)

// foldRuns folds the middle of long rows of events in one lane, such as hundreds of
// requests, so that what happens around them is seen together.
func foldRuns(events []htmlEvent) []htmlEvent {
	var out []htmlEvent
	for len(events) > 0 {
		n := 1
		for n < len(events) && events[n].Who == events[0].Who && events[n].Left == "" && events[0].Left == "" {
			n++
		}
		if run := events[:n]; n > longRun {
			middle := run[runHead : n-runTail]
			out = append(out, run[:runHead]...)
			out = append(out, htmlEvent{Run: middle, Folded: fmt.Sprintf("%d more of %s until %s", len(middle), document.Plain(run[0].Who), middle[len(middle)-1].At)})
			out = append(out, run[n-runTail:]...)
		} else {
			out = append(out, run...)
		}
		events = events[n:]
	}
	return out
}

// blocks shares the room so that short blocks are shown whole and long ones get the rest.
func (p *htmlMaker) blocks(rec *htmlRecord, trace []Block) {
	share := p.record / len(trace)
	spare, long := 0, 0
	for _, b := range trace {
		if len(b.Text) <= share {
			spare += share - len(b.Text)
		} else {
			long++
		}
	}
	if long > 0 {
		share += spare / long
	}
	for _, b := range trace {
		rec.Shortened = rec.Shortened || len(b.Text) > share
		text := strings.TrimRight(b.Text, "\n")
		if text == "" {
			text = "none"
		}
		shown := htmlBlock{Title: b.Title, Open: true, Text: document.Excerpt(text, share)}
		if lines := strings.Count(text, "\n") + 1; len(text) > blockShown || lines > blockLines {
			shown.Open, shown.Size = false, ", "+page.Count(lines, "line")
		}
		rec.Blocks = append(rec.Blocks, shown)
	}
}
