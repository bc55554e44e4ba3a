package defects

// What a session's control messages and latest snapshots decide, and of what its
// state is made.

const (
	nobodyIsWoken  = "nobody is woken then, and it shows by nothing else"
	sameOfSessions = "the other specification demands the same"
)

var stops = []Defect{
	{Name: "forks-below-pushes-replayed", Clause: "P4.2-17", Fault: "replays forks that stand below a provisional or queueing snapshot", Message: "none of the fork records (a provisional snapshot on top)"},
	{Name: "newer-statuses-skipped", Clause: "P4.3-5", Fault: "looks for the last stop and passes over newer control messages", Message: `b and c have no event (latest control message: status "running")`},
	{Name: "parents-stop-counts", Clause: "P4.3-6", Fault: "takes the stop in the snapshot that a child comes from for the child's own", Message: `the parent's stopped message does not count in the child … "task"`},
	{Name: "pauses-by-name", Clause: "P10-1", Fault: "takes an Output that is called pause for a pause", Message: "no other content type and no name stops the session"},
	{Name: "any-metadata-is-a-duration", Clause: "P10-3", Fault: "takes whatever metadata of a pause reads like a duration for its duration", Message: "no start-at where the pause has no metadata.duration"},
	{Name: "control-before-entries", Clause: "P10-9", Fault: "commits the control message before the entries of its run", Message: "the control message is the last descriptor"},
	{Name: "start-at-from-the-signal", Clause: "P10-10", Fault: "counts a sleep from when the pause was read", Message: "start-at is the time of the commit plus 30s … 27."},
	{Name: "paused-sessions-are-run", Clause: "P10-11", Fault: "runs a session whose last entry is a stop without start-at, with an empty event", Message: "a paused session with nothing new is not run"},
	{Name: "stops-in-blobs-not-read", Clause: "P10-11", Fault: "looks for the body of a control message in the snapshot alone", Message: "a paused session with nothing new is not run (the stop has its body in a blob alone)"},
	{Name: "stopped-for-good", Clause: "P10-12", Fault: "takes a session that was paused once for paused", Message: "without invoking the handler", Beside: map[string]string{
		"P10-15": nobodyIsWoken, "S6.4-3": nobodyIsWoken, "S6.4-4": nobodyIsWoken}},
	{Name: "sleeps-it-out", Clause: "P10-16", Fault: "waits for start-at whatever stands behind the stop", Message: "the handler"},
	{Name: "pushes-wake-nobody", Clause: "S6.4-3", Fault: "does not wake a session for a provisional snapshot", Message: "without invoking the handler", Beside: map[string]string{
		"P10-12": nobodyIsWoken, "P10-15": nobodyIsWoken}},
	{Name: "queueing-not-replayed", Clause: "S6.4-4", Fault: "leaves queueing snapshots out of the replay", Message: "the object of the queueing snapshot is replayed", Beside: map[string]string{
		"P4.2-5": "the log there ends with a queueing snapshot"}},
}

var state = []Defect{
	{Name: "own-entries-first", Clause: "S6.5-2", Fault: "replays a session's own entries before the inherited ones", Message: `"x", "e", "w", "f", "v", "q"`, Beside: map[string]string{
		"P4.2-6": sameOfSessions, "P1-3": sameOfSessions}},
	{Name: "four-generations-only", Clause: "S6.5-4", Fault: "reads a session, its parent and two generations before that", Message: `one entry of each of the five generations … "generation-1"`},
	{Name: "descriptors-sorted-by-time", Clause: "S6.5-6", Fault: "sorts the descriptors of a snapshot by created-at", Message: `"m", "e", "a", "z"`},
	{Name: "parents-on-request", Clause: "S6.5-7", Fault: "shows entries of parents on request only, which there is no way to make", Message: "without any option on the command line", Beside: map[string]string{
		"S6.5-4": "no generation before the session's own is shown", "P1-3": sameOfSessions, "P4.2-6": sameOfSessions}},
}
