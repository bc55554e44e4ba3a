package defects

import "github.com/pugcheck/pugcheck/harness/report"

// What happens in an invocation as a whole, how it fails, and what surrounds it.

const (
	sameOfFailures = "the same demand in the section on termination"
	sameOfWaking   = "the same demand in the section on pauses"
)

var invocations = []Defect{
	{Name: "snapshot-before-rewritten", Clause: "P1-1", Fault: "spells the snapshot before the one that it writes anew", Message: "the same: false", Beside: map[string]string{
		"S1-8": "the same demand in the storage specification", "S6.2-8": "an overwriting write has no condition"}},
	{Name: "first-version-left-out", Clause: "P1-2", Fault: "commits a session's first snapshot as version 2", Message: "FFFFFFFE", Beside: map[string]string{
		"S6.1-1": "a version is left out", "S6.1-4": "a version is left out", "S4.3-2": "a version is left out"}},
	{Name: "memory-service-nowhere", Clause: "P1-4", Fault: "announces a memory service that nobody offers", Message: "is served the memory object … connection refused"},
	{Name: "urls-without-host", Clause: "P1-5", Fault: "gives paths without scheme and host as urls of entries", Message: `"/sha256:`, Beside: map[string]string{
		"P1-4": "nobody is reached by such a url"}},
	{Name: "equal-neighbours-once", Clause: "P1-6", Fault: "merges equal entries that follow each other", Message: "one Input for each of the seven log entries"},
	{Name: "idle-output-is-over", Clause: "P1-7", Fault: "takes a second's silence for the end of the output", Message: `committed: "one"`},
	{Name: "twenty-entries-a-time", Clause: "P1-8", Fault: "commits more than twenty entries in several snapshots", Message: "one new snapshot at the next version"},
	{Name: "unreadable-is-skipped", Clause: "P1-9", Fault: "takes a snapshot that cannot be read for an empty one", Message: "no handler gets a whole stream of a log with a hole … the server answers 500"},
	{Name: "bodies-as-text", Clause: "P1-14", Fault: "replays bodies as UTF-8, what is none replaced", Message: "what was committed is replayed to the byte"},
	{Name: "upgrades-instead", Clause: "P2-1", Fault: "asks an HTTP handler for another protocol instead of calling it", Message: "Upgrade: websocket", Beside: map[string]string{
		"P2.2-1": "no request is made", "P2.2-3": "no request is made", "P2.2-4": "no request is made"}},
	{Name: "schemaless-over-http", Clause: "P2-2", Fault: "leaves schema-url out of the records over HTTP", Message: "the Inputs over HTTP are those over a pipe", Beside: map[string]string{
		"P4.1-6": "the field is left out over HTTP"}},
	{Name: "signals-are-success", Clause: "P2.1-7", Fault: "takes a handler that died by a signal for one that succeeded", Message: "with death by SIGKILL", Beside: map[string]string{
		"P2.1-8": "what it left is committed"}},
	{Name: "failed-work-is-committed", Clause: "P2.1-8", Fault: "commits first and looks at the handler's status then", Message: "latest snapshot is still version 3", Beside: map[string]string{
		"P2.1-7": "the invocation has not failed then", "P16-7": sameOfFailures, "P16-9": sameOfFailures, "P2.1-4": "the status is part of the end"}},
	{Name: "success-by-any-2xx", Clause: "P2.2-6", Fault: "takes any status of the two hundreds for success", Message: "with status 201", Beside: map[string]string{"P16-8": sameOfFailures}},
}

var events = []Defect{
	{Name: "event-elsewhere", Clause: "P6-1", Fault: "leaves the event out of the lifecycle record", Message: `the events are "", "" and ""`, Beside: map[string]string{
		"P6-3": "no session gets start then", "P6-4": "no child gets fork then", "P6-5": "nobody gets wake then", "P11.2-1": "no child gets fork then"}},
	{Name: "no-record-without-event", Clause: "P6-2", Fault: "sends a lifecycle record only where there is an event", Message: "the stream has one record, the lifecycle record … has 0", Beside: map[string]string{
		"P4.2-11": "the same demand in the section on streams"}},
	{Name: "new-sessions-get-no-event", Clause: "P6-3", Verdict: report.Warn, Fault: "gives new sessions an empty event", Message: "for a session without snapshots"},
	{Name: "children-get-start", Clause: "P6-4", Fault: "begins fork children with start", Message: "the event is fork for a child", Beside: map[string]string{"P11.2-1": "the same demand in the section on forks"}},
	{Name: "wakes-get-start", Clause: "P6-5", Fault: "wakes sessions with start", Message: "the event is wake when", Beside: map[string]string{
		"P10-14": sameOfWaking, "P10-15": sameOfWaking}},
	{Name: "start-each-time", Clause: "P6-6", Fault: "begins every invocation with start", Message: "the second invocation of a session", Beside: map[string]string{
		"P6-3": "a session with history gets start then"}},
}

