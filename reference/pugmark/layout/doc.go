// Package layout knows where things lie in a bucket: session IDs and their paths, snapshot and memory file names,
// blob keys, refs. It is pure: no I/O, no clock and no randomness of its own.
//
// All keys are relative to the bucket's root and start with one of the four prefixes that the layout owns
// (S1-2): objects/, sessions/, memories/ and refs/.
package layout
