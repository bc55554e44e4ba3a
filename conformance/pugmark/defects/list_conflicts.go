package defects

import "github.com/pugcheck/pugcheck/harness/report"

// Names and their refs, tombstones, and commits that meet others.

var refs = []Defect{
	{Name: "ref-with-suffix", Clause: "S9-1", Fault: "adds a suffix to the keys of refs", Message: ".txt]"},
	{Name: "ref-type-octet-stream", Clause: "S9-2", Fault: "writes refs as application/octet-stream", Message: `Content-Type "application/octet-stream"`},
	{Name: "ref-as-json", Clause: "S9-3", Fault: "writes the target of a ref as JSON", Message: `{\"target\":`, Beside: map[string]string{
		"S9.1-1": "the body is then not the manifest's key"}},
	{Name: "names-with-slashes", Clause: "S9-4", Fault: "takes names with a slash", Message: "refs/sessions/team/alice"},
	{Name: "ref-cached-for-ever", Clause: "S9-6", Fault: "has refs kept like blobs", Message: "immutable", Beside: map[string]string{
		"S16-3": "the same demand of refs"}},
	{Name: "ref-read-once", Clause: "S9-7", Fault: "reads a ref once in each process", Message: "the ref was not read again"},
	{Name: "ref-created-once", Clause: "S9-8", Fault: "writes refs with If-None-Match", Message: "unconditional write … If-None-Match:*"},
	{Name: "rename-without-a-look", Clause: "S9-10", Fault: "removes the old name without a condition", Message: "carries If-Match … DELETE"},
	{Name: "ref-as-url", Clause: "S9.1-1", Fault: "writes the manifest's URL into a ref", Message: `"s3://pugcheck/lab/root/sessions/`},
	{Name: "names-searched-for", Clause: "S9.1-2", Fault: "finds the session of a name by the manifests", Message: `the ref points to … printed "00000001`},
	{Name: "ref-never-read", Clause: "S9.1-3", Verdict: report.Warn, Fault: "does not read the ref of a session that it runs", Message: "read since the last commit: false"},
	{Name: "lost-name-ignored", Clause: "S9.1-4", Fault: "commits to a session that has lost its name", Message: "lost its name … new versions: [2]"},
	{Name: "link-trusted", Clause: "S9.2-1", Fault: "takes a link that was written for won", Message: "is read … false"},
	{Name: "loser-leaves-manifest", Clause: "S9.2-2", Fault: "leaves the manifest that lost its name", Message: "still there"},
	{Name: "loser-fails", Clause: "S9.2-3", Fault: "fails where its name was lost", Message: "prints the winner's ID … exit status 1"},
	{Name: "nameless-session-deleted", Clause: "S9.2-4", Fault: "deletes a session whose name went to another one", Message: "its name was given to another session", Beside: map[string]string{
		"S5.1-6": "the same demand of manifests"}},
	{Name: "tombstones-delete-blobs", Clause: "S10-1", Fault: "deletes the blobs that a tombstone hides", Message: "of a deleted entry … there: false", Beside: map[string]string{
		"S1-6": "the blob is referred to"}},
	{Name: "tombstone-without-name", Clause: "S10-2", Fault: "writes the name of a tombstone into its metadata", Message: `"metadata":{"name":"doc"}`},
	{Name: "tombstone-with-data", Clause: "S10-4", Verdict: report.Warn, Fault: "writes tombstones with data", Message: `"data":"eA=="`},
	{Name: "deletes-by-rewriting", Clause: "S10-5", Fault: "deletes a name by rewriting the snapshot that has it", Message: "adds a snapshot … version 2 there: false", Beside: map[string]string{
		"S1-8": "the snapshot is overwritten for it"}},
	{Name: "deleted-names-vanish", Clause: "S10-6", Verdict: report.Warn, Fault: "leaves tombstones and what they delete out of a scan", Message: `the tombstone as an Input of its name … ["other"]`},
	{Name: "first-of-a-name-counts", Clause: "S10-8", Fault: "reads the first entry of a name only", Message: "the last entry of that name", Beside: map[string]string{
		"P4.2-5": "the log there has a name twice"}},
	{Name: "tombstones-skipped", Clause: "S10-9", Fault: "passes over tombstones", Message: "no live entry has the name", Beside: map[string]string{
		"S10-6": "no scan yields them either", "S10-5": "they do not count for numbers either"}},
}

var conflicts = []Defect{
	{Name: "if-match-first", Clause: "S13.1-1", Fault: "claims memory files by If-Match first", Message: "If-Match:", Beside: map[string]string{
		"S8.2-11": "such a write has another condition"}},
	{Name: "large-commits-in-parts", Clause: "S13.1-3", Fault: "commits many Outputs in several snapshots", Message: "20 in version 2"},
	{Name: "version-skipped-after-conflict", Clause: "S13.3-1", Fault: "counts on twice after a conflict", Message: "consecutive from 1 … 6 8]"},
	{Name: "loser-overwrites", Clause: "S13.3-2", Fault: "overwrites the snapshot that it lost to", Message: "takes effect … 2 did", Beside: map[string]string{
		"S6.2-8": "that write has no condition", "S1-8": "the other's snapshot is gone"}},
	{Name: "checkpoints-merged", Clause: "S13.3-3", Fault: "merges above a foreign checkpoint", Message: "committed at no later version … [5]"},
	{Name: "one-step-only", Clause: "S13.3-4", Fault: "goes only one version up after a conflict", Message: "the first free version, 7"},
	{Name: "merge-drops-forks-and-controls", Clause: "S13.3-5", Fault: "drops forks and control messages when it merges", Message: "it lacks [fork]"},
	{Name: "merge-copies-others", Clause: "S13.3-6", Verdict: report.Warn, Fault: "copies what it met into the merged checkpoint", Message: "does not repeat", Beside: map[string]string{
		"S6.5-1": "such a snapshot is no delta", "S7.3-8": "numbers occur twice"}},
	{Name: "push-conflict-is-an-error", Clause: "S13.3-8", Fault: "fails where a delivery or push meets another snapshot", Message: "a delivery meets a provisional snapshot … exit status 1", Beside: map[string]string{
		"S12.2-10": "the same conflict of deliveries"}},
	{Name: "never-gives-up", Clause: "S13.3-9", Verdict: report.Warn, Fault: "tries to commit for ever", Message: "after 1000 conflicts"},
	{Name: "gives-up-in-silence", Clause: "S13.3-10", Fault: "gives up a commit and says nothing", Message: "a writer that gave up … exit status 0"},
	{Name: "busy-targets-refused", Clause: "S13.5-1", Fault: "does not deliver behind another session's message", Message: "one after the other … undigested provisional snapshot"},
	{Name: "loses-to-deliveries", Clause: "S13.5-2", Fault: "gives up its commit when a message came first", Message: "above the messages, at version 6", Beside: map[string]string{
		"S13.3-4": "a delivery is a provisional snapshot"}},
	{Name: "deliveries-not-recognised", Clause: "S13.5-3", Fault: "does not see that a message is there already", Message: "not delivered again … 3 times"},
	{Name: "child-before-its-record", Clause: "S13.6-1", Fault: "makes a child before the fork is recorded", Message: "nothing of the child is there", Beside: map[string]string{
		"S11.1-4": "the same demand of forks", "P11.1-3": "the same demand of forks"}},
	{Name: "child-of-others-is-refused", Clause: "S13.6-2", Fault: "fails where a child's snapshot 1 came from elsewhere", Message: "its snapshot 1 came from elsewhere", Beside: map[string]string{
		"S11.2-13": "the same demand of children"}},
}
