package defects

import "github.com/pugcheck/pugcheck/harness/report"

// Where a runtime puts things, and how it stores bodies.

var objects = []Defect{
	{Name: "lock-object", Clause: "S1-2", Fault: "writes a lock object beside the layout", Message: "/locks/", Beside: map[string]string{
		"S18-1": "the same demand, said of versions"}},
	{Name: "blob-key-without-colon", Clause: "S3-1", Fault: "writes a dash for the colon in blob keys", Message: "objects/sha256-"},
	{Name: "blob-key-in-upper-case", Clause: "S3-2", Fault: "writes digests in upper case into blob keys", Message: "64 lowercase hex digits"},
	{Name: "blob-with-another-body", Clause: "S3-3", Fault: "appends a line feed to the bodies that it stores", Message: "bytes whose SHA-256 is"},
	{Name: "large-blobs-compressed", Clause: "S3-4", Fault: "stores large bodies compressed", Message: "megabyte", Beside: map[string]string{"P3-9": "long bodies are committed with another digest"}},
	{Name: "blob-without-cache", Clause: "S3-5", Fault: "stores blobs without Cache-Control", Message: `Cache-Control ""`},
	{Name: "blob-cached-for-an-hour", Clause: "S3-6", Verdict: report.Warn, Fault: "has blobs cached for an hour", Message: "max-age=3600", Beside: map[string]string{
		"S3-5": "an hour is not long"}},
	{Name: "blob-without-checksum", Clause: "S3-7", Verdict: report.Warn, Fault: "stores blobs without a SHA-256 checksum of their own", Message: "only x-amz-content-sha256 says so"},
	{Name: "blob-created-once", Clause: "S3-9", Fault: "writes blobs with If-None-Match", Message: "If-None-Match: *"},
	{Name: "existing-blob-is-an-error", Clause: "S3-10", Verdict: report.Warn, Fault: "fails on a body that the bucket holds already", Message: "object already exists"},
	{Name: "inline-up-to-4096", Clause: "S3.1-2", Fault: "inlines bodies of up to 4096 bytes", Message: "1025 bytes in data"},
	{Name: "small-bodies-only-inlined", Clause: "S3.1-3", Fault: "does not store a body that it has inlined", Message: "stored like any other", Beside: map[string]string{
		"P5.3-4": "the same demand in the protocol", "S7.1-3": "the same demand of descriptors", "S7-2": "a descriptor then refers to nothing"}},
}

var sessions = []Defect{
	{Name: "hours-little-endian", Clause: "S4.1-1", Fault: "writes the hours of new session IDs in little-endian order", Message: "generated ID 009c07"},
	{Name: "hours-in-local-time", Clause: "S4.1-1", Fault: "counts the hours of new session IDs in local time", Message: "big-endian"},
	{Name: "ids-from-a-counter", Clause: "S4.1-2", Verdict: report.Warn, Fault: "fills session IDs from a counter", Message: "like a counter"},
	{Name: "target-in-upper-case", Clause: "S4.1-3", Fault: "writes session IDs in upper case into descriptors", Message: "target-session of chosen"},
	{Name: "upper-case-argument-refused", Clause: "S4.1-4", Fault: "does not take a session ID in upper case on the command line", Message: "ID on the command line"},
	{Name: "upper-case-outputs-refused", Clause: "S4.1-4", Fault: "does not take a session ID in upper case from a handler", Message: "session of fork and cross-session outputs"},
	{Name: "trace-of-its-own", Clause: "S4.1-6", Fault: "hands its own trace on to the handler", Message: "00-4bf92f3577b34da6a3ce929d0e0e4736"},
	{Name: "trace-halves-swapped", Clause: "S4.1-6", Fault: "swaps the halves of the session ID in the trace ID", Message: "trace-id is the session's ID"},
	{Name: "path-unlabelled", Clause: "S4.2-1", Fault: "writes session paths without year=, month=, day= and hour=", Message: "sessions/2024/02/29/23/"},
	{Name: "path-in-local-day", Clause: "S4.2-2", Fault: "places sessions by local date", Message: "TZ=Asia/Kathmandu"},
	{Name: "path-in-lower-case", Clause: "S4.2-5", Fault: "writes the last segment of session paths in lower case", Message: "in upper case"},
	{Name: "path-short-year", Clause: "S4.2-7", Fault: "writes years of two digits into session paths", Message: "sessions/year=24/"},
	{Name: "path-unpadded", Clause: "S4.2-8", Fault: "writes month, day and hour without leading zeros", Message: "month=2/"},
	{Name: "paths-normalised", Clause: "S4.2-9", Fault: "lets months, days and hours out of range carry over", Message: "month=13"},
	{Name: "snapshots-beside-manifest", Clause: "S4.3-1", Fault: "writes snapshots beside the manifest", Message: "snapshots/"},
}
