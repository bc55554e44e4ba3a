package defects

import "github.com/pugcheck/pugcheck/harness/report"

// What a runtime makes of a handler's Outputs, and what it tells the handler.

const sameOfDescriptors = "the same demand in the section on descriptors"

var outputs = []Defect{
	{Name: "type-normalised", Clause: "P5.1-3", Fault: "commits content types in lower case", Message: "Text/Plain; Charset=UTF-8", Beside: map[string]string{"S7-6": sameOfDescriptors}},
	{Name: "schema-lost", Clause: "P5.1-5", Fault: "does not commit schema-url", Message: "https://example.com/s?v=1#x", Beside: map[string]string{"S7-6": sameOfDescriptors}},
	{Name: "name-made-up", Clause: "P5.1-6", Fault: "names entries without a name after their digest", Message: "where it has none there is none", Beside: map[string]string{"S7-6": sameOfDescriptors}},
	{Name: "stored-metadata-lower-case", Clause: "P5.1-7", Fault: "commits metadata keys in lower case", Message: `"Key-A": "1"`, Beside: map[string]string{"S7-7": sameOfDescriptors}},
	{Name: "fork-needs-session", Clause: "P5.1-8", Fault: "takes fork for nothing where no session is chosen", Message: "is recorded as a fork, with a child's ID as its target"},
	{Name: "order-of-uploads", Clause: "P5.2-2", Fault: "commits entries as their uploads finish", Message: `"o17", "o19", "o00", "o02"`},
	{Name: "uri-before-data", Clause: "P5.3-3", Fault: "takes the body from uri where an Output has data as well", Message: "the body is that of data"},
	{Name: "memory-before-pause", Clause: "P5.3-6", Fault: "takes a pause with the name of a memory object for a memory write", Message: "a name that begins with memories/ns/ gives one control message"},
	{Name: "fork-before-memory", Clause: "P5.3-8", Fault: "takes a memory write with fork for a fork", Message: "the Output becomes a record of its memory namespace"},
}

var lifeOfASession = []Defect{
	{Name: "micro-sign-refused", Clause: "P10-4", Fault: "does not know the unit µs", Message: "20000000µs"},
	{Name: "malformed-duration-ignored", Clause: "P10-4", Verdict: report.Warn, Fault: "pauses without a time where the duration is malformed", Message: `the malformed duration "soon"`},
	{Name: "pause-forgotten", Clause: "P10-5", Fault: "forgets a pause when an ordinary Output follows", Message: "a pause as last Output leads to", Beside: map[string]string{
		"P5.2-1": "Outputs in another order lead to something else"}},
	{Name: "over-long-sleep-refused", Clause: "P10-6", Fault: "fails on a sleep of more than ten minutes", Message: "10m1s"},
	{Name: "pause-ends-the-stream", Clause: "P10-7", Fault: "drops what follows a pause record", Message: "what follows the pause", Beside: map[string]string{"P5.2-1": "Outputs in another order lead to something else"}},
	{Name: "reason-dropped", Clause: "P10-8", Fault: "commits the control message without the pause's reason", Message: "reason one"},
	{Name: "sleeps-are-skipped", Clause: "P10-13", Fault: "invokes the handler before start-at", Message: "no invocation before start-at"},
	{Name: "sleepers-get-no-event", Clause: "P10-14", Fault: "gives handlers an empty lifecycle event after a sleep", Message: "once a sleep is over"},
	{Name: "never-wake", Clause: "P10-15", Fault: "gives woken handlers an empty lifecycle event", Message: "after a provisional snapshot landed behind the stop"},
	{Name: "first-pause-counts", Clause: "P10-19", Fault: "keeps the first of several pauses", Message: "Reason:first"},
	{Name: "fork-runs-go-on", Clause: "P10-20", Fault: "does not stop a session whose run gave forks only", Message: "1 fork(s) and nothing else"},
	{Name: "any-fork-stops", Clause: "P10-21", Fault: "stops a session whenever a run gave a fork", Message: "a fork and a normal entry leave 0 stopped control message(s)"},
	{Name: "producers-stop", Clause: "P10-22", Fault: "stops a session whose run gave messages to others only", Message: "a cross-session write alone does not stop the writer"},
	{Name: "agent-left-out", Clause: "P13-1", Fault: "does not tell the handler its agent", Message: "a b&c=ü/7"},
	{Name: "session-in-upper-case", Clause: "P13-2", Fault: "tells the handler its session ID in upper case", Message: "lower-case hex"},
	{Name: "metadata-left-out", Clause: "P13-3", Fault: "does not tell the handler the session's metadata", Message: "PUGMARK_SESSION_METADATA"},
	{Name: "version-ahead", Clause: "P13-4", Verdict: report.Warn, Fault: "tells the handler the version that it is going to write", Message: "PUGMARK_SNAPSHOT_VERSION is 3 … \"4\""},
	{Name: "exit-status-ignored", Clause: "P16-7", Fault: "commits the Outputs of a handler that exits with an error", Message: "with exit status 1 the invocation has failed"},
}
