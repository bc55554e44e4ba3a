package defects

// What is wrong with control messages.

const pausesTouched = "pauses are what the fault is about"

var controls = []Defect{
	{Name: "controls-by-name", Clause: "P9-1", Fault: "takes any entry that is called control for a control message", Message: "without invoking the handler"},
	{Name: "start-at-in-milliseconds", Clause: "P9-2", Fault: "writes start-at as Unix milliseconds", Message: `start-at: want a string`, Beside: map[string]string{
		"P9-7": "a number is no RFC 3339 time", "P9-8": "a number is no RFC 3339 time"}},
	{Name: "reason-required", Clause: "P9-3", Fault: "fails on a sleep without a reason", Message: "reason is missing"},
	{Name: "pauses-ignored", Clause: "P9-4", Fault: "ignores pause Outputs", Message: "leads to a control message with status stopped … control messages: []", Beside: map[string]string{
		"P10-1": pausesTouched, "P10-5": pausesTouched, "P10-8": pausesTouched, "P10-9": pausesTouched}},
	{Name: "control-in-a-snapshot-of-its-own", Clause: "P9-5", Fault: "commits the control message as a snapshot above that of the entries", Message: "one snapshot holds both … in version(s) [3]", Beside: map[string]string{
		"P10-5": "what a pause leads to is not where it is looked for"}},
	{Name: "memory-runs-stop", Clause: "P9-6", Fault: "stops a session whose run wrote memory", Message: "after a run with a memory write"},
	{Name: "start-at-always", Clause: "P9-7", Fault: "writes the year 1 as start-at of a pure pause", Message: "0001-01-01T00:00:00Z"},
	{Name: "start-at-is-now", Clause: "P9-8", Fault: "records the time of a sleep's beginning as start-at", Message: "in the future"},
	{Name: "reason-in-ascii", Clause: "P9-9", Fault: "writes reasons in ASCII", Message: "waiting for ??"},
	{Name: "parents-controls-replayed", Clause: "P9-10", Fault: "replays control messages of the parent chain", Message: "in a child whose parent paused", Beside: map[string]string{
		"P4.2-9": "the same demand in the section on the stream"}},
}
