package defects

import "github.com/pugcheck/pugcheck/harness/report"

// Single fields of descriptors at rest, and the blobs behind them.

const (
	sameOfInlined = "the section on objects demands the same of inlined bodies"
	sameOfLate    = "the same demand in another section"
)

var fieldsAtRest = []Defect{
	{Name: "control-digest-bare", Clause: "S7-1", Fault: "commits the digests of control messages without their algorithm", Message: "a descriptor's digest is sha256: and 64"},
	{Name: "blobs-in-the-background", Clause: "S7-3", Fault: "commits while blobs are still on their way", Message: "a blob is stored before the file that refers to it is written", Beside: map[string]string{
		"S7-2": "a blob that is refused then is never there", "P11.1-2": sameOfLate, "S11.1-1": sameOfLate, "P5.3-4": sameOfLate}},
	{Name: "encoding-not-committed", Clause: "S7-6", Fault: "leaves content-encoding out of descriptors", Message: "content-encoding of the descriptor is that of the Output"},
	{Name: "empty-metadata-dropped", Clause: "S7-7", Fault: "drops metadata with empty values", Message: "metadata of the descriptor is that of the Output"},
	{Name: "cache-control-in-seconds", Clause: "S7-8", Fault: "commits a number of seconds as cache-control", Message: "cache-control 31536000"},
	{Name: "sequence-through-doubles", Clause: "S7-9", Fault: "passes sequence numbers through doubles", Message: "after 9007199254740993 come"},
	{Name: "target-with-dashes", Clause: "S7-10", Fault: "spells the target of a message with dashes", Message: "target-session and source-session are 32 hex digits"},
	{Name: "created-at-required", Clause: "S7-11", Verdict: report.Warn, Fault: "fails on descriptors without created-at", Message: "created-at is missing"},
	{Name: "inlined-unpacked", Clause: "S7.1-1", Fault: "inlines gzip bodies unpacked", Message: "data is the base64 of exactly the blob's bytes", Beside: map[string]string{
		"S3.1-2": "what is unpacked is longer than what may be inlined"}},
	{Name: "tiny-bodies-unstored", Clause: "S7.1-3", Fault: "does not store bodies of up to a hundred bytes", Message: "stored like any other", Beside: map[string]string{
		"S3.1-3": sameOfInlined}},
	{Name: "only-own-forks-carried-out", Clause: "S7.2-1", Fault: "carries out no fork that another process recorded", Message: "is materialised"},
	{Name: "older-key-is-a-fork", Clause: "S7.2-3", Fault: "takes an entry with the key fork-session-id for a fork, whatever it says", Message: `an entry with fork-session-id "" is replayed like any other`},
}