var surroundings = []Defect{
	{Name: "port-as-an-argument", Clause: "P13-5", Verdict: report.Warn, Fault: "does not tell a hosting process the address by its environment", Message: "PUGMARK_RPC_ADDRESS is host:port"},
	{Name: "no-traceparent", Clause: "P14-1", Fault: "gives a process no trace context", Message: "the environment has TRACEPARENT"},
	{Name: "state-is-the-parent", Clause: "P14-2", Fault: "writes the trace context into the trace state", Message: "is no key=value"},
	{Name: "parent-of-zeros", Clause: "P14-3", Fault: "gives a trace context whose parent ID is zero", Message: "its parent ID is zero"},
	{Name: "no-traceparent-header", Clause: "P14-4", Fault: "gives an HTTP handler no trace context", Message: "exactly one header traceparent"},
	{Name: "state-header-garbled", Clause: "P14-5", Fault: "garbles the trace state of an HTTP handler", Message: `"vendor abc" is no key=value`},
	{Name: "trace-at-random", Clause: "P14.1-2", Fault: "draws a trace ID for each invocation", Message: "the trace ID is the session ID", Beside: map[string]string{
		"P14.1-3": "each invocation has a trace of its own then", "S4.1-6": "the same demand in the section on session IDs"}},
	{Name: "new-trace-for-a-wake", Clause: "P14.1-3", Fault: "begins a new trace when a session wakes", Message: "the woken one have the same trace ID", Beside: map[string]string{
		"P14.1-2": "the trace ID of a woken session's run is none of the session's"}},
	{Name: "first-handler-always", Clause: "P15-2", Fault: "runs the handler that was registered first, whatever the manifest names", Message: "says handler python … the handler bash was invoked", Beside: map[string]string{
		"P15-1": "any name selects the same handler"}},
	{Name: "last-named-is-default", Clause: "P15-3", Fault: "runs the named handler that was registered last where the manifest names none", Message: "is run with the default handler"},
	{Name: "handler-not-inherited", Clause: "P15-4", Fault: "leaves the handler out of a child's manifest", Message: "the manifest of the child has the parent's handler", Beside: map[string]string{
		"P15-6": "a child that names no handler is run with the default one", "P11.1-7": "the same demand in the section on forks"}},
	{Name: "agent-of-the-process", Clause: "P15-5", Fault: "writes the agent of its own environment into a child's manifest", Message: "somebody-else", Beside: map[string]string{
		"P15-6": "the child is told the other agent", "P11.1-8": "the same demand in the section on forks"}},
	{Name: "children-by-default", Clause: "P15-6", Fault: "runs fork children with the default handler", Message: "their handlers: [python default", Beside: map[string]string{
		"P15-4": "a grandchild inherits nothing of what its parent does without"}},
}

var stability = []Defect{
	{Name: "digest-told", Clause: "P17-1", Verdict: report.Warn, Fault: "sends the digest along as a field of its own", Message: "has digest"},
	{Name: "sparse-output-refused", Clause: "P17-3", Fault: "refuses an Output that has a body and nothing else", Message: "a record needs more than a body", Beside: map[string]string{
		"P3.2-1": "a body alone is the sparsest of Outputs"}},
	{Name: "unknown-field-ends-a-fork", Clause: "P17-5", Fault: "takes a fork with a field that it does not know for an entry", Message: "Outputs with a field that is not known", Beside: map[string]string{
		"P17-4": "such fields are what a later revision brings"}},
	{Name: "greets-with-its-version", Clause: "P17-6", Fault: "begins each stream with its version", Message: `event "protocol"`, Beside: map[string]string{
		"P4.1-1": "the event is none of the six", "P4.2-4": "memory is not announced first then", "P4.2-5": "there is one record more", "P4.2-6": "there is one record more"}},
	{Name: "object-urls-are-tokens", Clause: "P17-7", Fault: "gives objects addresses that say nothing", Message: "the url of an entry is <root>/sha256:<hex>", Beside: map[string]string{
		"P7-2": "such a url has no digest"}},
	{Name: "memory-by-query", Clause: "P17-8", Fault: "serves memory at no path", Message: "0 of 9 are", Beside: map[string]string{
		"P8.2-4": "no object is found by its path", "S8.5-1": "no object is found by its path"}},
	{Name: "pause-by-prefix", Clause: "P17-11", Fault: "takes every type that begins like the pause type for it", Message: "of type application/vnd.pugmark.pause+json is an entry"},
	{Name: "control-by-prefix", Clause: "P17-12", Fault: "takes every type that begins like the control type for it", Message: "near-0", Beside: map[string]string{
		"P9-1": "what is a control message is told by the very type"}},
}
