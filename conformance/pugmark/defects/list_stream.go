package defects

import "github.com/pugcheck/pugcheck/harness/report"

// The form of record streams, and what a runtime writes into one.

var reading = []Defect{
	{Name: "one-generation-only", Clause: "P1-3", Fault: "follows a parent pointer once only", Message: "none is missing of the whole chain", Beside: map[string]string{
		"S6.5-4": "the same demand in the storage specification"}},
}

// What an HTTP handler is told.
var overHTTP = []Defect{
	{Name: "query-without-session", Clause: "P2.2-9", Fault: "leaves the session out of the query", Message: "a query value is the session ID", Beside: map[string]string{"P13-6": sameOverHTTP}},
	{Name: "query-without-agent", Clause: "P2.2-10", Fault: "leaves the agent out of the query", Message: "a query value, decoded, is the agent", Beside: map[string]string{"P13-6": sameOverHTTP}},
	{Name: "query-version-ahead", Clause: "P2.2-11", Verdict: report.Warn, Fault: "puts the version that is going to be written into the query", Message: "a query value is the version 3"},
	{Name: "header-left-out", Clause: "P2.2-13", Fault: "leaves the metadata header out", Message: "one header X-Pugmark-Session-Metadata", Beside: map[string]string{"P13-6": sameOverHTTP}},
}

const sameOverHTTP = "the same demand in the section on the environment"

var wireFormat = []Defect{
	{Name: "records-in-an-array", Clause: "P3-1", Fault: "sends the whole input as one JSON array", Message: "an array at top level"},
	{Name: "ascii-only", Clause: "P3-2", Fault: "replaces characters beyond ASCII by question marks", Message: `"name ? ?? ? ?"`},
	{Name: "one-record-a-line", Clause: "P3-4", Fault: "reads one record from each line of the output and drops the rest of it", Message: "with no byte between the records", Beside: map[string]string{
		"P3-7": "other white space than line feeds between records is none either", "P3-8": "a record over several lines is none either",
		"P3-11": "what follows a record in its line is dropped, garbage too"}},
	{Name: "large-record-cut", Clause: "P3-6", Fault: "sends a long record as two objects, the second with its metadata", Message: "metadata"},
	{Name: "carriage-return-is-no-space", Clause: "P3-7", Fault: "takes a carriage return between records for a fault", Message: `invalid character '\r'`},
	{Name: "pretty-printed-refused", Clause: "P3-8", Fault: "reads output line by line and fails on a record over several lines", Message: "line is no record"},
	{Name: "records-up-to-64-kib", Clause: "P3-9", Fault: "has a line buffer of 64 KiB for the handler's output", Message: "71680 bytes of data … token too long"},
	{Name: "byte-order-mark", Clause: "P3-10", Fault: "begins the input with a UTF-8 byte-order mark", Message: "byte-order mark ef bb bf"},
	{Name: "log-line-between", Clause: "P3-11", Fault: "writes a log line between two records", Message: `stray bytes "INFO sending log"`},
	{Name: "unknown-fields-refused", Clause: "P3-13", Fault: "decodes Outputs strictly and fails on fields that it does not know", Message: "unknown field"},
	{Name: "names-of-fields-in-any-case", Clause: "P3-14", Verdict: report.Warn, Fault: "reads NAME and Fork as name and fork", Message: "Fork, DATA, Session, NAME and URI as further fields … committed: \"wrong\""},
	{Name: "no-line-feeds", Clause: "P3-15", Verdict: report.Warn, Fault: "separates records by blanks instead of line feeds", Message: "7 of 7 records are followed by something else"},
	{Name: "last-line-feed-required", Clause: "P3-16", Fault: "drops a last record that no line feed follows", Message: "no byte behind the last record's closing brace … committed: nothing"},
	{Name: "empty-record-refused", Clause: "P3-17", Fault: "fails on a record without data and uri", Message: "record has neither data nor uri"},
	{Name: "empty-record-committed", Clause: "P3-18", Fault: "commits an entry with an empty body for {}", Message: "nothing stands for the empty records"},
	{Name: "data-as-text", Clause: "P3.1-1", Fault: "writes bodies that are text into data as they are", Message: "no base64"},
	{Name: "url-safe-base64", Clause: "P3.1-2", Fault: "encodes data in the URL-safe alphabet", Message: "never - and _"},
	{Name: "wrapped-base64", Clause: "P3.1-3", Fault: "breaks base64 into lines of 76 characters", Message: "no line break"},
	{Name: "padding-refused", Clause: "P3.1-4", Fault: "decodes data by an unpadded base64 decoder", Message: "with padding: QQ=="},
	{Name: "padding-required", Clause: "P3.1-5", Fault: "decodes data by a decoder that insists on padding", Message: "without padding: QQ"},
	{Name: "content-type-required", Clause: "P3.2-1", Verdict: report.Warn, Fault: "refuses an Output with data and no content-type", Message: "content-type is missing"},
	{Name: "empty-fields-spelled-out", Clause: "P3.2-2", Verdict: report.Warn, Fault: "writes empty names, encodings and schemas out", Message: "empty fields are spelled out"},
	{Name: "empty-session-is-set", Clause: "P3.2-3", Fault: `takes "session":"" for a session that is not valid`, Message: "session: want 32 hex digits"},
}

