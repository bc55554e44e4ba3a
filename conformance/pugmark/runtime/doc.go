// Package runtime judges pugmark runtimes. A file holds the scenarios of one
// section of the specification; its name begins with the section's number,
// zero-padded, so that files sort as the text does (p = protocol, s = storage).
//
// A scenario reads as the story of a handler: it lays out a bucket byte by byte
// (wire), starts the runtime under test (Lab.Run), *is* the handler that the
// runtime invokes (Run.Next), and judges what crossed the wire and what lies in
// the bucket. Beside its own checks, every scenario ends with the invariants:
// rules that hold for every stream and every write, whatever the story was.
//
// Guarantees: a step that the runtime does not take is held against the clauses
// that demand it, named at the step; everything after it stays not exercised.
// Trouble in the bench (fake S3, probe, seeds) is an error, never a verdict.
package runtime
