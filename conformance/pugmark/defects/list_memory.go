package defects

import "github.com/pugcheck/pugcheck/harness/report"

// Bodies that a handler fetches, and memory.

const (
	sameOfMemory = "the same demand in the other specification"
	lostInMemory = "what others wrote or was there before is lost"
)

var bodies = []Defect{
	{Name: "object-urls-without-algorithm", Clause: "P7-2", Fault: "serves entries at /objects/<hex>", Message: `/objects/`, Beside: map[string]string{"P17-7": "the shape of urls is closed"}},
	{Name: "object-urls-in-upper-case", Clause: "P7-3", Fault: "writes the digest in a url in upper case", Message: "64 lowercase digits"},
	{Name: "flat-memory-only", Clause: "P7-4", Fault: "serves namespaces of one segment only", Message: "deep/er/n3/c below the announced root"},
	{Name: "memory-for-ten-seconds", Clause: "P7-5", Fault: "ends the memory server after ten seconds", Message: "the memory server answers after 11s of work … status 503"},
	{Name: "objects-for-ten-seconds", Clause: "P7-6", Fault: "ends the object server after ten seconds", Message: "with the whole body after 11s of work … status 503"},
	{Name: "partial-content", Clause: "P7-9", Fault: "answers with status 206", Message: "status 206"},
	{Name: "memory-records-served", Clause: "P7-10", Fault: "serves a description of a memory object in its place", Message: `{\"name\":\"x\",\"size\":10}`},
	{Name: "types-sniffed", Clause: "P7-11", Fault: "guesses the type of an entry from its bytes", Message: `"text/html`},
	{Name: "memory-types-lost", Clause: "P7-12", Fault: "serves all memory as application/octet-stream", Message: `"application/octet-stream"`},
	{Name: "gzip-undone", Clause: "P7-13", Fault: "decompresses gzip and says gzip all the same", Message: `Content-Encoding "gzip", 1500 bytes`},
	{Name: "unknown-object-is-500", Clause: "P7-14", Fault: "answers 500 for an unknown object", Message: "status 500"},
	{Name: "unknown-memory-hangs-up", Clause: "P7-15", Fault: "closes the connection for an unknown memory object", Message: "the request failed"},
	{Name: "json-embedded", Clause: "P7.1-1", Fault: "embeds JSON bodies in data", Message: "data is the body of json in base64", Beside: map[string]string{"P4-1": "data is no string then"}},
	{Name: "inlines-1025-bytes", Clause: "P7.1-2", Fault: "inlines a body of 1025 bytes", Message: "1025 bytes is not inlined"},
	{Name: "json-served-compact", Clause: "P7.1-5", Fault: "serves JSON without its white space", Message: "stand for identical bytes … url: 7 bytes"},
}