var inputFields = []Defect{
	{Name: "size-as-string", Clause: "P4-1", Fault: "writes size as a string", Message: `size: want a 64-bit integer from 0 on, found a string "18"`},
	{Name: "replay-event", Clause: "P4.1-1", Fault: `tags entries of the past with event "replay"`, Message: `has event "replay", which is none of the six values`,
		Beside: map[string]string{"P17-6": "the same set of events, as what stays fixed"}},
	{Name: "latest-url", Clause: "P4.1-2", Fault: "gives every entry the url of the latest one", Message: "answers 200 with the 1 seeded bytes"},
	{Name: "size-of-base64", Clause: "P4.1-3", Verdict: report.Warn, Fault: "gives the length of the base64 text as size", Message: "size is the length of the body as stored, 1024 bytes"},
	{Name: "type-without-params", Clause: "P4.1-4", Fault: "cuts the parameters off content types", Message: "text/plain; charset=utf-8"},
	{Name: "encoding-dropped", Clause: "P4.1-5", Fault: "leaves content-encoding out, though bodies are as stored", Message: "gzip"},
	{Name: "schema-dropped", Clause: "P4.1-6", Fault: "leaves schema-url out", Message: "https://example.com/s?v=1#x"},
	{Name: "name-basename", Clause: "P4.1-7", Fault: "cuts names at their last slash", Message: "b.txt … dir/b.txt"},
	{Name: "metadata-lower-case", Clause: "P4.1-8", Fault: "folds metadata keys to lower case", Message: `"Key-A": "1"`},
	{Name: "data-decompressed", Clause: "P4.1-9", Fault: "puts the decompressed body of an encoded entry into data", Message: "packed: 8500 bytes"},
	{Name: "small-bodies-unreachable", Clause: "P4.1-10", Fault: "leaves the url of small bodies out, whether or not they are in data", Message: "neither url nor data", Beside: map[string]string{
		"S3.1-1": "short bodies without inline data at rest cannot be had", "S7.1-2": "short bodies without inline data at rest cannot be had"}},
}

const wholeReversed = "the whole log is reversed: generations, versions and descriptors"

var streamOrder = []Defect{
	{Name: "two-memory-records", Clause: "P4.2-1", Fault: "announces memory twice", Message: "2 of 8 records have it"},
	{Name: "memory-root-of-objects", Clause: "P4.2-2", Fault: "announces the object server's root as that of memory", Message: "/notes/x … status 404", Beside: map[string]string{
		"P1-4": "memory is nowhere then", "P7-4": "memory is nowhere then", "P17-8": "memory is nowhere then"}},
	{Name: "memory-root-without-slash", Clause: "P4.2-3", Fault: "announces the memory root without its last slash", Message: "/memories\""},
	{Name: "memory-record-late", Clause: "P4.2-4", Fault: "announces memory behind the log", Message: "it is record 6"},
	{Name: "equal-objects-once", Clause: "P4.2-5", Fault: "replays equal objects once only", Message: `the missing elements were … ["twin"]`, Beside: map[string]string{
		"P1-6": "the same demand in the protocol's overview"}},
	{Name: "newest-first", Clause: "P4.2-6", Fault: "replays the newest entry first", Message: `"child", "parent", "grandparent"`, Beside: map[string]string{
		"P4.2-7": wholeReversed, "P4.2-8": wholeReversed, "S6.5-2": wholeReversed, "S6.5-5": wholeReversed, "S6.5-6": wholeReversed}},
	{Name: "first-page-only", Clause: "P4.2-7", Fault: "replays no more than a hundred entries", Message: "versions 1 to 300 by rising version number … len:100"},
	{Name: "descriptors-sorted-by-name", Clause: "P4.2-8", Fault: "sorts the descriptors of a snapshot by name", Message: `["a", "b", "c", "d"`, Beside: map[string]string{
		"S6.5-2": "the order of the whole log, which holds that of each snapshot", "S6.5-6": "the same demand in the storage specification"}},
	{Name: "old-controls-replayed", Clause: "P4.2-9", Fault: "leaves only a control message at a snapshot's end out of the stream", Message: "control"},
	{Name: "forks-are-entries", Clause: "P4.2-10", Fault: "replays pending fork records as entries", Message: `"fork-1", "y", "fork-2"`,
		Beside: map[string]string{"P4.2-17": "the same demand where provisional snapshots lie on top"}},
	{Name: "two-lifecycle-records", Clause: "P4.2-11", Fault: "ends the stream with two lifecycle records", Message: "are lifecycle records", Beside: map[string]string{
		"P1-6": "the same demand in the protocol's overview", "P6-2": "the same demand in the section on events"}},
	{Name: "lifecycle-with-metadata", Clause: "P4.2-12", Fault: "puts metadata into the lifecycle record", Message: `{"metadata":{"version":"1"}}`},
	{Name: "object-after-lifecycle", Clause: "P4.2-13", Fault: "sends the last entry behind the lifecycle record", Message: "it is record 6 of 7"},
	{Name: "only-the-last-pushed", Clause: "P4.3-1", Fault: "tags only the last entry behind a stop with push", Message: "c, d and e, which follow the stopped message"},
	{Name: "all-pushed-on-wake", Clause: "P4.3-2", Fault: "tags entries before a stop with push as well", Message: "a and b, which precede the stopped message"},
	{Name: "last-one-tagged", Clause: "P4.3-3", Fault: "tags only the last of the new entries with push", Message: "d and e, the two objects of the last snapshot"},
	{Name: "all-tagged", Clause: "P4.3-4", Fault: "tags every entry of the log with push", Message: "a, b and c have no event"},
}
