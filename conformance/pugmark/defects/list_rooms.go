package defects

import "github.com/pugcheck/pugcheck/harness/report"

// What lies where in a bucket and what becomes of it, manifests, and what is fixed
// of the layout.

var rooms = []Defect{
	{Name: "blobs-at-bucket-root", Clause: "S1-1", Fault: "stores blobs at the bucket's root instead of below its prefix", Message: "lies below the root … PUT /pugcheck/objects/sha256:", Beside: map[string]string{
		"S3.1-3": "nothing lies at the blobs' own keys", "S7.1-3": "nothing lies at the blobs' own keys", "S7-2": "descriptors then refer to nothing", "S3-4": "nothing lies at the blobs' own keys"}},
	{Name: "whole-bucket-listed", Clause: "S1-3", Fault: "finds memory by listing everything", Message: `LIST with prefix "lab/root/"`},
	{Name: "old-sessions-cleared", Clause: "S1-4", Fault: "deletes what merely looks like a session", Message: "DELETE /pugcheck/lab/root/sessions-old/a"},
	{Name: "staging-object", Clause: "S1-5", Fault: "stages each blob at a key of its own", Message: "objects/upload-in-progress"},
	{Name: "merged-snapshots-deleted", Clause: "S1-8", Fault: "deletes the snapshots that it has merged above", Message: "neither overwritten nor deleted … DELETE"},
	{Name: "loser-deletes-its-blobs", Clause: "S1-6", Fault: "deletes the blobs of a commit that lost", Message: "there: false", Beside: map[string]string{
		"S7-3": "the blob that the winner refers to is gone"}},
	{Name: "long-bodies-with-the-session", Clause: "S1-7", Fault: "keeps long bodies below the session as well", Message: "one key holds the body … /bodies/sha256:", Beside: map[string]string{
		"S1-5": "no room has such keys", "S18-2": "nothing else may lie below a session"}},
	{Name: "old-memory-deleted", Clause: "S1-9", Fault: "deletes the version before the one that it writes", Message: "there: false", Beside: map[string]string{
		"S8.1-3": "versions of the namespace are missing then"}},
	{Name: "memory-of-each-session", Clause: "S1-10", Fault: "keeps memory apart for each session", Message: "an unrelated one wrote … status 404", Beside: map[string]string{
		"P10-7": "the memory write is not where it belongs"}},
	{Name: "manifest-after-snapshot", Clause: "S1-11", Fault: "writes a child's manifest after its first snapshot", Message: "before #"},
	{Name: "blob-type-malformed", Clause: "S2.3-2", Fault: "stores blobs with a Content-Type of one word", Message: `Content-Type "text"`},
	{Name: "memory-as-x-zstd", Clause: "S2.3-4", Fault: "calls the encoding of memory files x-zstd", Message: `Content-Encoding "x-zstd"`, Beside: map[string]string{
		"S8.2-10": "memory files have to be marked zstd"}},
	{Name: "memory-gives-up-at-once", Clause: "S2.5-4", Fault: "gives up a memory write that meets another version", Message: "lands at the next free version (memory) … exit status 1", Beside: map[string]string{
		"S8.3-5": "the same demand of memory writes", "S13.4-2": "the same demand of memory writes"}},
	{Name: "newest-version-remembered", Clause: "S2.5-5", Fault: "tries a memory version that is taken again and again", Message: "at most 8 writes are refused … 41 refused writes"},
	{Name: "blob-encoding-left-out", Clause: "S15-1", Fault: "stores declared blobs without Content-Encoding", Message: `declared "gzip" … Content-Encoding ""`},
	{Name: "documents-taken-for-plain", Clause: "S15-2", Fault: "reads manifests and refs without a look at their Content-Encoding", Message: `with Content-Encoding "gzip"`},
	{Name: "manifest-without-cache", Clause: "S16-1", Fault: "writes manifests without Cache-Control", Message: "is written with a Cache-Control … /manifest.json"},
	{Name: "memory-never-cached", Clause: "S16-2", Verdict: report.Warn, Fault: "has memory files never kept", Message: `Cache-Control "no-store"`, Beside: map[string]string{
		"S8.2-8": "the same demand of memory files"}},
	{Name: "ref-without-cache", Clause: "S16-3", Fault: "writes refs without Cache-Control", Message: `Cache-Control ""`, Beside: map[string]string{
		"S9-6": "the same demand of refs"}},
	{Name: "children-listed-beside", Clause: "S17-1", Fault: "keeps a list of children beside the manifest", Message: "/children.json has the ID of child", Beside: map[string]string{
		"S1-5": "no room has such keys", "S18-2": "nothing else may lie below a session"}},
	{Name: "fork-record-cleared", Clause: "S17-2", Fault: "clears a fork's record once its child is made", Message: "the record of a fork is in the parent's snapshot as before", Beside: map[string]string{
		"S1-8": "the snapshot is overwritten for it", "S6.2-8": "the snapshot is overwritten for it"}},
	{Name: "child-drawn-later", Clause: "S17-4", Fault: "leaves the child's ID out of a fork's record", Message: "the record of a fork has the ID of its child", Beside: map[string]string{
		"P10-8": "without a target it is no fork record", "P10-9": "without a target it is no fork record"}},
	{Name: "index-of-its-own", Clause: "S18-1", Fault: "keeps an index in a room of its own", Message: "at a fifth place … /lab/root/index/", Beside: map[string]string{
		"S1-2": "the same demand of whatever is written"}},
	{Name: "latest-pointer", Clause: "S18-2", Fault: "keeps a pointer to the latest snapshot beside the manifest", Message: "/latest.json", Beside: map[string]string{
		"S1-5": "the same demand of whatever is written"}},
	{Name: "unknown-manifest-fields-refused", Clause: "S18-3", Fault: "does not take manifests with further fields", Message: "manifests of the session … no invocation"},
	{Name: "unknown-descriptor-fields-refused", Clause: "S18-5", Fault: "does not take descriptors with further fields", Message: "descriptors of the session … no invocation"},
	{Name: "older-forks-forgotten", Clause: "S18-6", Fault: "reads older forks only where there is no other", Message: "read as a fork of that child … keys of the child: []"},
	{Name: "memory-name-in-lower-case", Clause: "S18-7", Fault: "writes lower-case names of memory files", Message: "ffffffff.json", Beside: map[string]string{
		"S8.1-3": "the same demand of memory files", "P10-7": "the memory write is not where it belongs"}},
	{Name: "fourth-type", Clause: "S18-8", Fault: "gives deliveries a type of their own", Message: `"delivery"`, Beside: map[string]string{
		"S6.4-1": "the same demand of snapshots", "S12.2-9": "a delivery has to be provisional"}},
	{Name: "handlers-metadata-on-files", Clause: "S18-9", Fault: "passes a handler's metadata into that of the snapshot", Message: "pugmark-snapshot-type=queueing", Beside: map[string]string{
		"S6.4-2": "the commit then is no checkpoint"}},
}

