package defects

import "github.com/pugcheck/pugcheck/harness/report"

// HandlerDefect is a sample handler with one fault. The programs lie in
// testdata/handlers; each takes the name of the fault and puts it into one of the
// samples in fixtures/pugmark/handlers. Names that begin with "http-" are faults of
// the HTTP service, which is run in RPC mode.
type HandlerDefect struct {
	Defect
	Program string // faulty.py, faulty.sh or faulty.c
	Hangs   bool   // an invocation takes as long as it may

	// Missed says why the suite does not catch the fault by its clause. It counts as
	// not caught, and the test fails once it is.
	Missed string
}

// Handlers lists the faults of handlers by the order of the text. Each is run on the
// log fixtures/pugmark/handlers/logs/orders.ndjson, which has the sample answer, fork,
// write to another session, sleep and remember.
func Handlers() []HandlerDefect {
	all := handlers
	for i := range all {
		if all[i].Verdict == "" {
			all[i].Verdict = report.Fail
		}
	}
	return all
}

var handlers = []HandlerDefect{
	{Defect: Defect{Name: "refuses-repetition", Clause: "P1-10", Fault: "exits with an error when a snapshot comes again", Message: "invocation 1 in a row: exit status 1 … already processed"}, Program: "faulty.py"},
	{Defect: Defect{Name: "draws-numbers", Clause: "P1-13", Verdict: report.Warn, Fault: "puts random numbers into its Outputs", Message: "Output 1 differs in metadata", Beside: map[string]string{"S14.2-6": "demands the same of handlers on one snapshot"}}, Program: "faulty.py"},
	{Defect: Defect{Name: "wants-terminal", Clause: "P2-1", Fault: "works at a terminal only", Message: "on all of 8 logs: exit status 1 … standard input is no terminal"}, Program: "faulty.c"},
	{Defect: Defect{Name: "http-own-port", Clause: "P2-1", Fault: "listens on a port of its own choice", Message: "nothing accepted connections at"}, Program: "faulty.py", Hangs: true},
	{Defect: Defect{Name: "reads-a-file", Clause: "P2.1-2", Fault: "reads its input from a file that an argument names", Message: "on descriptor 0: exit status 1 … usage: … in a file that the last argument names … exit status 0 … with 5 Outputs", Beside: map[string]string{"P2-1": "no exchange comes to a good end"}}, Program: "faulty.sh"},
	{Defect: Defect{Name: "outputs-on-stderr", Clause: "P2.1-3", Fault: "writes its Outputs to standard error", Message: "descriptor 1 holds no Output, descriptor 2 does"}, Program: "faulty.py"},
	{Defect: Defect{Name: "stays", Clause: "P2.1-4", Fault: "stays alive when all its Outputs are written", Message: "it still ran after … with 5 Outputs", Beside: map[string]string{"P2-1": "no exchange comes to its end", "P16-1": "demands the same of a handler with all its Outputs out"}}, Program: "faulty.c", Hangs: true},
	{Defect: Defect{Name: "fails-silently", Clause: "P2.1-6", Verdict: report.Warn, Fault: "fails without a word", Message: "exit status 1 … it wrote nothing to stderr"}, Program: "faulty.py"},
	{Defect: Defect{Name: "http-other-path", Clause: "P2.2-2", Fault: "serves another path than that of its URL", Message: "status 404", Beside: map[string]string{"P2-1": "no exchange comes to a good end"}}, Program: "faulty.py"},
	{Defect: Defect{Name: "http-wants-array", Clause: "P2.2-3", Fault: "expects the Inputs in a JSON array", Message: "as it is: status 500 … with the records in one JSON array as the body: status 200 … with 5 Outputs", Beside: map[string]string{"P2-1": "no exchange comes to a good end", "P2.2-5": "no response has status 200"}}, Program: "faulty.py"},
	{Defect: Defect{Name: "http-adds-line", Clause: "P2.2-4", Fault: "ends the body of its response with a line for people", Message: "the whole body of the response is a stream of Outputs; seen: log orders", Beside: map[string]string{"P3-11": "the line stands in the output stream", "P3-12": "the line is a diagnostic"}}, Program: "faulty.py"},
	{Defect: Defect{Name: "http-created", Clause: "P2.2-5", Fault: "answers 201 where it has made a child", Message: "log orders: status 201"}, Program: "faulty.py"},
	{Defect: Defect{Name: "wraps-array", Clause: "P3-1", Fault: "wraps its records into an array", Message: "record 1, byte 0: an array at top level"}, Program: "faulty.c"},
	{Defect: Defect{Name: "ends-with-null", Clause: "P3-1", Fault: "ends its output with the JSON value null", Message: "null at top level"}, Program: "faulty.c"},
	{Defect: Defect{Name: "latin-1", Clause: "P3-2", Fault: "writes text in Latin-1", Message: "byte 0xfc is no UTF-8"}, Program: "faulty.py"},
	{Defect: Defect{Name: "frames-records", Clause: "P3-3", Fault: "puts all records into one object", Message: `a field "records" that holds objects with such fields`, Beside: map[string]string{"P17-2": "the frame is a field that Outputs do not have"}}, Program: "faulty.py"},
	{Defect: Defect{Name: "needs-space", Clause: "P3-4", Fault: "refuses a record directly behind another", Message: "with no whitespace between records: exit status 1 … directly behind another"}, Program: "faulty.c"},
	{Defect: Defect{Name: "tears-last-record", Clause: "P3-5", Fault: "leaves the last record without its end", Message: "record 5, byte 531: the text ends where"}, Program: "faulty.c"},
	{Defect: Defect{Name: "splits-records", Clause: "P3-6", Verdict: report.Warn, Fault: "sends an answer in two objects", Message: "an object with name, metadata and no body follows one with a body and nothing else"}, Program: "faulty.sh"},
	{Defect: Defect{Name: "needs-line-feeds", Clause: "P3-7", Fault: "knows no separator but the line feed", Message: "with CR between records: exit status 1"}, Program: "faulty.c"},
	{Defect: Defect{Name: "reads-lines", Clause: "P3-8", Fault: "takes each line for a record", Message: "with records that are indented over several lines: exit status 1"}, Program: "faulty.c"},
	{Defect: Defect{Name: "short-buffer", Clause: "P3-9", Fault: "has room for 64 KiB of a record", Message: "with 70 KiB of metadata: exit status 1 … token too long"}, Program: "faulty.c"},
	{Defect: Defect{Name: "byte-order-mark", Clause: "P3-10", Fault: "begins its output with a byte-order mark", Message: "record 1, byte 0: byte-order mark ef bb bf"}, Program: "faulty.c"},
	{Defect: Defect{Name: "prints-banner", Clause: "P3-11", Fault: "prints a banner before the first record", Message: `record 1, byte 0: stray bytes "Notebook 1.0 is ready"`, Beside: map[string]string{"P3-12": "the banner is a diagnostic"}}, Program: "faulty.c"},
	{Defect: Defect{Name: "prints-trace", Clause: "P3-12", Fault: "prints what went wrong to its standard output", Message: "with status 500 for every body: record 1, byte 0: stray bytes", Beside: map[string]string{"P3-11": "the message is no JSON"}}, Program: "faulty.c"},
	{Defect: Defect{Name: "refuses-unknown-fields", Clause: "P3-13", Fault: "refuses records with fields that it does not know", Message: "with unknown fields in every record: exit status 1", Beside: map[string]string{"P17-5": "demands the same"}}, Program: "faulty.py"},
	{Defect: Defect{Name: "ignores-case", Clause: "P3-14", Verdict: report.Warn, Fault: "takes field names in any case", Message: "with fields Data, URL, Event and Name … 5 Outputs in the control run, 0 Outputs here"}, Program: "faulty.py"},
	{Defect: Defect{Name: "joins-by-line-feed", Clause: "P3-15", Verdict: report.Warn, Fault: "leaves out the line feed behind the last record", Message: "record 5 is followed at byte"}, Program: "faulty.c"},
	{Defect: Defect{Name: "needs-last-line-feed", Clause: "P3-16", Fault: "waits for a byte behind the last record", Message: "with no byte after the last record: exit status 1"}, Program: "faulty.c"},
	{Defect: Defect{Name: "refuses-empty-records", Clause: "P3-17", Fault: "refuses a record without anything in it", Message: "between records: exit status 1 … a record without anything in it", Beside: map[string]string{"P3-18": "has the handler read such a record as well"}}, Program: "faulty.py"},
	{Defect: Defect{Name: "acts-on-nothing", Clause: "P3-18", Fault: "acts on a record without anything in it", Message: "before the lifecycle record: 5 Outputs in the control run, 6 Outputs here"}, Program: "faulty.py"},
	{Defect: Defect{Name: "plain-text", Clause: "P3.1-1", Fault: "puts text into data as it is", Message: "record 1, byte 8: data: no base64"}, Program: "faulty.sh"},
	{Defect: Defect{Name: "url-safe", Clause: "P3.1-2", Fault: "writes base64 in the URL-safe alphabet", Message: "record 1, byte 8: data: base64 in the URL-safe alphabet"}, Program: "faulty.sh"},
	{Defect: Defect{Name: "breaks-base64", Clause: "P3.1-3", Fault: "breaks base64 into lines", Message: "record 1, byte 8: data: line break inside base64"}, Program: "faulty.sh"},
	{Defect: Defect{Name: "needs-raw-base64", Clause: "P3.1-4", Fault: "refuses padding", Message: "with padding: exit status 1 … without: exit status 0"}, Program: "faulty.py"},
	{Defect: Defect{Name: "needs-padding", Clause: "P3.1-5", Fault: "refuses base64 without padding", Message: "with bodies without padding: exit status 1"}, Program: "faulty.py"},
	{Defect: Defect{Name: "spells-empty", Clause: "P3.2-2", Verdict: report.Warn, Fault: "spells an empty field out", Message: "record 1, byte 121: session is spelled out with an empty value"}, Program: "faulty.sh"},
	{Defect: Defect{Name: "key-decides", Clause: "P3.2-3", Fault: "takes an empty url for an address", Message: "spelled out as zero: exit status 1 … an empty URL"}, Program: "faulty.py"},
	{Defect: Defect{Name: "takes-last-entry", Clause: "P4.2-14", Fault: "takes the last entry of the log, also where there is none", Message: `with lifecycle event "start": exit status 1`}, Program: "faulty.py"},
	{Defect: Defect{Name: "waits-for-end", Clause: "P4.2-15", Fault: "reads its input to the end before it does anything", Message: "with the input kept open … it still ran after", Beside: map[string]string{"P16-5": "demands that nobody wait for the end", "P16-1": "is judged with an open input as well"}}, Program: "faulty.py", Hangs: true},
	{Defect: Defect{Name: "answers-early", Clause: "P4.2-16", Verdict: report.Warn, Fault: "answers while it still reads the log", Message: "the first Output began to arrive after … the lifecycle record was sent after"}, Program: "faulty.py"},
	{Defect: Defect{Name: "numbers-in-metadata", Clause: "P5-1", Fault: "writes numbers into metadata", Message: "metadata: want an object of strings"}, Program: "faulty.py"},
	{Defect: Defect{Name: "dashed-session", Clause: "P5.1-9", Fault: "writes a session ID with dashes", Message: "want 32 hex digits, found 36 bytes"}, Program: "faulty.sh"},
	{Defect: Defect{Name: "rebuilds-url", Clause: "P7-1", Fault: "fetches bodies from the host of the memory", Message: "with all bodies by URL only: exit status 1 … status 404"}, Program: "faulty.py"},
	{Defect: Defect{Name: "puts-memory", Clause: "P7-16", Fault: "writes memory by a PUT to the memory server", Message: "memory server: PUT /memories/notebook/count"}, Program: "faulty.py"},
	{Defect: Defect{Name: "ignores-status", Clause: "P7-17", Fault: "takes the body of an error for that of the entry", Message: "it succeeds as if the answer were the body"}, Program: "faulty.py"},
	{Defect: Defect{Name: "ignores-encoding", Clause: "P7-18", Fault: "takes encoded bodies as they are", Message: "with bodies encoded as gzip: Output 1 differs in data", Beside: map[string]string{"S15-2": "demands the same of every reader"}}, Program: "faulty.py"},
	{Defect: Defect{Name: "http-keeps-root", Clause: "P7-19", Fault: "keeps the memory root of the first invocation", Message: "requests to the servers of an earlier invocation", Beside: map[string]string{"P7-8": "addresses may differ from one invocation to the next"}}, Program: "faulty.py"},
	{Defect: Defect{Name: "url-first", Clause: "P7.1-4", Fault: "fetches a body although it has it", Message: "and URLs that answer 500: exit status 1", Beside: map[string]string{"P7.1-3": "is judged on the same entries", "S3.1-4": "is judged on the same entries", "S7.1-4": "is judged on the same entries"}}, Program: "faulty.py"},
	{Defect: Defect{Name: "hard-wires-root", Clause: "P8.1-3", Verdict: report.Warn, Fault: "knows by itself where memory is", Message: "with the memory root at /odd/prefix/: memory server: GET /memories/notebook/count"}, Program: "faulty.py"},
	{Defect: Defect{Name: "doubles-slash", Clause: "P8.3-1", Fault: "puts a second slash behind the memory root", Message: "GET /memories//notebook/count"}, Program: "faulty.py"},
	{Defect: Defect{Name: "memory-without-namespace", Clause: "P8.4-1", Fault: "writes memory under a name without a namespace", Message: `the name "memories/count" has no namespace`}, Program: "faulty.py"},
	{Defect: Defect{Name: "controls", Clause: "P9-11", Fault: "pauses by a control message of its own", Message: "an Output with the content type application/vnd.pugmark.control+json"}, Program: "faulty.sh"},
	{Defect: Defect{Name: "pause-with-charset", Clause: "P10-1", Fault: "adds a parameter to the content type of a pause", Message: `the content type "application/vnd.pugmark.pause+text; charset=utf-8" is that of a pause, spelled in another way`}, Program: "faulty.sh"},
	{Defect: Defect{Name: "pause-as-field", Clause: "P10-1", Fault: "asks for a pause by a field of its own", Message: `the field "pause" asks for a pause`, Beside: map[string]string{"P17-2": "Outputs have no such field"}}, Program: "faulty.sh"},
	{Defect: Defect{Name: "binary-reason", Clause: "P10-2", Fault: "gives a reason that is no text", Message: "the reason of the pause is no UTF-8"}, Program: "faulty.sh"},
	{Defect: Defect{Name: "top-level-duration", Clause: "P10-3", Fault: "puts the duration beside metadata", Message: "duration stands at the top level", Beside: map[string]string{"P17-2": "Outputs have no such field"}}, Program: "faulty.sh"},
	{Defect: Defect{Name: "spaced-duration", Clause: "P10-4", Fault: "writes a blank into the duration", Message: `the duration "90 s"`}, Program: "faulty.sh"},
	{Defect: Defect{Name: "pauses-twice", Clause: "P10-18", Verdict: report.Warn, Fault: "pauses twice", Message: "record 6, byte 571: a second pause"}, Program: "faulty.sh"},
	{Defect: Defect{Name: "fork-as-text", Clause: "P11-1", Fault: `writes fork as the text "true"`, Message: `fork is "true" and not true`, Beside: map[string]string{"P5-1": "fork is a boolean"}}, Program: "faulty.sh"},
	{Defect: Defect{Name: "needs-metadata", Clause: "P13-9", Verdict: report.Warn, Fault: "fails where the variable for metadata is missing", Message: "PUGMARK_SESSION_METADATA unset: exit status 1"}, Program: "faulty.py"},
	{Defect: Defect{Name: "loses-trace-of-objects", Clause: "P14-7", Verdict: report.Warn, Fault: "fetches bodies without the trace context", Message: `object server: GET … with traceparent ""`}, Program: "faulty.py"},
	{Defect: Defect{Name: "loses-trace-of-memory", Clause: "P14-8", Verdict: report.Warn, Fault: "fetches memory without the trace context", Message: `memory server: GET … with traceparent ""`}, Program: "faulty.py"},
	{Defect: Defect{Name: "lingers", Clause: "P16-1", Fault: "stays alive as long as its input is open", Message: "with the input kept open … it still ran after … with 5 Outputs"}, Program: "faulty.c", Hangs: true},
	{Defect: Defect{Name: "http-endless", Clause: "P16-2", Fault: "never ends its response", Message: "did not come to its end", Beside: map[string]string{"P2-1": "no exchange comes to its end", "P2.2-5": "a response that succeeds ends"}}, Program: "faulty.py", Hangs: true},
	{Defect: Defect{Name: "waits-to-begin", Clause: "P16-5", Fault: "waits for the end of its input before it begins", Message: "with the input kept open … it still ran after", Beside: map[string]string{"P4.2-15": "demands to begin with the lifecycle record", "P16-1": "is judged with an open input as well"}}, Program: "faulty.py", Hangs: true},
	{Defect: Defect{Name: "adds-type", Clause: "P17-2", Verdict: report.Warn, Fault: "writes a field of its own", Message: `the field "type" is none of an Output's`}, Program: "faulty.sh"},
	{Defect: Defect{Name: "needs-digest", Clause: "P17-3", Fault: "needs a field that its own runtime sends", Message: "exit status 1 … 'digest' … with a further field digest in every entry: exit status 0 … with 5 Outputs"}, Program: "faulty.py"},
	{Defect: Defect{Name: "exact-lifecycle", Clause: "P17-5", Fault: "knows the lifecycle record only without further fields", Message: "with unknown fields in every record: exit status 1 … before the lifecycle record", Beside: map[string]string{"P3-13": "demands the same"}}, Program: "faulty.py"},
	{Defect: Defect{Name: "refuses-variables", Clause: "P17-10", Fault: "refuses variables that it does not know", Message: "with PUGMARK_FUTURE=1 … exit status 1"}, Program: "faulty.py"},
	{Defect: Defect{Name: "pause-as-json", Clause: "P17-11", Fault: "pauses with a content type of its own", Message: `application/vnd.pugmark.pause+json" is close to that of a pause`}, Program: "faulty.sh"},
	{Defect: Defect{Name: "speaks-any-version", Clause: "P17-14", Fault: "goes on with a protocol version that it does not know", Message: "with a leading record of protocol version 2: exit status 0 … with 5 Outputs"}, Program: "faulty.py"},
	{Defect: Defect{Name: "upper-session", Clause: "S4.1-3", Fault: "writes a session ID in upper case", Message: "has digits in upper case"}, Program: "faulty.sh"},
	{Defect: Defect{Name: "nameless-memory", Clause: "S8.3-1", Fault: "writes memory under an empty name", Message: `"memories/notebook/" ends without an object name`}, Program: "faulty.sh"},
	{Defect: Defect{Name: "shuffles-outputs", Clause: "S14.2-6", Verdict: report.Warn, Fault: "gives its Outputs in any order", Message: "IDs of forks aside … Output", Beside: map[string]string{"P1-13": "demands the same of every handler"}}, Program: "faulty.py"},
	{Defect: Defect{Name: "sniffs-nothing", Clause: "S15-2", Fault: "takes encoded bodies as they are", Message: "with bodies encoded as gzip: Output 1 differs in data", Beside: map[string]string{"P7-18": "demands the same of handlers"}}, Program: "faulty.py"},
}
