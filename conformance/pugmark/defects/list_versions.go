package defects

// Which version a session is at, what its beginning looks like, how invocations end,
// and what becomes of bodies that lie elsewhere.

const sameOfVersionZero = "one rule said twice: of paths and of versions"

var versions = []Defect{
	{Name: "hours-rebuilt-in-local-time", Clause: "S4.2-6", Fault: "rebuilds the hour of a session's ID in local time", Message: "is the ID rebuilt from partition and segment"},
	{Name: "version-zero-is-a-file", Clause: "S4.3-2", Fault: "writes a file for version 0 where it finds no snapshot", Message: "writes no snapshot … 00000000.json", Beside: map[string]string{
		"S6.1-2": sameOfVersionZero}},
	{Name: "new-sessions-are-welcomed", Clause: "S4.3-3", Fault: "begins the log of a new session with an entry that nobody committed", Message: "no log record is replayed … welcome"},
	{Name: "counts-from-zero", Clause: "S6.1-1", Fault: "commits a session's first snapshot as version 0", Message: "a session's first version is 1 … 00000000.json"},
	{Name: "quiet-first-run-leaves-one", Clause: "S6.1-2", Fault: "commits an empty array where a first run had nothing to say", Message: "writes no snapshot … FFFFFFFF.json", Beside: map[string]string{
		"S4.3-2": sameOfVersionZero}},
	{Name: "last-digit-only", Clause: "S6.3-2", Fault: "reads only the last digit of a snapshot's name", Message: "the output is committed as version 18", Beside: map[string]string{
		"S6.1-5": "the latest snapshot is not read either"}},
	{Name: "no-checkpoint-no-session", Clause: "S6.3-6", Fault: "takes a session without a checkpoint for one that does not exist", Message: "session not found"},
}

var endings = []Defect{
	{Name: "input-stays-open", Clause: "P16-3", Fault: "keeps the input of a new session's handler open until its output ends", Message: "input"},
	{Name: "blank-output-is-an-error", Clause: "P16-6", Fault: "takes an output of white space for broken JSON", Message: "with whitespace as output the run is a success"},
	{Name: "failures-are-entries", Clause: "P16-9", Fault: "commits an entry that tells of a failed invocation", Message: "the session has no new snapshot … error"},
}

var sources = []Defect{
	{Name: "taken-in-by-copy", Clause: "S3.2-3", Fault: "has the store copy what a uri names", Message: "copied within the store"},
	{Name: "sources-asked-again", Clause: "S3.2-4", Fault: "asks the source of a body again on every replay", Message: "a later run does not turn to the source"},
}