var memories = []Defect{
	{Name: "memory-per-session", Clause: "P8-1", Fault: "keeps memory for each session", Message: "the other session gets the object … status 404", Beside: map[string]string{
		"S8.1-1": "the namespace of its files is another", "P10-7": "the file lies elsewhere"}},
	{Name: "memory-in-place", Clause: "P8-2", Fault: "overwrites a namespace's one file", Message: "each write makes a version of its own: write 2", Beside: map[string]string{
		"S8.2-11": "there is no condition on such a write"}},
	{Name: "memory-announced-at-the-start", Clause: "P8.1-1", Fault: "announces memory to new sessions only", Message: "the first Input has event memory", Beside: map[string]string{
		"P4.2-1": "the same demand in the section on streams"}},
	{Name: "root-of-a-wake-without-slash", Clause: "P8.1-2", Fault: "announces memory to a woken session without the last slash", Message: "ends with a slash (a woken session)", Beside: map[string]string{
		"P4.2-3": "the same demand in the section on streams"}},
	{Name: "memory-names-with-an-ending", Clause: "P8.2-1", Fault: "gives memory objects an ending", Message: ".bin", Beside: map[string]string{
		"P8.2-2": "objects of nested namespaces have it too", "P10-7": "the write leads to another object"}},
	{Name: "first-slash-divides", Clause: "P8.2-3", Fault: "takes the first segment for the namespace and the rest for the object's name", Message: `holds "b/c`, Beside: map[string]string{"S8.3-2": sameOfMemory}},
	{Name: "first-prefix-wins", Clause: "P8.2-4", Fault: "takes the shortest namespace whose name the key begins with", Message: "ab/x is the object of the longest namespace", Beside: map[string]string{"S8.5-1": sameOfMemory}},
	{Name: "names-without-extension", Clause: "P8.2-5", Fault: "drops the extension of an object's name", Message: "note.txt is", Beside: map[string]string{"S8.5-2": sameOfMemory}},
	{Name: "memory-unpacked", Clause: "P8.3-2", Fault: "serves zstd bodies of memory decoded", Message: "the memory server answers for zstd as the object server does", Beside: map[string]string{"P7-13": "both servers have to send what is stored"}},
	{Name: "memory-metadata-dropped", Clause: "P8.4-2", Fault: "drops the metadata of memory objects", Message: "the record has the Output's type and metadata"},
	{Name: "memory-in-the-log-too", Clause: "P8.4-3", Fault: "commits memory objects as entries as well", Message: "it holds [entry x]"},
	{Name: "memory-bodies-at-their-key", Clause: "P8.4-4", Fault: "stores a copy of each memory body at the object's name", Message: "/small", Beside: map[string]string{
		"S8.1-1": "such a key is no memory file's", "S1-5": "such a key is no memory file's", "S8.2-9": "what lies there is no memory file", "S8.2-10": "what lies there is no memory file",
		"S8.2-11": "what lies there is no memory file", "S16-1": "what lies there is no memory file", "P10-7": "there is a key too many"}},
	{Name: "memory-only-what-is-new", Clause: "P8.4-5", Fault: "writes only new objects into the next version", Message: "the namespace goes on to hold x and y"},
	{Name: "conflict-in-memory-is-success", Clause: "P8.4-6", Fault: "takes a conflict in memory for success", Message: "the latest version holds what each of them wrote"},
	{Name: "conflict-in-memory-fails", Clause: "P8.4-7", Fault: "gives up after the first conflict in memory", Message: "versions of the namespace: 1, 2; exit status 1", Beside: map[string]string{
		"S8.3-5": sameOfMemory, "S13.4-2": sameOfMemory}},
	{Name: "snapshot-for-memory", Clause: "P8.4-8", Fault: "marks a memory write by an empty snapshot", Message: "make one new version of the session", Beside: map[string]string{
		"P8.4-9": "there is a session snapshot then"}},
	{Name: "memory-alone-is-lost", Clause: "P8.4-9", Fault: "drops memory objects where there is nothing else", Message: "the memory object is committed"},
}

