package defects

// What stands for one record, and what becomes of an Output.

const sameOfBodies = "the storage specification demands the same of inlined bodies"

var framing = []Defect{
	{Name: "entries-in-a-frame", Clause: "P3-3", Fault: "puts all entries of the log into one object", Message: `a field "records" that holds objects`},
	{Name: "body-apart-from-its-name", Clause: "P3-5", Fault: "sends an entry's body in an object of its own, behind the one with its name and schema", Message: "the same object has the entry's body"},
	{Name: "records-in-an-error-text", Clause: "P3-12", Fault: "looks for records in the text of a failed answer", Message: "the model is overloaded … committed:"},
	{Name: "body-before-status", Clause: "P16-8", Fault: "reads an answer's body before it looks at the status, and leaves it at that", Message: "with response status 201"},
}

var routing = []Defect{
	{Name: "bodies-committed-as-text", Clause: "P5.1-1", Fault: "passes bodies through a text type, so that what is no UTF-8 is replaced", Message: "no-utf-8"},
	{Name: "uri-is-the-body", Clause: "P5.1-2", Fault: "commits the text of a uri as the body", Message: "the text of the uri is not the body"},
	{Name: "encoded-bodies-unpacked", Clause: "P5.1-4", Fault: "unpacks gzip bodies before it stores them", Message: "over the bytes as given, still encoded (gzip)"},
	{Name: "chosen-child-only-in-part", Clause: "P5.1-9", Fault: "takes only the hour from the child's ID that a handler chose", Message: "a fork's session is the child's ID"},
	{Name: "numbered-by-digest", Clause: "P5.2-3", Fault: "numbers the entries of a commit by their digests", Message: "has a greater sequence number"},
	{Name: "base64-is-the-body", Clause: "P5.3-1", Fault: "stores the base64 text of data as the body", Message: "ABC, from data QUJD", Beside: map[string]string{
		"P10-7": "a delivery is looked for by its body"}},
	{Name: "first-mebibyte-fetched", Clause: "P5.3-2", Fault: "fetches no more than a mebibyte from a uri", Message: "an object of the same bucket, 3 MiB"},
	{Name: "memory-bodies-unstored", Clause: "P5.3-4", Fault: "stores short bodies of memory objects in the memory file only", Message: "kept-30 lies at objects/", Beside: map[string]string{
		"S3.1-3": sameOfBodies, "S7.1-3": sameOfBodies}},
	{Name: "copy-for-each-type", Clause: "P5.3-5", Fault: "stores a body once more when it comes with another type", Message: "exactly one key below objects/", Beside: map[string]string{
		"S3-3": "one of two keys of a body cannot be its digest"}},
	{Name: "pause-is-an-entry-too", Clause: "P5.3-7", Fault: "commits a pause as an entry as well", Message: "no entry stands for it"},
	{Name: "memories-without-namespace", Clause: "P5.3-9", Fault: "puts memories/x into a namespace of its choice", Message: `an Output named "memories/x" becomes an entry`},
	{Name: "session-before-fork", Clause: "P5.3-10", Fault: "takes a fork with a chosen ID for a message", Message: "is recorded with fork true and target-session"},
	{Name: "target-not-recorded", Clause: "P5.3-11", Fault: "records a message as an ordinary entry of its writer", Message: "has a descriptor of the body with target-session"},
	{Name: "nameless-dropped", Clause: "P5.3-12", Fault: "drops Outputs without a name", Message: "an Output becomes an entry of the new snapshot"},
}
