package defects

import "github.com/pugcheck/pugcheck/harness/report"

// How a handler is reached.

var overPipes = []Defect{
	{Name: "never-invoked", Clause: "P2.1-1", Fault: "takes every handler for one that had nothing to say", Message: "without invoking the handler"},
	{Name: "inputs-in-a-file", Clause: "P2.1-2", Fault: "writes the input to a file and passes its name", Message: "it ended after 0 bytes"},
	{Name: "output-is-fd-2", Clause: "P2.1-3", Fault: "reads the output from file descriptor 2", Message: "the bucket holds nothing of it", Beside: map[string]string{
		"P2.1-5": "what stands on file descriptor 2 counts then"}},
	{Name: "commits-at-output's-end", Clause: "P2.1-4", Fault: "commits when the output has ended, without waiting for the handler", Message: "in which the handler did not exit by itself: [4]"},
	{Name: "both-outputs-in-one", Clause: "P2.1-5", Fault: "reads file descriptor 2 together with 1", Message: "the two entries of file descriptor 1", Beside: map[string]string{
		"P2.1-3": "what is written to 2 counts then"}},
}

const sameByHTTP = "the same demand in the section on the environment"

var requests = []Defect{
	{Name: "puts-instead-of-posting", Clause: "P2.2-1", Fault: "uses PUT", Message: "<string>: PUT", Beside: map[string]string{"P2-1": "the exchange begins with a POST"}},
	{Name: "posts-to-the-root", Clause: "P2.2-2", Fault: "posts to the root of the handler's host", Message: `request target "/?`},
	{Name: "inputs-in-an-envelope", Clause: "P2.2-3", Fault: "posts one object that holds all Inputs", Message: "Over a pipe: 7 records", Beside: map[string]string{"P3-3": "the object is a frame around records"}},
	{Name: "length-required", Clause: "P2.2-4", Fault: "takes no response without a Content-Length", Message: "the run succeeds"},
	{Name: "broken-off-is-ended", Clause: "P2.2-7", Fault: "takes a response that broke off for one that ended", Message: "from a body that broke off short of its Content-Length"},
	{Name: "query-without-version", Clause: "P2.2-8", Fault: "leaves the third parameter out", Message: "at least three query parameters", Beside: map[string]string{
		"P2.2-11": "the version is what is left out"}},
	{Name: "query-with-other-names", Clause: "P2.2-12", Verdict: report.Warn, Fault: "calls the parameters agent_id, session_id and version_id", Message: "session_id="},
	{Name: "header-also-when-empty", Clause: "P2.2-14", Fault: "sends {} as metadata where there is none", Message: `"{}"`},
	{Name: "posts-ndjson", Clause: "P2.2-15", Fault: "declares the body as application/x-ndjson", Message: "application/x-ndjson"},
	{Name: "all-in-chunks", Clause: "P2.2-16", Fault: "sends every body in chunks", Message: "a Content-Length header … chunked", Beside: map[string]string{"P2.2-17": "chunks go without a length"}},
	{Name: "large-in-chunks", Clause: "P2.2-17", Fault: "sends bodies of more than 64 KiB in chunks", Message: "(log of 3000 entries)", Beside: map[string]string{"P2.2-16": "chunks go without a length"}},
	{Name: "metadata-in-pairs", Clause: "P13-6", Fault: "writes the metadata into the header as pairs", Message: "team=blue", Beside: map[string]string{
		"P2.2-13": sameByHTTP}},
}
