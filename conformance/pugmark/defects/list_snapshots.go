package defects

import "github.com/pugcheck/pugcheck/harness/report"

// Snapshots: how they are written, found, read, numbered and committed.

const (
	belowTheLatest = "beyond version 256 the runtime is behind the latest snapshot"
	sameOfMetadata = "a clause of another section demands the same"
)

var snapshots = []Defect{
	{Name: "snapshot-as-lines", Clause: "S6-1", Fault: "writes a snapshot as JSON lines", Message: "want an array, found an object"},
	{Name: "single-descriptor-bare", Clause: "S6-1", Fault: "writes a single descriptor without an array around it", Message: "want an array, found an object"},
	{Name: "snapshot-name-in-lower-case", Clause: "S6.1-3", Fault: "names snapshots in lower-case hex", Message: "eight uppercase hex digits", Beside: map[string]string{
		"S18-7": "the same demand, said of versions"}},
	{Name: "version-off-by-one", Clause: "S6.1-4", Fault: "counts the complement from the version instead of the version less 1", Message: "FFFFFFF", Beside: map[string]string{
		"S6.2-10": "the version in the metadata is then not that of the name"}},
	{Name: "last-two-digits-only", Clause: "S6.1-5", Fault: "reads only the last two digits of a snapshot's name", Message: "the snapshot of version 257 … the newest: entry-1", Beside: map[string]string{
		"P2.2-11": belowTheLatest, "P4.2-7": belowTheLatest, "P13-4": belowTheLatest, "S6.1-4": belowTheLatest, "S6.1-6": belowTheLatest, "S6.3-2": belowTheLatest}},
	{Name: "lists-all-pages", Clause: "S6.1-6", Fault: "lists all snapshots to find the latest", Message: "4 for 3,500", Beside: map[string]string{"S6.3-1": "a listing of all is none with max-keys=1"}},
	{Name: "snapshot-never-cached", Clause: "S6.2-1", Verdict: report.Warn, Fault: "writes snapshots with Cache-Control no-cache", Message: `Cache-Control "no-cache"`, Beside: map[string]string{
		"S16-2": "the same demand of all classes"}},
	{Name: "snapshot-type-octet-stream", Clause: "S6.2-2", Fault: "writes snapshots as application/octet-stream", Message: `Content-Type "application/octet-stream"`},
	{Name: "snapshot-without-encoding", Clause: "S6.2-3", Fault: "compresses snapshots without saying so", Message: `Content-Encoding ""`},
	{Name: "snapshot-not-compressed", Clause: "S6.2-4", Fault: "says that snapshots are compressed and does not compress them", Message: "no zstd frame at byte 0"},
	{Name: "first-zstd-frame-only", Clause: "S6.2-6", Fault: "reads the first zstd frame of a snapshot only", Message: "three data frames one after the other"},
	{Name: "snapshot-overwrites", Clause: "S6.2-8", Fault: "writes snapshots without If-None-Match", Message: `If-None-Match ""`},
	{Name: "snapshot-of-another-session", Clause: "S6.2-9", Verdict: report.Warn, Fault: "names another session in a snapshot's metadata", Message: "abababababababababababababababab"},
	{Name: "snapshot-version-behind", Clause: "S6.2-10", Verdict: report.Warn, Fault: "names the version before in a snapshot's metadata", Message: `is version 4: "3"`},
	{Name: "transaction-as-uuid", Clause: "S6.2-11", Fault: "uses UUIDs as transaction IDs", Message: "6ba7b810-9dad-11d1-80b4-00c04fd430c8", Beside: map[string]string{"S13.2-2": sameOfMetadata}},
	{Name: "type-under-another-key", Clause: "S6.2-12", Fault: "keeps a snapshot's type under another metadata key", Message: "has no such key"},
	{Name: "missing-type-is-provisional", Clause: "S6.2-13", Fault: "takes a snapshot without a type for a provisional one", Message: "as against a checkpoint … in versions [5]"},
	{Name: "unknown-schema-refused", Clause: "S6.2-14", Verdict: report.Warn, Fault: "does not read a snapshot with a schema that it does not know", Message: "unknown schema"},
	{Name: "lists-a-thousand-keys", Clause: "S6.3-1", Fault: "lists snapshots without max-keys to find the latest", Message: "without max-keys"},
	{Name: "no-snapshots-no-session", Clause: "S6.3-3", Fault: "takes a session without snapshots for one that does not exist", Message: "session not found", Beside: map[string]string{"S4.3-3": "a clause of another section demands the same"}},
	{Name: "missing-session-made-up", Clause: "S6.3-4", Fault: "runs a session that has no manifest", Message: "not invoked for a session that does not exist"},
	{Name: "everything-is-a-checkpoint", Clause: "S6.3-5", Fault: "takes every snapshot for a checkpoint", Message: "keys of the child: []"},
	{Name: "type-with-a-capital", Clause: "S6.4-1", Fault: "writes snapshot types with a capital letter", Message: `"Checkpoint"`, Beside: map[string]string{
		"S18-8": "the same demand, said of versions"}},
	{Name: "commits-as-provisional", Clause: "S6.4-2", Fault: "commits what a handler said as a provisional snapshot", Message: "what an invocation commits is a checkpoint", Beside: map[string]string{
		"P1-8": "the same demand in the protocol's overview"}},
	{Name: "whole-log-in-each-snapshot", Clause: "S6.5-1", Fault: "repeats the whole log in each snapshot", Message: "version 2 holds the descriptor of output-2", Beside: map[string]string{
		"S7.2-4": "older fields of earlier entries are repeated as well"}},
	{Name: "parents-without-bound", Clause: "S6.5-3", Fault: "reads ancestors up to their latest version", Message: "entries of the parent behind the pointer's version are not visible"},
	{Name: "versions-swapped", Clause: "S6.5-5", Fault: "swaps versions 4 and 5 of a session when it reads them", Message: `"v5", "v4"`, Beside: map[string]string{
		"P4.2-7": "the same demand in the protocol", "P4.3-1": "an entry comes to stand behind the stop"}},
}

