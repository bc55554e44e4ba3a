package defects

import "github.com/pugcheck/pugcheck/harness/report"

// What is wrong with messages between sessions, and where several writers meet.

const (
	sameOfMessages  = "the other specification demands the same of messages"
	messagesTouched = "messages to other sessions are what the fault is about"
)

var messages = []Defect{
	{Name: "fork-false-refused", Clause: "P12-1", Verdict: report.Warn, Fault: "refuses a session beside fork false", Message: "with fork false, is carried out", Beside: map[string]string{"S12-1": "nothing is delivered of a run that fails"}},
	{Name: "missing-target-made-up", Clause: "P12-2", Verdict: report.Warn, Fault: "delivers to sessions that do not exist", Message: "nothing is written below the path … /snapshots/FFFFFFFF.json", Beside: map[string]string{
		"S12-2": sameOfMessages, "S1-11": "a snapshot is stored without a manifest"}},
	{Name: "copy-under-another-key", Clause: "P12-3", Fault: "stores a copy of a message's body for each target", Message: "-copy", Beside: map[string]string{
		"S12.3-1": sameOfMessages, "S3-2": "the copy's key is none of a blob"}},
	{Name: "delivered-as-checkpoint", Clause: "P12-4", Fault: "delivers messages as checkpoints", Message: "lies in a provisional snapshot … checkpoint", Beside: map[string]string{"S12.2-9": sameOfMessages}},
	{Name: "source-is-the-target", Clause: "P12-5", Fault: "names the target as the source of a message", Message: "names the writing session", Beside: map[string]string{
		"S12.2-6": sameOfMessages}},
	{Name: "targets-version-as-source", Clause: "P12-6", Fault: "names a version of the target as that of the source", Message: `"source-version":102`, Beside: map[string]string{"S12.2-7": sameOfMessages}},
	{Name: "source-session-alone", Clause: "P12-7", Fault: "takes every message of the same writer for the one that it is about to deliver", Message: "an earlier message of this writer", Beside: map[string]string{"S12.2-4": sameOfMessages}},
	{Name: "own-deliveries-forgotten", Clause: "P12-8", Fault: "delivers again at the next version when the answer was lost", Message: "2 times", Beside: map[string]string{"S12.3-2": sameOfMessages}},
	{Name: "messages-beside-forks-stop", Clause: "P12-9", Fault: "stops a session whose run gave messages and forks", Message: "a run with a message and a fork leaves no control message", Beside: map[string]string{"S12.3-4": sameOfMessages}},
	{Name: "message-ends-the-output", Clause: "P12-10", Verdict: report.Warn, Fault: "reads no Output behind a message", Message: "what follows a message is committed", Beside: map[string]string{
		"P10-5": messagesTouched, "P10-7": messagesTouched, "P10-8": messagesTouched, "P10-1": messagesTouched}},
	{Name: "own-messages-delivered", Clause: "P12-11", Fault: "delivers a message to the writer's own session as well", Message: "no further snapshot … provisional", Beside: map[string]string{"S12.3-5": sameOfMessages}},
	{Name: "own-target-kept", Clause: "P12-12", Fault: "records the writer's own session as the target of an entry", Message: "has neither target-session", Beside: map[string]string{"S12.3-5": sameOfMessages}},

	{Name: "messages-not-delivered", Clause: "S12-1", Fault: "records messages and does not deliver them", Message: "has one more entry … 0;", Beside: map[string]string{
		"P10-7": messagesTouched}},
	{Name: "missing-target-passed-over", Clause: "S12-2", Verdict: report.Warn, Fault: "says nothing of a target that does not exist", Message: "names the missing target", Beside: map[string]string{"P12-2": sameOfMessages}},
	{Name: "messages-unrecorded", Clause: "S12.1-1", Fault: "delivers messages and leaves them out of the writer's snapshot", Message: `["e1", "e2"]`, Beside: map[string]string{
		"P10-7": messagesTouched}},
	{Name: "messages-alone-uncommitted", Clause: "S12.1-2", Fault: "commits nothing where there are only messages", Message: "commits a checkpoint that records it … new versions []", Beside: map[string]string{
		"S7-1": "a target then names a version that is not there"}},
	{Name: "delivers-first", Clause: "S12.2-1", Fault: "delivers before the writer's commit", Message: "before the writer's snapshot has been stored"},
	{Name: "first-of-each-batch", Clause: "S12.2-2", Fault: "delivers the first message of a run to each target only", Message: "B gets one new snapshot with [z1 m2 a3]"},
	{Name: "targets-taken-for-empty", Clause: "S12.2-3", Fault: "does not look for a target's latest snapshot", Message: "before it writes there"},
	{Name: "digest-is-enough", Clause: "S12.2-4", Fault: "delivers no body that the target has from somewhere else", Message: "the same body, which nobody sent", Beside: map[string]string{"P12-7": sameOfMessages}},
	{Name: "target-kept-in-the-copy", Clause: "S12.2-5", Fault: "delivers the target-session of the record as well", Message: "has neither target-session nor fork"},
	{Name: "source-is-somebody-else", Clause: "S12.2-6", Fault: "names another session as the source", Message: "abababababababababababababababab", Beside: map[string]string{"P12-5": sameOfMessages}},
	{Name: "source-version-before-merge", Clause: "S12.2-7", Verdict: report.Warn, Fault: "names the version that a merged commit had tried first", Message: "source-version of the message four is 5", Beside: map[string]string{"P12-6": sameOfMessages}},
	{Name: "delivered-from-one", Clause: "S12.2-8", Fault: "numbers what it delivers from 1", Message: "go on from the target's last number"},
	{Name: "delivery-overwrites", Clause: "S12.2-9", Fault: "delivers without a condition", Message: "is written with If-None-Match: *", Beside: map[string]string{"S6.2-8": "a delivery is a snapshot"}},
	{Name: "refused-delivery-fails", Clause: "S12.2-10", Fault: "fails where somebody else takes a target's next version", Message: "lost to another commit"},
	{Name: "copy-for-each-target", Clause: "S12.3-1", Fault: "stores a copy of a message's body under a key with the target's ID", Message: "objects/for-", Beside: map[string]string{
		"P12-3": sameOfMessages, "S1-5": "the copy lies where nothing of its kind belongs"}},
	{Name: "source-pair-not-read", Clause: "S12.3-2", Fault: "does not know its deliveries again", Message: "leaves one copy of each message … 2 of the message", Beside: map[string]string{"P12-8": sameOfMessages}},
	{Name: "messages-wake-nobody", Clause: "S12.3-3", Fault: "leaves a stopped session alone when a message arrives", Message: "without invoking the handler"},
	{Name: "several-messages-stop", Clause: "S12.3-4", Fault: "stops a session whose run gave several messages and nothing else", Message: "a run with messages alone leaves no control message", Beside: map[string]string{"P12-9": sameOfMessages}},
	{Name: "own-target-in-capitals-kept", Clause: "S12.3-5", Fault: "does not know its own session in upper case", Message: "has neither target-session nor source fields (in upper case)", Beside: map[string]string{"P12-12": sameOfMessages}},
}