var creation = []Defect{
	{Name: "manifest-written-twice", Clause: "S5-1", Fault: "writes the manifest's document twice", Message: "nothing follows it … behind the document"},
	{Name: "manifest-of-the-parent", Clause: "S5-2", Fault: "writes the parent's ID into a child's manifest", Message: "is the ID that its path spells"},
	{Name: "parent-version-as-text", Clause: "S5-3", Fault: "writes the parent's version as a string", Message: `"version":"2"`},
	{Name: "agent-as-list", Clause: "S5-4", Fault: "writes the agent as a list", Message: `agent ["agent-7"]`},
	{Name: "metadata-values-guessed", Clause: "S5-5", Fault: "writes metadata that looks like a number as one", Message: `"one":1`},
	{Name: "numbers-through-doubles", Clause: "S5-6", Fault: "reads numbers as doubles", Message: "2^53+1 … 9007199254740992"},
	{Name: "manifest-looked-for-first", Clause: "S5.1-1", Fault: "looks for a manifest and then writes it without a condition", Message: "every write of a manifest carries If-None-Match: *"},
	{Name: "manifest-by-force", Clause: "S5.1-2", Fault: "writes a manifest without a condition where one exists", Message: "2 writes took effect", Beside: map[string]string{
		"S5.1-5": "the winner's manifest is overwritten", "S5.1-4": "the existing manifest is overwritten"}},
	{Name: "manifest-type-octet-stream", Clause: "S5.1-3", Verdict: report.Warn, Fault: "writes manifests as application/octet-stream", Message: "application/octet-stream"},
	{Name: "existing-child-is-an-error", Clause: "S5.1-4", Fault: "fails where the child's manifest exists", Message: "the session exists already", Beside: map[string]string{
		"S13.6-2": "the same demand of children", "S11.2-8": "the same demand of children"}},
	{Name: "last-run-in-the-manifest", Clause: "S5.1-5", Fault: "notes the last run in the manifest", Message: "is not written again"},
	{Name: "failed-child-cleared-away", Clause: "S5.1-6", Fault: "deletes the manifest of a child whose first commit failed", Message: "the child's first commit failed", Beside: map[string]string{
		"S9.2-4": "the same demand, said of names"}},
}