var memoryFiles = []Defect{
	{Name: "memory-version-of-the-session", Clause: "S8-1", Fault: "numbers memory files after the session's versions", Message: "at version 8", Beside: map[string]string{"S8.1-3": "versions are left out"}},
	{Name: "memory-file-per-object", Clause: "S8.1-1", Fault: "writes a file for each object", Message: "leads to one file", Beside: map[string]string{
		"S8.1-2": "the namespace is another one", "P8.2-1": "no object is found", "P8.2-2": "no object is found"}},
	{Name: "memory-file-in-lower-case", Clause: "S8.1-3", Fault: "names memory files in lower-case hex", Message: "ffffff", Beside: map[string]string{"S18-7": "the form of such names is closed"}},
	{Name: "asking-makes-a-namespace", Clause: "S8.1-4", Fault: "makes a namespace that somebody asks for", Message: "memories/unknown/FFFFFFFF.json"},
	{Name: "memory-as-an-object", Clause: "S8.2-1", Fault: "writes memory as an object by names", Message: "want an array, found an object"},
	{Name: "memory-without-envelope", Clause: "S8.2-2", Fault: "leaves the commit envelope out", Message: "has no commit"},
	{Name: "envelopes-of-the-last-writer", Clause: "S8.2-3", Fault: "puts the envelope of the last writer on all records", Message: "goes on naming its own writer", Beside: map[string]string{
		"S8.2-5": "the transaction IDs of kept records are replaced as well"}},
	{Name: "envelope-at-version-0", Clause: "S8.2-4", Verdict: report.Warn, Fault: "writes version 0 into every envelope", Message: "writes memory only names the version it ran against"},
	{Name: "memory-transaction-as-a-double", Clause: "S8.2-5", Fault: "reads transaction IDs as doubles", Message: "1844674407370955"},
	{Name: "memory-marked-no-cache", Clause: "S8.2-8", Verdict: report.Warn, Fault: "writes memory with Cache-Control no-cache", Message: `Cache-Control "no-cache"`, Beside: map[string]string{
		"S16-2": "the same demand in the section on caching"}},
	{Name: "memory-as-octet-stream", Clause: "S8.2-9", Fault: "writes memory as application/octet-stream", Message: `Content-Type "application/octet-stream"`},
	{Name: "memory-not-compressed", Clause: "S8.2-10", Fault: "says that memory files are compressed and does not compress them", Message: "no zstd frame at byte 0"},
	{Name: "memory-overwrites", Clause: "S8.2-11", Fault: "writes memory without a condition", Message: `If-None-Match ""`},
	{Name: "memory-without-a-name", Clause: "S8.3-1", Fault: "takes memories/ns/ for an object without a name", Message: "leaves no record without a name"},
	{Name: "nested-into-known", Clause: "S8.3-2", Fault: "writes what belongs into a nested namespace into a known one above it", Message: `holds "b/c`, Beside: map[string]string{"P8.2-3": sameOfMemory}},
	{Name: "memory-sorted-by-name", Clause: "S8.3-3", Fault: "sorts the records of a memory file by name", Message: "a, b, c, d"},
	{Name: "memory-duplicates-kept", Clause: "S8.3-4", Fault: "appends a record also where there is one of that name", Message: "one record for each name"},
	{Name: "memory-moves-on-unmerged", Clause: "S8.3-5", Fault: "writes the first merge again at the next version", Message: "holds the earlier objects, the foreign ones", Beside: map[string]string{
		"P8.4-7": lostInMemory, "S13.4-2": lostInMemory, "P8.4-6": lostInMemory}},
	{Name: "deep-memory-hidden", Clause: "S8.4-1", Fault: "does not find namespaces of more than two segments", Message: "of the latest version of each of 40 namespaces is served"},
	{Name: "oldest-memory", Clause: "S8.4-2", Fault: "takes the last listed version for the latest", Message: "the object is that of version 257"},
	{Name: "nested-memory-mistaken", Clause: "S8.4-3", Verdict: report.Warn, Fault: "takes the first key below a namespace for its latest version", Message: "the object of user is served … status 404"},
	{Name: "lists-all-of-memory", Clause: "S8.4-4", Verdict: report.Warn, Fault: "lists all versions of a namespace to find the latest", Message: "listings"},
	{Name: "nested-hidden-by-prefix", Clause: "S8.5-1", Fault: "looks a key up in the namespace of its first segment", Message: "a/b/x is the object of the longest namespace", Beside: map[string]string{"P8.2-4": sameOfMemory}},
	{Name: "memory-names-in-any-case", Clause: "S8.5-2", Fault: "finds an object by a name in another case", Message: "there is no object NOTE", Beside: map[string]string{"P8.2-5": sameOfMemory}},
	{Name: "merges-what-it-read-first", Clause: "S13.4-1", Fault: "goes on from the version of a namespace that it read first", Message: "holds what had landed while the handler ran"},
	{Name: "retry-forgets-the-others", Clause: "S13.4-2", Fault: "writes only its own objects after a conflict", Message: "holds the earlier objects, the foreign ones", Beside: map[string]string{
		"P8.4-7": lostInMemory, "S8.3-5": lostInMemory}},
	{Name: "typed-memory-skipped", Clause: "S13.4-3", Fault: "passes over memory files with the metadata of a provisional snapshot", Message: "the latest version counts, one with metadata that says provisional"},
}