var writers = []Defect{
	{Name: "invokes-before-the-commit", Clause: "S14.1-1", Fault: "invokes the handler again while the commit is in flight", Message: "is invoked again only when"},
	{Name: "ref-not-looked-at", Clause: "S14.1-2", Fault: "does not look where the ref of a named session points", Message: "commits nothing (from the start)", Beside: map[string]string{
		"S9.1-4": "the same demand in the section on names"}},
	{Name: "a-lock-for-each-session", Clause: "S14.1-4", Fault: "keeps a lock object for each session that is run", Message: "the session is locked", Beside: map[string]string{
		"S1-2": "a lock lies outside the layout", "S18-1": "a lock lies outside the layout"}},
	{Name: "delivers-twice", Clause: "S14.2-1", Fault: "delivers every message twice", Message: "no output is committed or delivered twice", Beside: map[string]string{
		"S7.3-8": "the copy lies above"}},
	{Name: "loser-panics", Clause: "S14.2-2", Fault: "panics where another run committed first", Message: "panic: unhandled conflict"},
	{Name: "second-sender-fails", Clause: "S14.2-3", Fault: "fails where another sender was first", Message: "both senders succeed"},
	{Name: "senders-share-a-snapshot", Clause: "S14.2-4", Fault: "adds its messages to the snapshot of another sender", Message: "a snapshot holds the messages of one sender only", Beside: map[string]string{
		"S1-8": "a snapshot is rewritten", "S6.2-8": "a snapshot is rewritten", "S13.1-1": "a snapshot is rewritten"}},
	{Name: "every-conflict-is-mine", Clause: "S14.2-5", Fault: "goes on as the winner where its commit was refused", Message: "no snapshot refers to what the losing invocation wrote"},
	{Name: "conflict-not-looked-at", Clause: "S14.3-1", Fault: "goes by listings alone, and so never finds what its commit met", Message: "commits at the next version"},
}
