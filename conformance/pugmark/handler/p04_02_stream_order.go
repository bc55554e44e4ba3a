package handler

import (
	"bytes"
	"encoding/json"
	"time"
)

var _ = scenario("P4.2", "session-without-entries", "the memory record and a lifecycle event, and nothing between", "P4.2-14", func(x *Lab) {
	_, control := x.Exemplar()
	for _, event := range []string{"start", ""} {
		e := x.Play(emptyLog(event), Variation{What: "lifecycle event " + jsonText(event)})
		x.Copes("P4.2-14", control, e, "a session without entries is no reason to fail", "with %s: %s", e.What, e.How())
	}
})

func jsonText(s string) string {
	b, _ := json.Marshal(s) // a string always encodes
	return string(b)
}

var _ = scenario("P4.2", "input-kept-open", "the whole stream, with and without a line feed at its end, and then silence on an open pipe", "P4.2-15 P16-1 P16-5 P3-16", func(x *Lab) {
	log, control := x.Exemplar()
	const demand = "the lifecycle record is the signal to begin; the work is done although the input stays open"
	events := []string{log.Lifecycle}
	for _, other := range []string{"start", "fork", "wake", ""} {
		if other != log.Lifecycle {
			events = append(events, other)
		}
	}
	for _, event := range events {
		e := x.Play(log.with(event), Variation{What: "the input kept open after the lifecycle record " + jsonText(event), KeepOpen: true})
		if !e.Ended {
			for _, id := range []string{"P4.2-15", "P16-5"} {
				x.Clause(id).Holds(false, demand, "log %s, with %s: %s", log.Name, e.What, e.How())
			}
			if len(e.Records()) > 0 {
				x.Clause("P16-1").Holds(false, endsByExit, "log %s, with %s: %s", log.Name, e.What, e.How())
			}
			return
		}
		if event == log.Lifecycle {
			if x.Same(log, e, "P4.2-15", "P16-5") { // whoever cannot do with an open input shows nothing about the line feed
				x.Same(log, x.Play(log, Variation{What: "no byte after the last record and the input kept open", Join: joined("\n"), KeepOpen: true}), "P3-16")
			}
		} else if speaks(e) {
			x.Clause("P4.2-15").Holds(true, demand, "log %s, with %s: %s", log.Name, e.What, e.How())
		} else if closed := x.Play(log.with(event), Variation{What: "lifecycle record " + jsonText(event)}); closed.Well() {
			x.Clause("P4.2-15").Holds(e.Well() && (len(e.Records()) > 0 || len(closed.Records()) == 0), demand, "log %s, with %s: %s; with the input closed: %s", log.Name, e.What, e.How(), closed.How())
		}
	}
	if len(control.Records()) > 0 {
		x.Clause("P16-1").Holds(!control.HeldOutput, endsByExit+", and nothing that it leaves behind holds its standard output", "log %s: %s; left running: %q", log.Name, control.How(), control.Strays)
	} else {
		x.Clause("P16-1").NotExercised(hintOutputs)
	}
}, onlyOver(Subprocess))

// lastApart puts the given silence before each of the last n records.
func lastApart(n int, silence time.Duration) func([][]byte) []Chunk {
	return func(lines [][]byte) []Chunk {
		at := max(1, len(lines)-n)
		out := []Chunk{{Bytes: append(bytes.Join(lines[:at], []byte("\n")), '\n')}}
		for _, line := range lines[at:] {
			out = append(out, Chunk{After: silence, Bytes: append(bytes.Clone(line), '\n')})
		}
		return out
	}
}

var _ = scenario("P4.2", "lifecycle-record-withheld", "everything but the lifecycle record, silence, then the lifecycle record", "P4.2-16", func(x *Lab) {
	log, control := x.Exemplar()
	if len(control.Records()) == 0 {
		x.Stop(hintOutputs)
	}
	silence := x.silence(control)
	e := x.Play(log, Variation{What: "the lifecycle record withheld for " + silence.Round(time.Millisecond).String(), Join: lastApart(1, silence)})
	if len(e.Output) > 0 && len(e.Sent) == 0 || len(e.Sent) > 0 && !e.Well() {
		x.Clause("P4.2-16").NotExercised("the handler did not succeed when the last record came late: %s", e.How())
		return
	}
	records := e.Records()
	if len(records) == 0 {
		x.Clause("P4.2-16").NotExercised("the handler gave no Output when the last record came late: %s", e.How())
		return
	}
	// What stands before the first Output, such as a banner, is P3-11's and P3-12's.
	first := e.arrival(records[0].Offset)
	early := len(e.Sent) < 2 || first < e.Sent[1]
	x.Clause("P4.2-16").Holds(!early, "no Output before the lifecycle record is there", "log %s, with %s: the first Output began to arrive after %s, the lifecycle record was sent after %s: %q",
		log.Name, e.What, first.Round(time.Millisecond), lastSent(e).Round(time.Millisecond), clip(e.Output[records[0].Offset:], 120))
}, lasts(time.Second))

func lastSent(e *Exchange) time.Duration {
	if len(e.Sent) == 0 {
		return 0
	}
	return e.Sent[len(e.Sent)-1]
}

var _ = scenario("P16", "silence-between-inputs", "a pause before each of the last three records", "P16-5", func(x *Lab) {
	log, control := x.Exemplar()
	silence := x.silence(control)
	x.Same(log, x.Play(log, Variation{What: silence.Round(time.Millisecond).String() + " of silence before each of the last three records", Join: lastApart(3, silence)}), "P16-5")
}, lasts(2*time.Second))