var numbers = []Defect{
	{Name: "control-without-blob", Clause: "S7-2", Fault: "does not store the body of control messages", Message: "the blob that a descriptor refers to exists … no objects/sha256:"},
	{Name: "stored-size-of-base64", Clause: "S7-4", Fault: "commits the length of the base64 text as size", Message: "size 28, the blob has 21 bytes"},
	{Name: "time-without-zone", Clause: "S7-5", Fault: "commits local times without an offset", Message: "RFC 3339 timestamp with an offset"},
	{Name: "legacy-forks-overlooked", Clause: "S7.2-2", Fault: "does not know fork records in their older form", Message: "fork-session-id", Beside: map[string]string{
		"P4.2-10": "fork records that are not known are replayed"}},
	{Name: "child-keeps-older-field", Clause: "S7.2-4", Fault: "writes fork-session-id into a child's first entry", Message: "fork-session-id"},
	{Name: "control-without-number", Clause: "S7.3-1", Fault: "gives control messages no sequence number", Message: "the control message's too"},
	{Name: "always-from-one", Clause: "S7.3-2", Fault: "numbers every session from 1", Message: "first-sequence-number, 1000"},
	{Name: "gaps-between-numbers", Clause: "S7.3-3", Fault: "leaves gaps between sequence numbers", Message: "[6 8 10"},
	{Name: "child-after-fork-record", Clause: "S7.3-4", Fault: "numbers a child from the fork record's number on", Message: "parent pointer plus 1"},
	{Name: "fork-record-without-number", Clause: "S7.3-5", Fault: "gives fork records no sequence number", Message: "[6 0 8]"},
	{Name: "child-keeps-parents-number", Clause: "S7.3-6", Fault: "keeps the fork record's number in the child", Message: "numbers in the child's snapshot 1", Beside: map[string]string{
		"S7.3-2": "a child's first descriptor has another number than its manifest says"}},
	{Name: "forks-behind-entries", Clause: "S7.3-7", Fault: "commits fork records behind all other entries", Message: "in which the outputs were emitted"},
	{Name: "numbers-begin-anew", Clause: "S7.3-8", Fault: "numbers each snapshot from 1", Message: "the first number is 6"},
	{Name: "descriptors-sorted-by-number", Clause: "S7.3-9", Verdict: report.Warn, Fault: "replays a snapshot in the order of sequence numbers", Message: "replay has the order of the well-numbered log"},
}

var transactions = []Defect{
	{Name: "one-transaction-for-ever", Clause: "S13.2-1", Fault: "uses the same transaction ID for every commit", Message: "share the ID"},
	{Name: "transaction-in-the-body-only", Clause: "S13.2-2", Fault: "writes no transaction ID into a snapshot's metadata", Message: `json: ""`, Beside: map[string]string{"S6.2-11": sameOfMetadata}},
	{Name: "own-attempt-not-recognised", Clause: "S13.2-3", Fault: "takes its own stored attempt for a foreign snapshot", Message: "the cross-session write that follows the commit is delivered"},
	{Name: "any-conflict-is-success", Clause: "S13.2-4", Fault: "takes any snapshot at the version for its own", Message: "none of the losing run's cross-session writes is delivered", Beside: map[string]string{
		"S13.2-9": "nor does it matter that the other has no transaction ID"}},
	{Name: "checkpoint-moves-on", Clause: "S13.2-4", Fault: "commits a checkpoint above a foreign one", Message: "in versions [5]", Beside: map[string]string{"S13.2-9": "nor does it matter that the other has no transaction ID"}},
	{Name: "transaction-anew-per-attempt", Clause: "S13.2-5", Fault: "draws a transaction ID for every attempt", Message: "carries the same transaction ID"},
	{Name: "transactions-from-a-clock", Clause: "S13.2-6", Fault: "takes transaction IDs from the clock", Message: "the upper 32 bits take only"},
	{Name: "transaction-zero", Clause: "S13.2-8", Fault: "writes transaction ID 0", Message: `json: "0"`},
	{Name: "no-transaction-is-mine", Clause: "S13.2-9", Fault: "takes a snapshot without a transaction ID for its own", Message: "is delivered"},
}
