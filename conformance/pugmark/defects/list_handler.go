package defects

import "github.com/pugcheck/pugcheck/harness/report"

// What a runtime makes of a handler's Outputs, and what it tells the handler.

var outputs = []Defect{
	{Name: "uri-before-data", Clause: "P5.3-3", Fault: "takes the body from uri where an Output has data as well", Message: "the body is that of data"},
}

var lifeOfASession = []Defect{
	{Name: "micro-sign-refused", Clause: "P10-4", Fault: "does not know the unit µs", Message: "20000000µs"},
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
